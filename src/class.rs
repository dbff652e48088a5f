//! The alphabet: what the streams tell apart of a byte, in eight bits, and the classes that come of it.
//!
//! A byte's *code* has one bit for each of eight *planes*. The planes mean little by themselves; every class that the
//! streams ask for is a function of three or so of them ([`Classes`]). A byte that no grammar has anywhere has the code 0,
//! which is why bytes above 7F need no table and padding with zeros is harmless.

use std::ops::{BitAnd, BitOr, Not};

/// A line terminator: LF, and CR.
const END: u8 = 1 << 0;
/// A punctuation mark that some grammar has, but not in plain hosts; with [`END`] it is CR.
const MARK: u8 = 1 << 1;
/// What plain hosts are made of: letters, digits, "-" and ".".
const HOST: u8 = 1 << 2;
/// With [`HOST`] a hexadecimal digit; with [`MARK`] one of "/" "?" "#" ":".
const X: u8 = 1 << 3;
/// With [`HOST`] a digit, "-" or "."; with [`MARK`] one of ":" "%" "~" "+".
const D: u8 = 1 << 4;
/// Tell apart what the planes above do not: letters of common schemes, digits of noteworthy escapes, single marks.
const A: u8 = 1 << 5;
const B: u8 = 1 << 6;
const C: u8 = 1 << 7;

/// The code of `byte`.
const fn code(byte: u8) -> u8 {
    match byte.to_ascii_lowercase() {
        b'\n' => END,
        b'\r' => END | MARK,
        b'/' => MARK | X | A,
        b'?' => MARK | X | B,
        b'#' => MARK | X | C,
        b':' => MARK | X | D,
        b'+' => MARK | D | A,
        b'%' => MARK | D | B,
        b'~' => MARK | D | C,
        b'=' => MARK | A,
        b';' => MARK | A | B,
        b'"' | b'[' | b']' => MARK | B,
        b'_' | b'@' | b'&' | b'$' | b'!' | b'*' | b'\'' | b'(' | b')' | b',' => MARK,
        b'.' => HOST | D | A,
        b'-' => HOST | D,
        b'0' => HOST | X | D | A,
        b'1' => HOST | X | D | A | C,
        b'2' => HOST | X | D | B,
        b'3' => HOST | X | D | B | C,
        b'4'..=b'9' => HOST | X | D,
        b'f' => HOST | X | A,
        b'b' => HOST | X | B,
        b'e' => HOST | X | C,
        b'a' | b'c' | b'd' => HOST | X,
        b'h' => HOST | A,
        b't' => HOST | B,
        b'p' => HOST | C,
        b's' => HOST | A | B,
        b'i' => HOST | A | C,
        b'l' => HOST | B | C,
        b'a'..=b'z' => HOST,
        _ => 0,
    }
}

/// The codes of the bytes below 80; those of all others are 0.
pub(crate) static CODES: [u8; 128] = {
    let mut codes = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        codes[byte as usize] = code(byte);
        byte += 1;
    }
    codes
};

/// The classes that the streams ask for, each a set of bytes: one bit for each byte read.
///
/// Each is made when it is asked for, so that few of them have to be kept at a time.
#[derive(Clone, Copy)]
pub(crate) struct Classes<W> {
    /// For each bit of the codes, that bit of each byte read.
    pub(crate) planes: [W; 8],
}

#[allow(clippy::many_single_char_names, reason = "the planes and letters are named so")]
impl<W: Copy + BitAnd<Output = W> + BitOr<Output = W> + Not<Output = W>> Classes<W> {
    /// LF.
    #[inline(always)]
    pub(crate) fn newline(&self) -> W {
        let [end, mark, ..] = self.planes;
        end & !mark
    }

    /// LF and CR.
    #[inline(always)]
    pub(crate) fn end(&self) -> W {
        let [end, ..] = self.planes;
        end
    }

    /// CR.
    #[inline(always)]
    pub(crate) fn cr(&self) -> W {
        let [end, mark, ..] = self.planes;
        end & mark
    }

    /// "/".
    #[inline(always)]
    pub(crate) fn slash(&self) -> W {
        let [_, mark, _, x, _, a, ..] = self.planes;
        mark & x & a
    }

