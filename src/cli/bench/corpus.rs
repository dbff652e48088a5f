//! The bytes that are judged: what the user names or the built-in sample, in memory, at a size that makes sense to measure.

use std::io::{self, Read};
use std::iter;
use std::path::PathBuf;

use memchr::{memchr, memchr_iter, memrchr};
use urlsift::input::{self, Input};
use urlsift::report::grouped;

use super::sample::{Dice, sample};

/// What a corpus is repeated to, so that no core has it at hand when it comes to it again.
const AT_LEAST: usize = 32 << 20;

/// What is taken of a corpus: memory has an end.
const AT_MOST: usize = 1 << 30;

/// The size of the built-in sample.
const SAMPLE: usize = 64 << 20;

/// Whole lines, each with its LF.
pub(super) struct Corpus {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    /// How many bytes there were before they were repeated.
    pub(super) grown_from: Option<usize>,
    /// Whether there was more, which was not taken.
    pub(super) cut: bool,
}

impl Corpus {
    /// What `paths` name, or the built-in sample if they name nothing; `size` bytes of it, if a size is wanted.
    ///
    /// # Errors
    /// When an input cannot be read, there is nothing in all of them, or no line ends within the size. The error names it.
    pub(super) fn load(paths: &[PathBuf], size: Option<usize>) -> io::Result<Self> {
        if paths.is_empty() {
            let size = size.unwrap_or(SAMPLE);
            let name = "the built-in sample".to_owned();
            // It has no end; a size too small for its first line leaves nothing.
            let cut = Self { name, bytes: sample(size), grown_from: None, cut: true };
            return cut.checked(size).map(|sample| Self { cut: false, ..sample });
        }
        let inputs = input::list(paths);
        let name = match inputs.as_slice() {
            [input] => input.name().to_owned(),
            inputs => format!("{} inputs", inputs.len()),
        };
        let mut bytes = Vec::new();
        let most = size.unwrap_or(AT_MOST);
        for input in &inputs {
            read(input, &mut bytes, most)
                .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", input.name())))?;
        }
        let cut = bytes.len() > most;
        if cut {
            let end = memrchr(b'\n', &bytes[..most]).map_or(0, |lf| lf + 1);
            bytes.truncate(end);
        }
        let mut corpus = Self { name, bytes, grown_from: None, cut }.checked(most)?;
        if !cut {
            corpus.grow(size.unwrap_or(AT_LEAST));
        }
        Ok(corpus)
    }

    fn checked(self, most: usize) -> io::Result<Self> {
        if !self.bytes.is_empty() {
            return Ok(self);
        }
        let why = if self.cut {
            format!("no line ends in the first {} bytes; --size takes more", grouped(most as u64))
        } else {
            "there are no lines to judge".to_owned()
        };
        Err(io::Error::other(format!("{}: {why}", self.name)))
    }

    /// Repeats all lines, each time in another order so that no branch is learnt, until one more would go beyond `size`.
    fn grow(&mut self, size: usize) {
        let len = self.bytes.len();
        if len >= size {
            return;
        }
        let ends = memchr_iter(b'\n', &self.bytes).map(|lf| lf + 1);
        let mut starts: Vec<usize> = iter::once(0).chain(ends).filter(|&start| start < len).collect();
        let mut dice = Dice::new();
        self.bytes.reserve_exact(size - len);
        for at in (0..starts.len()).cycle() {
            if at == 0 {
                for last in (1..starts.len()).rev() {
                    starts.swap(last, dice.below(last + 1));
                }
            }
            let start = starts[at];
            let end = memchr(b'\n', &self.bytes[start..]).map_or(len, |lf| start + lf + 1);
            if self.bytes.len() + end - start > size {
                break;
            }
            self.bytes.extend_from_within(start..end);
        }
        self.grown_from = (self.bytes.len() > len).then_some(len);
    }
}

/// Adds an input to `bytes`, and stops when they are more than `most`. A byte order mark at its start is left out, and an LF
/// added that its last line lacks, so that one input can stand behind another.
fn read(input: &Input, bytes: &mut Vec<u8>, most: usize) -> io::Result<()> {
    let Some(room) = most.checked_sub(bytes.len()) else { return Ok(()) };
    let (mut reader, len) = input.reader()?;
    // Room for an LF, and for the end to be found without more.
    let len = len.map_or(0, |len| usize::try_from(len).map_or(room, |len| len.min(room)) + 64);
    bytes.try_reserve(len)?;
    let from = bytes.len();
    reader.by_ref().take(3).read_to_end(bytes)?;
    if bytes[from..] == *b"\xef\xbb\xbf" {
        bytes.truncate(from);
    }
    reader.take(room as u64 + 1).read_to_end(bytes)?;
    if bytes.len() > from && bytes.last() != Some(&b'\n') && bytes.len() <= most {
        bytes.push(b'\n');
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(contents: &[&[u8]], size: usize) -> io::Result<Corpus> {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..contents.len()).map(|n| folder.path().join(n.to_string())).collect();
        for (path, content) in paths.iter().zip(contents) {
            std::fs::write(path, content).unwrap();
        }
        Corpus::load(&paths, Some(size))
    }

    fn sorted(bytes: &[u8]) -> Vec<&[u8]> {
        let mut lines: Vec<_> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
        lines.sort_unstable();
        lines
    }

    #[test]
    fn inputs_stand_one_behind_the_other() {
        let corpus = load(&[b"\xef\xbb\xbfa", b"", b"b\r\nc\n", b"\xef\xbb\xbf", b"d"], 9).unwrap();
        assert_eq!(corpus.bytes, b"a\nb\r\nc\nd\n");
        assert!(!corpus.cut && corpus.grown_from.is_none());
    }

    #[test]
    fn what_is_larger_is_cut_between_lines() {
        for (size, left) in [(3, &b"a\n"[..]), (4, b"a\nb\n"), (5, b"a\nb\n"), (6, b"a\nb\n")] {
            let corpus = load(&[b"a\nb\n", b"ccccccc\nd\n"], size).unwrap();
            assert_eq!((corpus.bytes.as_slice(), corpus.cut), (left, true), "{size}");
        }
        let error = load(&[b"aaaaaaaaaaaaaaaa"], 5).err().unwrap().to_string();
        assert!(error.ends_with("no line ends in the first 5 bytes; --size takes more"), "{error}");
        assert!(load(&[b"", b""], 5).is_err());
    }

    #[test]
    fn what_is_smaller_is_repeated() {
        let text = b"a\nbb\nccc\n";
        let corpus = load(&[text], 4 * text.len()).unwrap();
        assert_eq!(sorted(&corpus.bytes), sorted(&text.repeat(4)));
        assert_eq!((&corpus.bytes[..9], corpus.grown_from), (&text[..], Some(9)));
        assert!((37..=40).contains(&load(&[text], 40).unwrap().bytes.len()));
        assert_eq!(
            load(&[text], 10).unwrap().grown_from.is_some(),
            load(&[text], 10).unwrap().bytes.len() > 9
        );
    }
}
