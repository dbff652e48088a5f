//! The bases of pages: what their links are resolved against.

use html5gum::{DefaultEmitter, Token, Tokenizer};
use urlsift::grammar::resolve::Base;
use urlsift::internal::escape::Keep;
use urlsift::internal::rows::{self, write_records};
use urlsift::internal::run::{Format, Reading, list_inputs, scan_records};
use urlsift::internal::scan::{self, WhatwgWanted};
use urlsift::whatwg::{Level, parse};

use super::drawn;
use crate::reference::{Rng, accepts};
use crate::support::references::{components, target};
use crate::support::{amount, columns, exec, file};

/// Where the links of an input are.
fn reading(format: Format) -> Reading {
    let mut reading = Reading::of(format);
    if format == Format::Warc {
        reading.fields = vec!["body-links".parse().unwrap()];
    }
    reading
}

/// The fields of an input, each with the column `resolved` or `whatwg_href`, a blank between them. For the latter, the counts of the report
/// are compared.
fn fields(column: &str, format: Format, base: Option<&str>, bytes: &[u8], shard_len: usize) -> Vec<String> {
    let path = file(bytes);
    let mut records = rows::Records::default();
    records.columns = columns(&format!("whatwg text {column}"));
    records.keep = Keep::Ascii;
    records.reading = reading(format);
    match column {
        "resolved" => records.base = base.map(|base| Base::new(base.as_bytes()).unwrap()),
        _ => records.whatwg_base = base.map(|base| parse(base.as_bytes(), None).url().unwrap().clone()),
    }
    // One thread or two.
    let exec = exec(1 + shard_len % 2, shard_len);
    let inputs = list_inputs(&[&path]);
    let mut out = Vec::new();
    write_records(&inputs, &records, &exec, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let (levels, rows): (Vec<_>, Vec<_>) = out.lines().map(|row| row.split_once('\t').unwrap()).unzip();
    if column == "whatwg_href" {
        let mut options = scan::Options::default();
        let mut wanted = WhatwgWanted::default();
        wanted.base = records.whatwg_base;
        options.whatwg = Some(wanted);
        let scanned = scan_records(&inputs, &reading(format), &options, &exec);
        for &level in Level::ALL {
            let counted = scanned.tally.whatwg().map_or(0, |counts| counts.level(level).lines());
            let expected = levels.iter().filter(|name| **name == level.name()).count();
            assert_eq!(counted, expected as u64, "{level} in {bytes:?}");
        }
    }
    rows.into_iter().map(|row| row.replace('\t', " ")).collect()
}

/// The fields of an input and what they are resolved to by RFC 3986, a blank between them.
fn resolved(format: Format, base: Option<&str>, bytes: &[u8], shard_len: usize) -> Vec<String> {
    fields("resolved", format, base, bytes, shard_len)
}

/// An archive of pages, each with its URL; without one if that is empty.
fn archive(pages: &[(&str, &str)]) -> Vec<u8> {
    let record = |&(url, page): &(&str, &str)| {
        let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
        let header = if url.is_empty() { String::new() } else { format!("WARC-Target-URI: {url}\r\n") };
        let len = http.len();
        format!("WARC/1.1\r\nWARC-Type: response\r\n{header}Content-Length: {len}\r\n\r\n{http}\r\n\r\n")
    };
    pages.iter().map(record).collect::<String>().into_bytes()
}

#[test]
fn links_of_a_page_are_resolved_against_its_base() {
    for (base, page, expected) in [
        (Some("http://h/a/b"), "<a href=c>", &["c http://h/a/c"][..]),
        (None, "<a href=c><a href=http://g/./d>", &["c -", "http://g/./d http://g/d"]),
        (None, "<base href=http://g/e/f><a href=c>", &["http://g/e/f http://g/e/f", "c http://g/e/c"]),
        (
            Some("http://h/a/b"),
            "<BASE HREF=' d/&amp;'><a href=c>",
            &["d/& http://h/a/d/&", "c http://h/a/d/c"],
        ),
        // Only the first one with a `href` counts, and it is resolved against the URL of the page.
        (
            Some("http://h/a/"),
            "<base target=x><base href=d/><base href=e/><a href=c>",
            &["d/ http://h/a/d/", "e/ http://h/a/e/", "c http://h/a/d/c"],
        ),
        (Some("http://h/a/"), "<base href=d/ href=e/><a href=c>", &["d/ http://h/a/d/", "c http://h/a/d/c"]),
        // It holds for what follows it.
        (
            Some("http://h/a/"),
            "<a href=c><base href=d/><img src=c>",
            &["c http://h/a/c", "d/ http://h/a/d/", "c http://h/a/d/c"],
        ),
        (None, "<base href=d/><a href=c>", &["d/ -", "c -"]),
        (Some("http://h/a/"), "<base href><a href=c>", &["- -", "c http://h/a/c"]),
        (
            Some("http://h/a/"),
            "<base href=//g/#f><a href=''><a href=?q>",
            &["//g/#f http://g/#f", "- -", "?q http://g/?q"],
        ),
        // What is in scripts and comments is no element. Neither is an end tag.
        (
            Some("http://h/"),
            "<!--<base href=d/>--></base href=d/><basefont href=d/><a href=c>",
            &["d/ http://h/d/", "c http://h/c"],
        ),
        // Browsers ignore these.
        (Some("http://h/"), "<base href=data:,a><a href=c>", &["data:,a data:,a", "c http://h/c"]),
        (
            Some("http://h/"),
            "<base href='JavaScript:a'><base href=d/><a href=c>",
            &["JavaScript:a JavaScript:a", "d/ http://h/d/", "c http://h/c"],
        ),
        // What RFC 3986 refuses is no base, and no other one takes its place.
        (
            Some("http://h/"),
            "<base href='http://g/d e/'><a href=c><a href=x:y>",
            &["http://g/d e/ -", "c -", "x:y x:y"],
        ),
        (Some("http://h/"), "<a href='c d'>", &["c d -"]),
    ] {
        for shard_len in [1, 17, 1 << 20] {
            assert_eq!(resolved(Format::Html, base, page.as_bytes(), shard_len), expected, "{page}");
        }
    }
}

#[test]
fn links_in_archives_are_resolved_against_their_page() {
    let pages = archive(&[
        ("http://h/a/b", "<a href=c>"),
        ("<http://g/>", "<a href=c><base href=d/><img src=e>"),
        ("http://h/a/b", "<a href=?q>"),
        ("http://h/a|b", "<a href=c><a href=http://x/>"),
        ("http://h/a|b", "<base href=http://y/z/><a href=c>"),
        ("", "<a href=c>"),
        ("", "<base href=/d/><a href=c>"),
    ]);
    let expected = |unknown: [&'static str; 3]| {
        let known = [
            "c http://h/a/c",
            // A page is in memory, so that its base also holds for what precedes it.
            "c http://g/d/c", "d/ http://g/d/", "e http://g/d/e", "?q http://h/a/b?q", "c -",
            "http://x/ http://x/", "http://y/z/ http://y/z/", "c http://y/z/c",
        ];
        [&known[..], &unknown].concat()
    };
    for shard_len in [1, 500, 1 << 20] {
        let found = resolved(Format::Warc, Some("http://k/l/m"), &pages, shard_len);
        assert_eq!(found, expected(["c http://k/l/c", "/d/ http://k/d/", "c http://k/d/c"]));
        let found = resolved(Format::Warc, None, &pages, shard_len);
        assert_eq!(found, expected(["c -", "/d/ -", "c -"]));
    }
}

/// Browsers also resolve against bases that RFC 3986 refuses, and ignore a `base` that is no URL.
#[test]
fn browsers_resolve_links_against_the_base_of_their_page() {
    let pages = archive(&[
        ("http://h/a|b/c", "<a href='d e'>"),
        ("http://h/a/b", "<base href='c d/'><a href=e>"),
        ("http://h/a/b", "<base href='http://x:y/'><a href=e>"),
        ("http://h/a/b", "<base href='java&#9;script:x'><a href=e>"),
        ("x:y", "<a href=e><a href='#f'>"),
        ("no scheme", "<a href=e>"),
        ("", "<base href=/g/><a href=e>"),
        // A line end makes a link one that is counted alone.
        ("http://h/a/b", "<a href='c\nd'>"),
        ("http://h/a/b", "<a href=c><a href='http://h:80:/'>"),
    ]);
    let expected = [
        "d e http://h/a|b/d%20e", "c d/ http://h/a/c%20d/", "e http://h/a/c%20d/e", "http://x:y/ -",
        "e http://h/a/e", "java\\x09script:x javascript:x", "e http://h/a/e", "e -", "#f x:y#f", "e -",
        "/g/ http://k/g/", "e http://k/g/e", "c\\x0ad http://h/a/cd", "c http://h/a/c", "http://h:80:/ -",
    ];
    for shard_len in [1, 500, 1 << 20] {
        let found = fields("whatwg_href", Format::Warc, Some("http://k/l m"), &pages, shard_len);
        assert_eq!(found, expected);
    }
}

/// The base that lies far before a link, in a chunk that is read long before.
#[test]
fn a_base_holds_to_the_end_of_the_page() {
    for (n_lines, shard_len) in [(amount(500, 20_000), 1), (20_000, 1000), (20_000, 1 << 20)] {
        let filler = "<p>text without a link</p>\n".repeat(usize::try_from(n_lines).unwrap());
        let page = format!("<base href=http://g/d/>{filler}<a href=c>{filler}<img src=e>");
        let found = resolved(Format::Html, None, page.as_bytes(), shard_len);
        assert_eq!(found[1..], ["c http://g/d/c", "e http://g/d/e"]);
    }
}

/// A URI without its fragment, if it can be a base.
fn as_base(uri: &[u8]) -> Option<Vec<u8>> {
    let is_base = accepts(4, uri) && components(uri).scheme.is_some();
    is_base.then(|| uri.split(|&byte| byte == b'#').next().unwrap().to_vec())
}

/// The target of a reference by the pseudo code of RFC 3986.
fn by_pseudo_code(base: Option<&[u8]>, reference: &[u8]) -> Option<Vec<u8>> {
    let has_scheme = components(reference).scheme.is_some();
    (has_scheme || base.is_some()).then(|| target(base.unwrap_or_default(), reference))
}

/// The links of a page by an independent tokenizer, and whether they are those of an element `base`.
fn links_by_html5gum(page: &str) -> Vec<(bool, Vec<u8>)> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut links = Vec::new();
    for Ok(token) in Tokenizer::new_with_emitter(page, emitter) {
        let Token::StartTag(tag) = token else { continue };
        if let Some(href) = tag.attributes.get(&b"href"[..]) {
            links.push((tag.name.as_slice() == b"base", href.trim_ascii().to_vec()));
        }
    }
    links
}

