//! Sends the readings of power meters to a collector, a request for each hour, and says what the collector has at the end.
//! Usage: program FILE [URL]. Without a URL a collector runs in this program, for trying things out.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

#[derive(Default)]
struct Hour {
    readings: usize,
    meters: BTreeMap<String, f64>,
}

fn read(path: &str) -> Result<BTreeMap<String, Hour>, Box<dyn Error>> {
    let mut hours: BTreeMap<String, Hour> = BTreeMap::new();
    for line in BufReader::new(File::open(path)?).lines() {
        let line = line?;
        let mut parts = line.split(',');
        let (Some(time), Some(meter), Some(power)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(format!("not a reading: {line}").into());
        };
        let hour = hours.entry(time[..13].to_owned()).or_default();
        hour.readings += 1;
        *hour.meters.entry(meter.to_owned()).or_default() += power.parse::<f64>()? / 60.0;
    }
    Ok(hours)
}

fn text(time: &str, hour: &Hour) -> String {
    let meters: Vec<String> = hour
        .meters
        .iter()
        .map(|(name, energy)| format!("{{\"meter\":\"{name}\",\"energy\":{energy:.3}}}"))
        .collect();
    format!("{{\"hour\":\"{time}\",\"meters\":[{}]}}", meters.join(","))
}

fn upload(agent: &ureq::Agent, url: &str, body: &str) -> Result<String, Box<dyn Error>> {
    let response =
        agent.post(&format!("{url}/hours")).set("Content-Type", "application/json").send_string(body)?;
    Ok(response.into_string()?)
}

/// Takes requests of one connection, and answers each with the number of meters that came so far.
fn collect(stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    let mut meters = 0;
    loop {
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if line == "\r\n" {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        meters += String::from_utf8_lossy(&body).matches("\"meter\"").count();
        let answer = format!("{meters} values");
        write!(writer, "{}", format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{answer}", answer.len()))?;
    }
}

fn start_collector() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || collect(stream));
        }
    });
    Ok(url)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("usage: program FILE [URL]")?;
    let url = arguments.next().map_or_else(start_collector, Ok)?;
    let agent = ureq::agent();
    let mut last = String::new();
    for (time, hour) in read(&path)? {
        last = upload(&agent, &url, &text(&time, &hour))?;
        println!("{time}: {} readings of {} meters", hour.readings, hour.meters.len());
    }
    println!("the collector has {last}");
    Ok(())
}
