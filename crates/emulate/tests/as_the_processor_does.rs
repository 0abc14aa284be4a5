//! Every instruction of some real code is run twice: by the processor, in a child that is stepped through, and here. Registers must be the same after
//! each; so must memory, since what is read of it comes into registers.
#![cfg(target_arch = "x86_64")]

use slowpath_emulate::{End, Flags, Fractions, Machine, PAGE, Registers, Source};
use std::arch::asm;
use std::arch::x86_64::{__cpuid_count, __m128i};
use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;

/// Instructions that are compared at most: each step of the kernel takes some microseconds.
const STEPS: u64 = 250_000;

/// A child that is stepped through.
struct Child(libc::pid_t);

impl Child {
    /// Runs `work` in a child that stops before it.
    fn new(work: fn()) -> Child {
        // SAFETY: the child runs `work` alone, which takes no lock that another thread may hold: allocation has one per thread or is taken over by fork.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "fork");
        if child == 0 {
            // SAFETY: plain system calls.
            unsafe {
                libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
                libc::raise(libc::SIGSTOP);
            }
            work();
            // SAFETY: ends this process and no other.
            unsafe { libc::_exit(0) };
        }
        let child = Child(child);
        assert!(child.is_stopped(), "the child stops itself");
        child
    }

    fn is_stopped(&self) -> bool {
        let mut status = 0;
        // SAFETY: the child is ours, and the status ours to write.
        unsafe { libc::waitpid(self.0, &mut status, 0) };
        libc::WIFSTOPPED(status)
    }

    /// Runs one instruction; false if that was its last.
    fn step(&self) -> bool {
        // SAFETY: the child is stopped.
        unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, self.0, 0, 0) };
        self.is_stopped()
    }

    fn registers(&self) -> Registers {
        // SAFETY: all zeros are registers.
        let mut user: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        let mut area = vec![0u8; 16384];
        let mut into = libc::iovec { iov_base: area.as_mut_ptr().cast(), iov_len: area.len() };
        const XSTATE: usize = 0x202;
        // SAFETY: the child is stopped; both are as large as the kernel is told.
        unsafe {
            assert_eq!(libc::ptrace(libc::PTRACE_GETREGS, self.0, 0, &mut user), 0);
            assert_eq!(libc::ptrace(libc::PTRACE_GETREGSET, self.0, XSTATE, &mut into), 0);
        }
        let upper = __cpuid_count(0xd, 2).ebx as usize;
        let at = |at: usize| area[at..].first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
        // Parts that are as they are at first are not written: bit 1 and 2 of the header.
        let there = |bit: u8| area[512] >> bit & 1 == 1;
        let word = |at: usize| u16::from_le_bytes([area[at], area[at + 1]]);
        let fraction = |number: usize| area[32 + 16 * number..].first_chunk().copied().unwrap_or_default();
        let fractions = if there(0) {
            Fractions {
                stack: std::array::from_fn(fraction),
                top: (word(2) >> 11 & 7) as u8,
                control: word(0),
            }
        } else {
            Fractions::default()
        };
        let vector = |number: usize| {
            let low = if there(1) { at(160 + 16 * number) } else { 0 };
            [low, if upper > 0 && there(2) { at(upper + 16 * number) } else { 0 }]
        };
        Registers {
            general: [
                user.rax, user.rcx, user.rdx, user.rbx, user.rsp, user.rbp, user.rsi, user.rdi, user.r8,
                user.r9, user.r10, user.r11, user.r12, user.r13, user.r14, user.r15,
            ],
            ip: user.rip,
            flags: Flags::of(user.eflags),
            fs: user.fs_base,
            gs: user.gs_base,
            vectors: std::array::from_fn(vector),
            fractions,
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: the child is ours; it may be gone already.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}

struct Of(libc::pid_t);

impl Source for Of {
    fn page(&mut self, address: u64, into: &mut [u8; PAGE]) -> bool {
        let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: PAGE };
        let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: PAGE };
        // SAFETY: writes at most a page into `into`.
        unsafe { libc::process_vm_readv(self.0, &local, 1, &remote, 1, 0) == PAGE as isize }
    }
}

