//! Dependency resolver of a small package manager: reads a registry index and
//! a manifest, picks one version per package and writes a lock file summary.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Version {
    fn parse(s: &str) -> Result<Version, String> {
        let mut it = s.split('.').map(|p| p.parse::<u32>());
        match (it.next(), it.next(), it.next()) {
            (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => Ok(Version { major, minor, patch }),
            _ => Err(format!("bad version {s:?}")),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[derive(Clone, Copy, Debug)]
struct VersionReq {
    major: u32,
    minor: u32,
}

impl VersionReq {
    fn parse(s: &str) -> Result<VersionReq, String> {
        let body = s.strip_prefix('^').ok_or_else(|| format!("bad requirement {s:?}"))?;
        let (a, b) = body.split_once('.').ok_or_else(|| format!("bad requirement {s:?}"))?;
        Ok(VersionReq {
            major: a.parse().map_err(|e| format!("{s}: {e}"))?,
            minor: b.parse().map_err(|e| format!("{s}: {e}"))?,
        })
    }

    fn matches(&self, v: &Version) -> bool {
        v.major == self.major && v.minor >= self.minor
    }
}

#[derive(Debug)]
struct Dependency {
    name: String,
    req: VersionReq,
    features: Vec<String>,
}

#[derive(Debug)]
struct Summary {
    name: String,
    version: Version,
    features: BTreeSet<String>,
    links: Option<String>,
    deps: Vec<Rc<Dependency>>,
}

type PackageId = (String, Version);

struct Registry {
    packages: HashMap<String, Vec<Rc<Summary>>>,
}

impl Registry {
    fn load(text: &str) -> Result<Registry, String> {
        let mut packages: HashMap<String, Vec<Rc<Summary>>> = HashMap::new();
        for line in text.lines() {
            let s = parse_index_line(line)?;
            packages.entry(s.name.clone()).or_default().push(Rc::new(s));
        }
        for list in packages.values_mut() {
            list.sort_by(|a, b| b.version.cmp(&a.version));
        }
        Ok(Registry { packages })
    }

    fn query(&self, dep: &Dependency) -> Vec<Rc<Summary>> {
        match self.packages.get(&dep.name) {
            Some(list) => list.iter().filter(|s| dep.req.matches(&s.version)).cloned().collect(),
            None => Vec::new(),
        }
    }
}

fn split_features(s: &str) -> impl Iterator<Item = String> + '_ {
    s.split('+').filter(|f| !f.is_empty()).map(str::to_string)
}

fn parse_index_line(line: &str) -> Result<Summary, String> {
    let mut words = line.split(' ');
    let name = words.next().ok_or("no name")?.to_string();
    let version = Version::parse(words.next().ok_or("no version")?)?;
    let mut sum = Summary { name, version, features: BTreeSet::new(), links: None, deps: Vec::new() };
    for w in words {
        let (key, val) = w.split_once('=').ok_or_else(|| format!("bad field {w:?}"))?;
        match key {
            "features" => sum.features.extend(split_features(val)),
            "links" if val != "-" => sum.links = Some(val.to_string()),
            "deps" if val != "-" => {
                for d in val.split(',') {
                    let (n, rest) = d.split_once('@').ok_or("bad dep")?;
                    let (req, feats) = rest.split_once(':').ok_or("bad dep")?;
                    sum.deps.push(Rc::new(Dependency {
                        name: n.to_string(),
                        req: VersionReq::parse(req)?,
                        features: split_features(feats).collect(),
                    }));
                }
            }
            _ => {}
        }
    }
    Ok(sum)
}

/// What has been decided so far.
#[derive(Clone, Default)]
struct Context {
    activations: HashMap<String, Vec<Rc<Summary>>>,
    resolve_features: HashMap<PackageId, HashSet<String>>,
    links: HashMap<String, PackageId>,
}

#[derive(Debug)]
enum Conflict {
    Semver(PackageId),
    Links(String),
}

impl Context {
    /// Returns true if the package was active with all the features already.
    fn flag_activated(&mut self, s: &Rc<Summary>, features: &[String]) -> Result<bool, Conflict> {
        let list = self.activations.entry(s.name.clone()).or_default();
        let id = (s.name.clone(), s.version);
        if let Some(prev) = list.iter().find(|p| p.version.major == s.version.major) {
            if prev.version != s.version {
                return Err(Conflict::Semver((prev.name.clone(), prev.version)));
            }
            let have = self.resolve_features.entry(id).or_default();
            let mut all = true;
            for f in features {
                all &= !have.insert(f.clone());
            }
            return Ok(all);
        }
        if let Some(l) = &s.links {
            if let Some(other) = self.links.get(l) {
                return Err(Conflict::Links(format!("{l} ({})", other.0)));
            }
            self.links.insert(l.clone(), id.clone());
        }
        list.push(Rc::clone(s));
        let used = features.iter().filter(|f| s.features.contains(*f) || f.as_str() == "std");
        self.resolve_features.insert(id, used.cloned().collect());
        Ok(false)
    }
}

#[derive(Clone)]
struct DepsFrame {
    parent: Option<Rc<Summary>>,
    dep: Rc<Dependency>,
}

/// Where to go on when a choice turned out to be wrong.
struct BacktrackFrame {
    cx: Context,
    remaining: Vec<DepsFrame>,
    candidates: Vec<Rc<Summary>>,
    next: usize,
    frame: DepsFrame,
}

#[derive(Default)]
struct Stats {
    ticks: u64,
    backtracks: u64,
    conflicts: BTreeMap<String, u64>,
}

fn activate(cx: &mut Context, s: &Rc<Summary>, dep: &Dependency) -> Result<Vec<DepsFrame>, Conflict> {
    if cx.flag_activated(s, &dep.features)? {
        return Ok(Vec::new());
    }
    Ok(s.deps
        .iter()
        .map(|d| DepsFrame { parent: Some(Rc::clone(s)), dep: Rc::clone(d) })
        .collect())
}

fn activate_deps_loop(reg: &Registry, roots: Vec<Rc<Dependency>>, stats: &mut Stats) -> Result<Context, String> {
    let mut cx = Context::default();
    let mut backtrack_stack: Vec<BacktrackFrame> = Vec::new();
    let mut remaining: Vec<DepsFrame> =
        roots.into_iter().rev().map(|dep| DepsFrame { parent: None, dep }).collect();

    while let Some(mut frame) = remaining.pop() {
        let mut candidates = sort_candidates(&cx, reg.query(&frame.dep));
        let mut next = 0;
        loop {
            stats.ticks += 1;
            let Some(candidate) = candidates.get(next).cloned() else {
                let who = frame.parent.as_ref().map_or("the manifest", |p| p.name.as_str());
                *stats.conflicts.entry(who.to_string()).or_default() += 1;
                let Some(bf) = backtrack_stack.pop() else {
                    return Err(format!("no version of {} for {}", frame.dep.name, who));
                };
                stats.backtracks += 1;
                cx = bf.cx;
                remaining = bf.remaining;
                candidates = bf.candidates;
                next = bf.next;
                frame = bf.frame;
                continue;
            };
            next += 1;
            let backtrack = BacktrackFrame {
                cx: cx.clone(),
                remaining: remaining.clone(),
                candidates: candidates.clone(),
                next,
                frame: frame.clone(),
            };
            match activate(&mut cx, &candidate, &frame.dep) {
                Ok(more) => {
                    if next < candidates.len() {
                        backtrack_stack.push(backtrack);
                    }
                    remaining.extend(more);
                    break;
                }
                Err(Conflict::Semver(id)) => {
                    *stats.conflicts.entry(id.0).or_default() += 1;
                }
                Err(Conflict::Links(l)) => {
                    *stats.conflicts.entry(l).or_default() += 1;
                }
            }
        }
        if backtrack_stack.len() > 64 {
            backtrack_stack.drain(..32);
        }
    }
    Ok(cx)
}

/// Versions which are active already come first, then the newest.
fn sort_candidates(cx: &Context, mut list: Vec<Rc<Summary>>) -> Vec<Rc<Summary>> {
    if let Some(active) = list.first().and_then(|s| cx.activations.get(&s.name)) {
        list.sort_by_key(|s| !active.iter().any(|a| a.version == s.version));
        if !active.is_empty() {
            list.truncate(1);
        }
    }
    list
}

fn encode_lock(cx: &Context) -> String {
    let mut ids: Vec<&PackageId> = cx.resolve_features.keys().collect();
    ids.sort();
    let mut out = String::new();
    for id in ids {
        let mut feats: Vec<&str> = cx.resolve_features[id].iter().map(String::as_str).collect();
        feats.sort_unstable();
        out.push_str(&format!("[[package]]\nname = \"{}\"\nversion = \"{}\"\nfeatures = {:?}\n\n", id.0, id.1, feats));
    }
    out
}

fn checksum(s: &str) -> u64 {
    s.bytes().fold(0xcbf29ce484222325, |h, b| (h ^ b as u64).wrapping_mul(0x100000001b3))
}

fn parse_manifest(text: &str) -> Result<Vec<Rc<Dependency>>, String> {
    text.lines()
        .map(|l| {
            let w: Vec<&str> = l.split(' ').collect();
            if w.len() != 3 {
                return Err(format!("bad manifest line {l:?}"));
            }
            Ok(Rc::new(Dependency {
                name: w[0].to_string(),
                req: VersionReq::parse(w[1])?,
                features: split_features(w[2]).collect(),
            }))
        })
        .collect()
}

fn data_dir() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().join("data")
}

fn main() -> Result<(), String> {
    let index = fs::read_to_string(data_dir().join("index.txt")).map_err(|e| e.to_string())?;
    let manifest = fs::read_to_string(data_dir().join("roots.txt")).map_err(|e| e.to_string())?;
    let registry = Registry::load(&index)?;
    let roots = parse_manifest(&manifest)?;
    // the workspace: every member is resolved on its own, as for `publish --dry-run`
    for member in 0..3 {
        let deps = roots.iter().skip(member).step_by(member + 1).cloned().collect();
        let mut stats = Stats::default();
        let cx = activate_deps_loop(&registry, deps, &mut stats)?;
        let lock = encode_lock(&cx);
        println!(
            "member {}: {} packages, {} ticks, {} backtracks, {} conflicting, lock {} bytes {:016x}",
            member,
            cx.resolve_features.len(),
            stats.ticks,
            stats.backtracks,
            stats.conflicts.len(),
            lock.len(),
            checksum(&lock)
        );
    }
    Ok(())
}
