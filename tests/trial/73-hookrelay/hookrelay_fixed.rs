// hookrelay: delivers events to web hooks, several accounts at a time but those of one account in their order, and prints a summary.
// The receiver is a server of its own, started as `hookrelay receive SOCKET`.
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const WORKERS: u64 = 8;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

#[derive(Debug, Clone)]
struct Event {
    id: u64,
    account: u64,
    kind: String,
    body: String,
}

impl Event {
    fn parse(line: &str) -> Result<Event> {
        let mut parts = line.splitn(4, ' ');
        let mut next = || parts.next().ok_or_else(|| format!("short line: {line}"));
        Ok(Event { id: next()?.parse()?, account: next()?.parse()?, kind: next()?.to_string(), body: next()?.to_string() })
    }
}

fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf29ce484222325, |h, b| (h ^ b as u64).wrapping_mul(0x100000001b3))
}

/// The receiver: answers each event with its checksum, after a time for what it does with it.
fn receive(path: &Path) -> Result<()> {
    let listener = UnixListener::bind(path)?;
    println!("ready");
    for stream in listener.incoming() {
        let stream = stream?;
        thread::spawn(move || -> io::Result<()> {
            let mut out = stream.try_clone()?;
            for line in BufReader::new(stream).lines() {
                let line = line?;
                thread::sleep(Duration::from_micros(2200));
                writeln!(out, "202 {:016x}", checksum(&line))?;
            }
            Ok(())
        });
    }
    Ok(())
}

struct Delivered {
    id: u64,
    account: u64,
    kind: String,
    bytes: usize,
    receipt: String,
}

/// Delivers what it is sent, one event after the other.
fn worker(events: Receiver<Event>, path: PathBuf) -> Result<Vec<Delivered>> {
    let mut out = UnixStream::connect(path)?;
    let mut answers = BufReader::new(out.try_clone()?);
    let mut delivered = Vec::new();
    for event in events {
        let payload = format!("{{\"id\":\"{}\",\"account\":\"{}\",\"type\":\"{}\",\"data\":{}}}\n", event.id, event.account, event.kind, event.body);
        out.write_all(payload.as_bytes())?;
        let mut answer = String::new();
        answers.read_line(&mut answer)?;
        let receipt = match answer.trim().split_once(' ') {
            Some(("202", receipt)) => receipt.to_string(),
            _ => return Err(format!("event {} was refused: {}", event.id, answer.trim()).into()),
        };
        delivered.push(Delivered { id: event.id, account: event.account, kind: event.kind, bytes: payload.len(), receipt });
    }
    Ok(delivered)
}

struct Relay {
    queues: Vec<Sender<Event>>,
    workers: Vec<JoinHandle<Result<Vec<Delivered>>>>,
}

impl Relay {
    fn start(path: &Path) -> Relay {
        let mut relay = Relay { queues: Vec::new(), workers: Vec::new() };
        for _ in 0..WORKERS {
            let (sender, receiver) = mpsc::channel();
            let path = path.to_path_buf();
            relay.queues.push(sender);
            relay.workers.push(thread::spawn(move || worker(receiver, path)));
        }
        relay
    }

    /// The worker that has all events of an account.
    fn queue_of(&self, account: u64) -> &Sender<Event> {
        // The lowest bits of an id say little, so that all are mixed.
        let mixed = (account ^ account >> 32).wrapping_mul(0x9e3779b97f4a7c15);
        &self.queues[((mixed >> 32) % WORKERS) as usize]
    }

    fn send(&self, event: Event) -> Result<()> {
        self.queue_of(event.account).send(event).map_err(|_| "a worker has ended")?;
        Ok(())
    }

    fn finish(self) -> Result<Vec<Delivered>> {
        drop(self.queues);
        let mut all = Vec::new();
        for worker in self.workers {
            all.extend(worker.join().map_err(|_| "a worker has failed")??);
        }
        Ok(all)
    }
}

struct Server {
    child: Child,
    path: PathBuf,
}

impl Server {
    fn start() -> Result<Server> {
        let path = std::env::temp_dir().join(format!("hookrelay-{}", process::id()));
        let mut child = Command::new(std::env::current_exe()?).arg("receive").arg(&path).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no pipe")?).read_line(&mut line)?;
        Ok(Server { child, path })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.path);
    }
}

#[derive(Default)]
struct Summary {
    events: usize,
    bytes: usize,
    receipts: u64,
}

fn relay(path: &str) -> Result<()> {
    let mut order: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let server = Server::start()?;
    let relay = Relay::start(&server.path);
    for line in fs::read_to_string(path)?.lines() {
        let event = Event::parse(line)?;
        order.entry(event.account).or_default().push(event.id);
        relay.send(event)?;
    }
    let delivered = relay.finish()?;
    let mut kinds: BTreeMap<&str, Summary> = BTreeMap::new();
    let mut seen: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for one in &delivered {
        let of_kind = kinds.entry(&one.kind).or_default();
        of_kind.events += 1;
        of_kind.bytes += one.bytes;
        of_kind.receipts ^= u64::from_str_radix(&one.receipt, 16)?;
        seen.entry(one.account).or_default().push(one.id);
    }
    let out_of_order = order.iter().filter(|(account, ids)| seen.get(account) != Some(ids)).count();
    println!("{} events of {} accounts, {} accounts out of order", delivered.len(), order.len(), out_of_order);
    for (kind, s) in &kinds {
        println!("{:16} {:5} events {:7} bytes, receipts {:016x}", kind, s.events, s.bytes, s.receipts);
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [first, path] if first == "receive" => receive(Path::new(path)),
        [path] => relay(path),
        _ => relay("data/events.txt"),
    };
    if let Err(e) = done {
        eprintln!("hookrelay: {e}");
        process::exit(1);
    }
}
