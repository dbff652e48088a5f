//! Recognises contents that urlsift does not read, by their first bytes. They would otherwise be read as lines.

use memchr::memchr_iter;
use urlsift_grammar::at_once;
use urlsift_grammar::escape::shell_word;

/// A kind of content that is neither text nor a format that urlsift reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// What it is, with its article.
    name: &'static str,
    /// A command that makes lines of it, or what else helps.
    help: &'static str,
}

const fn foreign(name: &'static str, help: &'static str) -> Foreign {
    Foreign { name, help }
}

/// The contents that are recognised: their magic bytes with the offset of these, the name, and what helps.
///
/// No list of URLs begins like that: each row has a byte that text does not have, or is a comment of a document.
static MAGIC: &[(Magic, Foreign)] = &[
    (&[(0, b"PK\x03\x04"), (30, b"[Content_Types].xml")], DOCUMENT),
    (&[(0, b"PK\x03\x04"), (30, b"docProps/")], DOCUMENT),
    (&[(0, b"PK\x03\x04"), (30, b"mimetype")], DOCUMENT),
    (&[(0, b"PK\x03\x04")], ZIP),
    (&[(0, b"PK\x05\x06")], ZIP),
    (&[(0, b"PK\x07\x08PK")], ZIP),
    (&[(0, b"PK00PK\x03\x04")], ZIP),
    (&[(0, b"7z\xbc\xaf\x27\x1c")], foreign("a 7z archive", "7z x -so FILE | urlsift")),
    (&[(0, b"Rar!\x1a\x07")], foreign("a RAR archive", "unrar p -inul FILE | urlsift")),
    (&[(257, b"ustar\0")], TAR),
    (&[(257, b"ustar  \0")], TAR),
    (&[(0, b"070701"), (102, b"00000000")], CPIO),
    (&[(0, b"070702"), (78, b"0000000000000000")], CPIO),
    (&[(0, b"070707"), (42, b"000000")], CPIO),
    (&[(0, b"\xc7\x71"), (14, b"\0\0")], CPIO),
    (&[(0, b"\x71\xc7"), (14, b"\0\0")], CPIO),
    (&[(0, b"\x1f\x8b\x08")], TWICE),
    (&[(0, b"\x28\xb5\x2f\xfd")], TWICE),
    (&[(0, b"BZh"), (4, b"\x31\x41\x59\x26\x53\x59")], TWICE),
    (&[(0, b"\xfd7zXZ\0")], TWICE),
    (&[(0, b"\x1f\x9d")], foreign("compressed by compress", "gzip -dc FILE | urlsift")),
    (&[(0, b"\x04\x22\x4d\x18")], LZ4),
    (&[(0, b"\x02\x21\x4c\x18")], LZ4),
    (&[(0, b"\xff\x06\0\0sNaPpY")], foreign("compressed by Snappy", "snzip -dc FILE | urlsift")),
    (&[(0, b"LZIP\x01")], foreign("compressed by lzip", "lzip -dc FILE | urlsift")),
    (&[(0, b"\x89LZO\0\r\n\x1a\n")], foreign("compressed by lzop", "lzop -dc FILE | urlsift")),
    (&[(0, b"\x5d\0\0")], foreign("compressed by LZMA", "xz -dc --format=lzma FILE | urlsift")),
    (&[(0, b"FEA1\0\0")], foreign("a Feather file", AS_PARQUET)),
    (&[(0, b"!<arch>\n")], foreign("an ar archive", "ar p FILE | urlsift")),
    (&[(0, b"Obj\x01")], foreign("an Avro file", "export the column of URLs as text or Parquet")),
    (&[(0, b"ARROW1\0\0")], foreign("an Arrow file", AS_PARQUET)),
    (&[(0, b"\xff\xff\xff\xff"), (6, b"\0\0")], foreign("an Arrow stream", AS_PARQUET)),
    (
        &[(0, b"SQLite format 3\0")],
        foreign("an SQLite database", "sqlite3 FILE 'SELECT url FROM ...' | urlsift"),
    ),
    (&[(8, b"DUCK"), (14, b"\0\0\0\0\0\0")], foreign("a DuckDB database", AS_PARQUET)),
    (&[(0, b"\x89HDF\r\n\x1a\n")], foreign("an HDF5 file", "export the column of URLs as text")),
    (&[(0, b"\x93NUMPY")], foreign("a NumPy array", "export the URLs as text")),
    (&[(0, b"\x80\x02")], PICKLE),
    (&[(0, b"\x80\x03")], PICKLE),
    (&[(0, b"\x80\x04")], PICKLE),
    (&[(0, b"\x80\x05")], PICKLE),
    (&[(0, b"%PDF-1.")], foreign("a PDF document", "extract its URLs first")),
    (&[(0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")], foreign("an old Office document", "export it as CSV")),
    (&[(0, b"\x89PNG\r\n\x1a\n")], IMAGE),
    (&[(0, b"\xff\xd8\xff")], IMAGE),
    // Byte 12 of a GIF file is the shape of its pixels, which no program sets.
    (&[(0, b"GIF87a"), (12, b"\0")], IMAGE),
    (&[(0, b"GIF89a"), (12, b"\0")], IMAGE),
    (&[(0, b"II*\0")], IMAGE),
    (&[(0, b"MM\0*")], IMAGE),
    (&[(0, b"RIFF"), (8, b"WEBPVP8")], IMAGE),
    (&[(0, b"\xff\xfe\0\0")], UTF_32),
    (&[(0, b"\0\0\xfe\xff")], UTF_32),
    (&[(0, b"\x7fELF")], PROGRAM),
    (&[(0, b"\xcf\xfa\xed\xfe")], PROGRAM),
    (&[(0, b"\xca\xfe\xba\xbe")], PROGRAM),
    (&[(0, b"MZ\x90\0")], PROGRAM),
    (&[(0, b"\0asm")], PROGRAM),
];

/// What helps for tables of other formats.
const AS_PARQUET: &str = "export the column of URLs as Parquet";

/// Bytes that content has at these offsets.
type Magic = &'static [(usize, &'static [u8])];

/// The decoder has read one layer of compression, or the user wants none read.
const TWICE: Foreign =
    foreign("compressed twice, or compressed and read without a codec", "decompress it first");
const UTF_16_LE: Foreign =
    foreign("UTF-16 text without a byte order mark", "iconv -f UTF-16LE -t UTF-8 FILE | urlsift");
const UTF_16_BE: Foreign = Foreign { help: "iconv -f UTF-16BE -t UTF-8 FILE | urlsift", ..UTF_16_LE };
const UTF_32: Foreign = foreign("UTF-32 text", "iconv -f UTF-32 -t UTF-8 FILE | urlsift");
const DOCUMENT: Foreign = foreign("an Office document or e-book", "export it as CSV or text");
const ZIP: Foreign = foreign("a zip archive", "unzip -p FILE | urlsift");
const TAR: Foreign = foreign("a tar archive", "tar -xOf FILE | urlsift");
const CPIO: Foreign = foreign("a cpio archive", "cpio -i --to-stdout < FILE | urlsift");
const PICKLE: Foreign = foreign("a Python pickle", "export the URLs as text");
const LZ4: Foreign = foreign("compressed by LZ4", "lz4 -dc FILE | urlsift");
const ORC: Foreign = foreign("an ORC file", AS_PARQUET);
const IMAGE: Foreign = foreign("an image", "it has no lines");
const PROGRAM: Foreign = foreign("a program", "strings FILE | grep :// | urlsift");
const BINARY: Foreign = foreign("binary data", "export its URLs as text");

/// Endings of compressed files, and the programs that decompress them.
const PACKERS: [(&str, &str); 4] = [(".gz", "gzip"), (".zst", "zstd"), (".bz2", "bzip2"), (".xz", "xz")];

impl Foreign {
    /// What content that begins with `head` is, by its magic bytes, or by control bytes if it would be read as a list.
    pub fn of(head: &[u8], is_list: bool) -> Option<Self> {
        let has = |(at, bytes): &(usize, &[u8])| head.get(*at..).is_some_and(|head| head.starts_with(bytes));
        match MAGIC.iter().find(|(magic, _)| magic.iter().all(has)) {
            Some((_, foreign)) => Some(*foreign),
            None if is_orc(head) => Some(ORC),
            None if is_old_tar(head) => Some(TAR),
            None if is_list && has_many_nul_bytes(head) => Some(utf16(head).unwrap_or(BINARY)),
            None => (is_list && has_many_control_bytes(head)).then_some(BINARY),
        }
    }

    /// The message for an input of this name, without the name. Only tar decompresses a file that it reads.
    pub fn message(self, name: &str) -> String {
        let Self { name: what, help } = self;
        let packed = PACKERS.iter().find(|(ending, _)| name.ends_with(ending) && self != TAR);
        let help = match (name, packed) {
            _ if !help.contains("FILE") => help.to_owned(),
            ("-", _) => format!("save it as FILE, then {help}"),
            (_, Some((_, packer))) => format!("{packer} -dc {} > FILE && {help}", shell_word(name)),
            _ => help.replace("FILE", &shell_word(name)),
        };
        format!("is {what}, which urlsift does not read ({help})")
    }
}

/// Whether `head` begins with "ORC" and the length of a chunk in three bytes, or the footer of a stripe. Neither is text.
fn is_orc(head: &[u8]) -> bool {
    matches!(head, [b'O', b'R', b'C', _, 0 | 1, 0, ..] | [b'O', b'R', b'C', b'\n', 0..0x20, b'\n' | 0x12, ..])
}

/// Whether at least a tenth of `head` are NUL bytes, as in no list.
fn has_many_nul_bytes(head: &[u8]) -> bool {
    let n_nul = memchr_iter(0, head).count();
    n_nul > 1 && n_nul * 10 >= head.len()
}

/// UTF-16 without a byte order mark, if `head` is that: nearly all NUL bytes are at even offsets, or at odd ones.
fn utf16(head: &[u8]) -> Option<Foreign> {
    let n_odd = memchr_iter(0, head).filter(|at| at % 2 == 1).count();
    let n_even = memchr_iter(0, head).count() - n_odd;
    let is_text = head.len() > 4 && !head.contains(&1) && memchr_iter(0, head).count() * 3 >= head.len();
    let is_utf16 = is_text && n_odd.max(n_even) >= n_odd.min(n_even) * 9;
    is_utf16.then_some(if n_odd > n_even { UTF_16_LE } else { UTF_16_BE })
}

/// Whether `head` has control bytes of many kinds and is not UTF-8, as compressed and random bytes are. Damaged lists
/// and text in other encodings have few kinds of control bytes, or few of them.
fn has_many_control_bytes(head: &[u8]) -> bool {
    // Most lists have none but white space.
    if at_once::all(head, |byte| byte >= b' ' || (b'\t'..=b'\r').contains(&byte)) {
        return false;
    }
    let mut counts = [0_usize; 32];
    for &byte in head.iter().filter(|byte| **byte < 32 && !b"\t\n\x0c\r\x1b".contains(byte)) {
        counts[usize::from(byte)] += 1;
    }
    let n_kinds = counts.iter().filter(|&&n| n > 0).count();
    n_kinds >= 8
        && counts.iter().sum::<usize>() * 20 >= head.len()
        && str::from_utf8(head).is_err_and(|error| error.error_len().is_some())
}

/// Whether `head` begins with a header of tar that has no magic bytes, as programs before 1988 wrote it. Bytes 148 to 155
/// are the sum of all bytes of the header in octal digits, with blanks in their own place.
fn is_old_tar(head: &[u8]) -> bool {
    let Some(header) = head.first_chunk::<512>() else { return false };
    let digits = header[148..156].trim_ascii_start();
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    let written = std::str::from_utf8(&digits[..end]).ok().and_then(|text| u64::from_str_radix(text, 8).ok());
    let sum = (0..512).map(|at| u64::from(if matches!(at, 148..156) { b' ' } else { header[at] }));
    header[0] != 0 && written == Some(sum.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_magic_bytes_are_text() {
        let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
        for (magic, foreign) in MAGIC {
            let is_known = [&b"%PDF-1."[..], b"!<arch>\n", b"RIFF", b"BZh", b"070701", b"070702", b"070707"]
                .contains(&magic[0].1);
            assert!(is_known || !magic.iter().all(|(_, bytes)| bytes.iter().all(is_text)), "{foreign:?}");
        }
    }

    #[test]
    fn lists_are_not_foreign() {
        let tar_like = [b"a".repeat(148), b"0001234\0".to_vec(), b"b\n".repeat(200)].concat();
        for head in [
            &b""[..],
            b"\n",
            b"http://h/\0\n",
            b"http://h\0\n",
            b"ORC.example/\n",
            "ORC\u{e9}.example/\n".as_bytes(),
            b"%PDF-list\n",
            b"PKZIP\n",
            b"https://DUCK.example/\n",
            &tar_like,
        ] {
            assert_eq!(Foreign::of(head, true), None, "{}", head.escape_ascii());
        }
        assert_eq!(Foreign::of(b"http://h\0\0\n", true), Some(BINARY));
        assert_eq!(Foreign::of(b"h\0t\0t\0p\0:\0/\0/\0h\0/\0\n\0", true), Some(UTF_16_LE));
        assert_eq!(Foreign::of(b"\0h\0t\0t\0p\0:\0/\0/\0h\0/\0\n", true), Some(UTF_16_BE));
        assert_eq!(Foreign::of(b"ORC\x0c\0\0", true), Some(ORC));
    }

    #[test]
    fn a_tar_archive_without_magic_bytes() {
        let mut header = [0; 512];
        header[..5].copy_from_slice(b"a.txt");
        header[100..108].copy_from_slice(b"0000644\0");
        header[148..156].fill(b' ');
        let sum: u64 = header.iter().map(|&byte| u64::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        assert_eq!(Foreign::of(&header, true), Some(TAR));
        header[0] = b'b';
        assert_eq!(Foreign::of(&header, true), Some(BINARY));
    }
}
