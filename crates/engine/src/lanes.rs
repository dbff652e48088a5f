//! Reads lanes of whole lines as bit streams, and decides which lines are counted in bulk and which are listed.
//!
//! The lanes are read a stripe at a time. Lines counted in bulk are counted by population count for each scheme and
//! verdict, and never looked at. Each step keeps only its LFs, to find the start of a listed line. Where each line is wanted instead of numbers
//! ([`LaneReader::of_lines`]), a step also keeps the verdicts at its LFs. This file knows no tally.

use std::ops::Range;

use crate::bitstreams::{Advised, CAUSES, Carried, Defects, Ends, Halves, begin, finish};
use crate::lines::{LineEnds, WORDS, bits, note_bits};
use crate::simd::{BLOCK, Blocks, Counts, Job, Kernel, LANES, Word};
use urlsift_grammar::advisory::{Advisories, Advisory};
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;
use urlsift_grammar::scheme::{FILE, FTP, HTTP, HTTPS};
use urlsift_grammar::{Grammar, Verdict};

/// The verdicts that the streams tell apart. The draft refuses all that RFC 1738 refuses, and RFC 1738 all that RFC 1808
/// refuses. The index of a verdict is how many of these three refuse the line.
const LEVELS: [Verdict; 4] = [
    Verdict::since(Grammar::Draft1993),
    Verdict::since(Grammar::Rfc1738),
    Verdict::since(Grammar::Rfc1808),
    Verdict::since(Grammar::Rfc2396),
];

/// How many steps are done before their listed lines are copied. These bytes are then still in the cache.
const STRIPE: usize = 64;

/// How many bytes of each lane a stripe has.
pub const STRIPE_LEN: usize = STRIPE * BLOCK;

/// How many steps, at most, have their planes made at once.
const AT_ONCE: usize = 16;

/// The counters, in their order. Each has four fields.
#[derive(Clone, Copy)]
enum Counter {
    Http,
    Https,
    Ftp,
    File,
    /// Relative references, blank lines that are not listed, and all lines that end in CR.
    Rest,
    Advised,
    /// Lines that no grammar accepts, by scheme, in the order of [`BY_SCHEME`]: two counters.
    NoGrammar,
    /// The same lines by the kinds of their defects: the remaining counters.
    Defects = Self::NoGrammar as isize + 2,
}

impl Counter {
    /// The number of a field among those of all counters.
    const fn field(self, n: usize) -> usize {
        4 * self as usize + n
    }
}

const COUNTERS: usize = Counter::Defects as usize + DEFECT_KINDS.div_ceil(4);
const BLANK: usize = Counter::Rest.field(2);
const CR: usize = Counter::Rest.field(3);

/// The kinds of defects that are counted in bulk: a component, and one of [`CAUSES`].
const DEFECT_KINDS: usize = 3 * CAUSES.len();

/// The defects that are counted in bulk, by the numbers of their kinds.
pub fn defect_kinds() -> impl Iterator<Item = (Component, Cause)> {
    let components = [Component::Path, Component::Query, Component::Fragment];
    components.into_iter().flat_map(|component| CAUSES.into_iter().map(move |cause| (component, cause)))
}

/// The counter of each scheme, the index in [`LEVELS`] of its best verdict, and the scheme.
///
/// The first field of the counter has all lines of the scheme that are counted in bulk. The next field leaves out those with the
/// best verdict, and so on.
const BY_SCHEME: [(Counter, usize, Option<usize>); 5] = [
    (Counter::Http, 0, Some(HTTP)),
    (Counter::Https, 1, Some(HTTPS)),
    (Counter::Ftp, 0, Some(FTP)),
    (Counter::File, 1, Some(FILE)),
    (Counter::Rest, 2, None),
];

/// What is kept of each step: the LFs.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Step {
    newline: [u64; LANES],
}

impl Step {
    const NONE: Self = Self { newline: [0; LANES] };
}

/// A step with the end of a listed line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Listed {
    lines: [u64; LANES],
    /// One bit for each lane with a listed line.
    lanes: u32,
    step: usize,
}

impl Listed {
    const NONE: Self = Self { lines: [0; LANES], lanes: 0, step: 0 };
}

