//! Each kernel of this machine against the portable one, in all that a tally holds, and that against the judge line by line.
//!
//! The first byte chooses the grammar that is explained, the second how many times the rest is repeated, the third how far all
//! is moved, so that a short input reaches every place of a block, and every lane.
#![no_main]

#[path = "../../tests/twin/mod.rs"]
mod twin;

use libfuzzer_sys::fuzz_target;
use urlsift::simd::KernelId;
use urlsift::scan::{Options, scan_into};
use urlsift::place::Place;
use urlsift::{Grammar, Tally};

fuzz_target!(|input: &[u8]| {
    let &[grammar, times, before, ref body @ ..] = input else { return };
    let mut options = Options::default();
    options.grammar = Grammar::ALL[usize::from(grammar) % Grammar::ALL.len()];
    let mut bytes = vec![b'x'; usize::from(before) % 128];
    for _ in 0..=times % 24 {
        bytes.extend_from_slice(body);
    }
    // Nothing behind the last byte: a sanitizer sees what is read there.
    let bytes = bytes.into_boxed_slice();
    let scan = |kernel| {
        let mut tally = Tally::default();
        let ways = scan_into(&mut tally, kernel, &bytes, Place { input: 0, offset: 0 }, &options);
        (tally, ways.plain + ways.attended + ways.hard)
    };
    let (portable, judged) = scan(KernelId::Portable);
    let counts = twin::count(&bytes, options.grammar);
    let found = twin::of(&portable);
    assert!(found == counts, "portable is not the judge\n{}", twin::difference(&found, &counts));
    assert_eq!(judged, twin::judged(&counts));
    for kernel in KernelId::available().skip(1) {
        let (tally, judged) = scan(kernel);
        let found = twin::of(&tally);
        assert!(found == counts, "{kernel} is not the judge\n{}", twin::difference(&found, &counts));
        assert!(tally == portable, "{kernel} is not portable");
        assert_eq!(judged, twin::judged(&counts), "{kernel}");
    }
});
