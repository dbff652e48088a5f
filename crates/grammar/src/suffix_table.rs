//! Reads a list in the form of the Public Suffix List, and makes a table of its rules. The build script includes this file too.
//!
//! The rules are a tree of labels, whose root is the empty name: "co.uk" is the node "co" below the node "uk". The nodes are in a hash
//! table without collisions (after "Hash, displace, and compress" by Belazzougui, Botelho and Dietzfelbinger): names with the same first
//! bits of their hash share a number, the displacement, which is chosen so that each name gets a slot of its own. So a search looks at one
//! slot. A node names its parent and its label, so that a search is exact.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;

use crate::labels::Tails;

/// The rules of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// For each slot 0, or the node in it: its parent, the length, the place and some bits of the hash of its label, and its flags.
    pub nodes: Cow<'static, [u64]>,
    /// For each value of the first bits of a hash, the displacement.
    pub displacements: Cow<'static, [u16]>,
    /// The labels, each once.
    pub labels: Cow<'static, [u8]>,
    /// The text after "VERSION:", or nothing.
    pub version: Cow<'static, str>,
    /// A hash of the text of the list ([`fingerprint`]).
    pub hash: u64,
}

/// The parent of the nodes of top-level domains.
pub const ROOT: u32 = (1 << 20) - 1;
/// The node is a rule of the ICANN section (1), of the private one (2).
pub const RULE: u8 = 1;
/// The names one label below the node are suffixes, as "*." says.
pub const WILDCARD: u8 = 1 << 2;
/// The node is no suffix although a wildcard says so, as "!" says.
pub const EXCEPTION: u8 = 1 << 4;
/// There are rules of the section below the node.
pub const HAS_CHILDREN: u8 = 1 << 6;
/// Both sections, to be multiplied by a kind of rule.
pub const SECTIONS: u8 = 3;

const LEN_AT: u32 = 20;
const TAG_AT: u32 = 26;
const FLAGS_AT: u32 = 33;
const PLACE_AT: u32 = 41;

/// The bits that [`key`] sets.
pub const KEY: u64 = (1 << FLAGS_AT) - 1;

/// The part of a node by which it is found: parent, length of the label, and seven bits of the hash. The length is at most 63.
#[inline]
pub fn key(parent: u32, len: usize, hash: u64) -> u64 {
    u64::from(parent) | (len as u64) << LEN_AT | (hash & 0x7f) << TAG_AT
}

/// The flags of a node.
#[inline]
pub fn flags(node: u64) -> u8 {
    (node >> FLAGS_AT & 0xff) as u8
}

/// The place of its label in the labels.
#[inline]
pub fn place(node: u64) -> usize {
    (node >> PLACE_AT) as usize
}

/// Why a text is no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SuffixListErrorKind {
    /// The line is not UTF-8.
    NotUtf8,
    /// The line has a rule, but no section begins before it.
    OutsideSections,
    /// The line begins a section inside another one, or ends one that is not open.
    MisplacedMark,
    /// The line is no rule: labels joined by dots, and before them "*." or "!" or nothing.
    NotARule,
    /// The text ends before its section does.
    Unfinished,
    /// There is no rule.
    NoRules,
    /// The text has more than 1.5 MiB, or its names do not fit into a table.
    TooLarge,
}

/// A text that is no list in the form of the Public Suffix List.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuffixListError {
    /// The number of the line, from 1.
    pub line: usize,
    pub kind: SuffixListErrorKind,
}

impl fmt::Display for SuffixListError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.kind {
            SuffixListErrorKind::NotUtf8 => "not UTF-8",
            SuffixListErrorKind::OutsideSections => {
                "a rule before \"// ===BEGIN ICANN DOMAINS===\" or \"// ===BEGIN PRIVATE DOMAINS===\""
            }
            SuffixListErrorKind::MisplacedMark => {
                "this begins a section inside another one, or ends one that is not open"
            }
            SuffixListErrorKind::NotARule => "no rule of a public suffix list",
            SuffixListErrorKind::Unfinished => "the section does not end",
            SuffixListErrorKind::NoRules => "no rules",
            SuffixListErrorKind::TooLarge => "the list is too long",
        };
        write!(out, "line {}: {text}", self.line)
    }
}

