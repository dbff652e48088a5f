//! The library's way in: one builder for all scans. What it collects is what the command collects of its options.

use std::path::Path;

use super::values::{Values, scan_values};
use super::{
    Codec, ExecOptions, Format, Input, KernelId, Part, Reading, ScannedParts, ScannedPaths, Selector, Watch,
    list_inputs, scan_memory, scan_parts, scan_records,
};
use crate::scan::{Options, WhatwgWanted, scan_into};
use crate::tally::{DistinctOf, Tally, TopOf};
use urlsift_engine::place::Place;
use urlsift_grammar::Grammar;
use urlsift_grammar::public_suffix::SuffixList;
use urlsift_grammar::whatwg::Url;
use urlsift_records::Escape;

/// Judges and counts URLs: those of bytes, values, files, directories and pipes.
///
/// Its methods choose what is counted, how inputs are read, and how the work is done; the defaults are those of the command. The
/// counts do not depend on threads, kernel and memory mapping.
///
/// ```
/// use urlsift::report::Report;
/// use urlsift::{Grammar, Scan};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("urls.txt");
/// # std::fs::write(&path, "http://example.org/\nhttp://example.org/a b\n")?;
/// let found = Scan::new().grammar(Grammar::Rfc1738).paths(&[path.as_path(), "no/such/file.txt".as_ref()]);
///
/// assert_eq!(found.tally().lines(), 2);
/// assert_eq!(found.tally().judged().accepted(Grammar::Rfc1738), 1);
/// assert!(found.failure_messages().next().is_some_and(|failure| failure.starts_with("no/such/file.txt: ")));
/// print!("{}", Report::of_paths(&found));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a scan does nothing until it gets something to read"]
pub struct Scan {
    pub(crate) options: Options,
    pub(crate) reading: Reading,
    pub(crate) codec: Option<Codec>,
    exec: ExecOptions,
}

impl Scan {
    /// A scan as the command does it without options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses the grammar whose refusals are explained: counted by component and cause, with examples. It is RFC 3986 without
    /// this. All five grammars judge.
    pub fn grammar(mut self, grammar: Grammar) -> Self {
        self.options.grammar = grammar;
        self
    }

    /// Counts lengths of judged lines ([`Tally::lengths`]). Costs some nanoseconds per line.
    pub fn lengths(mut self) -> Self {
        self.options.lengths = true;
        self
    }

    /// Counts the `n` most frequent names of a kind ([`Tally::top`]). Costs some dozen nanoseconds per line; schemes cost nothing.
    pub fn top(mut self, of: TopOf, n: usize) -> Self {
        self.options.top.insert(of, n);
        self
    }

    /// Estimates how many distinct items there are ([`Tally::distinct`]). Costs some dozen nanoseconds per line, keys some hundred.
    pub fn distinct(mut self, of: DistinctOf) -> Self {
        self.options.distinct.insert(of);
        self
    }

    /// Replaces the built-in list of public suffixes.
    pub fn suffixes(mut self, list: SuffixList) -> Self {
        self.options.suffixes = list.into();
        self
    }

    /// Counts what the WHATWG parser makes of lines too ([`Tally::whatwg`]), parsed against `base`. Without a base, lines
    /// that have no scheme have the level [`Relative`](crate::whatwg::Level::Relative). Costs some nanoseconds per line.
    pub fn whatwg(mut self, base: Option<Url>) -> Self {
        self.options.whatwg = Some(WhatwgWanted { base });
        self
    }

    /// Reads all inputs in this format. Without this, the format of each is detected from its first records.
    pub fn format(mut self, format: Format) -> Self {
        self.reading.format = Some(format);
        self
    }

    /// Chooses the fields of a record that are URLs. Without this, the format decides.
    pub fn fields(mut self, fields: impl IntoIterator<Item = Selector>) -> Self {
        self.reading.fields = fields.into_iter().collect();
        self
    }

    /// Chooses the ASCII character between the cells of CSV. Without this, the first lines decide.
    pub fn delimiter(mut self, delimiter: char) -> Self {
        self.reading.delimiter = Some(delimiter);
        self
    }

    /// Chooses what makes a quote part of a cell of CSV or TSV. Without this, the first lines decide.
    pub fn escape(mut self, escape: Escape) -> Self {
        self.reading.escape = Some(escape);
        self
    }

    /// Chooses the pattern of log lines, in the syntax of nginx's `log_format` or of Apache's `LogFormat`. [`Format::Log`] needs it.
    pub fn log_format(mut self, pattern: impl Into<String>) -> Self {
        self.reading.log_format = Some(pattern.into());
        self
    }

    /// Decodes all inputs by this codec. Without this, the first bytes of each decide. With a [`format`](Self::format) too, contents of
    /// any kind are read as that format. Otherwise an input is refused if its first bytes are those of an archive, an image, a
    /// database or other binary data.
    pub fn codec(mut self, codec: Codec) -> Self {
        self.codec = Some(codec);
        self
    }

    /// Judges lines on this many threads. 0, the default, means as many as the machine runs at once.
    pub fn threads(mut self, threads: usize) -> Self {
        self.exec.threads = threads;
        self
    }

    /// Judges lines by this kernel, and not by the fastest one.
    ///
    /// # Panics
    /// If the machine does not have the kernel.
    pub fn kernel(mut self, kernel: KernelId) -> Self {
        assert!(kernel.is_available(), "{kernel} is available");
        self.exec.kernel = kernel;
        self
    }

