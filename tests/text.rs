//! URLs in running text: the cases of `conformance/context.tsv`, and a second implementation by regular expressions that
//! follows `conformance/CONTEXT.md` rule by rule.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::bytes::Regex;
use urlsift::internal::run::{BadCause, BadRecord, Format};
use urlsift::internal::{Field, Reader};

use crate::read;
use crate::reference::Rng;
use crate::support::escapes::unescaped;
use crate::support::{amount, on_all_cores};

/// A candidate: its offset, and the URL or the cause for which it is refused.
pub(crate) type Candidate = (usize, Result<Vec<u8>, BadCause>);

fn candidates((found, _): read::Found<'_>) -> Vec<Candidate> {
    let place = |offset: u64| usize::try_from(offset).unwrap();
    let candidate = |field| match field {
        Ok(Field { offset, bytes, .. }) => (place(offset), Ok(bytes.into_owned())),
        Err(BadRecord { offset, cause, .. }) => (place(offset), Err(cause)),
    };
    found.into_iter().map(candidate).collect()
}

/// What the reader finds.
fn by_reader(text: &[u8]) -> Vec<Candidate> {
    candidates(read::whole(Reader::new(Format::Text), text))
}

/// What the reader finds if `step` bytes arrive at a time.
fn by_chunks(text: &[u8], step: usize) -> Vec<Candidate> {
    candidates(read::by_pieces(Reader::new(Format::Text), text, (step..).step_by(step)))
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap()
}

