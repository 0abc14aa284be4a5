//! Answers from the cache, or else from the name server.
use std::collections::{BTreeMap, HashMap};
use std::net::Ipv4Addr;
use std::sync::Mutex;

use crate::pool::NameServer;

#[derive(Clone)]
pub struct Lookup {
    pub rcode: u8,
    pub ttl: u32,
    pub addrs: Vec<Ipv4Addr>,
}

/// The names used last, up to a number.
struct LruCache {
    capacity: usize,
    clock: u64,
    entries: HashMap<String, (u64, Lookup)>,
    by_age: BTreeMap<u64, String>,
}

impl LruCache {
    fn new(capacity: usize) -> LruCache {
        LruCache { capacity, clock: 0, entries: HashMap::new(), by_age: BTreeMap::new() }
    }

    fn get(&mut self, name: &str) -> Option<Lookup> {
        self.clock += 1;
        let (age, lookup) = self.entries.get_mut(name)?;
        self.by_age.remove(age);
        *age = self.clock;
        self.by_age.insert(self.clock, name.to_string());
        Some(lookup.clone())
    }

    fn insert(&mut self, name: &str, lookup: Lookup) {
        self.clock += 1;
        if let Some((age, _)) = self.entries.insert(name.to_string(), (self.clock, lookup)) {
            self.by_age.remove(&age);
        }
        self.by_age.insert(self.clock, name.to_string());
        while self.entries.len() > self.capacity {
            if let Some((_, oldest)) = self.by_age.pop_first() {
                self.entries.remove(&oldest);
            }
        }
    }
}

pub struct Resolver {
    cache: Mutex<LruCache>,
    server: NameServer,
}

impl Resolver {
    pub fn new(server: NameServer, capacity: usize) -> Resolver {
        Resolver { cache: Mutex::new(LruCache::new(capacity)), server }
    }

    pub fn lookup(&self, name: &str) -> std::io::Result<Lookup> {
        let cached = self.cache.lock().unwrap().get(name);
        if let Some(lookup) = cached {
            return Ok(lookup);
        }
        let message = self.server.send(name)?;
        let mut addrs: Vec<Ipv4Addr> = message.answers.iter().map(|a| a.1).collect();
        addrs.sort();
        let ttl = message.answers.iter().map(|a| a.0).min().unwrap_or(60);
        let lookup = Lookup { rcode: message.rcode, ttl, addrs };
        self.cache.lock().unwrap().insert(name, lookup.clone());
        Ok(lookup)
    }
}