/// The verdicts of the lines that end in a step, as bits at their LFs: three words for the grammars of [`LEVELS`] that refuse them, one for
/// escaped delimiters, one for lines without a scheme, and one for listed lines.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Verdicts([[u64; LANES]; 6]);

/// The verdicts of lines of a lane, for some consecutive steps.
#[derive(Clone, Copy)]
pub(crate) struct LaneVerdicts<'a> {
    steps: &'a [Verdicts],
    lane: usize,
}

impl LaneVerdicts<'_> {
    /// The verdict and the advisories of the line whose LF is at `end`, and whether it has a scheme; `None` if it is listed.
    #[inline(always)]
    pub(crate) fn at(self, end: usize) -> Option<((Verdict, Advisories), bool)> {
        let delimiter = Advisories::from_iter([Advisory::EncodedDelimiter]);
        let Verdicts(words) = &self.steps[end / BLOCK];
        let [draft, rfc1738, rfc1808, has_delimiter, has_no_scheme, is_listed] =
            words.each_ref().map(|word| (word[self.lane] >> (end % BLOCK) & 1) as usize);
        let judged = (LEVELS[draft + rfc1738 + rfc1808], [Advisories::default(), delimiter][has_delimiter]);
        (is_listed == 0).then_some((judged, has_no_scheme == 0))
    }
}

/// A listed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedLine {
    pub lane: usize,
    /// The offset of its first byte in its lane.
    pub start: usize,
    /// The offset of its LF in its lane.
    pub end: usize,
}

/// What the streams find in the lanes of a segment. The memory is reused for the next segment.
#[derive(Default)]
pub struct Findings {
    fields: [[u64; 4]; COUNTERS],
    steps: Vec<Step>,
    /// The steps of the last stripe that have the end of a listed line.
    listed: Vec<Listed>,
    n_listed: usize,
    /// The verdicts of the steps of the last stripe, if [each line is wanted](LaneReader::of_lines).
    verdicts: Vec<Verdicts>,
    /// The steps of the last stripe.
    stripe: Range<usize>,
}

impl Findings {
    fn field(&self, at: usize) -> u64 {
        self.fields.as_flattened()[at]
    }

    /// How many lines counted in bulk have each advisory of [`COUNTED`].
    pub fn advised(&self) -> impl Iterator<Item = (Advisory, u64)> {
        COUNTED.into_iter().map(|(advisory, field)| (advisory, self.field(field)))
    }

    /// How many lines end in CR.
    pub fn cr(&self) -> u64 {
        self.field(CR)
    }

    /// How many blank lines are not listed.
    pub fn blank(&self) -> u64 {
        self.field(BLANK)
    }

    /// How many lines of a lane end before byte `at`.
    pub fn lines_before(&self, lane: usize, at: usize) -> u64 {
        let (whole, part) = (at / BLOCK, at % BLOCK);
        let count = |word: u64| u64::from(word.count_ones());
        let last = self.steps.get(whole).map_or(0, |step| step.newline[lane] & ((1 << part) - 1));
        self.steps[..whole].iter().map(|step| count(step.newline[lane])).sum::<u64>() + count(last)
    }

    /// The verdicts that lines counted in bulk can have, one bit each.
    pub fn plain_verdicts() -> u32 {
        LEVELS.iter().fold(1 << Verdict::default().bits(), |set, verdict| set | 1 << verdict.bits())
    }

    /// The defects of RFC 3986 in lines counted in bulk.
    pub fn defects(&self) -> impl Iterator<Item = (Component, Cause, u64)> {
        defect_kinds()
            .zip(&self.fields.as_flattened()[Counter::Defects.field(0)..])
            .map(|((component, cause), &lines)| (component, cause, lines))
    }

    /// The numbers of lines counted in bulk, by scheme and verdict, without blank lines. The scheme is its place among
    /// the known schemes, or `None` for lines without a scheme.
    pub fn plain(&self) -> impl Iterator<Item = (Option<usize>, Verdict, u64)> + Clone {
        let no_grammar = Counter::NoGrammar.field(0)..;
        BY_SCHEME.into_iter().zip(no_grammar).flat_map(move |((counter, first, scheme), none)| {
            let from = move |level: usize| {
                if level > 3 { 0 } else { self.field(counter.field(level - first)) }
            };
            let accepted =
                (first..4).map(move |level| (scheme, LEVELS[level], from(level) - from(level + 1)));
            accepted.chain([(scheme, Verdict::default(), self.field(none))])
        })
    }

