use urlsift_engine::simd::BLOCK;
use urlsift_grammar::random::Random;

use super::*;

const XML: [&str; 30] = [
    "<loc>", "</loc>", "</loc >", "<a:loc>", "</a:loc>", "<url>", "</url>", "<p>", "</p>", "<br/>", "<a b='",
    "<link href=\"", "'>", "\">", "<!--", "-->", "<![CDATA[", "]]>", "<?p", "?>", "<!DOCTYPE a [", "]>",
    "</", "<", ">", "/", "=", "a", " ", "\n",
];

const HTML: [&str; 31] = [
    "<p>", "</p>", "<br/>", "<a href=", "<a href='", "<a class=\"b\" href=\"", " b=\"", " c= '", " d=e",
    "'>", "\">", "<base href=\"b\">", "<script>", "</script>", "<title>", "</title ", "<plaintext>", "<!--",
    "-->", "--!>", "<?", "</", "<", ">", "/", "=", "'", "\"", "a", " ", "\n",
];

/// Draws a document that begins anywhere in a block.
fn drawn(random: &mut Random, tokens: &[&str]) -> Vec<u8> {
    let tokens = (0..random.below(30)).map(|_| tokens[random.below(tokens.len())]);
    let text: String = tokens.collect();
    [&b"a".repeat(random.below(BLOCK))[..], text.as_bytes()].concat()
}

/// Calls `check` with searches and drawn documents of both languages.
fn each_drawn(mut check: impl FnMut(Search, &[u8])) {
    let mut random = Random::new(44);
    for (language, tokens) in [(Language::Xml, &XML[..]), (Language::Html, &HTML)] {
        for _ in 0..10_000 {
            check(Search::new(language, &[]).unwrap(), &drawn(&mut random, tokens));
        }
    }
}

/// What [`Search::plain`] says of a tag is what a walk through it says.
#[test]
fn plain_tags_are_those_of_a_walk() {
    let mut n_plain = 0;
    each_drawn(|mut search, text| {
        for start in memchr::memchr_iter(b'<', text) {
            let Some(plain) = search.plain(text, 7, start) else { continue };
            n_plain += 1;
            match (plain.text, search.unit(&text[start..], false)) {
                (None, Unit::Nothing(len, then)) | (Some(_), Unit::Record(len, then)) => {
                    assert_eq!((plain.len, plain.then), (len, then), "{} at {start}", text.escape_ascii());
                }
                _ => panic!("{} at {start}", text.escape_ascii()),
            }
            let Some(known) = plain.text else { continue };
            let record = &text[start..start + plain.len];
            let (mut more, mut others) = (Vec::new(), Vec::new());
            let (mut fast, mut slow) = (Parts::new(&mut more), Parts::new(&mut others));
            let read = xml::read_text(known, record, &mut fast);
            let read = [(read, fast), (search.fields(record, &mut slow), slow)];
            let [fast, slow] =
                read.map(|(read, parts)| format!("{read:?} {:?} {}", parts.first, parts.len()));
            assert_eq!(fast, slow, "{}", record.escape_ascii());
        }
    });
    assert!(n_plain > 20_000, "{n_plain}");
}

/// A cut is where it would be if it looked for each record.
#[test]
fn cuts_are_those_of_a_search_for_records() {
    let mut n_skipped = 0;
    each_drawn(|search, text| {
        for ended in [false, true] {
            let mut slow = search.clone();
            let (mut at, mut inside) = (0, slow.inside);
            let end = loop {
                match slow.next(&text[at..], inside, at as u64, ended) {
                    Next::Record(found) => (at, inside) = (at + found.end, found.then),
                    Next::Rest(len, then) => {
                        inside = then;
                        break at + len;
                    }
                }
            };
            let mut search = search.clone();
            assert_eq!(search.cut(text, 0, ended), Cut::at(end), "{} {ended}", text.escape_ascii());
            assert_eq!(
                (search.inside.state, &search.page),
                (inside.state, &slow.page),
                "{}",
                text.escape_ascii()
            );
        }
        n_skipped += usize::from(behind_end_tags(text, State::Content).is_some());
    });
    assert!(n_skipped > 5_000, "{n_skipped}");
}
