//! Compares the judge with the reference implementation, which shares no code with it: verdicts, defect offsets, scheme and
//! advisories.
//!
//! Also resolves the line against several bases. Every line must have a target, and RFC 3986 must accept that target if it
//! accepts the line.
#![no_main]

#[allow(unreachable_pub)]
#[path = "../../tests/reference/mod.rs"]
mod reference;

use libfuzzer_sys::fuzz_target;
use urlsift::grammar::resolve::Base;
use urlsift::{Grammar, judge};

fuzz_target!(|line: &[u8]| {
    // The reference implementation is slow, and states repeat after a few bytes.
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
    let accepts = |line: &[u8]| judge(line).verdict().accepts(Grammar::Rfc3986);
    // The line also serves as a base for its own second half, if it can be a base.
    let (_, half) = line.split_at(line.len() / 2);
    let bases = [&b"http://a/b/c?d"[..], b"x:", b"x:/.//", b"x:y/z", line];
    for base in bases.into_iter().filter_map(|base| Base::new(base).ok()) {
        for reference in [line, half] {
            let mut target = Vec::new();
            base.resolve(reference, &mut target);
            assert!(accepts(&target) || !accepts(reference), "{}", target.escape_ascii());
        }
    }
});
