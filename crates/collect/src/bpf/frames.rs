//! The stack that the programs of the BPF object take. Kernels before 6.13 refuse the whole object if a chain of calls takes more than 512 bytes, newer ones
//! count each function alone: what is loaded on a new kernel says nothing of an old one.

use super::OBJECT;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::HashMap;

/// What all frames of a chain of calls may take, bytes (`MAX_BPF_STACK`); the verifier rounds each up to full units.
const MOST: u64 = 512;
const UNIT: u64 = 32;
/// The frame pointer.
const R10: u8 = 10;

/// A function: bytes of its frame, and the functions that it calls, by section and offset.
struct Function {
    name: String,
    frame: u64,
    calls: Vec<(usize, u64)>,
}

fn functions() -> HashMap<(usize, u64), Function> {
    let file = object::File::parse(OBJECT).expect("the object is one");
    let text = file.section_by_name(".text").expect("there are functions that are called").index().0;
    let mut found = HashMap::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        let Some(section) = symbol.section_index() else { continue };
        let of = file.section_by_index(section).expect("a symbol's section");
        let related: Vec<u64> = of.relocations().map(|(at, _)| at).collect();
        let code = of.data().expect("code");
        let (start, end) = (symbol.address(), symbol.address() + symbol.size());
        let mut function =
            Function { name: symbol.name().expect("a name").to_owned(), frame: 0, calls: Vec::new() };
        // Registers that hold the frame pointer, or an address in the frame.
        let mut copies = [false; 16];
        for at in (start..end).step_by(8) {
            let one = &code[at as usize..at as usize + 8];
            let (code, to, from) = (one[0], one[1] & 15, one[1] >> 4);
            let offset = i64::from(i16::from_le_bytes([one[2], one[3]]));
            let number = i64::from(i32::from_le_bytes([one[4], one[5], one[6], one[7]]));
            let below = match code {
                // Moves of registers; and what is added to one.
                0xbf => {
                    copies[to as usize] = from == R10;
                    0
                }
                0x07 if copies[to as usize] => number,
                // Loads, and stores of numbers and registers.
                0x61 | 0x69 | 0x71 | 0x79 if from == R10 => offset,
                0x62 | 0x6a | 0x72 | 0x7a | 0x63 | 0x6b | 0x73 | 0x7b if to == R10 => offset,
                _ => 0,
            };
            function.frame = function.frame.max((-below).max(0) as u64);
            // A call of another function of the object.
            if code == 0x85 && from == 1 {
                let place = match related.contains(&at) {
                    true => (text, (number + 1) as u64 * 8),
                    false => (section.0, (at as i64 + (number + 1) * 8) as u64),
                };
                function.calls.push(place);
            }
        }
        found.insert((section.0, start), function);
    }
    found
}

/// What a function and the deepest chain of what it calls take.
fn taken(functions: &HashMap<(usize, u64), Function>, place: (usize, u64)) -> u64 {
    let function = &functions[&place];
    let deepest = function.calls.iter().map(|call| taken(functions, *call)).max().unwrap_or(0);
    function.frame.div_ceil(UNIT).max(1) * UNIT + deepest
}

#[test]
fn old_kernels_have_room_for_all_frames_of_a_chain_of_calls() {
    let functions = functions();
    let named = |name: &str| functions.iter().find(|(_, one)| one.name == name).expect("it is in the object");
    let (_, hit) = named("hit_multi");
    let (_, walk) = named("tell_walk");
    assert!(walk.frame > 200 && !hit.calls.is_empty(), "frames and calls are seen");
    for (place, function) in &functions {
        let taken = taken(&functions, *place);
        assert!(taken <= MOST, "{} takes {taken} bytes", function.name);
    }
}
