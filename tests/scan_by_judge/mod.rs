//! A simple scan for comparison: it counts in plain maps what is said of each line, without chunks, lanes and shortcuts.
//!
//! `count` asks `judge`, which is compared with the reference elsewhere. So all counts of many buffers can be compared. `tests/shards.rs` asks the
//! reference, which takes a hundred times as long.

#![allow(dead_code, reason = "each of those that use it uses a part")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::net::Ipv4Addr;

use urlsift::grammar::host::compared;
use urlsift::grammar::host_problems::HostProblems;
use urlsift::grammar::keys::canonical::canonical;
use urlsift::grammar::keys::surt::surt;
use urlsift::grammar::public_suffix::SuffixList;
use urlsift::grammar::uri_parts;
use urlsift::tally::{
    ByVerdict, DistinctOf, ERROR_PPM, Example, Found, MAX_EXAMPLES, MAX_SCHEME_LEN, Top, TopOf,
};
use urlsift::whatwg::parse;
use urlsift::{Advisory, Grammar, Tally, judge};

/// The number of lines of a kind. For the first few also the line number, the offset, and the place in the line.
type Kept = (u64, Vec<(u64, u64, u64)>);

/// What is counted of a line.
pub struct Judged<'a> {
    pub scheme: Option<&'a [u8]>,
    /// The verdict's bits.
    pub verdict: u8,
    pub advisories: Vec<&'static str>,
    /// The component, the cause, and the offset.
    pub defect: Option<(&'static str, &'static str, u64)>,
}

/// All counts of a buffer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    lines: u64,
    bytes: u64,
    blank: u64,
    cr: u64,
    boms: u64,
    /// Lines by scheme and verdict bits. `None` is for relative lines, the empty string for schemes too long to keep their
    /// name.
    schemes: BTreeMap<Option<String>, BTreeMap<u8, u64>>,
    /// Lines by verdict bits.
    verdicts: BTreeMap<u8, Kept>,
    advisories: BTreeMap<&'static str, Kept>,
    /// Lines by component and cause.
    defects: BTreeMap<(&'static str, &'static str), Kept>,
}

/// The optional counts of a buffer.
#[derive(Debug, Default, PartialEq)]
pub struct OnDemand {
    /// Judged lines by length.
    lengths: BTreeMap<u64, u64>,
    /// The number, offset and length of the longest line.
    longest: Option<(u64, u64, u64)>,
    /// Lines by name, for each kind of names but schemes.
    names: BTreeMap<TopOf, BTreeMap<String, u64>>,
    distinct: BTreeMap<DistinctOf, About>,
}

/// An estimate. It equals all numbers within five times its standard error.
#[derive(Debug, Default)]
struct About(u64);

impl PartialEq for About {
    fn eq(&self, other: &Self) -> bool {
        self.0.abs_diff(other.0) * 1_000_000 <= self.0 * 5 * ERROR_PPM
    }
}

/// The number of judged lines.
pub fn judged(counts: &Counts) -> u64 {
    counts.lines - counts.blank
}

/// The lines of a buffer without CRs at their ends. Each comes with its offset and whether it ends in CR.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8], bool)> {
    let mut at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let start = at;
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        at += end + 1;
        let line = &rest[..end];
        let len = line.iter().rposition(|&byte| byte != b'\r').map_or(0, |last| last + 1);
        Some((start, &line[..len], len < end))
    })
}

/// Counts `bytes` as one input, by what `judged` says of each line.
pub fn count_by(bytes: &[u8], mut judged: impl FnMut(&[u8]) -> Judged<'_>) -> Counts {
    let boms = u64::from(bytes.starts_with(b"\xef\xbb\xbf"));
    let mut counts = Counts { bytes: bytes.len() as u64, boms, ..Counts::default() };
    for (start, line, cr) in lines(bytes) {
        counts.lines += 1;
        counts.cr += u64::from(cr);
        if line.is_empty() {
            counts.blank += 1;
            continue;
        }
        let Judged { scheme, verdict, advisories, defect } = judged(line);
        let scheme = scheme.map(|name| {
            let keeps_name = name.len() <= MAX_SCHEME_LEN;
            if keeps_name { String::from_utf8_lossy(name).to_ascii_lowercase() } else { String::new() }
        });
        *counts.schemes.entry(scheme).or_default().entry(verdict).or_default() += 1;
        let number = counts.lines;
        let keep = |(lines, first): &mut Kept, at: u64| {
            *lines += 1;
            if first.len() < MAX_EXAMPLES {
                first.push((number, start as u64, at));
            }
        };
        keep(counts.verdicts.entry(verdict).or_default(), 0);
        for advisory in advisories {
            keep(counts.advisories.entry(advisory).or_default(), 0);
        }
        if let Some((component, cause, offset)) = defect {
            keep(counts.defects.entry((component, cause)).or_default(), offset);
        }
    }
    counts
}

