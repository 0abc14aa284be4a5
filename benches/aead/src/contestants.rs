//! Those who run: each seals and opens packets in place, as its documentation says to use it for many under one key.

use crate::packets::{AAD, Packets};
use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes128Gcm, KeyInit};
use slowpath_aead::{Implementation, Key, Packet};
use std::ffi::{c_int, c_void};

/// What is to be done with packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Task {
    /// Seal each.
    Seal,
    /// Seal each and encrypt a sample of each for header protection.
    SealWithMask,
    /// Open each.
    Open,
}

/// One who runs.
pub trait Contestant {
    /// As the table names it.
    fn name(&self) -> String;

    /// Rounds of its AES.
    fn rounds(&self) -> f64 {
        10.0
    }

    /// Does the task with all packets; false if it cannot.
    fn run(&mut self, task: Task, packets: &mut Packets) -> bool;
}

/// Where the sample begins: a packet number of two bytes (RFC 9001, section 5.4.2).
pub const SAMPLE_AT: usize = 2;

const KEY: [u8; 16] = [0x42; 16];
const LONG_KEY: [u8; 32] = [0x42; 32];
const HEADER_KEY: [u8; 16] = [0x17; 16];

/// All of them.
pub fn all() -> Vec<Box<dyn Contestant>> {
    let mut all: Vec<Box<dyn Contestant>> = Vec::new();
    for on in Implementation::ALL.into_iter().skip(1) {
        if let Some(key) = Key::with_implementation(on, &KEY, Some(&HEADER_KEY)) {
            all.push(Box::new(Ours { key, on }));
        }
    }
    if let Some(key) = Key::with_implementation(Implementation::best(), &KEY, Some(&HEADER_KEY)) {
        all.push(Box::new(OursInBatches { key }));
    }
    // SAFETY: keys of the sizes that the functions read.
    unsafe {
        all.push(Box::new(InC {
            name: "OpenSSL (EVP)",
            rounds: 10.0,
            state: evp_new(KEY.as_ptr(), HEADER_KEY.as_ptr()),
            seal: evp_seal,
            open: evp_open,
            mask: Some(evp_mask),
        }));
        for (name, widest) in [("ipsec-mb, AES-NI", 0), ("ipsec-mb, widest", 1)] {
            all.push(Box::new(InC {
                name,
                rounds: 10.0,
                state: multi_buffer_new(KEY.as_ptr(), HEADER_KEY.as_ptr(), widest),
                seal: multi_buffer_seal,
                open: multi_buffer_open,
                mask: Some(multi_buffer_mask),
            }));
        }
        all.push(Box::new(InC {
            name: "libsodium (AES-256)",
            rounds: 14.0,
            state: sodium_new(LONG_KEY.as_ptr()),
            seal: sodium_seal,
            open: sodium_open,
            mask: None,
        }));
    }
    all.push(Box::new(AwsLc {
        key: aws_lc_rs::aead::LessSafeKey::new(
            aws_lc_rs::aead::UnboundKey::new(&aws_lc_rs::aead::AES_128_GCM, &KEY).expect("16 bytes"),
        ),
        header: aws_lc_rs::aead::quic::HeaderProtectionKey::new(&aws_lc_rs::aead::quic::AES_128, &HEADER_KEY)
            .expect("16 bytes"),
    }));
    all.push(Box::new(Ring {
        key: ring::aead::LessSafeKey::new(
            ring::aead::UnboundKey::new(&ring::aead::AES_128_GCM, &KEY).expect("16 bytes"),
        ),
        header: ring::aead::quic::HeaderProtectionKey::new(&ring::aead::quic::AES_128, &HEADER_KEY)
            .expect("16 bytes"),
    }));
    all.push(Box::new(RustCrypto {
        key: Aes128Gcm::new(&KEY.into()),
        header: aes::Aes128::new(&HEADER_KEY.into()),
    }));
    all
}

