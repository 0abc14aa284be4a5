// Lints HCL-like configuration: parses blocks and attributes, then checks a few rules.

use std::collections::BTreeMap;
use std::fmt::Write;

struct LineIndex<'i> {
    input: &'i str,
    starts: Vec<usize>,
}

impl<'i> LineIndex<'i> {
    fn new(input: &'i str) -> Self {
        let b = input.as_bytes();
        let mut starts = vec![0];
        for i in 0..b.len() {
            if b[i] == b'\n' || b[i] == b'\r' && b.get(i + 1) != Some(&b'\n') {
                starts.push(i + 1);
            }
        }
        LineIndex { input, starts }
    }

    fn line_col(&self, pos: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&s| s <= pos);
        (line, self.input[self.starts[line - 1]..pos].chars().count() + 1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    Ident,
    Str,
    Number,
    Punct,
}

#[derive(Clone, Copy)]
struct Pair<'i> {
    rule: Rule,
    text: &'i str,
    start: usize,
}

fn tokenize(input: &str) -> Result<Vec<Pair<'_>>, String> {
    let b = input.as_bytes();
    let mut out = Vec::new();
    let mut i = 0;
    while i < b.len() {
        let start = i;
        let rule = match b[i] {
            c if c.is_ascii_whitespace() => {
                i += 1;
                continue;
            }
            b'#' => {
                i += b[i..].iter().take_while(|c| **c != b'\n').count();
                continue;
            }
            b'"' => {
                i += 1;
                while i < b.len() && b[i] != b'"' {
                    i += if b[i] == b'\\' { 2 } else { 1 };
                }
                i += 1;
                Rule::Str
            }
            c if c.is_ascii_digit() => {
                i += b[i..].iter().take_while(|c| c.is_ascii_digit() || **c == b'.').count();
                Rule::Number
            }
            c if c.is_ascii_alphabetic() || c == b'_' => {
                while i < b.len() && (b[i].is_ascii_alphanumeric() || b[i] == b'_' || b[i] == b'-') {
                    i += 1;
                }
                Rule::Ident
            }
            b'{' | b'}' | b'=' | b'[' | b']' | b',' => {
                i += 1;
                Rule::Punct
            }
            c => return Err(format!("unexpected byte {:?} at offset {}", c as char, i)),
        };
        out.push(Pair { rule, text: &input[start..i], start });
    }
    Ok(out)
}

struct Node {
    key: String,
    value: Option<String>,
    line: usize,
    col: usize,
    children: Vec<Node>,
}

struct Parser<'i> {
    pairs: Vec<Pair<'i>>,
    lines: LineIndex<'i>,
    at: usize,
}

impl<'i> Parser<'i> {
    fn peek(&self) -> Option<Pair<'i>> {
        self.pairs.get(self.at).copied()
    }

    fn body(&mut self) -> Result<Vec<Node>, String> {
        let mut nodes = Vec::new();
        while let Some(p) = self.peek() {
            if p.text == "}" {
                break;
            }
            nodes.push(self.item()?);
        }
        Ok(nodes)
    }

    fn item(&mut self) -> Result<Node, String> {
        let head = self.peek().ok_or("unexpected end of input")?;
        let (line, col) = self.lines.line_col(head.start);
        if head.rule != Rule::Ident {
            return Err(format!("{line}:{col}: expected identifier, found {:?}", head.rule));
        }
        self.at += 1;
        let mut node = Node { key: head.text.to_string(), value: None, line, col, children: vec![] };
        match self.peek().map(|p| p.text) {
            Some("=") => {
                self.at += 1;
                node.value = Some(self.value()?);
            }
            _ => {
                while let Some(p) = self.peek().filter(|p| p.rule == Rule::Str) {
                    node.key.push('.');
                    node.key.push_str(p.text.trim_matches('"'));
                    self.at += 1;
                }
                if self.peek().map(|p| p.text) != Some("{") {
                    return Err(format!("{line}:{col}: expected block body"));
                }
                self.at += 1;
                node.children = self.body()?;
                self.at += 1;
            }
        }
        Ok(node)
    }

    fn value(&mut self) -> Result<String, String> {
        let p = self.peek().ok_or("missing value")?;
        self.at += 1;
        if p.text != "[" {
            return Ok(p.text.to_string());
        }
        let mut items = Vec::new();
        while let Some(q) = self.peek() {
            self.at += 1;
            match q.text {
                "]" => break,
                "," => {}
                t => items.push(t.to_string()),
            }
        }
        Ok(format!("[{}]", items.join(",")))
    }
}

fn lint(nodes: &[Node], report: &mut BTreeMap<&'static str, Vec<String>>) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for n in nodes {
        if let Some(first) = seen.insert(&n.key, n.line) {
            let msg = format!("{}:{}: {} already set on line {first}", n.line, n.col, n.key);
            report.entry("duplicate-key").or_default().push(msg);
        }
        match &n.value {
            Some(v) if v == "\"\"" => {
                report.entry("empty-value").or_default().push(format!("{}:{}: {}", n.line, n.col, n.key));
            }
            None if n.children.is_empty() => {
                report.entry("empty-block").or_default().push(format!("{}:{}: {}", n.line, n.col, n.key));
            }
            _ => {}
        }
        lint(&n.children, report);
    }
}

fn sample(blocks: usize) -> String {
    let mut s = String::new();
    for i in 0..blocks {
        let _ = writeln!(s, "# größe {i}\nresource \"vm\" \"node-{i}\" {{\n  name = \"n{i}\"\n  size = {}", i * 7 % 13);
        let _ = writeln!(s, "  zone = \"{}\"", if i % 37 == 0 { "" } else { "eu-west" });
        let _ = writeln!(s, "  tags = [\"a{}\", \"b\", \"c\"]\r\n  disk {{ kind = \"ssd\" gb = {} }}", i % 9, i % 50);
        if i % 53 == 0 {
            s.push_str("  size = 4\n  extra {}\n");
        }
        s.push_str("}\n");
    }
    s
}

fn main() {
    let text = sample(1900);
    let pairs = tokenize(&text).expect("lex");
    let total = pairs.len();
    let mut parser = Parser { pairs, lines: LineIndex::new(&text), at: 0 };
    let nodes = parser.body().expect("parse");
    let mut report = BTreeMap::new();
    lint(&nodes, &mut report);
    println!("{} bytes, {total} tokens, {} top-level blocks", text.len(), nodes.len());
    for (rule, msgs) in &report {
        println!("{rule}: {} (last {})", msgs.len(), msgs.last().unwrap());
    }
}
