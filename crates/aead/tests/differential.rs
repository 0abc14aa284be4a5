//! The kernels give what the crate `aes-gcm` gives, for every length that a packet has and samples beyond, in place, at any
//! alignment; and open what it sealed.

mod common;

use common::{array, bytes, kernels, key};
use slowpath_aead::{Error, Implementation, Key, KeyBytes, Packet};

/// A kernel's key and the portable one.
fn pair<K: KeyBytes>(on: Implementation, bytes: &K, header_bytes: &K) -> (Key, Key) {
    (key(on, bytes, Some(header_bytes)), key(Implementation::Portable, bytes, Some(header_bytes)))
}

/// Of 16 and of 32 bytes, on every kernel.
fn pairs() -> Vec<(Key, Key)> {
    let both = |on| {
        let short = pair::<[u8; 16]>(on, &array(1), &array(2));
        [short, pair::<[u8; 32]>(on, &array(3), &array(4))]
    };
    kernels().into_iter().flat_map(both).collect()
}

/// Seals `text` with both, at an odd alignment; compares; opens; opens after a change.
fn check(ours: &Key, theirs: &Key, nonce: [u8; 12], aad: &[u8], text: &[u8], sample_at: Option<usize>) {
    let what = format!("{} bytes, associated data {}, sample {sample_at:?}", text.len(), aad.len());
    let seal = |key: &Key, text: &mut [u8]| match sample_at {
        Some(at) => key.seal_with_mask(&nonce, aad, text, at).expect("within limits"),
        None => (key.seal(&nonce, aad, text).expect("within limits"), [0; 16]),
    };
    let mut expected = text.to_vec();
    let (expected_tag, expected_mask) = seal(theirs, &mut expected);

    let shift = text.len() % 17;
    let mut buffer = vec![0xa5; shift];
    buffer.extend_from_slice(text);
    let (tag, mask) = seal(ours, &mut buffer[shift..]);
    assert!(buffer[shift..] == expected, "ciphertext of {what}");
    assert_eq!(tag, expected_tag, "tag of {what}");
    assert_eq!(mask, expected_mask, "mask of {what}");

    ours.open(&nonce, aad, &mut buffer[shift..], &tag).unwrap_or_else(|error| panic!("{error}: {what}"));
    assert!(&buffer[shift..] == text, "text of {what}");

    let mut wrong = tag;
    wrong[text.len() % 16] ^= 1 << (text.len() % 8);
    assert_eq!(ours.open(&nonce, aad, &mut expected, &wrong), Err(Error::Unauthentic), "{what}");
    assert!(expected.iter().all(|byte| *byte == 0), "nothing unauthenticated is left of {what}");
}

/// An interpreter is slow: it sees a sample of all cases.
const fn one_in(cases: usize) -> usize {
    if cfg!(miri) { cases } else { 1 }
}

#[test]
fn every_length_of_packets() {
    let text = bytes(5, 4200);
    for (ours, theirs) in pairs() {
        for length in (0..=text.len()).step_by(one_in(29)) {
            let aad = bytes(length as u64, length % 65);
            let sample = (length % 3 == 0).then_some(length % 5).filter(|at| *at <= length);
            check(&ours, &theirs, array(length as u64), &aad, &text[..length], sample);
        }
    }
}

#[test]
fn every_length_of_associated_data() {
    let text = bytes(6, 300);
    for (ours, theirs) in pairs() {
        for length in (0..=200).chain([255, 256, 1000, 2031, 2032, 2033, 2047, 2048, 2049, 5000, 70_001]) {
            if cfg!(miri) && (length > 200 || length % 37 > 1) {
                continue;
            }
            for text in [&text[..0], &text[..1], &text[..16], &text[..100], &text] {
                check(&ours, &theirs, array(7), &bytes(8, length), text, None);
            }
        }
    }
}

#[test]
fn long_texts_around_every_kind_of_boundary() {
    if cfg!(miri) {
        return;
    }
    let text = bytes(9, (1 << 20) + 64);
    let mut lengths = vec![1 << 16, 100_000, 1 << 20, (1 << 20) + 1, text.len()];
    // Boundaries of 256 blocks, where the counter's last byte wraps, and of 128, where the powers of the hash key end.
    for boundary in [2048, 4096, 8192, 12_288, 16_384, 65_536] {
        lengths.extend((boundary - 300..boundary + 300).step_by(13));
    }
    for (ours, theirs) in pairs() {
        for length in &lengths {
            check(&ours, &theirs, array(10), &bytes(11, 13), &text[..*length], Some(length / 2));
        }
    }
}

#[test]
fn samples_anywhere_in_text_and_tag() {
    for (ours, theirs) in pairs() {
        for length in [0, 3, 16, 20, 111, 112, 113, 300] {
            for at in (0..=length).step_by(one_in(23)) {
                check(&ours, &theirs, array(12), b"header", &bytes(13, length), Some(at));
            }
        }
    }
}

/// A packet of a batch to be checked.
#[derive(Clone)]
struct Case {
    length: usize,
    aad: usize,
    sample_at: Option<usize>,
}

