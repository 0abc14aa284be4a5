// Indexes a virtual source tree level by level using a small pool of workers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const WORKERS: usize = 3;

#[derive(Clone, Debug)]
struct DirEntry {
    path: String,
    depth: usize,
    seed: u64,
}

#[derive(Default, Debug)]
struct DirReport {
    path: String,
    seed: u64,
    files: usize,
    ignored: usize,
    words: BTreeMap<String, usize>,
    children: Vec<DirEntry>,
}

enum Message {
    Work(DirEntry),
    Quit,
}

struct Stack {
    queue: Mutex<VecDeque<Message>>,
}

impl Stack {
    fn new() -> Self {
        Stack { queue: Mutex::new(VecDeque::new()) }
    }

    fn push(&self, msg: Message) {
        self.queue.lock().unwrap().push_back(msg);
    }

    fn pop(&self) -> Option<Message> {
        self.queue.lock().unwrap().pop_front()
    }

    fn recv(&self) -> Message {
        loop {
            if let Some(msg) = self.pop() {
                return msg;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn read_file(seed: u64) -> String {
    const WORDS: [&str; 12] =
        ["fn", "let", "mut", "struct", "impl", "return", "match", "loop", "while", "async", "await", "pub"];
    let mut text = String::new();
    let mut z = seed;
    for i in 0..120 {
        z = mix(z);
        text.push_str(WORDS[(z % 12) as usize]);
        text.push(if i % 9 == 8 { '\n' } else { ' ' });
    }
    text
}

fn glob_match(pat: &[u8], name: &[u8]) -> bool {
    match (pat.first(), name.first()) {
        (None, None) => true,
        (Some(b'*'), _) => {
            glob_match(&pat[1..], name) || !name.is_empty() && glob_match(pat, &name[1..])
        }
        (Some(b'?'), Some(_)) => glob_match(&pat[1..], &name[1..]),
        (Some(p), Some(n)) if p == n => glob_match(&pat[1..], &name[1..]),
        _ => false,
    }
}

fn is_ignored(name: &str, patterns: &[&str]) -> bool {
    let mut ignored = false;
    for p in patterns {
        let (negated, pat) = match p.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, *p),
        };
        if glob_match(pat.as_bytes(), name.as_bytes()) {
            ignored = !negated;
        }
    }
    ignored
}

fn visit(dir: &DirEntry) -> DirReport {
    let patterns = ["*.tmp", "build-*", "!build-keep*", "f?9.*"];
    let mut rep = DirReport { path: dir.path.clone(), seed: dir.seed, ..Default::default() };
    let nfiles = 2 + (mix(dir.seed) % 4) as usize;
    for i in 0..nfiles {
        let z = mix(dir.seed ^ (i as u64 + 1) * 77);
        let ext = ["rs", "tmp", "md", "toml"][(z % 4) as usize];
        let name = format!("f{i}{}.{ext}", z % 10);
        if is_ignored(&name, &patterns) {
            rep.ignored += 1;
            continue;
        }
        rep.files += 1;
        for line in read_file(z).lines() {
            for w in line.split_whitespace() {
                *rep.words.entry(w.to_string()).or_insert(0) += 1;
            }
        }
    }
    let fanout = if dir.depth % 5 == 0 { 2 } else { 1 };
    for c in 0..fanout {
        let seed = mix(dir.seed.wrapping_mul(31).wrapping_add(c));
        if c == 0 || seed % 3 == 0 {
            rep.children.push(DirEntry { path: format!("{}/d{c}", tail(&dir.path)), depth: dir.depth + 1, seed });
        }
    }
    rep
}

fn tail(path: &str) -> &str {
    let cut = path.len().saturating_sub(40);
    &path[cut..]
}

struct Shared {
    stack: Stack,
    results: Mutex<Vec<DirReport>>,
    pending: AtomicUsize,
    failed: AtomicBool,
}

impl Shared {
    fn complete(&self, rep: DirReport) {
        self.results.lock().unwrap().push(rep);
        self.pending.fetch_sub(1, Ordering::SeqCst);
    }

    fn wait_level(&self) -> Vec<DirReport> {
        while self.pending.load(Ordering::SeqCst) > 0 {
            thread::sleep(Duration::from_millis(1));
        }
        std::mem::take(&mut *self.results.lock().unwrap())
    }
}

fn worker(shared: Arc<Shared>) {
    while let Message::Work(dir) = shared.stack.recv() {
        if dir.path.is_empty() {
            shared.failed.store(true, Ordering::SeqCst);
        }
        let rep = visit(&dir);
        shared.complete(rep);
    }
}

fn main() {
    let shared = Arc::new(Shared {
        stack: Stack::new(),
        results: Mutex::new(Vec::new()),
        pending: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
    });
    let handles: Vec<_> = (0..WORKERS)
        .map(|_| {
            let s = Arc::clone(&shared);
            thread::spawn(move || worker(s))
        })
        .collect();

    let mut level = vec![DirEntry { path: "src".into(), depth: 1, seed: 2024 }];
    let (mut dirs, mut files, mut ignored) = (0, 0, 0);
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    while !level.is_empty() && level[0].depth <= 2200 {
        shared.pending.fetch_add(level.len(), Ordering::SeqCst);
        for d in level.drain(..) {
            shared.stack.push(Message::Work(d));
        }
        let mut reports = shared.wait_level();
        reports.sort_by(|a, b| (&a.path, a.seed).cmp(&(&b.path, b.seed)));
        for rep in reports {
            dirs += 1;
            files += rep.files;
            ignored += rep.ignored;
            for (w, n) in rep.words {
                *words.entry(w).or_insert(0) += n;
            }
            level.extend(rep.children);
        }
        level.truncate(4);
    }
    (0..WORKERS).for_each(|_| shared.stack.push(Message::Quit));
    handles.into_iter().for_each(|h| h.join().unwrap());
    println!("dirs={dirs} files={files} ignored={ignored} failed={}", shared.failed.load(Ordering::SeqCst));
    for (w, n) in words.iter().take(4) {
        println!("{w:>8} {n}");
    }
}
