//! What calls do again, on code that was put together for it, and what functions are done here.

use super::calls::{Again, Calls, Found};
use super::copies::Copied;
use super::natives::{Native, Natives, Returns, named};
use super::texts::Texts;
use slowpath_emulate::{End, Machine, PAGE, Registers, Source, Watch};
use std::collections::HashMap;

const CODE: u64 = 0x1000;
/// A function that adds up what its first argument leads to, 200 times; another that is done here.
const ADDS: u64 = 0x1800;
const MAKES: u64 = 0x1900;
/// Allocates memory, copies a word there from where its first argument leads, and puts its address at [`HEAD`].
const COPIES: u64 = 0x1c00;
const HEAD: u64 = 0x2800;
/// Assigns what is behind [`OTHER`] to where its first argument leads.
const ASSIGNS: u64 = 0x1b00;
/// Changes what rax leads to and gives it back; so does the other, after it has made a copy.
const DESTROYS: u64 = 0x1a00;
const DEFERS: u64 = 0x80;
const RESIZES: u64 = 0x1fc0;
const ALLOCATES: u64 = 0x1f00;
const FREES: u64 = 0x1f80;
/// Has a text formatted to where its first argument leads.
const LOGS: u64 = 0x1d00;
/// Writes to where its first argument leads, and returns 1.
const FORMATS: u64 = 0x1e00;
const DATA: u64 = 0x2000;
const OTHER: u64 = 0x2400;
const STACK: u64 = 0x7000;

/// Pages of code and of zeros.
struct Pages(Vec<(u64, Vec<u8>)>);

impl Source for Pages {
    fn page(&mut self, address: u64, into: &mut [u8; PAGE]) -> bool {
        into.fill(0);
        for (at, code) in self.0.iter().filter(|(at, _)| at & !0xfff == address) {
            let offset = (at - address) as usize;
            into[offset..offset + code.len()].copy_from_slice(code);
        }
        [CODE, DATA, STACK & !0xfff].contains(&address) || super::natives::is_fresh(address)
    }
}

/// Functions that are done here, what was allocated, and the function that code at [`CODE`] is in.
#[derive(Default)]
struct Some_(HashMap<u64, Native>, u64, Option<u64>);

impl Natives for Some_ {
    fn native(&mut self, address: u64) -> Option<Native> {
        self.0.get(&address).copied()
    }
    fn formats(&mut self, address: u64) -> Option<bool> {
        (address == FORMATS).then_some(false)
    }
    fn function_around(&self, address: u64) -> Option<u64> {
        self.2.filter(|_| (CODE..ADDS).contains(&address))
    }
    fn copies(&mut self, address: u64) -> Option<bool> {
        [(COPIES, false), (ASSIGNS, true)].iter().find(|(at, _)| *at == address).map(|(_, assigns)| *assigns)
    }
    fn destroys(&mut self, address: u64) -> bool {
        address == DESTROYS || address == DESTROYS + DEFERS
    }
    fn allocated(&mut self) -> &mut u64 {
        &mut self.1
    }
}

/// `mov edi, ARGUMENT; call FUNCTION`, for code at `at`.
fn call(code: &mut Vec<u8>, function: u64, argument: u64) {
    code.push(0xbf);
    code.extend((argument as u32).to_le_bytes());
    let next = CODE + code.len() as u64 + 5;
    code.push(0xe8);
    code.extend(((function as i64 - next as i64) as i32).to_le_bytes());
}

/// `mov qword [ADDRESS], NUMBER`.
fn store(code: &mut Vec<u8>, address: u64, number: u32) {
    code.extend([0x48, 0xc7, 0x04, 0x25]);
    code.extend((address as u32).to_le_bytes());
    code.extend(number.to_le_bytes());
}

/// What was found of the function at `of`, after code that `make` wrote, up to a system call.
fn found(of: u64, make: impl Fn(&mut Vec<u8>)) -> Again {
    of_function(of, all_found(None, make))
}

fn of_function(of: u64, found: Found) -> Again {
    let found = found.functions.into_iter().find(|((function, _), _)| *function == of);
    found.map(|(_, found)| found).unwrap_or_default()
}

