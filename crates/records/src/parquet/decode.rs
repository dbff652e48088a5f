//! Decodes the levels and the values of a page, some at a time.
//!
//! Levels say where rows begin and which values are null. A value is a part of its page, or of the dictionary of its column chunk.

use std::sync::Arc;

use super::error::TableError;
use super::hybrid::Integers;

/// How many values and nulls are decoded at once. Their buffers stay in the nearest cache.
const STEP: usize = 1024;

/// Where a value is in its page or dictionary.
type Span = (u32, u32);

/// The error of a page whose values are cut off.
pub(super) fn too_few() -> TableError {
    TableError::damaged("it ends inside a value")
}

/// The error of a page whose levels are cut off.
pub(super) fn too_short() -> TableError {
    TableError::damaged("it ends inside its levels")
}

/// The values to which the pages of a column chunk refer.
pub(super) struct Dictionary {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl Dictionary {
    /// The first `n` plain values in `bytes`, each of `fixed` bytes if all have the same length.
    pub(super) fn new(bytes: Vec<u8>, n: u64, fixed: Option<usize>) -> Result<Self, TableError> {
        // Nothing is allocated for values that have no bytes in the page.
        let n =
            usize::try_from(n).ok().filter(|&n| n <= bytes.len() / fixed.unwrap_or(4)).ok_or_else(too_few)?;
        let (mut at, mut spans) = (0, Vec::with_capacity(n));
        for _ in 0..n {
            spans.push(plain(&bytes, &mut at, fixed)?);
        }
        Ok(Self { bytes, spans })
    }
}

/// Finds the plain value in `bytes` at `at`, and moves `at` after it.
#[inline]
fn plain(bytes: &[u8], at: &mut usize, fixed: Option<usize>) -> Result<Span, TableError> {
    let rest = bytes.get(*at..).unwrap_or_default();
    let (before, len) = match fixed {
        Some(len) => (0, len),
        None => (4, u32::from_le_bytes(*rest.first_chunk().ok_or_else(too_few)?) as usize),
    };
    if len > rest.len() - before {
        return Err(too_few());
    }
    let start = *at + before;
    *at = start + len;
    // No page is so long that a place in it needs more bits.
    u32::try_from(start).ok().zip(u32::try_from(*at).ok()).ok_or_else(too_few)
}

/// A decompressed page of values.
pub(super) struct Page {
    pub(super) bytes: Vec<u8>,
    /// How many values and nulls have not been decoded.
    pub(super) left: u64,
    /// The levels, if the column has any, and the definition level of values that are not null.
    pub(super) repetition: Option<Integers>,
    pub(super) definition: Option<Integers>,
    pub(super) max_definition: u32,
    /// The length of each value, if all have the same.
    pub(super) fixed: Option<usize>,
    pub(super) values: Encoded,
}

/// The values of a page that have not been decoded.
pub(super) enum Encoded {
    /// Plain values from this byte on.
    Plain(usize),
    Indices(Integers, Arc<Dictionary>),
}

/// A decoded value, or a null.
pub(super) struct Decoded {
    pub(super) begins_row: bool,
    /// `None` for a null.
    pub(super) span: Option<Span>,
}

impl Page {
    /// Replaces the items of `out` by the next values and nulls.
    pub(super) fn decode(&mut self, out: &mut Vec<Decoded>) -> Result<(), TableError> {
        out.clear();
        let n = usize::try_from(self.left).map_or(STEP, |left| left.min(STEP));
        self.left -= n as u64;
        let (mut repetition, mut definition, mut indices) =
            ([0; STEP], [self.max_definition; STEP], [0; STEP]);
        if let Some(levels) = &mut self.repetition {
            levels.read(&self.bytes, &mut repetition[..n]).ok_or_else(too_short)?;
        }
        if let Some(levels) = &mut self.definition {
            levels.read(&self.bytes, &mut definition[..n]).ok_or_else(too_short)?;
        }
        if let Encoded::Indices(integers, _) = &mut self.values {
            let n_values = definition[..n].iter().filter(|&&level| level == self.max_definition).count();
            integers.read(&self.bytes, &mut indices[..n_values]).ok_or_else(too_few)?;
        }
        let mut indices = indices.iter();
        for (repetition, definition) in repetition[..n].iter().zip(&definition[..n]) {
            if *definition > self.max_definition {
                return Err(TableError::damaged("a level that its column does not have"));
            }
            let span = match &mut self.values {
                _ if *definition < self.max_definition => None,
                Encoded::Plain(at) => Some(plain(&self.bytes, at, self.fixed)?),
                Encoded::Indices(_, dictionary) => {
                    let span = indices.next().and_then(|&index| dictionary.spans.get(index as usize));
                    Some(*span.ok_or_else(|| {
                        let n = dictionary.spans.len();
                        TableError::damaged(format!("a value that is not among the {n} of its dictionary"))
                    })?)
                }
            };
            out.push(Decoded { begins_row: *repetition == 0, span });
        }
        Ok(())
    }

    /// The bytes of a decoded value.
    #[inline]
    pub(super) fn value(&self, (start, end): Span) -> &[u8] {
        let bytes = match &self.values {
            Encoded::Plain(_) => &self.bytes,
            Encoded::Indices(_, dictionary) => &dictionary.bytes,
        };
        &bytes[start as usize..end as usize]
    }
}
