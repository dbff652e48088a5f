//! Partial reports: each has the counts of a part of a corpus, and all of them can be merged into one report.
//!
//! Merging works in any order and grouping, on any machine. It refuses lines that are counted already, and names what
//! is missing, so no line is lost or counted twice unnoticed. The rows of columns in memory have no identity. So
//! columns of the same name are joined, and the caller has to know which rows are counted. `ranges` knows which bytes of an input are counted,
//! `settings` what must be equal to merge. `wire` is the document `urlsift.partial/2`, a line of JSON. `plan` cuts
//! inputs into splits.

pub(crate) mod plan;
mod ranges;
mod settings;
mod wire;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use plan::cut;
pub use settings::Settings;
pub use wire::{PartialError, SCHEMA};

use crate::report::Report;
use crate::run::{Compressed, Failure, Part, Records, Scanned, ScannedParts};
use crate::tally::{MAX_BYTES, Signs, Tally, renumber};
use ranges::Cover;
use urlsift_grammar::escape::printable;
use urlsift_grammar::password::shown_sentence;
use urlsift_input::Advice;

/// The identity of an input, the same in all partial reports of a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its number among all inputs of the corpus, if these are numbered. Otherwise inputs are sorted by name.
    pub number: Option<u32>,
    /// Its name in the report. Names are unique unless inputs are numbered.
    pub name: String,
}

impl Identity {
    /// Compares two inputs by their order in a report. Inputs must be scanned in this order.
    #[must_use]
    pub fn place(&self, other: &Self) -> Ordering {
        (self.number, order(&self.name)).cmp(&(other.number, order(&other.name)))
    }
}

/// The report of a part of a corpus.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    settings: Settings,
    /// Whether inputs have numbers of their own. Otherwise they are numbered here, by name.
    is_numbered: bool,
    /// The number of inputs of the corpus, if it is known.
    n_inputs: Option<u32>,
    inputs: BTreeMap<u32, Known>,
    tally: Tally,
    records: BTreeMap<u32, Records>,
    compressed: BTreeMap<u32, Compressed>,
}

/// What is known of an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    name: String,
    /// Its size in bytes after decoding, once the scan has seen it.
    size: Option<u64>,
    ranges: Cover,
    /// Why it could not be read, or not completely.
    errors: BTreeSet<String>,
}

/// The largest number of inputs of a corpus.
pub(crate) const MAX_INPUTS: u32 = 1 << 31;

/// How many errors of an input are kept: the first ones in the order of their text.
const MAX_ERRORS: usize = 3;

impl Known {
    fn merge(&mut self, other: Self) -> Result<(), MergeError> {
        if self.name != other.name {
            return Err(MergeError::Names(self.name.clone(), other.name));
        }
        let sizes = (self.size, other.size);
        self.size = match sizes {
            (Some(one), Some(two)) if one != two => return Err(MergeError::Sizes(other.name, one, two)),
            _ => sizes.0.or(sizes.1),
        };
        let mut ranges = other.ranges;
        if let Some(size) = self.size {
            self.ranges.end_at(size);
            ranges.end_at(size);
        }
        self.ranges.merge(&ranges).map_err(|there| MergeError::Overlap(self.name.clone(), there))?;
        self.errors.extend(other.errors);
        while self.errors.len() > MAX_ERRORS {
            self.errors.pop_last();
        }
        Ok(())
    }
}

/// Why two partial reports cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// Both reports count these bytes of this input.
    Overlap(String, Range<u64>),
    /// The reports were made with different settings.
    Settings(Vec<String>),
    /// Two inputs have the same number.
    Names(String, String),
    /// An input had different sizes, in bytes, in two scans.
    Sizes(String, u64, u64),
    /// Inputs are numbered in only one of the reports, or the reports differ in the number of inputs.
    Numbers,
    /// The inputs were not scanned in their order ([`Identity::place`]), so the scan has kept the wrong examples.
    Order,
    /// The reports read an input in different formats.
    Format(String),
    /// There are more bytes or lines than can be counted.
    TooMuch,
}

