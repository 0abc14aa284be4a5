//! Functions, lines and inlined frames of programs with debug information.

use crate::common::{C_PROGRAM, Workshop, line_of, symbol};
use slowpath_symbols::{ElfSymbols, Symbol};

/// The first address of the function that stands for more than `frames` frames.
fn lookup_inlined(symbols: &mut ElfSymbols, (start, size): (u64, u64), frames: usize) -> Vec<Symbol> {
    let mut found = (start..start + size).map(|svma| symbols.lookup(svma));
    found.find(|found| found.len() > frames).expect("inlined code")
}

#[test]
fn inlined_code_gives_every_frame_innermost_first() {
    let shop = Workshop::new();
    let source = shop.write("prog.c", C_PROGRAM);
    shop.run(&["gcc", "-O2", "-g", "-o", "prog", source.to_str().expect("path")]);
    let prog = shop.path("prog");
    let mut symbols = ElfSymbols::open(&prog, None).expect("open");
    assert!(symbols.has_dwarf() && symbols.has_symbols());

    let outer = symbol(&prog, "outer");
    let frames = lookup_inlined(&mut symbols, outer, 2);
    let names: Vec<_> = frames.iter().map(|frame| frame.name.as_str()).collect();
    assert_eq!(names, ["innermost", "middle", "outer"]);
    assert_eq!(frames.iter().map(|frame| frame.inlined).collect::<Vec<_>>(), [true, true, false]);
    assert!(frames.iter().all(|frame| (frame.start, frame.size) == outer));
    assert!(frames.iter().all(|frame| frame.file.as_deref() == source.to_str()));
    assert_eq!(frames[1].line, Some(line_of(C_PROGRAM, "// call of innermost")));
    assert_eq!(frames[2].line, Some(line_of(C_PROGRAM, "// call of middle")));
    for (frame, mark) in frames.iter().zip(["{ // innermost", "{ // middle", "{ // outer"]) {
        assert_eq!(frame.decl_line, Some(line_of(C_PROGRAM, mark)), "{}", frame.name);
    }
}

#[test]
fn the_producer_tells_the_optimisation() {
    let shop = Workshop::new();
    shop.write("prog.c", C_PROGRAM);
    for level in ["-O0", "-O2"] {
        shop.run(&["gcc", level, "-g", "-o", "prog", "prog.c"]);
        let symbols = ElfSymbols::open(&shop.path("prog"), None).expect("open");
        let producer = symbols.producer(symbol(&shop.path("prog"), "outer").0).expect("producer");
        assert!(producer.contains("GNU C"), "{producer}");
        assert_eq!(producer.contains("-O2"), level == "-O2", "{producer}");
        assert_eq!(symbols.producer(1), None);
    }
}

#[test]
fn cpp_methods_are_demangled_and_know_their_definition() {
    let source = "namespace geo { template <class T> struct Box { T side; T area(T by) const; };\n\
        template <class T> __attribute__((noinline)) T Box<T>::area(T by) const { // definition\n\
        T sum = 0; for (T i = 0; i < by; ++i) sum += (sum ^ i) * side; return sum; } }\n\
        int main(int argc, char **) { return geo::Box<int>{argc}.area(argc * 7); }\n";
    let shop = Workshop::new();
    shop.write("prog.cpp", source);
    shop.run(&["g++", "-O2", "-g", "-fno-ipa-cp", "-fno-ipa-sra", "-o", "prog", "prog.cpp"]);
    let mut symbols = ElfSymbols::open(&shop.path("prog"), None).expect("open");
    let (start, _) = symbol(&shop.path("prog"), "_ZNK3geo3BoxIiE4areaEi");
    let frames = symbols.lookup(start);
    let last = frames.last().expect("a frame");
    assert_eq!(last.name, "geo::Box<int>::area(int) const");
    assert_eq!(last.mangled, "_ZNK3geo3BoxIiE4areaEi");
    assert_eq!(last.decl_line, Some(line_of(source, "// definition")));
}