    /// "?".
    #[inline(always)]
    pub(crate) fn question(&self) -> W {
        let [_, mark, _, x, _, _, b, ..] = self.planes;
        mark & x & b
    }

    /// "#".
    #[inline(always)]
    pub(crate) fn hash(&self) -> W {
        let [_, mark, _, x, _, _, _, c] = self.planes;
        mark & x & c
    }

    /// ":".
    #[inline(always)]
    pub(crate) fn colon(&self) -> W {
        let [_, mark, _, x, d, ..] = self.planes;
        mark & x & d
    }

    /// "%".
    #[inline(always)]
    pub(crate) fn percent(&self) -> W {
        let [_, mark, _, _, d, _, b, ..] = self.planes;
        mark & d & b
    }

    /// "~".
    #[inline(always)]
    pub(crate) fn tilde(&self) -> W {
        let [_, mark, _, _, d, _, _, c] = self.planes;
        mark & d & c
    }

    /// "/" and "?".
    #[inline(always)]
    pub(crate) fn slash_question(&self) -> W {
        let [_, mark, _, x, _, a, b, ..] = self.planes;
        (mark & x) & (a | b)
    }

    /// "/" "?" "#" ":", one of which ends the first segment of a reference.
    #[inline(always)]
    pub(crate) fn delimiter(&self) -> W {
        let [_, mark, _, x, ..] = self.planes;
        mark & x
    }

    /// ";".
    #[inline(always)]
    pub(crate) fn semicolon(&self) -> W {
        let [_, mark, _, x, d, a, b, ..] = self.planes;
        (mark & !(x | d)) & a & b
    }

    /// ";" and "=".
    #[inline(always)]
    pub(crate) fn semicolon_equals(&self) -> W {
        let [_, mark, _, x, d, a, ..] = self.planes;
        (mark & !(x | d)) & a
    }

    /// What is legal in some grammar or in some place only, and not decided by streams: a quote, or a bracket.
    #[inline(always)]
    pub(crate) fn odd(&self) -> W {
        let [_, mark, _, x, d, a, b, ..] = self.planes;
        (mark & !(x | d)) & b & !a
    }

    /// What no grammar has anywhere.
    #[inline(always)]
    pub(crate) fn illegal(&self) -> W {
        let [end, mark, host, ..] = self.planes;
        !(end | mark | host)
    }

    /// Letters, digits, "-" and ".".
    #[inline(always)]
    pub(crate) fn host(&self) -> W {
        let [_, _, host, ..] = self.planes;
        host
    }

    /// Letters, digits, "-", "." and "+".
    #[inline(always)]
    pub(crate) fn scheme(&self) -> W {
        let [_, mark, host, _, d, a, ..] = self.planes;
        host | (mark & d & a)
    }

    /// Digits.
    #[inline(always)]
    pub(crate) fn digit(&self) -> W {
        let [_, _, host, x, d, ..] = self.planes;
        host & x & d
    }

    /// Hexadecimal digits.
    #[inline(always)]
    pub(crate) fn hex(&self) -> W {
        let [_, _, host, x, ..] = self.planes;
        host & x
    }

    /// Letters.
    #[inline(always)]
    pub(crate) fn alpha(&self) -> W {
        let [_, _, host, _, d, ..] = self.planes;
        host & !d
    }

    /// "-" and ".".
    #[inline(always)]
    pub(crate) fn hyphen_dot(&self) -> W {
        let [_, _, host, x, d, ..] = self.planes;
        host & d & !x
    }

    /// ".".
    #[inline(always)]
    pub(crate) fn dot(&self) -> W {
        let [_, _, host, x, d, a, ..] = self.planes;
        (host & d & !x) & a
    }

    /// The letter of both cases, as the others below.
    #[inline(always)]
    pub(crate) fn h(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.planes;
        (host & !x & !d) & (a & !b & !c)
    }

    #[inline(always)]
    pub(crate) fn t(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.planes;
        (host & !x & !d) & (b & !a & !c)
    }

    #[inline(always)]
    pub(crate) fn p(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.planes;
        (host & !x & !d) & (c & !a & !b)
    }

