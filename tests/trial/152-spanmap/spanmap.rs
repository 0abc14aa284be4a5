//! spanmap - tokenizes a source file and writes the table of source locations
//! (line and column in characters) that the debugger needs.

use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct BytePos(u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct CharPos(u32);

struct MultiByteChar {
    pos: BytePos,
    bytes: u8,
}

struct SourceFile {
    name: String,
    src: String,
    lines: Vec<BytePos>,
    multibyte_chars: Vec<MultiByteChar>,
}

struct Loc {
    line: usize,
    col: CharPos,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum TokenKind {
    Ident,
    Number,
    Text,
    Comment,
    Punct,
}

struct Token {
    kind: TokenKind,
    lo: BytePos,
    hi: BytePos,
}

impl SourceFile {
    fn new(name: &str, src: String) -> SourceFile {
        let mut lines = vec![BytePos(0)];
        let mut multibyte_chars = Vec::new();
        for (i, c) in src.char_indices() {
            if c == '\n' {
                lines.push(BytePos(i as u32 + 1));
            }
            if c.len_utf8() > 1 {
                multibyte_chars.push(MultiByteChar { pos: BytePos(i as u32), bytes: c.len_utf8() as u8 });
            }
        }
        SourceFile { name: name.to_string(), src, lines, multibyte_chars }
    }

    fn lookup_line(&self, pos: BytePos) -> usize {
        self.lines.partition_point(|l| *l <= pos) - 1
    }

    /// Position in characters from the start of the file.
    fn bytepos_to_file_charpos(&self, bpos: BytePos) -> CharPos {
        let mut extra = 0u32;
        for mbc in self.multibyte_chars.iter() {
            if mbc.pos < bpos {
                extra += mbc.bytes as u32 - 1;
                assert!(bpos.0 >= mbc.pos.0 + mbc.bytes as u32);
            } else {
                break;
            }
        }
        CharPos(bpos.0 - extra)
    }

    fn lookup_char_pos(&self, pos: BytePos) -> Loc {
        let line = self.lookup_line(pos);
        let chpos = self.bytepos_to_file_charpos(pos);
        let linechpos = self.bytepos_to_file_charpos(self.lines[line]);
        Loc { line: line + 1, col: CharPos(chpos.0 - linechpos.0) }
    }
}

struct Lexer<'a> {
    file: &'a SourceFile,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn new(file: &'a SourceFile) -> Self {
        Lexer { file, at: 0 }
    }

    fn take_while<F: Fn(char) -> bool>(&mut self, f: F) {
        let rest = &self.file.src[self.at..];
        self.at += rest.find(|c| !f(c)).unwrap_or(rest.len());
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.take_while(char::is_whitespace);
        let lo = self.at;
        let rest = &self.file.src[lo..];
        let first = rest.chars().next()?;
        let kind = if first.is_alphabetic() || first == '_' {
            self.take_while(|c| c.is_alphanumeric() || c == '_');
            TokenKind::Ident
        } else if first.is_ascii_digit() {
            self.take_while(|c| c.is_ascii_alphanumeric());
            TokenKind::Number
        } else if first == '"' {
            let end = rest[1..].find('"').map(|k| k + 2).unwrap_or(rest.len());
            self.at += end;
            TokenKind::Text
        } else if rest.starts_with("//") {
            self.take_while(|c| c != '\n');
            TokenKind::Comment
        } else {
            self.at += first.len_utf8();
            TokenKind::Punct
        };
        Some(Token { kind, lo: BytePos(lo as u32), hi: BytePos(self.at as u32) })
    }
}

fn generate_source(functions: usize) -> String {
    let notes = ["Größe prüfen", "表を引く", "значение по умолчанию", "vérifier la clé", "nothing special"];
    let mut s = 77u32;
    let mut rnd = move |n: u32| {
        s = s.wrapping_mul(1664525).wrapping_add(1013904223);
        (s >> 10) % n
    };
    let mut out = String::new();
    for i in 0..functions {
        out.push_str(&format!("// {}: {}\n", i, notes[rnd(5) as usize]));
        out.push_str(&format!("fn handle_{}(a: u32, b: u32) -> u32 {{\n", i));
        for k in 0..2 + rnd(4) {
            match rnd(3) {
                0 => out.push_str(&format!("    let x{} = a * {} + b;\n", k, rnd(1000))),
                1 => out.push_str(&format!("    log(\"{} {}\", a); // {}\n", notes[rnd(4) as usize], k, rnd(9))),
                _ => out.push_str(&format!("    if a > {} {{ return b; }}\n", rnd(50))),
            }
        }
        out.push_str("    a\n}\n\n");
    }
    out
}

#[derive(Default)]
struct LineTable {
    rows: u64,
    widest: u32,
    check: u32,
}

impl LineTable {
    fn add(&mut self, from: &Loc, to: &Loc) {
        self.rows += 1;
        self.widest = self.widest.max(to.col.0);
        for v in [from.line as u32, from.col.0, to.line as u32, to.col.0] {
            self.check = (self.check.rotate_left(5) ^ v).wrapping_mul(0x9E3779B1);
        }
    }
}

fn build_line_table(file: &SourceFile, counts: &mut BTreeMap<TokenKind, u64>) -> LineTable {
    let mut table = LineTable::default();
    for token in Lexer::new(file) {
        *counts.entry(token.kind).or_insert(0) += 1;
        if token.kind == TokenKind::Comment || token.kind == TokenKind::Punct {
            continue;
        }
        let from = file.lookup_char_pos(token.lo);
        let to = file.lookup_char_pos(token.hi);
        table.add(&from, &to);
    }
    table
}

fn main() {
    let file = SourceFile::new("generated.lang", generate_source(2000));
    println!("{}: {} bytes, {} lines", file.name, file.src.len(), file.lines.len());
    println!("{} multi-byte characters", file.multibyte_chars.len());
    let mut counts = BTreeMap::new();
    let table = build_line_table(&file, &mut counts);
    println!("{} rows, widest column {}, check {:08x}", table.rows, table.widest, table.check);
    for (kind, n) in counts {
        println!("{:?} {}", kind, n);
    }
}
