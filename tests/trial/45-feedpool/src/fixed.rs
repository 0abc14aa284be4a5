// feedpool: a pool of worker threads fetches feed pages from a local server and merges their items into one digest.
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const FEEDS: usize = 40;
const PAGES: usize = 7;
const WORKERS: usize = 8;

#[derive(Debug, Clone)]
struct Job {
    feed: usize,
    page: usize,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    stamp: u64,
    feed: usize,
    title: String,
}

// ---- the server: renders a page, which takes some time in its database

fn render(feed: usize, page: usize) -> String {
    let mut out = String::new();
    let mut x = (feed as u64 * 977 + page as u64 * 131 + 7) | 1;
    for i in 0..20 {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        out.push_str(&format!("{} feed-{}-item-{}-{}\n", (x >> 33) % 10_000_000, feed, page, i));
    }
    out
}

fn session(stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        let mut w = line.split_whitespace().skip(1).map(|x| x.parse::<usize>().unwrap_or(0));
        let (feed, page) = (w.next().unwrap_or(0), w.next().unwrap_or(0));
        thread::sleep(Duration::from_micros(5500));
        let body = render(feed, page);
        writer.write_all(format!("{}\n{}", body.len(), body).as_bytes())?;
        line.clear();
    }
    Ok(())
}

fn start_server() -> std::io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for s in listener.incoming().flatten() {
            thread::spawn(move || session(s));
        }
    });
    Ok(port)
}

// ---- the client

struct Fetcher {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Fetcher {
    fn connect(port: u16) -> std::io::Result<Fetcher> {
        let s = TcpStream::connect(("127.0.0.1", port))?;
        s.set_nodelay(true)?;
        Ok(Fetcher { reader: BufReader::new(s.try_clone()?), writer: s })
    }

    fn fetch(&mut self, job: &Job) -> std::io::Result<String> {
        self.writer.write_all(format!("GET {} {}\n", job.feed, job.page).as_bytes())?;
        let mut head = String::new();
        self.reader.read_line(&mut head)?;
        let mut body = vec![0; head.trim().parse().unwrap_or(0)];
        self.reader.read_exact(&mut body)?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

fn parse_page(job: &Job, body: &str) -> Vec<Item> {
    body.lines()
        .filter_map(|l| {
            let (stamp, title) = l.split_once(' ')?;
            Some(Item { stamp: stamp.parse().ok()?, feed: job.feed, title: title.to_string() })
        })
        .collect()
}

struct Pool {
    queue: Arc<Mutex<VecDeque<Job>>>,
    digest: Arc<Mutex<Vec<Item>>>,
}

fn next_job(queue: &Mutex<VecDeque<Job>>) -> Option<Job> {
    queue.lock().unwrap().pop_front()
}

fn worker(queue: &Mutex<VecDeque<Job>>, digest: &Mutex<Vec<Item>>, port: u16) -> std::io::Result<usize> {
    let mut fetcher = Fetcher::connect(port)?;
    let mut done = 0;
    while let Some(job) = next_job(queue) {
        let body = fetcher.fetch(&job)?;
        let items = parse_page(&job, &body);
        digest.lock().unwrap().extend(items);
        done += 1;
    }
    Ok(done)
}

impl Pool {
    fn run(self, port: u16) -> (usize, Vec<Item>) {
        let threads: Vec<_> = (0..WORKERS)
            .map(|_| {
                let (queue, digest) = (self.queue.clone(), self.digest.clone());
                thread::spawn(move || worker(&queue, &digest, port))
            })
            .collect();
        let mut done = 0;
        for t in threads {
            done += t.join().unwrap().expect("worker");
        }
        let mut items = std::mem::take(&mut *self.digest.lock().unwrap());
        items.sort();
        (done, items)
    }
}

fn main() -> std::io::Result<()> {
    let port = start_server()?;
    let jobs: VecDeque<Job> = (0..FEEDS).flat_map(|feed| (0..PAGES).map(move |page| Job { feed, page })).collect();
    let pool = Pool { queue: Arc::new(Mutex::new(jobs)), digest: Arc::new(Mutex::new(Vec::new())) };
    let (done, items) = pool.run(port);
    let mut per_feed: BTreeMap<usize, u64> = BTreeMap::new();
    let mut hash = 0u64;
    for i in &items {
        *per_feed.entry(i.feed).or_default() += i.stamp;
        hash = hash.wrapping_mul(1000003) ^ i.stamp ^ i.title.len() as u64;
    }
    let top = per_feed.iter().max_by_key(|e| (*e.1, *e.0)).unwrap();
    println!("pages {} items {} feeds {} top {:?} hash {:016x}", done, items.len(), per_feed.len(), top, hash);
    println!("newest {} {}", items[items.len() - 1].stamp, items[items.len() - 1].title);
    Ok(())
}