impl std::fmt::Display for MergeError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Overlap(name, range) => write!(
                out,
                "{name}: counted already: {}; the same partial report twice, or those of overlapping parts",
                bytes(range)
            ),
            Self::Settings(differences) => {
                write!(out, "not scanned alike: {}", printable(differences.join("; ").as_bytes()))
            }
            Self::Names(one, two) => {
                write!(out, "{one} and {two} have the same number: they are of different plans")
            }
            Self::Sizes(name, one, two) => write!(
                out,
                "{name}: had {one} bytes in one scan and {two} in another: it was changed in between, or two inputs have that name"
            ),
            Self::Numbers => out.write_str(
                "not of one plan: inputs are numbered in one and not in the other, or there are more of them",
            ),
            Self::Order => {
                out.write_str("inputs that were not scanned in the order of their numbers or names")
            }
            Self::Format(name) => write!(out, "{name}: was read in different formats"),
            Self::TooMuch => out.write_str("more lines than can be counted"),
        }
    }
}

impl std::error::Error for MergeError {}

impl From<MergeError> for io::Error {
    fn from(error: MergeError) -> Self {
        match error {
            MergeError::Format(_) => Advice::ChooseOneFormat.error(io::ErrorKind::Other, error),
            error => Self::other(error),
        }
    }
}

/// Describes a range in words.
fn bytes(range: &Range<u64>) -> String {
    match *range {
        Range { start: 0, end: 0 | u64::MAX } => "all of it".to_owned(),
        Range { start, end: u64::MAX } => format!("all from byte {start} on"),
        Range { start, end } => format!("bytes {start} to {end}"),
    }
}

impl Partial {
    /// Makes the partial report of `parts`, whose scan returned `found`.
    ///
    /// Each part refers to one of `inputs` by index. `n_inputs` is the number of inputs of the corpus, if it is
    /// known.
    ///
    /// # Errors
    /// If two parts overlap, if only some inputs are numbered, or if the inputs are not in their order.
    ///
    /// # Panics
    /// If a part is of an input that is not among `inputs`.
    pub fn new(
        found: &ScannedParts,
        parts: &[Part],
        inputs: &[Identity],
        n_inputs: Option<u32>,
        settings: Settings,
    ) -> Result<Self, MergeError> {
        let ScannedParts { scanned, sizes } = found;
        let shown =
            |input: &Identity| Identity { name: printable(input.name.as_bytes()), number: input.number };
        let inputs: Vec<_> = inputs.iter().map(shown).collect();
        let number_of = numbers(&inputs)?;
        let mut all = Self::without_inputs(scanned.tally.clone(), settings);
        all.is_numbered = inputs.iter().all(|input| input.number.is_some());
        all.n_inputs = n_inputs;
        let end = n_inputs.unwrap_or(MAX_INPUTS);
        if end > MAX_INPUTS || number_of.iter().any(|&number| number >= end) {
            return Err(MergeError::Numbers);
        }
        let scanned_in_order: BTreeSet<_> = parts.iter().map(|part| part.input).collect();
        if !scanned_in_order.iter().map(|&input| number_of[input as usize]).is_sorted() {
            return Err(MergeError::Order);
        }
        for (part, &size) in parts.iter().zip(sizes) {
            let mut ranges = Cover::default();
            ranges.add(part.range.clone()).expect("there is none yet");
            if let Some(size) = size {
                ranges.end_at(size);
            }
            let name = inputs[part.input as usize].name.clone();
            all.know(number_of[part.input as usize], Known { name, size, ranges, errors: BTreeSet::new() })?;
        }
        for Failure { input, error } in &scanned.failures {
            if let Some(known) = all.inputs.get_mut(&number_of[*input as usize]) {
                known.errors.insert(shown_sentence(error.to_string().as_bytes()));
            }
        }
        // Line numbers need no rebasing here. An input with records was read as one run, or its parts were merged as
        // they came.
        for (input, records) in &scanned.records {
            add_records(&mut all.records, number_of[*input as usize], records.clone());
        }
        for compressed in &scanned.compressed {
            let input = number_of[compressed.input as usize];
            add_compressed(&mut all.compressed, Compressed { input, ..*compressed });
        }
        all.tally.renumber(&|input| number_of[input as usize]);
        Ok(all)
    }

