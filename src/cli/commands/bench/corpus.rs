//! The bytes to judge, in memory: the named inputs or the built-in sample.

use std::io::{self, Read};
use std::path::PathBuf;

use crate::report::grouped;
use memchr::{memchr, memchr_iter, memrchr};
use memmap2::MmapMut;

use super::sample::{SEED, Sample, sample};
use urlsift_grammar::random::Random;

/// A smaller corpus is repeated up to this size, so that it does not fit in the processor's cache.
const AT_LEAST: usize = 32 << 20;

/// The maximum size of a corpus.
const AT_MOST: usize = 1 << 30;

/// The size of the built-in sample.
const SAMPLE: usize = 64 << 20;

/// Whole lines that all end in LF.
pub(super) struct Corpus {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    /// The size before lines were repeated, if they were.
    pub(super) grown_from: Option<usize>,
    /// Whether the inputs have more bytes than were loaded.
    pub(super) cut: bool,
}

impl Corpus {
    /// Loads `size` bytes of the inputs in `paths`, or of a built-in sample if there are no paths.
    ///
    /// # Errors
    /// If an input cannot be read, is empty, or has no line end within the size.
    pub(super) fn load(paths: &[PathBuf], of: Sample, size: Option<usize>) -> io::Result<Self> {
        let inputs = urlsift_input::list(paths);
        let name = match inputs.as_slice() {
            [] => match of {
                Sample::Mix => "the built-in sample".to_owned(),
                Sample::Kind(kind, share) => {
                    format!("built-in sample with {} % {kind}", f32::from(share) / 10.0)
                }
            },
            [input] => input.name().to_owned(),
            inputs => format!("{} inputs", inputs.len()),
        };
        let most = size.unwrap_or(if paths.is_empty() { SAMPLE } else { AT_MOST });
        let mut bytes = if paths.is_empty() { sample(of, most) } else { Vec::new() };
        for input in &inputs {
            let from = bytes.len();
            // Room for a byte order mark, and for one more byte that shows that the input continues.
            let room = most.saturating_add(4).saturating_sub(from) as u64;
            let read = input.reader().and_then(|(reader, _)| reader.take(room).read_to_end(&mut bytes));
            read.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", input.name())))?;
            if bytes[from..].starts_with(b"\xef\xbb\xbf") {
                bytes.drain(from..from + 3);
            }
            if bytes.len() > from && bytes.last() != Some(&b'\n') && bytes.len() <= most {
                bytes.push(b'\n');
            }
        }
        let cut = bytes.len() > most;
        if cut {
            bytes.truncate(memrchr(b'\n', &bytes[..most]).map_or(0, |lf| lf + 1));
        }
        if bytes.is_empty() {
            let why = if cut || paths.is_empty() {
                format!("no line ends in the first {} bytes; --size takes more", grouped(most as u64))
            } else {
                "there are no lines to judge".to_owned()
            };
            return Err(io::Error::other(format!("{name}: {why}")));
        }
        let mut corpus = Self { name, bytes, grown_from: None, cut };
        if !cut && !paths.is_empty() {
            corpus.grow(size.unwrap_or(AT_LEAST));
        }
        Ok(corpus)
    }

    /// Repeats all lines until one more would exceed `size`. Shuffles them each time, so that the branch predictor cannot
    /// learn them.
    fn grow(&mut self, size: usize) {
        let len = self.bytes.len();
        let ends = memchr_iter(b'\n', &self.bytes[..len - 1]).map(|lf| lf + 1);
        let mut starts: Vec<usize> = [0].into_iter().chain(ends).collect();
        let mut random = Random::new(SEED);
        for at in (0..starts.len()).cycle() {
            if at == 0 {
                for last in (1..starts.len()).rev() {
                    starts.swap(last, random.below(last + 1));
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

/// The bytes in huge pages, where the system has them. With small pages, kernels also wait for the addresses of pages.
pub(super) fn in_huge_pages(bytes: &[u8]) -> io::Result<MmapMut> {
    let mut pages = MmapMut::map_anon(bytes.len())?;
    #[cfg(target_os = "linux")]
    drop(pages.advise(memmap2::Advice::HugePage));
    pages.copy_from_slice(bytes);
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_joined_cut_and_repeated() {
        let load = |contents: &[&[u8]], size: usize| {
            let folder = tempfile::tempdir().unwrap();
            let paths: Vec<_> = (0..contents.len()).map(|n| folder.path().join(n.to_string())).collect();
            for (path, content) in paths.iter().zip(contents) {
                std::fs::write(path, content).unwrap();
            }
            Corpus::load(&paths, Sample::Mix, Some(size))
                .map(|corpus| (corpus.bytes, corpus.grown_from, corpus.cut))
        };
        let joined = load(&[b"\xef\xbb\xbfa", b"", b"b\r\nc\n", b"\xef\xbb\xbf", b"d"], 9).unwrap();
        assert_eq!(joined, (b"a\nb\r\nc\nd\n".to_vec(), None, false));
        for (size, left) in [(3, &b"a\n"[..]), (4, b"a\nb\n"), (5, b"a\nb\n"), (6, b"a\nb\n")] {
            let cut = load(&[b"\xef\xbb\xbfa\nb\n", b"ccccccc\nd\n"], size).unwrap();
            assert_eq!(cut, (left.to_vec(), None, true), "{size}");
        }
        assert!(load(&[b"", b""], 5).is_err());
        let text = b"a\nbb\nccc\n";
        let (bytes, grown_from, _) = load(&[text], 4 * text.len()).unwrap();
        let sorted = |bytes: &[u8]| {
            let mut lines: Vec<_> =
                bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
            lines.sort_unstable();
            lines
        };
        assert_eq!((sorted(&bytes), grown_from), (sorted(&text.repeat(4)), Some(9)));
        assert!((37..=40).contains(&load(&[text], 40).unwrap().0.len()));
    }
}
