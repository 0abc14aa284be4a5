//! No way that the code takes and no address that it touches depends on key, text or tag: runs each kernel that this
//! machine has, one instruction at a time, with different secrets, and compares (`common/trace.rs`). Always the same result, and
//! of the instructions that a machine really has; but only of the secrets tried.
//!
//! Skipped for programs that are not optimized, whose code is another.

#![cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
#![allow(clippy::print_stdout)] // what was watched is said

mod common;
#[path = "common/trace.rs"]
mod trace;

use common::{bytes, kernels};
use slowpath_aead::{Error, Implementation, Key, KeyBytes, Mask, Packet, Tag};
use std::hint::black_box;
use trace::{Same, same_for_all};

/// With an empty text, ends of blocks and of groups, and more than the powers of the hash key go at once.
const LENGTHS: [usize; 9] = [0, 1, 16, 17, 64, 113, 256, 500, 2049];

/// Packets of a batch in which all are alike: eight, four and one.
const ALIKE: usize = 13;

/// Secrets a function is run with: zeros, ones, and bytes from seeds.
const SECRETS: usize = 4;

/// All that the functions watched are given and give back, at one place for all secrets.
struct State<K> {
    secrets: [K; 2],
    key: Option<Key>,
    nonce: [u8; 12],
    aad: Vec<u8>,
    text: Vec<u8>,
    tag: Tag,
    mask: Mask,
    done: Result<(), Error>,
}

fn secret(number: usize, length: usize) -> Vec<u8> {
    match number {
        0 => vec![0; length],
        1 => vec![0xff; length],
        _ => bytes((number * 10_000 + length) as u64, length),
    }
}

impl<K: KeyBytes + Clone + for<'a> TryFrom<&'a [u8]>> State<K> {
    fn new(key_length: usize, aad: usize) -> Box<Self> {
        let mut state = Box::new(Self {
            secrets: keys(0, key_length),
            key: None,
            nonce: [7; 12],
            aad: bytes(1, aad),
            text: Vec::with_capacity(4096),
            tag: [0; 16],
            mask: [0; 16],
            done: Ok(()),
        });
        state.text.clear();
        state
    }

    /// Another key and another text.
    fn choose(&mut self, on: Implementation, number: usize, key_length: usize, length: usize) {
        self.secrets = keys(number, key_length);
        self.set_up(on);
        self.text.clear();
        self.text.extend(secret(number, length));
    }

    fn set_up(&mut self, on: Implementation) {
        self.key = None;
        self.key = Key::with_implementation(on, &self.secrets[0], Some(&self.secrets[1]));
    }

    fn seal(&mut self) {
        let key = self.key.as_ref().expect("set up");
        let at = self.text.len() / 2;
        match key.seal_with_mask(&self.nonce, &self.aad, &mut self.text, at) {
            Ok((tag, mask)) => (self.tag, self.mask) = (tag, mask),
            Err(error) => self.done = Err(error),
        }
    }

    fn open(&mut self) {
        let key = self.key.as_ref().expect("set up");
        self.done = key.open(&self.nonce, &self.aad, &mut self.text, &self.tag);
    }

    fn seal_batch(&mut self) {
        let key = self.key.as_ref().expect("set up");
        let (one, rest) = self.text.split_at_mut(20);
        let (two, three) = rest.split_at_mut(1500);
        self.done = key.seal_batch(&mut [
            Packet::new(self.nonce, &self.aad, one).with_mask(2),
            Packet::new([8; 12], &self.aad, two),
            Packet::new([9; 12], &self.aad, three).with_mask(2),
        ]);
    }

    /// In packets of one length, as many as there are bytes for.
    fn seal_alike(&mut self, length: usize) {
        let key = self.key.as_ref().expect("set up");
        let mut texts = self.text.chunks_exact_mut(length);
        let mut packets: [Packet<'_>; ALIKE] = std::array::from_fn(|at| {
            let text = texts.next().expect("bytes for all");
            Packet::new([at as u8; 12], &self.aad, text).with_mask(length / 3)
        });
        self.done = key.seal_batch(&mut packets);
    }
}

fn keys<K: for<'a> TryFrom<&'a [u8]>>(number: usize, length: usize) -> [K; 2] {
    let both = secret(number, 2 * length);
    let key = |bytes| K::try_from(bytes).ok().expect("as long as a key");
    [key(&both[..length]), key(&both[length..])]
}