struct Ours {
    key: Key,
    on: Implementation,
}

impl Contestant for Ours {
    fn name(&self) -> String {
        format!("slowpath-aead, {:?}", self.on)
    }

    fn run(&mut self, task: Task, packets: &mut Packets) -> bool {
        for (nonce, packet) in packets.each() {
            let (text, tag_at) = packet.split_at_mut(packet.len() - 16);
            match task {
                Task::Seal => {
                    tag_at.copy_from_slice(&self.key.seal(nonce, &AAD, text).expect("within limits"));
                }
                Task::SealWithMask => {
                    let sealed = self.key.seal_with_mask(nonce, &AAD, text, SAMPLE_AT);
                    let (tag, mask) = sealed.expect("within limits");
                    tag_at.copy_from_slice(&tag);
                    std::hint::black_box(mask);
                }
                Task::Open => {
                    let tag = tag_at.first_chunk().expect("16 bytes");
                    self.key.open(nonce, &AAD, text, tag).expect("authentic");
                }
            }
        }
        true
    }
}

struct OursInBatches {
    key: Key,
}

impl Contestant for OursInBatches {
    fn name(&self) -> String {
        "slowpath-aead, 8 a call".into()
    }

    fn run(&mut self, task: Task, packets: &mut Packets) -> bool {
        if task == Task::Open {
            return false;
        }
        let mut each = packets.each();
        while each.len() > 0 {
            let mut tags_at: [&mut [u8]; 8] = Default::default();
            let mut batch: [_; 8] = std::array::from_fn(|at| {
                let (nonce, packet) = each.next().expect("a multiple of eight");
                let (text, tag_at) = packet.split_at_mut(packet.len() - 16);
                tags_at[at] = tag_at;
                let packet = Packet::new(*nonce, &AAD, text);
                if task == Task::SealWithMask { packet.with_mask(SAMPLE_AT) } else { packet }
            });
            self.key.seal_batch(&mut batch).expect("within limits");
            for (packet, tag_at) in batch.iter().zip(tags_at) {
                tag_at.copy_from_slice(&packet.tag);
                std::hint::black_box(packet.mask);
            }
        }
        true
    }
}

type Seal = unsafe extern "C" fn(*mut c_void, *const u8, *const u8, *mut u8, usize);
type Open = unsafe extern "C" fn(*mut c_void, *const u8, *const u8, *mut u8, usize) -> c_int;
type MakeMask = unsafe extern "C" fn(*mut c_void, *const u8, *mut u8);

unsafe extern "C" {
    fn evp_new(key: *const u8, header_key: *const u8) -> *mut c_void;
    fn evp_seal(state: *mut c_void, nonce: *const u8, aad: *const u8, text: *mut u8, length: usize);
    fn evp_open(state: *mut c_void, nonce: *const u8, aad: *const u8, text: *mut u8, length: usize) -> c_int;
    fn evp_mask(state: *mut c_void, sample: *const u8, mask: *mut u8);
    fn multi_buffer_new(key: *const u8, header_key: *const u8, widest: c_int) -> *mut c_void;
    fn multi_buffer_seal(state: *mut c_void, nonce: *const u8, aad: *const u8, text: *mut u8, length: usize);
    fn multi_buffer_open(
        state: *mut c_void,
        nonce: *const u8,
        aad: *const u8,
        text: *mut u8,
        length: usize,
    ) -> c_int;
    fn multi_buffer_mask(state: *mut c_void, sample: *const u8, mask: *mut u8);
    fn sodium_new(key: *const u8) -> *mut c_void;
    fn sodium_seal(state: *mut c_void, nonce: *const u8, aad: *const u8, text: *mut u8, length: usize);
    fn sodium_open(
        state: *mut c_void,
        nonce: *const u8,
        aad: *const u8,
        text: *mut u8,
        length: usize,
    ) -> c_int;
}

