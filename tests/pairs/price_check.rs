// Checks the prices of orders against a catalog. The slow version gets each article as a copy of its own, the fixed one as a reference.

use std::collections::HashMap;

#[derive(Clone)]
struct Article {
    title: String,
    tags: Vec<String>,
    prices: Vec<u32>,
}

struct Catalog(HashMap<u64, Article>);

impl Catalog {
    #[inline(never)]
    fn copy_of(&self, number: u64) -> Option<Article> {
        self.0.get(&number).cloned()
    }
}

fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// Whether an amount is in reach of what the article costs in larger numbers.
fn fits(article: &Article, amount: u64) -> bool {
    let mut cost = 0u64;
    for (pieces, price) in article.prices.iter().enumerate() {
        cost += u64::from(*price) * (pieces as u64 + 1) / (1 + amount % 3);
    }
    cost > amount && article.title.len() + article.tags.len() > 3
}

fn main() {
    let fixed = std::env::args().nth(1).as_deref() == Some("fixed");
    let mut seed = 88_172_645_463_325_252;
    let mut catalog = Catalog(HashMap::new());
    for number in 0..20_000 {
        let tags = (0..next(&mut seed) % 6).map(|tag| format!("tag {tag} of {number}")).collect();
        let prices = (0..12).map(|_| next(&mut seed) as u32 % 10_000).collect();
        catalog.0.insert(number, Article { title: format!("article {number}"), tags, prices });
    }
    let mut fitting = 0;
    for _ in 0..6_000_000 {
        let (number, amount) = (next(&mut seed) % 20_000, next(&mut seed) % 100_000);
        let fits = if fixed {
            catalog.0.get(&number).is_some_and(|article| fits(article, amount))
        } else {
            catalog.copy_of(number).is_some_and(|article| fits(&article, amount))
        };
        fitting += u64::from(fits);
    }
    println!("{fitting}");
}
