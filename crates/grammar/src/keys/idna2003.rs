//! Host names as ASCII by IDNA 2003 (RFC 3490, section 4.1), which `java.net.IDN` follows (KEYS K24).
//!
//! The mapping of UTS 46, which browsers use, was made to extend the mapping of IDNA 2003. It differs for 105 characters of Unicode 3.2, the
//! version that IDNA 2003 knows.

use std::sync::LazyLock;

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_normalizer::uts46::Uts46MapperBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::BidiClass;

/// The largest number of bytes in a label.
const LABEL_LIMIT: usize = 63;

/// `ToASCII` for each label of `host`; `None` if it fails for one. Letter case of ASCII labels stays. The cost is linear.
pub(super) fn to_ascii(host: &str) -> Option<String> {
    let is_dot = |c| matches!(c, '.' | '\u{3002}' | '\u{ff0e}' | '\u{ff61}');
    let without_dot = host.strip_suffix(is_dot);
    let mut ascii = String::with_capacity(host.len());
    if without_dot != Some("") {
        for label in without_dot.unwrap_or(host).split(is_dot) {
            push_label(&mut ascii, label)?;
            ascii.push('.');
        }
        ascii.pop();
    }
    if without_dot.is_some() {
        ascii.push('.');
    }
    Some(ascii)
}

fn push_label(ascii: &mut String, label: &str) -> Option<()> {
    let start = ascii.len();
    if label.is_ascii() {
        ascii.push_str(label);
    } else {
        let label = nameprep(label)?;
        if label.is_ascii() {
            ascii.push_str(&label);
        } else if label.len() > 4 * LABEL_LIMIT || label.as_bytes().starts_with(b"xn--") {
            // Punycode is quadratic, and has a byte at least for each character.
            return None;
        } else {
            ascii.push_str("xn--");
            ascii.push_str(&idna::punycode::encode_str(&label)?);
        }
    }
    (1..=LABEL_LIMIT).contains(&(ascii.len() - start)).then_some(())
}

/// RFC 3491, without unassigned code points; `None` if it fails.
fn nameprep(label: &str) -> Option<String> {
    let mapper = Uts46MapperBorrowed::new();
    let mut mapped = String::with_capacity(label.len());
    for character in label.chars() {
        match character {
            'ß' => mapped.push_str("ss"),
            'ς' => mapped.push('σ'),
            '\u{33c7}' => mapped.push_str("co."),
            // Joiners and a soft hyphen, which RFC 3454, table B.1, removes.
            '\u{200c}' | '\u{200d}' | '\u{1806}' => {}
            // Five ideographs whose normalisation was corrected later.
            '\u{2f868}' => mapped.push('\u{2136a}'),
            '\u{2f874}' => mapped.push('\u{5f33}'),
            '\u{2f91f}' => mapped.push('\u{43ab}'),
            '\u{2f95f}' => mapped.push('\u{7aae}'),
            '\u{2f9bf}' => mapped.push('\u{4d57}'),
            _ if is_not_for_uts46(character) => mapped.push(character),
            // Controls that IDNA 2003 prohibits and UTS 46 removes.
            '\u{180e}' | '\u{2061}'..='\u{2063}' | '\u{206a}'..='\u{206f}' | '\u{1d173}'..='\u{1d17a}' => {
                return None;
            }
            _ if is_unassigned(character) => return None,
            _ => mapped.extend(mapper.map_normalize(std::iter::once(character))),
        }
    }
    let prepared = ComposingNormalizerBorrowed::new_nfkc().normalize(&mapped).into_owned();
    // The mapping of UTS 46 has U+FFFD for what is prohibited.
    (!prepared.contains('\u{fffd}') && has_one_direction(&prepared)).then_some(prepared)
}

/// Returns whether the normalisation alone maps `character` as IDNA 2003 does: capitals without small letters in Unicode 3.2, fillers that
/// UTS 46 removes, and characters with a dot, which UTS 46 refuses.
fn is_not_for_uts46(character: char) -> bool {
    let is_capital = matches!(character, '\u{4c0}' | '\u{10a0}'..='\u{10c5}' | '\u{2132}' | '\u{2183}');
    let is_filler =
        matches!(character, '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}');
    let has_dot = matches!(
        character,
        '\u{2024}'..='\u{2026}' | '\u{2488}'..='\u{249b}' | '\u{33c2}' | '\u{33d8}' | '\u{fe30}' | '\u{fe52}'
    );
    is_capital || is_filler || has_dot
}

/// RFC 3454, section 6: text with a letter that is written from right to left begins and ends with such letters, and has no others.
fn has_one_direction(text: &str) -> bool {
    let classes = CodePointMapData::<BidiClass>::new();
    let is_rtl = |c| matches!(classes.get(c), BidiClass::RightToLeft | BidiClass::ArabicLetter);
    let ends = [text.chars().next(), text.chars().next_back()];
    !text.chars().any(is_rtl)
        || ends.into_iter().flatten().all(is_rtl)
            && !text.chars().any(|c| classes.get(c) == BidiClass::LeftToRight)
}

/// Returns whether Unicode 3.2 does not assign `character` (RFC 3454, table A.1).
fn is_unassigned(character: char) -> bool {
    static RANGES: LazyLock<Vec<(u32, u32)>> = LazyLock::new(|| {
        let number = |text| u32::from_str_radix(text, 16).ok();
        let ranges = include_str!("../../data/unassigned-3.2.txt").split_ascii_whitespace();
        let ranges = ranges.map(|range| range.split_once('-').unwrap_or((range, range)));
        ranges.filter_map(|(first, last)| Some((number(first)?, number(last)?))).collect()
    });
    let character = u32::from(character);
    let after = RANGES.partition_point(|&(first, _)| first <= character);
    after > 0 && character <= RANGES[after - 1].1
}

#[cfg(test)]
mod tests {
    /// Hosts and what `java.net.IDN.toASCII` (Java 17) gives for them, `!` if it throws: the characters whose mapping differs from UTS 46,
    /// and drawn ones.
    #[test]
    fn hosts_are_those_of_java() {
        let table = include_str!("../../tests/data/java-net-idn.tsv");
        for row in table.lines() {
            let (host, expected) = row.split_once('\t').unwrap();
            let expected = (expected != "!").then_some(expected);
            assert_eq!(super::to_ascii(host).as_deref(), expected, "{}", host.escape_unicode());
        }
        assert!(table.lines().count() > 500);
    }
}
