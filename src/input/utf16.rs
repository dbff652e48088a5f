//! Decodes UTF-16 with a byte order mark to UTF-8.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};

use encoding_rs_io::DecodeReaderBytesBuilder;

/// Whether content that begins with `head` is UTF-16 with a byte order mark. Four bytes are enough to tell it from UTF-32.
pub(crate) fn has_mark(head: &[u8]) -> bool {
    matches!(head, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) && !head.starts_with(b"\xff\xfe\0\0")
}

/// The UTF-8 text of `source`, which begins with a byte order mark, without the mark. Half a pair of surrogates becomes
/// U+FFFD.
pub(crate) fn decode(source: impl Read) -> impl Read {
    DecodeReaderBytesBuilder::new().strip_bom(true).build(source)
}

/// The first bytes of a file, which is at its start and stays there.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn first_bytes(mut file: &File) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(4);
    file.take(4).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(head)
}

/// The source from its start, decoded if it begins with the mark, and whether it does.
///
/// # Errors
/// When the source cannot be read.
pub(crate) fn decode_if_marked<'a>(
    mut source: impl Read + Send + 'a,
) -> io::Result<(Box<dyn Read + Send + 'a>, bool)> {
    let mut head = Vec::with_capacity(4);
    source.by_ref().take(4).read_to_end(&mut head)?;
    let is_marked = has_mark(&head);
    let all = Cursor::new(head).chain(source);
    Ok((if is_marked { Box::new(decode(all)) } else { Box::new(all) }, is_marked))
}
