//! Whether a function and all that it calls only read: then it comes to the same result whenever it is given the same, as long as nobody else
//! writes to memory meanwhile.
//!
//! What is called by a pointer is not known. Functions of other files are known by name.

use super::input::any_name;
use super::values::calls;
use super::walk::{Work, work_of_function};
use crate::image::Image;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

/// Functions that may be looked at: a matcher, an expression's evaluation or the measuring of a tree has a dozen at most.
const MOST: usize = 32;
/// Functions of the C library that only read.
const READ: [&str; 39] = [
    "strlen",
    "strnlen",
    "strchr",
    "strrchr",
    "strchrnul",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strcoll",
    "strstr",
    "strcasestr",
    "strspn",
    "strcspn",
    "strpbrk",
    "memchr",
    "memrchr",
    "rawmemchr",
    "memcmp",
    "bcmp",
    "memmem",
    "wcslen",
    "wcschr",
    "wcscmp",
    "wmemcmp",
    "tolower",
    "toupper",
    "towlower",
    "towupper",
    "isalpha",
    "isdigit",
    "isalnum",
    "isspace",
    "isupper",
    "islower",
    "ispunct",
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
];
/// Parts of the names of functions that do not come back, or that only make room on the stack: they are called where a check fails.
const NEVER: [&str; 7] =
    ["panic", "_fail", "morestack", "abort", "unwrap_failed", "terminate", "_Unwind_Resume"];

/// Whether the function at `start` and what it calls only read.
pub(super) fn only_reads(image: &Image, start: u64, end: u64) -> bool {
    let mut open = vec![(start, end)];
    let mut seen = vec![start];
    while let Some((start, end)) = open.pop() {
        let Some(code) = image.code(start, (end - start) as usize) else { return false };
        if !matches!(work_of_function(code), Work::Reads | Work::Walks) {
            return false;
        }
        for instruction in Decoder::with_ip(64, code, start, DecoderOptions::NONE).into_iter() {
            let Some(target) = leaves_to(&instruction, start..end) else { continue };
            let Some(target) = target else { return false };
            if seen.contains(&target) || any_name(image, target).is_some_and(|name| is_harmless(&name)) {
                continue;
            }
            let function = image.functions().and_then(|functions| functions.containing(target));
            match function {
                Some(function) if seen.len() < MOST && !function.name.is_some_and(is_stub) => {
                    seen.extend([target, function.start]);
                    open.push((function.start, function.end));
                }
                _ => return false,
            }
        }
    }
    true
}

/// Where an instruction leads outside of its function, None within for what is not known.
fn leaves_to(instruction: &Instruction, within: std::ops::Range<u64>) -> Option<Option<u64>> {
    if instruction.flow_control() == FlowControl::IndirectCall {
        return Some(None);
    }
    let target = instruction.near_branch_target();
    let leaves = calls(instruction) || target != 0 && instruction.flow_control() != FlowControl::Next;
    (leaves && target != 0 && !within.contains(&target)).then_some(Some(target))
}

fn is_stub(name: &str) -> bool {
    name.ends_with("@plt")
}

fn is_harmless(name: &str) -> bool {
    let plain = name.strip_suffix("@plt").unwrap_or(name);
    READ.contains(&plain) || NEVER.iter().any(|part| plain.contains(part))
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
            "__stack_chk_fail@plt",
            "runtime.morestack_noctxt.abi0",
        ] {
            assert!(is_harmless(name), "{name}");
        }
        for name in ["strcpy@plt", "malloc@plt", "strtok", "set_variable"] {
            assert!(!is_harmless(name), "{name}");
        }
    }

    #[test]
    fn calls_of_itself_and_jumps_within_stay_inside() {
        let of = |code: &[u8]| {
            leaves_to(&Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE).decode(), 0x1000..0x1100)
        };
        assert_eq!(of(&[0xe8, 0xfb, 0xff, 0xff, 0xff]), None, "call itself");
        assert_eq!(of(&[0x74, 0x10]), None, "je");
        assert_eq!(of(&[0xe8, 0, 0x10, 0, 0]), Some(Some(0x2005)), "call another");
        assert_eq!(of(&[0xe9, 0, 0x10, 0, 0]), Some(Some(0x2005)), "jump to another: a call at the end");
        assert_eq!(of(&[0xff, 0xd0]), Some(None), "call rax");
        assert_eq!(of(&[0x90]), None);
    }
}
