//! Files made to cost gigabytes or the stack: what they ask for beyond reason is left out, and that is said.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use crate::common::elf::*;
use slowpath_symbols::{ElfSymbols, FunctionRanges, section_of};

/// Counts what is allocated.
struct Counting;
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn counted(more: usize, less: usize) {
    let live = LIVE.fetch_add(more, Relaxed) + more;
    LIVE.fetch_sub(less, Relaxed);
    PEAK.fetch_max(live, Relaxed);
}

// SAFETY: all is handed on to the system's allocator, as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        counted(layout.size(), 0);
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        counted(0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        counted(size, layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time, or they would count each other's memory.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The most that `run` has allocated at any moment, bytes, beyond what was there.
fn peak<T>(run: impl FnOnce() -> T) -> (usize, T) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = run();
    (PEAK.load(Relaxed) - before, result)
}

const MB: usize = 1_000_000;

/// Opens a file of these sections and looks up an address. Asserts that this takes less than `most` bytes beside the file's own, and
/// that what was left out is said in such words.
fn look_up(sections: Vec<Section>, svma: u64, most: usize, said: &str) -> ElfSymbols {
    let file = elf(sections);
    let size = file.len();
    let (peak, symbols) = peak(|| {
        let mut symbols = ElfSymbols::from_bytes(file, Path::new("hostile"), None, &[]).expect("ELF");
        symbols.lookup(svma);
        symbols
    });
    let left_out = symbols.left_out();
    assert!(peak < most, "{size} bytes took {peak}; said: {left_out:?}");
    assert!(left_out.iter().any(|one| one.contains(said)), "{left_out:?} does not say {said:?}");
    symbols
}

#[test]
fn a_section_that_unfolds_to_gigabytes_is_left_out() {
    let _alone = alone();
    let zeros = vec![0; 1 << 20];
    let bomb = || compressed(".debug_info", &[], &zeros, 3_000, &[]);
    let file = elf(vec![bomb()]);
    assert!(file.len() < 20 * MB, "{}", file.len());
    look_up(vec![bomb()], 0x1000, 100 * MB, ".debug_info is ignored");
    // Several that are believed one by one are not together.
    let part = |name| compressed(name, &[], &zeros, 30, &[]);
    let parts = vec![part(".debug_info"), part(".debug_str"), part(".debug_line"), part(".debug_ranges")];
    look_up(parts, 0x1000, 100 * MB, "is ignored");
    // Wherever else a section is read, too.
    for name in [".eh_frame", ".rela.plt", ".debug_frame"] {
        let file = elf(vec![compressed(name, &[], &zeros, 3_000, &[])]);
        let (peak, _) = peak(|| (FunctionRanges::from_elf(&file).is_ok(), section_of(&file, name).is_none()));
        assert!(peak < 100 * MB, "{name}: {peak}");
    }
}

#[test]
fn the_symbols_of_a_file_stay_when_its_debug_information_is_left_out() {
    let _alone = alone();
    let zeros = vec![0; 1 << 20];
    let mut symbols = look_up(
        vec![
            code(0x1000, 0x100),
            names(b"\0work\0".to_vec()),
            symbols(2, [(0x1000, 0x100, 1)].into_iter()),
            compressed(".debug_info", &[], &zeros, 1_000, &[]),
        ],
        0x1010,
        100 * MB,
        "is ignored",
    );
    assert_eq!(symbols.lookup(0x1010).first().map(|symbol| symbol.name.as_str()), Some("work"));
}

/// The abbreviations of a unit with bounds and lines, and of one with a list of ranges.
fn abbreviations() -> Section {
    let unit = abbreviation(1, COMPILE_UNIT, true, &[LOW_PC, HIGH_PC, STMT_LIST]);
    let ranged = abbreviation(2, COMPILE_UNIT, false, &[LOW_PC, RANGES]);
    let function = abbreviation(3, SUBPROGRAM, true, &[LOW_PC, HIGH_PC]);
    let inlined = abbreviation(4, INLINED_SUBROUTINE, true, &[]);
    let bounded = abbreviation(5, INLINED_SUBROUTINE, true, &[LOW_PC, HIGH_PC]);
    plain(".debug_abbrev", [unit, ranged, function, inlined, bounded, vec![0]].concat())
}

/// A unit's entry of the first kind.
fn lined(low: u64, size: u64) -> Vec<u8> {
    [vec![1], bounds(low, size), vec![0; 4]].concat()
}

#[test]
fn a_line_table_of_millions_of_rows_is_not_read_on() {
    let _alone = alone();
    let rows = 30 << 20;
    let head = line_program(0x1000, rows + END_SEQUENCE.len());
    let lines = compressed(".debug_line", &head, &vec![NEXT_ROW; 1 << 20], rows >> 20, &END_SEQUENCE);
    let info = plain(".debug_info", unit(&lined(0x1000, 1 << 30)));
    look_up(vec![abbreviations(), info, lines], 0x1010, 200 * MB, "is not read:");
}

#[test]
fn units_that_share_one_long_list_of_ranges_are_not_read_on() {
    let _alone = alone();
    let entry = [vec![2], 0u64.to_le_bytes().to_vec(), vec![0; 4]].concat();
    let info = plain(".debug_info", unit(&entry).repeat(3_000));
    let ranges: Vec<u8> = (0..30_000u64).flat_map(|at| bounds(0x1000 + at * 2, 0x1001 + at * 2)).collect();
    let ranges = plain(".debug_ranges", [ranges, vec![0; 16]].concat());
    look_up(vec![abbreviations(), info, ranges], 0x1000, 200 * MB, "is not read:");
}

#[test]
fn functions_inlined_into_each_other_without_end_do_not_take_the_stack() {
    let _alone = alone();
    let depth = 1_000_000;
    let function = [vec![3], bounds(0x1000, 0x100)].concat();
    let entries = [lined(0x1000, 0x100), function, vec![4; depth], vec![0; depth + 2]].concat();
    let info = plain(".debug_info", unit(&entries));
    let lines =
        plain(".debug_line", [line_program(0x1000, 4), vec![NEXT_ROW], END_SEQUENCE.to_vec()].concat());
    look_up(vec![abbreviations(), info, lines], 0x1010, 200 * MB, "is not read:");
}

#[test]
fn deep_inlining_is_told_and_deeper_than_any_compiler_goes_is_cut() {
    let _alone = alone();
    for (depth, told) in [(100, 101), (400, 257)] {
        let function = [vec![3], bounds(0x1000, 0x100)].concat();
        let inlined = [vec![5], bounds(0x1000, 0x100)].concat().repeat(depth);
        let entries = [lined(0x1000, 0x100), function, inlined, vec![0; depth + 2]].concat();
        let info = plain(".debug_info", unit(&entries));
        let lines =
            plain(".debug_line", [line_program(0x1000, 4), vec![NEXT_ROW], END_SEQUENCE.to_vec()].concat());
        let file = elf(vec![abbreviations(), info, lines]);
        let mut symbols = ElfSymbols::from_bytes(file, Path::new("deep"), None, &[]).expect("ELF");
        let frames = symbols.lookup(0x1000);
        assert_eq!((frames.len(), symbols.left_out()), (told, Vec::new()));
        assert!(frames.last().is_some_and(|real| !real.inlined && real.size == 0x100));
    }
}

#[test]
fn a_table_of_files_that_claims_to_be_endless_reserves_little() {
    let _alone = alone();
    // Version 5: one format for directories and one for files, a path in one byte each, and 2⁶³ files.
    let count = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    let mut header = vec![1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
    header.extend([1, 1, 0x0b, 0, 1, 1, 0x0b]);
    header.extend(count);
    let files = 20 << 20;
    let head = [
        ((2 + 2 + 4 + header.len() + files) as u32).to_le_bytes().to_vec(),
        vec![5, 0, 8, 0],
        ((header.len() + files) as u32).to_le_bytes().to_vec(),
        header,
    ]
    .concat();
    let lines = compressed(".debug_line", &head, &vec![1; 1 << 20], files >> 20, &[]);
    let info = plain(".debug_info", unit(&lined(0x1000, 0x100)));
    look_up(vec![abbreviations(), info, lines], 0x1010, 200 * MB, "is not read:");
}

#[test]
fn symbols_that_share_one_long_name_do_not_each_keep_it() {
    let _alone = alone();
    let text = [vec![0], vec![b'x'; MB], vec![0]].concat();
    let many = symbols(2, (0..5_000u32).map(|at| (0x1000 + u64::from(at), 1, 1 + at)));
    let mut symbols =
        look_up(vec![code(0x1000, 0x2000), names(text), many], 0x1000, 100 * MB, "have no name");
    let first = symbols.lookup(0x1000);
    let name = first.first().map(|symbol| symbol.name.as_str()).unwrap_or_default();
    assert!(name.starts_with("xxx") && name.ends_with('…') && name.len() < 20_000, "{}", name.len());
}

#[test]
fn a_build_id_of_a_megabyte_is_none() {
    let _alone = alone();
    assert_eq!(slowpath_symbols::build_id(&elf(vec![build_id(20)])), Some(vec![7; 20]));
    assert_eq!(slowpath_symbols::build_id(&elf(vec![build_id(1 << 20)])), None);
}
