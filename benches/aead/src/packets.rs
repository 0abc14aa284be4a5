//! Packets of one size side by side in memory, each with room for its tag.

/// The associated data of all: 13 bytes, as in TLS 1.2 and about as in a short QUIC header.
pub const AAD: [u8; 13] = *b"a header's 13";

/// Packets and their nonces.
#[derive(Clone)]
pub struct Packets {
    nonces: Vec<[u8; 12]>,
    bytes: Vec<u8>,
    stride: usize,
}

impl Packets {
    /// `count` of `size` bytes, not counting the tag.
    pub fn new(count: usize, size: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(1);
        let nonces = (0..count).map(|_| std::array::from_fn(|_| random.u8(..))).collect();
        let stride = size + 16;
        let bytes = std::iter::repeat_with(|| random.u8(..)).take(count * stride).collect();
        Self { nonces, bytes, stride }
    }

    /// Each nonce, and text and tag.
    pub fn each(&mut self) -> impl ExactSizeIterator<Item = (&[u8; 12], &mut [u8])> {
        self.nonces.iter().zip(self.bytes.chunks_exact_mut(self.stride))
    }

    /// The bytes of another, which has as many of the same size.
    pub fn restore(&mut self, from: &Self) {
        self.bytes.copy_from_slice(&from.bytes);
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