#[test]
fn rust_functions_lose_their_hash_with_either_mangling() {
    let source = "mod inner {\n    #[inline(never)]\n    pub fn work(n: u64) -> u64 { // definition\n\
        \n        (0..n).fold(1, |a, b| (a ^ b) * 3)\n    }\n}\n\
        fn main() { std::process::exit(inner::work(std::env::args().count() as u64) as i32) }\n";
    let shop = Workshop::new();
    shop.write("prog.rs", source);
    for mangling in ["legacy", "v0"] {
        let mangling_option = format!("-Csymbol-mangling-version={mangling}");
        let mut command = vec!["rustc", "--edition=2021", "-O", "-g", "prog.rs", "-o", "prog"];
        if mangling == "v0" {
            command.push(&mangling_option);
        }
        shop.run(&command);
        let prog = shop.path("prog");
        let data = std::fs::read(&prog).expect("read");
        let elf = object::File::parse(&*data).expect("ELF");
        use object::{Object, ObjectSymbol};
        let work = elf.symbols().find(|symbol| symbol.name().is_ok_and(|name| name.contains("5inner4work")));
        let start = work.expect("symbol of inner::work").address();
        let mut symbols = ElfSymbols::open(&prog, None).expect("open");
        let frames = symbols.lookup(start);
        let last = frames.last().expect("a frame");
        assert_eq!(last.name, "prog::inner::work", "{mangling}");
        assert_eq!(last.decl_line, Some(line_of(source, "// definition")));
    }
}

#[test]
fn compressed_sections_read_like_others() {
    let shop = Workshop::new();
    shop.write("prog.c", C_PROGRAM);
    for compression in ["zlib", "zstd", "zlib-gnu"] {
        shop.run(&["gcc", "-O2", "-g", "-o", "prog", "prog.c"]);
        let option = format!("--compress-debug-sections={compression}");
        if !shop.try_run(&["objcopy", &option, "prog"]) {
            eprintln!("SKIPPED: objcopy cannot compress with {compression}");
            continue;
        }
        let mut symbols = ElfSymbols::open(&shop.path("prog"), None).expect("open");
        let frames = lookup_inlined(&mut symbols, symbol(&shop.path("prog"), "outer"), 2);
        assert_eq!(frames.len(), 3, "{compression}");
    }
}

#[test]
fn split_dwarf_is_found_beside_the_objects() {
    let shop = Workshop::new();
    shop.write("prog.c", C_PROGRAM);
    shop.run(&["gcc", "-O2", "-g", "-gsplit-dwarf", "-o", "prog", "prog.c"]);
    let outer = symbol(&shop.path("prog"), "outer");
    let mut symbols = ElfSymbols::open(&shop.path("prog"), None).expect("open");
    let frames = lookup_inlined(&mut symbols, outer, 2);
    let names: Vec<_> = frames.iter().map(|frame| frame.name.as_str()).collect();
    assert_eq!(names, ["innermost", "middle", "outer"]);
    assert_eq!(frames[2].decl_line, Some(line_of(C_PROGRAM, "{ // outer")));
}

#[test]
fn lines_survive_link_time_optimisation() {
    let shop = Workshop::new();
    shop.write("prog.c", C_PROGRAM);
    if !shop.try_run(&["gcc", "-O2", "-g", "-flto", "-o", "prog", "prog.c"]) {
        eprintln!("SKIPPED: gcc has no link-time optimisation");
        return;
    }
    let mut symbols = ElfSymbols::open(&shop.path("prog"), None).expect("open");
    let outer = symbol(&shop.path("prog"), "outer");
    let frames = lookup_inlined(&mut symbols, outer, 2);
    let names: Vec<_> = frames.iter().map(|frame| frame.name.as_str()).collect();
    assert_eq!(names, ["innermost", "middle", "outer"]);
    assert_eq!(frames[0].decl_line, Some(line_of(C_PROGRAM, "{ // innermost")));
}

#[test]
fn go_programs_keep_their_names_and_have_lines() {
    if !crate::common::have("go", "version") {
        return;
    }
    let source = "package main\n\nimport \"os\"\n\ntype T struct{ n int }\n\n//go:noinline\n\
        func (t *T) Work(k int) int { // definition\n\tfor i := 0; i < k; i++ {\n\t\tt.n ^= i * k\n\t}\n\
        \treturn t.n\n}\n\nfunc main() { os.Exit((&T{}).Work(len(os.Args))) }\n";
    let shop = Workshop::new();
    shop.write("prog.go", source);
    shop.run(&["env", "GO111MODULE=off", "go", "build", "-o", "prog", "prog.go"]);
    let mut symbols = ElfSymbols::open(&shop.path("prog"), None).expect("open");
    let (start, _) = symbol(&shop.path("prog"), "main.(*T).Work");
    let frames = symbols.lookup(start);
    let last = frames.last().expect("a frame");
    assert_eq!(last.name, "main.(*T).Work");
    assert!(last.file.as_deref().is_some_and(|file| file.ends_with("prog.go")));
    let definition = line_of(source, "// definition");
    // Without a stack check the first instruction belongs to the first statement.
    assert!(last.line.is_some_and(|line| (definition..definition + 2).contains(&line)));
    assert_eq!(last.decl_line, Some(definition));
    assert!(symbols.producer(start).is_some_and(|producer| producer.contains("Go cmd/compile")));
}