/// Everything with keys of one length, on one implementation.
fn check<K: KeyBytes + Clone + for<'a> TryFrom<&'a [u8]>>(on: Implementation, key_length: usize) {
    let wide = matches!(on, Implementation::Vaes | Implementation::VaesAvx512);
    let expect = |what: &str, length: usize, found: Result<Same, String>| {
        let same = found.unwrap_or_else(|why| panic!("{on:?}, {what} {length}: {why}"));
        println!(
            "{on:?}, keys of {key_length}, {what} {length}: {} steps, {} of wide AES",
            same.steps, same.wide_aes
        );
        if length >= 64 {
            assert_eq!(wide, same.wide_aes > 0, "the code of this implementation was watched");
        }
        same
    };

    let mut state = State::<K>::new(key_length, 13);
    let prepare = |state: &mut State<K>, number: usize| {
        state.key = None;
        state.secrets = keys(number, key_length);
    };
    let run = |state: &mut State<K>| state.set_up(on);
    expect("key", 0, same_for_all(SECRETS, &mut *state, prepare, run));

    for (index, length) in LENGTHS.into_iter().enumerate() {
        let mut state = State::<K>::new(key_length, index * 5);
        let prepare = |state: &mut State<K>, number| state.choose(on, number, key_length, length);
        expect("seal", length, same_for_all(SECRETS, &mut *state, prepare, State::seal));
        let prepare_sealed = |state: &mut State<K>, number| {
            prepare(state, number);
            state.seal();
        };
        expect("open", length, same_for_all(SECRETS, &mut *state, prepare_sealed, State::open));
        assert_eq!(state.done, Ok(()), "the right tag");
        // Wherever the tag is wrong.
        let prepare_changed = |state: &mut State<K>, number| {
            prepare_sealed(state, number);
            state.tag[number * 5] ^= 1 << number;
        };
        expect("refuse", length, same_for_all(SECRETS, &mut *state, prepare_changed, State::open));
        assert_eq!(state.done, Err(Error::Unauthentic), "the wrong tag");
    }

    let mut state = State::<K>::new(key_length, 13);
    let prepare = |state: &mut State<K>, number| state.choose(on, number, key_length, 3100);
    expect("batch", 3100, same_for_all(SECRETS, &mut *state, prepare, State::seal_batch));
    assert_eq!(state.done, Ok(()), "within limits");

    for length in [20, 64, 100, 200, 256, 300] {
        let prepare = |state: &mut State<K>, number| state.choose(on, number, key_length, ALIKE * length);
        let run = |state: &mut State<K>| state.seal_alike(length);
        let alike = expect("alike", length, same_for_all(SECRETS, &mut *state, prepare, run));
        assert_eq!(state.done, Ok(()), "within limits");
        if on == Implementation::VaesAvx512 && length <= 256 {
            let alone = ALIKE * length.div_ceil(64) * (key_length / 4 + 6);
            assert!(
                alike.wide_aes > alone,
                "side by side, tags and masks are done in wide registers as well"
            );
        }
    }

    let prepare = |state: &mut State<K>, number| {
        state.choose(on, number, key_length, 0);
        state.mask = *secret(number, 16).first_chunk().expect("16 bytes");
    };
    let run = |state: &mut State<K>| {
        state.mask = state.key.as_ref().expect("set up").header_mask(&state.mask).expect("has the key");
    };
    expect("mask", 0, same_for_all(SECRETS, &mut *state, prepare, run));
}

#[test]
fn steps_do_not_depend_on_secrets() {
    if cfg!(debug_assertions) {
        println!("skipped: this program is not optimized");
        return;
    }
    for on in kernels() {
        check::<[u8; 16]>(on, 16);
        check::<[u8; 32]>(on, 32);
    }
}

/// A function of 16 bytes that are secret.
fn watch(run: impl Fn(&[u8; 16]) -> u64) -> Result<Same, String> {
    let mut state = ([0; 16], 0);
    let prepare =
        |state: &mut ([u8; 16], u64), number| state.0 = *secret(number, 16).first_chunk().expect("16 bytes");
    same_for_all(SECRETS, &mut state, prepare, |state| state.1 = run(black_box(&state.0)))
}

#[inline(never)]
fn other_way(value: u64) -> u64 {
    black_box(value + 1)
}

#[test]
fn what_leaks_is_seen() {
    let found = |what: Result<Same, String>| what.expect_err("leaks");

    let branch = found(watch(|secret| if secret[3] & 1 == 1 { other_way(3) } else { 5 }));
    assert!(branch.contains("another way"), "{branch}");

    let compare =
        found(watch(|secret| secret.iter().take_while(|&&byte| byte == black_box(0)).count() as u64));
    assert!(compare.contains("another way"), "{compare}");

    let table: Vec<u64> = (0..256).collect();
    let lookup = found(watch(|secret| table[usize::from(secret[5])]));
    assert!(lookup.contains("another address or divisor"), "{lookup}");

    let divide = found(watch(|secret| black_box(1 << 60) / (u64::from(secret[7]) + 1)));
    assert!(divide.contains("another address or divisor"), "{divide}");

    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature.
        let gather = found(watch(|secret| unsafe { gathered(&table, secret) }));
        assert!(gather.contains("an address that is not seen"), "{gather}");
    }
}

/// Four elements of a table of 256, chosen by the secret.
#[target_feature(enable = "avx2")]
fn gathered(table: &[u64], secret: &[u8; 16]) -> u64 {
    use std::arch::x86_64::{_mm_set_epi32, _mm256_extract_epi64, _mm256_i32gather_epi64};
    let [one, two, three, four] = *secret.first_chunk().expect("of 16");
    let places = _mm_set_epi32(one.into(), two.into(), three.into(), four.into());
    assert_eq!(table.len(), 256);
    // SAFETY: places are bytes, and the table has an element for each.
    let found = unsafe { _mm256_i32gather_epi64::<8>(table.as_ptr().cast(), places) };
    _mm256_extract_epi64::<0>(found).cast_unsigned()
}

#[test]
fn what_does_not_leak_passes() {
    let sum = watch(|secret| secret.iter().fold(0, |sum, &byte| sum ^ u64::from(byte).rotate_left(7)));
    let same = sum.expect("arithmetic alone");
    assert!(same.steps > 10, "{same:?}");
}
