// Vec::contains before each push. Expect: superlinear-work in unique_names::UniqueNames::add.

use unique_names::UniqueNames;

fn parse(line: &str) -> (String, u64) {
    let mut parts = line.split(',');
    let name = parts.next().unwrap_or_default().to_owned();
    let sum = parts.filter_map(|field| field.parse::<u64>().ok()).sum();
    (name, sum)
}

fn main() {
    let scale: f64 = std::env::args().nth(1).map_or(1.0, |text| text.parse().expect("scale: a number"));
    let count = (38_000.0 * scale) as u64;
    let mut names = UniqueNames::new();
    let mut total = 0u64;

    for i in 0..count {
        let number = if i % 32 == 31 { i / 2 } else { i };
        let fields: Vec<String> = (0..24).map(|k| (number * 31 + k).to_string()).collect();
        let line = format!("customer-{number:010},{}", fields.join(","));
        let (name, sum) = parse(&line);
        total = total.wrapping_add(sum);
        names.add(name);
    }
    println!("{} names, {total}", names.len());
}
