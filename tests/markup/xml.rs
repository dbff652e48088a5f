//! XML.

use roxmltree::{Document, NodeType, ParsingOptions};
use urlsift::internal::run::{Format, Role, Skip};
use urlsift::internal::{MAX_RECORD_LEN, Reader};

use super::{check, check_long, describe, drawn, found};
use crate::reference::Rng;
use crate::support::amount;

#[test]
fn urls_of_elements_and_attributes() {
    check(
        Format::Xml,
        "",
        &[
            ("<urlset><url><loc>http://a/</loc></url></urlset>", &["url http://a/"]),
            ("<loc>\n http://a/?b&amp;c=&#x64;&#101; \n</loc >", &["url http://a/?b&c=de"]),
            ("<image:loc>http://a/</image:loc><link href='x'/>", &["url http://a/", "link x"]),
            ("<link>\n<![CDATA[http://a/?b&c<d]]>\n</link>", &["url http://a/?b&c<d"]),
            ("<link>a<!-- b --><?c d?>e<![CDATA[f]]>g</link>", &["url aefg"]),
            ("<guid>http://a/</guid><guid isPermaLink=\"false\">b</guid>", &["url http://a/"]),
            ("<guid isPermaLink='true'>http://a/</guid>", &["url http://a/"]),
            ("<enclosure length=\"1\" url=\"http://a/b.mp3\" type='c'/>", &["link http://a/b.mp3"]),
            ("<a xlink:href = \"b\" src='c'>d</a>", &["link b", "link c"]),
            ("<link href=\"a\" rel=\"self\"/><link href=\"b\"></link>", &["link a", "link b"]),
            ("<link href=\"a\">b</link>", &["link a", "url b"]),
            ("<outline xmlUrl='a' htmlUrl='b'/>", &["link a", "link b"]),
            ("<a xmlns:url='http://n/' xmlns='x'/><b title='http://a/'>http://a/</b>", &[]),
            ("<loc></loc><loc/><loc> </loc><link rel='x'/>", &[]),
            ("<a href=' b\tc\nd '/>", &["link b c d"]),
            ("<a href=''/>", &["link "]),
            ("<!-- <loc>a</loc> --><![CDATA[<loc>b</loc>]]><?c <loc>d</loc>?>", &[]),
            (
                "<!DOCTYPE a SYSTEM \"<loc>>[\" [<!ENTITY b \"]>\"><!-- ' ]> --><?c ]>\"?>]><loc>d</loc>",
                &["url d"],
            ),
            ("<!DOCTYPE a><loc>d</loc>", &["url d"]),
            ("\u{feff}<loc>http://\u{e9}/</loc>", &["url http://\\xc3\\xa9/"]),
            ("<\u{e9}:loc>a</\u{e9}:loc>", &["url a"]),
            ("<loc>a]]b]></loc>>-->", &["url a]]b]>"]),
        ],
    );
}

#[test]
fn malformed_places_are_refused_and_reading_goes_on() {
    check(
        Format::Xml,
        "",
        &[
            ("<loc>http://a/?b&c=d</loc><loc>e</loc>", &["!bad-escape@0+16", "url e"]),
            ("<loc>&eacute;</loc><a href='&x;'/>", &["!bad-escape@0+5", "!bad-escape@19+9"]),
            (
                "<loc>&#0;</loc><loc>&#xd800;</loc><loc>&#+1;</loc>",
                &["!bad-escape@0+5", "!bad-escape@15+5", "!bad-escape@34+5"],
            ),
            ("<loc>a<b>c</b></loc><loc>d</loc>", &["!bad-xml@0+6", "url d"]),
            ("<loc>a</link><loc>d</loc>", &["!bad-xml@0+6", "url d"]),
            ("<loc>a</locs><loc>d</loc=>", &["!bad-xml@0+6", "!bad-xml@13+6"]),
            ("<loc>a< b<loc>c</loc>", &["!bad-xml@0+6", "!bad-xml@6+1", "url c"]),
            ("<a href=b><loc>c</loc>", &["!bad-xml@0+8", "url c"]),
            ("<a href><a =b>", &["!bad-xml@0+7", "!bad-xml@8+3"]),
            ("<a b='c'd='e'/><a b=><a b c='d'>", &["!bad-xml@0+8", "!bad-xml@15+5", "!bad-xml@21+5"]),
            ("<a href=\"b><loc>c</loc>", &["!bad-xml@0+11", "url c"]),
            ("<a href=b <loc>c</loc>", &["!bad-xml@0+8", "url c"]),
            ("<a<a<a<loc>c</loc>", &["!bad-xml@0+2", "!bad-xml@2+2", "!bad-xml@4+2", "url c"]),
            ("a < b<loc>c</loc><1>", &["!bad-xml@2+1", "url c", "!bad-xml@17+1"]),
            ("<<<loc>c</loc></>", &["!bad-xml@0+1", "!bad-xml@1+1", "url c", "!bad-xml@14+1"]),
            ("<a <loc>c</loc>", &["!bad-xml@0+3", "url c"]),
            ("<loc>a</loc><loc>b", &["url a", "!bad-xml@12+6"]),
            ("<loc>a</loc><loc>b</lo", &["url a", "!bad-xml@12+10"]),
            ("<loc>a</loc <loc>b</loc>", &["!bad-xml@0+12", "url b"]),
            ("<loc>a</lo<loc></b<loc> </loc\n</loc>", &["!bad-xml@0+10", "!bad-xml@15+3", "!bad-xml@18+12"]),
            ("<loc>a</loc><loc>b<![CDATA[", &["url a", "!cut-off@12+15"]),
            ("<loc>a</loc><a href='b", &["url a", "!bad-xml@12+10"]),
            ("<loc>a</loc><", &["url a", "!bad-xml@12+1"]),
            ("<loc>a</loc><![CDA", &["url a", "!bad-xml@12+1"]),
            ("<loc>a</loc><!-- <loc>b</loc> --", &["url a"]),
        ],
    );
}

