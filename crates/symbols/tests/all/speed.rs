//! Symbolizing stays quick and opening stays lazy.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use object::{Object, ObjectSymbol};
use slowpath_symbols::ElfSymbols;

/// Addresses spread over the functions of a program.
fn addresses(data: &[u8], count: usize) -> Vec<u64> {
    let elf = object::File::parse(data).expect("ELF");
    let functions: Vec<_> = elf
        .symbols()
        .filter(|symbol| symbol.kind() == object::SymbolKind::Text && symbol.size() > 8)
        .collect();
    (0..count)
        .map(|index| {
            let function = &functions[index * 7919 % functions.len()];
            function.address() + (index as u64 * 31) % function.size()
        })
        .collect()
}

#[test]
fn thousands_of_addresses_take_less_than_a_second() {
    // This test is itself an ordinary debug binary.
    let program: PathBuf = std::env::current_exe().expect("own path");
    let addresses = addresses(&std::fs::read(&program).expect("read"), 5_000);
    let start = Instant::now();
    let mut symbols = ElfSymbols::open(&program, None).expect("open");
    let opened = start.elapsed();
    let found = addresses.iter().filter(|svma| !symbols.lookup(**svma).is_empty()).count();
    let took = start.elapsed();
    eprintln!("opened in {opened:?}, 5000 addresses in {took:?}, {found} found");
    assert!(found > 4_900, "{found}");
    assert!(opened < Duration::from_millis(100), "{opened:?}");
    // Without optimisation, on a busy machine; a release build takes about a tenth.
    assert!(took < Duration::from_secs(5), "{took:?}");
}
