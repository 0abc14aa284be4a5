//! Shares the yearly costs of houses among their flats. Usage: program FILE
//! A line of FILE has a house, its costs, and the floor space and the days of each flat, divided by semicolons.

use std::env;
use std::error::Error;
use std::fs;
use std::str::FromStr;

use rust_decimal::Decimal;

struct Shares {
    largest: Decimal,
    dearest_day: Decimal,
    rest: Decimal,
}

fn shares(costs: Decimal, flats: &[(Decimal, Decimal)]) -> Shares {
    let space: Decimal = flats.iter().fold(Decimal::default(), |sum, flat| sum + flat.0);
    let mut result = Shares { largest: Decimal::default(), dearest_day: Decimal::default(), rest: costs };
    for (size, days) in flats {
        let share = (costs * size / space).round_dp(2);
        let day = (share / days).round_dp(6);
        result.rest -= share;
        result.largest = result.largest.max(share);
        result.dearest_day = result.dearest_day.max(day);
    }
    result
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program FILE")?;
    let text = fs::read_to_string(path)?;
    for line in text.lines() {
        let mut fields = line.split(';');
        let house = fields.next().unwrap_or("?");
        let costs = Decimal::from_str(fields.next().ok_or("a house without costs")?)?;
        let mut flats = Vec::new();
        for field in fields {
            let (space, days) = field.split_once('/').ok_or("a flat needs space and days")?;
            flats.push((Decimal::from_str(space)?, Decimal::from_str(days)?));
        }
        let shares = shares(costs, &flats);
        println!("{house}: {} flats, up to {}, a day up to {:.6}, rest {}", flats.len(), shares.largest, shares.dearest_day, shares.rest);
    }
    Ok(())
}
