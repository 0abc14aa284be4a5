//! NIST's CAVP files for AES-GCM, 128 and 256 bits, if the environment variable `CAVP_GCM` names a folder with them.
//!
//! They are 11 MB, so they are not kept here: `test-cavp` fetches them and runs this.

mod common;

use common::implementations;
use slowpath_aead::{Error, Key};
use std::collections::HashMap;
use std::path::Path;

fn hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hex"))
        .collect()
}

/// The tests of a file, as the values of their names; the lengths that a section states are in each.
fn read(path: &Path) -> Vec<HashMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut section = HashMap::new();
    let mut tests: Vec<HashMap<String, String>> = Vec::new();
    for line in text.lines() {
        let entry = line.trim_start_matches('[').trim_end_matches(']');
        let (name, value) =
            entry.split_once('=').map_or((entry.trim(), ""), |(name, value)| (name.trim(), value.trim()));
        if line.starts_with('[') {
            section.insert(name.to_string(), value.to_string());
        } else if name == "Count" {
            tests.push(section.clone());
        } else if let (Some(test), false) = (tests.last_mut(), name.is_empty()) {
            test.insert(name.to_string(), value.to_string());
        }
    }
    tests
}

#[test]
fn nist_cavp() {
    let Some(folder) = std::env::var_os("CAVP_GCM") else {
        println!("skipped: CAVP_GCM names no folder with NIST's files (run crates/aead/test-cavp)");
        return;
    };
    for on in implementations() {
        for (file, bits, seals) in [
            ("gcmEncryptExtIV128.rsp", 128, true),
            ("gcmEncryptExtIV256.rsp", 256, true),
            ("gcmDecrypt128.rsp", 128, false),
            ("gcmDecrypt256.rsp", 256, false),
        ] {
            let (mut done, mut refused) = (0, 0);
            for test in read(&Path::new(&folder).join(file)) {
                // Nonces of other lengths and short tags are not in the interface.
                if test["IVlen"] != "96" || test["Taglen"] != "128" {
                    continue;
                }
                let [key, nonce, aad, cipher, tag] =
                    ["Key", "IV", "AAD", "CT", "Tag"].map(|name| hex(&test[name]));
                let key = match bits {
                    128 => Key::with_implementation::<[u8; 16]>(on, key.first_chunk().expect("16"), None),
                    _ => Key::with_implementation::<[u8; 32]>(on, key.first_chunk().expect("32"), None),
                }
                .expect("available");
                let (nonce, tag) =
                    (nonce.first_chunk().expect("96 bits"), tag.first_chunk().expect("128 bits"));
                let mut text = cipher.clone();
                let answer = key.open(nonce, &aad, &mut text, tag);
                if test.contains_key("FAIL") {
                    assert_eq!(answer, Err(Error::Unauthentic), "{file}: {test:?}");
                    refused += 1;
                    continue;
                }
                assert_eq!((answer, &text), (Ok(()), &hex(&test["PT"])), "{file}: {test:?}");
                let made = key.seal(nonce, &aad, &mut text).expect("within limits");
                assert_eq!((&text, &made), (&cipher, tag), "{file}: {test:?}");
                done += 1;
            }
            println!("{on:?}, {file}: {done} right, {refused} refused");
            assert!(
                done >= if seals { 375 } else { 179 } && (seals || refused >= 180),
                "{file} has as many: {done}, {refused}"
            );
        }
    }
}