/// Flags that an instruction leaves undefined, or that a later one is not to trust.
fn undefined(mnemonic: &str) -> u64 {
    const CARRY: u64 = 1;
    const REST: u64 = 0b1000_1100_0100;
    match mnemonic {
        "mul" | "imul" => 0b1100_0100,
        "div" | "idiv" => REST | CARRY,
        "bsf" | "bsr" | "tzcnt" | "lzcnt" => 0b1000_1000_0101,
        "bt" | "bts" | "btr" | "btc" => 0b1000_1000_0100,
        "shl" | "shr" | "sar" | "rol" | "ror" | "rcl" | "rcr" | "shld" | "shrd" => 0b1000_0000_0000,
        "andn" | "bzhi" | "blsr" | "blsi" | "blsmsk" => 0b0000_0000_0100,
        _ => 0,
    }
}

/// Runs `work` both ways; what was not known, by name, and how many instructions were compared.
fn compare(work: fn()) -> (BTreeMap<String, u64>, u64) {
    let child = Child::new(work);
    let mut unknown: BTreeMap<String, u64> = BTreeMap::new();
    let mut compared = 0;
    let fresh = || Machine::new(child.registers(), Of(child.0), ());
    let mut machine = fresh();
    let mut done = 0;
    while done < STEPS {
        done += 1;
        let before = machine.registers.clone();
        let mut code = [0; 15];
        let _ = machine.memory.read(before.ip, &mut code);
        let instruction = iced_x86::Decoder::with_ip(64, &code, before.ip, 0).decode();
        let mnemonic = format!("{:?}", instruction.mnemonic()).to_lowercase();
        // An instruction that repeats is stepped through round by round.
        let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
        let end = machine.run(machine.count + 1);
        if !child.step() {
            return (unknown, compared);
        }
        while repeats && instruction.is_string_instruction() && child.registers().ip == before.ip {
            assert!(child.step());
        }
        let real = child.registers();
        if end != End::Limit {
            if let End::Unknown(name, _) = end {
                *unknown.entry(name).or_default() += 1;
            }
            machine = fresh();
            continue;
        }
        let (mut ours, mut theirs) = (machine.registers.clone(), real.clone());
        let clear = |flags: Flags| Flags::of(flags.bits() & !undefined(&mnemonic));
        (ours.flags, theirs.flags) = (clear(ours.flags), clear(theirs.flags));
        assert_eq!(ours, theirs, "after {mnemonic} at {:#x} ({code:x?}); before: {before:x?}", before.ip);
        machine.registers.flags = real.flags;
        compared += 1;
    }
    (unknown, compared)
}

fn words() {
    let mut table: HashMap<String, usize> = HashMap::new();
    for at in 0..60u64 {
        let word = format!("{:x}-{}-{:.3}", at * 0x9e37_79b9, at % 7, at as f64 / 7.0);
        *table.entry(word.split('-').next_back().unwrap_or_default().to_owned()).or_default() += word.len();
    }
    let mut sorted: Vec<(String, usize)> = table.into_iter().collect();
    sorted.sort();
    let numbers: Vec<f64> = sorted.iter().filter_map(|(word, _)| word.parse().ok()).collect();
    black_box((numbers.iter().sum::<f64>().sqrt(), sorted));
}