/// The same of all functions, and what became of texts; the code may be the rest of a function.
fn all_found(rest_of: Option<u64>, make: impl Fn(&mut Vec<u8>)) -> Found {
    let mut code = Vec::new();
    make(&mut code);
    code.extend([0x0f, 0x05]);
    // xor eax, eax; mov ecx, 200; add rax, [rdi]; dec ecx; jne; ret
    let adds = vec![0x31, 0xc0, 0xb9, 200, 0, 0, 0, 0x48, 0x03, 0x07, 0xff, 0xc9, 0x75, 0xf9, 0xc3];
    // push rbx; mov rbx, rdi; call ALLOCATES; mov rdi, rbx; mov ecx, 200; mov rdx, [rdi]; mov [rax], rdx; add rdx, [rax]; dec ecx; jne; pop rbx; ret
    let mut makes = vec![0x53, 0x48, 0x89, 0xfb, 0xe8];
    makes.extend(((ALLOCATES - (MAKES + 9)) as u32).to_le_bytes());
    makes.extend([0x48, 0x89, 0xdf, 0xb9, 200, 0, 0, 0]);
    makes.extend([0x48, 0x8b, 0x17, 0x48, 0x89, 0x10, 0x48, 0x03, 0x10, 0xff, 0xc9, 0x75, 0xf3, 0x5b, 0xc3]);
    // mov byte [rdi], 0x61; mov eax, 1; ret
    let formats = vec![0xc6, 0x07, 0x61, 0xb8, 1, 0, 0, 0, 0xc3];
    // call FORMATS; ret
    let mut logs = vec![0xe8];
    logs.extend(((FORMATS as i64 - (LOGS as i64 + 5)) as i32).to_le_bytes());
    logs.push(0xc3);
    // push rbx; mov rbx, rdi; call ALLOCATES; mov rdx, [rbx]; mov [rax], rdx; mov [HEAD], rax; pop rbx; ret
    let mut copies = vec![0x53, 0x48, 0x89, 0xfb, 0xe8];
    copies.extend(((ALLOCATES - (COPIES + 9)) as u32).to_le_bytes());
    copies.extend([0x48, 0x8b, 0x13, 0x48, 0x89, 0x10, 0x48, 0x89, 0x04, 0x25]);
    copies.extend((HEAD as u32).to_le_bytes());
    copies.extend([0x5b, 0xc3]);
    // mov rdx, [OTHER+8]; mov [rdi], rdx; ret
    let mut assigns = vec![0x48, 0x8b, 0x14, 0x25];
    assigns.extend((OTHER as u32 + 8).to_le_bytes());
    assigns.extend([0x48, 0x89, 0x17, 0xc3]);
    // mov qword [rax], 7; mov rdi, rax; call FREES; ret; and with a call of COPIES before
    let destroys = |at: u64| {
        let mut code = vec![0x48, 0xc7, 0x00, 7, 0, 0, 0, 0x48, 0x89, 0xc7, 0xe8];
        code.extend(((FREES - (at + 15)) as u32).to_le_bytes());
        code.push(0xc3);
        code
    };
    let mut defers = vec![0xe8];
    defers.extend(((COPIES - (DESTROYS + DEFERS + 5)) as u32).to_le_bytes());
    defers.extend(destroys(DESTROYS + DEFERS + 5));
    let pages = Pages(vec![
        (COPIES, copies),
        (ASSIGNS, assigns),
        (DESTROYS, destroys(DESTROYS)),
        (DESTROYS + DEFERS, defers),
        (CODE, code),
        (ADDS, adds),
        (MAKES, makes),
        (FORMATS, formats),
        (LOGS, logs),
    ]);
    let mut registers = Registers { ip: CODE, ..Registers::default() };
    registers.general[4] = STACK + 0x800;
    let natives = Some_(
        HashMap::from([
            (ALLOCATES, Native::Allocate(&[0])),
            (FREES, Native::Free),
            (RESIZES, Native::Reallocate),
        ]),
        0,
        rest_of,
    );
    let stack = STACK..STACK + 0x1000;
    let mut machine = Machine::new(registers, pages, Calls::new(natives, stack));
    assert_eq!(machine.run(1_000_000), End::SystemCall);
    machine.watch.found()
}

