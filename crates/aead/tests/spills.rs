//! The main loops of the kernels hold their values in registers: disassembles this very program and counts what they read from
//! and write to the stack.
//!
//! Each such access takes a slot that the interleaving meant for something else, and compilers change their minds between
//! versions. Skipped where there is no `objdump`, and for programs that are not optimized.

#![cfg(not(miri))]

mod common;

use common::{array, kernels, key};
use slowpath_aead::Packet;
use std::process::Command;

/// The most stack accesses in a loop of eight blocks. With AVX2, sixteen registers hold eight lanes, three sums and what is on
/// its way, and a few values wait on the stack. With AVX-512 there are 32 registers, of which the values that are held in their
/// places may only use the first sixteen.
/// VAES on 32 bytes has as few registers as AVX2 and eight lanes as well; on 64 bytes four lanes leave many free.
const BOUNDS: [(&str, usize); 4] = [("avx2", 12), ("avx512", 4), ("vaes256", 24), ("vaes512", 4)];

/// Instructions for rounds of AES in a loop of eight lanes, of four if a register has 64 bytes: nine each, or thirteen for
/// AES-256.
fn rounds(function: &str) -> [usize; 2] {
    if function.ends_with("::vaes512") { [36, 52] } else { [72, 104] }
}

/// Instructions that such a loop has at most. What is longer only leads back, by way of other code.
const LONGEST: usize = 350;

#[test]
fn main_loops_do_not_spill() {
    if cfg!(debug_assertions) {
        println!("skipped: this program is not optimized");
        return;
    }
    let Ok(listing) = disassemble() else {
        println!("skipped: there is no objdump");
        return;
    };
    // So that the kernels are in this program.
    for on in kernels() {
        let key = key::<[u8; 16]>(on, &array(1), None);
        let mut text = [1; 300];
        let tag = key.seal(&[0; 12], b"", &mut text).expect("within limits");
        key.open(&[0; 12], b"", &mut text, &tag).expect("authentic");
        key.seal_batch(&mut [Packet::new([0; 12], b"", &mut text)]).expect("within limits");
    }
    let loops = main_loops(&listing);
    for loop_ in &loops {
        println!("{}: {} instructions, {} stack accesses", loop_.function, loop_.instructions, loop_.stack);
    }
    for (set, bound) in BOUNDS {
        let these: Vec<_> = loops.iter().filter(|one| one.function.ends_with(&format!("::{set}"))).collect();
        // Sealing, opening and batches, each with ten and fourteen rounds.
        assert!(these.len() >= 6, "six main loops for {set}: {these:?}");
        for one in these {
            assert!(one.stack <= bound, "at most {bound} stack accesses: {one:?}");
        }
    }
}

fn disassemble() -> std::io::Result<String> {
    let output = Command::new("objdump")
        .args(["--disassemble", "--demangle", "--no-show-raw-insn"])
        .arg(std::env::current_exe()?)
        .output()?;
    assert!(output.status.success(), "objdump: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[derive(Debug)]
struct Loop {
    function: String,
    instructions: usize,
    stack: usize,
}

/// Loops of the kernels with as many AES rounds as a group of blocks needs.
fn main_loops(listing: &str) -> Vec<Loop> {
    let mut loops = Vec::new();
    for function in listing.split("\n\n") {
        let mut lines = function.lines();
        let Some(name) = lines.next().and_then(|head| head.split_once('<')?.1.strip_suffix(">:")) else {
            continue;
        };
        if !name.contains("slowpath_aead::kernel::") {
            continue;
        }
        let code: Vec<(u64, &str)> = lines
            .filter_map(|line| {
                let (address, text) = line.trim_start().split_once(":\t")?;
                Some((u64::from_str_radix(address, 16).ok()?, text))
            })
            .collect();
        // Otherwise the register is one like others.
        let has_frame = code.iter().any(|(_, text)| text.split_whitespace().eq(["mov", "%rsp,%rbp"]));
        for (end, (address, text)) in code.iter().enumerate() {
            let Some(target) = jump(text).filter(|target| target <= address) else { continue };
            let Ok(begin) = code.binary_search_by_key(&target, |(address, _)| *address) else { continue };
            let body = &code[begin..=end];
            let count = body.iter().filter(|(_, text)| text.contains("aesenc")).count();
            if rounds(name).contains(&count) && body.len() <= LONGEST {
                let on_stack =
                    |(_, text): &&(u64, &str)| text.contains("(%rsp") || has_frame && text.contains("(%rbp");
                let stack = body.iter().filter(on_stack).count();
                loops.push(Loop { function: name.to_string(), instructions: body.len(), stack });
            }
        }
    }
    loops
}

/// Where a jump goes.
fn jump(text: &str) -> Option<u64> {
    let (name, operand) = text.split_once(' ')?;
    let target = operand.split_whitespace().next()?;
    if name.starts_with('j') { u64::from_str_radix(target, 16).ok() } else { None }
}