/// The links of a page and their targets. `join` resolves a reference against a base, and `base` makes a base of the `href` of an
/// element `base`. `own` is the base of the page.
fn targets(
    page: &str,
    is_whole: bool,
    own: Option<&[u8]>,
    base: impl Fn(Option<&[u8]>, &[u8]) -> Option<Vec<u8>>,
    join: impl Fn(Option<&[u8]>, &[u8]) -> Option<Vec<u8>>,
) -> Vec<String> {
    let links = links_by_html5gum(page);
    let first = links.iter().position(|(is_base, _)| *is_base);
    let of_links = first.map_or_else(|| own.map(<[u8]>::to_vec), |first| base(own, &links[first].1));
    let row = |(n, (is_base, href)): (usize, &(bool, Vec<u8>))| {
        let is_before = !is_whole && first.is_none_or(|first| n < first);
        let base = if *is_base || is_before { own } else { of_links.as_deref() };
        let target = join(base, href).filter(|_| !href.is_empty());
        let text = |bytes: &[u8]| {
            if bytes.is_empty() { "-".to_owned() } else { String::from_utf8(bytes.to_vec()).unwrap() }
        };
        format!("{} {}", text(href), text(&target.unwrap_or_default()))
    };
    links.iter().enumerate().map(row).collect()
}

