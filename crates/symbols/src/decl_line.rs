//! The line on which a function begins. DWARF spreads it over the function's entry, the abstract
//! one that it was compiled from, and the declaration in a class.

use std::collections::HashMap;

use addr2line::gimli::{self, AttributeValue, DebugInfoOffset, UnitOffset, UnitRef};

use crate::dwarf::Slice;

/// An entry: its unit's offset in `.debug_info` (`None` for units out of split files, told apart by
/// their id) and its own in the unit.
pub(crate) type Key = (Option<usize>, u64, usize);

/// Entries refer to entries; a chain longer than this is damage.
const LONGEST_CHAIN: u32 = 16;

/// The first line of the function at `die`. `known` remembers what was asked before.
pub(crate) fn of_function(
    unit: UnitRef<'_, Slice>,
    die: UnitOffset,
    known: &mut HashMap<Key, Option<u32>>,
) -> Option<u32> {
    let offset = unit.header.debug_info_offset().map(|offset| offset.0);
    let key = (offset, unit.dwo_id.map_or(0, |id| id.0), die.0);
    *known.entry(key).or_insert_with(|| follow(unit, die, LONGEST_CHAIN))
}

fn follow(unit: UnitRef<'_, Slice>, die: UnitOffset, hops: u32) -> Option<u32> {
    let hops = hops.checked_sub(1)?;
    let entry = unit.entry(die).ok()?;
    if let Some(line) = entry.attr_value(gimli::DW_AT_decl_line).and_then(|value| value.udata_value()) {
        return u32::try_from(line).ok().filter(|line| *line != 0);
    }
    let origin = entry
        .attr_value(gimli::DW_AT_abstract_origin)
        .or_else(|| entry.attr_value(gimli::DW_AT_specification))?;
    match origin {
        AttributeValue::UnitRef(offset) => follow(unit, offset, hops),
        AttributeValue::DebugInfoRef(offset) => follow_in(unit.dwarf, offset, hops),
        AttributeValue::DebugInfoRefSup(offset) => follow_in(unit.dwarf.sup()?, offset, hops),
        _ => None,
    }
}

/// Follows a reference into another unit, as link-time optimisation and dwz make them.
fn follow_in(dwarf: &gimli::Dwarf<Slice>, offset: DebugInfoOffset, hops: u32) -> Option<u32> {
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if let Some(die) = offset.to_unit_offset(&header) {
            let unit = dwarf.unit(header).ok()?;
            return follow(unit.unit_ref(dwarf), die, hops);
        }
    }
    None
}
