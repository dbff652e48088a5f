//! Decodes UTF-16 with a byte order mark to UTF-8. The standard library pairs surrogates.

use std::io::{self, Cursor, Read};

use crate::object::Seekable;

/// Whether content that begins with `head` is UTF-16 with a byte order mark. Four bytes are enough to tell it from UTF-32.
pub fn has_mark(head: &[u8]) -> bool {
    matches!(head, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) && !head.starts_with(b"\xff\xfe\0\0")
}

/// The UTF-8 text of `source`, which begins with a byte order mark, without the mark. Half a pair of surrogates becomes
/// U+FFFD, and so does half a code unit at the end.
pub fn decode<R: Read>(source: R) -> impl Read + use<R> {
    Decoder { source, bytes: vec![0; LEN], len: 0, unit: None, text: Vec::new(), given: 0, has_ended: false }
}

/// How many bytes are read at once.
const LEN: usize = 64 << 10;

/// A source of UTF-16.
struct Decoder<R> {
    source: R,
    /// A buffer. Its first `len` bytes were read and not decoded.
    bytes: Vec<u8>,
    len: usize,
    /// How two bytes form a code unit. `None` before the byte order mark.
    unit: Option<fn([u8; 2]) -> u16>,
    /// The decoded text. Its first `given` bytes were given out.
    text: Vec<u8>,
    given: usize,
    has_ended: bool,
}

impl<R: Read> Decoder<R> {
    /// Reads once, and decodes what was read.
    fn fill(&mut self) -> io::Result<()> {
        let n = self.source.read(&mut self.bytes[self.len..])?;
        self.has_ended = n == 0;
        self.len += n;
        self.text.clear();
        self.given = 0;
        let (mut pairs, half) = self.bytes[..self.len].as_chunks();
        let unit = match (self.unit, pairs) {
            (Some(unit), _) => unit,
            (None, [mark, behind @ ..]) => {
                pairs = behind;
                *self.unit.insert(if *mark == [0xfe, 0xff] { u16::from_be_bytes } else { u16::from_le_bytes })
            }
            (None, []) => return Ok(()),
        };
        let mut units: Vec<u16> = pairs.iter().copied().map(unit).collect();
        // The other half of the pair may follow.
        let waits = !self.has_ended && matches!(units.last(), Some(0xd800..=0xdbff));
        units.truncate(units.len() - usize::from(waits));
        push(&units, &mut self.text);
        if self.has_ended && !half.is_empty() {
            push(&[0xfffd], &mut self.text);
        }
        let rest = self.len - half.len() - 2 * usize::from(waits);
        self.bytes.copy_within(rest..self.len, 0);
        self.len -= rest;
        Ok(())
    }
}

/// Appends code units as UTF-8. Most text is ASCII.
fn push(mut units: &[u16], text: &mut Vec<u8>) {
    let is_ascii = |unit: &u16| *unit < 0x80;
    while !units.is_empty() {
        let ascii = &units[..units.iter().position(|unit| !is_ascii(unit)).unwrap_or(units.len())];
        text.extend(ascii.iter().map(|unit| unit.to_le_bytes()[0]));
        units = &units[ascii.len()..];
        let other = &units[..units.iter().position(is_ascii).unwrap_or(units.len())];
        for char in char::decode_utf16(other.iter().copied()) {
            let char = char.unwrap_or(char::REPLACEMENT_CHARACTER);
            text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        }
        units = &units[other.len()..];
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() && !self.has_ended && !buffer.is_empty() {
            self.fill()?;
        }
        let n = buffer.len().min(self.text.len() - self.given);
        buffer[..n].copy_from_slice(&self.text[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }
}

/// The first bytes of a file, which is at its start and stays there.
///
/// # Errors
/// When the file cannot be read.
pub fn first_bytes(file: &Seekable) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(4);
    file.take(4).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(head)
}

/// The source from its start, decoded if it begins with the mark, and whether it does.
///
/// # Errors
/// When the source cannot be read.
pub fn decode_if_marked<'a>(
    mut source: impl Read + Send + 'a,
) -> io::Result<(Box<dyn Read + Send + 'a>, bool)> {
    let mut head = Vec::with_capacity(4);
    source.by_ref().take(4).read_to_end(&mut head)?;
    let is_marked = has_mark(&head);
    let all = Cursor::new(head).chain(source);
    Ok((if is_marked { Box::new(decode(all)) } else { Box::new(all) }, is_marked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slow_source::Slow;
    use urlsift_grammar::random::Random;

    #[test]
    fn text_is_that_of_the_standard_library() {
        let mut random = Random::new(16);
        let units = [0x61, 0x0a, 0xe9, 0x8a9e, 0xfeff, 0xd83d, 0xde00, 0xdbff, 0xdfff];
        for round in 0..2000 {
            let units: Vec<u16> = (0..random.below(12)).map(|_| units[random.below(units.len())]).collect();
            let mut expected = String::from_utf16_lossy(&units);
            let to_bytes = if round % 2 == 0 { u16::to_be_bytes } else { u16::to_le_bytes };
            let mut bytes: Vec<u8> = [0xfeff].iter().chain(&units).flat_map(|&unit| to_bytes(unit)).collect();
            if round % 3 == 0 {
                bytes.push(b'a');
                expected.push('\u{fffd}');
            }
            for step in [1, 2, 3, 64] {
                let mut text = Vec::new();
                decode(Slow(&bytes, step)).read_to_end(&mut text).unwrap();
                assert_eq!(text.escape_ascii().to_string(), expected.as_bytes().escape_ascii().to_string());
            }
        }
    }
}
