//! Reads the beginning of an input in each format, to tell which one finds the most URLs in it.

use memchr::memrchr;
use serde::{Deserialize, Serialize};

use crate::dialect::{DELIMITERS, Dialect, cells, records, unquoted};
use crate::field_names::ByValues;
use crate::text_shape::{LINES, SAMPLE_LEN, TextShape, is_whole_url};
use crate::{Format, Reader, Selector};
use urlsift_engine::lines::skip_byte_order_mark;

/// What an input looks like that is read as a list, and how it can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Looks {
    pub shape: TextShape,
    /// The way to read it that finds the most URLs; `None` if none finds any.
    #[serde(default)]
    pub trial: Option<Trial>,
}

impl Looks {
    /// What an input looks like that begins with `sample`; `None` if it looks like a list.
    pub fn of(sample: &[u8]) -> Option<Self> {
        // The last line may be cut off.
        let lines = memrchr(b'\n', sample).map_or(0, |lf| lf + 1);
        let is_cut = sample.len() >= SAMPLE_LEN && lines * 2 >= sample.len();
        let sample = skip_byte_order_mark(if is_cut { &sample[..lines] } else { sample }, 0);
        TextShape::of(sample).map(|shape| Self { shape, trial: Trial::best(sample, shape.is_table()) })
    }
}

/// A way to read an input, and what it finds in its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trial {
    pub format: Format,
    /// The delimiter of a table, if urlsift would take another one.
    pub delimiter: Option<char>,
    /// The wanted columns of a table: bit `n` stands for column `n + 1`.
    columns: u64,
    /// Whether it finds URLs. Otherwise it finds hosts or paths.
    pub finds_urls: bool,
    /// How many it finds.
    pub found: u64,
}

impl Trial {
    /// The way that finds the most URLs in `sample`, the beginning of an input. If none finds a URL and it `is_table`, a column may
    /// have hosts or paths.
    fn best(sample: &[u8], is_table: bool) -> Option<Self> {
        let tables = DELIMITERS.into_iter().filter_map(|delimiter| Self::of_table(sample, delimiter));
        let is_it =
            |format: &&Format| format.has_objects() || format.has_elements() || **format == Format::Text;
        let others =
            Format::ALL.iter().rev().filter(is_it).filter_map(|&format| Self::of_format(sample, format));
        let all = tables.chain(others).filter(|(trial, _)| trial.found > 0 && (trial.finds_urls || is_table));
        // Of two that find as many, the one that has more structure and refuses no record is right.
        let rank = |(trial, refuses): &(Self, bool)| {
            (trial.finds_urls, trial.found, !refuses, trial.format != Format::Text)
        };
        let best = all.reduce(|best, other| if rank(&other) > rank(&best) { other } else { best });
        best.map(|(trial, _)| trial)
    }

    /// Reads records of a format that is no table. A reference in a document counts as a URL. Also returns whether a record is
    /// refused.
    fn of_format(sample: &[u8], format: Format) -> Option<(Self, bool)> {
        let reader = Reader::with_fields(format, &[]).ok()?;
        let (found, refuses) = count(reader, sample, |value| is_whole_url(value) || format.has_elements());
        Some((Self { format, delimiter: None, columns: 0, finds_urls: true, found }, refuses))
    }

    /// Reads the columns of a table that have URLs in most lines, or else the first one that has hosts or paths. Also returns whether a
    /// record is refused.
    fn of_table(sample: &[u8], delimiter: char) -> Option<(Self, bool)> {
        let (mut urls, mut targets) = (ByValues::default(), ByValues::default());
        let rows = records(sample).take(LINES).map(|line| cells(line, delimiter));
        for cells in rows.filter(|cells| cells.len() > 1) {
            for (column, cell) in cells.into_iter().take(64).enumerate() {
                urls.add(column, unquoted(cell));
                targets.add_if(is_target, column, unquoted(cell));
            }
        }
        let finds_urls = urls.likely().next().is_some();
        let wanted: Vec<_> =
            if finds_urls { urls.likely().collect() } else { targets.likely().take(1).collect() };
        let columns = wanted.into_iter().fold(0, |columns, n| columns | 1_u64 << n);
        let format = if delimiter == '\t' { Format::Tsv } else { Format::Csv };
        let usual = Dialect::detect(sample, None, None).delimiter;
        let named = Some(delimiter).filter(|_| format == Format::Csv && delimiter != usual);
        let trial = Self { format, delimiter: named, columns, finds_urls, found: 0 };
        let fields: Vec<_> = trial.columns().map(Selector::Number).collect();
        let reader = Reader::with_fields(format, &fields).ok().filter(|_| columns != 0)?;
        let reader = reader.in_dialect(Dialect { delimiter, escape: None });
        let is_it = if finds_urls { is_whole_url } else { is_target };
        let (found, refuses) = count(reader, sample, is_it);
        Some((Self { found, ..trial }, refuses))
    }

    /// The numbers of the wanted columns of a table, from 1.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        let columns = self.columns;
        (0..64).filter(move |n| columns >> n & 1 == 1).map(|n| n + 1)
    }
}

/// How many fields in `sample` are so, and whether a record is refused.
fn count(mut reader: Reader, sample: &[u8], is_so: impl Fn(&[u8]) -> bool) -> (u64, bool) {
    let (mut found, mut refuses) = (0, false);
    for field in reader.fields(sample) {
        match field {
            Ok(field) => found += u64::from(is_so(&field.bytes)),
            Err(_) => refuses = true,
        }
    }
    (found, refuses)
}

/// Whether a value may be a host or a path.
fn is_target(value: &[u8]) -> bool {
    let is_of_host = |byte: &u8| byte.is_ascii_alphanumeric() || b"-.:".contains(byte);
    let tld = value.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let is_host = value.len() > tld.len() + 1
        && value.iter().all(is_of_host)
        && tld.len() > 1
        && tld.iter().all(u8::is_ascii_alphabetic);
    is_host || value.starts_with(b"/") && !value.contains(&b' ')
}
