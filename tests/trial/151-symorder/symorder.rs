//! symorder - the back end's partitioning step: distributes the items of a crate
//! over code generation units and brings them into a stable order for emission.

use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct DefId(u32);

#[derive(Clone)]
enum DefKind {
    Module,
    Function,
    Impl(u32),
    Static,
}

struct Def {
    parent: Option<DefId>,
    kind: DefKind,
    name: String,
    size: u32,
}

#[derive(Clone)]
struct MonoItem {
    def: DefId,
    args: Vec<u32>,
    calls: Vec<u32>,
}

struct Context {
    defs: Vec<Def>,
    types: Vec<String>,
    crate_hash: u64,
}

struct CodegenUnit {
    name: String,
    items: Vec<MonoItem>,
    size: u64,
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 24) % n as u64) as u32
    }
}

impl Context {
    fn generate(rng: &mut Random) -> Context {
        let words = ["parse", "emit", "lower", "visit", "fold", "check", "build", "resolve", "span"];
        let mut defs =
            vec![Def { parent: None, kind: DefKind::Module, name: "compiler".into(), size: 0 }];
        let mut modules = vec![DefId(0)];
        for i in 0..500 {
            let parent = modules[rng.below(modules.len() as u32) as usize];
            modules.push(DefId(defs.len() as u32));
            let name = format!("{}_{}", words[rng.below(9) as usize], i);
            defs.push(Def { parent: Some(parent), kind: DefKind::Module, name, size: 0 });
        }
        for i in 0..21000u32 {
            let parent = modules[rng.below(modules.len() as u32) as usize];
            let name = format!("{}_{}", words[rng.below(9) as usize], rng.below(4000));
            let kind = match i % 5 {
                0 => DefKind::Impl(rng.below(60)),
                1 if i % 3 == 0 => DefKind::Static,
                _ => DefKind::Function,
            };
            defs.push(Def { parent: Some(parent), kind, name, size: 10 + rng.below(400) });
        }
        let types = (0..60)
            .map(|i| match i % 4 {
                0 => format!("u{}", 8 << (i % 3)),
                1 => format!("alloc::vec::Vec<Node{}>", i),
                2 => format!("&'static Table{}", i),
                _ => format!("core::option::Option<Item{}>", i),
            })
            .collect();
        Context { defs, types, crate_hash: 0x51a7_c0de_1234_9876 }
    }

    fn def(&self, id: DefId) -> &Def {
        &self.defs[id.0 as usize]
    }

    fn path_of(&self, id: DefId) -> Vec<DefId> {
        let mut path = vec![id];
        let mut at = id;
        while let Some(p) = self.def(at).parent {
            path.push(p);
            at = p;
        }
        path.reverse();
        path
    }

    fn symbol_name(&self, item: &MonoItem) -> String {
        let mut out = String::from("_ZN");
        let mut hash = self.crate_hash;
        for id in self.path_of(item.def) {
            let d = self.def(id);
            let part = match &d.kind {
                DefKind::Impl(ty) => format!("{{impl {}}}.{}", self.types[*ty as usize], d.name),
                _ => d.name.clone(),
            };
            out.push_str(&part.len().to_string());
            out.push_str(&part);
        }
        for a in &item.args {
            for b in self.types[*a as usize].bytes() {
                hash = (hash ^ b as u64).wrapping_mul(0x100_0000_01b3);
            }
        }
        for b in out.bytes() {
            hash = (hash ^ b as u64).wrapping_mul(0x100_0000_01b3);
        }
        out.push_str(&format!("17h{:016x}E", hash));
        out
    }
}

fn collect_items(cx: &Context, rng: &mut Random) -> Vec<MonoItem> {
    let mut items = Vec::new();
    for (i, d) in cx.defs.iter().enumerate() {
        let copies = match d.kind {
            DefKind::Module => continue,
            DefKind::Static => 1,
            _ => 1 + rng.below(5),
        };
        for _ in 0..copies {
            let args = (0..rng.below(3)).map(|_| rng.below(60)).collect();
            let calls = (0..rng.below(6)).map(|_| rng.below(16000)).collect();
            items.push(MonoItem { def: DefId(i as u32), args, calls });
        }
    }
    items
}

fn partition(cx: &Context, items: Vec<MonoItem>, count: usize) -> Vec<CodegenUnit> {
    let mut by_module: BTreeMap<DefId, CodegenUnit> = BTreeMap::new();
    for item in items {
        let module = cx.def(item.def).parent.unwrap_or(DefId(0));
        let unit = by_module.entry(module).or_insert_with(|| CodegenUnit {
            name: cx.path_of(module).iter().map(|m| cx.def(*m).name.as_str()).collect::<Vec<_>>().join("-"),
            items: Vec::new(),
            size: 0,
        });
        unit.size += cx.def(item.def).size as u64;
        unit.items.push(item);
    }
    let mut units: Vec<CodegenUnit> = by_module.into_values().collect();
    units.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.name.cmp(&b.name)));
    while units.len() > count {
        let small = units.pop().unwrap();
        let target = units.len() - 1 - units.len() / 2;
        units[target].size += small.size;
        units[target].items.extend(small.items);
        units.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.name.cmp(&b.name)));
    }
    units
}

fn items_in_emission_order(cx: &Context, unit: &CodegenUnit) -> Vec<MonoItem> {
    let mut items = unit.items.clone();
    items.sort_by_key(|item| cx.symbol_name(item));
    items
}

fn emit(cx: &Context, items: &[MonoItem]) -> (u32, u64) {
    let mut h = 2166136261u32;
    let mut edges: HashMap<u32, u64> = HashMap::new();
    for item in items {
        for b in cx.symbol_name(item).bytes() {
            h = (h ^ b as u32).wrapping_mul(16777619);
        }
        for c in &item.calls {
            *edges.entry(*c).or_insert(0) += cx.def(item.def).size as u64;
        }
    }
    (h, edges.values().max().copied().unwrap_or(0))
}

fn main() {
    let mut rng = Random(0x1234_5678_9abc_def1);
    let cx = Context::generate(&mut rng);
    let items = collect_items(&cx, &mut rng);
    println!("{} definitions, {} items", cx.defs.len(), items.len());
    let units = partition(&cx, items, 16);
    for unit in &units {
        let sorted = items_in_emission_order(&cx, unit);
        let (h, hot) = emit(&cx, &sorted);
        let short: String = unit.name.chars().take(30).collect();
        println!("{:>6} items {:>8} size {:08x} {:>5} {}", sorted.len(), unit.size, h, hot, short);
    }
}
