//! Makes a page for each customer from a list of sales: what was bought, when, and how much it was. It says how long the pages are.
//! Usage: program TEMPLATE SALES

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};

use handlebars::Handlebars;
use serde_json::{json, Value};

#[derive(Default)]
struct Customer {
    rows: Vec<Value>,
    total: u64,
}

fn read(path: &str) -> Result<BTreeMap<String, Customer>, Box<dyn Error>> {
    let mut customers: BTreeMap<String, Customer> = BTreeMap::new();
    for line in BufReader::new(File::open(path)?).lines() {
        let line = line?;
        let fields: Vec<&str> = line.split(',').collect();
        let [name, day, article, count, price] = fields[..] else {
            return Err(format!("not a sale: {line}").into());
        };
        let (count, price): (u64, u64) = (count.parse()?, price.parse()?);
        let customer = customers.entry(name.to_owned()).or_default();
        customer.total += count * price;
        customer.rows.push(json!({ "day": day, "article": article, "count": count, "price": euro(price), "reduced": count > 8 }));
    }
    Ok(customers)
}

fn euro(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(template), Some(sales)) = (arguments.next(), arguments.next()) else {
        return Err("usage: program TEMPLATE SALES".into());
    };
    let mut templates = Handlebars::new();
    templates.register_template_string("page", fs::read_to_string(template)?)?;
    for (name, customer) in read(&sales)? {
        let count = customer.rows.len();
        let page = templates.render(
            "page",
            &json!({ "name": name, "sales": customer.rows, "total": euro(customer.total) }),
        )?;
        println!("{name}: {count} sales, {} lines, {} bytes", page.lines().count(), page.len());
    }
    Ok(())
}