    /// Passes the listed lines of the last stripe to `each`, in no particular order.
    #[inline(always)]
    pub fn each_listed(&self, mut each: impl FnMut(ListedLine)) {
        for listed in &self.listed[..self.n_listed] {
            for lane in bits(u64::from(listed.lanes)) {
                for bit in bits(listed.lines[lane]) {
                    each(self.line(listed, lane, bit));
                }
            }
        }
    }

    /// Passes the lines of a lane that end in the last stripe to `each`, in order, some at a time: the offset of a piece of the lane, the places
    /// of LFs in it, and the verdicts of their lines. `ends` is memory for this.
    #[inline(always)]
    pub(crate) fn lines_by_piece(
        &self,
        lane: usize,
        ends: &mut LineEnds,
        mut each: impl FnMut(usize, &[u32], LaneVerdicts<'_>),
    ) {
        let steps = self.steps[self.stripe.clone()].chunks(WORDS).zip(self.verdicts.chunks(WORDS));
        for (first, (steps, verdicts)) in (self.stripe.start..).step_by(WORDS).zip(steps) {
            let n_ends = note_bits(steps.iter().map(|step| step.newline[lane]), ends);
            each(first * BLOCK, &ends[..n_ends], LaneVerdicts { steps: verdicts, lane });
        }
    }

    #[inline(always)]
    fn line(&self, listed: &Listed, lane: usize, bit: usize) -> ListedLine {
        let end = listed.step * BLOCK + bit;
        // Back to the previous LF, or to the start of the lane.
        let mut at = listed.step;
        let mut before = self.steps[at].newline[lane] & ((1 << bit) - 1);
        while before == 0 && at > 0 {
            at -= 1;
            before = self.steps[at].newline[lane];
        }
        let start = if before == 0 { 0 } else { (at + 1) * BLOCK - before.leading_zeros() as usize };
        ListedLine { lane, start, end }
    }
}

/// The advisories of http and https that can be counted in bulk, with the fields that count their lines.
const COUNTED: [(Advisory, usize); 4] = [
    (Advisory::EncodedDelimiter, Counter::Https.field(3)),
    (Advisory::PortNondefault, Counter::Advised.field(0)),
    (Advisory::PortReserved, Counter::Advised.field(1)),
    (Advisory::EncodedControl, Counter::Advised.field(2)),
];

/// Which lines are listed although they could be counted in bulk.
#[derive(Clone, Copy)]
pub struct List {
    /// Lines that this grammar refuses.
    pub grammar: Grammar,
    /// Blank lines, whatever the grammar says of them.
    pub blank: bool,
    /// Lines of http and https with one of these advisories. Only those of [`COUNTED`] matter here.
    pub advisories: Advisories,
    /// The lines that no grammar accepts and whose defects are of these kinds, one bit each, are not listed.
    pub bulk_defects: u32,
    /// Lines with a scheme, unless [`PlainUrl`](urlsift_grammar::whatwg::plain::PlainUrl) says that they are WHATWG-valid. Then
    /// `bulk_defects` has to be 0.
    pub whatwg: bool,
    /// Lines without a scheme, except blank ones.
    pub relative: bool,
}

impl List {
    /// Whether the grammar refuses lines that are not always listed. RFC 2396 and RFC 3986 refuse none of these.
    fn lists_refused(self) -> bool {
        !matches!(self.grammar, Grammar::Rfc2396 | Grammar::Rfc3986)
    }

    /// Whether more lines are listed than those that are always listed.
    fn lists_more(self) -> bool {
        self.blank
            || self.relative
            || self.lists_refused()
            || COUNTED.into_iter().any(|(advisory, _)| self.advisories.has(advisory))
    }
}

/// Reads the lines of several lanes, a stripe at a time.
pub struct LaneReader<'a, K: Kernel> {
    kernel: K,
    /// Each lane is empty, or begins at a line start and ends after an LF.
    lanes: &'a [&'a [u8]; LANES],
    list: List,
    of_lines: bool,
    bulk_rare: bool,
    carried: Carried<K::Word>,
    /// The planes of the current steps.
    planes: [[K::Word; 8]; AT_ONCE],
    /// How many steps are done.
    at: usize,
    /// How many steps there are.
    n_steps: usize,
}

