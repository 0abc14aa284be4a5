//! The text of a profile, line by line. Files come from outside: whatever is in them, the answer is a profile or an error
//! that names the line.
//!
//! What is not kept: jumps, costs by line or instruction, and descriptions of caches. What is kept takes memory in proportion to
//! the text, though a line of it may stand for a long name by its number.

use super::{Error, Part, Place, Profile, add};
use std::collections::HashMap;

/// Positions of one line: an address, a line, or both.
const POSITIONS: usize = 2;
/// All of callgrind's options together make it count fewer than 20.
const MOST_EVENTS: usize = 64;
/// The names of all functions, with their files and objects, may be so many times as long as the text and some more, bytes. In
/// GCC's own profile they are a third as long.
const NAMES_TIMES: usize = 4;
const NAMES_ANYWAY: usize = 1 << 20;

/// Reads a profile. `file` is what errors call it.
pub fn read(text: &str, file: &str) -> Result<Profile, Error> {
    let room = text.len().saturating_mul(NAMES_TIMES).saturating_add(NAMES_ANYWAY);
    let mut reader = Reader { room, ..Reader::default() };
    for (at, line) in text.lines().enumerate() {
        reader.line(line.trim_end()).map_err(|why| Error { file: file.to_owned(), line: at + 1, why })?;
    }
    let lines = text.lines().count();
    reader.finish().map_err(|why| Error { file: file.to_owned(), line: lines.max(1), why })
}

/// What a line of costs is about.
#[derive(Default, Clone, Copy, PartialEq)]
enum Expected {
    /// The current function itself.
    #[default]
    Own,
    /// So many calls, made from the current function to the callee, whose entry is at this line.
    Call { count: u64, line: Option<u64> },
    /// The place of a jump: no cost.
    Jump,
}

#[derive(Default)]
struct Reader {
    profile: Profile,
    numbers: HashMap<Place, usize>,
    objects: Names,
    files: Names,
    functions: Names,
    /// Place of the line number among the positions; none where only instructions are given.
    line_at: Option<usize>,
    positions: usize,
    last: [u64; POSITIONS],
    object: String,
    /// The file of the code, which is not the function's own where another was inlined.
    file: String,
    own_file: String,
    function: Option<usize>,
    callee_object: Option<String>,
    callee_file: Option<String>,
    callee: Option<usize>,
    expected: Expected,
    part: Part,
    begun: bool,
    /// Functions whose line is given by a call.
    told: HashMap<usize, u32>,
    /// Bytes that names of places may still take.
    room: usize,
}

/// Names by their number: `(3) name` gives number 3 a name, `(3)` alone is that name.
#[derive(Default)]
struct Names(HashMap<u64, String>);

