//! Functions that format a text into memory that they are given.

/// How the C library names them inside.
const ENDS: [&str; 3] = ["_chk", "_internal", "_l"];
const FORMAT: [&str; 4] = ["sprintf", "snprintf", "vsprintf", "vsnprintf"];

/// Whether a function of the C library with this name formats a text into memory that its first argument leads to, and returns how long it is; and whether its second argument says how
/// many bytes there are.
pub fn formats(name: &str) -> Option<bool> {
    let plain = name.split('@').next().unwrap_or(name).trim_start_matches('_');
    let plain = plain
        .strip_prefix("IO_")
        .or_else(|| plain.strip_prefix("GI_"))
        .unwrap_or(plain)
        .trim_start_matches('_');
    let plain = ENDS.iter().fold(plain, |name, end| name.strip_suffix(end).unwrap_or(name));
    FORMAT.contains(&plain).then(|| plain.contains("snprintf"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_the_c_library_are_known_by_all_their_names() {
        for name in [
            "snprintf",
            "__snprintf_chk",
            "___vsnprintf_chk",
            "__vsnprintf_internal",
            "_IO_vsprintf",
            "sprintf@plt",
            "__GI___snprintf",
        ] {
            assert_eq!(formats(name), Some(name.contains("snprintf")), "{name}");
        }
        for name in ["printf", "fprintf", "vasprintf", "my_snprintf", "snprintf_all", ""] {
            assert_eq!(formats(name), None, "{name}");
        }
    }
}