    #[inline(always)]
    pub(crate) fn s(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.planes;
        (host & !x & !d) & (a & b & !c)
    }

    #[inline(always)]
    pub(crate) fn i(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.planes;
        (host & !x & !d) & (a & c & !b)
    }

    #[inline(always)]
    pub(crate) fn l(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.planes;
        (host & !x & !d) & (b & c & !a)
    }

    #[inline(always)]
    pub(crate) fn f(&self) -> W {
        let [_, _, host, x, d, a, ..] = self.planes;
        (host & x & !d) & a
    }

    #[inline(always)]
    pub(crate) fn b(&self) -> W {
        let [_, _, host, x, d, _, b, ..] = self.planes;
        (host & x & !d) & b
    }

    #[inline(always)]
    pub(crate) fn e(&self) -> W {
        let [_, _, host, x, d, _, _, c] = self.planes;
        (host & x & !d) & c
    }

    /// "0".
    #[inline(always)]
    pub(crate) fn zero(&self) -> W {
        let [_, _, host, x, d, a, _, c] = self.planes;
        (host & x & d) & a & !c
    }

    /// "0" and "1".
    #[inline(always)]
    pub(crate) fn zero_one(&self) -> W {
        let [_, _, host, x, d, a, ..] = self.planes;
        (host & x & d) & a
    }

    /// "2" and "3".
    #[inline(always)]
    pub(crate) fn two_three(&self) -> W {
        let [_, _, host, x, d, _, b, ..] = self.planes;
        (host & x & d) & b
    }

    /// "3".
    #[inline(always)]
    pub(crate) fn three(&self) -> W {
        let [_, _, host, x, d, _, b, c] = self.planes;
        (host & x & d) & b & c
    }
}

