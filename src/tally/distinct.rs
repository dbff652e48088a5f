//! Estimates the number of distinct items with a sketch (`HyperLogLog`). The estimate depends only on the set of
//! items, not on their order or on how sketches were merged.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use datasketches::hll::{HllSketch, HllType, HllUnion};
use serde::{Deserialize, Serialize};

/// Computes the same [`hash`] for an item that comes in parts.
pub(crate) use twox_hash::XxHash3_64 as PartsHash;

/// The binary logarithm of the number of registers. Each register has one byte.
const REGISTER_BITS: u8 = 16;

/// The standard error of the estimate in parts per million: 1.04 divided by the square root of the number of
/// registers.
///
/// Up to some thousands of items, the estimate is almost always exact.
pub const ERROR_PPM: u64 = 4063;

/// Hashes an item.
///
/// The hash is the same on all machines and in all versions, so that reports can be compared. As a consequence, the
/// author of a list can choose items that distort the estimate.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    PartsHash::oneshot(bytes)
}

/// Counts distinct items. It allocates nothing before the first item.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(into = "Option<String>", try_from = "Option<String>")]
pub(crate) struct Distinct(Option<HllUnion>);

impl Distinct {
    fn sketch(&mut self) -> &mut HllUnion {
        self.0.get_or_insert_with(|| HllUnion::new(REGISTER_BITS).expect("a size that sketches have"))
    }

    /// Counts an item by its [`hash`].
    #[inline]
    pub(crate) fn count(&mut self, hash: u64) {
        self.sketch().update_value(hash);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if let Some(other) = &other.0 {
            self.sketch().update(&other.to_sketch(HllType::Hll8));
        }
    }

    /// The composite estimate. The sketch's other estimates depend on the order of insertion.
    fn unrounded(&self) -> f64 {
        self.0.as_ref().map_or(0.0, HllUnion::composite_estimate)
    }

    /// The estimated number of distinct items.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is rounded, and not negative"
    )]
    pub(crate) fn estimate(&self) -> u64 {
        self.unrounded().round() as u64
    }
}

/// Serializes the sketch in the format of its library, in base64.
impl From<Distinct> for Option<String> {
    fn from(counted: Distinct) -> Self {
        counted.0.map(|union| STANDARD.encode(union.to_sketch(HllType::Hll8).serialize()))
    }
}

impl TryFrom<Option<String>> for Distinct {
    type Error = String;

    fn try_from(text: Option<String>) -> Result<Self, String> {
        let mut counted = Self::default();
        if let Some(text) = text {
            let bytes = STANDARD.decode(text).map_err(|error| format!("a sketch: {error}"))?;
            let sketch = HllSketch::deserialize(&bytes).map_err(|error| format!("a sketch: {error}"))?;
            if sketch.lg_config_k() != REGISTER_BITS {
                return Err("a sketch of another size".to_owned());
            }
            counted.sketch().update(&sketch);
        }
        Ok(counted)
    }
}

/// Two counters are equal if their estimates are.
impl PartialEq for Distinct {
    fn eq(&self, other: &Self) -> bool {
        self.unrounded().to_bits() == other.unrounded().to_bits()
    }
}

impl Eq for Distinct {}

impl fmt::Debug for Distinct {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Distinct({})", self.estimate())
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hasher;

    use super::*;

    fn of(numbers: impl Iterator<Item = u64>) -> Distinct {
        let mut counted = Distinct::default();
        numbers.for_each(|number| counted.count(hash(&number.to_le_bytes())));
        counted
    }

    #[test]
    fn close_and_the_same_for_any_cut_and_order() {
        for (lines, different) in
            [(0, 1), (1, 1), (100, 7), (5_000, 5_000), (50_000, 9_000), (300_000, 200_000)]
        {
            let numbers = |range: std::ops::Range<u64>| range.map(move |n| n * 7919 % different);
            let whole = of(numbers(0..lines));
            let exact = lines.min(different);
            // The tolerance is five times the standard error.
            assert!(
                whole.estimate().abs_diff(exact) * 1_000_000 <= exact * 5 * ERROR_PPM,
                "{whole:?} {exact}"
            );
            for parts in [2, 7, 64] {
                let part = |n: u64| of(numbers(lines * n / parts..lines * (n + 1) / parts));
                let mut forth = Distinct::default();
                (0..parts).for_each(|n| forth.merge(&part(n)));
                let mut back = Distinct::default();
                (0..parts).rev().for_each(|n| back.merge(&part(n)));
                assert!(forth == whole && back == whole, "{lines} {parts}");
            }
        }
    }

    #[test]
    fn the_hash_of_parts_is_that_of_the_whole() {
        let bytes: Vec<u8> = (0..2000_u32).map(|n| n.to_le_bytes()[0] ^ 0x55).collect();
        for len in [0, 1, 3, 16, 17, 129, 241, 255, 256, 257, 1024, 2000] {
            for step in [1, 7, 64, 300] {
                let mut parts = PartsHash::new();
                bytes[..len].chunks(step).for_each(|part| parts.write(part));
                assert_eq!(parts.finish(), hash(&bytes[..len]), "{len} {step}");
            }
        }
    }
}
