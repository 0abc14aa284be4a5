//! `limits`: what this machine can do, measured once and kept.

use crate::args::LimitsArgs;
use crate::complain::complain;
use crate::run::{Done, failed, say};
use slowpath_files::Caller;
use slowpath_limits::{Limit, Limits, measure, place};
use slowpath_report::{Shown, shown};
use std::path::Path;

/// `slowpath limits`.
pub fn limits(args: &LimitsArgs) -> Done {
    let limits = machine(args.again)?;
    if args.json {
        say(&Shown::lines(limits.json()))?;
        return Ok(0);
    }
    say(&shown!("{}\n", limits.cpu))?;
    for limit in &limits.limits {
        say(&shown!("  {:8} {:>10}  {}\n", limit.name, figure(limit), limit.what))?;
    }
    if let Some(place) = place(Caller::detect().home()) {
        say(&shown!("stored in {} (--again measures again)\n", place.display()))?;
    }
    Ok(0)
}

/// What was kept for this machine; else, or `again`, what is measured now.
pub fn machine(again: bool) -> Result<Limits, (String, u8)> {
    let caller = Caller::detect();
    let place = place(caller.home());
    if let (Some(place), false) = (&place, again) {
        // Root follows no link that the caller has there.
        let _acting = caller.act().map_err(failed)?;
        if let Some(kept) = Limits::kept(place).map_err(failed)? {
            return Ok(kept);
        }
    }
    let limits = measure(Path::new("."));
    let _acting = caller.act().map_err(failed)?;
    if let Some(place) = place
        && let Err(error) = limits.keep(&place)
    {
        complain(&shown!("{}: they will be measured again next time", error));
    }
    Ok(limits)
}

fn figure(limit: &Limit) -> String {
    let Some(ns) = limit.ns else {
        return format!("none: {}", limit.obstacle.as_deref().unwrap_or("not measured"));
    };
    match limit.bytes_per_s() {
        Some(rate) => format!("{:.1} GB/s", rate / 1e9),
        None if ns < 100.0 => format!("{ns:.2} ns"),
        None if ns < 1e5 => format!("{:.2} µs", ns / 1e3),
        None => format!("{:.2} ms", ns / 1e6),
    }
}
