//! The byte classes that the bit streams use ([`Classes`]). They are derived from eight *planes*, each with one bit of
//! every byte.
//!
//! There are two kinds of planes. Those of [`OfCodes`] are the bits of a *code*, which a table gives for each byte. One
//! plane means little, and a class is a function of about three. A byte above 0x7F has the code 0, so such bytes need no
//! table. Those of [`OfBits`] are the bits of the bytes themselves, for machines on which
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
        b'[' | b']' => MARK | B,
        b'"' => MARK | B | C,
        b'_' | b'@' | b'&' | b'$' | b'!' | b'*' | b'\'' | b'(' | b')' | b',' => MARK,
        b'.' => HOST | D | A,
        b'-' => HOST | D,
        b'0' => HOST | X | D | A,
        b'1' => HOST | X | D | A | C,
        b'2' => HOST | X | D | B,
        b'3' => HOST | X | D | B | C,
        b'4' => HOST | X | D | A | B,
        b'8' => HOST | X | D | C,
        b'5'..=b'7' => HOST | X | D,
        b'9' => HOST | X | D | A | B | C,
        b'f' => HOST | X | A,
        b'b' => HOST | X | B,
        b'e' => HOST | X | C,
        b'a' | b'd' => HOST | X | A | B,
        b'c' => HOST | X,
        b'h' => HOST | A,
        b't' => HOST | B,
        b'p' => HOST | C,
        b's' => HOST | A | B,
        b'i' => HOST | A | C,
        b'l' => HOST | B | C,
        b'a'..=b'z' => HOST,
        // Bytes that no grammar allows. The planes tell their kinds apart.
        b' ' => X,
        0..b' ' | 0x7f => D,
        0x80.. => 0,
        _ => A,
    }
}

/// The codes of the bytes below 0x80. All other bytes have the code 0.
pub static CODES: [u8; 128] = {
    let mut codes = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        codes[byte as usize] = code(byte);
        byte += 1;
    }
    codes
};

/// Words with the bitwise operators that classes need.
pub trait Logic: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {}

impl<W: Copy + BitAnd<Output = W> + BitOr<Output = W> + Not<Output = W>> Logic for W {}

/// Classes by code. Plane `n` has bit `n` of the code of each byte read.
#[derive(Clone, Copy)]
pub struct OfCodes<W>(pub [W; 8]);

impl<W> From<[W; 8]> for OfCodes<W> {
    #[inline(always)]
    fn from(planes: [W; 8]) -> Self {
        Self(planes)
    }
}

/// Classes by the bits of the bytes. Plane `n` has bit `n` of each byte read.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only the AVX2 kernels use them"))]
#[derive(Clone, Copy)]
pub struct OfBits<W>(pub [W; 8]);

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only the AVX2 kernels use them"))]
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