impl std::error::Error for SuffixListError {}

/// A node that has no number yet.
#[derive(Default)]
struct Node<'a> {
    label: &'a str,
    /// The name of the parent.
    parent: &'a str,
    hash: u64,
    flags: u8,
}

impl Table {
    /// Reads a list. `to_ascii` returns a name with A-labels, or `None` if it is no name; it gets the names beyond ASCII alone.
    ///
    /// # Errors
    /// If a line is not a comment, a rule in a section or empty, if a section does not end, or if the text is too long.
    pub fn parse(text: &[u8], to_ascii: impl Fn(&str) -> Option<String>) -> Result<Self, SuffixListError> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        if text.len() > MAX_LEN {
            return Err(SuffixListError { line: 1, kind: SuffixListErrorKind::TooLarge });
        }
        let mut version = "";
        // The bit of the section, or 0 outside of one.
        let mut section = 0;
        let mut rules = Vec::new();
        let mut n_lines = 0;
        for (line, n) in text.split(|byte| *byte == b'\n').zip(1..) {
            let fail = |kind| SuffixListError { line: n, kind };
            n_lines = n;
            let line = str::from_utf8(line).map_err(|_| fail(SuffixListErrorKind::NotUtf8))?.trim();
            if let Some(comment) = line.strip_prefix("//").map(str::trim_start) {
                version = comment.strip_prefix("VERSION:").map_or(version, str::trim);
                let (before, after) = match comment {
                    "===BEGIN ICANN DOMAINS===" => (0, 1),
                    "===BEGIN PRIVATE DOMAINS===" => (0, 2),
                    "===END ICANN DOMAINS===" => (1, 0),
                    "===END PRIVATE DOMAINS===" => (2, 0),
                    _ => (section, section),
                };
                if section != before {
                    return Err(fail(SuffixListErrorKind::MisplacedMark));
                }
                section = after;
            } else if let Some(rule) = line.split_whitespace().next() {
                let (kind, name) = match rule.split_at_checked(1) {
                    Some(("!", name)) => (EXCEPTION, name),
                    _ => rule.strip_prefix("*.").map_or((RULE, rule), |name| (WILDCARD, name)),
                };
                let name = if name.is_ascii() { Some(name.to_ascii_lowercase()) } else { to_ascii(name) };
                let name = name.filter(|name| is_name(name) && (kind != EXCEPTION || name.contains('.')));
                let name = name.ok_or(fail(SuffixListErrorKind::NotARule))?;
                if section == 0 {
                    return Err(fail(SuffixListErrorKind::OutsideSections));
                }
                rules.push((name, kind * section));
            }
        }
        let fail = |kind| SuffixListError { line: n_lines, kind };
        if section != 0 {
            return Err(fail(SuffixListErrorKind::Unfinished));
        }
        if rules.is_empty() {
            return Err(fail(SuffixListErrorKind::NoRules));
        }
        let table = Self::of(&rules).ok_or(fail(SuffixListErrorKind::TooLarge))?;
        Ok(Self { version: version.to_owned().into(), hash: fingerprint(text), ..table })
    }

    /// The table of rules, which are names with flags; `None` if they do not fit.
    fn of(rules: &[(String, u8)]) -> Option<Self> {
        let mut nodes: HashMap<&str, Node> = HashMap::new();
        for (name, flag) in rules {
            let section =
                [RULE, WILDCARD, EXCEPTION].iter().fold(0, |all, kind| all | (flag / kind)) & SECTIONS;
            let mut parent = "";
            for tail in Tails::of(name.as_bytes(), None) {
                nodes.entry(parent).and_modify(|node| node.flags |= HAS_CHILDREN * section);
                let label = &name[tail.start..tail.label_end];
                let tail_name = &name[tail.start..];
                nodes.entry(tail_name).or_insert(Node { label, parent, hash: tail.hash, flags: 0 });
                parent = tail_name;
            }
            nodes.entry(parent).and_modify(|node| node.flags |= flag);
        }
        let mut sorted: Vec<_> = nodes.iter().collect();
        sorted.sort_unstable_by_key(|(name, node)| (node.hash, **name));
        let hashes: Vec<_> = sorted.iter().map(|(_, node)| node.hash).collect();
        let n_nodes = sorted.len();
        let (displacements, n_slots) = (1..8).find_map(|n| {
            let n_slots = n_nodes + n * n_nodes / 32 + 1;
            Some((displacements(&hashes, n_slots)?, n_slots))
        })?;
        let slot_of = |node: &Node| slot(node.hash, &displacements, n_slots);

        let mut labels = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut packed = vec![0; n_slots];
        for (_, node) in &sorted {
            let place = *places.entry(node.label).or_insert_with(|| {
                labels.extend_from_slice(node.label.as_bytes());
                labels.len() - node.label.len()
            });
            let parent =
                nodes.get(node.parent).map(slot_of).map_or(Some(ROOT), |slot| u32::try_from(slot).ok())?;
            let key = key(parent, node.label.len(), node.hash);
            packed[slot_of(node)] = key | u64::from(node.flags) << FLAGS_AT | (place as u64) << PLACE_AT;
        }
        let (nodes, displacements) = (packed.into(), displacements.into());
        Some(Self { nodes, displacements, labels: labels.into(), version: "".into(), hash: 0 })
    }

    /// The slot of the node of a name with this hash.
    #[inline]
    pub fn slot(&self, hash: u64) -> usize {
        slot(hash, &self.displacements, self.nodes.len())
    }
}

