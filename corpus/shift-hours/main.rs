//! Says when a hotline was quiet: the calls of each hour of UTC, and the longest pauses. Usage: program CALLS

use std::collections::BTreeMap;
use std::error::Error;
use std::{env, fs};

use chrono::{DateTime, Local, NaiveDateTime, TimeZone, Timelike, Utc};

#[derive(Default)]
struct Hour {
    calls: u32,
    seconds: u64,
}

fn begun(text: &str) -> Result<DateTime<Utc>, Box<dyn Error>> {
    let (year, month, day) = (text[0..4].parse()?, text[5..7].parse()?, text[8..10].parse()?);
    let (hour, minute, second) = (text[11..13].parse()?, text[14..16].parse()?, text[17..19].parse()?);
    let local: NaiveDateTime = chrono::NaiveDate::from_ymd(year, month, day).and_hms(hour, minute, second);
    let time = Local.from_local_datetime(&local).earliest().ok_or("no such time")?;
    Ok(time.with_timezone(&Utc))
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: program CALLS")?;
    let mut hours: BTreeMap<u32, Hour> = BTreeMap::new();
    let mut pauses: BTreeMap<i64, u32> = BTreeMap::new();
    let mut before: Option<DateTime<Utc>> = None;
    for line in fs::read_to_string(path)?.lines() {
        let (start, length) = line.split_once('\t').ok_or("a line has a tab")?;
        let start = begun(start)?;
        let hour = hours.entry(start.hour()).or_default();
        hour.calls += 1;
        hour.seconds += length.parse::<u64>()?;
        if let Some(before) = before.replace(start) {
            *pauses.entry((start - before).num_seconds() / 10).or_default() += 1;
        }
    }
    for (hour, Hour { calls, seconds }) in hours {
        println!("{hour:02}: {calls} calls, {:.1} s on average", seconds as f64 / f64::from(calls));
    }
    for (pause, count) in pauses.iter().rev().take(5) {
        println!("{count} pauses of {} s", pause * 10);
    }
    Ok(())
}
