//! The digest of a report: what was found in 64 digits, so that two reports can be told apart, and a changed one be known.
//!
//! How the inputs are called and packed does not count: a list has one digest whether it is named or comes through a pipe,
//! compressed or not.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Report;

/// The digest that a report should have.
pub(super) fn of_report(report: &Report) -> String {
    of(to_value(report))
}

/// `of` as a JSON value. It goes by text: the code that writes all types is there only once, for text.
pub(crate) fn to_value(of: &impl Serialize) -> Value {
    let json = serde_json::to_vec(of).and_then(|json| serde_json::from_slice(&json));
    json.expect("it is made of strings, numbers and lists of them")
}

/// The digest of a report as read, with all fields that it has: SHA-256 of it without `digest`, `run` and, of the inputs, `name`,
/// `codec` and `compressed_bytes`, without spaces, the keys of each object sorted. This is what
/// `jq -jcS 'del(.digest, .run, .inputs[]["name", "codec", "compressed_bytes"])'` writes.
pub(crate) fn of(mut report: Value) -> String {
    if let Value::Object(fields) = &mut report {
        fields.remove("run");
        fields.remove("digest");
    }
    for input in report.get_mut("inputs").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(fields) = input {
            fields.retain(|name, _| !matches!(&**name, "name" | "codec" | "compressed_bytes"));
        }
    }
    // Another user of serde_json in the same program may have switched on that objects keep their order.
    report.sort_all_objects();
    of_parts([report.to_string().as_bytes()])
}

/// SHA-256 of some bytes one behind the other, in hexadecimal digits.
pub(crate) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    parts.into_iter().for_each(|part| hash.update(part));
    let mut out = String::new();
    for byte in hash.finalize() {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
