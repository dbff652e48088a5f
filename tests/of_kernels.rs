//! The tests of the kernels. They are a program of their own, because it needs few features: it is what other processors build and run.

#[allow(unreachable_pub, clippy::pedantic)]
mod reference;
mod support;
#[allow(unreachable_pub)]
mod scan_by_judge;
#[cfg(unix)]
#[path = "../crates/engine/src/simd/tests/page.rs"]
mod page;

mod kernels;
