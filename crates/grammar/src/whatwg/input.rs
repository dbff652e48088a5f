//! The text that the parser reads, made of the bytes of a line: what section 4.4 removes at the start of the basic URL parser.

use std::borrow::Cow;

/// A line as the parser reads it, and where its bytes were.
pub(super) struct Input<'a> {
    pub(super) text: Cow<'a, str>,
    /// Whether the line is UTF-8. If it is not, U+FFFD stands for what is not.
    pub(super) is_utf8: bool,
    /// The offset in the line of the first blank or control character that was removed at an end.
    pub(super) trimmed: Option<usize>,
    /// The offset in the line of the first tab or line end that was removed.
    pub(super) removed: Option<usize>,
    offsets: Offsets,
}

/// Where in the line the bytes of the text were.
enum Offsets {
    /// All after so many bytes.
    Behind(usize),
    /// One by one, and the end.
    Each(Vec<usize>),
}

impl<'a> Input<'a> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        let is_kept = |byte: &u8| *byte > b' ';
        let start = line.iter().position(is_kept).unwrap_or(line.len());
        let end = line.iter().rposition(is_kept).map_or(start, |last| last + 1);
        let kept = &line[start..end];
        let mut trimmed = None;
        if kept.len() < line.len() {
            trimmed = Some(if start > 0 { 0 } else { end });
        }
        let is_removed = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r');
        // Without branches, because nearly no line has one.
        let has_removed = kept.iter().fold(false, |found, byte| found | is_removed(byte));
        let removed = has_removed.then(|| start + kept.iter().position(is_removed).unwrap_or(0));
        let utf8 = std::str::from_utf8(kept);
        let is_utf8 = utf8.is_ok();
        let (text, offsets) = match utf8 {
            Ok(text) if removed.is_none() => (Cow::Borrowed(text), Offsets::Behind(start)),
            _ => {
                let (text, offsets) = decode(kept, start);
                (Cow::Owned(text), Offsets::Each(offsets))
            }
        };
        Self { text, is_utf8, trimmed, removed, offsets }
    }

    /// The offset in the line of the byte at `at` of the text.
    pub(super) fn offset(&self, at: usize) -> usize {
        match &self.offsets {
            Offsets::Behind(start) => start + at,
            Offsets::Each(offsets) => offsets[at.min(offsets.len() - 1)],
        }
    }
}

/// Decodes bytes that begin at `start` of the line, without tabs and line ends.
fn decode(bytes: &[u8], start: usize) -> (String, Vec<usize>) {
    let (mut text, mut offsets, mut at) = (String::with_capacity(bytes.len()), Vec::new(), start);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if !matches!(character, '\t' | '\n' | '\r') {
                text.push(character);
                offsets.extend(at..at + character.len_utf8());
            }
            at += character.len_utf8();
        }
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            offsets.extend([at; char::REPLACEMENT_CHARACTER.len_utf8()]);
            at += chunk.invalid().len();
        }
    }
    offsets.push(at);
    (text, offsets)
}