/// Counts `bytes` as one input, by `judge`.
pub fn count(bytes: &[u8], grammar: Grammar) -> Counts {
    count_by(bytes, |line| {
        let judgement = judge(line);
        let defect = judgement.defect(grammar);
        Judged {
            scheme: judgement.scheme(),
            verdict: judgement.verdict().bits(),
            advisories: judgement.advisories().iter().map(Advisory::name).collect(),
            defect: defect.map(|defect| (defect.component.name(), defect.cause.name(), defect.offset)),
        }
    })
}

/// The same counts with all defects as one without names.
pub fn nameless(mut counts: Counts) -> Counts {
    let kinds = std::mem::take(&mut counts.defects);
    let mut first: Vec<_> = kinds.values().flat_map(|(_, first)| first).copied().collect();
    first.sort_unstable();
    first.truncate(MAX_EXAMPLES);
    if !first.is_empty() {
        counts.defects.insert(("", ""), (kinds.values().map(|(lines, _)| lines).sum(), first));
    }
    counts
}

/// The optional counts of `bytes` as one input. Lengths are the lower ends of their buckets.
pub fn count_on_demand(bytes: &[u8]) -> OnDemand {
    let mut counts = OnDemand::default();
    let mut distinct: BTreeMap<_, BTreeSet<Vec<u8>>> = BTreeMap::new();
    for (number, (start, line, _)) in (1..).zip(lines(bytes)) {
        if line.is_empty() {
            continue;
        }
        let len = line.len() as u64;
        let step = if len < 1024 { 1 } else { 1 << (len.ilog2() - 4) };
        *counts.lengths.entry(len / step * step).or_default() += 1;
        if counts.longest.is_none_or(|(.., longest)| len > longest) {
            counts.longest = Some((number, start as u64, len));
        }
        let mut insert = |of, item: Option<&[u8]>| {
            _ = item.map(|item| distinct.entry(of).or_default().insert(item.to_vec()));
        };
        insert(DistinctOf::Lines, Some(line));
        insert(DistinctOf::Canonical, canonical(line, &mut Vec::new()));
        let mut key = Vec::new();
        insert(DistinctOf::Surt, surt(line, &mut key).then_some(&*key));
        insert(
            DistinctOf::WhatwgHref,
            parse(line, None).url().map(ToString::to_string).as_deref().map(str::as_bytes),
        );
        let mut count =
            |of, name: &str| *counts.names.entry(of).or_default().entry(name.to_owned()).or_default() += 1;
        let parts = uri_parts::split(line);
        let (Some(host), false) = (parts.host, judge(line).verdict().is_empty()) else { continue };
        let port =
            parts.port.map(|port| str::from_utf8(&line[port]).unwrap().trim_start_matches('0').to_owned());
        if let Some(port) = port.filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
            && line[host.end + 1..].first().is_some_and(u8::is_ascii_digit)
        {
            let name = match port.parse::<u16>() {
                Ok(port) => port.to_string(),
                Err(_) if port.is_empty() => "0".to_owned(),
                Err(_) => "above 65535".to_owned(),
            };
            count(TopOf::Ports, &name);
        }
        let (host, list, mut buffer) = (&line[host], SuffixList::built_in(), Vec::new());
        if host.is_empty() {
            continue;
        }
        let compared = compared(host, &mut buffer);
        for problem in HostProblems::of(compared, list).iter() {
            count(TopOf::HostProblems, problem.name());
        }
        let text = |bytes: &[u8]| str::from_utf8(bytes).unwrap().to_owned();
        let host = compared.map_or_else(|| text(host).to_ascii_lowercase(), text);
        if host.is_empty() {
            continue;
        }
        let label = host.strip_suffix('.').unwrap_or(&host).rsplit('.').next().unwrap();
        let mut count = |of, name: &str| {
            if name.len() <= 255 {
                count(of, name);
            }
        };
        if !label.is_empty() && !host.starts_with('[') && host.parse::<Ipv4Addr>().is_err() {
            count(TopOf::Tlds, label);
        }
        let suffixes = compared.and_then(|host| list.find(host));
        if let Some(found) = suffixes {
            count(TopOf::Suffixes, &text(found.suffix()));
        }
        let domain = suffixes.and_then(|found| found.domain());
        if let Some(domain) = domain {
            count(TopOf::Domains, &text(domain));
        }
        insert(DistinctOf::Domains, domain);
        insert(DistinctOf::Hosts, Some(host.as_bytes()).filter(|host| host.len() <= 255));
        count(TopOf::Hosts, &host);
    }
    let n_items = |(of, items): (DistinctOf, BTreeSet<_>)| (of, About(items.len() as u64));
    counts.distinct = distinct.into_iter().map(n_items).collect();
    counts
}

