//! Checks the filters that the users of a shop's office have saved against the schema of filters. Usage: program SCHEMA FILTERS

use std::collections::BTreeMap;
use std::error::Error;
use std::{env, fs};

use serde_json::Value;

fn count(filter: &Value, fields: &mut BTreeMap<String, u32>) -> usize {
    if let Some(field) = filter["field"].as_str() {
        *fields.entry(field.to_owned()).or_default() += 1;
    }
    filter["args"].as_array().map_or(1, |args| 1 + args.iter().map(|one| count(one, fields)).sum::<usize>())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let schema: Value = serde_json::from_str(&fs::read_to_string(&arguments[1])?)?;
    let validator = jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
    let mut fields = BTreeMap::new();
    let (mut valid, mut nodes, mut wrong) = (0, 0, Vec::new());
    for (number, line) in (1..).zip(fs::read_to_string(&arguments[2])?.lines()) {
        let filter: Value = serde_json::from_str(line)?;
        if validator.is_valid(&filter) {
            valid += 1;
            nodes += count(&filter, &mut fields);
        } else {
            wrong.push(number);
        }
    }
    println!("{valid} filters with {nodes} conditions; wrong: {wrong:?}");
    for (field, times) in fields {
        println!("{field}: {times}");
    }
    Ok(())
}