/// The links of a page and their targets by the pseudo code of RFC 3986.
fn by_rfc(url: Option<&str>, page: &str, is_whole: bool) -> Vec<String> {
    let base = |own: Option<&[u8]>, href: &[u8]| {
        if href.to_ascii_lowercase().starts_with(b"data:") {
            return own.map(<[u8]>::to_vec);
        }
        by_pseudo_code(own, href).and_then(|target| as_base(&target))
    };
    let join = |base: Option<&[u8]>, href: &[u8]| by_pseudo_code(base, href).filter(|_| accepts(4, href));
    let own = url.and_then(|url| as_base(url.as_bytes()));
    targets(page, is_whole, own.as_deref(), base, join)
}

/// The links of a page and their targets by the parser of the WHATWG.
fn by_browsers(url: Option<&str>, page: &str, is_whole: bool) -> Vec<String> {
    let join = |base: Option<&[u8]>, href: &[u8]| {
        let base = base.map(|base| parse(base, None).url().unwrap().clone());
        parse(href, base.as_ref()).url().map(|url| url.to_string().into_bytes())
    };
    let base = |own: Option<&[u8]>, href: &[u8]| {
        let target = join(own, href).filter(|target| !target.starts_with(b"data:"));
        target.or_else(|| own.map(<[u8]>::to_vec))
    };
    let own = url.and_then(|url| join(None, url.as_bytes()));
    targets(page, is_whole, own.as_deref(), base, join)
}

