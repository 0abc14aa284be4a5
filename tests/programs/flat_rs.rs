// Text split and counted in maps of bounded size. Expect: nothing.

use std::collections::{BTreeMap, HashMap};

fn count_words(page: &str, words: &mut HashMap<String, u64>) {
    for word in page.split_whitespace() {
        *words.entry(word.to_owned()).or_default() += 1;
    }
}

fn main() {
    let scale: f64 = std::env::args().nth(1).map_or(1.0, |text| text.parse().expect("scale: a number"));
    let pages = (58_000.0 * scale) as u64;
    let mut words = HashMap::new();
    let mut lengths = BTreeMap::new();
    let mut state = 1u64;

    for _ in 0..pages {
        let mut page = String::new();
        for _ in 0..400 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            page.push_str(&format!("word{} ", state >> 54));
        }
        count_words(&page, &mut words);
        *lengths.entry(page.len()).or_insert(0u64) += 1;
    }
    println!("{} words, {} lengths", words.len(), lengths.len());
}
