//! Template filters that format numbers and names.

#![allow(
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "the form that the template library gives filters"
)]

use std::borrow::Borrow;
use std::fmt::Display;

use askama::{Result, Values};

use super::bound;
use crate::report::words;
use urlsift_grammar::escape;

/// A name, escaped and cut to a maximum length.
#[askama::filter_fn]
pub(super) fn shown(name: &str, _: &dyn Values) -> Result<String> {
    Ok(bound::shown(name, bound::NAME))
}

/// A sentence, escaped and cut to a maximum length.
#[askama::filter_fn]
pub(super) fn sentence(text: &str, _: &dyn Values) -> Result<String> {
    Ok(bound::shown(text, bound::SENTENCE))
}

/// A JSON document without characters that are not visible.
#[askama::filter_fn]
pub(super) fn visible_json(document: impl Display, _: &dyn Values) -> Result<String> {
    Ok(escape::visible_json(&document.to_string()))
}

/// A number such as `1,234,567`.
#[askama::filter_fn]
pub(super) fn grouped(n: &u64, _: &dyn Values) -> Result<String> {
    Ok(words::grouped(*n))
}

/// A share of `whole` as a percentage.
#[askama::filter_fn]
pub(super) fn percent(part: &u64, _: &dyn Values, whole: &u64) -> Result<String> {
    Ok(words::percent(*part, *whole))
}

/// A size such as `4.85 MB`.
#[askama::filter_fn]
pub(super) fn size(bytes: impl Borrow<u64>, _: &dyn Values) -> Result<String> {
    Ok(words::size(*bytes.borrow()))
}

/// A number with its noun: `1 line`, `2 lines`.
#[askama::filter_fn]
pub(super) fn plural(n: &u64, _: &dyn Values, one: &str, many: &str) -> Result<String> {
    Ok(words::plural(*n, one, many))
}

/// The length of a list with its noun.
#[askama::filter_fn]
pub(super) fn plural_of(n: impl Borrow<usize>, _: &dyn Values, one: &str, many: &str) -> Result<String> {
    Ok(words::plural(*n.borrow() as u64, one, many))
}

/// The width of a bar for a share of `whole`, as a percentage. A share above 0 is always wide enough to be visible.
#[askama::filter_fn]
pub(super) fn width(part: &u64, _: &dyn Values, whole: &u64) -> Result<String> {
    Ok(decimal(hundredths(*part, *whole)))
}

/// Where the second part of a bar starts, as a percentage: after the first part, but early enough to fit in.
#[askama::filter_fn]
pub(super) fn start(first: &u64, _: &dyn Values, second: &u64, whole: &u64) -> Result<String> {
    let second = hundredths(*second, *whole);
    Ok(decimal(hundredths(*first, *whole).min(10_000 - second)))
}

fn hundredths(part: u64, whole: u64) -> u128 {
    const LEAST: u128 = 80;
    if part == 0 || whole == 0 {
        return 0;
    }
    (u128::from(part) * 10_000 / u128::from(whole)).clamp(LEAST, 10_000)
}

fn decimal(hundredths: u128) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// How strongly to highlight a share of `whole`, from 0 for nothing to 5.
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
