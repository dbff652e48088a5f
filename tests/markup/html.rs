//! HTML.

use html5gum::{DefaultEmitter, Token, Tokenizer};
use urlsift::internal::run::{Format, Skip};
use urlsift::internal::{MAX_RECORD_LEN, Reader};

use super::{by_pieces, check, check_long, describe, drawn, found};
use crate::reference::Rng;
use crate::support::amount;

#[test]
fn links_of_pages() {
    check(
        Format::Html,
        "",
        &[
            ("<a href=\"http://a/\">b</a>", &["link http://a/"]),
            ("<A HREF=http://a/b/>c</A><a\nhref\n=\n' d\t'>", &["link http://a/b/", "link d"]),
            (
                "<base href='/a'><link rel=b href=c><area href=d><a xlink:href=e>",
                &["url /a", "link c", "link d", "link e"],
            ),
            (
                "<img src=a><script src=b></script><video poster=c><body background=d>",
                &["embed a", "embed b", "embed c", "embed d"],
            ),
            (
                "<form action=a><button formaction=b><q cite=c><object data=d>",
                &["link a", "link b", "link c", "embed d"],
            ),
            ("<p action=a data=b content='0;url=c' title=d>", &[]),
            ("<a href><a href=><a href=''>", &["link ", "link ", "link "]),
            ("<a href=b href=c HREF=d>", &["link b"]),
            ("<a/href=b/c=d><a b/href='c'href=d>", &["link b/c=d", "link c"]),
            ("<a b=\"c>d\" e='f>g' href=h>", &["link h"]),
            ("<a \"href=b><a =href=b><a b='c'\"href=d>", &[]),
            ("<a href=\"b>c", &["!cut-off@0+12"]),
            ("<a href=\"b<a href='c'>\">", &["link b<a href=\\'c\\'>"]),
            ("a < b <1 <a href=c> </a href=d> </> </ href=e> <", &["link c"]),
            (
                "<!-- <a href=b> --><!--><a href=c><!---><a href=d><!-- --!><a href=e>",
                &["link c", "link d", "link e"],
            ),
            ("<!--!><a href=b>--><!---!><a href=c>--><a href=d>", &["link d"]),
            ("<!doctype a '><a href=b><?c ><a href=d><![CDATA[<a href=e>]]>", &["link b", "link d"]),
        ],
    );
}

#[test]
fn references_in_attributes() {
    check(
        Format::Html,
        "",
        &[
            (
                "<a href='?a&amp;b&amp=c&ampd&copy=e&copy;&#38;&#x26&#x80;'>",
                &["link ?a&b&amp=c&ampd&copy=e\\xc2\\xa9&&\\xe2\\x82\\xac"],
            ),
            ("<a href='&notit;&notin;&amp&lt'>", &["link &notit;\\xe2\\x88\\x89&<"]),
            ("<a href='&#;&#x;&;&unknown;&'>", &["link &#;&#x;&;&unknown;&"]),
            (
                "<a href='&#0;&#xd800;&#x110000;&#99999999999999;'>",
                &["link \\xef\\xbf\\xbd\\xef\\xbf\\xbd\\xef\\xbf\\xbd\\xef\\xbf\\xbd"],
            ),
            (
                "<a href='&NotEqualTilde;&CounterClockwiseContourIntegral;'>",
                &["link \\xe2\\x89\\x82\\xcc\\xb8\\xe2\\x88\\xb3"],
            ),
            ("<a href='&AElig;&zwnj;&Tab;'>", &["link \\xc3\\x86\\xe2\\x80\\x8c"]),
            ("<a href='&#32;a&#10;'>", &["link a"]),
        ],
    );
}

