//! The part of the DNS message format that the relay needs.
use std::net::Ipv4Addr;

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub id: u16,
    pub response: bool,
    pub rcode: u8,
    pub name: String,
    pub answers: Vec<(u32, Ipv4Addr)>,
}

fn put_name(out: &mut Vec<u8>, name: &str) {
    for label in name.split('.') {
        out.push(label.len() as u8);
        out.extend_from_slice(label.as_bytes());
    }
    out.push(0);
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*data.get(at)?, *data.get(at + 1)?]))
}

/// Reads a name, following pointers; returns it and where it ends.
fn get_name(data: &[u8], mut at: usize) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut end = None;
    for _ in 0..64 {
        let len = *data.get(at)? as usize;
        if len == 0 {
            return Some((name, end.unwrap_or(at + 1)));
        }
        if len & 0xc0 == 0xc0 {
            end.get_or_insert(at + 2);
            at = u16_at(data, at)? as usize & 0x3fff;
            continue;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(std::str::from_utf8(data.get(at + 1..at + 1 + len)?).ok()?);
        at += 1 + len;
    }
    None
}

impl Message {
    pub fn query(id: u16, name: &str) -> Message {
        Message { id, response: false, rcode: 0, name: name.to_string(), answers: Vec::new() }
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        out.extend_from_slice(&self.id.to_be_bytes());
        let flags: u16 = if self.response { 0x8180 | self.rcode as u16 } else { 0x0100 };
        out.extend_from_slice(&flags.to_be_bytes());
        for count in [1, self.answers.len() as u16, 0, 0] {
            out.extend_from_slice(&count.to_be_bytes());
        }
        put_name(&mut out, &self.name);
        out.extend_from_slice(&[0, 1, 0, 1]);
        for (ttl, addr) in &self.answers {
            out.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1]);
            out.extend_from_slice(&ttl.to_be_bytes());
            out.extend_from_slice(&[0, 4]);
            out.extend_from_slice(&addr.octets());
        }
        out
    }

    pub fn decode(data: &[u8]) -> Option<Message> {
        let flags = u16_at(data, 2)?;
        let count = u16_at(data, 6)?;
        let (name, mut at) = get_name(data, 12)?;
        at += 4;
        let mut answers = Vec::new();
        for _ in 0..count {
            let (_, next) = get_name(data, at)?;
            let r = data.get(next..next + 14)?;
            let ttl = u32::from_be_bytes([r[4], r[5], r[6], r[7]]);
            answers.push((ttl, Ipv4Addr::new(r[10], r[11], r[12], r[13])));
            at = next + 14;
        }
        Some(Message { id: u16_at(data, 0)?, response: flags & 0x8000 != 0, rcode: flags as u8 & 15, name, answers })
    }
}
