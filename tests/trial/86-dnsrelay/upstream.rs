//! The name server behind the relay: answers from a zone, each query after the time that the way takes.
use std::collections::{HashMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::wire::Message;

pub type Zone = HashMap<String, Vec<(u32, Ipv4Addr)>>;

struct Pending {
    due: Instant,
    to: SocketAddr,
    packet: Vec<u8>,
}

type Queue = Arc<(Mutex<VecDeque<Pending>>, Condvar)>;

pub fn load_zone(text: &str) -> Zone {
    let mut zone = Zone::new();
    for line in text.lines() {
        let mut fields = line.split(' ');
        if let (Some(name), Some(ttl), Some(addr)) = (fields.next(), fields.next(), fields.next()) {
            if let (Ok(ttl), Ok(addr)) = (ttl.parse(), addr.parse()) {
                zone.entry(name.to_string()).or_default().push((ttl, addr));
            }
        }
    }
    zone
}

fn answer(zone: &Zone, query: &Message) -> Message {
    let found = zone.get(&query.name);
    Message {
        id: query.id,
        response: true,
        rcode: if found.is_some() { 0 } else { 3 },
        name: query.name.clone(),
        answers: found.cloned().unwrap_or_default(),
    }
}

fn send_answers(socket: UdpSocket, queue: Queue) {
    loop {
        let next = {
            let mut pending = queue.0.lock().unwrap();
            while pending.is_empty() {
                pending = queue.1.wait(pending).unwrap();
            }
            pending.pop_front().unwrap()
        };
        let now = Instant::now();
        if next.due > now {
            thread::sleep(next.due - now);
        }
        let _ = socket.send_to(&next.packet, next.to);
    }
}

/// Starts the server; returns its address.
pub fn start(zone: Zone, delay: Duration) -> std::io::Result<SocketAddr> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let addr = socket.local_addr()?;
    let queue: Queue = Arc::new((Mutex::new(VecDeque::new()), Condvar::new()));
    let (out, sender) = (socket.try_clone()?, queue.clone());
    thread::spawn(move || send_answers(out, sender));
    thread::spawn(move || {
        let mut buf = [0u8; 1500];
        while let Ok((len, to)) = socket.recv_from(&mut buf) {
            if let Some(query) = Message::decode(&buf[..len]) {
                let packet = answer(&zone, &query).encode();
                queue.0.lock().unwrap().push_back(Pending { due: Instant::now() + delay, to, packet });
                queue.1.notify_one();
            }
        }
    });
    Ok(addr)
}