struct InC {
    name: &'static str,
    rounds: f64,
    state: *mut c_void,
    seal: Seal,
    open: Open,
    mask: Option<MakeMask>,
}

impl Contestant for InC {
    fn name(&self) -> String {
        self.name.into()
    }

    fn rounds(&self) -> f64 {
        self.rounds
    }

    fn run(&mut self, task: Task, packets: &mut Packets) -> bool {
        if task == Task::SealWithMask && self.mask.is_none() {
            return false;
        }
        for (nonce, packet) in packets.each() {
            let length = packet.len() - 16;
            let (nonce, aad, text) = (nonce.as_ptr(), AAD.as_ptr(), packet.as_mut_ptr());
            // SAFETY: nonce, associated data, text and tag are as long as the functions take them to be; the sample lies within.
            unsafe {
                match task {
                    Task::Open => assert_eq!((self.open)(self.state, nonce, aad, text, length), 1),
                    Task::Seal | Task::SealWithMask => (self.seal)(self.state, nonce, aad, text, length),
                }
                if let (Task::SealWithMask, Some(make)) = (task, self.mask) {
                    let mut mask = [0; 16];
                    make(self.state, text.add(SAMPLE_AT), mask.as_mut_ptr());
                    std::hint::black_box(mask);
                }
            }
        }
        true
    }
}

/// aws-lc-rs and ring have one interface.
macro_rules! like_ring {
    ($type:ident, $library:ident, $name:literal) => {
        struct $type {
            key: $library::aead::LessSafeKey,
            header: $library::aead::quic::HeaderProtectionKey,
        }

        impl Contestant for $type {
            fn name(&self) -> String {
                $name.into()
            }

            fn run(&mut self, task: Task, packets: &mut Packets) -> bool {
                use $library::aead::{Aad, Nonce};
                for (nonce, packet) in packets.each() {
                    let nonce = Nonce::assume_unique_for_key(*nonce);
                    if task == Task::Open {
                        self.key.open_in_place(nonce, Aad::from(&AAD), packet).expect("authentic");
                        continue;
                    }
                    let (text, tag_at) = packet.split_at_mut(packet.len() - 16);
                    let tag = self.key.seal_in_place_separate_tag(nonce, Aad::from(&AAD), text);
                    tag_at.copy_from_slice(tag.expect("within limits").as_ref());
                    if task == Task::SealWithMask {
                        let mask = self.header.new_mask(&packet[SAMPLE_AT..SAMPLE_AT + 16]);
                        std::hint::black_box(mask.expect("16 bytes"));
                    }
                }
                true
            }
        }
    };
}

like_ring!(AwsLc, aws_lc_rs, "aws-lc-rs");
like_ring!(Ring, ring, "ring");

struct RustCrypto {
    key: Aes128Gcm,
    header: aes::Aes128,
}

impl Contestant for RustCrypto {
    fn name(&self) -> String {
        "RustCrypto aes-gcm".into()
    }

    fn run(&mut self, task: Task, packets: &mut Packets) -> bool {
        use aes::cipher::BlockCipherEncrypt;
        for (nonce, packet) in packets.each() {
            let (text, tag_at) = packet.split_at_mut(packet.len() - 16);
            let nonce = nonce.into();
            if task == Task::Open {
                let tag = tag_at.first_chunk::<16>().expect("16 bytes").into();
                self.key.decrypt_inout_detached(nonce, &AAD, text.into(), tag).expect("authentic");
                continue;
            }
            let tag = self.key.encrypt_inout_detached(nonce, &AAD, text.into());
            tag_at.copy_from_slice(&tag.expect("within limits"));
            if task == Task::SealWithMask {
                let mut mask = *packet[SAMPLE_AT..].first_chunk::<16>().expect("text enough");
                self.header.encrypt_block((&mut mask).into());
                std::hint::black_box(mask);
            }
        }
        true
    }
}