#[inline]
fn slot(hash: u64, displacements: &[u16], n_slots: usize) -> usize {
    displaced(hash, displacements[bucket(hash, displacements.len())], n_slots)
}

/// The first bits of a hash. `n_buckets` is a power of two, and not 1.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "these are few bits")]
fn bucket(hash: u64, n_buckets: usize) -> usize {
    (hash >> (64 - n_buckets.trailing_zeros())) as usize
}

/// The slot of a name with this hash and this displacement.
#[inline]
fn displaced(hash: u64, displacement: u16, n_slots: usize) -> usize {
    let mixed = (hash ^ u64::from(displacement)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32;
    ((mixed * n_slots as u64) >> 32) as usize
}

/// Displacements with which names with these hashes, in rising order, have different slots. `None` if none are found.
fn displacements(hashes: &[u64], n_slots: usize) -> Option<Vec<u16>> {
    let mut displacements = vec![0; (hashes.len() / 4).next_power_of_two().max(2)];
    let n_buckets = displacements.len();
    let mut buckets: Vec<_> =
        hashes.chunk_by(|one, other| bucket(*one, n_buckets) == bucket(*other, n_buckets)).collect();
    buckets.sort_by_key(|hashes| Reverse(hashes.len()));
    let mut is_used = vec![false; n_slots];
    for hashes in buckets {
        let mut slots = Vec::new();
        let displacement = (0..=u16::MAX).find(|displacement| {
            slots.clear();
            hashes.iter().all(|hash| {
                let slot = displaced(*hash, *displacement, n_slots);
                let is_free = !is_used[slot] && !slots.contains(&slot);
                slots.push(slot);
                is_free
            })
        })?;
        displacements[bucket(hashes[0], n_buckets)] = displacement;
        for slot in slots {
            is_used[slot] = true;
        }
    }
    Some(displacements)
}

/// The longest list in bytes. A node takes two bytes of it at least, so that there are fewer nodes than 20 bits can
/// number, and their labels have fewer bytes than 23 bits can.
const MAX_LEN: usize = 3 << 19;

/// Whether a rule can have this name, which is no longer than one of DNS.
fn is_name(name: &str) -> bool {
    name.len() <= 253
        && name.split('.').all(|label| {
            matches!(label.len(), 1..=63)
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        })
}

/// A hash that distinguishes different texts (FNV-1a).
pub fn fingerprint(bytes: &[u8]) -> u64 {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, add)
}
