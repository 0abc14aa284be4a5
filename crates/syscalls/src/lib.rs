//! System calls of Linux, once for all that ask: numbers, which arguments the tracers keep, and groups of calls that do the same.
//!
//! The tracer in the kernel takes them from a header that [`header`] makes when it is built, the tracer by ptrace and the diagnosis from
//! here. Numbers and names come from the crate `syscalls`. What a call means for a cause is the cause's business.

mod groups;
mod table;

pub use groups::*;
pub use table::*;

use std::fmt::Write;

/// The name of a system call of the 64-bit table.
pub fn name(number: u32) -> String {
    ::syscalls::x86_64::Sysno::new(number as usize)
        .map_or_else(|| format!("syscall {number}"), |call| call.name().to_owned())
}

/// What is kept of a call's arguments: a sum of [`FD`] and its kin; 0 for nothing.
pub fn class(number: u32) -> u32 {
    entry(number).map_or(0, |call| call.class)
}

/// The place among a call's arguments of the one that says most; `None` if the tracers make it out of several.
pub fn telling(number: u32) -> Option<usize> {
    entry(number).map_or(Some(0), |call| call.telling)
}

/// The path's place among a call's arguments, if it has one.
pub fn path_argument(number: u32) -> Option<usize> {
    match class(number) {
        class if class & PATH0 != 0 => Some(0),
        class if class & PATH1 != 0 => Some(1),
        class if class & PATH3 != 0 => Some(3),
        _ => None,
    }
}

fn entry(number: u32) -> Option<&'static Call> {
    CALLS.iter().find(|call| call.number == number)
}

/// The C header for the tracer in the kernel: `CALL_READ` and so on, `class_of`, `telling` (-1 where the tracer makes the value out of several
/// arguments) and `asks`.
pub fn header() -> String {
    let mut text = "// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)\n\
                    // Made from crates/syscalls when this is built.\n\n#pragma once\n\n"
        .to_owned();
    let mut constants = |of: &mut dyn Iterator<Item = (String, u32)>| {
        let list: Vec<String> = of.map(|(name, value)| format!("{name} = {value}")).collect();
        let _ = writeln!(text, "enum {{ {} }};", list.join(", "));
    };
    constants(&mut CLASSES.iter().map(|(name, value)| ((*name).to_owned(), *value)));
    constants(&mut CALLS.iter().map(|call| (format!("CALL_{}", call.constant), call.number)));
    let cases = |of: &dyn Fn(&Call) -> Option<String>| -> String {
        let line = |call: &Call| Some(format!("\tcase CALL_{}: return {};\n", call.constant, of(call)?));
        CALLS.iter().filter_map(line).collect()
    };
    let mut function = |head: &str, cases: String, otherwise: &str| {
        let _ = write!(
            text,
            "\nstatic __always_inline {head}(__u32 number)\n{{\n\tswitch (number) {{\n{cases}\t}}\n\treturn {otherwise};\n}}\n"
        );
    };
    function("__u32 class_of", cases(&|call| (call.class != 0).then(|| call.class.to_string())), "0");
    let place = |call: &Call| call.telling.map_or(-1, |at| at as i32);
    function(
        "int telling",
        cases(&|call| Some(place(call)).filter(|at| *at != 0).map(|at| at.to_string())),
        "0",
    );
    function("int asks", cases(&|call| ASKS.contains(&call.number).then(|| "1".to_owned())), "0");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_call_stands_once_under_its_name() {
        let numbers: HashSet<u32> = CALLS.iter().map(|call| call.number).collect();
        assert_eq!(numbers.len(), CALLS.len());
        for call in CALLS {
            assert_eq!(name(call.number).to_uppercase(), call.constant);
        }
        assert_eq!((READ, OPENAT2, name(100_000).as_str()), (0, 437, "syscall 100000"));
    }

    #[test]
    fn what_moves_bytes_maps_memory_or_has_a_path_is_known_by_its_class() {
        assert!(READS.iter().chain(&WRITES_AT).all(|number| class(*number) & BYTES != 0));
        assert!(OPENS.iter().all(|number| class(*number) & NEW_FD != 0 && path_argument(*number).is_some()));
        assert_eq!(RENAMES.map(path_argument), [Some(1), Some(3), Some(3)]);
        assert_eq!(
            (path_argument(STAT), path_argument(NEWFSTATAT), path_argument(READ)),
            (Some(0), Some(1), None)
        );
        assert_eq!(class(MMAP) & MEMORY, MEMORY);
        assert_eq!(class(GETTIMEOFDAY), 0);
    }

    #[test]
    fn the_header_has_what_the_table_has() {
        let header = header();
        for line in [
            "CALL_OPENAT = 257",
            "case CALL_READ: return 9;",
            "case CALL_PREAD64: return 3;",
            "case CALL_FUTEX: return -1;",
        ] {
            assert!(header.contains(line), "{line}\n{header}");
        }
        let asks = header.split("int asks").nth(1).expect("the last function");
        assert_eq!(asks.matches("case").count(), ASKS.len());
    }
}
