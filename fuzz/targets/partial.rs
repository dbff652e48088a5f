//! Reads arbitrary bytes as a partial report. What is taken must come back when it is written, and its report can be made.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlsift::partial_report::Partial;

fuzz_target!(|bytes: &[u8]| {
    let Ok(partial) = Partial::from_json(bytes) else { return };
    let mut json = Vec::new();
    partial.write_json(&mut json).unwrap();
    let again = Partial::from_json(&json).expect("what was written");
    let mut json_again = Vec::new();
    again.write_json(&mut json_again).unwrap();
    assert_eq!(json, json_again);
    let _ = again.clone().merge(partial.clone());
    let report = partial.report();
    assert!(report.totals.judged <= report.totals.lines);
});
