//! Compares each kernel of this machine with the portable one in the whole tally, and the portable one with the judge line
//! by line.
//!
//! The first byte chooses the grammar whose refusals are explained. The second byte is how often the rest is repeated, and
//! the third how far it is shifted. A short input thereby reaches every position of a block and every lane.
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
    let &[grammar, times, before, ref body @ ..] = input else { return };
    let mut options = Options::default();
    options.grammar = Grammar::ALL[usize::from(grammar) % Grammar::ALL.len()];
    let mut bytes = vec![b'x'; usize::from(before) % 128];
    for _ in 0..=times % 24 {
        bytes.extend_from_slice(body);
    }
    // A boxed slice has no spare capacity, so that a sanitizer notices reads past its end.
    let bytes = bytes.into_boxed_slice();
    let scan = |kernel| {
        let mut tally = Tally::default();
        let path_counts = SCANNERS
            .by(kernel)
            .with(|scanner| scan_into(&mut tally, scanner, &bytes, Place { input: 0, offset: 0 }, &options));
        (tally, path_counts.bulk + path_counts.listed)
    };
    let (portable, judged) = scan(KernelId::Portable);
    let counts = scan_by_judge::count(&bytes, options.grammar);
    let found = scan_by_judge::of(&portable);
    assert!(found == counts, "portable is not the judge\n{}", scan_by_judge::difference(&found, &counts));
    assert_eq!(judged, scan_by_judge::judged(&counts));
    for kernel in KernelId::available().skip(1) {
        let (tally, judged) = scan(kernel);
        let found = scan_by_judge::of(&tally);
        assert!(found == counts, "{kernel} is not the judge\n{}", scan_by_judge::difference(&found, &counts));
        assert!(tally == portable, "{kernel} is not portable");
        assert_eq!(judged, scan_by_judge::judged(&counts), "{kernel}");
    }
});
