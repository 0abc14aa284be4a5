//! The line on which a function begins. DWARF spreads it over the function's entry, the abstract
//! one that it was compiled from, and the declaration in a class, which may lie in other units.

use std::collections::HashMap;
use std::sync::Arc;

use addr2line::gimli::{self, AttributeValue, DebugInfoOffset, DwarfFileType, UnitOffset, UnitRef};

use crate::dwarf::Slice;

/// An entry: the offset of its unit in `.debug_info`, the id of its split file (0 for none), and
/// its own offset in the unit.
type Key = (Option<usize>, u64, usize);

/// Entries refer to entries; a chain longer than this is damage.
const LONGEST_CHAIN: u32 = 16;

/// First lines of functions, remembered once found.
#[derive(Default)]
pub(crate) struct DeclLines {
    known: HashMap<Key, Option<u32>>,
    main: Units,
    /// Units of the dwz file.
    supplementary: Units,
}

/// The units that were followed into, by offset. Filled as needed.
#[derive(Default)]
struct Units {
    headers: Option<Vec<(DebugInfoOffset, gimli::UnitHeader<Slice>)>>,
    parsed: HashMap<usize, Option<Arc<gimli::Unit<Slice>>>>,
}

impl DeclLines {
    /// The first line of the function at `die` of `unit`, a unit of the main file or a split one.
    pub(crate) fn of_function(&mut self, unit: UnitRef<'_, Slice>, die: UnitOffset) -> Option<u32> {
        let offset = unit.header.debug_info_offset().map(|offset| offset.0);
        let key = (offset, unit.dwo_id.map_or(0, |id| id.0), die.0);
        if let Some(line) = self.known.get(&key) {
            return *line;
        }
        let line = self.follow(unit, die, false, LONGEST_CHAIN);
        self.known.insert(key, line);
        line
    }

    fn follow(
        &mut self,
        unit: UnitRef<'_, Slice>,
        die: UnitOffset,
        in_supplementary: bool,
        hops: u32,
    ) -> Option<u32> {
        let hops = hops.checked_sub(1)?;
        let entry = unit.entry(die).ok()?;
        if let Some(line) = entry.attr_value(gimli::DW_AT_decl_line).and_then(|value| value.udata_value()) {
            return u32::try_from(line).ok().filter(|line| *line != 0);
        }
        let origin = entry
            .attr_value(gimli::DW_AT_abstract_origin)
            .or_else(|| entry.attr_value(gimli::DW_AT_specification))?;
        let (dwarf, offset, in_supplementary) = match origin {
            AttributeValue::UnitRef(offset) => return self.follow(unit, offset, in_supplementary, hops),
            // A split file holds one unit; it cannot refer to others.
            AttributeValue::DebugInfoRef(_) if unit.dwarf.file_type == DwarfFileType::Dwo => return None,
            AttributeValue::DebugInfoRef(offset) => (unit.dwarf, offset, in_supplementary),
            AttributeValue::DebugInfoRefSup(offset) => (unit.dwarf.sup()?, offset, true),
            _ => return None,
        };
        let units = if in_supplementary { &mut self.supplementary } else { &mut self.main };
        let (unit, die) = units.find(dwarf, offset)?;
        self.follow(unit.unit_ref(dwarf), die, in_supplementary, hops)
    }
}

impl Units {
    /// The unit that holds the entry at `offset`, and the entry's place in it.
    fn find(
        &mut self,
        dwarf: &gimli::Dwarf<Slice>,
        offset: DebugInfoOffset,
    ) -> Option<(Arc<gimli::Unit<Slice>>, UnitOffset)> {
        let headers = self.headers.get_or_insert_with(|| list(dwarf));
        let above = headers.partition_point(|(start, _)| start.0 <= offset.0);
        let (start, header) = headers.get(above.checked_sub(1)?)?;
        let die = offset.to_unit_offset(header)?;
        let parse = || dwarf.unit(*header).ok().map(Arc::new);
        let unit = self.parsed.entry(start.0).or_insert_with(parse).clone()?;
        Some((unit, die))
    }
}

fn list(dwarf: &gimli::Dwarf<Slice>) -> Vec<(DebugInfoOffset, gimli::UnitHeader<Slice>)> {
    let mut units = dwarf.units();
    let mut headers = Vec::new();
    while let Ok(Some(header)) = units.next() {
        headers.extend(header.debug_info_offset().map(|offset| (offset, header)));
    }
    headers
}
