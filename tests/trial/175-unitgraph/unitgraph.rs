//! Computes rebuild fingerprints for a workspace's unit graph and reports which units are stale.

use std::cell::Cell;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

fn hash_u64<H: Hash>(value: H) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[derive(Hash, Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
enum Mode {
    Build,
    Test,
    RunCustomBuild,
}

#[derive(Debug, Clone)]
struct Manifest {
    name: String,
    mode: Mode,
    opt_level: u8,
    features: Vec<String>,
    deps: Vec<String>,
    source: String,
}

fn parse_workspace(text: &str) -> Result<Vec<Manifest>, String> {
    let mut units: Vec<Manifest> = Vec::new();
    for (no, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix("[unit ").and_then(|r| r.strip_suffix(']')) {
            units.push(Manifest {
                name: name.to_string(),
                mode: Mode::Build,
                opt_level: 0,
                features: Vec::new(),
                deps: Vec::new(),
                source: String::new(),
            });
            continue;
        }
        let (key, value) = line.split_once('=').ok_or_else(|| format!("line {}: expected key = value", no + 1))?;
        let unit = units.last_mut().ok_or_else(|| format!("line {}: key outside of unit", no + 1))?;
        let list = || value.split(',').map(|s| s.trim().to_string()).filter(|s| !s.is_empty()).collect();
        match key.trim() {
            "mode" => {
                unit.mode = match value.trim() {
                    "test" => Mode::Test,
                    "custom-build" => Mode::RunCustomBuild,
                    _ => Mode::Build,
                }
            }
            "opt" => unit.opt_level = value.trim().parse().map_err(|e| format!("line {}: {e}", no + 1))?,
            "features" => unit.features = list(),
            "deps" => unit.deps = list(),
            "source" => unit.source = value.trim().to_string(),
            other => return Err(format!("line {}: unknown key {other}", no + 1)),
        }
    }
    Ok(units)
}

struct DepFingerprint {
    name: String,
    public: bool,
    fingerprint: Rc<Fingerprint>,
}

struct Fingerprint {
    name: String,
    rustc: u64,
    features: String,
    profile: (Mode, u8),
    local: u64,
    deps: Vec<DepFingerprint>,
    memoized: Cell<Option<u64>>,
}

impl Fingerprint {
    fn value(&self) -> u64 {
        if let Some(h) = self.memoized.get() {
            return h;
        }
        let h = hash_u64(self);
        self.memoized.set(Some(h));
        h
    }
}

impl Hash for Fingerprint {
    fn hash<H: Hasher>(&self, h: &mut H) {
        (self.rustc, &self.features, self.profile, self.local).hash(h);
        self.deps.len().hash(h);
        for dep in &self.deps {
            dep.name.hash(h);
            dep.public.hash(h);
            hash_u64(&*dep.fingerprint).hash(h);
        }
    }
}

struct Builder<'a> {
    manifests: HashMap<&'a str, &'a Manifest>,
    done: HashMap<&'a str, Rc<Fingerprint>>,
    rustc: u64,
}

impl<'a> Builder<'a> {
    fn fingerprint(&mut self, name: &str) -> Result<Rc<Fingerprint>, String> {
        if let Some(f) = self.done.get(name) {
            return Ok(Rc::clone(f));
        }
        let m = *self.manifests.get(name).ok_or_else(|| format!("no unit named {name}"))?;
        let mut deps = Vec::with_capacity(m.deps.len());
        for d in &m.deps {
            let (dep_name, public) = match d.strip_prefix('+') {
                Some(rest) => (rest, true),
                None => (d.as_str(), false),
            };
            let fingerprint = self.fingerprint(dep_name)?;
            deps.push(DepFingerprint { name: dep_name.to_string(), public, fingerprint });
        }
        deps.sort_by(|a, b| a.name.cmp(&b.name));
        let mut feats = m.features.clone();
        feats.sort();
        feats.dedup();
        let fp = Rc::new(Fingerprint {
            name: m.name.clone(),
            rustc: self.rustc,
            features: feats.join("+"),
            profile: (m.mode, m.opt_level),
            local: hash_u64(&m.source),
            deps,
            memoized: Cell::new(None),
        });
        self.done.insert(&m.name, Rc::clone(&fp));
        Ok(fp)
    }
}

fn stale_units(old: &BTreeMap<String, u64>, new: &BTreeMap<String, u64>) -> Vec<String> {
    new.iter().filter(|(name, h)| old.get(*name) != Some(h)).map(|(name, _)| name.clone()).collect()
}

fn compute(text: &str) -> Result<BTreeMap<String, u64>, String> {
    let manifests = parse_workspace(text)?;
    let mut b = Builder {
        manifests: manifests.iter().map(|m| (m.name.as_str(), m)).collect(),
        done: HashMap::new(),
        rustc: hash_u64("rustc 1.21.0 (3b72af97e 2017-10-09)"),
    };
    let mut out = BTreeMap::new();
    for m in &manifests {
        let fp = b.fingerprint(&m.name)?;
        out.insert(fp.name.clone(), fp.value());
    }
    Ok(out)
}

fn workspace(layers: usize, width: usize, touched: &[(usize, usize)]) -> String {
    let mut s = String::from("# generated workspace\n");
    let mut x = 12345u32;
    for l in 0..layers {
        for w in 0..width {
            s += &format!("[unit l{l}-u{w}]\n");
            s += ["mode = build\n", "mode = test\n", "mode = custom-build\n"][(l + w * w) % 3];
            s += &format!("opt = {}\nfeatures = default, std, f{}\n", w % 4, (l * 3 + w) % 11);
            if l > 0 {
                let deps: Vec<String> = (0..3)
                    .map(|k| {
                        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
                        let plus = if x >> 30 == 0 { "+" } else { "" };
                        format!("{plus}l{}-u{}", l - 1, (w + k * (1 + (x >> 20) as usize % 2)) % width)
                    })
                    .collect();
                s += &format!("deps = {}\n", deps.join(", "));
            }
            let rev = if touched.contains(&(l, w)) { 2 } else { 1 };
            s += &format!("source = src/l{l}/u{w}.rs r{rev}\n\n");
        }
    }
    s
}

fn main() {
    let before = compute(&workspace(13, 15, &[])).expect("first pass");
    let after = compute(&workspace(13, 15, &[(0, 2), (9, 4)])).expect("second pass");
    let stale = stale_units(&before, &after);
    let digest = after.values().fold(0u64, |acc, h| acc.rotate_left(7) ^ h);
    println!("{} units, {} stale, digest {digest:016x}", after.len(), stale.len());
    println!("first stale: {}", stale.first().map(String::as_str).unwrap_or("-"));
}
