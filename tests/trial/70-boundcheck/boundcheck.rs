// boundcheck: checks the trait bounds that the files of a crate rely on against its impls, and prints those that do not hold.
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs;
use std::process;

type TyId = u32;
type TraitId = u16;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum TyKind {
    Param(u8),
    App(String, Vec<TyId>),
}

#[derive(Debug)]
struct ParseError(String);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "cannot parse {}", self.0)
    }
}

#[derive(Default)]
struct Types {
    kinds: Vec<TyKind>,
    ids: HashMap<TyKind, TyId>,
}

impl Types {
    fn intern(&mut self, kind: TyKind) -> TyId {
        if let Some(id) = self.ids.get(&kind) {
            return *id;
        }
        let id = self.kinds.len() as TyId;
        self.kinds.push(kind.clone());
        self.ids.insert(kind, id);
        id
    }

    fn show(&self, ty: TyId) -> String {
        match &self.kinds[ty as usize] {
            TyKind::Param(n) => format!("'{}", n),
            TyKind::App(name, args) if args.is_empty() => name.clone(),
            TyKind::App(name, args) => format!("{}<{}>", name, args.iter().map(|a| self.show(*a)).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Reads a type from the front of `text`, in which `params` are names of parameters.
    fn parse(&mut self, text: &mut &str, params: &[String]) -> Result<TyId, ParseError> {
        let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        if name.is_empty() {
            return Err(ParseError(text.to_string()));
        }
        *text = rest;
        if let Some(n) = params.iter().position(|p| p == name) {
            return Ok(self.intern(TyKind::Param(n as u8)));
        }
        let mut args = Vec::new();
        if text.starts_with('<') {
            while !text.starts_with('>') {
                *text = &text[1..];
                args.push(self.parse(text, params)?);
                if text.is_empty() {
                    return Err(ParseError(name.to_string()));
                }
            }
            *text = &text[1..];
        }
        Ok(self.intern(TyKind::App(name.to_string(), args)))
    }
}

type CauseId = u32;

/// What a bound is needed for: a line of a file itself, or the bound of an impl that is used there.
struct Cause {
    file: u32,
    line: u32,
    parent: Option<CauseId>,
    depth: u16,
}

const RECURSION_LIMIT: u16 = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Obligation {
    ty: TyId,
    bound: TraitId,
    cause: CauseId,
}

struct Impl {
    head: TyId,
    conditions: Vec<(u8, TraitId)>,
}

#[derive(Default)]
struct Checker {
    types: Types,
    trait_names: Vec<String>,
    impls: Vec<Vec<Impl>>,
    causes: Vec<Cause>,
    results: HashMap<Obligation, bool>,
}

impl Checker {
    fn trait_id(&mut self, name: &str) -> TraitId {
        if let Some(n) = self.trait_names.iter().position(|t| t == name) {
            return n as TraitId;
        }
        self.trait_names.push(name.to_string());
        self.impls.push(Vec::new());
        (self.trait_names.len() - 1) as TraitId
    }

    fn add_impl(&mut self, text: &str) -> Result<(), ParseError> {
        let bad = || ParseError(text.to_string());
        let (bound, rest) = text.split_once(" for ").ok_or_else(bad)?;
        let (mut head, conditions) = rest.split_once(" where ").unwrap_or((rest, ""));
        let params: Vec<String> = match head.split_once('<') {
            Some((_, p)) => p.trim_end_matches('>').split(',').map(str::to_string).collect(),
            None => Vec::new(),
        };
        let mut made = Impl { head: self.types.parse(&mut head, &params)?, conditions: Vec::new() };
        for one in conditions.split_whitespace() {
            let (param, needs) = one.split_once(':').ok_or_else(bad)?;
            let n = params.iter().position(|p| p == param).ok_or_else(bad)?;
            made.conditions.push((n as u8, self.trait_id(needs)));
        }
        let id = self.trait_id(bound);
        self.impls[id as usize].push(made);
        Ok(())
    }

    /// Matches a type with the head of an impl; `found` gets what its parameters stand for.
    fn matches(&self, head: TyId, ty: TyId, found: &mut Vec<Option<TyId>>) -> bool {
        match (&self.types.kinds[head as usize], &self.types.kinds[ty as usize]) {
            (TyKind::Param(n), _) => {
                let n = *n as usize;
                if found.len() <= n {
                    found.resize(n + 1, None);
                }
                *found[n].get_or_insert(ty) == ty
            }
            (TyKind::App(a, x), TyKind::App(b, y)) => a == b && x.len() == y.len() && x.iter().zip(y).all(|(p, q)| self.matches(*p, *q, found)),
            _ => false,
        }
    }

    fn derived_cause(&mut self, parent: CauseId) -> CauseId {
        let Cause { file, line, depth, .. } = self.causes[parent as usize];
        self.causes.push(Cause { file, line, parent: Some(parent), depth: depth + 1 });
        (self.causes.len() - 1) as CauseId
    }

    /// The chain of impls that led to a bound, innermost first, when it got too long.
    fn overflow(&self, mut at: CauseId) -> String {
        let mut n = 0;
        while let Some(parent) = self.causes[at as usize].parent {
            n += 1;
            at = parent;
        }
        format!("line {}: overflow after {} impls", self.causes[at as usize].line, n)
    }

    fn select(&mut self, obligation: &Obligation) -> Option<Vec<Obligation>> {
        for candidate in &self.impls[obligation.bound as usize] {
            let mut found = Vec::new();
            if !self.matches(candidate.head, obligation.ty, &mut found) {
                continue;
            }
            let nested: Vec<_> = candidate.conditions.iter().filter_map(|(n, bound)| Some((found[*n as usize]?, *bound))).collect();
            return Some(nested.into_iter().map(|(ty, bound)| Obligation { ty, bound, cause: self.derived_cause(obligation.cause) }).collect());
        }
        None
    }

    fn holds(&mut self, obligation: Obligation) -> bool {
        if let Some(known) = self.results.get(&obligation) {
            return *known;
        }
        if self.causes[obligation.cause as usize].depth > RECURSION_LIMIT {
            eprintln!("boundcheck: {}", self.overflow(obligation.cause));
            return false;
        }
        let result = match self.select(&obligation) {
            Some(nested) => nested.into_iter().all(|one| self.holds(one)),
            None => false,
        };
        self.results.insert(obligation, result);
        result
    }
}

fn run(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let text = fs::read_to_string(path)?;
    let mut checker = Checker::default();
    let mut files: Vec<String> = Vec::new();
    let mut failed: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let (mut needed, mut wrong, mut shown) = (0, 0, 0);
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("impl", rest)) => checker.add_impl(rest).map_err(|e| e.to_string())?,
            Some(("file", name)) => files.push(name.to_string()),
            Some(("need", rest)) => {
                let (number, bound) = rest.split_once(' ').ok_or("no bound")?;
                let (mut ty, bound) = bound.rsplit_once(':').ok_or("no trait")?;
                let cause = checker.causes.len() as CauseId;
                checker.causes.push(Cause { file: files.len() as u32, line: number.parse()?, parent: None, depth: 0 });
                let ty = checker.types.parse(&mut ty, &[]).map_err(|e| e.to_string())?;
                let bound = checker.trait_id(bound);
                needed += 1;
                if checker.holds(Obligation { ty, bound, cause }) {
                    continue;
                }
                wrong += 1;
                let file = files.last().ok_or("no file")?;
                failed.entry(file.clone()).or_default().push(checker.causes[cause as usize].line);
                if shown < 6 {
                    println!("{}:{}: {} is not {}", file, number, checker.types.show(ty), checker.trait_names[bound as usize]);
                    shown += 1;
                }
            }
            _ => {}
        }
    }
    println!("{} bounds of {} files, {} types; {} do not hold", needed, files.len(), checker.types.kinds.len(), wrong);
    for (file, lines) in failed.iter().take(8) {
        println!("{}: {} at {:?}", file, lines.len(), &lines[..lines.len().min(6)]);
    }
    Ok(())
}

fn main() {
    let path = std::env::args().nth(1).unwrap_or_else(|| "data/crate.txt".to_string());
    if let Err(e) = run(&path) {
        eprintln!("boundcheck: {}", e);
        process::exit(1);
    }
}
