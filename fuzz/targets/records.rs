//! Reads arbitrary bytes as records of any format. Checks invariants of all formats, and that whole input and chunks give
//! the same result.
//!
//! The first byte chooses the fields, the second how many bytes arrive at a time. The name of the format follows, up to an LF.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlsift::internal::Reader;
use urlsift::internal::run::{BadCause, Counts, Format, Skip};

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
    let Ok(mut reader) = Reader::with_fields(format, &fields) else { return };
    let reader_of_chunks = reader.clone();
    let whole: Vec<_> = reader.fields(bytes).collect();
    let counts = reader.counts();
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
    let (mut reader, mut chunks, mut of_chunks) = (reader_of_chunks, Vec::new(), Counts::default());
    let (mut start, mut end) = (0, 0);
    while start < bytes.len() {
        end = bytes.len().min(end + 1 + usize::from(step));
        let mut copy = reader.clone();
        let len = reader.cut(&bytes[start..end], end == bytes.len());
        assert!(end < bytes.len() || len == end - start, "at the end it is all of them");
        chunks.extend(copy.fields(&bytes[start..start + len]));
        of_chunks = of_chunks.merge(copy.counts());
        start += len;
    }
    assert_eq!((chunks, &of_chunks), (whole, counts));
});