impl<'a, K: Kernel> LaneReader<'a, K> {
    /// A reader of the first of `lanes`, as many as the kernel has.
    ///
    /// `bulk_rare` decides about lines with a host that is a number, or an escaped NUL, TAB, LF or CR: whether they are counted
    /// in bulk, or listed. Where defects are counted in bulk, so are these.
    pub fn new(
        kernel: K,
        lanes: &'a [&'a [u8]; LANES],
        list: List,
        bulk_rare: bool,
        findings: &mut Findings,
    ) -> Self {
        let longest = lanes.iter().map(|lane| lane.len()).max().unwrap_or(0);
        let n_steps = longest.div_ceil(BLOCK);
        if findings.steps.len() < n_steps {
            findings.steps.resize(n_steps, Step::NONE);
            findings.listed.resize(STRIPE + 1, Listed::NONE);
        }
        findings.n_listed = 0;
        findings.fields = [[0; 4]; COUNTERS];
        debug_assert!(!list.whatwg || list.bulk_defects == 0);
        let halves = Halves { first: kernel.splat(1 | 1 << 32), last: kernel.splat(1 << 31 | 1 << 63) };
        let carried = Carried::new(kernel.splat(0), kernel.splat(1 << 63), list.whatwg.then_some(halves));
        let planes = [[kernel.splat(0); 8]; AT_ONCE];
        Self { kernel, lanes, list, of_lines: false, bulk_rare, carried, planes, at: 0, n_steps }
    }

    /// A reader whose findings have [each line](Findings::lines_by_piece) instead of numbers. With `whatwg`, it lists lines as [`List::whatwg`] says.
    pub fn of_lines(kernel: K, lanes: &'a [&'a [u8]; LANES], whatwg: bool, findings: &mut Findings) -> Self {
        let list = List {
            grammar: Grammar::Rfc3986,
            blank: false,
            advisories: COUNTED[1..].iter().map(|(advisory, _)| *advisory).collect(),
            bulk_defects: 0,
            whatwg,
            relative: false,
        };
        findings.verdicts.resize(STRIPE, Verdicts([[0; LANES]; 6]));
        Self { of_lines: true, ..Self::new(kernel, lanes, list, false, findings) }
    }

    /// About how many lines read so far have a host that is a number, or an escape below 0x10: the number of steps that
    /// looked for these. It is 0 if they are not counted in bulk.
    pub fn n_rare(&self) -> u64 {
        self.carried.n_rare()
    }

    /// Reads a stripe. Returns false if none was left. The caller has to take its listed lines before it reads the next
    /// stripe.
    pub fn stripe(&mut self, findings: &mut Findings) -> bool {
        let kernel = self.kernel;
        let from = self.at;
        if from < self.n_steps {
            self.at = self.n_steps.min(from + STRIPE);
            // Compiled three times, so that clean lists do not pay for what they do not have.
            if self.list.bulk_defects != 0 {
                kernel.run(StripeJob::<_, true, true> { reader: self, from, findings });
            } else if self.bulk_rare {
                kernel.run(StripeJob::<_, true, false> { reader: self, from, findings });
            } else {
                kernel.run(StripeJob::<_, false, false> { reader: self, from, findings });
            }
        }
        from < self.n_steps
    }
}

struct StripeJob<'a, 'b, K: Kernel, const RARE: bool, const DEFECTS: bool> {
    reader: &'a mut LaneReader<'b, K>,
    from: usize,
    findings: &'a mut Findings,
}