/// Defines the classes, one in each row: its name, its bytes, and how it is computed from the planes of codes and of bits.
///
/// That the codes give these bytes is proved when the crate is compiled.
macro_rules! classes {
    (
        codes $codes:tt, bits($bits:ident) $bit_planes:tt;
        $($(#[$doc:meta])* $name:ident: $bytes:pat => codes { $of_codes:expr } bits { $($of_bits:tt)+ })+
    ) => {
        /// The classes that the bit streams use. Each is a set of bytes, with one bit for each byte read.
        ///
        /// Each class is computed when it is needed, so that few of them are kept at a time.
        pub trait Classes<W>: Copy {
            $(#[doc = concat!("The bytes `", stringify!($bytes), "`.")] $(#[$doc])* fn $name(&self) -> W;)+

            /// All classes, in the order of the rows.
            #[cfg(test)]
            #[inline(always)]
            fn all(&self) -> [W; N_CLASSES] {
                [$(self.$name()),+]
            }
        }

        /// The number of classes.
        #[cfg(test)]
        pub const N_CLASSES: usize = [$(stringify!($name)),+].len();

        #[allow(unused_variables, clippy::many_single_char_names, reason = "each class uses some planes")]
        impl<W: Logic> Classes<W> for OfCodes<W> {
            $(
                #[inline(always)]
                fn $name(&self) -> W {
                    let $codes = self.0;
                    $of_codes
                }
            )+
        }

        #[allow(unused_variables, reason = "each class uses some planes")]
        impl<W: Logic> Classes<W> for OfBits<W> {
            $(
                #[inline(always)]
                fn $name(&self) -> W {
                    let $bits = self;
                    let $bit_planes = self.0;
                    $($of_bits)+
                }
            )+
        }

        #[allow(unused_variables, clippy::many_single_char_names, reason = "each class uses some planes")]
        const _: () = {
            let mut byte = 0_u8;
            loop {
                let $codes = planes(code(byte));
                $(assert!($of_codes == if matches!(byte, $bytes) { 0xFF } else { 0 }, stringify!($name));)+
                let Some(next) = byte.checked_add(1) else { break };
                byte = next;
            }
        };

        #[cfg(test)]
        mod tests {
            use super::*;

            #[test]
            fn classes_are_computed_from_bits_as_from_codes() {
                for byte in 0..=u8::MAX {
                    let of_codes = OfCodes(planes(code(byte))).all();
                    assert_eq!(OfBits(planes(byte)).all(), of_codes, "{byte:02x}");
                }
            }
        }
    };
}

/// The planes of one byte or code: 0xFF for each bit that is set, from bit 0 on.
const fn planes(byte: u8) -> [u8; 8] {
    let mut planes = [0; 8];
    let mut bit = 0;
    while bit < 8 {
        planes[bit] = if byte >> bit & 1 == 1 { 0xFF } else { 0 };
        bit += 1;
    }
    planes
}

classes! {
    codes [end, mark, host, x, d, a, b, c], bits(bits) [b0, b1, b2, b3, b4, b5, b6, b7];

    newline: b'\n' =>
        codes { end & !mark }
        bits { bits.row_0() & bits.low(10) }
    end: b'\n' | b'\r' =>
        codes { end }
        bits { bits.newline() | bits.cr() }
    cr: b'\r' =>
        codes { end & mark }
        bits { bits.row_0() & bits.low(13) }
    slash: b'/' =>
        codes { mark & x & a }
        bits { bits.row_2() & bits.low(15) }
    question: b'?' =>
        codes { mark & x & b }
        bits { bits.row_3() & bits.low(15) }
    hash: b'#' =>
        codes { mark & x & c }
        bits { bits.row_2() & bits.low(3) }
    colon: b':' =>
        codes { mark & x & d }
        bits { bits.row_3() & bits.low(10) }
    percent: b'%' =>
        codes { mark & d & b }
        bits { bits.row_2() & bits.low(5) }
    tilde: b'~' =>
        codes { mark & d & c }
        bits { bits.row_7() & bits.low(14) }
    slash_question: b'/' | b'?' =>
        codes { (mark & x) & (a | b) }
        bits { bits.rows_23() & bits.low(15) }
    /// The bytes that end the first segment of a reference.
    delimiter: b'/' | b'?' | b'#' | b':' =>
        codes { mark & x }
        bits { bits.slash_question() | bits.hash() | bits.colon() }
    semicolon: b';' =>
        codes { (mark & !(x | d)) & a & b }
        bits { bits.row_3() & bits.low(11) }
    semicolon_equals: b';' | b'=' =>
        codes { (mark & !(x | d)) & a }
        bits { bits.row_3() & (bits.low(11) | bits.low(13)) }
    /// The quote and the brackets. They are legal only in some grammars or places; the table judges lines that have one.
    odd: b'"' | b'[' | b']' =>
        codes { (mark & !(x | d)) & b & !a }
        bits { (bits.row_2() & bits.low(2)) | (bits.row_5() & (bits.low(11) | bits.low(13))) }
    /// Bytes that no grammar allows anywhere.
    illegal: 0..=0x09 | 0x0b | 0x0c | 0x0e..=b' ' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{'..=b'}' | 0x7f.. =>
        codes { !(end | mark | host) }
        bits {
            let control = !(b5 | b6) & !bits.end();
            // `blank` is the space and the grave accent, `angle` is "<" ">" "\\" "^", and `brace` is "{" "|" "}" and DEL.
            let blank = b5 & !b4 & bits.low(0);
            let angle = (((b5 | b6) & b4) & !(b5 & b6)) & (b3 & b2 & !b0);
            let brace = (b6 & b5 & b4) & (b3 & ((b1 & b0) | (b2 & !b1)));
            b7 | control | blank | angle | brace
        }
    space: b' ' =>
        codes { !(end | mark | host) & x }
        bits { bits.row_2() & bits.low(0) }
    control: 0..=0x09 | 0x0b | 0x0c | 0x0e..=0x1f | 0x7f =>
        codes { !(end | mark | host) & d }
        bits { (!(b5 | b6 | b7) & !bits.end()) | (bits.row_7() & bits.low(15)) }
    non_ascii: 0x80.. =>
        codes { !(end | mark | host) & !(x | d | a) }
        bits { b7 }
    quote: b'"' =>
        codes { (mark & !(x | d)) & (b & c & !a) }
        bits { bits.row_2() & bits.low(2) }
    host: b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' =>
        codes { host }
        bits { bits.alpha() | bits.digit() | bits.hyphen_dot() }
    scheme: b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'+' =>
        codes { host | (mark & d & a) }
        bits { bits.host() | (bits.row_2() & bits.low(11)) }
    digit: b'0'..=b'9' =>
        codes { host & x & d }
        bits { bits.row_3() & !(b3 & (b2 | b1)) }
    hex: b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' =>
        codes { host & x }
        bits { bits.digit() | (bits.rows_46() & !b3 & !(bits.low(0) | bits.low(7))) }
    alpha: b'a'..=b'z' | b'A'..=b'Z' =>
        codes { host & !d }
        bits {
            // The low five bits of a letter are 1 to 26.
            let above_z = b3 & (b2 | (b1 & b0));
            (bits.rows_57() & !above_z) | (bits.rows_46() & !bits.low(0))
        }
    hyphen_dot: b'-' | b'.' =>
        codes { host & d & !x }
        bits { bits.row_2() & (bits.low(13) | bits.low(14)) }
    dot: b'.' =>
        codes { (host & d & !x) & a }
        bits { bits.row_2() & bits.low(14) }
    h: b'h' | b'H' =>
        codes { (host & !x & !d) & (a & !b & !c) }
        bits { bits.rows_46() & bits.low(8) }
    t: b't' | b'T' =>
        codes { (host & !x & !d) & (b & !a & !c) }
        bits { bits.rows_57() & bits.low(4) }
    p: b'p' | b'P' =>
        codes { (host & !x & !d) & (c & !a & !b) }
        bits { bits.rows_57() & bits.low(0) }
    s: b's' | b'S' =>
        codes { (host & !x & !d) & (a & b & !c) }
        bits { bits.rows_57() & bits.low(3) }
    i: b'i' | b'I' =>
        codes { (host & !x & !d) & (a & c & !b) }
        bits { bits.rows_46() & bits.low(9) }
    l: b'l' | b'L' =>
        codes { (host & !x & !d) & (b & c & !a) }
        bits { bits.rows_46() & bits.low(12) }
    f: b'f' | b'F' =>
        codes { (host & x & !d) & a & !b }
        bits { bits.rows_46() & bits.low(6) }
    b: b'b' | b'B' =>
        codes { (host & x & !d) & b & !a }
        bits { bits.rows_46() & bits.low(2) }
    e: b'e' | b'E' =>
        codes { (host & x & !d) & c }
        bits { bits.rows_46() & bits.low(5) }
    zero: b'0' =>
        codes { (host & x & d) & (a & !b & !c) }
        bits { bits.row_3() & bits.low(0) }
    one: b'1' =>
        codes { (host & x & d) & (a & c & !b) }
        bits { bits.row_3() & bits.low(1) }
    zero_to_two: b'0'..=b'2' =>
        codes { (host & x & d) & ((a & !b) | (b & !a & !c)) }
        bits { bits.row_3() & !(b2 | b3) & !(b1 & b0) }
    two_three: b'2' | b'3' =>
        codes { (host & x & d) & b & !a }
        bits { bits.row_3() & !(b2 | b3) & b1 }
    three: b'3' =>
        codes { (host & x & d) & (b & c & !a) }
        bits { bits.row_3() & bits.low(3) }
    four: b'4' =>
        codes { (host & x & d) & (a & b & !c) }
        bits { bits.row_3() & bits.low(4) }
    /// The second digit of a percent-encoded NUL, TAB, LF or CR.
    control_digit: b'0' | b'9' | b'a' | b'd' | b'A' | b'D' =>
        codes { (host & x & a) & ((c & b) | (!c & ((d & !b) | (b & !d)))) }
        bits { (bits.row_3() & (bits.low(0) | bits.low(9))) | (bits.rows_46() & (bits.low(1) | bits.low(4))) }
    eight: b'8' =>
        codes { (host & x & d) & (c & !a & !b) }
        bits { bits.row_3() & bits.low(8) }
}
