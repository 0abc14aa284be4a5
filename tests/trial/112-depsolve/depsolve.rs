// Resolves the dependencies of a workspace: picks a version of each package such that all ranges hold, trying the
// newest first and going back to an earlier choice when there is a conflict. Prints the lock file's digest.
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Version {
    major: u16,
    minor: u16,
}

#[derive(Clone, Debug)]
struct Dep {
    package: usize,
    major: u16,
    min_minor: u16,
    max_minor: u16,
    feature: u8,
}

#[derive(Clone, Debug)]
struct Summary {
    version: Version,
    deps: Vec<Dep>,
}

struct Registry {
    names: Vec<String>,
    versions: Vec<Vec<Summary>>,
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }
}

impl Registry {
    fn generate(packages: usize, rng: &mut Rng) -> Registry {
        let parts = ["serde", "tokio", "hyper", "log", "rand", "regex", "syn", "quote", "bytes", "http", "time", "toml"];
        let names = (0..packages).map(|i| format!("{}-{}-{:04}", parts[rng.below(12)], parts[rng.below(12)], i)).collect();
        let mut versions = Vec::new();
        for p in 0..packages {
            let mut list = Vec::new();
            for minor in 0..(2 + rng.below(5)) as u16 {
                let mut deps = Vec::new();
                for _ in 0..rng.below(4) {
                    if p == 0 {
                        break;
                    }
                    let low = p.saturating_sub(260);
                    let max_minor = if rng.below(80) == 0 { rng.below(3) as u16 } else { 99 };
                    deps.push(Dep { package: low + rng.below(p - low), major: 1, min_minor: 0, max_minor, feature: rng.below(6) as u8 });
                }
                list.push(Summary { version: Version { major: 1, minor }, deps });
            }
            list.reverse();
            versions.push(list);
        }
        Registry { names, versions }
    }

    fn candidates<'a>(&'a self, dep: &'a Dep) -> impl Iterator<Item = (usize, &'a Summary)> + 'a {
        self.versions[dep.package].iter().enumerate().filter(move |(_, s)| {
            s.version.major == dep.major && s.version.minor >= dep.min_minor && s.version.minor <= dep.max_minor
        })
    }
}

#[derive(Clone, Default)]
struct Context {
    activations: HashMap<usize, (Version, usize)>,
    features: HashMap<usize, HashSet<u8>>,
    parents: HashMap<usize, Vec<usize>>,
}

impl Context {
    fn activate(&mut self, package: usize, version: Version, index: usize) {
        self.activations.insert(package, (version, index));
    }

    fn link(&mut self, package: usize, parent: usize, feature: u8) {
        self.features.entry(package).or_default().insert(feature);
        self.parents.entry(package).or_default().push(parent);
    }
}

impl Context {
    fn check(&self, dep: &Dep) -> Option<bool> {
        let (v, _) = self.activations.get(&dep.package)?;
        Some(v.major == dep.major && v.minor >= dep.min_minor && v.minor <= dep.max_minor)
    }
}

struct Frame {
    context: Context,
    pending: Vec<(usize, Dep)>,
    parent: usize,
    dep: Dep,
    next_candidate: usize,
}

const TICK_LIMIT: u64 = 60_000;

// drops the choices that were made after the one that is in the way
fn jump_to(frames: &mut Vec<Frame>, package: usize) {
    if let Some(at) = frames.iter().rposition(|f| f.dep.package == package) {
        frames.truncate(at + 1);
    }
}

struct Resolver<'a> {
    registry: &'a Registry,
    ticks: u64,
    conflicts: u64,
}

impl<'a> Resolver<'a> {
    // the queue is a stack of (parent, dependency)
    fn activate_deps(&mut self, roots: &[Dep]) -> Option<Context> {
        let mut cx = Context::default();
        let mut queue: Vec<(usize, Dep)> = roots.iter().rev().map(|d| (usize::MAX, d.clone())).collect();
        let mut frames: Vec<Frame> = Vec::new();
        while let Some((parent, dep)) = queue.pop() {
            self.ticks += 1;
            match cx.check(&dep) {
                Some(true) => {
                    cx.link(dep.package, parent, dep.feature);
                    continue;
                }
                Some(false) => {
                    self.conflicts += 1;
                    if self.ticks > TICK_LIMIT {
                        return None;
                    }
                    jump_to(&mut frames, dep.package);
                    if !self.backtrack(&mut frames, &mut queue, &mut cx) {
                        return None;
                    }
                    continue;
                }
                None => {}
            }
            let frame = Frame {
                context: cx.clone(),
                pending: queue.clone(),
                parent,
                dep,
                next_candidate: 0,
            };
            frames.push(frame);
            if !self.try_candidate(&mut frames, &mut queue, &mut cx) && !self.backtrack(&mut frames, &mut queue, &mut cx) {
                return None;
            }
        }
        Some(cx)
    }

    fn try_candidate(&mut self, frames: &mut [Frame], queue: &mut Vec<(usize, Dep)>, cx: &mut Context) -> bool {
        let f = frames.last_mut().unwrap();
        let found = self.registry.candidates(&f.dep).nth(f.next_candidate);
        let Some((index, summary)) = found else { return false };
        f.next_candidate += 1;
        cx.activate(f.dep.package, summary.version, index);
        cx.link(f.dep.package, f.parent, f.dep.feature);
        for d in summary.deps.iter().rev() {
            queue.push((f.dep.package, d.clone()));
        }
        true
    }

    fn backtrack(&mut self, frames: &mut Vec<Frame>, queue: &mut Vec<(usize, Dep)>, cx: &mut Context) -> bool {
        while let Some(f) = frames.last() {
            *cx = f.context.clone();
            queue.clear();
            queue.extend(f.pending.iter().cloned());
            if self.try_candidate(frames, queue, cx) {
                return true;
            }
            frames.pop();
        }
        false
    }
}

fn lock_digest(reg: &Registry, cx: &Context) -> (u64, BTreeMap<u16, usize>) {
    let mut names: Vec<usize> = cx.activations.keys().copied().collect();
    names.sort_by(|a, b| reg.names[*a].cmp(&reg.names[*b]));
    let mut h = 0xcbf29ce484222325u64;
    let mut minors = BTreeMap::new();
    for p in names {
        let v = cx.activations[&p].0;
        let mut features: Vec<u8> = cx.features[&p].iter().copied().collect();
        features.sort();
        let line = format!("{} {}.{} {:?} {}\n", reg.names[p], v.major, v.minor, features, cx.parents[&p].len());
        for b in line.bytes() {
            h = (h ^ b as u64).wrapping_mul(0x100000001b3);
        }
        *minors.entry(v.minor).or_insert(0) += 1;
    }
    (h, minors)
}

fn main() {
    let mut rng = Rng(112);
    let reg = Registry::generate(2600, &mut rng);
    let mut solved = 0;
    for member in 0..12 {
        let roots: Vec<Dep> = (0..70)
            .map(|_| Dep { package: 900 + rng.below(1700), major: 1, min_minor: 0, max_minor: 99, feature: 0 })
            .collect();
        let mut r = Resolver { registry: &reg, ticks: 0, conflicts: 0 };
        match r.activate_deps(&roots) {
            Some(cx) => {
                let (digest, minors) = lock_digest(&reg, &cx);
                println!("member {member}: {} packages, {} ticks, {} conflicts, {digest:016x}, {minors:?}", cx.activations.len(), r.ticks, r.conflicts);
                solved += 1;
            }
            None => println!("member {member}: no solution after {} ticks, {} conflicts", r.ticks, r.conflicts),
        }
    }
    println!("{solved} resolved");
}