#[test]
fn fields_by_name() {
    let document =
        "<x:loc a='b'>c</x:loc><loc>d</loc><link a='e' href='f'>g</link><guid isPermaLink='false'>h</guid>";
    check(Format::Xml, "loc", &[(document, &["url c", "url d"])]);
    check(Format::Xml, "x:loc", &[(document, &["url c"])]);
    check(Format::Xml, "link@a,guid", &[(document, &["link e", "url h"])]);
    check(Format::Xml, "@a", &[(document, &["link b", "link e"])]);
    for wrong in ["3", "/a", "@", "a@"] {
        let error = Reader::with_fields(Format::Xml, &[wrong.parse().unwrap()]).unwrap_err();
        assert!(error.to_string().contains("a field of xml is"), "{error}");
    }
}

#[test]
fn records_without_a_url_are_skipped() {
    let (_, counts) = describe(
        Reader::new(Format::Xml),
        b"<loc/><loc></loc><guid isPermaLink='false'>a</guid><url><b/></url>",
    );
    assert_eq!((counts.records(), counts.skipped(Skip::NoField)), (3, 3));
}

#[test]
fn documents_are_detected() {
    for (head, format) in [
        ("<?xml version='1.0'?>", Format::Xml),
        ("\u{feff}\r\n <?xml version='1.0'?>\n<!-- a -->\n<b/>", Format::Xml),
        ("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">", Format::Xml),
        ("<!-- a --><sitemapindex>", Format::Xml),
        ("<rss version=\"2.0\">", Format::Xml),
        ("<feed xmlns=\"http://www.w3.org/2005/Atom\">", Format::Xml),
        ("<rdf:RDF>", Format::Xml),
        ("<?php echo 1; ?>\n", Format::Lines),
        ("<http://a/>\n<http://b/>\n", Format::Lines),
        ("http://a/\n<urlset>\n", Format::Lines),
        ("<rssx>\n", Format::Lines),
    ] {
        assert_eq!(Format::detect(head.as_bytes()), format, "{head}");
    }
}

/// The URLs that an independent parser finds; `None` if it does not accept the document.
fn by_roxmltree(document: &str) -> Option<Vec<String>> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let tree = Document::parse_with_options(document, options).ok()?;
    let mut found = Vec::new();
    let mut add = |role: Role, url: &str| {
        let url = url.trim_matches([' ', '\t', '\n', '\r']);
        if role == Role::Link || !url.is_empty() {
            found.push(format!("{role} {}", url.as_bytes().escape_ascii()));
        }
    };
    for element in tree.descendants().filter(|node| node.node_type() == NodeType::Element) {
        for attribute in element.attributes() {
            if ["href", "src", "url"].contains(&attribute.name()) {
                add(Role::Link, attribute.value());
            }
        }
        let name = element.tag_name().name();
        if !["loc", "link", "url", "guid"].contains(&name) {
            continue;
        }
        let text: String =
            element.children().filter(roxmltree::Node::is_text).filter_map(|node| node.text()).collect();
        if !element.children().any(|node| node.is_element()) {
            if name != "guid" || element.attribute("isPermaLink") != Some("false") {
                add(Role::Url, &text);
            }
        } else if element
            .children()
            .any(|node| node.is_text() && !document[node.range()].trim_ascii().is_empty())
        {
            // We refuse it, also if the text is a reference to white space.
            return None;
        }
    }
    Some(found)
}

