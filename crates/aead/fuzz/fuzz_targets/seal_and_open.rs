//! Whatever the sizes: each kernel seals as the portable code does, alone and in a batch, opens what was sealed, and refuses what
//! was changed. What comes in as a QUIC packet never panics.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use slowpath_aead::quic::PacketKey;
use slowpath_aead::{Error, Implementation, Key, KeyBytes, Packet};

#[derive(Arbitrary, Debug)]
struct Message {
    nonce: [u8; 12],
    aad: Vec<u8>,
    text: Vec<u8>,
    /// Makes texts long without making inputs long.
    repeat: u8,
    sample_at: Option<u16>,
    flip: u16,
}

#[derive(Arbitrary, Debug)]
struct Input {
    key: [u8; 32],
    long: bool,
    messages: Vec<Message>,
    packet: Vec<u8>,
    number_at: u8,
    expected: u64,
}

fuzz_target!(|input: Input| {
    let short: [u8; 16] = *input.key.first_chunk().expect("32 are more than 16");
    if input.long { run(&input, &input.key) } else { run(&input, &short) }
});

fn run<K: KeyBytes>(input: &Input, key: &K) {
    let portable = Key::with_implementation(Implementation::Portable, key, Some(key)).expect("everywhere");
    let texts: Vec<Vec<u8>> =
        input.messages.iter().map(|one| one.text.repeat(1 + usize::from(one.repeat % 64))).collect();
    let expected: Vec<_> = input
        .messages
        .iter()
        .zip(&texts)
        .map(|(one, text)| {
            let mut text = text.clone();
            let sealed = match one.sample_at {
                Some(at) => portable.seal_with_mask(&one.nonce, &one.aad, &mut text, at.into()),
                None => portable.seal(&one.nonce, &one.aad, &mut text).map(|tag| (tag, [0; 16])),
            };
            sealed.map(|(tag, mask)| (text, tag, mask))
        })
        .collect();
    for on in Implementation::ALL {
        let Some(ours) = Key::with_implementation(on, key, Some(key)) else { continue };
        for ((one, text), expected) in input.messages.iter().zip(&texts).zip(&expected) {
            let mut buffer = text.clone();
            let sealed = match one.sample_at {
                Some(at) => ours.seal_with_mask(&one.nonce, &one.aad, &mut buffer, at.into()),
                None => ours.seal(&one.nonce, &one.aad, &mut buffer).map(|tag| (tag, [0; 16])),
            };
            let sealed = sealed.map(|(tag, mask)| (buffer.clone(), tag, mask));
            assert_eq!(&sealed, expected);
            let Ok((_, mut tag, _)) = sealed else { continue };
            ours.open(&one.nonce, &one.aad, &mut buffer, &tag).expect("authentic");
            assert_eq!(&buffer, text);
            tag[usize::from(one.flip % 16)] ^= 1 << (one.flip / 16 % 8);
            assert_eq!(ours.open(&one.nonce, &one.aad, &mut buffer, &tag), Err(Error::Unauthentic));
            assert!(buffer.iter().all(|byte| *byte == 0));
        }
        let mut buffers = texts.clone();
        let mut packets: Vec<Packet<'_>> = input
            .messages
            .iter()
            .zip(&mut buffers)
            .map(|(one, text)| {
                let packet = Packet::new(one.nonce, &one.aad, text);
                match one.sample_at {
                    Some(at) => packet.with_mask(at.into()),
                    None => packet,
                }
            })
            .collect();
        let all = ours.seal_batch(&mut packets);
        assert_eq!(all.is_ok(), expected.iter().all(Result::is_ok));
        if all.is_ok() {
            for (packet, expected) in packets.iter().zip(&expected) {
                let made = Ok((packet.text.to_vec(), packet.tag, packet.mask));
                assert_eq!(&made, expected);
            }
        }
    }
    let mut packet = input.packet.clone();
    let mut quic = PacketKey::new(key, &[1; 12], key);
    let _ = quic.open(input.expected, &mut packet, input.number_at.into());
    let _ = quic.seal(input.expected, &mut packet, input.number_at.into());
}
