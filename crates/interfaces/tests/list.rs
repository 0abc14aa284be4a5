//! The list that is built in.

use slowpath_interfaces::{Beside, What, all, of, parse, without_arguments};
use std::collections::BTreeSet;

#[test]
fn the_list_is_whole_and_names_nothing_twice() {
    let list = parse(include_str!("../interfaces.toml")).expect("interfaces.toml is read");
    assert_eq!(list, all());
    assert!(list.len() >= 130, "{} interfaces", list.len());
    let names: BTreeSet<&str> = list.iter().map(|one| one.function.as_str()).collect();
    assert_eq!(names.len(), list.len());
    for one in &list {
        let texts = [&one.does, &one.instead, &one.source];
        assert!(texts.iter().all(|text| !text.trim().is_empty() && !text.ends_with('.')), "{}", one.function);
        // Titles go on with "again and again", advice begins a sentence.
        assert!(one.does.starts_with(char::is_lowercase) && one.instead.starts_with(char::is_uppercase));
    }
}

#[test]
fn functions_are_found_by_their_demangled_names() {
    let input = |name: &str| of(name).map(|one| one.input.what);
    assert_eq!(input("regcomp"), Some(What::Text(2)));
    assert_eq!(input("uregex_open_72"), Some(What::Bytes(1, 2, 2)));
    assert_eq!(input("text/template.(*Template).Parse"), Some(What::Bytes(2, 3, 1)));
    let of_libstdcxx = "std::__detail::_Compiler<std::__cxx11::regex_traits<char> >::_Compiler(char const*, char const*, \
                        std::locale const&, std::regex_constants::syntax_option_type)";
    assert_eq!(input(of_libstdcxx), Some(What::Range(2, 3)));
    assert_eq!(without_arguments("html/template.(*Template).Parse"), "html/template.(*Template).Parse");
    assert_eq!(input("main"), None);
    assert_eq!(input(""), None);
}

#[test]
fn a_length_is_in_bytes() {
    assert_eq!(What::Bytes(1, 2, 2).length(0x1000, 10), Some(20));
    assert_eq!(What::Range(2, 3).length(0x1000, 0x1010), Some(16));
    assert_eq!(What::Text(1).length(0x1000, 10), None);
    assert_eq!(What::Bytes(1, 2, 1).length(0x1000, u64::from(u32::MAX)), None, "-1 of 32 bits");
    assert_eq!(What::Bytes(1, 2, 1).length(0x1000, u64::MAX), None);
}

#[test]
fn what_else_must_be_the_same_is_noted_behind() {
    let input = &of("sqlite3_prepare_v2").expect("it is listed").input;
    assert_eq!((input.arguments(), input.beside.as_slice()), (vec![2, 3, 1], &[Beside::Pointer(1)][..]));
    // The upper half of a register that holds an int is anything.
    assert_eq!(Beside::Number(1).part(0xdead_0000_0007), 7);
    assert_eq!(Beside::Pointer(1).part(0xdead_0000_0007), 0xdead_0000_0007);
}

#[test]
fn what_is_wrong_is_told() {
    for input in [
        "",
        "text",
        "text 0",
        "text 7",
        "bytes 1",
        "bytes 1 x",
        "text 1, text 2",
        "bytes 1 2, number 3, number 4",
        "text 1,",
        "nothing",
    ] {
        let entry = format!(
            "[[interface]]\nfunction=\"f\"\ninput={input:?}\ndoes=\"d\"\ninstead=\"I\"\nsource=\"s\"\n"
        );
        assert!(parse(&entry).is_err(), "{input:?}");
    }
}
