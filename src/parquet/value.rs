//! The values of a page one by one, in each of the encodings that byte arrays have.

use std::sync::Arc;

use super::delta::Deltas;
use super::error::{TableError, TableErrorKind};
use super::footer::Physical;
use super::level::Numbers;

/// The values that the pages of a column chunk name by number.
#[derive(Debug)]
pub(super) struct Dictionary {
    bytes: Vec<u8>,
    /// Where in `bytes` each begins and ends.
    places: Vec<(u32, u32)>,
}

impl Dictionary {
    /// The dictionary that a page of `n` plain values is.
    pub(super) fn new(bytes: Vec<u8>, n: u64, physical: Physical) -> Result<Self, TableError> {
        let mut places = Vec::new();
        let mut values = Values::plain(&bytes, physical)?;
        // No page is so long that this would not fit.
        let place = |at: usize| u32::try_from(at).map_err(|_| too_few());
        for _ in 0..n {
            let value = values.plain_value()?;
            let end = bytes.len() - values.rest_len();
            places.push((place(end - value.len())?, place(end)?));
        }
        Ok(Self { bytes, places })
    }

    fn value(&self, number: u32) -> Result<&[u8], TableError> {
        let &(start, end) = self.places.get(number as usize).ok_or_else(|| {
            TableError::damaged(format!(
                "a value that is not among the {} of its dictionary",
                self.places.len()
            ))
        })?;
        Ok(&self.bytes[start as usize..end as usize])
    }
}

/// Values that are read one by one.
#[derive(Debug)]
pub(super) enum Values<'a> {
    /// Each behind its length.
    Plain(&'a [u8]),
    /// Each so long.
    Fixed(&'a [u8], usize),
    /// By their places in a dictionary.
    Indexed(Numbers<'a>, Arc<Dictionary>),
    /// All lengths, and then all values.
    DeltaLength(Deltas<'a>, &'a [u8]),
    /// How much each has in common with the one before, the lengths of what it has not, and all that.
    Delta { common: Deltas<'a>, lengths: Deltas<'a>, rest: &'a [u8], last: Vec<u8> },
}

fn too_few() -> TableError {
    TableError::damaged("it ends inside a value")
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Result<&'a [u8], TableError> {
    let (taken, behind) = rest.split_at_checked(len).ok_or_else(too_few)?;
    *rest = behind;
    Ok(taken)
}

impl<'a> Values<'a> {
    /// The values in the bytes of a page, in the encoding that the format numbers so.
    pub(super) fn new(
        bytes: &'a [u8],
        encoding: i64,
        physical: Physical,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Self, TableError> {
        Ok(match encoding {
            0 => Self::plain(bytes, physical)?,
            2 | 8 => {
                let dictionary =
                    dictionary.ok_or_else(|| TableError::damaged("its dictionary is missing"))?;
                match bytes.split_first() {
                    Some((&width, bytes)) => {
                        Self::Indexed(Numbers::new(bytes, width.into())?, dictionary.clone())
                    }
                    // A page without a value.
                    None => Self::Plain(bytes),
                }
            }
            6 if physical == Physical::Bytes => {
                let (lengths, rest) = Deltas::split(bytes)?;
                Self::DeltaLength(lengths, rest)
            }
            7 => {
                let (common, rest) = Deltas::split(bytes)?;
                let (lengths, rest) = Deltas::split(rest)?;
                Self::Delta { common, lengths, rest, last: Vec::new() }
            }
            other => {
                let message = format!("its values are in encoding {other}, which is not read here");
                return Err(TableError::new(TableErrorKind::Unsupported, message));
            }
        })
    }

    fn plain(bytes: &'a [u8], physical: Physical) -> Result<Self, TableError> {
        match physical {
            Physical::Bytes => Ok(Self::Plain(bytes)),
            Physical::Fixed(len) => Ok(Self::Fixed(bytes, len)),
            Physical::Other(_) => Err(TableError::damaged("no text")),
        }
    }

    /// The next plain value.
    #[inline]
    fn plain_value(&mut self) -> Result<&'a [u8], TableError> {
        match self {
            Self::Plain(rest) => {
                let (len, behind) = rest.split_first_chunk().ok_or_else(too_few)?;
                *rest = behind;
                take(rest, u32::from_le_bytes(*len) as usize)
            }
            Self::Fixed(rest, len) => take(rest, *len),
            _ => Err(TableError::damaged("no plain values")),
        }
    }

    fn rest_len(&self) -> usize {
        match self {
            Self::Plain(rest)
            | Self::Fixed(rest, _)
            | Self::DeltaLength(_, rest)
            | Self::Delta { rest, .. } => rest.len(),
            Self::Indexed(..) => 0,
        }
    }

    /// Writes the next value behind `text`.
    #[inline]
    pub(super) fn push_next(&mut self, text: &mut Vec<u8>) -> Result<(), TableError> {
        match self {
            Self::Plain(_) | Self::Fixed(..) => text.extend_from_slice(self.plain_value()?),
            Self::Indexed(numbers, dictionary) => {
                let number = numbers.next()?;
                text.extend_from_slice(dictionary.value(number)?);
            }
            Self::DeltaLength(lengths, rest) => text.extend_from_slice(take(rest, lengths.next()?)?),
            Self::Delta { common, lengths, rest, last } => {
                let common = common.next()?;
                if common > last.len() {
                    return Err(TableError::damaged(
                        "a value has more in common with the one before than that has",
                    ));
                }
                last.truncate(common);
                last.extend_from_slice(take(rest, lengths.next()?)?);
                text.extend_from_slice(last);
            }
        }
        Ok(())
    }
}
