//! Names of users, from the password file.
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

pub struct Users {
    path: PathBuf,
}

struct Passwd {
    name: String,
    uid: u32,
}

fn parse_entry(line: &str) -> Option<Passwd> {
    let mut fields = line.split(':');
    let name = fields.next()?.to_string();
    let _password = fields.next()?;
    let uid = fields.next()?.parse().ok()?;
    Some(Passwd { name, uid })
}

impl Users {
    pub fn new(path: &str) -> Users {
        Users { path: PathBuf::from(path) }
    }

    fn getpwuid(&self, uid: u32) -> Option<Passwd> {
        let file = BufReader::new(File::open(&self.path).ok()?);
        for line in file.lines() {
            if let Some(entry) = parse_entry(&line.ok()?) {
                if entry.uid == uid {
                    return Some(entry);
                }
            }
        }
        None
    }

    /// The name of a user, or the number if there is none.
    pub fn uid_to_string(&self, uid: u32) -> String {
        match self.getpwuid(uid) {
            Some(entry) => entry.name,
            None => uid.to_string(),
        }
    }
}
