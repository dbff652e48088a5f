//! Checks that the bit streams find the same with every kernel. The portable kernel is the definition.

use std::collections::BTreeMap;

use super::{COUNTED, DEFECT_KINDS, Findings, LaneReader, List, STRIPE_LEN, defect_kinds};
use crate::bitstreams::HABIT_LASTS;
use crate::lines::{cut, trim_terminator};
use crate::simd::every_kernel::{Visit, each};
use crate::simd::portable::Portable;
use crate::simd::{BLOCK, Kernel, LANES};
use urlsift_grammar::advisory::{Advisories, Advisory};
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;
use urlsift_grammar::judge::judge;
use urlsift_grammar::random::Random;
use urlsift_grammar::scheme::find_known;
use urlsift_grammar::whatwg::plain::PlainUrl;
use urlsift_grammar::{Grammar, Verdict};

/// All kinds of defects that can be counted in bulk.
const ALL_KINDS: u32 = (1 << DEFECT_KINDS) - 1;

/// Everything that the streams find, with offsets in the buffer instead of in lanes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    lines: u64,
    cr: u64,
    blank: u64,
    advised: Vec<(Advisory, u64)>,
    plain: Vec<(Option<usize>, Verdict, u64)>,
    defects: Vec<(Component, Cause, u64)>,
    listed: Vec<Listed>,
}

/// A listed line.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Listed {
    start: usize,
    end: usize,
    /// How many lines of the buffer end before it.
    before: u64,
}

/// Lists what `grammar` refuses and what is always listed.
fn list_of(grammar: Grammar) -> List {
    let advisories = Advisories::default();
    List { grammar, blank: false, advisories, bulk_defects: 0, whatwg: false, relative: false }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

fn find<K: Kernel>(kernel: K, bytes: &[u8], list: List, bulk_rare: bool, findings: &mut Findings) -> Found {
    let lanes: [&[u8]; LANES] = cut(bytes, K::LANES);
    // How many bytes and lines precede each lane.
    let mut before = [(0, 0); LANES];
    for lane in 1..LANES {
        let (bytes, lines) = before[lane - 1];
        before[lane] = (bytes + lanes[lane - 1].len(), lines + newlines(lanes[lane - 1]));
    }
    let mut found = Found::default();
    let mut reader = LaneReader::new(kernel, &lanes, list, bulk_rare, findings);
    while reader.stripe(findings) {
        findings.each_listed(|line| {
            let (from, lines_before) = before[line.lane];
            let (start, end) = (from + line.start, from + line.end);
            let before = lines_before + findings.lines_before(line.lane, line.start);
            found.listed.push(Listed { start, end, before });
        });
    }
    found.listed.sort();
    (found.cr, found.blank) = (findings.cr(), findings.blank());
    found.advised = findings.advised().collect();
    found.plain = findings.plain().collect();
    found.defects = findings.defects().filter(|(.., lines)| *lines > 0).collect();
    let plain: u64 = found.plain.iter().map(|(.., lines)| lines).sum();
    found.lines = plain + found.blank + found.listed.len() as u64;
    found
}

/// Compares what was found with the verdicts of `judge`.
///
/// # Panics
///
/// If they differ.
fn check_against_judge(found: &Found, bytes: &[u8], list: List) {
    assert_eq!(found.lines, newlines(bytes));
    let (mut at, mut before) = (0, 0);
    for listed in &found.listed {
        assert!(listed.start == 0 || bytes[listed.start - 1] == b'\n', "{listed:?}");
        assert_eq!((bytes[listed.end], newlines(&bytes[listed.start..listed.end])), (b'\n', 0), "{listed:?}");
        before += newlines(&bytes[at..listed.start]);
        at = listed.start;
        assert_eq!(listed.before, before, "{listed:?}");
    }
    let listed_blank = found.listed.iter().filter(|listed| {
        let (line, cr) = trim_terminator(&bytes[listed.start..=listed.end]);
        line.is_empty() && !cr
    });
    // Blank lines with a CR are always listed. Those without a CR are listed only on request.
    let n_blank = bytes.split(|&byte| byte == b'\n').filter(|line| line.is_empty()).count() as u64 - 1;
    let expected = if list.blank { (n_blank, 0) } else { (0, n_blank) };
    assert_eq!((listed_blank.count() as u64, found.blank), expected);
    // Lines counted in bulk are those that are not listed.
    let mut listed = found.listed.iter().map(|listed| listed.start).peekable();
    let mut start = 0;
    let mut plain = BTreeMap::new();
    let mut advised = COUNTED.map(|(advisory, _)| (advisory, 0));
    let mut defects = [0; DEFECT_KINDS];
    let kinds: Vec<_> = defect_kinds().collect();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let is_listed = listed.next_if_eq(&start).is_some();
        start += line.len();
        let (line, _) = trim_terminator(line);
        if is_listed || line.is_empty() {
            continue;
        }
        let judgement = judge(line);
        if judgement.scheme().is_none() {
            assert!(!list.relative, "\"{}\"", line.escape_ascii());
        } else if list.whatwg {
            assert!(PlainUrl::of(line, true).is_some(), "\"{}\"", line.escape_ascii());
        }
        *plain.entry((judgement.scheme().and_then(find_known), judgement.verdict().bits())).or_default() += 1;
        for (advisory, count) in &mut advised {
            *count += u64::from(judgement.advisories().has(*advisory));
        }
        if judgement.verdict().is_empty() {
            let defect = judgement.defect(Grammar::Rfc3986).expect("RFC 3986 refuses the line");
            let kind = kinds.iter().position(|&kind| kind == (defect.component, defect.cause));
            let kind = kind.unwrap_or_else(|| panic!("{defect} in \"{}\"", line.escape_ascii()));
            assert!(list.bulk_defects >> kind & 1 == 1, "{defect} in \"{}\"", line.escape_ascii());
            defects[kind] += 1;
        }
    }
    let found_plain = found.plain.iter().filter(|(.., lines)| *lines > 0);
    let found_plain: BTreeMap<_, u64> =
        found_plain.map(|&(scheme, verdict, lines)| ((scheme, verdict.bits()), lines)).collect();
    assert_eq!(found_plain, plain);
    assert_eq!(found.advised, advised);
    let defects = kinds.into_iter().zip(defects).filter(|(_, lines)| *lines > 0);
    let defects: Vec<_> = defects.map(|((component, cause), lines)| (component, cause, lines)).collect();
    assert_eq!(found.defects, defects);
}

