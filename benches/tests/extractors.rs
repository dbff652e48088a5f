//! Compares the URLs in running text with those of linkify. The rules are those of `tests/conformance/CONTEXT.md`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use linkify::{LinkFinder, LinkKind};
use urlsift::internal::Reader;
use urlsift::internal::run::Format;

use crate::support::escapes;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A field of the cases without its escapes.
fn unescaped(field: &str) -> String {
    String::from_utf8(escapes::unescaped(field)).unwrap()
}

/// The table has the results of linkify right: it finds them with the options that are named there.
#[test]
fn linkify_finds_what_the_table_says() {
    let table = fs::read_to_string(root().join("tests/conformance/extractors.tsv")).unwrap();
    let rows = table.lines().filter(|line| line.starts_with("linkify")).map(|line| line.split('\t'));
    let mut n = 0;
    for mut row in rows {
        let (options, text, expected) = (row.next().unwrap(), row.next().unwrap(), row.next().unwrap());
        let has = |option: &str| options.split(", ").any(|other| other == option);
        let mut finder = LinkFinder::new();
        if has("e-mail only") {
            finder.kinds(&[LinkKind::Email]);
        } else if has("no e-mail") {
            finder.kinds(&[LinkKind::Url]);
        }
        finder.url_must_have_scheme(!has("no scheme needed"));
        finder.url_can_be_iri(!has("ASCII only"));
        finder.email_domain_must_have_dot(!has("any domain"));
        let text = unescaped(text);
        let found: Vec<_> = finder.links(&text).map(|link| link.as_str().to_owned()).collect();
        assert_eq!(found.join(" "), unescaped(expected), "{options}: {text}");
        n += 1;
    }
    assert!(n > 300, "{n}");
}

/// A URL that urlsift finds, or a place that it refuses.
struct Ours {
    place: Range<usize>,
    is_url: bool,
    has_white: bool,
}

fn ours(text: &str) -> Vec<Ours> {
    let mut reader = Reader::new(Format::Text);
    let place = |offset: u64| usize::try_from(offset).unwrap();
    let found = reader.fields(text.as_bytes()).map(|field| match field {
        Ok(field) => Ours {
            place: place(field.offset)..place(field.offset) + field.bytes.len(),
            is_url: true,
            has_white: matches!(field.bytes, Cow::Owned(_)),
        },
        Err(bad) => {
            Ours { place: place(bad.offset)..place(bad.offset + bad.at), is_url: false, has_white: false }
        }
    });
    found.collect()
}

/// The rule by which urlsift finds `ours` where linkify finds `theirs`. "" means that they are the same.
fn rule(text: &str, theirs: &Range<usize>, ours: &Ours) -> Option<&'static str> {
    let Range { start, end } = ours.place.clone();
    if !ours.is_url {
        let is_run = |byte: char| byte.is_ascii_alphanumeric() || "+-.".contains(byte);
        let run = &text[text[..start].trim_end_matches(is_run).len()..start];
        let next = text[end..].chars().next();
        return if text[start..].starts_with("://")
            && (run.len() > 64 || run.starts_with(|c: char| c.is_ascii_digit()))
        {
            Some("X8, no scheme")
        } else {
            next.is_some_and(|next| next == '&' || !next.is_ascii()).then_some("X13, nothing follows")
        };
    }
    if start < theirs.start {
        return (theirs.end <= end).then_some("X1, a URL in a URL");
    }
    if start > theirs.start {
        let before = &text[theirs.start..start];
        return before
            .ends_with(|c: char| c == '.' || c.is_ascii_digit())
            .then_some("X8, a full stop or a digit before the scheme");
    }
    if end == theirs.end {
        return Some("");
    }
    if ours.has_white {
        return Some("X11, white space in angle brackets");
    }
    let body = start + text[start..].find("://").unwrap() + 3;
    if end > theirs.end {
        let is_host = !text[body..theirs.end].contains(['/', '?', '#']);
        return if text[..start].ends_with('<') && text[end..].starts_with('>') {
            Some("X11, angle brackets")
        } else {
            is_host.then_some("X8, no rules for hosts")
        };
    }
    // They go on. Either the next byte ends the URL, or one after some punctuation.
    let rest =
        text[end..theirs.end].trim_start_matches(['?', '!', '.', ',', ':', ';', '*', '\'', '(', '[', '{']);
    let quotes = ["&lt;", "&gt;", "&quot;", "&apos;", "&nbsp;", "&#34;", "&#39;", "&#x22;", "&#x27;"];
    match rest.chars().next() {
        None => Some("X7, trailing punctuation"),
        Some(mark @ ('_' | '~')) if text[..start].ends_with(mark) => Some("X7, marks around the URL"),
        Some('\\') => Some("X2, a backslash"),
        Some('\'') if text[..start].ends_with('\'') => Some("X6, an apostrophe"),
        Some(other) if !other.is_ascii() => Some("X3, other characters"),
        Some('&') if quotes.iter().any(|quote| rest.starts_with(quote)) => Some("X4, an escaped quote"),
        Some('&') => Some("X7, a character reference"),
        _ if text[end..].starts_with('\'') && text[..start].ends_with('\'') => Some("X6, an apostrophe"),
        _ => None,
    }
}

/// Texts of this repository, or those that `URLSIFT_TEXTS=FILE:FILE` names.
fn texts() -> Vec<PathBuf> {
    if let Ok(paths) = std::env::var("URLSIFT_TEXTS") {
        return paths.split(':').map(PathBuf::from).collect();
    }
    let folders = ["docs", "docs/decisions", "tests/records", "corpora/samples", "."];
    let files = folders.iter().flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    files.map(|file| file.unwrap().path()).filter(|path| path.is_file()).collect()
}

#[test]
fn differences_in_texts_are_explained() {
    let mut finder = LinkFinder::new();
    finder.kinds(&[LinkKind::Url]);
    let mut explained = BTreeMap::<&str, usize>::new();
    let mut unexplained = Vec::new();
    let mut alone = 0;
    for path in texts() {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        let mut ours = ours(&text).into_iter().peekable();
        for link in finder.links(&text) {
            let theirs = link.start()..link.end();
            while ours.next_if(|ours| ours.place.end <= theirs.start).is_some() {
                alone += 1;
            }
            let near = ours.peek().filter(|ours| ours.place.start < theirs.end);
            match near.and_then(|ours| rule(&text, &theirs, ours)) {
                Some(rule) => *explained.entry(rule).or_default() += 1,
                None => unexplained.push(format!("{}: {:?}", path.display(), link.as_str())),
            }
            ours.next_if(|ours| ours.place.end <= theirs.end);
        }
        alone += ours.count();
    }
    println!("{explained:#?}, and {alone} that linkify does not find");
    assert!(explained[""] > 100, "linkify and urlsift find hardly any link together");
    assert!(
        unexplained.is_empty(),
        "{}: {:#?}",
        unexplained.len(),
        &unexplained[..unexplained.len().min(50)]
    );
}
