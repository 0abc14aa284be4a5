//! Whether a function and all that it calls only read: then it comes to the same result whenever it is given the same, as long as nobody else
//! writes to memory meanwhile.
//!
//! What is called by a pointer is not known. Functions of other files are known by name.

use super::input::any_name;
use super::walk::{Work, work_of_function};
use crate::image::Image;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use std::ops::Range;

/// Functions that may be looked at: a matcher, an expression's evaluation or the measuring of a tree has a dozen at most.
const MOST: usize = 32;
/// Functions of the C library that only read, and how many arguments they have.
const READ: [(&str, u32); 39] = [
    ("strlen", 1),
    ("strnlen", 2),
    ("strchr", 2),
    ("strrchr", 2),
    ("strchrnul", 2),
    ("strcmp", 2),
    ("strncmp", 3),
    ("strcasecmp", 2),
    ("strncasecmp", 3),
    ("strcoll", 2),
    ("strstr", 2),
    ("strcasestr", 2),
    ("strspn", 2),
    ("strcspn", 2),
    ("strpbrk", 2),
    ("memchr", 3),
    ("memrchr", 3),
    ("rawmemchr", 2),
    ("memcmp", 3),
    ("bcmp", 3),
    ("memmem", 4),
    ("wcslen", 1),
    ("wcschr", 2),
    ("wcscmp", 2),
    ("wmemcmp", 3),
    ("tolower", 1),
    ("toupper", 1),
    ("towlower", 1),
    ("towupper", 1),
    ("isalpha", 1),
    ("isdigit", 1),
    ("isalnum", 1),
    ("isspace", 1),
    ("isupper", 1),
    ("islower", 1),
    ("ispunct", 1),
    ("__ctype_b_loc", 0),
    ("__ctype_tolower_loc", 0),
    ("__ctype_toupper_loc", 0),
];
/// Functions that do not come back, or that only make room on the stack: they are called where a check fails.
const NEVER: [&str; 11] = [
    "abort",
    "__stack_chk_fail",
    "__stack_chk_fail_local",
    "__assert_fail",
    "__fortify_fail",
    "__chk_fail",
    "_Unwind_Resume",
    "std::terminate",
    "runtime.gopanic",
    "runtime.throw",
    "runtime.fatal",
];
/// … and how the names of others begin: Go's checks, and those of C++'s library.
const NEVER_BEGIN: [&str; 4] = ["runtime.panic", "runtime.goPanic", "runtime.morestack", "std::__throw_"];
/// Crates of Rust whose functions with such a last name do not come back.
const CRATES: [&str; 3] = ["core::", "alloc::", "std::"];
const FAILS: [&str; 5] = ["_fail", "_failed", "handle_error", "handle_alloc_error", "_overflow"];
/// Before a jump to a case of a switch its place is read from a table, at most so many instructions before.
const CASE: usize = 8;

/// The function at `start` and all that it calls, if they only read.
pub(super) fn only_reads(image: &Image, start: u64, end: u64) -> Option<Vec<Range<u64>>> {
    let mut functions = Vec::from([Range { start, end }]);
    let mut next = 0;
    while let Some(within) = functions.get(next).cloned() {
        next += 1;
        let bytes = image.code(within.start, (within.end - within.start) as usize)?;
        if !matches!(work_of_function(bytes), Work::Reads | Work::Walks) {
            return None;
        }
        let code: Vec<Instruction> =
            Decoder::with_ip(64, bytes, within.start, DecoderOptions::NONE).into_iter().collect();
        for (at, instruction) in code.iter().enumerate() {
            let target = match leads(&code[..at], instruction, &within) {
                Leads::Within => continue,
                Leads::Anywhere => return None,
                Leads::To(target) => target,
            };
            if name_of(image, target).is_some_and(|name| is_harmless(&name)) {
                continue;
            }
            let function = image.functions()?.containing(target)?;
            // What the compiler moved away from a function throws exceptions and reports errors; it may as well be the way on which a table of
            // results is filled.
            if function.fragment {
                let bytes = image.code(function.start, (function.end - function.start) as usize)?;
                if comes_back(bytes, function.start) {
                    return None;
                }
                continue;
            }
            // A jump into the midst of another function is a part of it that was moved away.
            if function.start != target || function.name.is_some_and(is_stub) {
                return None;
            }
            let function = function.start..function.end;
            if !functions.contains(&function) {
                functions.push(function);
            }
            if functions.len() > MOST {
                return None;
            }
        }
    }
    Some(functions)
}