impl<K: Kernel, const RARE: bool, const DEFECTS: bool> Job for StripeJob<'_, '_, K, RARE, DEFECTS> {
    #[inline(always)]
    fn run(self) {
        let Self { reader, from, findings } = self;
        let LaneReader { kernel, lanes, list, of_lines, carried, planes, at, .. } = reader;
        let (kernel, lanes, until) = (*kernel, *lanes, *at);
        findings.stripe = from..until;
        let Findings { steps, listed, fields, verdicts, .. } = findings;
        let mut tracks = Tracks::<_, RARE, DEFECTS> {
            kernel,
            list: *list,
            lists_more: list.lists_more(),
            carried,
            counters: [kernel.counts(); COUNTERS],
            room_taken: 0,
            fields,
            listed,
            n_listed: 0,
            verdicts: if *of_lines { verdicts } else { &mut [] },
            from,
        };
        let whole = Blocks::new(lanes, K::LANES);
        let end = until.min(whole.len()).max(from);
        let (of_whole, of_rest) = steps[from..until].split_at_mut(end - from);
        if K::AT_ONCE == 1 {
            // The planes of the next step are made before the logic of this one, because a step is longer than the
            // lookahead of a core.
            let mut next =
                if from < end { kernel.planes::<DEFECTS>(&whole, from) } else { [kernel.splat(0); 8] };
            for (at, kept) in (from..).zip(of_whole) {
                let planes = next;
                next = kernel.planes::<DEFECTS>(&whole, (at + 1).min(end - 1));
                tracks.step(planes, at, kept);
                tracks.keep_room(1);
            }
        } else {
            const { assert!(K::AT_ONCE <= AT_ONCE) }
            for (from, kept) in (from..).step_by(K::AT_ONCE).zip(of_whole.chunks_mut(K::AT_ONCE)) {
                for (at, planes) in (from..from + kept.len()).zip(planes.iter_mut()) {
                    *planes = kernel.planes::<DEFECTS>(&whole, at);
                }
                for (at, (&planes, kept)) in (from..).zip(planes.iter().zip(&mut *kept)) {
                    kernel.ask(&whole, at);
                    tracks.step(planes, at, kept);
                }
                tracks.keep_room(kept.len());
            }
        }
        for (at, kept) in (end..).zip(of_rest) {
            let rest = rest(lanes, at);
            let blocks = Blocks::new(&rest.each_ref().map(|block| &block[..]), K::LANES);
            tracks.step(kernel.planes::<DEFECTS>(&blocks, 0), at, kept);
            tracks.keep_room(1);
        }
        tracks.take();
        tracks.carried.look_back(until - from);
        findings.n_listed = tracks.n_listed;
    }
}

/// What each step of a stripe changes.
struct Tracks<'a, K: Kernel, const RARE: bool, const DEFECTS: bool> {
    kernel: K,
    list: List,
    /// Whether `list` lists more than is always listed, computed once per stripe. It is mostly false, once the sink
    /// has examples of the advisories.
    lists_more: bool,
    carried: &'a mut Carried<K::Word>,
    counters: [K::Counts; COUNTERS],
    /// An upper bound of how much of the counters' room is taken.
    room_taken: usize,
    fields: &'a mut [[u64; 4]; COUNTERS],
    listed: &'a mut [Listed],
    n_listed: usize,
    /// Empty, or the verdicts of each step from step `from` on.
    verdicts: &'a mut [Verdicts],
    from: usize,
}

