//! How the templates write numbers.

#![allow(
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "the form that the template library gives filters"
)]

use std::borrow::Borrow;

use askama::{Result, Values};

use super::bound;
use crate::report::words;

/// A name as it is shown.
#[askama::filter_fn]
pub(super) fn shown(name: &str, _: &dyn Values) -> Result<String> {
    Ok(bound::shown(name, bound::NAME))
}

/// `1,234,567`.
#[askama::filter_fn]
pub(super) fn grouped(n: &u64, _: &dyn Values) -> Result<String> {
    Ok(words::grouped(*n))
}

/// A share of `whole` in per cent.
#[askama::filter_fn]
pub(super) fn percent(part: &u64, _: &dyn Values, whole: &u64) -> Result<String> {
    Ok(words::percent(*part, *whole))
}

/// `4.85 MB`.
#[askama::filter_fn]
pub(super) fn size(bytes: impl Borrow<u64>, _: &dyn Values) -> Result<String> {
    Ok(words::size(*bytes.borrow()))
}

/// `1 line`, `2 lines`.
#[askama::filter_fn]
pub(super) fn plural(n: &u64, _: &dyn Values, one: &str, many: &str) -> Result<String> {
    Ok(words::plural(*n, one, many))
}

/// The same of the length of a list.
#[askama::filter_fn]
pub(super) fn plural_of(n: impl Borrow<usize>, _: &dyn Values, one: &str, many: &str) -> Result<String> {
    Ok(words::plural(*n.borrow() as u64, one, many))
}

/// A share of `whole` as a part of a bar, in per cent; what is not nothing can be seen.
#[askama::filter_fn]
pub(super) fn width(part: &u64, _: &dyn Values, whole: &u64) -> Result<String> {
    Ok(decimal(hundredths(*part, *whole)))
}

/// Where in a bar the second part begins, in per cent: behind the first, but so that it fits in.
#[askama::filter_fn]
pub(super) fn start(first: &u64, _: &dyn Values, second: &u64, whole: &u64) -> Result<String> {
    let second = hundredths(*second, *whole);
    Ok(decimal(hundredths(*first, *whole).min(10_000 - second)))
}

fn hundredths(part: u64, whole: u64) -> u128 {
    const LEAST: u128 = 30;
    if part == 0 || whole == 0 {
        return 0;
    }
    (u128::from(part) * 10_000 / u128::from(whole)).clamp(LEAST, 10_000)
}

fn decimal(hundredths: u128) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// How much a share of `whole` stands out, from 0 for nothing to 5.
#[askama::filter_fn]
pub(super) fn heat(part: &u64, _: &dyn Values, whole: &u64) -> Result<u8> {
    let per_mille = u128::from(*part) * 1000 / u128::from((*whole).max(1));
    Ok(match per_mille {
        _ if *part == 0 => 0,
        0 => 1,
        1..10 => 2,
        10..50 => 3,
        50..200 => 4,
        _ => 5,
    })
}
