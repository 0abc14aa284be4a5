//! QUIC's packets: the examples of RFC 9001, appendix A, and what a careless caller may try.

mod common;

use common::{array, bytes};
use slowpath_aead::Key;
use slowpath_aead::quic::{
    CONFIDENTIALITY_LIMIT, Error, INTEGRITY_LIMIT, MAX_NUMBER, Outgoing, PacketKey, TAG,
};

/// Bytes from hexadecimal digits.
fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(|digit| u8::try_from(digit).expect("< 16"))
        .collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn packet_key(key: &str, iv: &str, header_protection_key: &str) -> PacketKey {
    let key: [u8; 16] = hex(key).try_into().expect("16 bytes");
    let header_protection_key = hex(header_protection_key).try_into().expect("16 bytes");
    PacketKey::new(&key, &hex(iv).try_into().expect("12 bytes"), &header_protection_key)
}

/// Appendix A.1.
fn client() -> PacketKey {
    let header_protection_key = "9f50449e04a0e810283a1e9933adedd2";
    packet_key("1f369613dd76d5467730efcbe3b1a22d", "fa044b2f42a3fd3b46fb255c", header_protection_key)
}

fn server() -> PacketKey {
    let header_protection_key = "c206b8d9b9f0f37644430b490eeaa314";
    packet_key("cf3a5331653c364c88f0f379b6067e37", "0ac1493ca1905853b0bba03e", header_protection_key)
}

/// A packet with room for its tag.
fn unprotected(header: &str, payload: &[u8]) -> Vec<u8> {
    [hex(header), payload.to_vec(), vec![0; TAG]].concat()
}

#[test]
fn client_initial_of_appendix_a_2() {
    let mut payload = hex("060040f1010000ed0303ebf8fa56f12939b9584a3896472ec40bb863cfd3e868\
         04fe3a47f06a2b69484c00000413011302010000c000000010000e00000b6578\
         616d706c652e636f6dff01000100000a00080006001d00170018001000070005\
         04616c706e000500050100000000003300260024001d00209370b2c9caa47fba\
         baf4559fedba753de171fa71f50f1ce15d43e994ec74d748002b000302030400\
         0d0010000e0403050306030203080408050806002d00020101001c0002400100\
         3900320408ffffffffffffffff05048000ffff07048000ffff08011001048000\
         75300901100f088394c8f03e51570806048000ffff");
    payload.resize(1162, 0);
    let plain = unprotected("c300000001088394c8f03e5157080000449e00000002", &payload);
    let mut packet = plain.clone();
    client().seal(2, &mut packet, 18).expect("it is well-formed");
    assert_eq!(packet.len(), 1200);
    let begin = "c000000001088394c8f03e5157080000449e7b9aec34d1b1c98dd7689fb8ec11d242b123dc9b";
    assert_eq!(packet[..38], hex(begin));
    assert_eq!(packet[1184..], hex("e221af44860018ab0856972e194cd934"));

    let (number, at) = client().open(0, &mut packet, 18).expect("authentic");
    assert_eq!((number, &packet[at]), (2, &payload[..]));
    assert_eq!(packet[..1184], plain[..1184]);
}

#[test]
fn server_initial_of_appendix_a_3() {
    let payload = hex("02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf739\
         88cfc79825df566dc5430b9a045a1200130100002e00330024001d00209d3c94\
         0d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00\
         020304");
    let mut packet = unprotected("c1000000010008f067a5502a4262b50040750001", &payload);
    server().seal(1, &mut packet, 18).expect("it is well-formed");
    let expected = hex("cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a\
         5816b6394100f37a1c69797554780bb38cc5a99f5ede4cf73c3ec2493a1839b3\
         dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84\
         022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc4\
         2158407dd074ee");
    assert_eq!(packet, expected);
    assert_eq!(server().open(0, &mut packet, 18), Ok((1, 20..119)));
    assert_eq!(packet[20..119], payload);
}