/// The same counts from a tally.
pub fn on_demand(tally: &Tally) -> OnDemand {
    let all = |top: Top| -> BTreeMap<String, u64> {
        assert_eq!(top.max_error, 0);
        assert!(top.entries.is_sorted_by_key(|(_, lines)| Reverse(*lines)));
        top.entries.into_iter().collect()
    };
    let lengths = tally.lengths();
    OnDemand {
        lengths: lengths.buckets().map(|(bytes, lines)| (*bytes.start(), lines)).collect(),
        longest: lengths.longest().map(|longest| (longest.line, longest.place.offset, longest.bytes)),
        names: TopOf::ALL
            .iter()
            .filter(|&&of| of != TopOf::Schemes)
            .map(|&of| (of, all(tally.top(of, usize::MAX))))
            .filter(|(_, names)| !names.is_empty())
            .collect(),
        distinct: DistinctOf::ALL
            .iter()
            .map(|&of| (of, About(tally.distinct(of))))
            .filter(|(_, About(n))| *n > 0)
            .collect(),
    }
}

/// The same counts from a tally. The buffer must not have too many schemes.
pub fn of(tally: &Tally) -> Counts {
    let sets = |counts: &ByVerdict| counts.sets().map(|(verdict, n)| (verdict.bits(), n)).collect();
    let first = |examples: &[Example]| {
        examples.iter().map(|example| (example.line, example.place.offset, example.at)).collect()
    };
    let kept = |found: &Found| (found.lines, first(&found.examples));
    let judged = tally.judged();
    let verdicts = judged.sets().map(|(set, lines)| (set.bits(), (lines, first(tally.first(set)))));
    let mut schemes: BTreeMap<_, _> =
        tally.schemes().into_iter().map(|(name, counts)| (Some(name.to_owned()), sets(counts))).collect();
    for (name, counts) in [(None, tally.relative()), (Some(String::new()), tally.unnamed_schemes())] {
        if counts.lines() > 0 {
            schemes.insert(name, sets(counts));
        }
    }
    Counts {
        lines: tally.lines(),
        bytes: tally.bytes(),
        blank: tally.blank,
        cr: tally.cr,
        boms: tally.boms,
        schemes,
        verdicts: verdicts.collect(),
        advisories: tally.advisories().map(|(advisory, found)| (advisory.name(), kept(found))).collect(),
        defects: tally
            .defects()
            .into_iter()
            .map(|defect| ((defect.component.name(), defect.cause.name()), kept(defect.found)))
            .collect(),
    }
}

/// The differences of two counts, one per line.
pub fn difference(a: &Counts, b: &Counts) -> String {
    let (a, b) = (format!("{a:?}"), format!("{b:?}"));
    let mut out = String::new();
    for (a, b) in a.split("), ").zip(b.split("), ")).filter(|(a, b)| a != b).take(20) {
        let _ = writeln!(out, "{a} | {b}");
    }
    out
}
