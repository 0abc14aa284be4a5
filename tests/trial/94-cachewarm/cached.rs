//! A small memcached: get, set and delete of the text protocol, one thread for each connection. Prints its address when it listens.
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

type Items = Arc<Mutex<HashMap<String, (u32, Vec<u8>)>>>;

fn serve(stream: TcpStream, items: Items) -> io::Result<()> {
    let mut out = stream.try_clone()?;
    let mut input = BufReader::with_capacity(32 << 10, stream);
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["set", key, flags, _expires, size] => {
                let size: usize = size.parse().map_err(|_| io::ErrorKind::InvalidData)?;
                let mut body = vec![0; size + 2];
                input.read_exact(&mut body)?;
                body.truncate(size);
                items.lock().unwrap().insert(key.to_string(), (flags.parse().unwrap_or(0), body));
                out.write_all(b"STORED\r\n")?;
            }
            ["get", key] => {
                let reply = match items.lock().unwrap().get(*key) {
                    Some((flags, body)) => {
                        let mut r = format!("VALUE {key} {flags} {}\r\n", body.len()).into_bytes();
                        r.extend_from_slice(body);
                        r.extend_from_slice(b"\r\nEND\r\n");
                        r
                    }
                    None => b"END\r\n".to_vec(),
                };
                out.write_all(&reply)?;
            }
            ["delete", key] => {
                let gone = items.lock().unwrap().remove(*key).is_some();
                out.write_all(if gone { b"DELETED\r\n" } else { b"NOT_FOUND\r\n" })?;
            }
            ["quit"] => return Ok(()),
            _ => out.write_all(b"ERROR\r\n")?,
        }
    }
}

fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    let items: Items = Default::default();
    for stream in listener.incoming() {
        let (stream, items) = (stream?, items.clone());
        stream.set_nodelay(true)?;
        std::thread::spawn(move || serve(stream, items));
    }
    Ok(())
}
