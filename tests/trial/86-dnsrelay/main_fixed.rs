// dnsrelay: replays a log of queries through the resolver and sums up the answers.
#[path = "pool_fixed.rs"]
mod pool;
mod resolver;
mod upstream;
mod wire;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use resolver::{Lookup, Resolver};

#[derive(Default)]
struct Stats {
    answers: u64,
    missing: u64,
    ttl: u64,
    nets: BTreeMap<u8, u64>,
    hash: u64,
}

fn fnv(text: &str, seed: u64) -> u64 {
    text.bytes().fold(0xcbf29ce484222325 ^ seed, |h, b| (h ^ b as u64).wrapping_mul(0x100000001b3))
}

impl Stats {
    fn add(&mut self, at: usize, name: &str, lookup: &Lookup) {
        if lookup.rcode != 0 {
            self.missing += 1;
        }
        self.answers += lookup.addrs.len() as u64;
        self.ttl += lookup.ttl as u64;
        for addr in &lookup.addrs {
            *self.nets.entry(addr.octets()[1] / 16).or_default() += 1;
            self.hash ^= fnv(&format!("{at} {name} {addr}"), lookup.ttl as u64);
        }
    }

    fn merge(&mut self, other: Stats) {
        self.answers += other.answers;
        self.missing += other.missing;
        self.ttl += other.ttl;
        self.hash ^= other.hash;
        for (net, n) in other.nets {
            *self.nets.entry(net).or_default() += n;
        }
    }
}

fn replay(resolver: &Resolver, queries: &[String], next: &AtomicUsize) -> std::io::Result<Stats> {
    let mut stats = Stats::default();
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        match queries.get(at) {
            Some(name) => stats.add(at, name, &resolver.lookup(name)?),
            None => return Ok(stats),
        }
    }
}

fn main() -> std::io::Result<()> {
    let workers: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(8);
    let zone = upstream::load_zone(&std::fs::read_to_string("data/zone")?);
    let queries: Arc<Vec<String>> = Arc::new(std::fs::read_to_string("data/queries")?.lines().map(str::to_lowercase).collect());
    let addr = upstream::start(zone, Duration::from_micros(2500))?;
    let resolver = Arc::new(Resolver::new(pool::NameServer::new(addr), 400));
    let next = Arc::new(AtomicUsize::new(0));
    let handles: Vec<_> = (0..workers)
        .map(|_| {
            let (resolver, queries, next) = (resolver.clone(), queries.clone(), next.clone());
            thread::spawn(move || replay(&resolver, &queries, &next))
        })
        .collect();
    let mut total = Stats::default();
    for handle in handles {
        total.merge(handle.join().unwrap()?);
    }
    println!("{} queries, {} answers, {} without a name, ttl {}", queries.len(), total.answers, total.missing, total.ttl);
    for (net, n) in &total.nets {
        println!("10.{}.0.0/12 {n}", *net as u32 * 16);
    }
    println!("{:016x}", total.hash);
    Ok(())
}
