//! Lowers a toy function list to a control-flow graph and dumps it as text.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Local(u32);

#[derive(Clone, Debug)]
enum Operand {
    Copy(Local),
    Move(Local),
    Const(i64),
}

#[derive(Clone, Debug)]
enum Statement {
    Assign(Local, BinOp, Operand, Operand),
    StorageLive(Local),
    StorageDead(Local),
    Nop,
}

#[derive(Clone, Copy, Debug)]
enum BinOp {
    Add,
    Sub,
    Mul,
    Lt,
}

#[derive(Clone, Debug)]
enum Terminator {
    Goto(usize),
    Switch(Operand, Vec<(i64, usize)>, usize),
    Return,
}

struct Block {
    statements: Vec<Statement>,
    terminator: Terminator,
}

struct Body {
    name: String,
    locals: Vec<&'static str>,
    blocks: Vec<Block>,
}

struct Gen(u64);

impl Gen {
    fn next(&mut self, m: u64) -> u64 {
        self.0 = self.0.wrapping_mul(2862933555777941757).wrapping_add(3037000493);
        (self.0 >> 35) % m
    }

    fn operand(&mut self, locals: u64) -> Operand {
        match self.next(3) {
            0 => Operand::Const(self.next(1000) as i64 - 500),
            1 => Operand::Copy(Local(self.next(locals) as u32)),
            _ => Operand::Move(Local(self.next(locals) as u32)),
        }
    }

    fn body(&mut self, idx: usize) -> Body {
        let nlocals = 4 + self.next(8);
        let tys = ["i64", "bool", "usize", "&'a str"];
        let locals = (0..nlocals).map(|_| tys[self.next(4) as usize]).collect();
        let nblocks = 3 + self.next(6) as usize;
        let mut blocks = Vec::new();
        for b in 0..nblocks {
            let mut statements = Vec::new();
            for _ in 0..4 + self.next(8) {
                let dst = Local(self.next(nlocals) as u32);
                statements.push(match self.next(10) {
                    0 => Statement::StorageLive(dst),
                    1 => Statement::StorageDead(dst),
                    2 => Statement::Nop,
                    k => {
                        let op = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Lt][(k % 4) as usize];
                        Statement::Assign(dst, op, self.operand(nlocals), self.operand(nlocals))
                    }
                });
            }
            let terminator = if b + 1 == nblocks {
                Terminator::Return
            } else if self.next(3) == 0 {
                Terminator::Switch(self.operand(nlocals), vec![(0, b + 1), (1, nblocks - 1)], b + 1)
            } else {
                Terminator::Goto(b + 1)
            };
            blocks.push(Block { statements, terminator });
        }
        Body { name: format!("krate::m{}::f{idx}", idx % 40), locals, blocks }
    }
}

fn simplify(body: &mut Body) -> usize {
    let mut removed = 0;
    for block in &mut body.blocks {
        let before = block.statements.len();
        block.statements.retain(|s| !matches!(s, Statement::Nop));
        removed += before - block.statements.len();
        let target = match &block.terminator {
            Terminator::Switch(_, arms, other) if arms.iter().all(|(_, t)| t == other) => Some(*other),
            _ => None,
        };
        if let Some(t) = target {
            block.terminator = Terminator::Goto(t);
        }
    }
    removed
}

fn write_operand(w: &mut dyn Write, op: &Operand) -> io::Result<()> {
    match op {
        Operand::Copy(l) => write!(w, "copy _{}", l.0),
        Operand::Move(l) => write!(w, "move _{}", l.0),
        Operand::Const(c) => write!(w, "const {}_i64", c),
    }
}

fn write_statement(w: &mut dyn Write, s: &Statement) -> io::Result<()> {
    match s {
        Statement::Assign(dst, op, a, b) => {
            write!(w, "        _{} = {:?}(", dst.0, op)?;
            write_operand(w, a)?;
            write!(w, ", ")?;
            write_operand(w, b)?;
            writeln!(w, ");")
        }
        Statement::StorageLive(l) => writeln!(w, "        StorageLive(_{});", l.0),
        Statement::StorageDead(l) => writeln!(w, "        StorageDead(_{});", l.0),
        Statement::Nop => writeln!(w, "        nop;"),
    }
}

fn write_body(w: &mut dyn Write, body: &Body) -> io::Result<()> {
    writeln!(w, "fn {}() -> i64 {{", body.name)?;
    for (i, ty) in body.locals.iter().enumerate() {
        writeln!(w, "    let mut _{i}: {ty};")?;
    }
    for (i, block) in body.blocks.iter().enumerate() {
        writeln!(w, "    bb{i}: {{")?;
        for s in &block.statements {
            write_statement(w, s)?;
        }
        match &block.terminator {
            Terminator::Goto(t) => writeln!(w, "        goto -> bb{t};")?,
            Terminator::Return => writeln!(w, "        return;")?,
            Terminator::Switch(op, arms, other) => {
                write!(w, "        switchInt(")?;
                write_operand(w, op)?;
                write!(w, ") -> [")?;
                for (v, t) in arms {
                    write!(w, "{v}: bb{t}, ")?;
                }
                writeln!(w, "otherwise: bb{other}];")?;
            }
        }
        writeln!(w, "    }}")?;
    }
    writeln!(w, "}}\n")
}

fn emit(path: &Path, bodies: &[Body]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "// WARNING: this output format is intended for human consumers only")?;
    for body in bodies {
        write_body(&mut file, body)?;
    }
    file.flush()
}

fn summarize(path: &Path) -> io::Result<(usize, u64, BTreeMap<String, usize>)> {
    let (mut lines, mut sum) = (0, 0xcbf29ce484222325u64);
    let mut kinds = BTreeMap::new();
    for line in BufReader::new(File::open(path)?).lines() {
        let line = line?;
        lines += 1;
        for b in line.bytes() {
            sum = (sum ^ b as u64).wrapping_mul(0x100000001b3);
        }
        let head = line.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
        *kinds.entry(head.to_string()).or_insert(0) += 1;
    }
    Ok((lines, sum, kinds))
}

fn main() -> io::Result<()> {
    let mut gen = Gen(0xdead_beef);
    let mut bodies: Vec<Body> = (0..4600).map(|i| gen.body(i)).collect();
    let removed: usize = bodies.iter_mut().map(simplify).sum();
    let path: PathBuf = env::temp_dir().join(format!("krate-{}.mir", std::process::id()));
    emit(&path, &bodies)?;
    let (lines, sum, kinds) = summarize(&path)?;
    fs::remove_file(&path)?;
    println!("{} bodies, {removed} nops removed, {lines} lines, fnv {sum:016x}", bodies.len());
    for (k, n) in kinds.iter().filter(|(k, _)| !k.is_empty()) {
        println!("  {k}: {n}");
    }
    Ok(())
}