/// Seals all in one batch and each with the other, and compares.
fn check_batch(ours: &Key, theirs: &Key, cases: &[Case], what: &str) {
    let texts: Vec<Vec<u8>> = cases.iter().zip(0..).map(|(case, at)| bytes(at, case.length)).collect();
    let aads: Vec<Vec<u8>> = cases.iter().zip(100..).map(|(case, at)| bytes(at, case.aad)).collect();
    let mut sealed = texts.clone();
    let mut packets: Vec<Packet<'_>> = sealed
        .iter_mut()
        .zip(&aads)
        .zip(cases)
        .enumerate()
        .map(|(at, ((text, aad), case))| {
            let packet = Packet::new(array(at as u64), aad, text);
            Packet { sample_at: case.sample_at, ..packet }
        })
        .collect();
    ours.seal_batch(&mut packets).expect("within limits");
    for (at, (packet, text)) in packets.iter().zip(&texts).enumerate() {
        let mut expected = text.clone();
        let nonce = array(at as u64);
        let (tag, mask) = match packet.sample_at {
            Some(sample_at) => theirs.seal_with_mask(&nonce, packet.aad, &mut expected, sample_at),
            None => theirs.seal(&nonce, packet.aad, &mut expected).map(|tag| (tag, [0; 16])),
        }
        .expect("within limits");
        let what = format!("packet {at} of {}, {what}, {} bytes", texts.len(), text.len());
        assert!(*packet.text == *expected, "ciphertext of {what}");
        assert_eq!(packet.tag, tag, "tag of {what}");
        assert_eq!(packet.mask, mask, "mask of {what}");
    }
}

#[test]
fn batches_of_mixed_sizes() {
    let mut random = fastrand::Rng::with_seed(14);
    for (ours, theirs) in pairs() {
        for round in (0..400).step_by(one_in(133)) {
            let (equal, aad) = (random.usize(..2000), random.usize(..40));
            let cases: Vec<Case> = (0..random.usize(..12))
                .map(|at| {
                    let length = match round % 4 {
                        0 => equal,
                        1 => random.usize(..160),
                        2 => random.usize(..3000),
                        _ => random.usize(..9000),
                    };
                    let sample_at = random.bool().then_some(length.min(at % 4));
                    Case { length, aad, sample_at }
                })
                .collect();
            check_batch(&ours, &theirs, &cases, &format!("round {round}"));
        }
    }
}

/// Those that may go side by side: four to nine alike.
#[test]
fn batches_of_equal_sizes() {
    let mut random = fastrand::Rng::with_seed(18);
    for (ours, theirs) in pairs() {
        let mut check = |length: usize, aad: usize| {
            let sample_at = match random.usize(..4) {
                0 => None,
                1 => Some(random.usize(..=length)),
                _ => Some(length.min(2)),
            };
            let cases = vec![Case { length, aad, sample_at }; random.usize(4..=9)];
            check_batch(&ours, &theirs, &cases, &format!("sample {sample_at:?}, associated data {aad}"));
        };
        for length in (0..=600).step_by(one_in(67)) {
            check(length, length * 7 % 66);
            check(length, 13);
        }
        for aad in (0..=66).step_by(one_in(11)) {
            for length in [1, 16, 63, 64, 65, 128, 200, 256, 257] {
                check(length, aad);
            }
        }
    }
}

/// Four and more alike between others, and some that are alike but in one thing.
#[test]
fn batches_of_equal_sizes_between_others() {
    let mut random = fastrand::Rng::with_seed(19);
    for (ours, theirs) in pairs() {
        for round in (0..300).step_by(one_in(100)) {
            let mut cases = Vec::new();
            for _ in 0..random.usize(1..4) {
                let (length, aad) = (random.usize(..300), random.usize(..20));
                let case = Case { length, aad, sample_at: Some(length.min(2)) };
                cases.extend(vec![case; random.usize(1..10)]);
            }
            let odd = random.usize(..cases.len());
            let odd = &mut cases[odd];
            match round % 4 {
                0 => odd.length += 1,
                1 => odd.aad += 1,
                2 => odd.sample_at = None,
                _ => {}
            }
            check_batch(&ours, &theirs, &cases, &format!("round {round}"));
        }
    }
}

#[test]
fn what_was_changed_anywhere_is_refused() {
    for (ours, _) in pairs() {
        for length in [1, 15, 16, 17, 64, 200] {
            let (nonce, aad, text) = (array(15), bytes(16, 20), bytes(17, length));
            let mut sealed = text.clone();
            let tag = ours.seal(&nonce, &aad, &mut sealed).expect("within limits");
            let refused = |nonce, aad: &[u8], sealed: &[u8], tag| {
                ours.open(&nonce, aad, &mut sealed.to_vec(), &tag) == Err(Error::Unauthentic)
            };
            for bit in (0..length * 8).step_by(one_in(41)) {
                let mut changed = sealed.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(refused(nonce, &aad, &changed, tag), "bit {bit} of {length} bytes");
            }
            for bit in (0..128).step_by(one_in(41)) {
                let mut changed = tag;
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(refused(nonce, &aad, &sealed, changed), "bit {bit} of the tag");
            }
            for bit in (0..160).step_by(one_in(41)) {
                let mut changed = aad.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(refused(nonce, &changed, &sealed, tag), "bit {bit} of the associated data");
            }
            for bit in (0..96).step_by(one_in(41)) {
                let mut changed: [u8; 12] = nonce;
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(refused(changed, &aad, &sealed, tag), "bit {bit} of the nonce");
            }
            assert!(refused(nonce, &aad, &sealed[..length - 1], tag), "a byte less");
        }
    }
}
