//! Decodes arbitrary bytes by one thread, and by several ahead of the scan. Counts and errors must be the same.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use urlsift::internal::run::{ExecOptions, list_inputs, scan_inputs};
use urlsift::internal::scan::Options;

fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let inputs = list_inputs(&[file.path()]);
    let found = |threads, shard_len| {
        let mut exec = ExecOptions::default();
        (exec.threads, exec.shard_len) = (threads, shard_len);
        let scanned = scan_inputs(&inputs, &Options::default(), &exec);
        let failures: Vec<_> = scanned.failures.iter().map(|failure| failure.error.to_string()).collect();
        (scanned.tally, failures)
    };
    let by_one = found(1, 1 << 20);
    assert!(found(3, 100) == by_one && found(2, 1 << 20) == by_one, "{:?}", by_one.1);
});
