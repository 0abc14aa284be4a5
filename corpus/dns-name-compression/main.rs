//! Packs the names of each zone file into DNS messages of a transfer, and reads them back as the other side does.

use std::error::Error;
use std::net::Ipv4Addr;
use std::str::FromStr;
use std::{env, fs};

use hickory_proto::op::{Message, MessageType, OpCode};
use hickory_proto::rr::rdata::A;
use hickory_proto::rr::{Name, RData, Record};

/// So many answers go into one message.
const ANSWERS: usize = 400;

fn pack(id: u16, records: &[Record]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut message = Message::new(id, MessageType::Response, OpCode::Query);
    message.add_answers(records.iter().cloned());
    Ok(message.to_vec()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("usage: program FOLDER")?;
    let mut paths: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    for path in paths {
        let mut records = Vec::new();
        for line in fs::read_to_string(&path)?.lines() {
            let (name, address) = line.split_once(' ').ok_or("a line is NAME ADDRESS")?;
            let data = RData::A(A(Ipv4Addr::from_str(address)?));
            records.push(Record::from_rdata(Name::from_str(name)?, 3600, data));
        }
        let mut answers = 0;
        let mut messages = 0;
        for part in records.chunks(ANSWERS) {
            let message = Message::from_vec(&pack(messages, part)?)?;
            answers += message.answers.len();
            messages += 1;
        }
        println!("{}: {answers} answers in {messages} messages", path.display());
    }
    Ok(())
}