impl Names {
    fn name(&mut self, text: &str) -> Result<String, String> {
        let Some((number, name)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
            return Ok(text.to_owned());
        };
        let Ok(number) = number.parse::<u64>() else {
            return Ok(text.to_owned()); // such as `(below main)`
        };
        let name = name.trim_start();
        if name.is_empty() {
            return self.0.get(&number).cloned().ok_or(format!("name ({number}) was never given"));
        }
        self.0.insert(number, name.to_owned());
        Ok(name.to_owned())
    }
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let Some(first) = line.bytes().next() else { return Ok(()) };
        if first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'*') {
            return self.costs(line);
        }
        if first == b'#' {
            return Ok(());
        }
        // Names of functions hold colons: what stands first decides.
        match line.find(['=', ':']) {
            Some(at) if line.as_bytes()[at] == b'=' => self.body(&line[..at], line[at + 1..].trim()),
            Some(at) => self.head(&line[..at], line[at + 1..].trim()),
            None => Err(format!("`{}` is not a line of callgrind's format", shown(line))),
        }
    }

    /// `key: value`
    fn head(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "version" if value != "1" => {
                return Err(format!("version {} is not known", shown(value)));
            }
            // Each dump of a process begins with its number, as each process does; a thread's with both.
            "pid" | "part" | "thread" => {
                let number = value.parse().map_err(|_| format!("{key} {} is not a number", shown(value)))?;
                if self.begun {
                    self.close();
                }
                match key {
                    "pid" => self.part.pid = Some(number),
                    "part" => (self.part.number, self.part.thread) = (Some(number), None),
                    _ => self.part.thread = Some(number),
                }
            }
            "desc" => {
                if let Some(trigger) = value.strip_prefix("Trigger:") {
                    self.part.trigger = trigger.trim().to_owned();
                }
            }
            "positions" => {
                let told: Vec<&str> = value.split_whitespace().collect();
                if told.is_empty()
                    || told.len() > POSITIONS
                    || told.iter().any(|p| !["instr", "line"].contains(p))
                {
                    return Err(format!("positions {} are not known", shown(value)));
                }
                (self.positions, self.last) = (told.len(), [0; POSITIONS]);
                self.line_at = told.iter().position(|position| *position == "line");
            }
            "events" => {
                let events: Vec<String> = value.split_whitespace().map(str::to_owned).collect();
                if events.is_empty() {
                    return Err("no events are named".to_owned());
                }
                if events.len() > MOST_EVENTS {
                    return Err(format!("{} events are more than callgrind counts", events.len()));
                }
                if !self.profile.events.is_empty() && self.profile.events != events {
                    return Err("a part counts other events than the one before".to_owned());
                }
                self.profile.events = events;
            }
            "summary" | "totals" => {
                let costs = self.numbers(value.split_whitespace())?;
                // The totals are of what was written, and a part may have both.
                if key == "summary" || self.part.summary.is_empty() {
                    self.part.summary = costs;
                }
            }
            // version, creator, cmd, event, and what later versions add.
            _ => {}
        }
        Ok(())
    }

    /// `key=value`
    fn body(&mut self, key: &str, value: &str) -> Result<(), String> {
        self.begun = true;
        match key {
            "ob" => self.object = self.objects.name(value)?,
            "fl" => {
                self.file = self.files.name(value)?;
                self.own_file.clone_from(&self.file);
            }
            "fi" | "fe" => self.file = self.files.name(value)?,
            "fn" => {
                let name = self.functions.name(value)?;
                // `fl` may have been given for an earlier function, and inlined files lie in between.
                self.file.clone_from(&self.own_file);
                self.function = Some(self.place(&name, self.object.clone(), self.own_file.clone())?);
            }
            "cob" => self.callee_object = Some(self.objects.name(value)?),
            "cfi" | "cfl" => self.callee_file = Some(self.files.name(value)?),
            "cfn" => {
                let name = self.functions.name(value)?;
                let object = self.callee_object.take().unwrap_or_else(|| self.object.clone());
                let file = self.callee_file.take().unwrap_or_else(|| self.file.clone());
                self.callee = Some(self.place(&name, object, file)?);
            }
            "calls" => {
                let mut words = value.split_whitespace();
                let count = words.next().unwrap_or_default();
                let count = number(count).ok_or(format!("`{}` is not a number of calls", shown(count)))?;
                let target: Vec<&str> = words.collect();
                let line = self.line_at.and_then(|at| target.get(at).map(|word| (at, *word)));
                let line = line.map(|(at, word)| self.position(at, word)).transpose()?;
                if self.callee.is_none() {
                    return Err("calls without a callee (cfn=)".to_owned());
                }
                self.expected = Expected::Call { count, line };
            }
            // Where a jump leaves the function. Nothing is kept of it but the names, which may be given here.
            "job" => drop(self.objects.name(value)?),
            "jfi" | "jfl" => drop(self.files.name(value)?),
            "jfn" => drop(self.functions.name(value)?),
            "jump" | "jcnd" => self.expected = Expected::Jump,
            // Origins of frames and the like, which later versions may add.
            _ => {}
        }
        Ok(())
    }

    /// Positions, then costs.
    fn costs(&mut self, line: &str) -> Result<(), String> {
        self.begun = true;
        if self.profile.events.is_empty() {
            return Err("costs before the events that they count".to_owned());
        }
        if self.positions == 0 {
            (self.positions, self.line_at) = (1, Some(0)); // the default
        }
        let mut words = line.split_whitespace();
        for at in 0..self.positions {
            let word = words.next().ok_or(format!("`{}` lacks a position", shown(line)))?;
            self.last[at] = self.position(at, word)?;
        }
        let costs = self.numbers(words)?;
        let expected = std::mem::take(&mut self.expected);
        if expected == Expected::Jump {
            return Ok(());
        }
        let function = self.function.ok_or("costs before the function that they are of (fn=)")?;
        match expected {
            Expected::Call { count, line } => {
                let callee = self.callee.take().ok_or("costs of a call without a callee (cfn=)")?;
                let calls = self.part.calls.entry((function, callee)).or_default();
                calls.count = calls.count.saturating_add(count);
                add(&mut calls.cost, &costs);
                if let Some(line) = line.and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0) {
                    self.told.insert(callee, line);
                }
            }
            _ => {
                add(self.part.own.entry(function).or_default(), &costs);
                let line = self.line_at.and_then(|at| u32::try_from(self.last[at]).ok()).unwrap_or(0);
                if line > 0 && self.file == self.own_file {
                    let least = self.profile.lines.entry(function).or_insert(line);
                    *least = line.min(*least);
                }
            }
        }
        Ok(())
    }

    /// A position, which may be given by its distance from the last one.
    fn position(&self, at: usize, word: &str) -> Result<u64, String> {
        let last = self.last[at];
        let wrong = || format!("`{}` is not a position", shown(word));
        match word.as_bytes().first() {
            Some(b'*') if word.len() == 1 => Ok(last),
            Some(b'+') => number(&word[1..]).and_then(|by| last.checked_add(by)).ok_or_else(wrong),
            Some(b'-') => number(&word[1..]).and_then(|by| last.checked_sub(by)).ok_or_else(wrong),
            _ => number(word).ok_or_else(wrong),
        }
    }

    /// Costs; those that are left out at the end are 0.
    fn numbers<'a>(&self, words: impl Iterator<Item = &'a str>) -> Result<Vec<u64>, String> {
        let parsed = |word: &str| number(word).ok_or(format!("`{}` is not a cost", shown(word)));
        let mut costs = words.map(parsed).collect::<Result<Vec<u64>, String>>()?;
        let events = self.profile.events.len();
        if costs.len() > events {
            return Err(format!("{} costs for {events} events", costs.len()));
        }
        costs.resize(events, 0);
        Ok(costs)
    }

    fn place(&mut self, name: &str, object: String, file: String) -> Result<usize, String> {
        let (name, level) = leveled(name);
        let known = |text: String| if text == "???" { String::new() } else { text };
        let place = Place { name: name.to_owned(), object: known(object), file: known(file), level };
        if let Some(number) = self.numbers.get(&place) {
            return Ok(*number);
        }
        let size = place.name.len() + place.object.len() + place.file.len();
        self.room = self.room.checked_sub(size).ok_or("its names together are far longer than the file")?;
        let number = self.profile.places.len();
        self.profile.places.push(place.clone());
        self.numbers.insert(place, number);
        Ok(number)
    }

    /// Ends a part. What follows is of the same process until it says otherwise.
    fn close(&mut self) {
        let next = Part { pid: self.part.pid, number: self.part.number, ..Part::default() };
        self.profile.parts.push(std::mem::replace(&mut self.part, next));
        (self.begun, self.function, self.callee) = (false, None, None);
        self.expected = Expected::Own;
    }

    fn finish(mut self) -> Result<Profile, String> {
        if self.profile.events.is_empty() {
            return Err("it names no events: it is not a callgrind file, or it is truncated".to_owned());
        }
        if self.expected != Expected::Own {
            return Err("it ends in the middle of a call".to_owned());
        }
        self.close();
        // What a call says of its callee's entry is better than the least line.
        self.profile.lines.extend(self.told);
        Ok(self.profile)
    }
}

/// `f'2` is level 2 of `f`.
fn leveled(name: &str) -> (&str, u32) {
    match name.rsplit_once('\'') {
        Some((name, level)) if level.bytes().all(|digit| digit.is_ascii_digit()) => {
            (name, level.parse().unwrap_or(1).max(1))
        }
        _ => (name, 1),
    }
}

/// A number, in hexadecimal after `0x`.
fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16).ok()
        }
        None if word.bytes().all(|digit| digit.is_ascii_digit()) => word.parse().ok(),
        _ => None,
    }
}

/// The start of a piece of a foreign file, fit for a message.
fn shown(text: &str) -> String {
    text.chars().take(60).map(|c| if c.is_control() { '?' } else { c }).collect()
}
