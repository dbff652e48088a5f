//! The judge against the reference, which shares no code with it: verdict, defect offsets, scheme and advisories of a line.
#![no_main]

#[allow(unreachable_pub)]
#[path = "../../tests/reference/mod.rs"]
mod reference;

use libfuzzer_sys::fuzz_target;
use urlsift::{Grammar, judge};

fuzz_target!(|line: &[u8]| {
    // The reference is slow, and states repeat after a few bytes.
    if line.len() > 400 {
        return;
    }
    let judgement = judge(line);
    let offsets = Grammar::ALL.map(|grammar| {
        let defect = judgement.defect(grammar);
        defect.map(|defect| usize::try_from(defect.offset).expect("in the line"))
    });
    let expected = reference::judge_all(line);
    assert_eq!(offsets, expected);
    let verdict =
        (0..5).filter(|&grammar| expected[grammar].is_none()).fold(0, |set, grammar| set | 1 << grammar);
    assert_eq!(judgement.verdict().bits(), verdict);
    assert_eq!(judgement.scheme().map(<[u8]>::len), reference::scheme(line));
    let advisories: Vec<_> = judgement.advisories().iter().map(|advisory| advisory.name()).collect();
    assert_eq!(advisories, reference::advisories(line));
});
