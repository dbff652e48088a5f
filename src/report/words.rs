//! Formats numbers and names for people, in text and HTML reports.

use super::{DistinctOf, InputWarning, TopOf};

/// Formats a number with its digits grouped by thousands.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What a list of frequent names is called.
pub(super) const fn names(of: TopOf) -> &'static str {
    match of {
        TopOf::Hosts => "Hosts",
        TopOf::Schemes => "Schemes",
        TopOf::Ports => "Ports",
        TopOf::Tlds => "Last labels",
        TopOf::Domains => "Registrable domains",
        TopOf::Suffixes => "Public suffixes",
        TopOf::HostProblems => "Problems of hosts",
    }
}

/// What distinct items are called.
pub(super) const fn items(of: DistinctOf) -> &'static str {
    match of {
        DistinctOf::Hosts => "hosts",
        DistinctOf::Lines => "lines",
        DistinctOf::Domains => "registrable domains",
        DistinctOf::Canonical => "canonical forms",
        DistinctOf::Surt => "SURT keys",
        DistinctOf::WhatwgHref => "URLs of browsers",
    }
}

/// A share of a whole as a percentage with two decimals. Without a whole it is a dash, and only the whole itself is 100.00.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let hundredths = (u128::from(part) * 10_000 + u128::from(whole) / 2) / u128::from(whole);
    let hundredths = match hundredths {
        0 if part > 0 => return "<0.01".to_owned(),
        10_000 if part < whole => 9_999,
        n => n,
    };
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// A number of bytes with a unit and at least three digits.
pub(super) fn size(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut unit = 0;
    let mut scaled = u128::from(bytes) * 100;
    while scaled >= 100_000 && unit + 1 < units.len() {
        scaled = (scaled + 500) / 1000;
        unit += 1;
    }
    if unit == 0 {
        format!("{bytes} B")
    } else {
        format!("{}.{:02} {}", scaled / 100, scaled % 100, units[unit])
    }
}

/// A number with its noun in singular or plural.
pub(crate) fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// The text of a warning.
pub(super) fn warning(warning: InputWarning) -> &'static str {
    match warning {
        InputWarning::Utf16 => "UTF-16, decoded; bytes and offsets are those of its UTF-8 text",
        InputWarning::ByteOrderMark => "begins with a byte order mark",
        InputWarning::NoFinalLineEnd => "no line end at its end",
        InputWarning::FewAccepted => "rfc3986 accepts hardly any line",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(percent(1, 0), "-");
        assert_eq!(percent(1, 3), "33.33");
        assert_eq!(percent(1, 1_000_000), "<0.01");
        assert_eq!(percent(999_999, 1_000_000), "99.99");
        assert_eq!(percent(5, 5), "100.00");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(4_852_686), "4.85 MB");
        assert_eq!(plural(1, "line", "lines"), "1 line");
    }
}