fn numbers() {
    let mut seed = 0x1234_5678_9abc_def0u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let values: Vec<u64> = (0..300).map(|_| next()).collect();
    let mut sorted = values.clone();
    sorted.sort_unstable();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let singles: Vec<f32> = values.iter().map(|value| *value as f32 / 3.5).collect();
    let halves: Vec<i16> = values.iter().map(|value| *value as i16).collect();
    let sum: i64 = halves.iter().map(|value| i64::from(*value) * 3).sum();
    let checked: Vec<i128> = values.iter().map(|value| i128::from(*value as i64) * 12_345 / 77).collect();
    let shifted: Vec<u32> =
        values.iter().map(|value| (*value as u32).rotate_left((*value >> 60) as u32)).collect();
    let counted: u32 = values.iter().map(|value| value.count_ones() + value.trailing_zeros()).sum();
    let least = singles.iter().copied().fold(f32::MAX, f32::min);
    let whole: Vec<i32> = singles.iter().map(|value| value.round() as i32).collect();
    black_box((sorted, bytes.iter().map(|byte| u32::from(*byte)).sum::<u32>(), sum, checked));
    black_box((shifted, counted, least, whole, bytes.to_ascii_uppercase(), singles));
}

/// Runs instructions on two registers, with numbers of many kinds.
macro_rules! on_two {
    ($a:expr, $b:expr, $($code:literal),+) => {$({
        let mut a = $a;
        // SAFETY: changes these registers and the flags alone.
        unsafe { asm!(concat!($code, " /* {a} {b} */"), a = inout(reg) a, b = in(reg) $b, in("rcx") $b & 0x7f) };
        black_box(a);
    })+};
}

macro_rules! on_vectors {
    ($a:expr, $b:expr, $($code:literal),+) => {$({
        let mut a = $a;
        // SAFETY: changes this register alone.
        unsafe { asm!(concat!($code, " /* {a} {b} */"), a = inout(xmm_reg) a, b = in(xmm_reg) $b) };
        black_box(a);
    })+};
}

