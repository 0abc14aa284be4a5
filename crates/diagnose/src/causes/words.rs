//! Numbers as a person would write them.

/// A path without its folders.
pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// 51,302
pub fn count(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// How often: `once`, `twice`, `1,234 times`.
pub fn times(value: f64) -> String {
    match value.round() {
        1.0 => "once".to_owned(),
        2.0 => "twice".to_owned(),
        many => format!("{} times", count(many)),
    }
}

/// A slope as a person would write it: 2.0, 0.25, 1,234.
pub fn rounded(value: f64) -> String {
    if value >= 100.0 {
        count(value)
    } else if value >= 1.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// ns as a person would write them.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns >= 1e9 => (ns / 1e9, "s"),
        ns if ns >= 1e6 => (ns / 1e6, "ms"),
        ns if ns >= 1e3 => (ns / 1e3, "µs"),
        ns => (ns, "ns"),
    };
    if value >= 10.0 { format!("{value:.0} {unit}") } else { format!("{value:.1} {unit}") }
}

/// A function's name without the parameters of its templates and its arguments, if it is long.
pub(crate) fn short(name: &str) -> String {
    const LONG: usize = 80;
    let plain = slowpath_interfaces::without_arguments(name);
    if name.len() <= LONG || name.contains("operator") || !plain.contains('<') || plain.starts_with('<') {
        return name.to_owned();
    }
    let mut depth = 0;
    let mut short = String::new();
    for letter in plain.chars() {
        match letter {
            '<' => {
                depth += 1;
                if depth == 1 {
                    short.push_str("<…>");
                }
            }
            '>' => depth -= 1,
            _ if depth == 0 => short.push(letter),
            _ => {}
        }
    }
    short
}

/// Bytes as a person would write them, in steps of 1024.
pub fn size(bytes: f64) -> String {
    let (value, unit) = match bytes {
        bytes if bytes >= (1u64 << 30) as f64 => (bytes / (1u64 << 30) as f64, "GiB"),
        bytes if bytes >= (1u64 << 20) as f64 => (bytes / (1u64 << 20) as f64, "MiB"),
        bytes if bytes >= 1024.0 => (bytes / 1024.0, "KiB"),
        bytes => return format!("{bytes:.0} bytes"),
    };
    if value >= 10.0 { format!("{value:.0} {unit}") } else { format!("{value:.1} {unit}") }
}

/// 27,487 as 27,000: more digits of an estimate would be false precision.
pub(crate) fn two_digits(value: f64) -> f64 {
    let unit = 10f64.powf(value.max(1.0).log10().floor() - 1.0).max(1.0);
    (value / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_parameters_and_others_are_as_they_are() {
        let long = "std::_Hashtable<Tile, std::pair<Tile const, Info>, std::allocator<std::pair<Tile const, Info> > >::_M_find(int) const";
        assert_eq!(short(long), "std::_Hashtable<…>::_M_find");
        for name in [
            "parse",
            "std::vector<int>::push_back(int&&)",
            "<alloc::vec::Vec<T> as core::clone::Clone>::clone",
        ] {
            assert_eq!(short(name), name);
        }
        let operator = format!("Map<{}>::operator->() const", "x".repeat(90));
        assert_eq!(short(&operator), operator);
    }
}