/// A short header with a packet number of `length` bytes, then `payload`.
fn short(number: u64, length: usize, payload: &[u8]) -> Vec<u8> {
    let first = 0x40 | u8::try_from(length - 1).expect("up to four");
    let header = [&[first][..], &[7; 8], &number.to_be_bytes()[8 - length..]].concat();
    [&header[..], payload, &[0; TAG]].concat()
}

const NUMBER_AT: usize = 9;

fn pair() -> (PacketKey, PacketKey) {
    let key = || PacketKey::new::<[u8; 32]>(&array(1), &array(2), &array(3));
    (key(), key())
}

#[test]
fn batches_give_what_single_packets_give() {
    for count in [0, 1, 7, 8, 9, 20] {
        let (mut single, mut batch) = pair();
        let plain: Vec<Vec<u8>> = (0..count)
            .map(|at| short(5 + 3 * at, 1 + at as usize % 4, &bytes(at, 100 * at as usize + 3)))
            .collect();
        let mut one_by_one = plain.clone();
        for (at, packet) in (0..).zip(&mut one_by_one) {
            single.seal(5 + 3 * at, packet, NUMBER_AT).expect("well-formed");
        }
        let mut together = plain.clone();
        let mut outgoing: Vec<_> = (0..)
            .zip(&mut together)
            .map(|(at, bytes)| Outgoing { number: 5 + 3 * at, bytes, number_at: NUMBER_AT })
            .collect();
        batch.seal_batch(&mut outgoing).expect("well-formed");
        assert_eq!(together, one_by_one);
        assert_eq!((batch.sealed(), single.sealed()), (count, count));

        for (at, (packet, plain)) in (0..).zip(together.iter_mut().zip(&plain)) {
            let (number, range) = single.open(4 + 3 * at, packet, NUMBER_AT).expect("authentic");
            assert_eq!(number, 5 + 3 * at);
            assert_eq!(packet[range.clone()], plain[range]);
        }
    }
}

#[test]
fn numbers_rise_or_nothing_is_sealed() {
    let (mut key, _) = pair();
    key.seal(7, &mut short(7, 2, b"payload"), NUMBER_AT).expect("the first");
    for number in [7, 6, 0] {
        let mut packet = short(number, 2, b"payload");
        assert_eq!(key.seal(number, &mut packet, NUMBER_AT), Err(Error::Number));
        assert_eq!(packet, short(number, 2, b"payload"), "nothing was done");
    }
    let (mut first, mut second) = (short(9, 1, b"abc"), short(9, 1, b"abc"));
    let both = [&mut first, &mut second].map(|bytes| Outgoing { number: 9, bytes, number_at: NUMBER_AT });
    assert_eq!(key.seal_batch(&mut { both }), Err(Error::Number));
    assert_eq!(first, short(9, 1, b"abc"), "nothing was done");
    key.seal(8, &mut short(8, 1, b"abc"), NUMBER_AT).expect("a refused batch uses up no numbers");
    let mut last = short(MAX_NUMBER, 4, b"x");
    key.seal(MAX_NUMBER, &mut last, NUMBER_AT).expect("the last number");
    let mut beyond = short(MAX_NUMBER + 1, 4, b"x");
    assert_eq!(key.seal(MAX_NUMBER + 1, &mut beyond, NUMBER_AT), Err(Error::Number));
}

#[test]
fn headers_must_hold_the_number() {
    let (mut key, _) = pair();
    assert_eq!(key.seal(300, &mut short(299, 2, b"abc"), NUMBER_AT), Err(Error::Header));
    assert_eq!(key.seal(300, &mut short(300, 1, b"abc"), NUMBER_AT), Ok(()));
}

#[test]
fn short_packets_are_refused() {
    let (mut key, mut other) = pair();
    // Two bytes of payload and one of the number are less than the four before the sample.
    assert_eq!(key.seal(1, &mut short(1, 1, b"ab"), NUMBER_AT), Err(Error::TooShort));
    let mut packet = short(1, 1, b"abc");
    key.seal(1, &mut packet, NUMBER_AT).expect("three are enough");
    for length in 0..packet.len() {
        assert_eq!(other.open(0, &mut packet[..length].to_vec(), NUMBER_AT), Err(Error::TooShort));
    }
    assert_eq!(other.open(0, &mut packet, usize::MAX), Err(Error::TooShort));
    assert_eq!(other.seal(0, &mut packet, usize::MAX), Err(Error::TooShort));
    assert_eq!(other.seal(0, &mut [], 0), Err(Error::TooShort));
    assert_eq!(other.open(1, &mut packet, NUMBER_AT).map(|(number, _)| number), Ok(1));
}