impl<K: Kernel, const RARE: bool, const DEFECTS: bool> Tracks<'_, K, RARE, DEFECTS> {
    /// Runs the logic of step `at` and writes to `kept` what is kept of it.
    #[inline(always)]
    fn step(&mut self, planes: [K::Word; 8], at: usize, kept: &mut Step) {
        let classes = K::Classes::from(planes);
        let (beginnings, other) = begin(classes, self.carried);
        let zero = self.kernel.splat(0);
        // Compiled twice, so that web lists do not pay for logic that they do not need.
        if other {
            let ends = finish::<_, true, RARE, DEFECTS>(classes, zero, beginnings, self.carried);
            self.record(&ends, at, kept);
        } else {
            let ends = finish::<_, false, RARE, DEFECTS>(classes, zero, beginnings, self.carried);
            self.record(&ends, at, kept);
        }
    }

    /// Counts the lines that end in a step and are not listed, and keeps what is needed for the others.
    #[inline(always)]
    fn record(&mut self, ends: &Ends<K::Word>, at: usize, kept: &mut Step) {
        debug_assert!(self.lists_more || !(listed(ends, self.list) ^ ends.listed).any());
        let mut listed = if self.lists_more { listed(ends, self.list) } else { ends.listed };
        if !RARE && let Some(verdicts) = self.verdicts.get_mut(at.wrapping_sub(self.from)) {
            return keep_verdicts(ends, listed, kept, verdicts);
        }
        let is_crowded = ends.newline.is_crowded();
        let mut defects = ends.defects.any;
        if DEFECTS && defects.any() {
            let [none, all] = [0, u64::MAX].map(|word| self.kernel.splat(word));
            let in_bulk = |kind: usize| if self.list.bulk_defects >> kind & 1 == 1 { all } else { none };
            let (left, kinds) = defects_by_kind(ends, listed, in_bulk);
            listed = listed | left;
            defects = defects & !listed;
            if is_crowded {
                count_defects::<_, _, true>(ends, defects, &kinds, &mut self.counters);
            } else {
                count_defects::<_, _, false>(ends, defects, &kinds, &mut self.counters);
            }
        }
        if is_crowded {
            self.room_taken += K::Counts::CROWD - 1;
            count::<_, _, true>(ends, listed | defects, listed, &mut self.counters);
        } else {
            count::<_, _, false>(ends, listed | defects, listed, &mut self.counters);
        }
        let entry = &mut self.listed[self.n_listed];
        entry.step = at;
        self.n_listed += keep(ends, listed, kept, entry);
    }

    /// Adds `n_steps` to the room taken. Empties the counters if the next steps that are made at once could overflow
    /// them.
    #[inline(always)]
    fn keep_room(&mut self, n_steps: usize) {
        const { assert!(K::AT_ONCE * K::Counts::CROWD <= K::Counts::ROOM) }
        self.room_taken += n_steps;
        if STRIPE * K::Counts::CROWD > K::Counts::ROOM
            && self.room_taken + K::AT_ONCE * K::Counts::CROWD > K::Counts::ROOM
        {
            self.take();
        }
    }

    /// Adds the counters to the fields and resets the counters.
    #[inline(always)]
    fn take(&mut self) {
        let n = if DEFECTS { COUNTERS } else { Counter::NoGrammar as usize };
        for (counter, fields) in self.counters.iter_mut().zip(self.fields.iter_mut()).take(n) {
            for (field, count) in fields.iter_mut().zip(counter.totals()) {
                *field += count;
            }
            *counter = self.kernel.counts();
        }
        self.room_taken = 0;
    }
}

/// Block `at` of each lane, padded with zeros. The padding follows the last LF and ends no line, so it has no effect.
fn rest(lanes: &[&[u8]; LANES], at: usize) -> [[u8; BLOCK]; LANES] {
    let mut blocks = [[0; BLOCK]; LANES];
    for (block, lane) in blocks.iter_mut().zip(lanes) {
        let bytes = lane.get(at * BLOCK..).unwrap_or_default();
        let len = bytes.len().min(BLOCK);
        block[..len].copy_from_slice(&bytes[..len]);
    }
    blocks
}

/// The lines that end in a step and are listed.
#[inline(always)]
fn listed<W: Word>(ends: &Ends<W>, list: List) -> W {
    let mut listed = ends.listed;
    if list.lists_refused() {
        listed = listed
            | match list.grammar {
                Grammar::Draft1993 => ends.newline & !((ends.http | ends.ftp) & !ends.refused_draft),
                Grammar::Rfc1738 => ends.relative | ends.refused_1738,
                _ => ends.tilde,
            };
        listed = listed & !ends.blank;
    }
    let none = listed & !listed;
    let rare = ends.advised.map_or([none; 3], |rare| [rare.port, rare.reserved_port, rare.control]);
    for ((advisory, _), lines) in COUNTED.into_iter().zip([ends.delimiter].into_iter().chain(rare)) {
        if list.advisories.has(advisory) {
            listed = listed | lines;
        }
    }
    if list.blank {
        listed = listed | ends.blank;
    }
    if list.relative {
        listed = listed | ends.relative;
    }
    listed
}

/// Keeps what listing needs of a step. Returns 1 if a listed line ends in it, and 0 otherwise.
#[inline(always)]
fn keep<W: Word>(ends: &Ends<W>, listed: W, step: &mut Step, entry: &mut Listed) -> usize {
    ends.newline.store(&mut step.newline);
    listed.store(&mut entry.lines);
    entry.lanes = listed.lanes();
    usize::from(entry.lanes != 0)
}