#[test]
fn drawn_documents_give_what_another_parser_finds() {
    let tokens = [
        "<loc>", "</loc>", "<loc>a</loc>", "<url>", "</url>", "<guid isPermaLink=\"false\">", "<guid>",
        "</guid>", "<link href=\"", "<i:loc>b</i:loc>", "<b>", "</b>", "<b c='d' src = '", "'>", "'/>",
        "\"/>", "\">", "http://a/", " ", "\n", "\r\n", "\t", "&amp;", "&#x41;", "&#10;", "&lt;", "&b;", "&",
        "<!--", "-->", "<!-- <loc>c</loc> -->", "<![CDATA[", "]]>", "<![CDATA[ <loc> & ]]>", "<?p", "?>",
        "<?p <loc> ?>", "\u{e9}", "'", "\"", ">", "]", "-", "=", " href='e'", "url",
    ];
    let mut random = Rng::new(51);
    let mut n = 0;
    for _ in 0..amount(20_000, 200_000) {
        let inside = drawn(&mut random, &tokens, 14);
        let document =
            format!("<!DOCTYPE r [<!-- ' --> <!ELEMENT r ANY>]><r xmlns:i='http://i/'>{inside}</r>");
        let Some(expected) = by_roxmltree(&document) else { continue };
        n += usize::from(!expected.is_empty());
        assert_eq!(found(&Reader::new(Format::Xml), document.as_bytes()), expected, "{document}");
    }
    assert!(n > 200, "{n}");
}

#[test]
fn long_documents_and_long_records() {
    let long = MAX_RECORD_LEN;
    let with = |before: &str, n: usize, after: &str| [before, &"a".repeat(n), after].concat().into_bytes();
    let filled = |before: &str, unit: &str, after: &str| {
        [before, &unit.repeat(long / unit.len() + 20), after].concat().into_bytes()
    };
    let too_long = "!too-long@0+8388608";
    let after = "<loc>b</loc>";
    check_long(
        &Reader::new(Format::Xml),
        &[
            (with("<loc>", long, &format!("</loc>{after}")), &[too_long, "url b"]),
            (with("<loc><!--", long, &format!("--></loc>{after}")), &[too_long, "url b"]),
            (filled("<loc><!--", "-", &format!("--></loc>{after}")), &[too_long, "url b"]),
            (filled("<loc><![CDATA[", "]", &format!("]]></loc>{after}")), &[too_long, "url b"]),
            (filled("<loc><?p", "?", &format!("?></loc>{after}")), &[too_long, "url b"]),
            (filled("<loc>a</loc", " ", &format!(">{after}")), &[too_long, "url b"]),
            (with("<a title='", long, &format!(" <'/>{after}")), &[too_long, "!bad-xml@8388619+1", "url b"]),
            (
                with("<a title='", long, &format!(" > <loc>'/>{after}")),
                &[too_long, "!bad-xml@8388621+8", "url b"],
            ),
            (filled("<a", " b='>'", &format!("/>{after}")), &[too_long, "url b"]),
            (with("<!--", 2 * long, &format!("-->{after}")), &["url b"]),
            (filled("<!DOCTYPE a [", "<!-- ' -->\"]>\"", &format!("]>{after}")), &["url b"]),
            (filled("<!--", "<loc>", after), &[]),
            (with("<loc>a</loc><a href='", long + 9, ""), &["url a", "!too-long@12+8388608"]),
        ],
    );
    // The longest record, and one that is a byte longer.
    for (n, expected) in [(long - 11, "url aaa"), (long - 10, too_long)] {
        let (found, _) = describe(Reader::new(Format::Xml), &with("<loc>", n, "</loc>"));
        assert!(found[0].starts_with(expected), "{n}");
    }
}

#[test]
fn hostile_documents_are_read_in_one_pass() {
    let deep = ["<a>".repeat(1_000_000), "<loc>b</loc>".to_owned(), "</a>".repeat(1_000_000)].concat();
    assert_eq!(describe(Reader::new(Format::Xml), deep.as_bytes()).0, ["url b"]);
    let bomb = "<!DOCTYPE l [<!ENTITY a 'x'><!ENTITY b '&a;&a;&a;'>]><loc>&b;</loc>";
    check(Format::Xml, "", &[(bomb, &["!bad-escape@53+5"])]);
    let open = "<!--".repeat(1_000_000);
    assert!(describe(Reader::new(Format::Xml), open.as_bytes()).0.is_empty());
    let tags = "<".repeat(1_000_000);
    assert_eq!(describe(Reader::new(Format::Xml), tags.as_bytes()).0.len(), 1_000_000);
    let bytes = b"<loc>\0\xff\xfe</loc><a href='\0\x80'/>";
    assert_eq!(found(&Reader::new(Format::Xml), bytes), ["url \\x00\\xff\\xfe", "link \\x00\\x80"]);
}