/// The planes by logic instead of by table: `bits` has each bit of each byte read, the lowest first.
#[inline(always)]
pub(crate) fn codes_of_bits<W: Copy + BitAnd<Output = W> + BitOr<Output = W> + Not<Output = W>>(
    bits: [W; 8],
) -> [W; 8] {
    let [b0, b1, b2, b3, b4, b5, b6, b7] = bits;
    // The lower half of the byte: `hi(n) & lo(n)` is the bytes xn.
    let hi = [!(b3 | b2), b2 & !b3, b3 & !b2, b3 & b2];
    let lo = [!(b1 | b0), b0 & !b1, b1 & !b0, b1 & b0];
    let low = |n: usize| hi[n / 4] & lo[n % 4];
    // The upper half.
    let row_0 = !(b7 | b6 | b5 | b4);
    let rows_23 = b5 & !(b6 | b7);
    let (row_2, row_3) = (rows_23 & !b4, rows_23 & b4);
    let rows_4567 = b6 & !b7;
    let (rows_46, rows_57) = (rows_4567 & !b4, rows_4567 & b4);
    let (row_5, row_7) = (rows_57 & !b5, rows_57 & b5);

    let cr = row_0 & low(13);
    let digit = row_3 & !(b3 & (b2 | b1));
    // 27 to 31 are no letters, nor is 0.
    let above_z = b3 & (b2 | (b1 & b0));
    let letter = (rows_57 & !above_z) | (rows_46 & !low(0));
    let hex_letter = rows_46 & !b3 & !(low(0) | low(7));
    let dot = row_2 & low(14);
    let hyphen_dot = dot | (row_2 & low(13));

    let slash = row_2 & low(15);
    let question = row_3 & low(15);
    let hash = row_2 & low(3);
    let colon = row_3 & low(10);
    let plus = row_2 & low(11);
    let percent = row_2 & low(5);
    let tilde = row_7 & low(14);
    let semicolon = row_3 & low(11);
    let equals = row_3 & low(13);
    let odd = (row_2 & low(2)) | (row_5 & (low(11) | low(13)));
    // In row 2 all but the space are marks or made hosts of.
    let safe = (row_2 & !low(0) & !hyphen_dot) | (row_5 & low(15)) | (rows_46 & low(0) & !b5);

    let delimiter = slash | question | hash | colon;
    [
        cr | (row_0 & low(10)),
        cr | delimiter | tilde | semicolon | equals | odd | safe,
        letter | digit | hyphen_dot,
        digit | hex_letter | delimiter,
        digit | hyphen_dot | colon | plus | percent | tilde,
        // Zero and one; f; h, s, i.
        slash
            | plus
            | semicolon
            | equals
            | dot
            | (row_3 & hi[0] & !b1)
            | (rows_46 & (low(6) | (b3 & !b2 & !b1)))
            | (rows_57 & low(3)),
        // Two and three; b; s, t, l.
        question
            | percent
            | semicolon
            | odd
            | (row_3 & !b3 & !b2 & b1)
            | (rows_46 & (low(2) | low(12)))
            | (rows_57 & (low(3) | low(4))),
        // One and three; e; p, i, l.
        hash | tilde | (row_3 & hi[0] & b0) | (rows_46 & (low(5) | low(9) | low(12))) | (rows_57 & low(0)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planes(byte: u8) -> [u64; 8] {
        let code = CODES.get(usize::from(byte)).copied().unwrap_or(0);
        std::array::from_fn(|plane| 0_u64.wrapping_sub(u64::from(code >> plane & 1)))
    }

    #[test]
    fn classes_are_what_their_names_say() {
        for byte in 0..=u8::MAX {
            let classes = Classes { planes: planes(byte) };
            let lower = byte.to_ascii_lowercase();
            let is = |class: u64, of: &[u8], name: &str| {
                assert_eq!(class, if of.contains(&byte) { !0 } else { 0 }, "{name} {byte:02x}");
            };
            let holds = |class: u64, belongs: bool, name: &str| {
                assert_eq!(class, if belongs { !0 } else { 0 }, "{name} {byte:02x}");
            };
            is(classes.newline(), b"\n", "newline");
            is(classes.end(), b"\r\n", "end");
            is(classes.cr(), b"\r", "cr");
            is(classes.slash(), b"/", "slash");
            is(classes.question(), b"?", "question");
            is(classes.hash(), b"#", "hash");
            is(classes.colon(), b":", "colon");
            is(classes.percent(), b"%", "percent");
            is(classes.tilde(), b"~", "tilde");
            is(classes.slash_question(), b"/?", "slash_question");
            is(classes.delimiter(), b"/?#:", "delimiter");
            is(classes.semicolon(), b";", "semicolon");
            is(classes.semicolon_equals(), b";=", "semicolon_equals");
            is(classes.odd(), b"\"[]", "odd");
            let legal = b"\"[]/?#:%~;=$-_.+!*'(),&@\r\n";
            holds(classes.illegal(), !byte.is_ascii_alphanumeric() && !legal.contains(&byte), "illegal");
            holds(classes.host(), byte.is_ascii_alphanumeric() || b"-.".contains(&byte), "host");
            holds(classes.scheme(), crate::scheme::is_scheme_byte(byte), "scheme");
            holds(classes.digit(), byte.is_ascii_digit(), "digit");
            holds(classes.hex(), byte.is_ascii_hexdigit(), "hex");
            holds(classes.alpha(), byte.is_ascii_alphabetic(), "alpha");
            is(classes.hyphen_dot(), b"-.", "hyphen_dot");
            is(classes.dot(), b".", "dot");
            holds(classes.h(), lower == b'h', "h");
            holds(classes.t(), lower == b't', "t");
            holds(classes.p(), lower == b'p', "p");
            holds(classes.s(), lower == b's', "s");
            holds(classes.f(), lower == b'f', "f");
            holds(classes.i(), lower == b'i', "i");
            holds(classes.l(), lower == b'l', "l");
            holds(classes.e(), lower == b'e', "e");
            holds(classes.b(), lower == b'b', "b");
            is(classes.zero(), b"0", "zero");
            is(classes.zero_one(), b"01", "zero_one");
            is(classes.two_three(), b"23", "two_three");
            is(classes.three(), b"3", "three");
        }
    }

    #[test]
    fn logic_is_the_table() {
        for byte in 0..=u8::MAX {
            let bits = std::array::from_fn(|bit| 0_u64.wrapping_sub(u64::from(byte >> bit & 1)));
            assert_eq!(codes_of_bits(bits), planes(byte), "{byte:02x}");
        }
    }
}