#[test]
fn several_urls_in_an_attribute() {
    check(
        Format::Html,
        "",
        &[
            ("<img srcset='a 1x, b 2x,c,,d (e, f) g, h'>", &["embed a", "embed b", "embed c,,d", "embed h"]),
            ("<img srcset=',a, b 1x'><link imagesrcset=' c '>", &["embed a", "embed b", "embed c"]),
            ("<img srcset='a&amp;b 1x, c,'>", &["embed a&b", "embed c"]),
            ("<img srcset=''>", &[]),
            ("<meta http-equiv=refresh content='5; url=a'>", &["link a"]),
            ("<meta content=\"0;URL='a b' c\" HTTP-EQUIV=Refresh>", &["link a b"]),
            (
                "<meta http-equiv=refresh content='1.5, a'><meta http-equiv=refresh content=' 5 a'>",
                &["link a", "link a"],
            ),
            (
                "<meta http-equiv=refresh content='5;urla'><meta http-equiv=refresh content='5;url a'>",
                &["link urla", "link url a"],
            ),
            (
                "<meta http-equiv=refresh content=5><meta http-equiv=refresh content='a'><meta content='5;url=a'>",
                &[],
            ),
        ],
    );
    let (_, counts) =
        describe(Reader::new(Format::Html), b"<meta http-equiv=refresh content=5><img srcset><a>");
    assert_eq!((counts.records(), counts.skipped(Skip::NoField)), (2, 2));
}

#[test]
fn text_without_tags() {
    check(
        Format::Html,
        "",
        &[
            ("<script><a href=b></script><a href=c>", &["link c"]),
            ("<Style><a href=b></stylex></STYLE\n><a href=c>", &["link c"]),
            ("<textarea></a><a href=b></textarea/><title><a href=c></title><a href=d>", &["link d"]),
            ("<script src=a><!-- <script></script><a href=b>--></script><a href=c>", &["embed a", "link c"]),
            ("<script><!-- <script></script><a href=b></script><a href=c>", &["link c"]),
            ("<script><!--><script></script><a href=b>", &["link b"]),
            ("<script><!-- <scripty></script><a href=b>", &["link b"]),
            ("<script><!-- <script --></script><a href=b>", &["link b"]),
            (
                "<noscript><a href=b></noscript><xmp><a href=c></xmp><iframe src=d><a href=e>",
                &["link b", "embed d"],
            ),
            ("<a href=b><plaintext></plaintext><a href=c>", &["link b"]),
        ],
    );
}

#[test]
fn attributes_by_name() {
    let document = "<img data-src=a SRC=b srcset='c 1x'><a data-src=d href=e>";
    check(Format::Html, "data-src", &[(document, &["link a", "link d"])]);
    check(Format::Html, "a@Data-Src,src", &[(document, &["embed b", "link d"])]);
    check(Format::Html, "@srcset", &[(document, &["embed c"])]);
    assert!(Reader::with_fields(Format::Html, &["1".parse().unwrap()]).is_err());
}

#[test]
fn pages_are_detected() {
    for head in [
        "<!DOCTYPE html>\n",
        "\u{feff} \n<!-- a --><HTML lang=en>",
        "<head>",
        "<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'a'>",
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n",
    ] {
        assert_eq!(Format::detect(head.as_bytes()), Format::Html, "{head}");
    }
    for head in ["<htmlx>", "<!doctype htm", "http://a/\n<html>\n"] {
        assert_eq!(Format::detect(head.as_bytes()), Format::Lines, "{head}");
    }
}