/// Defines regular expressions that are compiled once.
macro_rules! regexes {
    ($($(#[doc = $doc:literal])? $name:ident = $pattern:expr;)*) => { $(
        $(#[doc = $doc])?
        static $name: LazyLock<Regex> = LazyLock::new(|| regex($pattern));
    )* };
}

regexes! {
    /// X2, X3 and X4.
    ENDER = concat!(
        r#"(?-u:[\x00-\x20\x7f"<>\\`|])"#,
        r"|[\u{80}-\u{a0}\u{1680}\u{2000}-\u{200b}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}]",
        r"|[\u{2018}-\u{201f}«»‹›—―…،؛؟۔।॥]",
        r"|[\u{3001}-\u{3003}\u{3008}-\u{3011}\u{3014}-\u{301b}\u{301d}-\u{301f}\u{ff5b}-\u{ff5d}\u{ff5f}-\u{ff64}]",
        r"|[！＂＇（），．：；＜＞？［］]",
        r"|(?i-u:&(?:lt|gt|quot|apos|nbsp|#34|#39|#x22|#x27);)",
    );
    /// X7, for one step.
    TRAILING = r"(?-u)(?:&[A-Za-z0-9#]{1,32};|[?!.,:;*'(\[{])$";
    RUN = r"(?-u)[A-Za-z0-9+.-]*$";
    /// X8, one regular expression for each step.
    AFTER_STOP = r"(?i-u)[.0-9](https?|ftp)$";
    SCHEME = r"(?-u)^[+.-]*([A-Za-z][A-Za-z0-9+.-]*)$";
    AFTER_OTHER = r"(?i-u)[^a-z](https?|ftp)$";
    /// X9: the name in a run.
    NAME = r"(?-u)^(?:.*\.)?[+-]*([^.]*)$";
    BEFORE_WWW = r"(?-u)[A-Za-z0-9./@%-]$";
    WWW = r"(?i-u)^www\.";
    DOMAIN = r"(?-u)^[A-Za-z0-9\x80-\xff]";
    /// X11: what is between angle brackets.
    BRACKETED = r#"(?s-u)^<([^\x00-\x08\x0b\x0e-\x1f\x7f"<>\\`|]{0,8191})>"#;
    BLANK_LINE = r"(?-u)\n[\t\f\r ]*\n";
    /// X12: up to the colon of the scheme.
    MARKED = r"(?i-u)^(<url:[\t\n\f\r ]*)[a-z][a-z0-9+.-]{0,63}:";
}

/// X9: the names of schemes, and what their bodies are like.
static KNOWN: LazyLock<Vec<(Regex, Regex)>> = LazyLock::new(|| {
    let rows = [
        ("mailto|sips?|xmpp|acct|mid|cid", r"^(?:\?|[^:]*@)"),
        ("news", r"^[^:]*[.@]"),
        ("tel|sms|geo|doi|callto", r"^[0-9+-]"),
        ("urn", r"^[A-Za-z0-9-]+:"),
        ("tag", r"^[^:]*,[^:]*:"),
        ("data", r"^(?:,|[^:,]*[/;][^:,]*,)"),
        ("magnet", r"^\?"),
        ("about|bitcoin|blob|javascript|view-source", r"^[^:]"),
    ];
    rows.map(|(names, body)| (regex(&format!("(?i-u)^(?:{names})$")), regex(&format!("(?s-u){body}")))).into()
});

/// The end of the URL that begins at `start` and whose body begins at `body` (X2 to X7).
fn end_of(text: &[u8], start: usize, body: usize) -> usize {
    let before = text[..start].last();
    let mut rest = &text[body..];
    if let Some(ender) = ENDER.find(rest) {
        rest = &rest[..ender.start()];
    }
    for (open, close) in [(b'(', b')'), (b'[', b']'), (b'{', b'}')] {
        let count = |n: usize, byte: u8| memchr::memchr_iter(byte, &rest[..=n]).count();
        let unbalanced = (0..rest.len()).find(|&n| rest[n] == close && count(n, close) > count(n, open));
        rest = &rest[..unbalanced.unwrap_or(rest.len())];
    }
    if before == Some(&b'\'') {
        rest = rest.split(|&byte| byte == b'\'').next().unwrap();
    }
    loop {
        rest = match (TRAILING.find(rest), rest) {
            (Some(mark), _) => &rest[..mark.start()],
            (None, [shorter @ .., last @ (b'_' | b'~')]) if before == Some(last) => shorter,
            _ => return body + rest.len(),
        };
    }
}

/// The URL between angle brackets that begins at `start` and whose body begins at `body`, and its end (X11).
fn bracketed(text: &[u8], open: usize, start: usize, body: usize) -> Option<(usize, Vec<u8>)> {
    let content = BRACKETED.captures(&text[open..])?.get(1).unwrap();
    let is_text = |byte: &&u8| !b"\t\n\x0c\r ".contains(byte);
    let end = open + content.end();
    let has_body = text[body..end].iter().any(|byte| is_text(&byte));
    (has_body && !BLANK_LINE.is_match(content.as_bytes()))
        .then(|| (end, text[start..end].iter().filter(is_text).copied().collect()))
}

/// The URL that begins at `start` and whose body begins at `body`, and where it ends.
fn url(text: &[u8], start: usize, body: usize) -> (usize, usize, Result<Vec<u8>, BadCause>) {
    let end = end_of(text, start, body);
    let url = if end > body { Ok(text[start..end].to_vec()) } else { Err(BadCause::NothingFollows) };
    (start, end, url)
}

/// The candidate of the anchor at `anchor`: where it begins and ends, and what it is.
fn candidate(text: &[u8], anchor: usize) -> Option<(usize, usize, Result<Vec<u8>, BadCause>)> {
    if text[anchor] != b':' {
        let start = anchor.checked_sub(2).filter(|&start| WWW.is_match(&text[start..]))?;
        let body = start + 4;
        return (!BEFORE_WWW.is_match(&text[..start])).then(|| {
            let is_domain = DOMAIN.is_match(&text[body..]);
            if is_domain { url(text, start, body) } else { (start, body, Err(BadCause::NothingFollows)) }
        });
    }
    let run = RUN.find(&text[..anchor]).unwrap().as_bytes();
    if text[anchor..].starts_with(b"://") {
        let body = anchor + 3;
        let scheme = AFTER_STOP
            .captures(run)
            .or_else(|| SCHEME.captures(run).filter(|_| run.len() <= 64))
            .or_else(|| AFTER_OTHER.captures(run))
            .map(|found| found.get(1).unwrap().len());
        let Some(scheme) = scheme else { return Some((anchor, body, Err(BadCause::NoScheme))) };
        let start = anchor - scheme;
        let within = text[..start].ends_with(b"<").then(|| bracketed(text, start - 1, start, body)).flatten();
        return Some(within.map_or_else(|| url(text, start, body), |(end, url)| (start, end, Ok(url))));
    }
    if let Some(open) = anchor.checked_sub(4)
        && let Some(marked) = MARKED.captures(&text[open..])
    {
        let start = open + marked.get(1).unwrap().end();
        let (end, url) = bracketed(text, open, start, open + marked.get(0).unwrap().end())?;
        return Some((start, end, Ok(url)));
    }
    let name = NAME.captures(run).unwrap().get(1).unwrap().as_bytes();
    let (_, needs) = KNOWN.iter().find(|(names, _)| names.is_match(name))?;
    let (start, end, url) = url(text, anchor - name.len(), anchor + 1);
    needs.is_match(&text[anchor + 1..end]).then_some((start, end, url))
}

/// All candidates of a text (X1).
fn by_rules(text: &[u8]) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut start = 0;
    loop {
        let rest = &text[start..];
        let is_www = |at: usize| at >= 2 && rest[at - 2..=at].eq_ignore_ascii_case(b"www");
        let mut anchors = (0..rest.len()).filter(|&at| rest[at] == b':' || is_www(at));
        let Some((at, end, url)) = anchors.find_map(|anchor| candidate(rest, anchor)) else { return found };
        found.push((start + at, url));
        start += end;
    }
}

/// The candidates as the cases write them: URLs, and causes after "!", with spaces between them.
pub(crate) fn written(found: &[Candidate]) -> String {
    let mut out = String::new();
    for (_, content) in found {
        out.push_str(if out.is_empty() { "" } else { " " });
        match content {
            Ok(url) => urlsift::internal::escape::push(&mut out, url),
            Err(cause) => write!(out, "!{cause}").unwrap(),
        }
    }
    out
}

/// Compares reader and rules on a text, read whole and in chunks.
pub(crate) fn check(text: &[u8], steps: impl IntoIterator<Item = usize>) -> Vec<Candidate> {
    let expected = by_rules(text);
    let shown = || String::from_utf8_lossy(text).into_owned();
    assert_eq!(by_reader(text), expected, "{:?}", shown());
    for step in steps {
        assert_eq!(by_chunks(text, step), expected, "{step} bytes at a time: {:?}", shown());
    }
    expected
}

/// Calls `find` for the fields of each case of a table, and compares its result with the field `column`. `URLSIFT_UPDATE` writes
/// the results to the table instead. Returns how many cases there are.
pub(crate) fn for_cases(file: &str, column: usize, mut find: impl FnMut(&[&str]) -> String) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance").join(file);
    let is_updated = std::env::var_os("URLSIFT_UPDATE").is_some();
    let table = fs::read_to_string(&path).unwrap();
    let mut updated = String::new();
    let mut n = 0;
    for line in table.lines() {
        if line.is_empty() || line.starts_with('#') {
            updated = updated + line + "\n";
            continue;
        }
        let mut fields: Vec<_> = line.split('\t').collect();
        let found = find(&fields);
        assert!(is_updated || found == fields[column], "{line}: {found}");
        fields[column] = &found;
        updated = updated + &fields.join("\t") + "\n";
        n += 1;
    }
    if is_updated {
        fs::write(path, updated).unwrap();
    }
    n
}

