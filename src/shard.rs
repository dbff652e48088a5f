//! What a line is, and where bytes in memory can be cut between lines.

use memchr::{memchr, memrchr};

/// Cuts `bytes` into `N` pieces of nearly equal length, each beginning where a line begins; some may be empty. A line
/// begins at the start, and behind each LF.
pub(crate) fn cut<const N: usize>(bytes: &[u8]) -> [&[u8]; N] {
    let mut rest = bytes;
    std::array::from_fn(|n| {
        let wanted = rest.len() / (N - n);
        let end = if n + 1 == N {
            rest.len()
        } else {
            memchr(b'\n', &rest[wanted.saturating_sub(1).min(rest.len())..])
                .map_or(rest.len(), |lf| wanted.saturating_sub(1) + lf + 1)
        };
        let piece;
        (piece, rest) = rest.split_at(end);
        piece
    })
}

/// Where the last line of `bytes` that is whole ends: behind its LF; `None` if there is none.
pub(crate) fn last_end(bytes: &[u8]) -> Option<usize> {
    memrchr(b'\n', bytes).map(|lf| lf + 1)
}

/// The line in `bytes`, which hold it with its terminator or without: the line itself, and whether it ended in CR.
///
/// The terminator is LF with all CRs that stand directly before it; the last line of an input may lack the LF (SPEC A2).
#[inline(always)]
pub(crate) fn trim_terminator(bytes: &[u8]) -> (&[u8], bool) {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if line.last() != Some(&b'\r') {
        return (line, false);
    }
    let end = line.iter().rposition(|&byte| byte != b'\r').map_or(0, |last| last + 1);
    (&line[..end], true)
}

/// `bytes`, which begin at `offset`, without the UTF-8 byte order mark at the very start of an input (SPEC A3).
pub(crate) fn skip_byte_order_mark(bytes: &[u8], offset: u64) -> &[u8] {
    if offset == 0 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines() {
        for text in [
            &b""[..],
            b"\n",
            b"a",
            b"a\n",
            b"a\nb\nc\n",
            b"\n\n\n\n\n\n\n\n",
            b"aaaaaaaaaaaaaaaaaaaaaa\nb\nc",
            b"a\nbbbbbbbbbbbbbbbbb",
        ] {
            let pieces: [&[u8]; 4] = cut(text);
            assert_eq!(pieces.concat(), text);
            for (piece, next) in pieces.iter().zip(&pieces[1..]) {
                assert!(piece.is_empty() || next.is_empty() || piece.ends_with(b"\n"), "{text:?} {pieces:?}");
            }
        }
    }

    #[test]
    fn terminators() {
        for (bytes, line, cr) in [
            ("a\n", "a", false),
            ("a", "a", false),
            ("a\r\n", "a", true),
            ("a\r\r\n", "a", true),
            ("a\r", "a", true),
            ("\r\n", "", true),
            ("\r", "", true),
            ("\n", "", false),
            ("a\rb\n", "a\rb", false),
        ] {
            assert_eq!(trim_terminator(bytes.as_bytes()), (line.as_bytes(), cr), "{bytes:?}");
        }
    }
}
