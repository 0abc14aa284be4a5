//! Reads the pages of a market's price tables and says the average price of each list. Usage: program PAGE...

use std::collections::BTreeMap;
use std::error::Error;
use std::{env, fs};

use scraper::{Html, Selector};

fn text(element: scraper::ElementRef) -> String {
    element.text().collect::<String>().trim().to_owned()
}

fn main() -> Result<(), Box<dyn Error>> {
    let list = Selector::parse("h1").map_err(|error| error.to_string())?;
    let names = Selector::parse("table.prices tbody tr:nth-child(odd) td:first-child").map_err(|error| error.to_string())?;
    let prices = Selector::parse("table.prices tbody tr:nth-child(odd) td:nth-child(4)").map_err(|error| error.to_string())?;
    let notes = Selector::parse("table.prices tr.note a[href]").map_err(|error| error.to_string())?;
    for path in env::args().skip(1) {
        let page = Html::parse_document(&fs::read_to_string(&path)?);
        let title = page.select(&list).next().map(text).unwrap_or_default();
        let mut groups: BTreeMap<char, (u32, f64)> = BTreeMap::new();
        for (name, price) in page.select(&names).zip(page.select(&prices)) {
            let group = groups.entry(text(name).chars().next().unwrap_or(' ')).or_default();
            group.0 += 1;
            group.1 += text(price).replace(',', "").parse::<f64>()?;
        }
        let links: usize = page.select(&notes).filter_map(|link| link.value().attr("href")).map(str::len).sum();
        println!("{path}: {title}, {} groups, {links} bytes of links", groups.len());
        for (group, (count, sum)) in groups {
            println!("  {group}: {count} prices, {:.2} on average", sum / f64::from(count));
        }
    }
    Ok(())
}
