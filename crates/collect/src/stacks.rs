//! The trie of stacks, the locations in it, and which function each location is in, as far as that is known while the
//! program runs.

use crate::image::Image;
use crate::unwind::Place;
use slowpath_recording::Tables;
use slowpath_recording::tables::{Location, Stack};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A function as seen live: a range of a module's addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LiveFunction {
    pub module: u32,
    pub range: Range<u64>,
}

/// Numbers for places, stacks and live functions.
#[derive(Default)]
pub(crate) struct Stacks {
    locations: HashMap<Place, u32>,
    /// Of each location its live function, and its address.
    functions_of: Vec<Option<u32>>,
    addresses: Vec<u64>,
    children: HashMap<(Option<u32>, u32), u32>,
    functions: Vec<LiveFunction>,
    function_at: HashMap<(u32, u64), u32>,
}

impl Stacks {
    /// The number of a place; a new row if it is new.
    pub(crate) fn location(
        &mut self,
        place: Place,
        image: Option<&Arc<Image>>,
        rows: &mut Vec<Location>,
    ) -> u32 {
        if let Some(number) = self.locations.get(&place) {
            return *number;
        }
        let number = self.functions_of.len() as u32;
        self.locations.insert(place, number);
        let (module, address, kind) = match place {
            Place::Native { module, svma } => (Some(module), svma, "native"),
            Place::Jit { address } => (None, address, "jit"),
            Place::Kernel { address } => (None, address, "kernel"),
        };
        let function = match (place, image) {
            (Place::Native { module, svma }, Some(image)) => self.function(module, svma, image),
            _ => None,
        };
        self.functions_of.push(function);
        self.addresses.push(address);
        rows.push(Location { location: number, module, address, kind: kind.to_owned() });
        number
    }

    fn function(&mut self, module: u32, svma: u64, image: &Image) -> Option<u32> {
        let range = image.functions()?.containing(svma)?;
        Some(*self.function_at.entry((module, range.start)).or_insert_with(|| {
            self.functions.push(LiveFunction { module, range: range.start..range.end });
            self.functions.len() as u32 - 1
        }))
    }

    /// The live function that a location is in.
    pub(crate) fn function_of(&self, location: u32) -> Option<u32> {
        self.functions_of[location as usize]
    }

    /// The address of a location, as in its row.
    pub(crate) fn address_of(&self, location: u32) -> u64 {
        self.addresses[location as usize]
    }

    /// A live function by its number.
    pub(crate) fn live(&self, function: u32) -> &LiveFunction {
        &self.functions[function as usize]
    }

    /// The number of the stack of `places`, innermost first; `image` knows the modules' files.
    pub(crate) fn of_places<'i>(
        &mut self,
        places: &[Place],
        image: impl Fn(u32) -> Option<&'i Arc<Image>>,
        tables: &mut Tables,
    ) -> Option<u32> {
        let mut location = |place: &Place| {
            let image = match place {
                Place::Native { module, .. } => image(*module),
                _ => None,
            };
            self.location(*place, image, &mut tables.locations)
        };
        let locations: Vec<u32> = places.iter().rev().map(&mut location).collect();
        self.stack(locations.into_iter(), &mut tables.stacks)
    }

    /// The number of the stack of `locations`, outermost first; new rows for what is new of it.
    pub(crate) fn stack(
        &mut self,
        locations: impl Iterator<Item = u32>,
        rows: &mut Vec<Stack>,
    ) -> Option<u32> {
        let mut at = None;
        for location in locations {
            let next = self.children.len() as u32;
            let number = *self.children.entry((at, location)).or_insert(next);
            if number == next {
                rows.push(Stack { stack: number, parent: at, location });
            }
            at = Some(number);
        }
        at
    }
}
