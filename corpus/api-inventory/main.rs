//! Says which functions the examples of a documentation have, and how long they are. Usage: program FILE
//! Examples are separated by a line of four dashes; the first line of each is its page.

use std::collections::BTreeMap;
use std::error::Error;
use std::{env, fs};

use syn::spanned::Spanned;
use syn::{Item, ItemFn};

#[derive(Default)]
struct Page {
    examples: usize,
    functions: usize,
    public: usize,
    lines: usize,
    longest: (usize, String),
    widest: usize,
}

fn measure(page: &mut Page, function: &ItemFn) {
    let begin = function.sig.fn_token.span.start();
    let end = function.block.brace_token.span.close().end();
    let lines = end.line - begin.line + 1;
    page.functions += 1;
    page.lines += lines;
    if lines > page.longest.0 {
        page.longest = (lines, function.sig.ident.to_string());
    }
    for statement in &function.block.stmts {
        page.widest = page.widest.max(statement.span().end().column);
    }
    if matches!(function.vis, syn::Visibility::Public(_)) {
        page.public += 1;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program FILE")?;
    let text = fs::read_to_string(path)?;
    let mut examples = Vec::new();
    for example in text.split("----\n") {
        let (name, code) = example.split_once('\n').ok_or("an example needs a page")?;
        examples.push((name.to_owned(), syn::parse_file(code)?));
    }
    let mut pages: BTreeMap<String, Page> = BTreeMap::new();
    for (name, file) in &examples {
        let page = pages.entry(name.clone()).or_default();
        page.examples += 1;
        for item in &file.items {
            if let Item::Fn(function) = item {
                measure(page, function);
            }
        }
    }
    for (name, page) in &pages {
        println!(
            "{name}: {} examples with {} functions, {} of them public, {} lines; {} has {}; {} columns",
            page.examples, page.functions, page.public, page.lines, page.longest.1, page.longest.0, page.widest
        );
    }
    Ok(())
}
