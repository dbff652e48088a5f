//! Compares urlsift with other people's programs, line by line, and its reports with their schema.
//!
//! They are one program, as the tests of `tests/main.rs` are. `cargo test -p urlsift-benches keys::` runs the tests of one file.

#[path = "../../tests/reference/mod.rs"]
#[allow(unreachable_pub, clippy::pedantic)]
mod reference;
#[path = "../../tests/support/mod.rs"]
mod support;

mod extractors;
mod keys;
mod peers;
mod resolve;
mod schema;
mod whatwg;
