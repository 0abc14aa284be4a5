//! What `/proc/PID/maps` says of code.

use std::ops::Range;

/// Where code is mapped, by the text of `/proc/PID/maps`.
pub(crate) fn code_ranges(maps: &str) -> Vec<Range<u64>> {
    maps.lines().filter_map(|line| Some(executable_mapping(line)?.0)).collect()
}

/// A line of `/proc/PID/maps`, if it maps code: range, offset, device, inode, path.
#[allow(clippy::type_complexity)] // read in one place only
pub(crate) fn executable_mapping(line: &str) -> Option<(Range<u64>, u64, (u32, u32), u64, &str)> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    if fields.next()?.as_bytes().get(2) != Some(&b'x') {
        return None;
    }
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = hex(fields.next()?)?;
    let (major, minor) = fields.next()?.split_once(':')?;
    let inode = fields.next()?.parse().ok()?;
    let path = fields.next().unwrap_or("").trim();
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    Some((hex(start)?..hex(end)?, offset, (hex(major)? as u32, hex(minor)? as u32), inode, path))
}
