//! The same bytes as aws-lc, for every length of 0 to 4200, samples up to 1 MiB, and associated data of 0 to 64 bytes and more.
//!
//! Here and not in `crates/aead`, whose own tests compare with the crate aes-gcm, because aws-lc takes minutes to build.
//! `cargo test --release`.

use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use slowpath_aead::{Implementation, Key, Packet};

fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    std::iter::repeat_with(|| random.u8(..)).take(count).collect()
}

/// Ours and aws-lc's, of 16 and of 32 bytes, on every implementation of this machine.
fn pairs() -> Vec<(Key, LessSafeKey)> {
    let mut pairs = Vec::new();
    for on in Implementation::ALL {
        let key = bytes(1, 32);
        let short: &[u8; 16] = key.first_chunk().expect("16 bytes");
        let long: &[u8; 32] = key.first_chunk().expect("32 bytes");
        let theirs = |algorithm, key: &[u8]| {
            LessSafeKey::new(UnboundKey::new(algorithm, key).expect("the right length"))
        };
        if let Some(ours) = Key::with_implementation(on, short, None) {
            pairs.push((ours, theirs(&AES_128_GCM, short)));
        }
        if let Some(ours) = Key::with_implementation(on, long, None) {
            pairs.push((ours, theirs(&AES_256_GCM, long)));
        }
    }
    pairs
}

fn check(ours: &Key, theirs: &LessSafeKey, aad: &[u8], text: &[u8]) {
    let what = format!("{} bytes, associated data {}", text.len(), aad.len());
    let nonce: [u8; 12] = bytes(text.len() as u64, 12).try_into().expect("12 bytes");
    let mut expected = text.to_vec();
    let sealed =
        theirs.seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(aad), &mut expected);
    let expected_tag = sealed.expect("within limits");
    let (mut alone, mut in_batch, mut before) = (text.to_vec(), text.to_vec(), [0; 33]);
    let tag = ours.seal(&nonce, aad, &mut alone).expect("within limits");
    assert!(alone == expected && tag == expected_tag.as_ref(), "{what}");
    let mut packets = [Packet::new([0; 12], aad, &mut before), Packet::new(nonce, aad, &mut in_batch)];
    ours.seal_batch(&mut packets).expect("within limits");
    assert!(packets[1].tag == tag && *packets[1].text == *expected, "{what}, in a batch");
    ours.open(&nonce, aad, &mut alone, &tag).expect("authentic");
    assert!(alone == text, "{what}, opened");
}

#[test]
fn every_length() {
    let text = bytes(2, 1 << 20);
    for (ours, theirs) in pairs() {
        for length in 0..=4200 {
            check(&ours, &theirs, &bytes(3, length % 65), &text[..length]);
        }
        for length in (4201..16_500).step_by(61).chain([65_535, 65_536, 99_999, text.len() - 1, text.len()]) {
            check(&ours, &theirs, &bytes(4, 13), &text[..length]);
        }
        for length in (0..=64).chain([100, 2047, 2048, 2049, 100_000]) {
            check(&ours, &theirs, &bytes(5, length), &text[..77]);
        }
    }
}
