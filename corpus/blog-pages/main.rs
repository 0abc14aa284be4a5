//! Writes the pages of a blog and says how long each year's pages are. Usage: program TEMPLATES POSTS

use std::collections::BTreeMap;
use std::error::Error;
use std::{env, fs};

use serde::Serialize;
use tera::{Context, Tera};

#[derive(Clone, Serialize)]
struct Post {
    day: String,
    title: String,
    paragraphs: Vec<String>,
}

fn read(path: &str) -> Result<Vec<Post>, Box<dyn Error>> {
    let mut posts: Vec<Post> = Vec::new();
    for line in fs::read_to_string(path)?.lines() {
        match line.split_once('\t').ok_or("a line has a tab")? {
            ("", paragraph) => posts.last_mut().ok_or("a post starts with its day")?.paragraphs.push(paragraph.to_owned()),
            (day, title) => posts.push(Post { day: day.to_owned(), title: title.to_owned(), paragraphs: Vec::new() }),
        }
    }
    Ok(posts)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let tera = Tera::new(&format!("{}/*.html", arguments[1])).map_err(|error| error.to_string())?;
    let posts = read(&arguments[2])?;
    let mut context = Context::new();
    context.insert("blog", "A year at sea");
    context.insert("posts", &posts);
    fs::create_dir_all("pages")?;
    let mut years: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (number, post) in (1..).zip(&posts) {
        context.insert("number", &number);
        context.insert("post", post);
        let page = tera.render("post.html", &context).map_err(|error| error.to_string())?;
        let year = years.entry(&post.day[..4]).or_default();
        year.0 += 1;
        year.1 += page.len();
        fs::write(format!("pages/{number}.html"), page)?;
    }
    for (year, (pages, bytes)) in years {
        println!("{year}: {pages} pages, {bytes} bytes");
    }
    Ok(())
}
