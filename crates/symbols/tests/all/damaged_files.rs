//! Cut-short and bit-flipped files give errors or less, never a panic.

use std::path::Path;

use crate::common::{C_PROGRAM, Workshop, symbol};
use object::{Object, ObjectSection};
use slowpath_symbols::{ElfSymbols, FunctionRanges, build_id};

/// A generator that gives every run the same numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Asks everything of `data`.
fn exercise(data: Vec<u8>, addresses: &[u64]) {
    let _ = build_id(&data);
    if let Ok(ranges) = FunctionRanges::from_elf(&data) {
        for svma in addresses {
            let _ = ranges.containing(*svma);
        }
    }
    if let Ok(mut symbols) = ElfSymbols::from_bytes(data, Path::new("damaged"), None, &[]) {
        for svma in addresses {
            let _ = (symbols.lookup(*svma), symbols.producer(*svma), symbols.build(*svma));
        }
    }
}

fn program(options: &[&str]) -> (Vec<u8>, Vec<u64>) {
    let shop = Workshop::new();
    shop.write("prog.c", C_PROGRAM);
    shop.run(&[&["gcc", "-O2", "-g", "-o", "prog", "prog.c"], options].concat());
    let mut addresses = vec![0, 1, u64::MAX - 1, u64::MAX, 1 << 63];
    for name in ["outer", "checked", "main", "complain", "_start"] {
        let (start, size) = symbol(&shop.path("prog"), name);
        addresses.extend((start..start + size.max(1)).step_by(5));
    }
    (std::fs::read(shop.path("prog")).expect("read"), addresses)
}

#[test]
fn truncated_files_never_panic() {
    let (data, addresses) = program(&[]);
    for length in (0..data.len()).step_by(data.len() / 200 + 1).chain(0..70) {
        exercise(data[..length].to_vec(), &addresses);
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for options in [&[][..], &["-gz=zlib"], &["-gdwarf-4"]] {
        let (data, addresses) = program(options);
        for _ in 0..400 {
            let mut copy = data.clone();
            for _ in 0..=dice.below(8) {
                let at = dice.below(copy.len());
                copy[at] = dice.below(256) as u8;
            }
            exercise(copy, &addresses);
        }
    }
}

#[test]
fn flipped_bytes_in_each_table_never_panic() {
    let mut dice = Dice(0xdead_beef_1234_5677);
    let (data, addresses) = program(&[]);
    let elf = object::File::parse(&*data).expect("ELF");
    let mut tables: Vec<(u64, u64)> = elf
        .sections()
        .filter(|section| section.name().is_ok_and(is_read))
        .filter_map(|section| section.file_range())
        .collect();
    // The ELF header, and the section headers at the end.
    tables.push((0, 0x400));
    tables.push((data.len() as u64 - 0xa00, 0xa00));
    for (offset, size) in tables.into_iter().filter(|(_, size)| *size > 0) {
        for _ in 0..120 {
            let mut copy = data.clone();
            for _ in 0..=dice.below(4) {
                let at = offset as usize + dice.below(size as usize);
                copy[at] = [0, 0xff, 0x7f, 0x80, dice.below(256) as u8][dice.below(5)];
            }
            exercise(copy, &addresses);
        }
    }
}

fn is_read(section: &str) -> bool {
    section.starts_with(".debug_")
        || section.starts_with(".eh_frame")
        || section.starts_with(".rela")
        || [".symtab", ".strtab", ".dynsym", ".plt", ".shstrtab", ".note.gnu.build-id"].contains(&section)
}
