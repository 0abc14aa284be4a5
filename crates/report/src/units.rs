//! Numbers as people read them: times, shares, counts, bytes and ratios.
//!
//! A number is followed by one space and its unit (`6.25 s`, `96 %`), a ratio by `×` (`118×`). Whoever prints to
//! a place without UTF-8 replaces `µ` and `×` afterwards; nothing here knows where a number goes.

/// A time, to about three digits: `6.25 s`, `40.8 s`, `52 ms`, `830 µs`, `12 ns`, `12 min 5 s`, `2 h 5 min`.
pub fn time(ns: u64) -> String {
    match ns {
        0 => "0 s".to_owned(),
        1..1_000 => format!("{ns} ns"),
        1_000..999_500 => scaled(ns, 1_000, "µs"),
        999_500..999_500_000 => scaled(ns, 1_000_000, "ms"),
        999_500_000..9_995_000_000 => seconds(ns),
        9_995_000_000..99_950_000_000 => format!("{:.1} s", ns as f64 / 1e9),
        99_950_000_000..600_000_000_000 => format!("{:.0} s", ns as f64 / 1e9),
        _ => long(ns),
    }
}

/// A time in few digits, for sentences that compare two of them: `6.3 s`, `0.29 s`, `61 ms`, `400 µs`.
pub fn rough(ns: u64) -> String {
    match ns {
        995_000_000..9_950_000_000 => format!("{:.1} s", ns as f64 / 1e9),
        99_500_000..995_000_000 => {
            let text = format!("{:.2}", ns as f64 / 1e9);
            format!("{} s", text.strip_suffix('0').unwrap_or(&text))
        }
        _ => time(ns),
    }
}

/// A time in seconds with two decimals, for columns and lists in which all times share a unit: `0.02 s`.
pub fn seconds(ns: u64) -> String {
    format!("{:.2} s", ns as f64 / 1e9)
}

/// A share (1 is all): `96 %`, `2.4 %`. Never rounds up to all nor down to nothing: `>99 %`, `<0.1 %`.
pub fn share(share: f64) -> String {
    if !share.is_finite() {
        return "?".to_owned();
    }
    let percent = share * 100.0;
    match percent {
        p if p <= 0.0 => "0 %".to_owned(),
        p if p < 0.05 => "<0.1 %".to_owned(),
        p if p < 9.95 => format!("{p:.1} %"),
        p if (99.5..100.0).contains(&p) => ">99 %".to_owned(),
        p => format!("{p:.0} %"),
    }
}

/// A count with separators between the thousands: `51,302`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A large count in three digits and words: `12,345`, `1.23 million`, `45.6 billion`.
pub fn large(n: u64) -> String {
    let value = n as f64;
    match n {
        0..1_000_000 => count(n),
        1_000_000..999_500_000 => format!("{} million", short(value / 1e6)),
        999_500_000..999_500_000_000 => format!("{} billion", short(value / 1e9)),
        _ => format!("{} trillion", short(value / 1e12)),
    }
}

/// Three digits.
fn short(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => count(v.round() as u64),
    }
}

/// How many of something, in words: `1 sample`, `51,302 samples`. `noun` is the singular.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A ratio: `118×`, `12.5×`, `2.40×`.
pub fn ratio(r: f64) -> String {
    format!("{}×", if r.is_finite() { number(r) } else { "?".to_owned() })
}

/// A number of bytes in powers of 1024: `512 B`, `1.5 KiB`, `64 MiB`.
pub fn bytes(n: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = n;
    let mut unit = 0;
    while value.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if !value.is_finite() {
        return "? B".to_owned();
    }
    let decimals = usize::from(value.abs() < 10.0 && value.fract() != 0.0);
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// A plain number to about three digits, whole ones whole: `51,302`, `12.5`, `0.998`, `3.1e-7`.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let size = value.abs();
    let sign = if value < 0.0 { "-" } else { "" };
    match size {
        0.0 => "0".to_owned(),
        s if !(1e-4..1e15).contains(&s) => format!("{value:.1e}"),
        s if s >= 100.0 || s.fract() == 0.0 => format!("{sign}{}", count(s.round() as u64)),
        s if s >= 10.0 => format!("{value:.1}"),
        s if s >= 1.0 => format!("{value:.2}"),
        s if s >= 0.1 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// A number in the unit that a fact or a series names (`ns`, `bytes`, `ratio`, `share`, `1`, or a plural noun).
pub fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "ns" if value.is_finite() && value < 0.0 => format!("-{}", rough((-value).round() as u64)),
        "ns" if value.is_finite() => rough(value.round() as u64),
        "bytes" => bytes(value),
        "ratio" => ratio(value),
        "share" => share(value),
        "1" | "" => number(value),
        "%" => format!("{} %", number(value)),
        _ => format!("{} {unit}", number(value)),
    }
}