    /// Maps files into memory, on Linux with the feature `mmap`. A file is mapped only while the system guarantees that no process
    /// changes it, only on ext2 to ext4, XFS, Btrfs and tmpfs, only if there are no more threads than processors, and only without counts
    /// that look at lines one by one. A process that opens such a file for writing waits up to ten milliseconds, and on a busy machine once
    /// until a suspended thread continues. This process then gets a SIGURG, which is ignored unless
    /// it is handled.
    pub fn memory_map(mut self) -> Self {
        self.exec.mmap = true;
        self
    }

    /// Reports progress to `watch`, which may stop the reading of inputs. What is in memory (`bytes`, `part`, `values`) is counted to its end.
    pub fn watch(mut self, watch: &Watch) -> Self {
        self.exec.watch = Some(watch.clone());
        self
    }

    /// The number of threads that will work, with 0 replaced by what the machine runs at once.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.exec.n_threads()
    }

    /// The kernel that will judge lines.
    #[must_use]
    pub fn chosen_kernel(&self) -> KernelId {
        self.exec.kernel
    }

    pub(crate) fn reading(&self) -> Reading {
        let any_contents = self.reading.format.is_some() && self.codec.is_some();
        Reading { any_contents, ..self.reading.clone() }
    }

    /// Counts all lines of `bytes`, a whole corpus in memory, as input 0.
    ///
    /// A line ends in LF with all CRs directly before it. A byte order mark at the start is skipped. The time is linear in the number
    /// of bytes. Several threads work on more than a mebibyte, and are started for each call.
    ///
    /// ```
    /// use urlsift::{Grammar, Scan};
    ///
    /// let tally = Scan::new().bytes(b"http://example.org/\nftp://example.org/a;b\n\n");
    /// assert_eq!((tally.lines(), tally.blank), (3, 1));
    /// assert_eq!(tally.judged().accepted(Grammar::Rfc3986), 2);
    /// assert_eq!(tally.judged().accepted(Grammar::Rfc1738), 1); // no ";" in an ftp path
    /// ```
    #[must_use]
    pub fn bytes(&self, bytes: &[u8]) -> Tally {
        if bytes.len() <= self.exec.shard_len {
            return self.part(bytes, Place { input: 0, offset: 0 });
        }
        scan_memory(bytes, &self.options, &self.exec).0
    }

    /// Counts all lines of `bytes`, a part of an input that begins at `place`, on the calling thread.
    ///
    /// The part must begin at the start of a line, and end at the end of a line or of the input. The tallies of all parts
    /// of an input, merged in any order, equal the tally of the input.
    #[must_use]
    pub fn part(&self, bytes: &[u8], place: Place) -> Tally {
        let (mut tally, scanners) = (Tally::default(), self.exec.scanners());
        scanners.with(|scanner| scan_into(&mut tally, scanner, bytes, place, &self.options));
        tally
    }

    /// Counts all values of a column, which are the `parts` one after the other, and adds them to `tally`, whose input 0 they
    /// continue.
    ///
    /// The counts are those of a list with one value per line, except that missing values are not counted as blank lines.
    /// A value is judged unchanged: an LF in it is an illegal byte. The line number of an example is the number of its row.
    ///
    /// ```
    /// use urlsift::{Grammar, Scan, Tally};
    ///
    /// let values = [Some("http://example.org/"), None, Some("http://example.org/\n")];
    /// let tally = Scan::new().values(Tally::default(), &[&values[..]]);
    /// assert_eq!(tally.judged().lines(), 2);
    /// assert_eq!(tally.judged().accepted(Grammar::Rfc3986), 1);
    /// assert_eq!(tally.defects()[0].found.examples[0].line, 3);
    /// ```
    #[must_use]
    pub fn values<V: Values + ?Sized>(&self, tally: Tally, parts: &[&V]) -> Tally {
        scan_values(tally, parts, &self.options, &self.exec)
    }

    /// Counts all URLs of the files that `paths` name, as the command does.
    ///
    /// `-` is standard input, and a directory stands for all files in it and below it that are not hidden. Compressed files are
    /// decoded. A path that cannot be read is a failure in the result and does not stop the others. Memory is mostly some
    /// megabytes per thread, and at most a few times the longest record (8 MiB) per thread. If a [`watch`](Self::watch) was
    /// stopped, the result has the beginning of each input, and a failure for each input that was not read to its end.
    #[must_use]
    pub fn paths(&self, paths: &[impl AsRef<Path>]) -> ScannedPaths {
        self.inputs(list_inputs(paths))
    }

    /// Counts all URLs of inputs, like [`paths`](Self::paths).
    #[must_use]
    pub fn inputs(&self, inputs: Vec<Input>) -> ScannedPaths {
        let inputs = self.decoded(inputs);
        let scanned = scan_records(&inputs, &self.reading(), &self.options, &self.exec);
        ScannedPaths { inputs, options: self.options.clone(), scanned }
    }

    /// Counts the URLs in some parts of `inputs`, for a [`Partial`](crate::partial_report::Partial) report.
    ///
    /// If a format has records that are lines, and no header, its inputs can be read in parts, as lists and Parquet files can.
    /// Inputs of other formats can only be read whole, and a smaller part of them is a failure. A part is also a failure if its
    /// input has another length than the part says. Parts that are not whole inputs are read one after another, and each part of
    /// a file on all threads.
    #[must_use]
    pub fn parts(&self, inputs: Vec<Input>, parts: &[Part]) -> ScannedParts {
        scan_parts(&self.decoded(inputs), parts, &self.reading(), &self.options, &self.exec)
    }

    fn decoded(&self, inputs: Vec<Input>) -> Vec<Input> {
        inputs.into_iter().map(|input| input.with_codec(self.codec)).collect()
    }
}
