//! Resolves a package graph from a textual index plus a lock file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Version {
    fn parse(s: &str) -> Option<Version> {
        let mut it = s.trim().split('.').map(|p| p.parse::<u32>().ok());
        Some(Version { major: it.next()??, minor: it.next()??, patch: it.next()?? })
    }

    fn compatible(&self, req: &Version) -> bool {
        self.major == req.major && *self >= *req
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[derive(Clone, Debug)]
struct Dependency {
    name: String,
    req: Version,
    features: Vec<String>,
}

#[derive(Clone, Debug)]
struct Summary {
    name: String,
    version: Version,
    deps: Vec<Dependency>,
}

#[derive(Default)]
struct Registry {
    packages: HashMap<String, Vec<Summary>>,
    locked: HashMap<String, Version>,
}

impl Registry {
    fn load(index: &str, lock: &str) -> Registry {
        let mut reg = Registry::default();
        for line in index.lines() {
            let mut cols = line.split('|');
            let (Some(head), Some(tail)) = (cols.next(), cols.next()) else { continue };
            let Some((name, ver)) = head.split_once('@') else { continue };
            let deps = tail.split(';').filter_map(parse_dep).collect();
            let summary = Summary { name: name.to_string(), version: Version::parse(ver).unwrap(), deps };
            reg.packages.entry(name.to_string()).or_default().push(summary);
        }
        for list in reg.packages.values_mut() {
            list.sort_by(|a, b| b.version.cmp(&a.version));
        }
        for line in lock.lines() {
            if let Some((name, ver)) = line.split_once(' ') {
                reg.locked.insert(name.to_string(), Version::parse(ver).unwrap());
            }
        }
        reg
    }

    fn query(&self, dep: &Dependency) -> Vec<&Summary> {
        let all = match self.packages.get(&dep.name) {
            Some(v) => v,
            None => return Vec::new(),
        };
        let mut out: Vec<&Summary> = all.iter().filter(|s| s.version.compatible(&dep.req)).collect();
        if let Some(v) = self.locked.get(&dep.name) {
            if out.iter().any(|s| s.version == *v) {
                out.retain(|s| s.version == *v);
            }
        }
        out
    }
}

fn parse_dep(s: &str) -> Option<Dependency> {
    let mut parts = s.split_whitespace();
    let name = parts.next()?.to_string();
    let req = Version::parse(parts.next()?)?;
    let features = parts.next().map(|f| f.split(',').map(String::from).collect()).unwrap_or_default();
    Some(Dependency { name, req, features })
}

#[derive(Clone, Default)]
struct Context {
    activations: HashMap<String, Version>,
    features: HashMap<String, HashSet<String>>,
    parents: BTreeMap<String, Vec<String>>,
}

impl Context {
    fn activate(&mut self, parent: &str, dep: &Dependency, cand: &Summary) -> Result<bool, String> {
        match self.activations.get(&cand.name) {
            Some(v) if *v != cand.version => {
                return Err(format!("{} {} conflicts with {}", cand.name, cand.version, v));
            }
            _ => {}
        }
        let fresh = self.activations.insert(cand.name.clone(), cand.version).is_none();
        let feats = self.features.entry(cand.name.clone()).or_default();
        let before = feats.len();
        feats.extend(dep.features.iter().cloned());
        self.parents.entry(cand.name.clone()).or_default().push(parent.to_string());
        Ok(fresh || feats.len() > before && cand.deps.is_empty())
    }
}

struct BacktrackFrame {
    context: Context,
    pending: Vec<(String, Dependency)>,
    parent: String,
    dep: Dependency,
    remaining: Vec<Summary>,
}

fn resolve(reg: &Registry, root: &Summary) -> Result<(Context, usize), String> {
    let mut cx = Context::default();
    let mut frames: Vec<BacktrackFrame> = Vec::new();
    let mut pending: Vec<(String, Dependency)> =
        root.deps.iter().rev().map(|d| (root.name.clone(), d.clone())).collect();
    let mut ticks = 0usize;

    while let Some((parent, dep)) = pending.pop() {
        let mut remaining: Vec<Summary> = reg.query(&dep).into_iter().rev().cloned().collect();
        let mut parent = parent;
        let mut dep = dep;
        loop {
            ticks += 1;
            let Some(cand) = remaining.pop() else {
                let frame = frames.pop().ok_or_else(|| format!("no version of {} works", dep.name))?;
                cx = frame.context;
                pending = frame.pending;
                parent = frame.parent;
                dep = frame.dep;
                remaining = frame.remaining;
                continue;
            };
            let has_another = !remaining.is_empty();
            let saved = if has_another { Some(cx.clone()) } else { None };
            match cx.activate(&parent, &dep, &cand) {
                Ok(fresh) => {
                    if let Some(saved) = saved {
                        frames.push(BacktrackFrame {
                            context: saved,
                            pending: pending.clone(),
                            parent: parent.clone(),
                            dep: dep.clone(),
                            remaining,
                        });
                    }
                    if fresh {
                        pending.extend(cand.deps.iter().rev().map(|d| (cand.name.clone(), d.clone())));
                    }
                    break;
                }
                Err(_) => continue,
            }
        }
    }
    Ok((cx, ticks))
}

fn generate(n: usize) -> (String, String) {
    let mut seed = 0x2545_f491u64;
    let mut next = move |m: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % m
    };
    let (mut index, mut lock) = (String::new(), String::new());
    for i in 0..n {
        for minor in 0..3 {
            index.push_str(&format!("crate-{i}@1.{minor}.{}|", i % 5));
            for k in 0..5 {
                if i + 1 < n {
                    let j = if k == 0 { i + 1 } else { i + 1 + next((n - i - 1).min(60)) };
                    index.push_str(&format!("crate-{j} 1.{}.0 std,feat{};", next(2), next(6)));
                }
            }
            index.push('\n');
        }
        if i % 400 != 7 {
            lock.push_str(&format!("crate-{i} 1.{}.{}\n", 1 + i % 2, i % 5));
        }
    }
    (index, lock)
}

fn main() {
    let (index, lock) = generate(870);
    let reg = Registry::load(&index, &lock);
    let deps = (0..4).filter_map(|i| parse_dep(&format!("crate-{i} 1.0.0 default"))).collect();
    let root = Summary { name: "app".into(), version: Version::parse("0.1.0").unwrap(), deps };
    let (cx, ticks) = resolve(&reg, &root).expect("resolution failed");
    let edges: usize = cx.parents.values().map(|v| v.len()).sum();
    let feats: usize = cx.features.values().map(|v| v.len()).sum();
    let mut names: Vec<_> = cx.activations.iter().collect();
    names.sort();
    for (name, version) in names.iter().take(4) {
        println!("{name} {version}");
    }
    println!("packages={} edges={edges} features={feats} ticks={ticks}", names.len());
}