#[test]
fn limits_of_rfc_9001_are_kept() {
    let (mut key, _) = pair();
    key.pretend(CONFIDENTIALITY_LIMIT - 1, 0);
    key.seal(1, &mut short(1, 1, b"abc"), NUMBER_AT).expect("the last one");
    assert_eq!(key.seal(2, &mut short(2, 1, b"abc"), NUMBER_AT), Err(Error::ConfidentialityLimit));

    let (mut sender, mut key) = pair();
    let mut good = short(1, 1, b"abc");
    sender.seal(1, &mut good, NUMBER_AT).expect("well-formed");
    key.pretend(0, INTEGRITY_LIMIT - 1);
    key.open(1, &mut good.clone(), NUMBER_AT).expect("opening counts nothing");
    let mut bad = good.clone();
    *bad.last_mut().expect("not empty") ^= 1;
    assert_eq!(key.open(1, &mut bad, NUMBER_AT), Err(Error::Unauthentic));
    assert_eq!(key.refused(), INTEGRITY_LIMIT);
    assert_eq!(key.open(1, &mut good, NUMBER_AT), Err(Error::IntegrityLimit));
}

#[test]
fn what_is_refused_is_wiped() {
    let (mut sender, mut key) = pair();
    let mut packet = short(1, 2, &[9; 100]);
    sender.seal(1, &mut packet, NUMBER_AT).expect("well-formed");
    packet[50] ^= 4;
    assert_eq!(key.open(1, &mut packet, NUMBER_AT), Err(Error::Unauthentic));
    assert_eq!(packet[11..111], [0; 100]);
    assert_eq!(key.refused(), 1);
}

#[test]
fn numbers_are_found_from_their_low_bytes() {
    // RFC 9000, appendix A.3, and the ends of the range.
    for (number, length, expected) in [
        (0xa82f_9b32, 2, 0xa82f_30eb),
        (255, 1, 256),
        (256, 1, 255),
        (0, 1, 0),
        (0, 4, 1),
        (MAX_NUMBER, 1, MAX_NUMBER),
    ] {
        let (mut sender, mut key) = pair();
        let mut packet = short(number, length, b"abc");
        sender.seal(number, &mut packet, NUMBER_AT).expect("well-formed");
        assert_eq!(key.open(expected, &mut packet, NUMBER_AT).map(|(number, _)| number), Ok(number));
    }
}

#[test]
fn key_phase_is_seen_before_opening() {
    for phase in [false, true] {
        let (mut sender, key) = pair();
        let mut packet = short(1, 2, b"payload");
        packet[0] |= u8::from(phase) << 2;
        sender.seal(1, &mut packet, NUMBER_AT).expect("well-formed");
        let before = packet.clone();
        assert_eq!(key.key_phase(&packet, NUMBER_AT), Ok(phase));
        assert_eq!(packet, before);
    }
}

#[test]
fn masks_need_a_key_and_a_sample_within() {
    use slowpath_aead::Error;
    let without = Key::new::<[u8; 16]>(&array(1), None);
    let with = Key::new::<[u8; 16]>(&array(1), Some(&array(2)));
    let seal = |key: &Key, at| key.seal_with_mask(&[0; 12], b"", &mut [0; 20], at).map(|_| ());
    assert_eq!(seal(&without, 0), Err(Error::NoHeaderProtectionKey));
    assert_eq!(without.header_mask(&[0; 16]), Err(Error::NoHeaderProtectionKey));
    assert_eq!(seal(&with, 21), Err(Error::NoSample));
    assert_eq!(seal(&with, usize::MAX), Err(Error::NoSample));
    assert_eq!(seal(&with, 20), Ok(()), "all of the sample is the tag");
}
