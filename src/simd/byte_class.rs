//! The byte classes that the bit streams use ([`Classes`]). They are derived from eight *planes*, each with one bit of
//! every byte.
//!
//! There are two kinds of planes. Those of [`OfCodes`] are the bits of a *code*, which a table gives for each byte. One
//! plane means little, and a class is a function of about three. A byte that no grammar allows anywhere has the code 0,
//! so bytes above 0x7F need no table. Those of [`OfBits`] are the bits of the bytes themselves, for machines on which
//! codes cost more than they save. Padding with zeros is harmless in both.

use std::ops::{BitAnd, BitOr, Not};

/// A byte of a line terminator: LF or CR.
const END: u8 = 1 << 0;
/// A punctuation mark that some grammar allows, but not in plain hosts. With [`END`], CR.
const MARK: u8 = 1 << 1;
/// A byte of plain hosts: a letter, a digit, "-" or ".".
const HOST: u8 = 1 << 2;
/// With [`HOST`], a hexadecimal digit. With [`MARK`], one of "/" "?" "#" ":".
const X: u8 = 1 << 3;
/// With [`HOST`], a digit, "-" or ".". With [`MARK`], one of ":" "%" "~" "+".
const D: u8 = 1 << 4;
/// This plane and the next two tell apart the rest: letters of common schemes, digits of noteworthy escapes, single
/// marks.
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
        b'4' => HOST | X | D | A | B,
        b'8' => HOST | X | D | C,
        b'5'..=b'9' => HOST | X | D,
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

/// The codes of the bytes below 0x80. All other bytes have the code 0.
pub(crate) static CODES: [u8; 128] = {
    let mut codes = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        codes[byte as usize] = code(byte);
        byte += 1;
    }
    codes
};

/// The classes that the bit streams use. Each is a set of bytes, with one bit for each byte read.
///
/// Each class is computed when it is needed, so that few of them are kept at a time.
pub(crate) trait Classes<W>: Copy {
    /// LF.
    fn newline(&self) -> W;

    /// LF and CR.
    fn end(&self) -> W;

    /// CR.
    fn cr(&self) -> W;

    /// "/".
    fn slash(&self) -> W;

    /// "?".
    fn question(&self) -> W;

    /// "#".
    fn hash(&self) -> W;

    /// ":".
    fn colon(&self) -> W;

    /// "%".
    fn percent(&self) -> W;

    /// "~".
    fn tilde(&self) -> W;

    /// "/" and "?".
    fn slash_question(&self) -> W;

    /// "/" "?" "#" ":". Each of these ends the first segment of a reference.
    fn delimiter(&self) -> W;

    /// ";".
    fn semicolon(&self) -> W;

    /// ";" and "=".
    fn semicolon_equals(&self) -> W;

    /// The quote and the brackets. They are legal only in some grammars or places, and the table judges lines that have
    /// one.
    fn odd(&self) -> W;

    /// Bytes that no grammar allows anywhere.
    fn illegal(&self) -> W;

    /// Letters, digits, "-" and ".".
    fn host(&self) -> W;

    /// Letters, digits, "-", "." and "+".
    fn scheme(&self) -> W;

    /// Digits.
    fn digit(&self) -> W;

    /// Hexadecimal digits.
    fn hex(&self) -> W;

    /// Letters.
    fn alpha(&self) -> W;

    /// "-" and ".".
    fn hyphen_dot(&self) -> W;

    /// ".".
    fn dot(&self) -> W;

    /// The letter "h" in both cases. The methods for other letters work alike.
    fn h(&self) -> W;

    fn t(&self) -> W;

    fn p(&self) -> W;

    fn s(&self) -> W;

    fn i(&self) -> W;

    fn l(&self) -> W;

    fn f(&self) -> W;

    fn b(&self) -> W;

    fn e(&self) -> W;

    /// "0".
    fn zero(&self) -> W;

    /// "0" and "1".
    fn zero_one(&self) -> W;

    /// "2" and "3".
    fn two_three(&self) -> W;

    /// "3".
    fn three(&self) -> W;

    /// "4".
    fn four(&self) -> W;

    /// "8".
    fn eight(&self) -> W;
}

/// Words with the bitwise operators that classes need.
pub(crate) trait Logic:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
}

impl<W: Copy + BitAnd<Output = W> + BitOr<Output = W> + Not<Output = W>> Logic for W {}

/// Classes by code. Plane `n` has bit `n` of the code of each byte read.
#[derive(Clone, Copy)]
pub(crate) struct OfCodes<W>(pub(crate) [W; 8]);

impl<W> From<[W; 8]> for OfCodes<W> {
    #[inline(always)]
    fn from(planes: [W; 8]) -> Self {
        Self(planes)
    }
}