    /// Makes the partial report of a column of values in memory, which [`Scan::values`](crate::Scan::values) has counted.
    ///
    /// Reports of columns with the same name are merged by joining the rows. The merged rows have no order, and examples do not
    /// change the digest of the report. The same rows merged twice count twice. If rows already have no order, `unordered` says
    /// so.
    #[must_use]
    pub fn of_column(name: &str, mut tally: Tally, unordered: bool, settings: Settings) -> Self {
        tally.note(0, Signs::of_column(0, unordered));
        let size = tally.bytes();
        let mut all = Self::without_inputs(tally, settings);
        let name = printable(name.as_bytes());
        let known = Known { name, size: None, ranges: Cover::default(), errors: BTreeSet::new() };
        all.inputs.insert(0, known);
        all.cover_column(0, size);
        all
    }

    /// A report with these counts, and without their inputs. Passwords in examples are masked, unless they are to be shown.
    fn without_inputs(mut tally: Tally, settings: Settings) -> Self {
        if !settings.show_secrets {
            tally.examples_mut().for_each(urlsift_engine::example::Example::forget_secrets);
        }
        Self {
            settings,
            is_numbered: false,
            n_inputs: None,
            inputs: BTreeMap::new(),
            tally,
            records: BTreeMap::new(),
            compressed: BTreeMap::new(),
        }
    }

    /// Notes that all rows of a column have been counted, which are `size` bytes.
    fn cover_column(&mut self, number: u32, size: u64) {
        let mut ranges = Cover::default();
        ranges.add(0..size).expect("there is none yet");
        let known = self.inputs.get_mut(&number).expect("a column that is known");
        (known.ranges, known.size) = (ranges, Some(size));
    }

    /// Joins the columns of `other` to those of the same name here. The rest of `other` remains to be merged.
    fn join_columns(&mut self, other: &mut Self) {
        let numbers: Vec<u32> = other.inputs.keys().copied().collect();
        for number in numbers {
            if self.tally.is_column(number) && other.tally.is_column(number) {
                other.inputs.remove(&number);
                other.tally.move_behind(&mut self.tally, number);
                let runs = other.tally.runs().iter().chain(self.tally.runs());
                let end = runs.filter(|run| run.input == number).map(|run| run.end).max();
                self.cover_column(number, end.unwrap_or(0));
                self.tally.note(number, Signs::of_column(0, true));
            }
        }
    }

    fn know(&mut self, number: u32, other: Known) -> Result<(), MergeError> {
        if let Some(known) = self.inputs.get_mut(&number) {
            return known.merge(other);
        }
        self.inputs.insert(number, other);
        Ok(())
    }