#[test]
fn cases() {
    let n = for_cases("context.tsv", 2, |fields| {
        let text = unescaped(fields[1]);
        written(&check(&text, 1..=text.len().min(40)))
    });
    assert!(n >= 300, "{n}");
}

/// What drawn texts consist of.
const TOKENS: [&str; 88] = [
    "http", "https", "ftp", "://", "http://", "https://h.org/", "www.", "WwW.", "www", "www.h.org", "://",
    ":", "/", "//", ".", ",", ";", "!", "?", "'", "\"", "(", ")", "[", "]", "{", "}", "<", ">", "<http://",
    "<URL:", "<url: ", "URL:", "mailto:", "news:", "tel:", "urn:", "tag:", "data:", "doi:", "magnet:",
    "about:", "javascript:", "sip:", "cid:", "a@h.org", "@", "+", "-", "_", "~", "*", "&", "&amp;", "&lt;",
    "&gt;", "&quot;", "&#39;", "&#x22;", "&copy;", ";", "#", "%41", "\\", "`", "|", "^", " ", " ", "\n",
    "\n", "\r\n", "\t", "\u{a0}", "。", "，", "「", "」", "“", "”", "例", "é", "—", "–", "a", "b", "w", "1",
];

fn drawn(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=rng.below(14) {
        match rng.below(60) {
            0 => bytes.push(u8::try_from(rng.below(256)).unwrap()),
            1 => bytes.resize(bytes.len() + rng.below(70), b'a'),
            _ => bytes.extend_from_slice(TOKENS[rng.below(TOKENS.len())].as_bytes()),
        }
    }
    bytes
}