#[allow(clippy::many_single_char_names, reason = "the planes and letters are named so")]
impl<W: Logic> Classes<W> for OfCodes<W> {
    #[inline(always)]
    fn newline(&self) -> W {
        let [end, mark, ..] = self.0;
        end & !mark
    }

    #[inline(always)]
    fn end(&self) -> W {
        let [end, ..] = self.0;
        end
    }

    #[inline(always)]
    fn cr(&self) -> W {
        let [end, mark, ..] = self.0;
        end & mark
    }

    #[inline(always)]
    fn slash(&self) -> W {
        let [_, mark, _, x, _, a, ..] = self.0;
        mark & x & a
    }

    #[inline(always)]
    fn question(&self) -> W {
        let [_, mark, _, x, _, _, b, ..] = self.0;
        mark & x & b
    }

    #[inline(always)]
    fn hash(&self) -> W {
        let [_, mark, _, x, _, _, _, c] = self.0;
        mark & x & c
    }

    #[inline(always)]
    fn colon(&self) -> W {
        let [_, mark, _, x, d, ..] = self.0;
        mark & x & d
    }

    #[inline(always)]
    fn percent(&self) -> W {
        let [_, mark, _, _, d, _, b, ..] = self.0;
        mark & d & b
    }

    #[inline(always)]
    fn tilde(&self) -> W {
        let [_, mark, _, _, d, _, _, c] = self.0;
        mark & d & c
    }

    #[inline(always)]
    fn slash_question(&self) -> W {
        let [_, mark, _, x, _, a, b, ..] = self.0;
        (mark & x) & (a | b)
    }

    #[inline(always)]
    fn delimiter(&self) -> W {
        let [_, mark, _, x, ..] = self.0;
        mark & x
    }

    #[inline(always)]
    fn semicolon(&self) -> W {
        let [_, mark, _, x, d, a, b, ..] = self.0;
        (mark & !(x | d)) & a & b
    }

    #[inline(always)]
    fn semicolon_equals(&self) -> W {
        let [_, mark, _, x, d, a, ..] = self.0;
        (mark & !(x | d)) & a
    }

    #[inline(always)]
    fn odd(&self) -> W {
        let [_, mark, _, x, d, a, b, ..] = self.0;
        (mark & !(x | d)) & b & !a
    }

    #[inline(always)]
    fn illegal(&self) -> W {
        let [end, mark, host, ..] = self.0;
        !(end | mark | host)
    }

    #[inline(always)]
    fn host(&self) -> W {
        let [_, _, host, ..] = self.0;
        host
    }

    #[inline(always)]
    fn scheme(&self) -> W {
        let [_, mark, host, _, d, a, ..] = self.0;
        host | (mark & d & a)
    }

    #[inline(always)]
    fn digit(&self) -> W {
        let [_, _, host, x, d, ..] = self.0;
        host & x & d
    }

    #[inline(always)]
    fn hex(&self) -> W {
        let [_, _, host, x, ..] = self.0;
        host & x
    }

    #[inline(always)]
    fn alpha(&self) -> W {
        let [_, _, host, _, d, ..] = self.0;
        host & !d
    }

    #[inline(always)]
    fn hyphen_dot(&self) -> W {
        let [_, _, host, x, d, ..] = self.0;
        host & d & !x
    }

    #[inline(always)]
    fn dot(&self) -> W {
        let [_, _, host, x, d, a, ..] = self.0;
        (host & d & !x) & a
    }

    #[inline(always)]
    fn h(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.0;
        (host & !x & !d) & (a & !b & !c)
    }

    #[inline(always)]
    fn t(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.0;
        (host & !x & !d) & (b & !a & !c)
    }

    #[inline(always)]
    fn p(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.0;
        (host & !x & !d) & (c & !a & !b)
    }

    #[inline(always)]
    fn s(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.0;
        (host & !x & !d) & (a & b & !c)
    }

    #[inline(always)]
    fn i(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.0;
        (host & !x & !d) & (a & c & !b)
    }

    #[inline(always)]
    fn l(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.0;
        (host & !x & !d) & (b & c & !a)
    }

    #[inline(always)]
    fn f(&self) -> W {
        let [_, _, host, x, d, a, ..] = self.0;
        (host & x & !d) & a
    }

    #[inline(always)]
    fn b(&self) -> W {
        let [_, _, host, x, d, _, b, ..] = self.0;
        (host & x & !d) & b
    }

    #[inline(always)]
    fn e(&self) -> W {
        let [_, _, host, x, d, _, _, c] = self.0;
        (host & x & !d) & c
    }

    #[inline(always)]
    fn zero(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.0;
        (host & x & d) & (a & !b & !c)
    }