    /// Adds the counts of another part of the corpus. The operation is associative and commutative.
    ///
    /// # Errors
    /// If the two reports count the same bytes, or do not belong together.
    pub fn merge(mut self, mut other: Self) -> Result<Self, MergeError> {
        if self.settings != other.settings {
            return Err(MergeError::Settings(self.settings.differences(&other.settings)));
        }
        let n_inputs = (self.n_inputs, other.n_inputs);
        // A report without inputs fits numbered and unnumbered ones.
        match (self.inputs.is_empty(), other.inputs.is_empty()) {
            (true, _) => self.is_numbered = other.is_numbered,
            (_, true) => other.is_numbered = self.is_numbered,
            _ => {}
        }
        if self.is_numbered != other.is_numbered || matches!(n_inputs, (Some(one), Some(two)) if one != two) {
            return Err(MergeError::Numbers);
        }
        self.n_inputs = n_inputs.0.or(n_inputs.1);
        let sum = |of: fn(&Tally) -> u64| of(&self.tally).checked_add(of(&other.tally));
        let too_much = [
            Tally::bytes,
            |tally: &Tally| tally.judged().lines(),
            |tally: &Tally| tally.blank,
            |tally: &Tally| tally.lengths().sum(),
        ]
        .iter()
        .any(|&of| sum(of).is_none_or(|sum| sum > MAX_BYTES));
        if too_much {
            return Err(MergeError::TooMuch);
        }
        if !self.is_numbered {
            let names: BTreeSet<_> =
                self.inputs.values().chain(other.inputs.values()).map(|known| order(&known.name)).collect();
            let numbers: BTreeMap<_, _> =
                names.into_iter().map(|(_, name)| name.to_owned()).zip(0..).collect();
            self.renumber(&|_, name| numbers[name]);
            other.renumber(&|_, name| numbers[name]);
        }
        self.join_columns(&mut other);
        for (number, known) in other.inputs {
            self.know(number, known)?;
        }
        let runs = (self.tally.runs().to_vec(), other.tally.runs().to_vec());
        let mut joined = [&runs.0[..], &runs.1].concat();
        joined.sort_unstable();
        if let Some(&[one, two]) =
            joined.windows(2).find(|pair| pair[0].input == pair[1].input && pair[0].end > pair[1].start)
        {
            let name = self.inputs[&one.input].name.clone();
            return Err(MergeError::Overlap(name, two.start..two.end.min(one.end)));
        }
        self.tally = self.tally.merge(other.tally);
        for (input, mut records) in other.records {
            if let Some(own) = self.records.get_mut(&input) {
                if (own.format, &own.column) != (records.format, &records.column) {
                    return Err(MergeError::Format(self.inputs[&input].name.clone()));
                }
                own.move_lines(input, &runs.0, &joined, self.tally.runs());
            }
            records.move_lines(input, &runs.1, &joined, self.tally.runs());
            add_records(&mut self.records, input, records);
        }
        for compressed in other.compressed.into_values() {
            add_compressed(&mut self.compressed, compressed);
        }
        if self.is_numbered {
            self.end_inputs();
        }
        Ok(self)
    }

    /// Gives new numbers to inputs. The new numbers must be distinct.
    fn renumber(&mut self, number: &dyn Fn(u32, &str) -> u32) {
        let new: BTreeMap<u32, u32> =
            self.inputs.iter().map(|(&old, known)| (old, number(old, &known.name))).collect();
        if new.iter().all(|(old, new)| old == new) {
            return;
        }
        let number: &dyn Fn(u32) -> u32 = &|old| new[&old];
        renumber(&mut self.inputs, number);
        renumber(&mut self.records, number);
        renumber(&mut self.compressed, number);
        self.compressed.iter_mut().for_each(|(&input, compressed)| compressed.input = input);
        self.tally.renumber(number);
    }

    /// Marks the inputs that have been counted completely as ended.
    fn end_inputs(&mut self) {
        let open = self.tally.census.open_inputs();
        for input in open {
            let known = &self.inputs[&input];
            if known.size.is_some() && known.errors.is_empty() && known.ranges.gaps(known.size).is_empty() {
                self.tally.census.end(input);
            }
        }
    }