#[test]
fn drawn_pages_are_resolved_as_by_a_second_implementation() {
    let tokens = [
        "<a href='", "<a href='", "<base href='", "'>", "'>", "http://g/", "//k", "/", "..", "a", "b/", "?q",
        "#f", "x:", "data:", " ", "<p>", "<a href='c'>", "<base target='t'>", "<base href='d/e'>",
        "<base href='http://m/n/o?p#q'>", "<!--", "-->",
    ];
    let urls = ["http://h/i/j", "http://h", "x:y", "http://h/ /", "file:///k/l?m#n"];
    let mut random = Rng::new(56);
    let mut n = 0;
    for _ in 0..amount(400, 5_000) {
        // Whether the end of a page is cut off is not of interest here.
        let page = format!("{}<!---->", drawn(&mut random, &tokens, 16));
        let url = urls[random.below(urls.len())];
        let other = drawn(&mut random, &tokens, 10);
        let pages = archive(&[(url, &page), ("http://z/", &other)]);
        let shard_len = 1 + random.below(2000);
        let expected = [by_browsers(Some(url), &page, true), by_browsers(Some("http://z/"), &other, true)];
        let found = fields("whatwg_href", Format::Warc, None, &pages, shard_len);
        assert_eq!(found, expected.concat(), "{url} {page} {other}");
        let expected = [by_rfc(Some(url), &page, true), by_rfc(Some("http://z/"), &other, true)].concat();
        assert_eq!(resolved(Format::Warc, None, &pages, shard_len), expected, "{url} {page} {other}");
        n += usize::from(expected.iter().any(|row| !row.ends_with('-')));
        let given = Some(url).filter(|url| as_base(url.as_bytes()).is_some());
        let expected = by_rfc(given, &page, false);
        let found = resolved(Format::Html, given, page.as_bytes(), 1 + random.below(40));
        assert_eq!(found, expected, "{given:?} {page}");
    }
    assert!(n > 200, "{n}");
}

/// `records/README.md` says which programs read this archive.
#[test]
fn pages_of_an_archive_are_read_as_other_programs_read_them() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    let archive = std::fs::read(folder.join("pages.warc")).unwrap();
    let expected = std::fs::read_to_string(folder.join("pages.warc.links")).unwrap();
    let expected: Vec<_> =
        expected.lines().map(|row| row.split_once('\t').unwrap().1.replace('\t', " ")).collect();
    for shard_len in [1, 3000, 1 << 20] {
        assert_eq!(resolved(Format::Warc, None, &archive, shard_len), expected);
    }
}

/// Each link of such a page is resolved to as many bytes as its base has. They are not kept in memory.
#[test]
fn rows_of_many_links_and_a_long_base_are_whole() {
    let path = "d".repeat(60_000);
    let page = format!("<base href=http://g/{path}/>{}", "<a href=c>".repeat(1_000));
    let found =
        resolved(Format::Warc, None, &archive(&[("http://h/", &page), ("http://h/", &page)]), 1 << 20);
    let links = found.iter().filter(|row| **row == format!("c http://g/{path}/c"));
    assert_eq!((found.len(), links.count()), (2_002, 2_000));
    let page = format!("<base href=http://g/{}/><a href=c>", "d".repeat(70_000));
    assert_eq!(resolved(Format::Html, Some("http://h/"), page.as_bytes(), 1 << 20)[1], "c -");
}
