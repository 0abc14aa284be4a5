//! depsolve - picks one version of every package that a workspace needs, so that
//! all requirements hold; goes back to the last choice after a conflict.

use std::collections::{BTreeMap, HashMap};

const CONFLICT_LIMIT: u64 = 400;

#[derive(Clone, Debug, PartialEq)]
struct Requirement {
    name: String,
    min: u32,
    max: u32,
}

#[derive(Clone, Debug)]
struct Summary {
    name: String,
    version: u32,
    features: Vec<String>,
    deps: Vec<Requirement>,
}

#[derive(Default)]
struct Registry {
    packages: BTreeMap<String, Vec<Summary>>,
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 20) % n as u64) as u32
    }
}

impl Registry {
    fn generate(count: usize, rng: &mut Random) -> Registry {
        let mut reg = Registry::default();
        for i in 0..count {
            let name = format!("crate-{:04}", i);
            let mut versions = Vec::new();
            for v in 1..=6 {
                let mut deps = Vec::new();
                if i > 8 {
                    for _ in 0..rng.below(4) {
                        let near = i as u32 - 1 - rng.below(8.min(i as u32));
                        let max = if rng.below(150) == 0 { 5 } else { 6 };
                        deps.push(Requirement { name: format!("crate-{:04}", near), min: 1 + rng.below(5), max });
                    }
                }
                deps.dedup_by(|a, b| a.name == b.name);
                let features = (0..rng.below(4)).map(|k| format!("feat{}", k)).collect();
                versions.push(Summary { name: name.clone(), version: v, features, deps });
            }
            versions.reverse();
            reg.packages.insert(name, versions);
        }
        reg
    }

    fn query(&self, req: &Requirement) -> impl Iterator<Item = &Summary> + '_ {
        let (min, max) = (req.min, req.max);
        self.packages
            .get(&req.name)
            .into_iter()
            .flatten()
            .filter(move |s| s.version >= min && s.version <= max)
    }
}

#[derive(Clone, Default)]
struct Context {
    activations: HashMap<String, Summary>,
    features: HashMap<String, Vec<String>>,
    parents: HashMap<String, Vec<String>>,
    warnings: Vec<String>,
}

impl Context {
    fn is_active(&self, req: &Requirement) -> Option<bool> {
        self.activations.get(&req.name).map(|s| s.version >= req.min && s.version <= req.max)
    }

    fn flag_activated(&mut self, parent: &str, s: &Summary) {
        self.activations.insert(s.name.clone(), s.clone());
        self.features.insert(s.name.clone(), s.features.clone());
        self.link(parent, &s.name);
        if s.version < 3 {
            self.warnings.push(format!("{} {} is outdated", s.name, s.version));
        }
    }

    fn link(&mut self, parent: &str, child: &str) {
        self.parents.entry(child.to_string()).or_default().push(parent.to_string());
    }
}

struct Frame {
    context: Context,
    remaining: Vec<(String, Requirement)>,
    candidates: Vec<Summary>,
    parent: String,
}

struct Resolver<'a> {
    registry: &'a Registry,
    ticks: u64,
    conflicts: u64,
}

impl<'a> Resolver<'a> {
    fn new(registry: &'a Registry) -> Self {
        Resolver { registry, ticks: 0, conflicts: 0 }
    }

    fn activate_deps_loop(&mut self, roots: &[Requirement]) -> Option<Context> {
        let mut cx = Context::default();
        let mut remaining: Vec<(String, Requirement)> =
            roots.iter().rev().map(|r| ("workspace".to_string(), r.clone())).collect();
        let mut backtrack: Vec<Frame> = Vec::new();
        while let Some((parent, req)) = remaining.pop() {
            self.ticks += 1;
            match cx.is_active(&req) {
                Some(true) => {
                    cx.link(&parent, &req.name);
                    continue;
                }
                Some(false) => {
                    self.conflicts += 1;
                    if self.conflicts > CONFLICT_LIMIT {
                        return None;
                    }
                    self.resume(&mut cx, &mut remaining, &mut backtrack)?;
                    continue;
                }
                None => {}
            }
            let mut candidates: Vec<Summary> = self.registry.query(&req).cloned().collect();
            candidates.reverse();
            let Some(best) = candidates.pop() else {
                self.resume(&mut cx, &mut remaining, &mut backtrack)?;
                continue;
            };
            backtrack.push(Frame {
                context: cx.clone(),
                remaining: remaining.clone(),
                candidates,
                parent: parent.clone(),
            });
            self.activate(&mut cx, &mut remaining, &parent, &best);
        }
        Some(cx)
    }

    fn activate(
        &mut self,
        cx: &mut Context,
        remaining: &mut Vec<(String, Requirement)>,
        parent: &str,
        s: &Summary,
    ) {
        cx.flag_activated(parent, s);
        for d in s.deps.iter().rev() {
            remaining.push((s.name.clone(), d.clone()));
        }
    }

    fn resume(
        &mut self,
        cx: &mut Context,
        remaining: &mut Vec<(String, Requirement)>,
        backtrack: &mut Vec<Frame>,
    ) -> Option<()> {
        while let Some(mut frame) = backtrack.pop() {
            let Some(next) = frame.candidates.pop() else { continue };
            *cx = frame.context.clone();
            *remaining = frame.remaining.clone();
            let parent = frame.parent.clone();
            if !frame.candidates.is_empty() {
                backtrack.push(frame);
            }
            self.activate(cx, remaining, &parent, &next);
            return Some(());
        }
        None
    }
}

fn digest(cx: &Context) -> u32 {
    let mut names: Vec<&String> = cx.activations.keys().collect();
    names.sort();
    let mut h = 2166136261u32;
    for n in names {
        let s = &cx.activations[n];
        let line = format!("{} {} {:?} {:?}\n", n, s.version, cx.features[n], cx.parents[n]);
        for b in line.bytes() {
            h = (h ^ b as u32).wrapping_mul(16777619);
        }
    }
    h
}

fn main() {
    let mut rng = Random(0x2545F4914F6CDD1D);
    let registry = Registry::generate(900, &mut rng);
    let mut total = 0u64;
    for w in 0..11u32 {
        let roots: Vec<Requirement> = (0..140)
            .map(|_| Requirement { name: format!("crate-{:04}", rng.below(900)), min: 1, max: 6 })
            .collect();
        let mut resolver = Resolver::new(&registry);
        match resolver.activate_deps_loop(&roots) {
            Some(cx) => println!(
                "workspace {}: {} packages, {} warnings, lock {:08x}",
                w,
                cx.activations.len(),
                cx.warnings.len(),
                digest(&cx)
            ),
            None => println!("workspace {}: no solution", w),
        }
        println!("  {} ticks, {} conflicts", resolver.ticks, resolver.conflicts);
        total += resolver.ticks;
    }
    println!("total ticks {}", total);
}
