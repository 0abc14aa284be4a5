//! Project Wycheproof's vectors for AES-GCM: tags and nonces made to hit special cases, with what must be refused.

mod common;

use common::implementations;
use slowpath_aead::{Error, Implementation, Key};
use wycheproof::TestResult;
use wycheproof::aead::{TestName, TestSet};

fn key(on: Implementation, bytes: &[u8]) -> Option<Key> {
    match bytes.len() {
        16 => Key::with_implementation::<[u8; 16]>(on, bytes.first_chunk()?, None),
        32 => Key::with_implementation::<[u8; 32]>(on, bytes.first_chunk()?, None),
        _ => None,
    }
}

#[test]
fn wycheproof_vectors() {
    let set = TestSet::load(TestName::AesGcm).expect("the crate has them");
    for on in implementations() {
        let (mut valid, mut refused) = (0, 0);
        for group in &set.test_groups {
            // AES-192 and nonces of other lengths are not in the interface; neither are short tags.
            if group.nonce_size != 96 || group.tag_size != 128 {
                continue;
            }
            for test in &group.tests {
                let Some(key) = key(on, &test.key) else { continue };
                let nonce = test.nonce.first_chunk().expect("96 bits");
                let tag = test.tag.first_chunk().expect("128 bits");
                let mut opened = test.ct.to_vec();
                let answer = key.open(nonce, &test.aad, &mut opened, tag);
                if test.result == TestResult::Invalid {
                    assert_eq!(answer, Err(Error::Unauthentic), "{on:?}, test {}", test.tc_id);
                    assert!(opened.iter().all(|byte| *byte == 0), "{on:?}, test {}", test.tc_id);
                    refused += 1;
                    continue;
                }
                assert_eq!(answer, Ok(()), "{on:?}, test {}", test.tc_id);
                assert_eq!(opened, *test.pt, "{on:?}, test {}", test.tc_id);
                let mut sealed = test.pt.to_vec();
                let made = key.seal(nonce, &test.aad, &mut sealed).expect("within limits");
                assert_eq!((sealed.as_slice(), &made), (&test.ct[..], tag), "{on:?}, test {}", test.tc_id);
                valid += 1;
            }
        }
        println!("{on:?}: {valid} sealed and opened, {refused} refused");
        assert!(valid >= 79 && refused >= 54, "the set has as many: {valid}, {refused}");
    }
}