/// Lines that all end in LF, and what the portable kernel finds in them.
struct Comparison<'a> {
    bytes: &'a [u8],
    list: List,
    bulk_rare: bool,
    findings: &'a mut Findings,
    expected: Found,
}

impl Visit for Comparison<'_> {
    fn visit<K: Kernel>(&mut self, name: &str, kernel: K) {
        if name == "portable" {
            return; // It found what is expected.
        }
        let found = find(kernel, self.bytes, self.list, self.bulk_rare, self.findings);
        let (bytes, expected) = (self.bytes.escape_ascii(), &self.expected);
        if self.list.whatwg {
            // Where words begin decides which hosts may be too long.
            check_against_judge(&found, self.bytes, self.list);
        } else {
            assert!(found == *expected, "{name} on \"{bytes}\"\n{found:?}\n{expected:?}");
        }
    }
}

/// Checks that each kernel finds the same in `bytes`, and that it agrees with `judge`.
fn check(bytes: &[u8], list: List, findings: &mut Findings) {
    for bulk_rare in [false, true] {
        let expected = find(Portable, bytes, list, bulk_rare, findings);
        check_against_judge(&expected, bytes, list);
        each(&mut Comparison { bytes, list, bulk_rare, findings, expected });
    }
}

/// Labels of 40 and 70 bytes.
const LONG_LABEL: &str = "abcdefghijklmnopqrstuvwxyz-abcdefghijklm";
const LONGER_LABEL: &str = "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-abcdefghijklmnop";

/// A host of 250 bytes.
const LONG_HOST: &str = concat!(
    "abcdefghijklmnopqrstuvwx.abcdefghijklmnopqrstuvwx.abcdefghijklmnopqrstuvwx.abcdefghijklmnopqrstuvwx.",
    "abcdefghijklmnopqrstuvwx.abcdefghijklmnopqrstuvwx.abcdefghijklmnopqrstuvwx.abcdefghijklmnopqrstuvwx.",
    "abcdefghijklmnopqrstuvwx.abcdefghijklmnopqrstuvwxy",
);

/// Buffers are made of these fragments. Now and then they make a line with a scheme.
const FRAGMENTS: [&str; 82] = [
    "http://", "http://h:8080", "https://", "https://h/", "ftp://", "ftp://h/", "file://", "file:///",
    "x-y://h", "1://h/", "http:", "ftp", "file", "telnet://h/", "mailto:", "HTTP://", "//", "/", "/", "/",
    ":", ":80", ":81", ":443", ":8", ":102", ":10", "0", "44", "?", "#", "##", "??", "%0", "a", "b/c",
    "example.org", "h-1.com", "127.0.0.1", "1.", ".-", "-.", "..", "-", "1a", "--", "a-b--c", "xn--a",
    "a.0x1", ":65535", ":00080", ":123456", LONG_LABEL, LONGER_LABEL, LONG_HOST, "%41", "%2F", "%3B", "%3b",
    "%00", "%0d", "%", "%4", "%zz", "~", ";", "=", "+", "@", "\"", "[", " ", "\u{e9}", "\0", "\r", "\n",
    "\n", "\n", "\n", "\r\n", "\r\r\n", "\n\nhttp://h/\n",
];