fn rare() {
    const KINDS: [u64; 9] = [0, 1, 5, 0x7f, 0x80, 0x7fff_ffff, 0x8000_0000, u64::MAX, 0x8000_0000_0000_0000];
    for a in KINDS {
        for b in KINDS {
            on_two!(
                a,
                b,
                "cmp {a}, {b}",
                "adc {a}, {b}",
                "sbb {a}, {b}",
                "add {a:e}, {b:e}",
                "sub {a:x}, {b:x}",
                "adc {a:l}, {b:l}",
                "sbb {a:l}, {b:l}",
                "neg {a}",
                "inc {a:e}",
                "dec {a:x}",
                "not {a}",
                "bswap {a}",
                "bswap {a:e}",
                "shl {a}, cl",
                "shr {a:e}, cl",
                "sar {a:x}, cl",
                "sar {a:l}, 3",
                "rol {a}, cl",
                "ror {a:e}, cl",
                "rcl {a}, cl",
                "rcr {a:e}, cl",
                "rcr {a}, 1",
                "rol {a:l}, 3",
                "shld {a}, {b}, cl",
                "shrd {a}, {b}, 5",
                "imul {a}, {b}",
                "imul {a:x}, {b:x}, 77",
                "bt {a}, {b}",
                "bts {a:e}, {b:e}",
                "btr {a}, 7",
                "btc {a}, {b}",
                "bsf {a}, {b}",
                "bsr {a:e}, {b:e}",
                "movsx {a}, {b:l}",
                "movzx {a:e}, {b:x}",
                "movsxd {a}, {b:e}",
                "xadd {a}, {b}",
                "xchg {a}, {b}",
                "cmp {a}, {b}\nsetg {a:l}",
                "cmp {a:e}, {b:e}\ncmovbe {a:e}, {b:e}",
                "test {a:l}, {b:l}\nsetp {a:l}",
                "cmp {a}, {b}\ncmovl {a}, {b}",
                "lea {a}, [{a} + 4 * {b} - 3]",
                "lea {a:e}, [{a:e} + {b:e}]"
            );
            // SAFETY: changes these registers and the flags alone.
            unsafe {
                asm!("mul {b}", b = in(reg) b, inout("rax") a => _, out("rdx") _);
                asm!("imul {b:e}", b = in(reg) b, inout("rax") a => _, out("rdx") _);
                asm!("mul {b}", b = in(reg_byte) b as u8, inout("rax") a => _);
                asm!("cqo", "cdq", "cwd", "cbw", "cwde", "cdqe", inout("rax") a => _, out("rdx") _);
                asm!("xor edx, edx", "div {b}", b = in(reg) b | 1, inout("rax") a => _, out("rdx") _);
                asm!("cdq", "idiv {b:e}", b = in(reg) b | 3, inout("rax") a & 0x7fff_ffff => _, out("rdx") _);
                asm!("cmpxchg {c}, {b}", c = inout(reg) a => _, b = in(reg) b, inout("rax") 5u64 => _);
            }
            let (x, y) = (
                u128::from(a) << 64 | u128::from(b.rotate_left(13)),
                u128::from(b) << 70 | u128::from(a) << 3,
            );
            // SAFETY: all 16 bytes may be any.
            let (x, y): (__m128i, __m128i) =
                unsafe { (std::mem::transmute::<u128, __m128i>(x), std::mem::transmute::<u128, __m128i>(y)) };
            on_vectors!(
                x,
                y,
                "paddb {a}, {b}",
                "psubw {a}, {b}",
                "paddusb {a}, {b}",
                "psubusw {a}, {b}",
                "paddsb {a}, {b}",
                "psubsw {a}, {b}",
                "pmullw {a}, {b}",
                "pmulhw {a}, {b}",
                "pmulhuw {a}, {b}",
                "pmuludq {a}, {b}",
                "pmaddwd {a}, {b}",
                "psadbw {a}, {b}",
                "pavgb {a}, {b}",
                "pminub {a}, {b}",
                "pmaxsw {a}, {b}",
                "pcmpeqb {a}, {b}",
                "pcmpgtd {a}, {b}",
                "punpcklbw {a}, {b}",
                "punpckhwd {a}, {b}",
                "punpcklqdq {a}, {b}",
                "packuswb {a}, {b}",
                "packssdw {a}, {b}",
                "pandn {a}, {b}",
                "psllw {a}, 3",
                "psrlq {a}, 9",
                "psrad {a}, {b}",
                "psraw {a}, 4",
                "pslldq {a}, 5",
                "psrldq {a}, 7",
                "pshufd {a}, {b}, 0x1b",
                "pshuflw {a}, {b}, 0x4e",
                "pshufhw {a}, {b}, 0xb1",
                "shufps {a}, {b}, 0x9c",
                "shufpd {a}, {b}, 1",
                "movhlps {a}, {b}",
                "movlhps {a}, {b}",
                "movss {a}, {b}",
                "movsd {a}, {b}",
                "unpcklps {a}, {b}",
                "movq {a}, {b}",
                "addss {a}, {b}",
                "mulsd {a}, {b}",
                "subps {a}, {b}",
                "minsd {a}, {b}",
                "maxss {a}, {b}",
                "cmpltsd {a}, {b}",
                "cmpneqps {a}, {b}",
                "cvtdq2ps {a}, {b}",
                "cvtdq2pd {a}, {b}",
                "cvttps2dq {a}, {b}",
                "sqrtss {a}, {b}",
                "cvtss2sd {a}, {b}",
                "ucomisd {a}, {b}",
                "comiss {a}, {b}"
            );
        }
    }
    newer();
    let mut text = *b"what is copied, filled and searched";
    let mut to = [0u8; 35];
    // SAFETY: both have 35 bytes.
    unsafe {
        asm!("rep movsb", inout("rcx") 35u64 => _, inout("rsi") text.as_ptr() => _, inout("rdi") to.as_mut_ptr() => _);
        asm!("repe cmpsb", inout("rcx") 35u64 => _, inout("rsi") text.as_ptr() => _, inout("rdi") to.as_ptr() => _);
        asm!("repne scasb", inout("rcx") 35u64 => _, inout("rdi") to.as_ptr() => _, in("al") b',');
        asm!("rep stosw", inout("rcx") 9u64 => _, inout("rdi") text.as_mut_ptr() => _, in("ax") 0x4142u16);
    }
    black_box((text, to));
}

