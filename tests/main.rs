//! All tests that use the library and the command as users do. They are one program, so that it is linked once and its
//! tests share the cores. `of_kernels.rs` is a second program, which has only the tests of the kernels.
//!
//! `cargo test golden::` runs the tests of one file.

#[allow(unreachable_pub, clippy::pedantic)]
mod reference;
mod read;
mod samples;
mod support;
#[allow(unreachable_pub)]
mod scan_by_judge;
#[cfg(unix)]
#[path = "../crates/engine/src/simd/tests/page.rs"]
mod page;
#[cfg(unix)]
mod webdriver;

mod cli;
mod citations;
mod codec;
mod common_crawl;
mod conformance;
mod differential;
mod extractors;
mod golden;
mod harvest;
mod help;
#[cfg(unix)]
mod html;
mod json;
mod kernels;
mod layers;
mod markup;
mod option_names;
mod parquet;
mod partial;
#[cfg(unix)]
mod readme;
mod records;
mod report;
mod resolve;
mod rows;
mod shards;
mod split;
mod text;
mod values;
mod wanted_fields;
mod watch;
mod whatwg;
mod whatwg_counts;
