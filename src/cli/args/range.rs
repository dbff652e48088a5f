//! Options that select parts of inputs (`--range`, `--splits`), and the scan of these parts.

use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::PathBuf;

use crate::partial_report::plan::Split;
use crate::partial_report::{Identity, Partial, Settings};
use crate::run::{Ends, ExecOptions, Failure, Part, Reading, scan_parts};
use crate::scan::Options;
use clap::Args;
use urlsift_grammar::password::masked_text;
use urlsift_input::{Codec, Input};

use crate::cli::args::paths::input_at;
use crate::cli::args::size::count;
use crate::cli::output_file::keep_list;
use crate::cli::{InputArgs, advice, input_path};

#[derive(Args)]
pub(crate) struct PartArgs {
    /// Only the lines that begin in START:END, in bytes
    ///
    /// For a single input. If it is compressed, the range is of its decoded bytes. A line belongs to the range of its first
    /// byte, so adjoining ranges contain each line once. The same holds for row groups of a Parquet file. START defaults to
    /// 0, and END to the end of the input. K, M and G stand for 2^10, 2^20 and 2^30 bytes. The report names the rest of the
    /// input as missing.
    #[arg(long, value_name = "START:END", value_parser = range, hide_short_help = true, conflicts_with = "pre")]
    range: Option<Range<u64>>,

    /// Only the splits in a file, as "urlsift plan" prints them; - for standard input
    #[arg(long, value_name = "FILE", value_parser = input_path(), hide_short_help = true,
          conflicts_with_all = ["range", "paths", "files_from", "pre"])]
    splits: Option<PathBuf>,
}

/// Parses a range of bytes.
fn range(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str, otherwise| if text.is_empty() { Some(otherwise) } else { count(text) };
    let (start, end) = text.split_once(':').ok_or("expected START:END, such as 0:256M or 256M:")?;
    let range = number(start, 0).zip(number(end, u64::MAX)).map(|(start, end)| start..end);
    let range = range.ok_or("expected numbers of bytes, such as 1000:2000 or 256M:512M")?;
    if range.is_empty() {
        return Err("the range ends where it starts, or before that".to_owned());
    }
    Ok(range)
}

/// The parts to scan.
#[derive(Default)]
pub(crate) struct Asked {
    pub(crate) inputs: Vec<Input>,
    /// The inputs' names and numbers in the whole corpus.
    identities: Vec<Identity>,
    n_inputs: Option<u32>,
    parts: Vec<Part>,
    /// Whether these are only parts of the inputs.
    pub(crate) are_parts: bool,
}

impl PartArgs {
    /// The parts to scan; `None` if no input is named.
    ///
    /// # Errors
    /// If a list of inputs or of splits cannot be read, or if `--range` is given with several inputs.
    pub(crate) fn asked(&self, input: &InputArgs) -> io::Result<Option<Asked>> {
        if let Some(path) = &self.splits {
            let list = input_at(path);
            let name = list.name().to_owned();
            return Asked::of_splits(list, input.paths.codec)
                .map(Some)
                .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")));
        }
        let Some(inputs) = input.inputs()? else { return Ok(None) };
        if self.range.is_some() && inputs.len() != 1 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "--range is of one input, and {} are named; urlsift plan makes splits of many",
                    inputs.len()
                ),
            ));
        }
        let identities =
            inputs.iter().map(|input| Identity { number: None, name: input.name().to_owned() }).collect();
        let whole = |(_, number)| Part::whole(number);
        let mut parts: Vec<_> = inputs.iter().zip(0..).map(whole).collect();
        if let (Some(range), [part]) = (&self.range, &mut parts[..]) {
            part.range = range.clone();
        }
        Ok(Some(Asked { inputs, identities, n_inputs: None, parts, are_parts: self.range.is_some() }))
    }
}

impl Asked {
    fn of_splits(list: Input, codec: Option<Codec>) -> io::Result<Self> {
        let (lines, is_listed_in_standard) = (BufReader::new(list.reader()?.0), list.is_standard());
        let wrong = |number: usize, why: &dyn std::fmt::Display| {
            io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {why}", number + 1))
        };
        let mut all = Self { are_parts: true, ..Self::default() };
        keep_list(list);
        for (number, line) in lines.lines().enumerate() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let split: Split = serde_json::from_str(&line)
                .map_err(|error| wrong(number, &format!("not a split as urlsift plan prints it: {error}")))?;
            split.check().map_err(|error| wrong(number, &error))?;
            let input = input_at(&split.path);
            if input.is_standard() && (is_listed_in_standard || all.inputs.iter().any(Input::is_standard)) {
                return Err(wrong(number, &"standard input can be read once only"));
            }
            if matches!((all.n_inputs, split.inputs), (Some(one), Some(two)) if one != two) {
                return Err(wrong(number, &"not of the same plan: it has another number of inputs"));
            }
            all.n_inputs = all.n_inputs.or(split.inputs);
            let opened = u32::try_from(all.inputs.len()).map_err(io::Error::other)?;
            all.parts.push(split.part(opened));
            all.inputs.push(input.with_name(masked_text(&split.name)).with_codec(codec));
            all.identities.push(Identity { number: Some(split.input), name: split.name });
        }
        if all.parts.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "there is no split in it"));
        }
        Ok(all)
    }

    /// Sorts the parts into the order of the report. The report keeps the first examples, so the order affects it.
    pub(crate) fn in_order(self) -> Self {
        // Each part has an input of its own.
        let named = self.inputs.into_iter().zip(self.identities).zip(self.parts);
        let mut named: Vec<_> = named.collect();
        named.sort_by(|((_, one), part), ((_, other), behind)| {
            one.place(other).then(part.range.start.cmp(&behind.range.start))
        });
        let (inputs, mut parts): (Vec<_>, Vec<Part>) = named.into_iter().unzip();
        for (number, part) in (0..).zip(&mut parts) {
            part.input = number;
        }
        let (inputs, identities) = inputs.into_iter().unzip();
        Self { inputs, identities, parts, ..self }
    }

    /// Scans the parts. Without any, there is no partial report.
    ///
    /// # Errors
    /// If parts overlap.
    pub(crate) fn scan(
        &self,
        settings: &Settings,
        reading: &Reading,
        options: &Options,
        exec: &ExecOptions,
    ) -> io::Result<(Option<Partial>, Ends)> {
        let (mut partial, mut ends) = (None::<Partial>, Ends::default());
        // Whole inputs are scanned together. Other parts are scanned one by one, because each has its own line numbers.
        let (whole, parts): (Vec<_>, Vec<_>) = self.parts.iter().cloned().partition(Part::is_whole);
        let groups = [whole].into_iter().chain(parts.into_iter().map(|part| vec![part]));
        for parts in groups.filter(|parts| !parts.is_empty()) {
            let mut some = scan_parts(&self.inputs, &parts, reading, options, exec);
            Failure::say(&mut some.scanned.failures, advice::words);
            let part = Partial::new(&some, &parts, &self.identities, self.n_inputs, settings.clone());
            let merged = match partial.take() {
                Some(partial) => part.and_then(|part| partial.merge(part)),
                None => part,
            };
            partial = Some(merged?);
            ends.signs.extend(some.scanned.tally.signs());
            ends.failures.extend(some.scanned.failures);
            ends.records.extend(some.scanned.records);
            if ends.failures.iter().any(Failure::is_stop) {
                break;
            }
        }
        ends.failures.sort_by_key(|failure| failure.input);
        Ok((partial, ends))
    }
}
