// edgeroute - replay a request log through the routing table of an HTTP edge proxy.
use std::collections::{BTreeMap, HashMap};
use std::env;
use std::fs;
use std::process;
use std::sync::RwLock;

#[derive(Clone, Debug, PartialEq)]
enum Matcher {
    Prefix(String),
    Exact(String),
}

#[derive(Clone, Debug)]
struct Route {
    host: String,
    matcher: Matcher,
    upstream: String,
    add_headers: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
struct Upstream {
    addresses: Vec<String>,
    weight: u32,
}

#[derive(Clone, Debug, Default)]
struct Config {
    routes: Vec<Route>,
    upstreams: HashMap<String, Upstream>,
}

struct Request<'a> {
    method: &'a str,
    host: &'a str,
    path: &'a str,
}

struct Decision {
    address: String,
    header_bytes: usize,
}

struct Proxy {
    config: RwLock<Config>,
    counters: BTreeMap<String, u64>,
    bytes: u64,
    unrouted: u64,
    blocked: u64,
}

impl Matcher {
    fn matches(&self, path: &str) -> bool {
        match self {
            Matcher::Prefix(p) => path.starts_with(p.as_str()),
            Matcher::Exact(p) => path == p,
        }
    }
}

fn parse_config(text: &str) -> Result<Config, String> {
    let mut cfg = Config::default();
    for (no, line) in text.lines().enumerate() {
        let w: Vec<&str> = line.split_whitespace().collect();
        match w.as_slice() {
            [] => {}
            ["route", host, kind, path, upstream, headers @ ..] => {
                let matcher = match *kind {
                    "prefix" => Matcher::Prefix(path.to_string()),
                    "exact" => Matcher::Exact(path.to_string()),
                    other => return Err(format!("line {}: unknown matcher {}", no + 1, other)),
                };
                let add_headers = headers
                    .iter()
                    .filter_map(|h| h.split_once('='))
                    .map(|(k, v)| (k.to_string(), v.to_string()))
                    .collect();
                cfg.routes.push(Route { host: host.to_string(), matcher, upstream: upstream.to_string(), add_headers });
            }
            ["upstream", name, weight, addrs @ ..] => {
                let weight = weight.parse().map_err(|_| format!("line {}: bad weight", no + 1))?;
                let addresses = addrs.iter().map(|a| a.to_string()).collect();
                cfg.upstreams.insert(name.to_string(), Upstream { addresses, weight });
            }
            _ => return Err(format!("line {}: cannot parse", no + 1)),
        }
    }
    Ok(cfg)
}

fn parse_request(line: &str) -> Option<Request<'_>> {
    let mut it = line.split(' ');
    Some(Request { method: it.next()?, host: it.next()?, path: it.next()? })
}

fn hash_path(path: &str) -> u64 {
    path.bytes().fold(0xcbf29ce484222325, |h, b| (h ^ b as u64).wrapping_mul(0x100000001b3))
}

const SIGNATURES: [&str; 12] = [
    "../", "<script", "union select", "/etc/passwd", "%00", "cmd.exe", "${jndi:", "wp-login",
    ".git/", "eval(", "base64_decode", "xp_cmdshell",
];

fn suspicious(path: &str) -> bool {
    let decoded = path.replace("%2e", ".").replace("%2f", "/").to_ascii_lowercase();
    SIGNATURES.iter().any(|s| decoded.contains(s))
}

impl Proxy {
    fn new(cfg: Config) -> Self {
        Proxy { config: RwLock::new(cfg), counters: BTreeMap::new(), bytes: 0, unrouted: 0, blocked: 0 }
    }

    fn snapshot(&self) -> Config {
        self.config.read().unwrap().clone()
    }

    fn route(&self, req: &Request) -> Option<Decision> {
        let cfg = self.snapshot();
        let route = cfg
            .routes
            .iter()
            .find(|r| r.host == req.host && r.matcher.matches(req.path))?;
        let up = cfg.upstreams.get(&route.upstream)?;
        let slot = (hash_path(req.path) % (up.addresses.len() as u64 * up.weight as u64)) as usize;
        let header_bytes = route.add_headers.iter().map(|(k, v)| k.len() + v.len() + 4).sum();
        Some(Decision { address: up.addresses[slot / up.weight as usize].clone(), header_bytes })
    }

    fn handle(&mut self, req: &Request) {
        if suspicious(req.path) {
            self.blocked += 1;
            return;
        }
        match self.route(req) {
            Some(d) => {
                self.bytes += d.header_bytes as u64 + req.method.len() as u64;
                *self.counters.entry(d.address).or_insert(0) += 1;
            }
            None => self.unrouted += 1,
        }
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| {
        eprintln!("edgeroute: {}: {}", path, e);
        process::exit(1);
    })
}

fn main() {
    let dir = env::args().nth(1).unwrap_or_else(|| "data".into());
    let cfg = parse_config(&read(&format!("{}/routes.conf", dir))).unwrap_or_else(|e| {
        eprintln!("edgeroute: {}", e);
        process::exit(1);
    });
    let log = read(&format!("{}/requests.log", dir));
    let mut proxy = Proxy::new(cfg);
    for line in log.lines() {
        if let Some(req) = parse_request(line) {
            proxy.handle(&req);
        }
    }
    for (addr, n) in &proxy.counters {
        println!("{:<22} {}", addr, n);
    }
    println!("header bytes {}, unrouted {}, blocked {}", proxy.bytes, proxy.unrouted, proxy.blocked);
}