/// Whether code at `start` returns, or leads elsewhere by a jump.
fn comes_back(code: &[u8], start: u64) -> bool {
    let within = start..start + code.len() as u64;
    Decoder::with_ip(64, code, start, DecoderOptions::NONE).into_iter().any(|one| match one.flow_control() {
        FlowControl::Return | FlowControl::IndirectBranch => true,
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
            !within.contains(&one.near_branch_target())
        }
        _ => false,
    })
}

/// How many arguments a harmless function has; those of one that does not come back do not matter.
pub(super) fn arguments_of(image: &Image, target: u64) -> u32 {
    let name = name_of(image, target).unwrap_or_default();
    READ.iter().find(|(read, _)| *read == plain(&name)).map_or(0, |(_, count)| *count)
}

/// Where a call or a jump leads: to an address, or to the function whose address is in a slot of the global offset table, by the slot's; 0 if that
/// is not known.
pub(super) fn target(instruction: &Instruction) -> u64 {
    let indirect =
        matches!(instruction.flow_control(), FlowControl::IndirectCall | FlowControl::IndirectBranch);
    if indirect && instruction.op0_kind() == OpKind::Memory && instruction.is_ip_rel_memory_operand() {
        return instruction.ip_rel_memory_address();
    }
    instruction.near_branch_target()
}

/// The name of the function that a target is, or a slot leads to.
fn name_of(image: &Image, target: u64) -> Option<String> {
    let through = || Some(slowpath_symbols::demangle(image.functions()?.called_through(target)?).to_string());
    any_name(image, target).or_else(through)
}

/// Where an instruction leads.
#[derive(Debug, PartialEq, Eq)]
enum Leads {
    Within,
    To(u64),
    Anywhere,
}

fn leads(before: &[Instruction], instruction: &Instruction, within: &Range<u64>) -> Leads {
    // Pointers to functions are read from tables as well, but of eight bytes each.
    let is_case = |one: &Instruction| {
        one.mnemonic() == Mnemonic::Movsxd
            && one.memory_index() != Register::None
            && one.memory_index_scale() == 4
    };
    match instruction.flow_control() {
        FlowControl::IndirectCall | FlowControl::IndirectBranch if target(instruction) != 0 => {}
        FlowControl::IndirectCall => return Leads::Anywhere,
        FlowControl::IndirectBranch => {
            let mut near = before.iter().rev().take(CASE);
            let by_register = instruction.op0_kind() == OpKind::Register;
            return if by_register && near.any(is_case) { Leads::Within } else { Leads::Anywhere };
        }
        FlowControl::Next => return Leads::Within,
        _ => {}
    }
    match target(instruction) {
        0 => Leads::Within,
        target if within.contains(&target) => Leads::Within,
        target => Leads::To(target),
    }
}

fn is_stub(name: &str) -> bool {
    name.ends_with("@plt")
}

fn plain(name: &str) -> &str {
    name.strip_suffix("@plt").unwrap_or(name)
}