/// Adds `n_fragments` fragments, of few kinds or of many.
pub fn add_fragments(bytes: &mut Vec<u8>, n_fragments: usize, random: &mut Random) {
    let n_kinds = [4, 12, 64][random.below(3)];
    let kinds: Vec<_> = (0..n_kinds).map(|_| FRAGMENTS[random.below(FRAGMENTS.len())]).collect();
    for _ in 0..n_fragments {
        bytes.extend_from_slice(kinds[random.below(kinds.len())].as_bytes());
        if random.below(8) == 0 {
            bytes.push(b'\n');
        }
    }
}

#[test]
fn portable_is_what_the_others_are() {
    let mut findings = Findings::default();
    let mut random = Random::new(1);
    for n in 0..if cfg!(miri) { 30 } else { 6000 } {
        let mut bytes = Vec::new();
        let n_fragments = random.below(if n % 50 == 1 { 4000 } else { 200 });
        add_fragments(&mut bytes, n_fragments, &mut random);
        bytes.push(b'\n');
        let grammar = Grammar::ALL[n % Grammar::ALL.len()];
        let bits = [1, 2, 8, 16];
        let listed = COUNTED.into_iter().zip(bits).filter(|(_, bit)| n & bit == 0);
        let advisories = listed.map(|((advisory, _), _)| advisory).collect();
        let some_kinds = ALL_KINDS & u32::try_from(random.below(1 << 31)).expect("31 bits");
        let bulk_defects = [0, ALL_KINDS, some_kinds][random.below(3)];
        let whatwg = random.below(4) == 0;
        let list = List {
            grammar,
            blank: n & 4 == 0,
            advisories,
            bulk_defects: if whatwg { 0 } else { bulk_defects },
            whatwg,
            relative: random.below(2) == 0,
        };
        check(&bytes, list, &mut findings);
    }
}

/// Counters have room for many words that are not crowded, or for few that are. Both come in turn, in all lanes and
/// with one lane longer than the others.
#[test]
fn crowds_come_and_go() {
    let mut findings = Findings::default();
    let list = List { bulk_defects: ALL_KINDS, ..list_of(Grammar::Rfc3986) };
    let times = if cfg!(miri) { 1 } else { 3 };
    for calm in [0, 1, 15, 16, 17, 31, 32, 40] {
        for crowded in [1, 16, 17, 31, 32, 33] {
            let mut bytes = Vec::new();
            for _ in 0..times {
                bytes.extend(b"http://h.example/\n".repeat(calm * 4 * BLOCK / 18));
                bytes.extend(b"\n".repeat(crowded * 4 * BLOCK));
            }
            check(&bytes, list, &mut findings);
            let long = vec![b'a'; bytes.len() * 2];
            check(&[long, b"\n".to_vec(), bytes].concat(), list, &mut findings);
        }
    }
}

/// Escapes in all steps of many stripes, and then in none of many. A carry must not be lost where steps begin again to
/// check for escapes.
#[test]
#[cfg_attr(miri, ignore = "a megabyte")]
fn escapes_come_and_go() {
    let mut findings = Findings::default();
    let list = list_of(Grammar::Rfc3986);
    // One stripe that checks for escapes, and the stripes that do not.
    let border = (1 + HABIT_LASTS) * STRIPE_LEN;
    let long = [b"%2F".to_vec(), vec![b'a'; 3 * STRIPE_LEN]].concat();
    let across: [(&[u8], usize, bool); 6] = [
        (b"%zz", 1, true),
        (b"%4z", 2, true),
        (b"%2F", 1, false),
        (b"%2F", 2, false),
        (b"%2F", 3, false),
        (&long, 10, false),
    ];
    for (escape, before, is_refused) in across {
        let mut lane = b"http://h/%41\n".repeat((border - 100) / 13);
        lane.extend(b"http://h/");
        lane.resize(border - before, b'a');
        lane.extend(escape);
        lane.extend(b"\n");
        lane.extend(b"http://h.example/\n".repeat(20 * STRIPE_LEN / 18));
        lane.extend(b"http://h/%41\nhttp://h/%4\n".repeat(2 * STRIPE_LEN / 25));
        for n_lanes in [LANES, LANES / 2] {
            let bytes = lane.repeat(n_lanes);
            check(&bytes, list, &mut findings);
            let found = find(Portable, &bytes, list, false, &mut findings);
            let refused = 2 * STRIPE_LEN / 25 + usize::from(is_refused);
            assert_eq!(found.listed.len(), n_lanes * refused);
            let delimiters = if is_refused { 0 } else { n_lanes as u64 };
            assert_eq!(found.advised[0], (Advisory::EncodedDelimiter, delimiters));
        }
    }
}

