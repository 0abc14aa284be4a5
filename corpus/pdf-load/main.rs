//! Says how many pages, lines and letters a PDF file has. Usage: program FILE

use std::env;
use std::error::Error;

use lopdf::{Document, Object};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program FILE")?;
    let document = Document::load(&path)?;
    let (mut lines, mut letters) = (0, 0);
    let pages = document.get_pages();
    for page in pages.values() {
        for operation in document.get_and_decode_page_content(*page)?.operations {
            if operation.operator == "Tj" {
                if let Some(Object::String(text, _)) = operation.operands.first() {
                    lines += 1;
                    letters += text.len();
                }
            }
        }
    }
    println!("{path}: {} pages, {lines} lines, {letters} letters", pages.len());
    Ok(())
}