    #[inline(always)]
    fn zero_one(&self) -> W {
        let [_, _, host, x, d, a, b, _] = self.0;
        (host & x & d) & a & !b
    }

    #[inline(always)]
    fn two_three(&self) -> W {
        let [_, _, host, x, d, a, b, _] = self.0;
        (host & x & d) & b & !a
    }

    #[inline(always)]
    fn three(&self) -> W {
        let [_, _, host, x, d, _, b, c] = self.0;
        (host & x & d) & b & c
    }

    #[inline(always)]
    fn four(&self) -> W {
        let [_, _, host, x, d, a, b, _] = self.0;
        (host & x & d) & a & b
    }

    #[inline(always)]
    fn eight(&self) -> W {
        let [_, _, host, x, d, a, b, c] = self.0;
        (host & x & d) & (c & !a & !b)
    }
}

/// Classes by the bits of the bytes. Plane `n` has bit `n` of each byte read.
#[derive(Clone, Copy)]
pub(crate) struct OfBits<W>(pub(crate) [W; 8]);

impl<W: Logic> OfBits<W> {
    /// The bytes whose low four bits are `n`.
    #[inline(always)]
    fn low(&self, n: usize) -> W {
        let [b0, b1, b2, b3, ..] = self.0;
        let high = match n / 4 {
            0 => !(b3 | b2),
            1 => b2 & !b3,
            2 => b3 & !b2,
            _ => b3 & b2,
        };
        let low = match n % 4 {
            0 => !(b1 | b0),
            1 => b0 & !b1,
            2 => b1 & !b0,
            _ => b1 & b0,
        };
        high & low
    }

    /// The bytes 0x00 to 0x0F. The other rows are also named after the high four bits of their bytes.
    #[inline(always)]
    fn row_0(&self) -> W {
        let [.., b4, b5, b6, b7] = self.0;
        !(b7 | b6 | b5 | b4)
    }

    #[inline(always)]
    fn rows_23(&self) -> W {
        let [.., b5, b6, b7] = self.0;
        b5 & !(b6 | b7)
    }

    #[inline(always)]
    fn row_2(&self) -> W {
        let [.., b4, _, _, _] = self.0;
        self.rows_23() & !b4
    }

    #[inline(always)]
    fn row_3(&self) -> W {
        let [.., b4, _, _, _] = self.0;
        self.rows_23() & b4
    }

    /// Letters of both cases up to "o", "@" and the grave accent.
    #[inline(always)]
    fn rows_46(&self) -> W {
        let [.., b4, _, b6, b7] = self.0;
        (b6 & !b7) & !b4
    }

    #[inline(always)]
    fn rows_57(&self) -> W {
        let [.., b4, _, b6, b7] = self.0;
        (b6 & !b7) & b4
    }

    #[inline(always)]
    fn row_5(&self) -> W {
        let [.., b5, _, _] = self.0;
        self.rows_57() & !b5
    }

    #[inline(always)]
    fn row_7(&self) -> W {
        let [.., b5, _, _] = self.0;
        self.rows_57() & b5
    }
}

impl<W> From<[W; 8]> for OfBits<W> {
    #[inline(always)]
    fn from(planes: [W; 8]) -> Self {
        Self(planes)
    }
}

impl<W: Logic> Classes<W> for OfBits<W> {
    #[inline(always)]
    fn newline(&self) -> W {
        self.row_0() & self.low(10)
    }

    #[inline(always)]
    fn end(&self) -> W {
        self.newline() | self.cr()
    }

    #[inline(always)]
    fn cr(&self) -> W {
        self.row_0() & self.low(13)
    }

    #[inline(always)]
    fn slash(&self) -> W {
        self.row_2() & self.low(15)
    }

    #[inline(always)]
    fn question(&self) -> W {
        self.row_3() & self.low(15)
    }

    #[inline(always)]
    fn hash(&self) -> W {
        self.row_2() & self.low(3)
    }

    #[inline(always)]
    fn colon(&self) -> W {
        self.row_3() & self.low(10)
    }

    #[inline(always)]
    fn percent(&self) -> W {
        self.row_2() & self.low(5)
    }

    #[inline(always)]
    fn tilde(&self) -> W {
        self.row_7() & self.low(14)
    }

    #[inline(always)]
    fn slash_question(&self) -> W {
        self.rows_23() & self.low(15)
    }

    #[inline(always)]
    fn delimiter(&self) -> W {
        self.slash_question() | self.hash() | self.colon()
    }

    #[inline(always)]
    fn semicolon(&self) -> W {
        self.row_3() & self.low(11)
    }

    #[inline(always)]
    fn semicolon_equals(&self) -> W {
        self.row_3() & (self.low(11) | self.low(13))
    }