    /// Describes what is missing: first the inputs without a report, then for each input the bytes that are not
    /// counted.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps: Vec<_> = self.missing_inputs().into_iter().collect();
        gaps.extend(
            self.inputs.values().filter_map(|known| Some(format!("{}: {}", known.name, known.gap()?))),
        );
        gaps
    }

    /// Lists the numbers of the inputs without a report, in a sentence.
    fn missing_inputs(&self) -> Option<String> {
        let end = self
            .is_numbered
            .then_some(())
            .and(self.n_inputs.or_else(|| Some(self.inputs.last_key_value()?.0 + 1)))?;
        let mut at = 0;
        let mut missing = Vec::new();
        for number in self.inputs.keys().copied().chain([end]) {
            match number.saturating_sub(at) {
                0 => {}
                1 => missing.push(at.to_string()),
                _ => missing.push(format!("{at} to {}", number - 1)),
            }
            at = number + 1;
        }
        (!missing.is_empty()).then(|| {
            format!("of {end} inputs, counted from 0, there is no partial report of: {}", few(&missing))
        })
    }

    /// Makes the report of everything merged so far. It is complete if nothing is missing.
    #[must_use]
    pub fn report(mut self) -> Report {
        let missing = self.missing_inputs();
        let dense: BTreeMap<u32, u32> = self.inputs.keys().copied().zip(0..).collect();
        if self.is_numbered && dense.iter().any(|(old, new)| old != new) {
            // End all inputs before renumbering. Ended inputs keep their number in the name counts, so no open input
            // may get it.
            let census = &mut self.tally.census;
            census.open_inputs().into_iter().for_each(|input| census.end(input));
        }
        self.renumber(&|old, _| dense[&old]);
        // Inputs numbered by name can only end now that their numbers are final.
        self.end_inputs();
        let mut failures = Vec::new();
        for (&input, known) in &self.inputs {
            let why: Vec<_> = known.errors.iter().cloned().chain(known.gap()).collect();
            if !why.is_empty() {
                failures.push(Failure { input, error: io::Error::other(why.join("; ")) });
            }
        }
        let mut names: Vec<_> = self.inputs.into_values().map(|known| known.name).collect();
        if let Some(missing) = missing {
            let input = u32::try_from(names.len()).unwrap_or(u32::MAX);
            names.push("(inputs not read)".to_owned());
            failures.push(Failure { input, error: io::Error::other(missing) });
        }
        let scanned = Scanned {
            tally: self.tally,
            failures,
            records: self.records.into_iter().collect(),
            compressed: self.compressed.into_values().collect(),
            ..Scanned::default()
        };
        let names = names.iter().map(String::as_str).collect();
        Report::of(&scanned, names, &self.settings.options(), self.settings.show_secrets)
    }
}

impl Known {
    /// Describes the bytes of the input that are not counted.
    fn gap(&self) -> Option<String> {
        let gaps = self.ranges.gaps(self.size);
        let gaps: Vec<_> = gaps.iter().map(bytes).collect();
        (!gaps.is_empty()).then(|| format!("missing: {}", few(&gaps)))
    }
}

/// Joins the first few items, and says how many more there are.
fn few(all: &[String]) -> String {
    const FEW: usize = 5;
    let mut text = all[..all.len().min(FEW)].join(", ");
    if all.len() > FEW {
        let _ = write!(text, " and {} more", all.len() - FEW);
    }
    text
}

/// The sort key of an input: its name, compared directory by directory.
fn order(name: &str) -> (Vec<&str>, &str) {
    (name.split('/').collect(), name)
}

/// Returns the number of each input: its own, or its rank by name.
fn numbers(inputs: &[Identity]) -> Result<Vec<u32>, MergeError> {
    let own: Vec<_> = inputs.iter().filter_map(|input| input.number).collect();
    if own.len() == inputs.len() {
        return Ok(own);
    }
    if !own.is_empty() {
        return Err(MergeError::Numbers);
    }
    let mut names: Vec<_> = inputs.iter().map(|input| order(&input.name)).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(MergeError::Overlap(pair[0].1.to_owned(), 0..u64::MAX));
    }
    let number = |input: &Identity| names.binary_search(&order(&input.name)).unwrap_or_default();
    Ok(inputs.iter().map(|input| u32::try_from(number(input)).expect("fewer inputs than 2^32")).collect())
}

/// Adds the records of another range of an input, before or after the ranges already added.
fn add_records(all: &mut BTreeMap<u32, Records>, input: u32, records: Records) {
    match all.get_mut(&input) {
        Some(own) => own.merge(records),
        None => _ = all.insert(input, records),
    }
}

fn add_compressed(all: &mut BTreeMap<u32, Compressed>, compressed: Compressed) {
    all.entry(compressed.input)
        .and_modify(|own| own.bytes = own.bytes.saturating_add(compressed.bytes))
        .or_insert(compressed);
}
