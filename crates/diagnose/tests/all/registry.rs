//! What the documentation lists of causes is what the registry lists. `UPDATE_GOLDEN=1` writes it there.

use slowpath_diagnose::causes::{ALL, Find, Spec};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Holds the rows of the table with this head equal to those made of the registry, or writes them.
fn assert_table(page: &str, head: &str, row: impl Fn(&Spec) -> String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = text.split_once(head).unwrap_or_else(|| panic!("{page} has the table {head:?}"));
    let end = rest.find("\n\n").map_or(rest.len(), |end| end + 1);
    let (rows, after) = rest.split_at(end);
    let wanted: String = ALL.iter().map(row).collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{before}{head}{wanted}{after}")).expect("the page is written");
    } else {
        assert!(rows == wanted, "{page} lists other causes; UPDATE_GOLDEN=1 writes these there:\n{wanted}");
    }
}

#[test]
fn the_readme_lists_every_cause() {
    assert_table("README.md", "| cause | symptom |\n|---|---|\n", |spec| {
        format!("| [{}](docs/causes/{}.md) | {} |\n", spec.title, spec.slug, spec.symptom)
    });
}

#[test]
fn the_json_page_lists_every_cause() {
    assert_table("docs/findings-json.md", "| `cause` | meaning |\n|---|---|\n", |spec| {
        format!("| `{}` | {} |\n", spec.slug, spec.title)
    });
}

#[test]
fn every_cause_has_a_page_with_its_title_and_a_name_of_its_own() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/causes");
    let pages: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(pages, ALL.iter().map(|spec| format!("{}.md", spec.slug)).collect());
    for spec in ALL {
        let (first, rest) = spec.title.split_at(1);
        assert_eq!(spec.page.lines().next(), Some(format!("# {}{rest}", first.to_uppercase()).as_str()));
        assert!(spec.slug.bytes().all(|c| c.is_ascii_lowercase() || c == b'-'), "{}", spec.slug);
        assert_eq!(serde_json::to_value(spec.cause()).expect("a name"), spec.slug);
        // What is not looked for has no name here.
        assert!(matches!(spec.find, Find::AcrossSizes) || !spec.needs.is_empty(), "{}", spec.slug);
    }
}

#[test]
fn every_cause_has_a_case() {
    let cases = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    let cases_of: Vec<String> = std::fs::read_dir(cases)
        .expect("the folder is there")
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("case.toml")).ok())
        .collect();
    for spec in ALL {
        let named = format!("\"{}\"", spec.slug);
        assert!(cases_of.iter().any(|case| case.contains(&named)), "no case shows {}", spec.slug);
    }
}