    #[inline(always)]
    fn odd(&self) -> W {
        (self.row_2() & self.low(2)) | (self.row_5() & (self.low(11) | self.low(13)))
    }

    #[inline(always)]
    fn illegal(&self) -> W {
        let [b0, b1, b2, b3, b4, b5, b6, b7] = self.0;
        let control = !(b5 | b6) & !self.end();
        // `blank` is the space and the grave accent, `angle` is "<" ">" "\\" "^", and `brace` is "{" "|" "}" and DEL.
        let blank = b5 & !b4 & self.low(0);
        let angle = (((b5 | b6) & b4) & !(b5 & b6)) & (b3 & b2 & !b0);
        let brace = (b6 & b5 & b4) & (b3 & ((b1 & b0) | (b2 & !b1)));
        b7 | control | blank | angle | brace
    }

    #[inline(always)]
    fn host(&self) -> W {
        self.alpha() | self.digit() | self.hyphen_dot()
    }

    #[inline(always)]
    fn scheme(&self) -> W {
        self.host() | (self.row_2() & self.low(11))
    }

    #[inline(always)]
    fn digit(&self) -> W {
        let [_, b1, b2, b3, ..] = self.0;
        self.row_3() & !(b3 & (b2 | b1))
    }

    #[inline(always)]
    fn hex(&self) -> W {
        let [.., b3, _, _, _, _] = self.0;
        self.digit() | (self.rows_46() & !b3 & !(self.low(0) | self.low(7)))
    }

    #[inline(always)]
    fn alpha(&self) -> W {
        let [b0, b1, b2, b3, ..] = self.0;
        // The low five bits of a letter are 1 to 26.
        let above_z = b3 & (b2 | (b1 & b0));
        (self.rows_57() & !above_z) | (self.rows_46() & !self.low(0))
    }

    #[inline(always)]
    fn hyphen_dot(&self) -> W {
        self.row_2() & (self.low(13) | self.low(14))
    }

    #[inline(always)]
    fn dot(&self) -> W {
        self.row_2() & self.low(14)
    }

    #[inline(always)]
    fn h(&self) -> W {
        self.rows_46() & self.low(8)
    }

    #[inline(always)]
    fn t(&self) -> W {
        self.rows_57() & self.low(4)
    }

    #[inline(always)]
    fn p(&self) -> W {
        self.rows_57() & self.low(0)
    }

    #[inline(always)]
    fn s(&self) -> W {
        self.rows_57() & self.low(3)
    }

    #[inline(always)]
    fn i(&self) -> W {
        self.rows_46() & self.low(9)
    }

    #[inline(always)]
    fn l(&self) -> W {
        self.rows_46() & self.low(12)
    }

    #[inline(always)]
    fn f(&self) -> W {
        self.rows_46() & self.low(6)
    }

    #[inline(always)]
    fn b(&self) -> W {
        self.rows_46() & self.low(2)
    }

    #[inline(always)]
    fn e(&self) -> W {
        self.rows_46() & self.low(5)
    }

    #[inline(always)]
    fn zero(&self) -> W {
        self.row_3() & self.low(0)
    }

    #[inline(always)]
    fn zero_one(&self) -> W {
        let [_, b1, b2, b3, ..] = self.0;
        self.row_3() & !(b1 | b2 | b3)
    }

    #[inline(always)]
    fn two_three(&self) -> W {
        let [_, b1, b2, b3, ..] = self.0;
        self.row_3() & !(b2 | b3) & b1
    }

    #[inline(always)]
    fn three(&self) -> W {
        self.row_3() & self.low(3)
    }

    #[inline(always)]
    fn four(&self) -> W {
        self.row_3() & self.low(4)
    }

    #[inline(always)]
    fn eight(&self) -> W {
        self.row_3() & self.low(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planes(byte: u8) -> [u64; 8] {
        let code = CODES.get(usize::from(byte)).copied().unwrap_or(0);
        std::array::from_fn(|plane| 0_u64.wrapping_sub(u64::from(code >> plane & 1)))
    }

    fn bits(byte: u8) -> [u64; 8] {
        std::array::from_fn(|bit| 0_u64.wrapping_sub(u64::from(byte >> bit & 1)))
    }

    #[test]
    fn classes_are_what_their_names_say() {
        for byte in 0..=u8::MAX {
            check(byte, OfCodes(planes(byte)));
            check(byte, OfBits(bits(byte)));
        }
    }

    /// # Panics
    ///
    /// If a class of `byte` is wrong.
    fn check(byte: u8, classes: impl Classes<u64>) {
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
        holds(classes.scheme(), crate::grammar::scheme::is_scheme_byte(byte), "scheme");
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
        is(classes.four(), b"4", "four");
        is(classes.eight(), b"8", "eight");
    }
}