/// The links that an independent tokenizer finds, sorted, because it does not keep the order of attributes.
fn by_html5gum(document: &str) -> Vec<String> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let tokenizer = Tokenizer::new_with_emitter(document, emitter);
    let mut found = Vec::new();
    for Ok(token) in tokenizer {
        let Token::StartTag(tag) = token else { continue };
        for (name, role) in [("href", "link"), ("src", "embed"), ("cite", "link")] {
            if let Some(value) = tag.attributes.get(name.as_bytes()) {
                found.push(format!("{role} {}", value.trim_ascii().escape_ascii()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn drawn_pages_give_what_another_tokenizer_finds() {
    let tokens = [
        "<a href=", "<a", " href='", "'>", "\">", ">", "/>", "</a>", "<", "/", "=", "\"", "'", " ", "\n",
        "\t", "a", "b", "src=c", " CITE=\"", "<!--", "-->", "--!>", "-", "!", "<!doctype ", "<?",
        "<![CDATA[", "]]>", "</", "<script>", "</script>", "<script", "</script", "<title>", "</title>",
        "<style ", "</style>", "&amp;", "&amp", "&notit;", "&lt", "&#x41;", "&#128;", "&#", "&copy", ";",
        "\u{e9}", "<img src=d>", "<b href=e>", "<iframe>", "</iframe >",
    ];
    let mut random = Rng::new(52);
    let mut n = 0;
    for _ in 0..amount(10_000, 150_000) {
        let document = format!("{}<b href=f>", drawn(&mut random, &tokens, 14));
        let expected = by_html5gum(&document);
        let mut found = found(&Reader::new(Format::Html), document.as_bytes());
        found.retain(|field| !field.starts_with('!'));
        found.sort();
        assert_eq!(found, expected, "{document}");
        n += usize::from(found.len() > 1);
    }
    assert!(n > 500, "{n}");
}

#[test]
fn long_pages_and_long_tags() {
    let long = MAX_RECORD_LEN;
    let filled = |before: &str, unit: &str, after: &str| {
        [before, &unit.repeat(long / unit.len() + 20), after].concat().into_bytes()
    };
    let too_long = "!too-long@0+8388608";
    check_long(
        &Reader::new(Format::Html),
        &[
            (filled("<a href='", "a", "'><a href=b>"), &[too_long, "link b"]),
            (filled("<a title='", "\">", "'><a href=b>"), &[too_long, "link b"]),
            (filled("<script title=\"", "'>", "\"><a href=c></script><a href=b>"), &[too_long, "link b"]),
            (filled("<a", " b='>'", "><a href=b>"), &[too_long, "link b"]),
            (filled("<!--", "-", "--><a href=b>"), &["link b"]),
            (filled("<script>", "<!---<script></script>--></scrip", "</script><a href=b>"), &["link b"]),
            (filled("<title>", "</titl", "</title><a href=b>"), &["link b"]),
            (filled("<a href=b><script>", "<a href=c>", ""), &["link b"]),
            (filled("<a href=b><a href='", ">", ""), &["link b", "!too-long@10+8388608"]),
        ],
    );
}

/// What cuts of a page find is kept, up to a number of links. Those behind are searched again.
#[test]
fn a_page_with_more_links_than_are_kept() {
    let links = (0..10_000).map(|n| format!("<p><a href={n} src=a{n}>b</a><!--<a href=c>-->"));
    let page = links.collect::<Vec<_>>().concat();
    let reader = Reader::new(Format::Html);
    let whole = describe(reader.clone(), page.as_bytes());
    assert_eq!(whole.0.len(), 20_000);
    for cut in [1, page.len() / 3, page.len()] {
        assert_eq!(by_pieces(&reader, page.as_bytes(), [cut]), whole, "cut at {cut}");
    }
}

#[test]
fn hostile_pages_are_read_in_one_pass() {
    let deep = ["<a>".repeat(1_000_000), "<a href=b>".to_owned()].concat();
    assert_eq!(describe(Reader::new(Format::Html), deep.as_bytes()).0, ["link b"]);
    for (unit, n) in [
        ("<", 2_000_000),
        ("<!--", 1_000_000),
        ("<script><!--", 500_000),
        ("</", 1_000_000),
        ("&", 1_000_000),
    ] {
        assert!(describe(Reader::new(Format::Html), unit.repeat(n).as_bytes()).0.is_empty(), "{unit}");
    }
    let same = format!("<a{}>", " href=b".repeat(500_000));
    assert_eq!(describe(Reader::new(Format::Html), same.as_bytes()).0, ["link b"]);
    let many = format!("<a {}href=b>", "&".repeat(100_000));
    assert_eq!(describe(Reader::new(Format::Html), many.as_bytes()).0.len(), 0);
    let bytes = b"<a href='\0\xff'><\xff href=a><a\0 href=b>";
    assert_eq!(found(&Reader::new(Format::Html), bytes), ["link \\x00\\xff", "link b"]);
}
