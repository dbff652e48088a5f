//! The digest of a report: SHA-256 of the findings. It tells reports apart and shows whether one was changed.
//!
//! Names and compression of the inputs do not affect it: a list has the same digest as a file, through a pipe, and
//! compressed.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Report;

/// Computes the digest of a report. Its inputs are converted one at a time, because there may be very many.
pub(super) fn of_report(report: &mut Report) -> String {
    let inputs = std::mem::take(&mut report.inputs);
    let others = to_value(report);
    let is_unordered = inputs.iter().any(|input| input.unordered);
    let digest = of_fields(others, is_unordered, inputs.iter().map(to_value));
    report.inputs = inputs;
    digest
}

/// Converts `of` to a JSON value. The detour through text avoids compiling a second serializer for all types.
pub(crate) fn to_value(of: &impl Serialize) -> Value {
    let json = serde_json::to_vec(of).and_then(|json| serde_json::from_slice(&json));
    json.expect("it is made of strings, numbers and lists of them")
}

/// The digest of a report that was read as JSON, including fields that this version does not know.
///
/// It is SHA-256 of the report without `digest` and `run`, without `name`, `codec`, `compressed_bytes` and `looks_like.advice` of the
/// inputs, and without `input_name` of examples. If the rows of an input have no order, all that depends on one is left out:
/// examples, `longest`, and lists of frequent names that are not exact.
/// The report is written without spaces, with the keys of each object sorted, as
/// this command writes it: `jq -jcS 'del(.digest, .run, .inputs[]["name", "codec", "compressed_bytes"], .inputs[].looks_like.advice, (.verdict_sets,
/// .defects, .advisories)[].examples[].input_name, (.whatwg.errors[]?, .whatwg.hosts_differ).examples[]?.input_name)'`.
pub(crate) fn of(mut report: Value) -> String {
    let inputs = report.get_mut("inputs").and_then(Value::as_array_mut).map(std::mem::take);
    let inputs = inputs.unwrap_or_default();
    let is_unordered = inputs.iter().any(|input| input.get("unordered") == Some(&true.into()));
    of_fields(report, is_unordered, inputs.into_iter())
}

/// Computes the digest of a report whose list of `inputs` is empty, with these inputs in the list.
fn of_fields(mut report: Value, is_unordered: bool, mut inputs: impl Iterator<Item = Value>) -> String {
    if let Value::Object(fields) = &mut report {
        fields.remove("run");
        fields.remove("digest");
    }
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
    let mut hash = Sha256::new();
    // jq escapes DEL, which JSON does not ask for.
    let mut add = |json: &str| hash.update(json.replace('\x7f', "\\u007f"));
    let comma = |n: usize| if n > 0 { "," } else { "" };
    add("{");
    for (n, (name, value)) in report.as_object().into_iter().flatten().enumerate() {
        add(&format!("{}{}:", comma(n), Value::from(name.as_str())));
        if name != "inputs" || !value.as_array().is_some_and(Vec::is_empty) {
            add(&value.to_string());
            continue;
        }
        add("[");
        for (n, mut input) in inputs.by_ref().enumerate() {
            if let Value::Object(fields) = &mut input {
                if let Some(Value::Object(looks)) = fields.get_mut("looks_like") {
                    looks.remove("advice");
                }
                fields.retain(|name, _| !matches!(&**name, "name" | "codec" | "compressed_bytes"));
            }
            input.sort_all_objects();
            add(&format!("{}{input}", comma(n)));
        }
        add("]");
    }
    add("}");
    hex(hash)
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
    hex(hash)
}

/// The digest of all that was added to `hash`, in hexadecimal digits.
fn hex(hash: Sha256) -> String {
    let mut out = String::new();
    for byte in hash.finalize() {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
