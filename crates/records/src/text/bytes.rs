//! What each byte of a text means to a URL in it. X2 and so on are the rules of `tests/conformance/CONTEXT.md`.

/// What a byte means to the URL before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// It belongs to the URL.
    Plain,
    /// It ends the URL (X2).
    Ender,
    /// It opens a bracket of this kind (X5).
    Opening(Bracket),
    /// It closes a bracket of this kind.
    Closing(Bracket),
    /// It may end the URL (X6).
    Apostrophe,
    /// It may begin a character reference that ends the URL (X4).
    Ampersand,
    /// It is part of a character that may end the URL (X3).
    NotAscii,
}

/// The kinds of brackets that are balanced in a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    Round,
    Square,
    Curly,
}

/// The class of each byte.
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte < classes.len() {
        #[allow(clippy::cast_possible_truncation, reason = "there are 256 bytes")]
        let class = class(byte as u8);
        classes[byte] = class;
        byte += 1;
    }
    classes
};

const fn class(byte: u8) -> Class {
    match byte {
        0..=b' ' | 0x7f | b'"' | b'<' | b'>' | b'\\' | b'`' | b'|' => Class::Ender,
        b'(' => Class::Opening(Bracket::Round),
        b'[' => Class::Opening(Bracket::Square),
        b'{' => Class::Opening(Bracket::Curly),
        b')' => Class::Closing(Bracket::Round),
        b']' => Class::Closing(Bracket::Square),
        b'}' => Class::Closing(Bracket::Curly),
        b'\'' => Class::Apostrophe,
        b'&' => Class::Ampersand,
        0x80.. => Class::NotAscii,
        _ => Class::Plain,
    }
}

impl Class {
    #[inline(always)]
    pub(super) fn of(byte: u8) -> Self {
        static TABLE: [Class; 256] = CLASSES;
        TABLE[usize::from(byte)]
    }
}

/// Whether a byte ends any URL, and any word (X14).
#[inline(always)]
pub(super) fn is_ender(byte: u8) -> bool {
    Class::of(byte) == Class::Ender
}

/// Whether each byte always belongs to the URL before it.
static IS_PLAIN: [bool; 256] = {
    let mut is_plain = [false; 256];
    let mut byte = 0;
    while byte < is_plain.len() {
        is_plain[byte] = matches!(CLASSES[byte], Class::Plain);
        byte += 1;
    }
    is_plain
};

/// How many bytes at the start of `text` always belong to the URL before them.
#[inline(always)]
pub(super) fn plain_len(text: &[u8]) -> usize {
    let is_plain = |byte: &u8| IS_PLAIN[usize::from(*byte)];
    // Eight bytes at once, with one branch.
    let is_whole = |eight: &&[u8; 8]| eight.iter().fold(true, |all, byte| all & is_plain(byte));
    let len = 8 * text.as_chunks().0.iter().take_while(is_whole).count();
    len + text[len..].iter().take_while(|byte| is_plain(byte)).count()
}

/// The bytes of a scheme (RFC 3986, section 3.1).
#[inline(always)]
pub(super) fn is_of_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// Whether `text` begins with a character that ends a URL although it is not ASCII: white space, a control character, a
/// quotation mark, or punctuation of a script that puts no space after it (X3).
pub(super) fn begins_with_ender(text: &[u8]) -> bool {
    let len = match text.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        _ => return false,
    };
    let character = text.get(..len).and_then(|bytes| str::from_utf8(bytes).ok());
    // In the order of their code points.
    #[rustfmt::skip]
    let is_ender = matches!(character.and_then(|character| character.chars().next()), Some(
        '\u{80}'..='\u{a0}' | '«' | '»' | '،' | '؛' | '؟' | '۔' | '।' | '॥' | '\u{1680}'
        | '\u{2000}'..='\u{200b}' | '—' | '―' | '‘'..='‟' | '…' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '‹' | '›' | '\u{205f}'
        | '\u{3000}'..='〃' | '〈'..='】' | '〔'..='〛' | '〝'..='〟'
        | '\u{feff}' | '！' | '＂' | '＇' | '（' | '）' | '，' | '．' | '：' | '；' | '＜' | '＞' | '？' | '［' | '］' | '｛'..='｝' | '｟'..='､'
    ));
    is_ender
}
