//! Bytes as the choices and numbers that they stand for. Behind their end all are 0.

/// See the file's head.
pub(crate) struct Input<'a> {
    data: &'a [u8],
}

impl<'a> Input<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Input<'a> {
        Input { data }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// All that was not taken.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.data)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        match self.data.split_first() {
            Some((byte, rest)) => {
                self.data = rest;
                *byte
            }
            None => 0,
        }
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Less than `bound`; 0 for a bound of 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let low = usize::from(self.byte());
        let choice = if bound > 256 { low | usize::from(self.byte()) << 8 } else { low };
        choice.checked_rem(bound).unwrap_or(0)
    }

    /// True once in so many choices.
    pub(crate) fn once_in(&mut self, of: u8) -> bool {
        self.byte() % of == of - 1
    }

    /// A number instead of a usual one: near it, far from it, or none that can be.
    pub(crate) fn number(&mut self, usual: u64) -> u64 {
        match self.byte() % 12 {
            0 => 0,
            1 => usual.wrapping_add(1),
            2 => usual.wrapping_sub(1),
            3 => usual.wrapping_mul(u64::from(self.byte())),
            4 => usual / (u64::from(self.byte()) + 1),
            5 => u64::from(self.byte()),
            6 => 1 << (self.byte() % 64),
            7 => (1 << (self.byte() % 64)) - 1,
            8 => u64::MAX,
            9 => u64::MAX - u64::from(self.byte()),
            10 => u64::from(u32::MAX) - u64::from(self.byte() % 2),
            _ => self.u64(),
        }
    }

    /// The same for what need not be whole, nor a number.
    pub(crate) fn float(&mut self, usual: f64) -> f64 {
        match self.byte() % 10 {
            0 => 0.0,
            1 => f64::NAN,
            2 => f64::INFINITY,
            3 => f64::NEG_INFINITY,
            4 => f64::MAX,
            5 => f64::MIN_POSITIVE,
            6 => -usual,
            7 => usual * f64::from(self.byte()),
            8 => usual / f64::from(self.byte()),
            _ => f64::from_bits(self.u64()),
        }
    }

    /// A text instead of a usual one.
    pub(crate) fn text(&mut self, usual: &str) -> String {
        const KNOWN: [&str; 35] = [
            "file",
            "directory",
            "pipe",
            "socket",
            "terminal",
            "device",
            "pseudo",
            "path",
            "address",
            "kernel",
            "native",
            "jit",
            "inlined",
            "function",
            "loop",
            "walks",
            "moves",
            "calculates",
            "folds",
            "extremes",
            "counts",
            "hot",
            "budget",
            "end",
            "memcpy",
            "malloc",
            "free",
            "main",
            "[kernel]",
            "[vdso]",
            "libc.so.6",
            "192.0.2.1:53",
            "unix:/run/x",
            "\u{202e}\u{1b}[31m",
            "<a as b>::c<",
        ];
        match self.byte() % 8 {
            0 => String::new(),
            1 => usual.repeat(usize::from(self.byte())),
            2 => "x".repeat(self.number(8) as usize % 40_000),
            3 => usual.chars().rev().collect(),
            4 => {
                let length = usize::from(self.byte());
                String::from_utf8_lossy(&(0..length).map(|_| self.byte()).collect::<Vec<u8>>()).into_owned()
            }
            _ => KNOWN[self.below(KNOWN.len())].to_owned(),
        }
    }
}
