//! The samples of record formats, repeated so that they fill several chunks, and what compresses them.

use std::fs;
use std::io::Write;
use std::path::Path;

use urlsift::internal::run::Format;

/// Every sample three times, truncated inside its last record.
pub(crate) fn samples() -> impl Iterator<Item = (String, Vec<u8>, Format)> {
    let formats = [
        ("alb.log", Format::Alb),
        ("s3.log", Format::S3),
        ("elb.log", Format::Elb),
        ("haproxy.log", Format::Haproxy),
        ("squid.log", Format::Squid),
        ("envoy.log", Format::Envoy),
        ("zeek.log", Format::Zeek),
        ("iis-default.log", Format::Iis),
        ("apache-combined.log", Format::Clf),
        ("apache_sample.log", Format::Clf),
        ("nginx.log", Format::Clf),
        ("cloudfront.log", Format::W3c),
        ("iis.log", Format::W3c),
        ("crawl.cdx", Format::Cdx),
        ("crawl.wat", Format::Wat),
        ("excel.csv", Format::Csv),
        ("excel.tsv", Format::Tsv),
        ("indexed.cdxj", Format::Cdxj),
        ("objects.jsonl", Format::JsonLines),
        ("page.html", Format::Html),
        ("sitemap.xml", Format::Xml),
        ("written-1.0.warc", Format::Warc),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    formats.into_iter().map(move |(name, format)| {
        let bytes = fs::read(folder.join(name)).unwrap().repeat(3);
        let len = bytes.len() - if matches!(format, Format::Warc | Format::Wat) { 20 } else { 3 };
        (name.to_owned(), bytes[..len].to_vec(), format)
    })
}

/// One member of gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
}