fn is_harmless(name: &str) -> bool {
    let plain = plain(name);
    // Rust's older names end with a hash.
    let parts: Vec<&str> = plain.split("::").filter(|part| !is_hash(part)).collect();
    let last = parts.last().copied().unwrap_or_default();
    let fails = last.contains("panic") || FAILS.iter().any(|end| last.ends_with(end));
    READ.iter().any(|(read, _)| *read == plain)
        || NEVER.contains(&plain.split('(').next().unwrap_or(plain))
        || NEVER_BEGIN.iter().any(|begin| plain.starts_with(begin))
        || CRATES.iter().any(|own| plain.starts_with(own)) && fails
}

fn is_hash(part: &str) -> bool {
    part.len() == 17 && part.starts_with('h') && part[1..].chars().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_and_what_does_not_come_back_is_harmless() {
        for name in [
            "strchr@plt",
            "memcmp",
            "core::panicking::panic_bounds_check",
            "core::panicking::panic_fmt::h0123456789abcdef",
            "core::slice::index::slice_end_index_len_fail",
            "core::option::unwrap_failed",
            "std::terminate()",
            "runtime.panicIndex",
            "__stack_chk_fail@plt",
            "runtime.morestack_noctxt.abi0",
        ] {
            assert!(is_harmless(name), "{name}");
        }
        for name in [
            "strcpy@plt",
            "malloc@plt",
            "strtok",
            "set_variable",
            "count_panics",
            "on_fail",
            "std::panicking::try",
            "runtime.memmove",
        ] {
            assert!(!is_harmless(name), "{name}");
        }
    }

    #[test]
    fn a_fragment_comes_back_if_it_returns_or_leads_elsewhere() {
        // call elsewhere; jmp back to the call
        let throws = [0xe8, 0, 0x10, 0, 0, 0xeb, 0xf9];
        assert!(!comes_back(&throws, 0x1000));
        assert!(comes_back(&[&throws[..], &[0xc3]].concat(), 0x1000), "ret");
        assert!(comes_back(&[0xe8, 0, 0x10, 0, 0, 0xe9, 0, 0x20, 0, 0], 0x1000), "jmp elsewhere");
        assert!(comes_back(&[0xff, 0xe0], 0x1000), "jmp rax");
    }

    #[test]
    fn calls_of_itself_and_jumps_within_stay_inside() {
        let of = |code: &[u8]| {
            let code: Vec<Instruction> =
                Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE).into_iter().collect();
            let (last, before) = code.split_last().unwrap();
            leads(before, last, &(0x1000..0x1100))
        };
        assert_eq!(of(&[0xe8, 0xfb, 0xff, 0xff, 0xff]), Leads::Within, "call itself");
        assert_eq!(of(&[0x74, 0x10]), Leads::Within, "je");
        assert_eq!(of(&[0xe8, 0, 0x10, 0, 0]), Leads::To(0x2005), "call another");
        assert_eq!(of(&[0xe9, 0, 0x10, 0, 0]), Leads::To(0x2005), "jump to another: a call at the end");
        assert_eq!(of(&[0xff, 0xd0]), Leads::Anywhere, "call rax");
        assert_eq!(of(&[0x90]), Leads::Within);
        assert_eq!(of(&[0xff, 0xe0]), Leads::Anywhere, "jmp rax: a call at the end by a pointer");
        assert_eq!(of(&[0xff, 0x67, 0x08]), Leads::Anywhere, "jmp [rdi + 8]");
        assert_eq!(
            of(&[0xff, 0x24, 0xc5, 0, 0x20, 0, 0]),
            Leads::Anywhere,
            "jmp [table + rax * 8]: functions, perhaps"
        );
        assert_eq!(of(&[0xff, 0x15, 0, 0x10, 0, 0]), Leads::To(0x2006), "call [rip + slot]");
        assert_eq!(of(&[0xff, 0x25, 0, 0x10, 0, 0]), Leads::To(0x2006), "jmp [rip + slot]");
        // movsxd rax, [rdx + rax * 4]; add rax, rdx; jmp rax
        assert_eq!(of(&[0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, 0xff, 0xe0]), Leads::Within);
    }
}
