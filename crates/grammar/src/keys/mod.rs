//! Keys: texts that are equal where two URLs name the same page, by the rules of a named profile.
//!
//! `tests/conformance/KEYS.md` has the rules of each profile by number (K1, K2, ...). `canonical` is what RFC 3986 calls the same.

pub mod canonical;

#[cfg(test)]
mod tests;
