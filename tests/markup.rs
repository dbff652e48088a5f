//! Documents of markup: cases, drawn documents compared with independent parsers, and hostile ones.

#[path = "markup/base.rs"]
mod base;
#[path = "markup/html.rs"]
mod html;
#[path = "markup/warc.rs"]
mod warc;
#[path = "markup/xml.rs"]
mod xml;

use urlsift::internal::run::{Counts, Format};
use urlsift::internal::{MAX_RECORD_LEN, Reader};

use crate::read;
use crate::reference::Rng;
use crate::support::amount;

/// A field as `role url`, or a bad record as `!cause@offset+at`.
fn described((found, counts): read::Found<'_>) -> (Vec<String>, Counts) {
    let found = found.into_iter().map(|field| match field {
        Ok(field) => format!("{} {}", field.role, field.bytes.escape_ascii()),
        Err(bad) => format!("!{}@{}+{}", bad.cause, bad.offset, bad.at),
    });
    (found.collect(), counts)
}

fn describe(reader: Reader, bytes: &[u8]) -> (Vec<String>, Counts) {
    described(read::whole(reader, bytes))
}

fn by_pieces(reader: &Reader, bytes: &[u8], ends: impl IntoIterator<Item = usize>) -> (Vec<String>, Counts) {
    described(read::by_pieces(reader.clone(), bytes, ends))
}

/// What a reader finds, which must not depend on where the input is cut.
fn found(reader: &Reader, bytes: &[u8]) -> Vec<String> {
    let whole = describe(reader.clone(), bytes);
    if bytes.len() < 2000 {
        for at in 0..bytes.len() {
            assert_eq!(by_pieces(reader, bytes, [at]), whole, "{} cut at {at}", bytes.escape_ascii());
        }
        let each = by_pieces(reader, bytes, 0..);
        assert_eq!(each, whole, "{} byte by byte", bytes.escape_ascii());
    }
    whole.0
}

/// Compares what is found in documents with what is expected there.
fn check(format: Format, fields: &str, cases: &[(&str, &[&str])]) {
    let fields: Vec<_> =
        fields.split(',').filter(|name| !name.is_empty()).map(|name| name.parse().unwrap()).collect();
    let reader = Reader::with_fields(format, &fields).unwrap();
    for (document, expected) in cases {
        assert_eq!(found(&reader, document.as_bytes()), *expected, "{document}");
    }
}

/// Draws a document of up to `most` tokens.
fn drawn(random: &mut Rng, tokens: &[&str], most: usize) -> String {
    (0..random.below(most)).map(|_| tokens[random.below(tokens.len())]).collect()
}

/// What is found in documents that are longer than a record. Reads end near the places where a record becomes too long.
fn check_long(reader: &Reader, documents: &[(Vec<u8>, &[&str])]) {
    // The short mode cuts each document at a third of the places, and the next one at others.
    let share = usize::try_from(amount(3, 1)).unwrap();
    for (n, (document, expected)) in documents.iter().enumerate() {
        let head = document[..30].escape_ascii();
        let whole = describe(reader.clone(), document);
        assert_eq!(whole.0, *expected, "{head}");
        let places = [0, 1, 2, 5, 9, 14, 15, 16, 17, 18, 19, 20, 25, 31, 33];
        for near in places.into_iter().skip(n % share).step_by(share) {
            let pieces = [near, near + 5, MAX_RECORD_LEN + near, MAX_RECORD_LEN + near + 7];
            assert_eq!(by_pieces(reader, document, pieces), whole, "{head} near {near}");
        }
    }
}

#[test]
fn any_document_gives_the_same_wherever_it_is_cut() {
    let xml = [
        "<loc>", "</loc>", "<guid isPermaLink='false'>", "</guid>", "<url>", "<link href=\"", "<a b='", "'>",
        "\">", "/>", "<!--", "-->", "--", "<![CDATA[", "]]>", "<?p", "?>", "<!DOCTYPE a [", "]>", "&amp;",
        "&", "<", ">", "a", " ", "\n", "'", "\"", "=", "/", "</", "</lo", "</loc", "<![",
    ];
    let html = [
        "<a href=", "<a href='", "'>", ">", "<img srcset='a 1x, b'", "<script>", "</script>", "<script",
        "</script", "<title", "</title ", "<!--", "-->", "--!>", "-", "!", "&amp;", "&lt", "<", "/", "=",
        "a", " ", "\"", "'", "</", "<?",
    ];
    let mut random = Rng::new(53);
    for (format, tokens) in [(Format::Xml, &xml[..]), (Format::Html, &html)] {
        for _ in 0..amount(10_000, 100_000) {
            found(&Reader::new(format), drawn(&mut random, tokens, 12).as_bytes());
        }
    }
}