/// Runs instructions on two numbers at the top of the stack of fractions, the first on top, and leaves one there.
macro_rules! on_fractions {
    ($a:expr, $b:expr, $($code:literal),+) => {$({
        let mut to = [0u8; 10];
        // SAFETY: reads and writes only what it is given, and leaves the stack empty.
        unsafe {
            asm!(
                "fld qword ptr [{b}]", "fld qword ptr [{a}]", $code, "fstp tbyte ptr [{to}]", "fstp st(0)",
                a = in(reg) &raw const $a, b = in(reg) &raw const $b, to = in(reg) to.as_mut_ptr(), out("rax") _,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
            );
        }
        black_box(to);
    })+};
}

fn fractions() {
    const KINDS: [f64; 10] =
        [0.0, -0.0, 1.0, -1.5, 2.5, 1e300, 1e-310, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for a in KINDS {
        for b in KINDS {
            on_fractions!(
                a,
                b,
                "fadd st, st(1)",
                "fsub st, st(1)",
                "fsubr st, st(1)",
                "fmul st, st(1)",
                "fdiv st, st(1)",
                "fdivr st, st(1)",
                "fsub st(1), st",
                "fdivr st(1), st",
                "fld st(1)\nfaddp st(1), st",
                "fld st(1)\nfsubp st(1), st",
                "fld st(1)\nfsubrp st(1), st",
                "fld st(1)\nfmulp st(2), st",
                "fld st(1)\nfdivp st(1), st",
                "fld st(1)\nfdivrp st(2), st",
                "fxch",
                "fchs",
                "fabs",
                "fsqrt",
                "frndint",
                "fst st(1)",
                "fcomi st, st(1)\nfcmovb st, st(1)",
                "fucomi st, st(1)\nfcmovnbe st, st(1)",
                "fucomi st, st(1)\nfcmovu st, st(1)",
                "fld st(1)\nfucomip st, st(1)\nfcmovne st, st(1)",
                "fld1\nfcomip st, st(1)\nsetb al\nfcmove st, st(1)",
                "fldz\nfaddp st(1), st",
                "fldpi\nfmulp st(1), st",
                "fldl2e\nfaddp st(1), st",
                "fldln2\nfaddp st(1), st",
                "push rax\nfist dword ptr [rsp]\nfiadd dword ptr [rsp]\npop rax",
                "push rax\nfst dword ptr [rsp]\nfmul dword ptr [rsp]\npop rax",
                "push rax\nfst qword ptr [rsp]\nfsubr qword ptr [rsp]\npop rax",
                "push rax\nfld st(0)\nfistp qword ptr [rsp]\nfild qword ptr [rsp]\nfaddp st(1), st\npop rax",
                "push rax\nfld st(0)\nfisttp word ptr [rsp]\nfidiv word ptr [rsp]\npop rax",
                "push rax\nfnstcw word ptr [rsp]\nor word ptr [rsp], 0xc00\nfldcw word ptr [rsp]\nfrndint\nand word ptr [rsp], 0x3ff\nfldcw word ptr [rsp]\npop rax"
            );
        }
    }
}

/// Instructions that not every processor has.
fn newer() {
    let (x, y) =
        (0x0123_4567_89ab_cdef_8877_6655_4433_2211_u128, 0xfedc_ba98_7654_3210_80ff_00f0_0f7f_1234_u128);
    // SAFETY: all 16 bytes may be any.
    let (x, y): (__m128i, __m128i) =
        unsafe { (std::mem::transmute::<u128, __m128i>(x), std::mem::transmute::<u128, __m128i>(y)) };
    if is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("popcnt") {
        on_vectors!(
            x,
            y,
            "pshufb {a}, {b}",
            "palignr {a}, {b}, 5",
            "pabsb {a}, {b}",
            "pabsw {a}, {b}",
            "pabsd {a}, {b}",
            "psignb {a}, {b}",
            "psignw {a}, {b}",
            "psignd {a}, {b}",
            "pblendvb {a}, {b}, xmm0",
            "blendvps {a}, {b}, xmm0",
            "pmulld {a}, {b}",
            "pmuldq {a}, {b}",
            "pminsb {a}, {b}",
            "pmaxud {a}, {b}",
            "packusdw {a}, {b}",
            "pcmpeqq {a}, {b}",
            "pcmpgtq {a}, {b}",
            "pmovzxbw {a}, {b}",
            "pmovsxdq {a}, {b}",
            "pblendw {a}, {b}, 0x5a",
            "ptest {a}, {b}",
            "roundsd {a}, {b}, 1"
        );
        on_two!(
            0x1234_5678_9abc_def0_u64,
            0xff00_ff00_1234_5678_u64,
            "popcnt {a}, {b}",
            "crc32 {a}, {b}",
            "crc32 {a:e}, {b:l}"
        );
    }
    if is_x86_feature_detected!("aes") && is_x86_feature_detected!("pclmulqdq") {
        on_vectors!(
            x,
            y,
            "aesenc {a}, {b}",
            "aesenclast {a}, {b}",
            "pclmulqdq {a}, {b}, 0x10",
            "pclmulqdq {a}, {b}, 1"
        );
    }
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        on_vectors!(
            x,
            y,
            "vpaddb {a}, {a}, {b}",
            "vpabsd {a:y}, {b:y}",
            "vpsignw {a}, {b}, {a}",
            "vpblendvb {a:y}, {a:y}, {b:y}, {b:y}",
            "vblendvpd {a}, {a}, {b}, {b}",
            "vpxor {a:y}, {a:y}, {b:y}",
            "vpcmpeqb {a:y}, {a:y}, {b:y}",
            "vpshufd {a:y}, {b:y}, 0x1b",
            "vinserti128 {a:y}, {a:y}, {b}, 1",
            "vpbroadcastb {a:y}, {b}",
            "vpmovzxbw {a:y}, {b}",
            "vpunpcklbw {a:y}, {a:y}, {b:y}",
            "vpsrlw {a:y}, {a:y}, 4",
            "vfmadd213sd {a}, {a}, {b}",
            "vfnmadd231sd {a}, {b}, {b}",
            "vmovaps {a}, {b}",
            "vaddsd {a}, {b}, {b}",
            "vcvtsi2sd {a}, {b}, rsp",
            "vextracti128 {a}, {b:y}, 1",
            "vzeroupper"
        );
    }
    if is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
    {
        on_two!(
            0x1234_5678_9abc_def0_u64,
            0x0000_ff00_1234_5600_u64,
            "tzcnt {a}, {b}",
            "lzcnt {a:e}, {b:e}",
            "andn {a}, {a}, {b}",
            "bzhi {a}, {b}, {a}",
            "blsr {a}, {b}",
            "blsi {a}, {b}",
            "blsmsk {a}, {b}",
            "shlx {a}, {b}, {a}",
            "sarx {a:e}, {b:e}, {a:e}",
            "rorx {a}, {b}, 7",
            "mulx {a}, {a}, {b}"
        );
    }
}

#[test]
fn words_and_numbers_come_out_as_from_the_processor() {
    for (work, what) in
        [(words as fn(), "words"), (numbers, "numbers"), (rare, "rare"), (fractions, "fractions")]
    {
        let (unknown, compared) = compare(work);
        let missed: u64 = unknown.values().sum();
        assert!(compared > 20_000, "{what}: {compared} compared");
        // The C library copies with the widest vectors there are.
        assert!(missed * 10 < compared, "{what}: {missed} of {compared} not known: {unknown:?}");
    }
}
