// depgraph: reads a package registry, resolves what some root packages pull in and reports sizes and features.
use std::collections::{BTreeMap, HashMap};
use std::collections::HashSet;
use std::error::Error;
use std::fs;

type Id = usize;

#[derive(Debug, Default)]
struct Package {
    name: String,
    version: (u32, u32, u32),
    size: u64,
    features: Vec<String>,
    needs: Vec<(Id, bool)>,
}

#[derive(Default)]
struct Registry {
    packages: Vec<Package>,
    ids: HashMap<String, Id>,
}

impl Registry {
    fn id(&mut self, name: &str) -> Id {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.packages.len();
        self.packages.push(Package { name: name.to_string(), ..Default::default() });
        self.ids.insert(name.to_string(), id);
        id
    }

    fn parse(text: &str) -> Result<Registry, Box<dyn Error>> {
        let mut reg = Registry::default();
        let mut current = None;
        for (nr, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["package", name, version, size] => {
                    let id = reg.id(name);
                    let v: Vec<u32> = version.split('.').map(|x| x.parse()).collect::<Result<_, _>>()?;
                    let p = &mut reg.packages[id];
                    p.version = (v[0], v[1], v[2]);
                    p.size = size.trim_start_matches("size=").parse()?;
                    current = Some(id);
                }
                ["features", rest @ ..] => {
                    let id = current.ok_or("features without package")?;
                    reg.packages[id].features.extend(rest.iter().map(|s| s.to_string()));
                }
                ["needs", dep, rest @ ..] => {
                    let id = current.ok_or("needs without package")?;
                    let dep = reg.id(dep);
                    reg.packages[id].needs.push((dep, rest.contains(&"optional")));
                }
                [] => {}
                _ => return Err(format!("line {}: {}", nr + 1, line).into()),
            }
        }
        Ok(reg)
    }
}

struct Resolver<'a> {
    reg: &'a Registry,
    with_optional: bool,
}

impl<'a> Resolver<'a> {
    /// everything that `root` needs, in the order in which it is found
    fn closure(&self, root: Id) -> Vec<Id> {
        let mut selected: Vec<Id> = vec![root];
        let mut seen: HashSet<Id> = HashSet::from([root]);
        let mut at = 0;
        while at < selected.len() {
            let p = &self.reg.packages[selected[at]];
            for &(dep, optional) in &p.needs {
                if optional && !self.with_optional {
                    continue;
                }
                if seen.insert(dep) {
                    selected.push(dep);
                }
            }
            at += 1;
        }
        selected
    }
}

struct Report {
    root: String,
    count: usize,
    size: u64,
    newest: (u32, u32, u32),
    checksum: u64,
    features: BTreeMap<String, usize>,
}

fn report(reg: &Registry, root: Id, set: &[Id]) -> Report {
    let mut features = BTreeMap::new();
    let mut checksum = 0u64;
    for &id in set {
        for f in &reg.packages[id].features {
            *features.entry(f.clone()).or_insert(0) += 1;
        }
        checksum = checksum.wrapping_mul(1000003) ^ id as u64;
    }
    Report {
        root: reg.packages[root].name.clone(),
        count: set.len(),
        size: set.iter().map(|&i| reg.packages[i].size).sum(),
        newest: set.iter().map(|&i| reg.packages[i].version).max().unwrap_or_default(),
        checksum,
        features,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "data/packages.txt".into());
    let reg = Registry::parse(&fs::read_to_string(path)?)?;
    println!("{} packages", reg.packages.len());
    for (name, with_optional) in [("pkg-0", false), ("pkg-1500", true), ("pkg-4000", false)] {
        let root = *reg.ids.get(name).ok_or("no such root")?;
        let set = Resolver { reg: &reg, with_optional }.closure(root);
        let r = report(&reg, root, &set);
        println!("{} needs {} packages, {} KB, newest {:?}, order {:016x}", r.root, r.count, r.size / 1024, r.newest, r.checksum);
        let f: Vec<String> = r.features.iter().map(|(k, v)| format!("{}={}", k, v)).collect();
        println!("  {}", f.join(" "));
    }
    Ok(())
}
