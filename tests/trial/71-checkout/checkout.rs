// checkout: brings the files of an index through the filter that the attributes ask for, as when a work tree is written, and prints a
// manifest. The filter is a program of its own (here the same program, called as `checkout filter ...`).
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::thread;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Rule {
    suffix: String,
    filters: Vec<String>,
}

struct Attributes {
    rules: Vec<Rule>,
}

impl Attributes {
    fn read(path: &Path) -> Result<Self> {
        let mut rules = Vec::new();
        for line in fs::read_to_string(path)?.lines() {
            let mut words = line.split_whitespace().map(str::to_string);
            match words.next() {
                Some(pattern) if !pattern.starts_with('#') => {
                    rules.push(Rule { suffix: pattern.trim_start_matches('*').to_string(), filters: words.filter(|w| w != "none").collect() })
                }
                _ => {}
            }
        }
        Ok(Attributes { rules })
    }

    /// The filters of the last rule that fits.
    fn filters_of(&self, name: &str) -> &[String] {
        self.rules.iter().rev().find(|r| name.ends_with(&r.suffix)).map_or(&[], |r| &r.filters)
    }
}

#[derive(Debug)]
struct Entry {
    name: String,
    id: String,
}

fn read_index(path: &Path) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for line in fs::read_to_string(path)?.lines() {
        let (name, id) = line.split_once(' ').ok_or_else(|| format!("bad line in the index: {line}"))?;
        entries.push(Entry { name: name.to_string(), id: id.to_string() });
    }
    Ok(entries)
}

fn checksum(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf29ce484222325, |h, b| (h ^ *b as u64).wrapping_mul(0x100000001b3))
}

/// What the filter program does with one file.
fn apply(filters: &[String], id: &str, content: &str) -> String {
    let mut text = content.to_string();
    for filter in filters {
        match filter.as_str() {
            "ident" => text = text.replace("$Id$", &format!("$Id: {id} $")),
            "crlf" => text = text.replace('\n', "\r\n"),
            _ => {}
        }
    }
    text
}

fn filter_main(arguments: &[String]) -> Result<()> {
    let (id, filters) = arguments.split_first().ok_or("filter: no id")?;
    let mut content = String::new();
    io::stdin().read_to_string(&mut content)?;
    io::stdout().write_all(apply(filters, id, &content).as_bytes())?;
    Ok(())
}

struct Smudger {
    program: PathBuf,
}

impl Smudger {
    fn new() -> Result<Self> {
        Ok(Smudger { program: std::env::current_exe()? })
    }

    fn smudge(&self, entry: &Entry, filters: &[String], content: Vec<u8>) -> Result<Vec<u8>> {
        if filters.is_empty() {
            return Ok(content);
        }
        let mut child = Command::new(&self.program)
            .arg("filter")
            .arg(&entry.id)
            .args(filters)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut input = child.stdin.take().ok_or("no pipe")?;
        // What does not fit into the pipe is taken while the filter's output is read.
        let feeder = thread::spawn(move || input.write_all(&content));
        let output = child.wait_with_output()?;
        feeder.join().map_err(|_| "feeding the filter failed")??;
        if !output.status.success() {
            return Err(format!("filter of {} failed: {}", entry.name, output.status).into());
        }
        Ok(output.stdout)
    }
}

#[derive(Default)]
struct Totals {
    files: usize,
    before: usize,
    after: usize,
    lines: usize,
}

fn checkout(folder: &Path) -> Result<()> {
    let attributes = Attributes::read(&folder.join("attributes"))?;
    let smudger = Smudger::new()?;
    let mut totals: BTreeMap<String, Totals> = BTreeMap::new();
    let mut manifest = String::new();
    for entry in read_index(&folder.join("index"))? {
        let content = fs::read(folder.join("tree").join(&entry.name))?;
        let before = content.len();
        let written = smudger.smudge(&entry, attributes.filters_of(&entry.name), content)?;
        let kind = entry.name.rsplit('.').next().unwrap_or("").to_string();
        let of_kind = totals.entry(kind).or_default();
        of_kind.files += 1;
        of_kind.before += before;
        of_kind.after += written.len();
        of_kind.lines += written.iter().filter(|b| **b == b'\n').count();
        manifest.push_str(&format!("{:016x} {:7} {}\n", checksum(&written), written.len(), entry.name));
    }
    for (kind, t) in &totals {
        println!("{:4} {:4} files, {:6} lines, {:7} bytes stored, {:7} written", kind, t.files, t.lines, t.before, t.after);
    }
    for line in manifest.lines().step_by(200) {
        println!("{line}");
    }
    println!("manifest {:016x}", checksum(manifest.as_bytes()));
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((first, rest)) if first == "filter" => filter_main(rest),
        Some((folder, _)) => checkout(Path::new(folder)),
        None => checkout(Path::new("data")),
    };
    if let Err(e) = done {
        eprintln!("checkout: {e}");
        process::exit(1);
    }
}