#[test]
fn a_call_that_is_given_the_same_again_is_one() {
    let again = found(ADDS, |code| {
        call(code, ADDS, DATA);
        call(code, ADDS, DATA);
        call(code, ADDS, OTHER);
    });
    assert_eq!((again.calls, again.again), (3, 1), "another argument is another call");
    assert_eq!((again.instructions, again.all_instructions), (603, 3 * 603));
}

#[test]
fn what_calls_itself_with_numbers_calculates_also_if_it_was_called_before_the_stretch() {
    let make = |code: &mut Vec<u8>| (0..3).for_each(|_| call(code, ADDS, DATA));
    assert_eq!(of_function(ADDS, all_found(Some(MAKES), make)).again, 2);
    assert_eq!(of_function(ADDS, all_found(Some(ADDS), make)).again, 0);
}

#[test]
fn what_was_changed_in_between_is_not_the_same() {
    let between = |change: &dyn Fn(&mut Vec<u8>)| {
        let again = found(ADDS, |code| {
            call(code, ADDS, DATA);
            change(code);
            call(code, ADDS, DATA);
        });
        again.again
    };
    assert_eq!(between(&|code| store(code, DATA, 5)), 0);
    assert_eq!(between(&|code| store(code, DATA, 0)), 1, "the same was written");
    assert_eq!(between(&|code| store(code, OTHER, 5)), 1, "what it does not read");
    let back = |code: &mut Vec<u8>| {
        store(code, DATA, 5);
        store(code, DATA, 0);
    };
    assert_eq!(between(&back), 1, "a count of references goes up and down");
}

#[test]
fn a_result_in_new_memory_is_no_other_result() {
    let again = found(MAKES, |code| {
        call(code, MAKES, DATA);
        call(code, MAKES, DATA);
        store(code, DATA, 1);
        call(code, MAKES, DATA);
    });
    assert_eq!((again.calls, again.again), (3, 1));
}

#[test]
fn functions_are_known_by_their_names_whichever_processor_they_are_for() {
    let is_copy = |name| matches!(named(name), Some(Native::Copy(Returns::Start)));
    assert!(
        is_copy("memcpy")
            && is_copy("__memmove_avx_unaligned_erms")
            && is_copy("__memcpy_evex_unaligned_erms")
    );
    assert!(matches!(named("__libc_malloc"), Some(Native::Allocate(&[0]))));
    assert!(matches!(named("__libc_calloc"), Some(Native::Allocate(&[0, 1]))));
    assert!(matches!(named("__strlen_sse2"), Some(Native::Length { limit: false })));
    assert!(matches!(named("runtime.mallocgc"), Some(Native::GoAllocate)));
    assert!(matches!(named("__ieee754_pow_fma"), Some(Native::Two(_))));
    assert!(matches!(
        named("__strncasecmp_l_evex"),
        Some(Native::CompareTexts { limit: true, folded: true })
    ));
    assert!(matches!(named("__rawmemchr_evex"), Some(Native::FindSure)));
    for name in ["memcpy_all", "my_malloc", "strlen_of_line", "freeze", "powder", ""] {
        assert!(named(name).is_none(), "{name}");
    }
}

/// Does a function with three arguments on texts at [`DATA`] and [`OTHER`]: what it returns, and what is at the first then.
fn done(native: Native, texts: [&[u8; 8]; 2], third: u64) -> (u64, [u8; 8]) {
    let ends = Pages(vec![(CODE, vec![0x0f, 0x05])]);
    let mut registers = Registers { ip: ADDS, ..Registers::default() };
    (registers.general[4], registers.general[7], registers.general[6]) = (STACK + 0x800, DATA, OTHER);
    registers.general[2] = third;
    let natives = Some_(HashMap::from([(ADDS, native)]), 0, None);
    let mut machine = Machine::new(registers, ends, Calls::new(natives, STACK..STACK + 0x1000));
    machine.memory.write(DATA, texts[0]).unwrap();
    machine.memory.write(OTHER, texts[1]).unwrap();
    machine.memory.write(STACK + 0x800, &CODE.to_le_bytes()).unwrap();
    Calls::called(&mut machine).expect("it is done");
    let mut left = [0; 8];
    machine.memory.read(DATA, &mut left).unwrap();
    (machine.registers.general[0], left)
}