/// Below ten with one decimal unless that is a zero, above without.
fn scaled(ns: u64, per: u64, unit: &str) -> String {
    let value = ns as f64 / per as f64;
    if value < 9.95 {
        let text = format!("{value:.1}");
        format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
    } else {
        format!("{value:.0} {unit}")
    }
}

fn long(ns: u64) -> String {
    // Rounded to the unit that is shown, so that 59.9 s never reads as "60 s" beside a minute.
    let whole_seconds = ns / 1_000_000_000 + u64::from(ns % 1_000_000_000 >= 500_000_000);
    if whole_seconds < 3_600 {
        return format!("{} min {} s", whole_seconds / 60, whole_seconds % 60);
    }
    let minutes = whole_seconds / 60 + u64::from(whole_seconds % 60 >= 30);
    format!("{} h {} min", count(minutes / 60), minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_choose_the_unit_that_a_person_would() {
        let shown = [
            (0, "0 s"),
            (850, "850 ns"),
            (1_000, "1 µs"),
            (1_540, "1.5 µs"),
            (830_000, "830 µs"),
            (999_499, "999 µs"),
            (999_600, "1 ms"),
            (52_000_000, "52 ms"),
            (999_499_999, "999 ms"),
            (999_500_000, "1.00 s"),
            (6_250_000_000, "6.25 s"),
            (40_800_000_000, "40.8 s"),
            (104_000_000_000, "104 s"),
            (725_000_000_000, "12 min 5 s"),
            (3_599_700_000_000, "1 h 0 min"),
            (7_500_000_000_000, "2 h 5 min"),
        ];
        for (ns, text) in shown {
            assert_eq!(time(ns), text, "{ns}");
        }
        assert!(time(u64::MAX).ends_with("min"));
    }

    #[test]
    fn rough_times_keep_two_or_three_digits() {
        let shown = [
            (6_310_000_000, "6.3 s"),
            (40_800_000_000, "40.8 s"),
            (290_000_000, "0.29 s"),
            (200_000_000, "0.2 s"),
            (994_999_999, "0.99 s"),
            (61_200_000, "61 ms"),
            (400_000, "400 µs"),
        ];
        for (ns, text) in shown {
            assert_eq!(rough(ns), text, "{ns}");
        }
    }

    #[test]
    fn a_share_says_all_only_if_it_is_all() {
        let shown = [
            (0.0, "0 %"),
            (0.0001, "<0.1 %"),
            (0.024, "2.4 %"),
            (0.0996, "10 %"),
            (0.964, "96 %"),
            (0.998, ">99 %"),
            (1.0, "100 %"),
            (f64::NAN, "?"),
        ];
        for (value, text) in shown {
            assert_eq!(share(value), text, "{value}");
        }
    }

    #[test]
    fn counts_have_separators() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(51_302), "51,302");
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(counted(1, "sample"), "1 sample");
        assert_eq!(counted(6_240, "sample"), "6,240 samples");
    }

    #[test]
    fn large_counts_have_three_digits_and_a_word() {
        let shown = [
            (0, "0"),
            (123_456, "123,456"),
            (1_234_567, "1.23 million"),
            (45_600_000, "45.6 million"),
            (999_400_000, "999 million"),
            (999_600_000, "1.00 billion"),
            (3_210_000_000_000, "3.21 trillion"),
        ];
        for (n, text) in shown {
            assert_eq!(large(n), text, "{n}");
        }
    }

    #[test]
    fn ratios_and_numbers_keep_three_digits() {
        assert_eq!(ratio(118.2), "118×");
        assert_eq!(ratio(2.4), "2.40×");
        assert_eq!(ratio(f64::INFINITY), "?×");
        assert_eq!(number(0.9984), "0.998");
        assert_eq!(number(-1234.0), "-1,234");
        assert_eq!(number(3.1e-7), "3.1e-7");
        assert_eq!(number(1e300), "1.0e300");
    }

    #[test]
    fn bytes_count_in_1024() {
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(1536.0), "1.5 KiB");
        assert_eq!(bytes(64.0 * 1024.0 * 1024.0), "64 MiB");
    }

    #[test]
    fn quantities_follow_their_unit() {
        assert_eq!(quantity(61.2e6, "ns"), "61 ms");
        assert_eq!(quantity(-61.2e6, "ns"), "-61 ms");
        assert_eq!(quantity(f64::NAN, "ns"), "? ns");
        assert_eq!(quantity(142.0, "calls"), "142 calls");
        assert_eq!(quantity(0.998, "1"), "0.998");
    }
}
