// checkout: brings the files of an index through the filter that the attributes ask for, as when a work tree is written, and prints a
// manifest. The filter is a program of its own (here the same program, called as `checkout filter ...`).
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{self, Child, ChildStdin, ChildStdout, Command, Stdio};

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

fn put_block(to: &mut impl Write, data: &[u8]) -> io::Result<()> {
    to.write_all(&(data.len() as u32).to_le_bytes())?;
    to.write_all(data)
}

/// The next block, or none at the end.
fn get_block(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let mut data = vec![0; u32::from_le_bytes(length) as usize];
    from.read_exact(&mut data)?;
    Ok(Some(data))
}

/// Answers one file after another: its id and filters, then its content.
fn filter_main() -> Result<()> {
    let mut input = BufReader::new(io::stdin());
    let mut output = BufWriter::new(io::stdout());
    while let Some(settings) = get_block(&mut input)? {
        let content = String::from_utf8(get_block(&mut input)?.ok_or("filter: no content")?)?;
        let settings: Vec<String> = String::from_utf8(settings)?.split(' ').map(str::to_string).collect();
        put_block(&mut output, apply(&settings[1..], &settings[0], &content).as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

/// The filter program, which runs until the last file is done.
struct Smudger {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Smudger {
    fn new() -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?).arg("filter").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = BufWriter::new(child.stdin.take().ok_or("no pipe")?);
        let output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        Ok(Smudger { child, input, output })
    }

    fn smudge(&mut self, entry: &Entry, filters: &[String], content: Vec<u8>) -> Result<Vec<u8>> {
        if filters.is_empty() {
            return Ok(content);
        }
        put_block(&mut self.input, format!("{} {}", entry.id, filters.join(" ")).as_bytes())?;
        put_block(&mut self.input, &content)?;
        self.input.flush()?;
        Ok(get_block(&mut self.output)?.ok_or_else(|| format!("filter of {} failed", entry.name))?)
    }

    fn finish(mut self) -> Result<()> {
        drop(self.input);
        self.child.wait()?;
        Ok(())
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
    let mut smudger = Smudger::new()?;
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
    smudger.finish()?;
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
        Some((first, _)) if first == "filter" => filter_main(),
        Some((folder, _)) => checkout(Path::new(folder)),
        None => checkout(Path::new("data")),
    };
    if let Err(e) = done {
        eprintln!("checkout: {e}");
        process::exit(1);
    }
}
