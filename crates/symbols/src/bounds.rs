//! How much the numbers in a file may ask for. Files come from outside: a small one may claim to unfold to gigabytes, hold
//! names that are longer than any text, or nest deeper than any program.
//!
//! Each bound is far above what real files have; what goes beyond is left out, and that is said. Work and memory for DWARF
//! are bounded in `metered`.

/// Compressed sections may unfold to so many bytes whatever their size, and to so many times their size beyond.
///
/// Measured: all the debug files of Debian 12's glibc, binutils and Python, and Rust and Go programs, with zlib and zstd.
/// Whole files unfold to 2 to 5 times their compressed size; one with hundreds of tiny units to 25 times (1.8 MB), and a
/// section of it to 83 times (0.2 MB). zlib itself can reach about 1,030 times, zstd far more.
const UNFOLDED_ANYWAY: u64 = 32 << 20;
const UNFOLDED_TIMES: u64 = 32;
/// The most that the compressed sections of a program and its debug files may unfold to, bytes. The largest debug files that
/// are known, those of browsers, hold 2 to 3 GB.
const UNFOLDED_MOST: u64 = 4 << 30;

/// Build-ids are 8 to 20 bytes long, with SHA-256 32.
pub(crate) const LONGEST_BUILD_ID: usize = 64;

/// Mangled names longer than this are cut. The longest in rustc and LLVM have 1.2 kB.
pub(crate) const LONGEST_MANGLED: usize = 32 << 10;
/// Names for people longer than this are cut: a short mangled name can stand for an exponentially long one. That of rustc's
/// with 1.2 kB stands for 15 kB.
pub(crate) const LONGEST_NAME: usize = 16 << 10;
/// Paths of source files longer than this are cut: the kernel opens none.
pub(crate) const LONGEST_PATH: usize = 4 << 10;
/// All names of a file's symbols together may take so many times its size: many symbols may share one long name.
pub(crate) const NAMES_TIMES: usize = 2;

/// The deepest inlining of one address that is reported, frames. Compilers reach about 50.
pub(crate) const MOST_INLINED: usize = 256;

/// To check a `.gnu_debuglink` without a build-id, the whole file is read.
pub(crate) const LARGEST_CHECKED: usize = 2 << 30;

/// What compressed sections may still unfold to, and what was left out.
#[derive(Debug, Default)]
pub(crate) struct Allowance {
    compressed: u64,
    unfolded: u64,
    left_out: Vec<String>,
}

impl Allowance {
    /// Whether a compressed section may unfold to `size` bytes; if not, that is noted.
    pub(crate) fn unfolds(&mut self, section: &str, compressed: u64, size: u64) -> bool {
        let packed = self.compressed.saturating_add(compressed);
        let unfolded = self.unfolded.saturating_add(size);
        let most = UNFOLDED_TIMES.saturating_mul(packed).saturating_add(UNFOLDED_ANYWAY).min(UNFOLDED_MOST);
        if unfolded > most {
            self.note(format!(
                "{section} is ignored: {} would decompress to {}, more than a file of this size can plausibly hold",
                bytes(compressed),
                bytes(size)
            ));
            return false;
        }
        (self.compressed, self.unfolded) = (packed, unfolded);
        true
    }

    /// Notes what was left out, once.
    pub(crate) fn note(&mut self, what: String) {
        const NOTES: usize = 8;
        if self.left_out.len() < NOTES && !self.left_out.contains(&what) {
            self.left_out.push(what);
        }
    }

    /// What was left out, a sentence each.
    pub(crate) fn left_out(&self) -> &[String] {
        &self.left_out
    }
}

/// A size as a person reads it.
fn bytes(size: u64) -> String {
    match size {
        0..1_000_000 => format!("{} kB", size.div_ceil(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", size / 1_000_000),
        _ => format!("{:.1} GB", size as f64 / 1e9),
    }
}

/// `text` in at most `most` bytes, with a mark where it was cut.
pub(crate) fn cut(mut text: String, most: usize) -> String {
    const MARK: &str = "…";
    if text.len() > most {
        let room = most.saturating_sub(MARK.len());
        let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push_str(MARK);
        text.shrink_to_fit();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_real_files_unfold_to_is_allowed_and_a_bomb_is_not() {
        let mut allowance = Allowance::default();
        assert!(allowance.unfolds(".debug_abbrev", 1_949, 161_603));
        assert!(allowance.unfolds(".debug_info", 43_016, 1_439_917));
        assert!(allowance.unfolds(".debug_str", 250_000_000, 2_000_000_000));
        assert!(allowance.left_out().is_empty());
        let mut allowance = Allowance::default();
        assert!(!allowance.unfolds(".debug_info", 3_000_000, 3_000_000_000));
        assert!(allowance.unfolds(".debug_line", 1_000, 10_000), "the others are still read");
        assert_eq!(
            allowance.left_out(),
            [".debug_info is ignored: 3 MB would decompress to 3.0 GB, more than a file of this size can \
                 plausibly hold"]
        );
    }

    #[test]
    fn many_sections_together_may_not_unfold_to_what_one_may_not() {
        let mut allowance = Allowance::default();
        let made = (0..1_000).filter(|_| allowance.unfolds(".debug_str", 100, 10 << 20)).count();
        assert_eq!(made, 3);
        assert!(!Allowance::default().unfolds(".debug_str", u64::MAX, u64::MAX));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("short".to_owned(), 5), "short");
        assert_eq!(cut("äöüäöü".to_owned(), 8), "äö…");
        assert!(cut("x".repeat(100), 10).len() <= 10);
    }
}
