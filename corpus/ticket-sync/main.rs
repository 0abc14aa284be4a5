//! Sends new tickets to the server of a help desk, and says what numbers they got. Usage: program TICKETS
//! To try it out, the server is a thread here.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::{env, fs, thread};

/// Answers the requests of a connection: the number of a ticket is its place.
fn serve(stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    let mut number = 0;
    loop {
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        number += 1;
        let answer = format!("{number}:{}", body.iter().filter(|&&byte| byte == b' ').count() + 1);
        write!(writer, "HTTP/1.1 201 Created\r\nContent-Length: {}\r\n\r\n{answer}", answer.len())?;
        writer.flush()?;
    }
}

struct Receipt {
    number: u32,
    words: usize,
}

fn send(agent: &ureq::Agent, address: &str, queue: &str, text: &str) -> Result<Receipt, Box<dyn Error>> {
    let response = agent.post(&format!("http://{address}/queues/{queue}/tickets")).set("Content-Type", "text/plain").send_string(text)?;
    let answer = response.into_string()?;
    let (number, words) = answer.split_once(':').ok_or("not a receipt")?;
    Ok(Receipt { number: number.parse()?, words: words.parse()? })
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program TICKETS")?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    let agent = ureq::agent();
    let mut queues: BTreeMap<String, Vec<Receipt>> = BTreeMap::new();
    for line in fs::read_to_string(path)?.lines() {
        let (queue, text) = line.split_once('\t').ok_or("a ticket needs a queue")?;
        let receipt = send(&agent, &address, queue, text)?;
        queues.entry(queue.to_owned()).or_default().push(receipt);
    }
    for (queue, receipts) in &queues {
        let words: usize = receipts.iter().map(|receipt| receipt.words).sum();
        let last = receipts.last().map_or(0, |receipt| receipt.number);
        println!("{queue}: {} tickets with {words} words, the last is {last}", receipts.len());
    }
    Ok(())
}
