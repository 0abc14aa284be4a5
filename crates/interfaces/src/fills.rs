//! Functions that fill memory with one value.

/// Names without the underscores before them and without the instruction set behind them.
const FILLS: [&str; 2] = ["memset", "wmemset"];

/// Whether a function with this name fills memory. Its first argument is the block, its second the value, its third the size.
pub fn fills(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let family = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or(name);
    FILLS.contains(&family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_of_memset_fill() {
        for (name, does) in [
            ("memset", true),
            ("__memset_avx512_unaligned_erms", true),
            ("__wmemset_evex", true),
            ("memmove", false),
            ("my_memset", false),
        ] {
            assert_eq!(fills(name), does, "{name}");
        }
    }
}
