//! Compares a complete scan with a loop over its lines. The scan is cut at line starts into parts, which alternating
//! kernels scan and which are merged in a random order.
//!
//! The first byte chooses the grammar whose refusals are explained, the next four where to cut.
#![no_main]

#[path = "../../tests/scan_by_judge/mod.rs"]
mod scan_by_judge;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use urlsift::internal::run::KernelId;
use urlsift::internal::scan::{Options, Place, Scanners};
use urlsift::internal::scan_into;
use urlsift::{Grammar, Tally};

/// What the scanners have learned of earlier inputs must not matter.
static SCANNERS: LazyLock<Scanners> = LazyLock::new(|| Scanners::new(KernelId::best()));

fuzz_target!(|input: &[u8]| {
    let &[grammar, a, b, c, order, ref bytes @ ..] = input else { return };
    let mut options = Options::default();
    options.grammar = Grammar::ALL[usize::from(grammar) % Grammar::ALL.len()];
    let kernels: Vec<_> = KernelId::available().collect();
    let line_start = |cut: u8| {
        let at = bytes.len() * usize::from(cut) / 256;
        bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |lf| at + lf + 1)
    };
    let mut cuts = [0, line_start(a), line_start(b), line_start(c), bytes.len()];
    cuts.sort_unstable();
    let mut parts: Vec<_> = cuts.windows(2).zip(0_u8..).collect();
    parts.rotate_left(usize::from(order) % 4);
    if order >= 128 {
        parts.reverse();
    }
    // Half of the parts are counted into one tally, and the others are merged into another.
    let (mut whole, mut others) = (Tally::default(), Tally::default());
    for (range, n) in parts {
        let part = bytes[range[0]..range[1]].to_vec().into_boxed_slice();
        let place = Place { input: 0, offset: range[0] as u64 };
        let kernel = kernels[usize::from(order.wrapping_add(n)) % kernels.len()];
        let mut tally = Tally::default();
        let into = if n % 2 == 0 { &mut whole } else { &mut tally };
        SCANNERS.by(kernel).with(|scanner| scan_into(into, scanner, &part, place, &options));
        others = others.merge(tally);
    }
    let found = scan_by_judge::of(&whole.merge(others));
    let counts = scan_by_judge::count(bytes, options.grammar);
    assert!(found == counts, "{}", scan_by_judge::difference(&found, &counts));
});
