//! Checks the readings that the gauges of a river send, as they come in. Usage: program RECORDING
//! The recording is played at the pace of the modem: a packet of readings every few milliseconds.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{mpsc, Mutex};
use std::time::Duration;
use std::{env, fs, thread};

use rayon::iter::{ParallelBridge, ParallelIterator};

const PACKET: usize = 60;

#[derive(Default)]
struct Gauge {
    readings: u32,
    damaged: u32,
    highest: u32,
}

fn checksum(text: &str) -> u32 {
    text.bytes().fold(0xffff, |mut sum, byte| {
        sum ^= u32::from(byte);
        (0..8).fold(sum, |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xa001 } else { sum >> 1 })
    })
}

fn play(path: String, modem: mpsc::Sender<String>) {
    let recording = fs::read_to_string(path).expect("the recording can be read");
    for (number, line) in recording.lines().enumerate() {
        if number % PACKET == 0 {
            thread::sleep(Duration::from_millis(3));
        }
        modem.send(line.to_owned()).expect("somebody listens");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program RECORDING")?;
    let (modem, readings) = mpsc::channel();
    let player = thread::spawn(move || play(path, modem));
    let gauges: Mutex<BTreeMap<String, Gauge>> = Mutex::default();
    readings.into_iter().par_bridge().for_each(|line| {
        let (text, sum) = line.rsplit_once('*').expect("a line ends with its checksum");
        let whole = u32::from_str_radix(sum, 16).ok() == Some(checksum(text));
        let (name, level) = text.split_once(' ').expect("a line has a name and a level");
        let mut gauges = gauges.lock().expect("no other thread panicked");
        let gauge = gauges.entry(name.to_owned()).or_default();
        gauge.readings += 1;
        match level.parse::<u32>() {
            Ok(level) if whole => gauge.highest = gauge.highest.max(level),
            _ => gauge.damaged += 1,
        }
    });
    player.join().map_err(|_| "the player panicked")?;
    for (name, gauge) in gauges.into_inner()? {
        println!("{name}: {} readings, {} damaged, highest {} mm", gauge.readings, gauge.damaged, gauge.highest);
    }
    Ok(())
}
