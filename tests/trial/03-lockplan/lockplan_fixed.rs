// lockplan - compute the install order of all packages reachable from the workspace roots.
use std::collections::{HashMap, VecDeque};
use std::collections::HashSet;
use std::env;
use std::fs;
use std::process;

#[derive(Debug, Clone)]
struct Manifest {
    name: String,
    version: (u32, u32, u32),
    size: u64,
    deps: Vec<String>,
}

#[derive(Default)]
struct Registry {
    packages: HashMap<String, Manifest>,
    roots: Vec<String>,
}

#[derive(Default)]
struct Plan {
    order: Vec<String>,
    missing: Vec<String>,
}

fn parse_version(s: &str) -> Option<(u32, u32, u32)> {
    let mut it = s.split('.').map(|p| p.parse::<u32>().ok());
    Some((it.next()??, it.next()??, it.next()??))
}

fn parse_manifest(line: &str) -> Result<Manifest, String> {
    let mut fields = line.split('|');
    let name = fields.next().ok_or("no name")?.trim().to_string();
    let version = fields
        .next()
        .and_then(|v| parse_version(v.trim()))
        .ok_or_else(|| format!("{}: bad version", name))?;
    let size = fields
        .next()
        .and_then(|v| v.trim().parse().ok())
        .ok_or_else(|| format!("{}: bad size", name))?;
    let deps = fields
        .next()
        .unwrap_or("")
        .split_whitespace()
        .map(str::to_string)
        .collect();
    Ok(Manifest { name, version, size, deps })
}

fn load_registry(path: &str) -> Result<Registry, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {}", path, e))?;
    let mut reg = Registry::default();
    for line in text.lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(root) = line.strip_prefix("root ") {
            reg.roots.push(root.trim().to_string());
            continue;
        }
        let m = parse_manifest(line)?;
        reg.packages.insert(m.name.clone(), m);
    }
    Ok(reg)
}

fn resolve(reg: &Registry) -> Plan {
    let mut plan = Plan::default();
    let mut queue: VecDeque<&str> = reg.roots.iter().map(String::as_str).collect();
    let mut seen: HashSet<&str> = HashSet::new();
    while let Some(name) = queue.pop_front() {
        if seen.contains(name) {
            continue;
        }
        match reg.packages.get(name) {
            Some(m) => {
                seen.insert(name);
                plan.order.push(m.name.clone());
                for d in &m.deps {
                    queue.push_back(d);
                }
            }
            None => plan.missing.push(name.to_string()),
        }
    }
    plan
}

fn total_size(reg: &Registry, plan: &Plan) -> u64 {
    plan.order.iter().map(|n| reg.packages[n].size).sum()
}

fn impact(reg: &Registry, start: &str) -> (usize, u64) {
    let mut index: HashMap<&str, bool> = HashMap::new();
    let mut stack = vec![start];
    let mut bytes = 0;
    while let Some(name) = stack.pop() {
        if index.insert(name, true).is_some() {
            continue;
        }
        if let Some(m) = reg.packages.get(name) {
            bytes += m.size;
            stack.extend(m.deps.iter().map(String::as_str));
        }
    }
    (index.len(), bytes)
}

fn print_impact(reg: &Registry) {
    for root in reg.roots.iter().take(2) {
        for dep in &reg.packages[root].deps {
            let (n, bytes) = impact(reg, dep);
            println!("{} -> {}: {} packages, {} KiB", root, dep, n, bytes / 1024);
        }
    }
}

fn plan_digest(reg: &Registry, plan: &Plan) -> u64 {
    let mut h: u64 = 0xcbf29ce484222325;
    for name in &plan.order {
        let v = reg.packages[name].version;
        for b in name.bytes().chain([v.0 as u8, v.1 as u8, v.2 as u8]) {
            h = (h ^ b as u64).wrapping_mul(0x100000001b3);
        }
    }
    h
}

fn print_plan(reg: &Registry, plan: &Plan) {
    for name in plan.order.iter().take(20) {
        let m = &reg.packages[name];
        println!("{} {}.{}.{}", m.name, m.version.0, m.version.1, m.version.2);
    }
    println!(
        "{} packages, {} missing, {} KiB, digest {:016x}",
        plan.order.len(),
        plan.missing.len(),
        total_size(reg, plan) / 1024,
        plan_digest(reg, plan)
    );
}

fn main() {
    let path = env::args().nth(1).unwrap_or_else(|| "data/registry.txt".into());
    let reg = load_registry(&path).unwrap_or_else(|e| {
        eprintln!("lockplan: {}", e);
        process::exit(1);
    });
    let plan = resolve(&reg);
    print_plan(&reg, &plan);
    print_impact(&reg);
}