/// What became of copies of what is at [`DATA`], or of assignments: the code may do more with them than make them and give them back.
fn copied(make: impl Fn(&mut Vec<u8>)) -> Copied {
    let copies = all_found(None, make).copies;
    copies.into_values().next().unwrap_or_default()
}

/// `call FUNCTION`, for code at [`CODE`].
fn call_alone(code: &mut Vec<u8>, function: u64) {
    let next = CODE + code.len() as u64 + 5;
    code.push(0xe8);
    code.extend(((function as i64 - next as i64) as i32).to_le_bytes());
}

fn copy(code: &mut Vec<u8>) {
    call(code, COPIES, DATA);
}

/// Gives back the block that rax leads to.
fn free(code: &mut Vec<u8>) {
    code.extend([0x48, 0x89, 0xc7]); // mov rdi, rax
    call_alone(code, FREES);
}

/// `mov qword [rax], 7`.
fn change(code: &mut Vec<u8>) {
    code.extend([0x48, 0xc7, 0x00, 7, 0, 0, 0]);
}

/// What is done with a copy.
type Step<'s> = &'s dyn Fn(&mut Vec<u8>);

/// What these do one after the other.
fn all(steps: &[Step<'_>]) -> Copied {
    copied(|code| steps.iter().for_each(|step| step(code)))
}

fn copies(calls: u64, dropped: u64, unchanged: u64) -> Copied {
    Copied { calls, dropped, unchanged }
}

#[test]
fn copies_that_are_given_back_unchanged_are_needless() {
    assert_eq!(all(&[&copy, &free, &copy]), copies(2, 1, 1), "the second is there at the end");
    assert_eq!(all(&[&copy, &change, &free]), copies(1, 1, 0));
    let original = |number: u32| move |code: &mut Vec<u8>| store(code, DATA, number);
    assert_eq!(all(&[&copy, &original(7), &free]), copies(1, 1, 0));
    assert_eq!(all(&[&copy, &original(0), &free]), copies(1, 1, 1), "the same was written");
    assert_eq!(all(&[&copy, &copy, &copy]), copies(3, 0, 0), "they are kept");
}

#[test]
fn a_copy_that_grows_is_changed() {
    // A list: mov r12, rax; mov edi, 16; call ALLOCATES; mov r13, rax; mov rdi, r12; call FREES; mov [HEAD], r13
    let grow = |code: &mut Vec<u8>| {
        code.extend([0x49, 0x89, 0xc4]);
        call(code, ALLOCATES, 16);
        code.extend([0x49, 0x89, 0xc5, 0x4c, 0x89, 0xe7]);
        call_alone(code, FREES);
        code.extend([0x4c, 0x89, 0x2c, 0x25]);
        code.extend((HEAD as u32).to_le_bytes());
    };
    assert_eq!(all(&[&copy, &grow]), copies(1, 1, 0));
    // The next copy goes where this one was, in memory that is allocated after it.
    assert_eq!(all(&[&copy, &free, &copy, &free]), copies(2, 2, 2));
    // mov rdi, rax; mov esi, 64; call RESIZES
    let resize = |code: &mut Vec<u8>| {
        code.extend([0x48, 0x89, 0xc7, 0xbe, 64, 0, 0, 0]);
        call_alone(code, RESIZES);
    };
    assert_eq!(all(&[&copy, &resize, &free]).unchanged, 0);
}

#[test]
fn what_destroys_a_copy_does_not_change_it_but_what_is_done_with_one_meanwhile_does() {
    // It changes what rax leads to and gives it back.
    let destroy = |code: &mut Vec<u8>| call_alone(code, DESTROYS);
    assert_eq!(all(&[&copy, &destroy]), copies(1, 1, 1));
    // Makes a copy, changes it and gives it back.
    let within = |code: &mut Vec<u8>| call(code, DESTROYS + DEFERS, DATA);
    assert_eq!(all(&[&within]), copies(1, 1, 0));
}

#[test]
fn of_a_copy_that_is_made_under_a_lock_nothing_is_known() {
    // lock inc qword [LOCK], and dec.
    let step = |operation: u8| {
        move |code: &mut Vec<u8>| {
            code.extend([0xf0, 0x48, 0xff, operation, 0x25]);
            code.extend((OTHER as u32 + 0x80).to_le_bytes());
        }
    };
    let (take, release) = (step(0x04), step(0x0c));
    assert_eq!(all(&[&take, &copy, &release, &free]), copies(1, 0, 0));
    assert_eq!(all(&[&take, &release, &copy, &take, &free]), copies(1, 1, 1), "it is not held");
    assert_eq!(all(&[&copy, &take, &release, &free]), copies(1, 1, 1));
    assert_eq!(all(&[&take, &copy, &free]), copies(1, 1, 1));
}

#[test]
fn an_assignment_replaces_the_one_before_in_its_place() {
    let assign = |to: u64| move |code: &mut Vec<u8>| call(code, ASSIGNS, to);
    let here = assign(DATA);
    assert_eq!(all(&[&here, &here, &here]), copies(3, 2, 2));
    assert_eq!(all(&[&here, &assign(OTHER), &here]), copies(3, 1, 1));
    // What was assigned is changed, though by the assignment it stayed what it was.
    let change = |code: &mut Vec<u8>| store(code, DATA, 7);
    assert_eq!(all(&[&here, &here, &change, &here]), copies(3, 2, 1));
    let original = |code: &mut Vec<u8>| store(code, OTHER + 8, 7);
    assert_eq!(all(&[&here, &original, &here]), copies(2, 1, 0));
}

#[test]
fn texts_are_copied_compared_and_searched_as_the_c_library_does() {
    let copy = |behind, returns| Native::CopyPart { behind, returns };
    let texts = [b"ab\0defgh", b"xyz\0...."];
    assert_eq!(done(copy(false, Returns::Start), texts, 2), (DATA, *b"xy\0defgh"));
    assert_eq!(done(copy(false, Returns::End), texts, 6), (DATA + 3, *b"xyz\0\0\0gh"));
    assert_eq!(done(copy(true, Returns::Start), texts, 2), (DATA, *b"abxy\0fgh"));
    let compare = |folded, limit| Native::CompareTexts { limit, folded };
    let texts = [b"aBc\0....", b"AbD\0...."];
    assert_eq!(done(compare(true, true), texts, 2).0, 0);
    assert_eq!(done(compare(true, false), texts, 0).0, -1_i64 as u64);
    assert_eq!(done(compare(false, true), texts, 2).0, 1);
    assert_eq!(done(Native::FindSure, [b"abcdefgh", &[0; 8]], 0).0, DATA + 8);
}

#[test]
fn a_text_that_is_gone_before_it_is_read_was_for_nothing() {
    let texts =
        |make: &dyn Fn(&mut Vec<u8>)| all_found(None, make).texts.get(&LOGS).copied().unwrap_or_default();
    let to = |at: u64| move |code: &mut Vec<u8>| call(code, LOGS, at);
    // In the frame of the one that calls it, which does not return.
    let own = STACK + 0x900;
    let twice = |code: &mut Vec<u8>| [to(own), to(own)].iter().for_each(|one| one(code));
    assert_eq!(
        texts(&twice),
        Texts { formatted: 2, read: 0, unread: 1, bytes: 2 },
        "of the last it is not known"
    );
    let read = |code: &mut Vec<u8>| {
        to(own)(code);
        call(code, ADDS, own);
        to(own)(code);
    };
    assert_eq!(texts(&read), Texts { formatted: 2, read: 1, unread: 0, bytes: 2 });
    // One behind the other, as texts that are appended.
    let appended = |code: &mut Vec<u8>| [to(own), to(own + 1)].iter().for_each(|one| one(code));
    assert_eq!(texts(&appended), Texts { formatted: 2, read: 0, unread: 0, bytes: 2 });
    // Where others may read it later.
    let elsewhere = |code: &mut Vec<u8>| [to(DATA), to(DATA)].iter().for_each(|one| one(code));
    assert_eq!(texts(&elsewhere), Texts { formatted: 2, read: 0, unread: 0, bytes: 2 });
    // In a frame that is gone.
    let below = |code: &mut Vec<u8>| call(code, LOGS, STACK + 0x700);
    assert_eq!(texts(&below), Texts { formatted: 1, read: 0, unread: 1, bytes: 1 });
}
