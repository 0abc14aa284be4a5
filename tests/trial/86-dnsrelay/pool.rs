//! Connections to the name server.
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::Mutex;
use std::time::Duration;

use crate::wire::Message;

pub struct NameServer {
    addr: SocketAddr,
    conns: Mutex<Vec<UdpSocket>>,
    next_id: AtomicU16,
}

impl NameServer {
    pub fn new(addr: SocketAddr) -> NameServer {
        NameServer { addr, conns: Mutex::new(Vec::new()), next_id: AtomicU16::new(1) }
    }

    fn connect(&self) -> std::io::Result<UdpSocket> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(self.addr)?;
        socket.set_read_timeout(Some(Duration::from_secs(2)))?;
        Ok(socket)
    }

    fn exchange(&self, conn: &UdpSocket, name: &str) -> std::io::Result<Message> {
        let query = Message::query(self.next_id.fetch_add(1, Ordering::Relaxed), name);
        let mut buf = [0u8; 1500];
        conn.send(&query.encode())?;
        loop {
            let len = conn.recv(&mut buf)?;
            match Message::decode(&buf[..len]) {
                Some(m) if m.id == query.id && m.response => return Ok(m),
                _ => continue,
            }
        }
    }

    /// Sends a query on a connection that is free, or a new one.
    pub fn send(&self, name: &str) -> std::io::Result<Message> {
        let mut conns = self.conns.lock().unwrap();
        let conn = match conns.pop() {
            Some(conn) => conn,
            None => self.connect()?,
        };
        let answer = self.exchange(&conn, name)?;
        conns.push(conn);
        Ok(answer)
    }
}
