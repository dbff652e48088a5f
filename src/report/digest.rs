//! The digest of a report: SHA-256 of the findings. It tells reports apart and shows whether one was changed.
//!
//! Names and compression of the inputs do not affect it: a list has the same digest as a file, through a pipe, and
//! compressed.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Report;

/// Computes the digest of a report.
pub(super) fn of_report(report: &Report) -> String {
    of(to_value(report))
}

/// Converts `of` to a JSON value. The detour through text avoids compiling a second serializer for all types.
pub(crate) fn to_value(of: &impl Serialize) -> Value {
    let json = serde_json::to_vec(of).and_then(|json| serde_json::from_slice(&json));
    json.expect("it is made of strings, numbers and lists of them")
}

/// The digest of a report that was read as JSON, including fields that this version does not know.
///
/// It is SHA-256 of the report without `digest` and `run`, without `name`, `codec` and `compressed_bytes` of the inputs,
/// and without `input_name` of examples. If the rows of an input have no order, all that depends on one is left out:
/// examples, `longest`, and lists of frequent names that are not exact.
/// The report is written without spaces, with the keys of each object sorted, as
/// this command writes it: `jq -jcS 'del(.digest, .run, .inputs[]["name", "codec", "compressed_bytes"], (.verdict_sets,
/// .defects, .advisories)[].examples[].input_name, (.whatwg.errors[]?, .whatwg.hosts_differ).examples[]?.input_name)'`.
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
    let is_unordered = |input: &Value| input.get("unordered") == Some(&true.into());
    let is_unordered = report["inputs"].as_array().is_some_and(|inputs| inputs.iter().any(is_unordered));
    if let Some(Value::Object(lengths)) = report.get_mut("lengths").filter(|_| is_unordered) {
        lengths.remove("longest");
    }
    if let Some(top) = report.get_mut("top").and_then(Value::as_array_mut).filter(|_| is_unordered) {
        // Which names are dropped depends on the order.
        top.retain(|top| top["max_error"] == 0);
    }
    for list in ["/verdict_sets", "/defects", "/advisories", "/whatwg/errors"] {
        let kinds = report.pointer_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        kinds.for_each(|kind| change_examples(kind, is_unordered));
    }
    if let Some(kind) = report.pointer_mut("/whatwg/hosts_differ") {
        change_examples(kind, is_unordered);
    }
    // Another crate of the same program may enable the feature of serde_json that keeps the order of keys.
    report.sort_all_objects();
    // jq escapes DEL, which JSON does not ask for.
    of_parts([report.to_string().replace('\x7f', "\\u007f").as_bytes()])
}

/// Removes the names of inputs from the examples of a kind of lines. Without an order, removes the examples.
fn change_examples(kind: &mut Value, is_unordered: bool) {
    let Some(examples) = kind.get_mut("examples").and_then(Value::as_array_mut) else { return };
    if is_unordered {
        examples.clear();
    }
    for example in examples.iter_mut().filter_map(Value::as_object_mut) {
        example.remove("input_name");
    }
}

/// SHA-256 of the concatenated parts, in hexadecimal digits.
pub(crate) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    parts.into_iter().for_each(|part| hash.update(part));
    let mut out = String::new();
    for byte in hash.finalize() {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
