//! Which function an address lies in, with no more than an ELF file's tables.

use std::path::Path;

use crate::common::{C_PROGRAM, Workshop, symbol};
use slowpath_symbols::{ElfSymbols, FunctionRanges, RangeSource};

fn ranges(path: &Path) -> FunctionRanges {
    FunctionRanges::from_elf(&std::fs::read(path).expect("read")).expect("ELF")
}

#[test]
fn a_stripped_program_still_has_bounds_and_stubs() {
    let shop = Workshop::new();
    shop.write("prog.c", C_PROGRAM);
    for linking in ["-Wl,-z,lazy", "-Wl,-z,now", "-fcf-protection=full", "-no-pie"] {
        shop.run(&["gcc", "-O2", linking, "-o", "prog", "prog.c"]);
        let (start, size) = symbol(&shop.path("prog"), "outer");
        shop.run(&["strip", "prog"]);
        let found = ranges(&shop.path("prog"));
        let range = found.containing(start + 1).expect("unwind entry");
        assert_eq!((range.start, range.end), (start, start + size), "{linking}");
        assert_eq!((range.source, range.name), (RangeSource::Fde, None));
        assert!(stub_named(&found, "puts@plt"), "{linking}");
        let symbols = ElfSymbols::open(&shop.path("prog"), None).expect("open");
        assert!(!symbols.has_dwarf() && !symbols.has_symbols());
    }
}

/// Looks for a stub where linkers put them: the first pages of the program.
fn stub_named(found: &FunctionRanges, name: &str) -> bool {
    [0x1000, 0x40_1000].into_iter().flat_map(|base| base..base + 0x1000).any(|svma| {
        found
            .containing(svma)
            .is_some_and(|range| range.name == Some(name) && range.source == RangeSource::Plt)
    })
}

#[test]
fn what_is_called_through_a_slot_without_a_stub_has_its_name() {
    let shop = Workshop::new();
    shop.write("prog.c", C_PROGRAM);
    shop.run(&["gcc", "-O2", "-fno-plt", "-o", "prog", "prog.c"]);
    let found = ranges(&shop.path("prog"));
    let slots = (0..0x1_0000).step_by(8).filter_map(|svma| found.called_through(svma));
    assert_eq!(slots.filter(|name| *name == "puts@plt").count(), 1);
    assert_eq!(found.called_through(symbol(&shop.path("prog"), "outer").0), None);
}

#[test]
fn a_static_program_has_no_gaps_between_its_functions() {
    let shop = Workshop::new();
    shop.write("prog.c", C_PROGRAM);
    if !shop.try_run(&["gcc", "-O2", "-g", "-static", "-o", "prog", "prog.c"]) {
        eprintln!("SKIPPED: no static C library");
        return;
    }
    let prog = shop.path("prog");
    let mut symbols = ElfSymbols::open(&prog, None).expect("open");
    for name in ["outer", "main", "puts"] {
        let (start, size) = symbol(&prog, name);
        let frames = symbols.lookup(start + size - 1);
        let last = frames.last().expect("a frame");
        assert_eq!((last.start, last.size), (start, size), "{name}");
    }
    assert_eq!(symbols.lookup(symbol(&prog, "outer").0).last().map(|last| last.name.as_str()), Some("outer"));
}

#[test]
fn a_cold_fragment_carries_its_functions_name() {
    let shop = Workshop::new();
    shop.write(
        "checked.c",
        "__attribute__((cold)) void complain(int);\n_Noreturn void abort(void);\n\
         __attribute__((noinline)) int checked(int x) {\n\
         if (x > 1000000) { complain(x); abort(); }\n return x * x + 1; }\n",
    );
    shop.write(
        "main.c",
        "void complain(int x) {} int checked(int); int main(int n, char **a) { return checked(n); }",
    );
    shop.run(&["gcc", "-O2", "-g", "-o", "prog", "checked.c", "main.c"]);
    let (start, size) = symbol(&shop.path("prog"), "checked.cold");
    let found = ranges(&shop.path("prog"));
    let range = found.containing(start).expect("fragment");
    assert!(range.fragment);
    assert_eq!((range.name, range.start, range.end), (Some("checked"), start, start + size));
    let whole = found.containing(symbol(&shop.path("prog"), "checked").0).expect("function");
    assert!(!whole.fragment);
    let frames = ElfSymbols::open(&shop.path("prog"), None).expect("open").lookup(start);
    let last = frames.last().expect("a frame");
    assert_eq!((last.name.as_str(), last.start, last.size), ("checked", start, size));
}

#[test]
fn the_best_of_several_names_is_chosen() {
    let shop = Workshop::new();
    shop.write(
        "prog.c",
        "int counter;\n\
         __attribute__((noinline)) int __real_work(int x) { counter += x; return counter * x; }\n\
         int work(int) __attribute__((alias(\"__real_work\")));\n\
         static int local_work(int) __attribute__((alias(\"__real_work\"), used));\n\
         int main(int argc, char **argv) { asm(\".globl label\\nlabel: nop\"); return work(argc); }\n",
    );
    shop.run(&["gcc", "-O2", "-o", "prog", "prog.c"]);
    let (label, _) = symbol(&shop.path("prog"), "label");
    assert_eq!(ranges(&shop.path("prog")).containing(label).and_then(|range| range.name), Some("main"));
    let (start, _) = symbol(&shop.path("prog"), "work");
    assert_eq!(ranges(&shop.path("prog")).containing(start).and_then(|range| range.name), Some("work"));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn assembly_without_sizes_ends_at_the_next_symbol_or_unwind_entry() {
    let shop = Workshop::new();
    shop.write(
        "prog.s",
        ".text\n.globl first\nfirst:\n.fill 8, 1, 0x90\nsecond:\n.fill 8, 1, 0x90\n\
         .globl third\nthird:\n.cfi_startproc\n.fill 8, 1, 0x90\n.cfi_endproc\n.fill 8, 1, 0x90\n\
         .section .note.GNU-stack,\"\",@progbits\n",
    );
    shop.run(&["gcc", "-shared", "-nostdlib", "-o", "prog.so", "prog.s"]);
    let found = ranges(&shop.path("prog.so"));
    let (first, _) = symbol(&shop.path("prog.so"), "first");
    let bounds =
        |svma| found.containing(svma).map(|range| (range.name, range.start - first, range.end - first));
    assert_eq!(bounds(first + 7), Some((Some("first"), 0, 8)));
    assert_eq!(bounds(first + 8), Some((Some("second"), 8, 16)));
    assert_eq!(bounds(first + 16), Some((Some("third"), 16, 24)));
    assert_eq!(bounds(first + 24), None);
    assert_eq!(bounds(first + 32), None);
}

#[test]
fn the_c_library_is_indexed_quickly() {
    let Some(libc) = c_library() else {
        eprintln!("SKIPPED: this program does not use a shared C library");
        return;
    };
    let data = std::fs::read(&libc).expect("read libc");
    let start = std::time::Instant::now();
    let found = FunctionRanges::from_elf(&data).expect("ELF");
    let took = start.elapsed();
    let (malloc, _) = symbol(&libc, "malloc");
    assert_eq!(found.containing(malloc + 4).and_then(|range| range.name), Some("malloc"));
    // The aim is 20 ms with optimisation; this bound also holds without it on a busy machine.
    assert!(took.as_millis() < 500, "{took:?}");
}

/// The C library that this test itself runs with.
fn c_library() -> Option<std::path::PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.contains("/libc.so"))?;
    Some(line.get(line.find('/')?..)?.into())
}