/// Keeps what [`Findings::lines_by_piece`] needs of a step.
#[inline(always)]
fn keep_verdicts<W: Word>(ends: &Ends<W>, listed: W, step: &mut Step, Verdicts(words): &mut Verdicts) {
    let refused_draft = ends.refused_draft | !(ends.http | ends.ftp);
    let refused_1738 = ends.refused_1738 | ends.relative;
    ends.newline.store(&mut step.newline);
    let no_scheme = ends.relative | ends.blank;
    let kept = [refused_draft, refused_1738, ends.tilde, ends.delimiter, no_scheme, listed];
    kept.into_iter().zip(words).for_each(|(word, to)| word.store(to));
}

/// Sorts the lines that no grammar accepts and that are not listed yet by the kinds of their defects. Returns those that have to be
/// listed, because `in_bulk` is not all ones for their kind, and the others by kind.
#[inline(always)]
fn defects_by_kind<W: Word>(
    ends: &Ends<W>,
    listed: W,
    in_bulk: impl Fn(usize) -> W,
) -> (W, [W; DEFECT_KINDS]) {
    let Defects { any, cause: [low, middle, high], query, fragment } = ends.defects;
    let lines = any & !listed;
    let mut kinds = [lines; DEFECT_KINDS];
    let mut counted = lines & !lines;
    for (n_part, part) in [!(query | fragment), query, fragment].into_iter().enumerate() {
        for n_cause in 0..CAUSES.len() {
            let bit = |word: W, bit: usize| if n_cause >> bit & 1 == 1 { word } else { !word };
            let of_cause = bit(low, 0) & bit(middle, 1) & bit(high, 2);
            let kind = n_part * CAUSES.len() + n_cause;
            kinds[kind] = (lines & part) & of_cause & in_bulk(kind);
            counted = counted | kinds[kind];
        }
    }
    (lines & !counted, kinds)
}

/// Counts lines that no grammar accepts, by scheme and by the kinds of their defects.
#[inline(always)]
fn count_defects<W: Word, C: Counts<W>, const CROWDED: bool>(
    ends: &Ends<W>,
    lines: W,
    kinds: &[W; DEFECT_KINDS],
    counters: &mut [C; COUNTERS],
) {
    let counters = &mut counters[Counter::NoGrammar as usize..];
    let Ends { http, ftp, file, relative, .. } = *ends;
    let https = !(http | ftp | file | relative);
    let none = lines & !lines;
    counters[0].add::<CROWDED>([lines & http, lines & https, lines & ftp, lines & file]);
    counters[1].add::<CROWDED>([lines & relative, none, none, none]);
    for (counter, kinds) in counters[2..].iter_mut().zip(kinds.chunks(4)) {
        counter.add::<CROWDED>(std::array::from_fn(|n| kinds.get(n).copied().unwrap_or(none)));
    }
}

/// Counts the lines that end in a step and are neither in `not_plain` nor blank. Blank lines are counted unless they are listed, and
/// lines that end in CR in any case.
#[inline(always)]
fn count<W: Word, C: Counts<W>, const CROWDED: bool>(
    ends: &Ends<W>,
    not_plain: W,
    listed: W,
    [http, https, ftp, file, rest, advised, ..]: &mut [C; COUNTERS],
) {
    let Ends { refused_draft, refused_1738, tilde, .. } = *ends;
    let plain = ends.newline & !(not_plain | ends.blank);
    let none = plain & !plain;
    let is_http = plain & ends.http;
    http.add::<CROWDED>([is_http, is_http & refused_draft, is_http & refused_1738, is_http & tilde]);
    let is_https = plain & !(ends.http | ends.ftp | ends.file | ends.relative);
    https.add::<CROWDED>([is_https, is_https & refused_1738, is_https & tilde, plain & ends.delimiter]);
    if let Some(Advised { control, port, reserved_port }) = ends.advised {
        advised.add::<CROWDED>([plain & port, plain & reserved_port, plain & control, none]);
    }
    if ((ends.newline & !(is_http | is_https | not_plain)) | ends.cr).any() {
        let relative = plain & ends.relative;
        rest.add::<CROWDED>([relative, relative & tilde, ends.blank & !listed, ends.cr]);
        let (is_ftp, is_file) = (plain & ends.ftp, plain & ends.file);
        if (is_ftp | is_file).any() {
            ftp.add::<CROWDED>([is_ftp, is_ftp & refused_draft, is_ftp & refused_1738, is_ftp & tilde]);
            file.add::<CROWDED>([is_file, is_file & refused_1738, is_file & tilde, none]);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
