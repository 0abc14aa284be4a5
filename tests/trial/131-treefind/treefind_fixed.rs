//! Finds the entries of a tree that match a glob pattern and some filters. Several threads walk the tree; the main thread
//! receives what they find, sorts out duplicates by inode and sums up sizes by extension.
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

const WALKERS: usize = 2;
const REPEATS: u32 = 330;

#[derive(Clone)]
struct Node {
    name: String,
    size: u64,
    inode: u64,
    children: Vec<usize>,
    is_dir: bool,
}

struct Tree {
    nodes: Vec<Node>,
    parents: Vec<usize>,
}

struct Entry {
    node: usize,
    depth: u32,
    inode: u64,
}

enum WorkerResult {
    Entry(Entry),
    Error(String),
}

struct Query {
    pattern: Vec<u8>,
    min_size: u64,
    max_depth: u32,
}

#[derive(Default)]
struct Summary {
    found: u64,
    repeated: u64,
    errors: u64,
    bytes: u64,
    digest: u64,
    by_extension: BTreeMap<String, (u64, u64)>,
}

// ---- the tree ----

fn load_tree(path: &str) -> Tree {
    let text = fs::read_to_string(path).expect("tree");
    let mut tree = Tree { nodes: Vec::new(), parents: Vec::new() };
    let mut open: Vec<usize> = Vec::new();
    for line in text.lines() {
        let depth = line.bytes().take_while(|&b| b == b' ').count();
        let mut words = line.trim_start().split(' ');
        let (Some(name), Some(size), Some(inode)) = (words.next(), words.next(), words.next()) else { continue };
        let index = tree.nodes.len();
        open.truncate(depth);
        let parent = open.last().copied().unwrap_or(0);
        let is_dir = name.ends_with('/');
        tree.nodes.push(Node {
            name: name.trim_end_matches('/').to_string(),
            size: size.parse().unwrap_or(0),
            inode: inode.parse().unwrap_or(0),
            children: Vec::new(),
            is_dir,
        });
        tree.parents.push(parent);
        if index > 0 {
            tree.nodes[parent].children.push(index);
        }
        if is_dir {
            open.push(index);
        }
    }
    tree
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n, mut star, mut mark) = (0, 0, usize::MAX, 0);
    while n < name.len() {
        if p < pattern.len() && (pattern[p] == b'?' || pattern[p] == name[n]) {
            p += 1;
            n += 1;
        } else if p < pattern.len() && pattern[p] == b'*' {
            star = p;
            mark = n;
            p += 1;
        } else if star != usize::MAX {
            p = star + 1;
            mark += 1;
            n = mark;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&b| b == b'*')
}

// ---- walking ----

const BATCH: usize = 256;

struct Walker {
    tree: Arc<Tree>,
    query: Arc<Query>,
    work: Arc<Mutex<Vec<(usize, u32)>>>,
    results: Sender<Vec<WorkerResult>>,
    batch: Vec<WorkerResult>,
}

impl Drop for Walker {
    fn drop(&mut self) {
        let _ = self.results.send(std::mem::take(&mut self.batch));
    }
}

impl Walker {
    fn send(&mut self, result: WorkerResult) {
        self.batch.push(result);
        if self.batch.len() == BATCH {
            let _ = self.results.send(std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH)));
        }
    }

    fn visit(&mut self, tree: &Tree, index: usize, depth: u32) {
        let node = &tree.nodes[index];
        if node.is_dir {
            if node.inode == 0 {
                self.send(WorkerResult::Error(node.name.clone()));
            }
            if depth < self.query.max_depth {
                for &child in &node.children {
                    self.visit(tree, child, depth + 1);
                }
            }
        } else if node.size >= self.query.min_size && matches(&self.query.pattern, node.name.as_bytes()) {
            self.send(WorkerResult::Entry(Entry { node: index, depth, inode: node.inode }));
        }
    }

    fn run(mut self) {
        let tree = self.tree.clone();
        loop {
            let next = self.work.lock().unwrap().pop();
            match next {
                Some((index, depth)) => self.visit(&tree, index, depth),
                None => break,
            }
        }
    }
}

// ---- receiving ----

impl Summary {
    fn add(&mut self, tree: &Tree, seen: &mut HashSet<u64>, result: WorkerResult) {
        match result {
            WorkerResult::Error(name) => self.errors += !name.is_empty() as u64,
            WorkerResult::Entry(e) => {
                let node = &tree.nodes[e.node];
                self.found += 1;
                self.digest = self.digest.wrapping_add((e.node as u64 + 1).wrapping_mul(0x9e3779b97f4a7c15) ^ e.depth as u64);
                if node.size > 60_000 && !seen.insert(e.inode) {
                    self.repeated += 1;
                    return;
                }
                self.bytes += node.size;
                if e.node % 16 == 0 {
                    let ext = node.name.rsplit('.').next().unwrap_or("");
                    let slot = self.by_extension.entry(ext.to_string()).or_default();
                    slot.0 += 1;
                    slot.1 += node.size;
                }
            }
        }
    }
}

fn receive(tree: &Tree, results: Receiver<Vec<WorkerResult>>, summary: &mut Summary) {
    let mut seen = HashSet::new();
    while let Ok(batch) = results.recv() {
        for result in batch {
            summary.add(tree, &mut seen, result);
        }
    }
}

fn search(tree: &Arc<Tree>, query: Query, summary: &mut Summary) {
    let (sender, receiver) = mpsc::channel();
    let query = Arc::new(query);
    let top: Vec<(usize, u32)> = tree.nodes[0].children.iter().map(|&c| (c, 1)).collect();
    let work = Arc::new(Mutex::new(top));
    let mut threads = Vec::new();
    for _ in 0..WALKERS {
        let walker = Walker { tree: tree.clone(), query: query.clone(), work: work.clone(), results: sender.clone(), batch: Vec::new() };
        threads.push(thread::spawn(move || walker.run()));
    }
    drop(sender);
    receive(tree, receiver, summary);
    for t in threads {
        t.join().unwrap();
    }
}

fn main() {
    let tree = Arc::new(load_tree("data/tree.txt"));
    let mut summary = Summary::default();
    let patterns = ["*", "*_*", "*.?", "*", "*a*", "*.rs"];
    for i in 0..REPEATS {
        let pattern = patterns[i as usize % patterns.len()].as_bytes().to_vec();
        search(&tree, Query { pattern, min_size: (i as u64 % 7) * 90, max_depth: 6 + i % 5 }, &mut summary);
    }
    println!("entries {}, found {}, repeated {}, errors {}", tree.nodes.len(), summary.found, summary.repeated, summary.errors);
    println!("bytes {}, digest {:016x}", summary.bytes, summary.digest);
    for (ext, (count, bytes)) in summary.by_extension.iter().take(8) {
        println!("{ext:6} {count} {bytes}");
    }
}
