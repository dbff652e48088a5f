//! Keys: texts that are equal where two URLs name the same page, by the rules of a named profile.
//!
//! `tests/conformance/KEYS.md` has the rules of each profile by number (K1, K2, ...). `canonical` is what RFC 3986 calls the same.
//! `surt` is what the indices of web archives are sorted by.

pub mod canonical;
#[cfg(feature = "keys")]
mod java_escapes;
#[cfg(feature = "keys")]
mod idna2003;
#[cfg(feature = "keys")]
mod session_ids;
#[cfg(feature = "keys")]
pub mod surt;

#[cfg(test)]
mod tests;
