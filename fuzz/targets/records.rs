//! Reads arbitrary bytes as records of any format. Checks invariants of all formats, and that whole input and chunks give
//! the same result.
//!
//! The first byte chooses the fields, the second how many bytes arrive at a time. The name of the format follows, up to an LF.
#![no_main]

#[path = "../../tests/read/mod.rs"]
mod read;

use libfuzzer_sys::fuzz_target;
use urlsift::internal::Reader;
use urlsift::internal::run::{BadCause, Format, Skip};

/// Choices of fields. Few formats support all of them.
const FIELDS: [&[&str]; 10] = [
    &[],
    &["url"],
    &["2"],
    &["3", "1"],
    &["/a/b", "id"],
    &["request"],
    &["referer", "1"],
    &["body-links"],
    &["WARC-Target-URI", "body-links"],
    &["href", "loc", "@src"],
];

fuzz_target!(|input: &[u8]| {
    let &[fields, step, ref input @ ..] = input else { return };
    let mut parts = input.splitn(2, |&byte| byte == b'\n');
    let format = parts.next().and_then(|name| Format::find(std::str::from_utf8(name).ok()?));
    let (Some(format), Some(bytes)) = (format, parts.next()) else { return };
    let fields = FIELDS[usize::from(fields) % FIELDS.len()];
    let fields: Vec<_> = fields.iter().map(|field| field.parse().unwrap()).collect();
    let _ = Format::detect(bytes);
    // Parquet has a separate reader.
    let Ok(reader) = Reader::with_fields(format, &fields) else { return };
    let (whole, counts) = read::whole(reader.clone(), bytes);
    let refused = whole.iter().filter(|field| field.is_err()).count() as u64;
    assert_eq!(refused, BadCause::ALL.iter().map(|&cause| counts.refused(cause)).sum::<u64>());
    let skipped: u64 = Skip::ALL.iter().map(|&reason| counts.skipped(reason)).sum();
    assert_eq!(counts.records(), counts.read() + refused + skipped);
    for field in whole.iter().flatten() {
        let start = usize::try_from(field.offset).unwrap();
        if let std::borrow::Cow::Borrowed(text) = field.bytes {
            assert_eq!(&bytes[start..start + text.len()], text);
        }
    }
    let step = 1 + usize::from(step);
    assert_eq!(read::by_pieces(reader, bytes, (step..).step_by(step)), (whole, counts));
});