/// Equal lanes of some dozens of stripes. Some stripes have few kinds of fragments, the next ones others, with "%" or
/// without.
#[test]
#[cfg_attr(miri, ignore = "megabytes")]
fn what_is_common_changes() {
    let mut findings = Findings::default();
    let mut random = Random::new(2);
    for grammar in Grammar::ALL {
        let mut lane = Vec::new();
        while lane.len() < 12 * STRIPE_LEN {
            let until = lane.len() + random.below(4 * STRIPE_LEN);
            let has_escapes = random.below(2) == 0;
            while lane.len() < until {
                let mut fragments = Vec::new();
                add_fragments(&mut fragments, 100, &mut random);
                if !has_escapes {
                    fragments.retain(|&byte| byte != b'%');
                }
                lane.extend(fragments);
            }
        }
        lane.push(b'\n');
        let advisories = [Advisory::EncodedDelimiter].into_iter().filter(|_| grammar != Grammar::Rfc3986);
        let advisories = advisories.collect();
        for bulk_defects in [0, ALL_KINDS] {
            let list = List { advisories, bulk_defects, ..list_of(grammar) };
            check(&lane.repeat(LANES), list, &mut findings);
        }
    }
}

/// Buffers of several stripes of 64 blocks. In some, a line crosses the border of two stripes, or lanes are empty.
#[test]
fn several_stripes() {
    let mut findings = Findings::default();
    let (text, times): (&[u8], _) =
        (b"http://h/\nftp://h/%2F\nhttp://h/ x\n\nfile://~\n", if cfg!(miri) { 60 } else { 4000 });
    let lengths: &[usize] = if cfg!(miri) { &[0, 5000] } else { &[0, 100, 5000, 100_000] };
    for &long in lengths {
        let mut bytes = text.repeat(times);
        let at = bytes.len() / 3 / text.len() * text.len();
        bytes.splice(at..at, [b"ftp://h/%00".to_vec(), vec![b'a'; long], b"\n".to_vec()].concat());
        let advisories = [Advisory::EncodedDelimiter].into_iter().collect();
        let list = |grammar, bulk_defects| List { advisories, bulk_defects, ..list_of(grammar) };
        check(&bytes, list(Grammar::Rfc1738, ALL_KINDS), &mut findings);
        check(&bytes[..text.len()], list(Grammar::Rfc3986, 0), &mut findings);
    }
}

/// Lines at all places of a word, with the flag for the WHATWG parser. Those of the first kind are counted in bulk, the others listed.
#[test]
fn lines_are_listed_for_the_whatwg_parser_if_scheme_and_host_do_not_decide() {
    let mut findings = Findings::default();
    let list = List { whatwg: true, ..list_of(Grammar::Rfc3986) };
    let label = "abcdefghijklmnopqrstuvwxyz-abcd";
    let in_bulk = format!(
        "http://example.org/\nhttps://a-b.c-d.example/a--b//c..d?e--f#g\nHTTP://h\nftp://h1.example/\nfile:///a\n\
         file://h/a\nhttp://h:8080/?q\nhttps://h:/\nhttp://1.2.3.a4/%2F\r\n../a--b\n\nhttps://{label}.{}.com/\n",
        &label[..24]
    );
    let long = "a".repeat(64);
    let listed = format!(
        "http://h--h/\nhttp://xn--a/\nhttp://h-\nhttp://h./?\nhttp://h.-h\nhttp://1.2.3.4/\nhttp://h.0x1/\n\
         http://h:65536/\nhttp://h:123456\nhttp://{long}/\nhttp://{long}b.c\nhttp://a.{long}/\nhttp://{LONG_HOST}.abc/\n\
         file://h--h/\nftp://h.{long}/\nws://h/\nhttps://h-\n"
    );
    for pad in 0..if cfg!(miri) { 2 } else { BLOCK } {
        let pad = "a".repeat(pad);
        for (lines, n_listed) in [(&in_bulk, 0), (&listed, newlines(listed.as_bytes()))] {
            let bytes = format!("{pad}\n{lines}").repeat(LANES);
            check(bytes.as_bytes(), list, &mut findings);
            let found = find(Portable, bytes.as_bytes(), list, true, &mut findings);
            let listed: Vec<_> =
                found.listed.iter().map(|line| bytes[line.start..line.end].to_owned()).collect();
            assert_eq!(listed.len() as u64, n_listed * LANES as u64, "{} {listed:?}", pad.len());
        }
    }
}
