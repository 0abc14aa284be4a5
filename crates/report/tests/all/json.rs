//! The JSON is what `docs/findings-json.md` promises, and the page is what the JSON is.

use crate::common::{certificates, empty, hostile};
use serde_json::Value;
use slowpath_diagnose::findings::{Basis, Confidence, Cost, Sure};
use slowpath_report::json;
use std::collections::BTreeMap;

const PAGE: &str = include_str!("../../../../docs/findings-json.md");

fn serialized() -> Value {
    serde_json::from_str(&json(&certificates())).expect("the report is JSON")
}

fn example() -> Value {
    let (_, after) = PAGE.split_once("```json\n").expect("the page has an example");
    let (example, _) = after.split_once("```").expect("the example ends");
    serde_json::from_str(example).expect("the example is JSON")
}

/// Every key, by the place it stands at, and the types of its values.
fn keys(value: &Value, at: &str, into: &mut BTreeMap<String, Vec<&'static str>>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let at = format!("{at}.{key}");
                let kind = match value {
                    Value::Null => "null",
                    Value::Bool(_) => "boolean",
                    Value::Number(number) if number.is_f64() => "number",
                    Value::Number(_) => "integer",
                    Value::String(_) => "string",
                    Value::Array(_) => "array",
                    Value::Object(_) => "object",
                };
                let kinds = into.entry(at.clone()).or_default();
                if kind != "null" && !kinds.contains(&kind) {
                    kinds.push(kind);
                }
                keys(value, &at, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, &format!("{at}[]"), into)),
        _ => {}
    }
}

fn keys_of(value: &Value) -> BTreeMap<String, Vec<&'static str>> {
    let mut into = BTreeMap::new();
    keys(value, "", &mut into);
    into
}

/// The slice of the page under `heading`, up to the next text of that kind.
fn section<'a>(from: &str, to: &str) -> &'a str {
    let start = PAGE.find(from).unwrap_or_else(|| panic!("the page has {from:?}"));
    let rest = &PAGE[start + from.len()..];
    &rest[..rest.find(to).unwrap_or_else(|| panic!("{to:?} follows {from:?}"))]
}

#[test]
fn the_example_has_exactly_the_fields_and_types_that_are_written() {
    assert_eq!(keys_of(&example()), keys_of(&serialized()));
}

#[test]
fn every_field_has_a_row_in_its_table_and_every_row_a_field() {
    let whole = serialized();
    // A finding has the fields of its basis.
    let mut finding = whole["findings"][0].clone();
    let instructions = serde_json::to_value(Cost::new(Basis::Instructions, 2.0, 1.0)).unwrap();
    finding.as_object_mut().unwrap().extend(instructions.as_object().unwrap().clone());
    let finding = &finding;
    let tables = [
        (&whole, section("## Top level", "\n## ")),
        (&whole["recording"], section("## `recording`", "\n## ")),
        (finding, section("## A finding", "A frame of")),
        (&finding["path"][0], section("A frame of", "`calls`:")),
        (&finding["calls"], section("`calls`:", "A file:")),
        (&whole["findings"][1]["files"][0], section("A file:", "A fact:")),
        (&finding["facts"][0], section("A fact:", "A series:")),
        (&finding["series"][0], section("A series:", "\n## ")),
        (&whole["hot"][0], section("## A hot function", "\n## ")),
    ];
    for (object, table) in tables {
        let mut fields: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
        let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let mut rows: Vec<&str> = rows.collect();
        fields.sort_unstable();
        rows.sort_unstable();
        assert_eq!(fields, rows);
    }
}

#[test]
fn the_page_lists_every_allowed_value() {
    let finding = section("## A finding", "\n## ");
    let confidence = [Confidence::Certain, Confidence::Likely, Confidence::Hint].map(serde_json::to_value);
    let sure = [Sure::Exact, Sure::Sampled, Sure::Fitted].map(serde_json::to_value);
    for value in confidence.into_iter().chain(sure) {
        let value = value.unwrap();
        assert!(finding.contains(&format!("`{}`", value.as_str().unwrap())), "{value}");
    }
    for basis in [Basis::Cpu, Basis::Wall, Basis::Instructions] {
        let value = serde_json::to_value(Cost::new(basis, 2.0, 1.0)).unwrap()["basis"].clone();
        assert!(finding.contains(&format!("`{}`", value.as_str().unwrap())), "{value}");
    }
}

#[test]
fn the_text_ends_with_a_line_end_and_is_indented() {
    let text = json(&certificates());
    assert!(text.starts_with("{\n  \"kind\": \"findings\",\n  \"schema\": 2,"));
    assert!(text.ends_with("}\n"));
}

#[test]
fn every_number_is_finite() {
    let value: Value = serde_json::from_str(&json(&hostile())).unwrap();
    assert_eq!(value["recording"]["sampled_share"], 0.0);
    for finding in value["findings"].as_array().unwrap() {
        assert_eq!(finding["share"], 0.0);
        let facts = finding["facts"].as_array().unwrap();
        assert!(facts.iter().all(|fact| fact["value"].is_number()));
        let series = &finding["series"][0];
        assert_eq!(series["x"].as_array().unwrap().len(), 3);
        assert_eq!(series["y"].as_array().unwrap().len(), 3);
        assert_eq!(series["fit"].as_array().unwrap().len(), 0);
    }
}

#[test]
fn nothing_at_all_has_all_fields_of_the_whole() {
    let value: Value = serde_json::from_str(&json(&empty())).unwrap();
    assert_eq!(value["recording"]["exit"], Value::Null);
    assert_eq!(value.as_object().unwrap().len(), 7);
}