#[test]
fn drawn_texts() {
    on_all_cores(amount(50, 1000), |seed| {
        let mut rng = Rng::new(seed);
        for _ in 0..1000 {
            let text = drawn(&mut rng);
            let step = 1 + rng.below(text.len() + 1);
            check(&text, [1, step]);
        }
        1000
    });
}

/// Texts that are longer than the windows and chunks of the reader.
#[test]
fn long_texts() {
    on_all_cores(amount(20, 400), |seed| {
        let mut rng = Rng::new(seed + (1 << 40));
        let mut text = Vec::new();
        while text.len() < 10_000 {
            text.extend(drawn(&mut rng));
            text.resize(text.len() + rng.below(150), b"a \nw"[rng.below(4)]);
        }
        check(&text, [1 + rng.below(100), 1000 + rng.below(9000)]);
        1
    });
}

/// White space between angle brackets counts up to a limit.
#[test]
fn the_length_between_brackets_is_bounded() {
    for len in [8190, 8191, 8192] {
        let url = format!("http://h/{}", "\n".to_owned() + &"a".repeat(len - 10));
        let text = format!("<{url}> <{url}");
        let found = check(text.as_bytes(), [1000, 8192, 9000]);
        let whole = Ok(url.replace('\n', "").into_bytes());
        assert_eq!(found[0].1 == whole, len <= 8191, "{len}");
    }
}

/// A word that is too long is one candidate, however it is cut, and what follows it is read.
#[test]
fn words_that_are_too_long() {
    let most = urlsift::internal::MAX_RECORD_LEN;
    for before in ["", "http://a/ ", "<", "<http://b/ "] {
        for (len, is_long) in [(most, false), (most + 1, true), (3 * most, true)] {
            let text = format!("{before}http://{}>see http://c/", "x".repeat(len - 7));
            let found = by_reader(text.as_bytes());
            let long = found.iter().find(|&&(at, _)| at == before.len()).unwrap();
            assert_eq!(long.1 == Err(BadCause::TooLong), is_long, "{before} {len}");
            assert_eq!(found.last().unwrap().1, Ok(b"http://c/".to_vec()));
            for step in [1 << 20, 5 << 20, most + 3, 4 * most] {
                assert!(by_chunks(text.as_bytes(), step) == found, "{before} {len} {step}");
            }
        }
    }
}

/// The processor time of this thread, which other work on the machine does not change.
#[cfg(unix)]
#[allow(unsafe_code, reason = "the standard library does not tell it")]
fn processor_time() -> std::time::Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid, and the function writes a `timespec` to it.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0);
    std::time::Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// Inputs that make a search start at every byte take no longer than others of their length.
#[cfg(unix)]
#[test]
fn hostile_texts_take_linear_time() {
    for part in [
        "a:", "mailto:", "sip:", "about:", "((((((", "<", "<a", "://", "x://", "http://(", "www.", "w",
        "<URL:", "<URL:a:", "<a://", "&a;", "http://h'", "'", ";", "[http://", "a://b://", "urn:a", "data:",
        ".http", "<http://a ", "<http://a\n",
    ] {
        let time = |n: usize| {
            let text = part.repeat(n / part.len());
            let start = processor_time();
            Reader::new(Format::Text).fields(text.as_bytes()).for_each(drop);
            processor_time().checked_sub(start).unwrap()
        };
        let (short, long) = (time(1 << 18), time(1 << 22));
        assert!(long < 160 * short.max(std::time::Duration::from_micros(500)), "{part}: {short:?} {long:?}");
    }
}
