//! Computes the verdicts of all lines in 64 bytes of every lane at once, from the streams of byte classes.
//!
//! # Bit-parallel parsing
//!
//! The method is from Cameron and others, "Bitwise data parallelism in regular expression matching", PACT 2014. A
//! *stream* has one bit per byte. A *marker* is a bit at a place of interest. A shift moves a marker to the next byte.
//! An addition runs a marker through a class: `(marker + class) & !class` is the first byte after the run.
//!
//! ```text
//! text                   h o s t 1 / a    the first byte is the lowest bit, so carries run to the right
//! class                  1 1 1 1 1 0 1    letters and digits
//! marker                 1 0 0 0 0 0 0
//! marker + class         0 0 0 0 0 1 1    the marker ran over "host1"
//! ... & !class           0 0 0 0 0 1 0    the first byte after the run
//! ```
//!
//! A word describes 64 bytes. What leaves it at its end is carried into the next word ([`Flow`]). So the logic never
//! stops at a line and never looks at a single one:
//!
//! - A marker at the line start runs through scheme characters. If it reaches a ":", the line is absolute. Markers that
//!   move over the letters match "http", "https", "ftp" and "file".
//! - A marker after "://" runs through plain host characters. If a port follows, a marker runs through its digits.
//! - Each byte that a grammar refuses sets a bit in a violation stream. This stream is added to the stream of all bytes
//!   except LF. The addition carries the bit to the LF that ends the line. So every fact about a line is one bit, at
//!   its LF.
//!
//! Some rules hold for http lines only. They use the *reach* of the marker after "http": all bytes from there to the
//! LF.
//!
//! # What the streams know
//!
//! The streams know the verdict of a line exactly and count it in bulk, or they list it and say nothing else about it. Few facts
//! decide for all grammars except the draft of 1993 and RFC 1738. On lines that are counted in bulk, the grammars refuse in a fixed
//! order. If RFC 1808 refuses a line (for a "~"), RFC 1738 refuses it too. If RFC 1738 refuses a line, the draft refuses it too.
//!
//! Lines of the four schemes and relative references are counted in bulk. ARCHITECTURE.md names the exceptions ("The engine"). With
//! [`Halves`], a line is also listed if the WHATWG parser may find an error in the host or the port.
//!
//! This file knows the grammars. It knows no files, threads or tallies.

use crate::simd::Word;
use crate::simd::byte_class::Classes;
use urlsift_grammar::defect::Cause;

/// How many words each step carries into the next, not counting rare features.
const SLOTS: usize = 22;
/// How many of these are for line starts.
const BEGINNING_SLOTS: usize = 2;
/// How many more words each rare feature carries: CRs, the schemes ftp and file, relative references, hosts that
/// begin with a digit, ports, percent escapes, and those below 0x10.
const CR_SLOTS: usize = 1;
const FTP_FILE_SLOTS: usize = 8;
const RELATIVE_SLOTS: usize = 3;
const NUMBER_SLOTS: usize = 5;
const PORT_SLOTS: usize = 18;
const ESCAPE_SLOTS: usize = 5;
const LOW_ESCAPE_SLOTS: usize = 2;
/// How many more words are carried where defects are found.
const DEFECT_SLOTS: usize = 9;

/// The words that one step carries into the next. Each operation that needs a carry has a slot. Slots are numbered in
/// the order of the calls, which is the same in every step.
struct Flow<'a, W> {
    slots: &'a mut [W],
    at: usize,
}

impl<'a, W: Word> Flow<'a, W> {
    #[inline(always)]
    fn new(slots: &'a mut [W]) -> Self {
        Self { slots, at: 0 }
    }

    #[inline(always)]
    fn slot(&mut self) -> &mut W {
        self.at += 1;
        &mut self.slots[self.at - 1]
    }

    /// Moves every bit to the next byte.
    #[inline(always)]
    fn moved(&mut self, word: W) -> W {
        let before = std::mem::replace(self.slot(), word.going_on());
        word.moved(before)
    }

    /// Adds `markers` to `class`. In the sum, the class bytes that a marker ran over are clear, and the first byte
    /// after each run is set. At most one marker may run over a byte.
    #[inline(always)]
    fn sum(&mut self, markers: W, class: W) -> W {
        let carry = self.slot();
        let sum = (markers | *carry).plus(class);
        // A run over the last byte is carried.
        *carry = (class & !sum).top();
        sum
    }

    /// For each marker, the first byte at or after it that is not in `class`.
    #[inline(always)]
    fn behind(&mut self, markers: W, class: W) -> W {
        self.sum(markers, class) & !class
    }

    /// Runs through `class` from the byte after each of `marks`, and returns the sum. In the sum, the class bytes that
    /// were run over are clear, and the first byte after each run is set.
    #[inline(always)]
    fn sum_behind(&mut self, marks: W, class: W) -> W {
        let before = self.slot();
        let sum = marks.moved(*before).plus(class);
        // A mark at the last byte and a run over it are both carried.
        *before = (marks | (class & !sum)).going_on();
        sum
    }

    /// For each LF, whether its line has a bit in `marks`, the LF included. A line may have many marks. The first one
    /// carries into the LF. The others add up to less than the bits of the line, so they do not carry again.
    #[inline(always)]
    fn line_end(&mut self, marks: W, newline: W) -> W {
        self.line_end_behind(marks & !newline, newline) | (marks & newline)
    }

    /// Like [`Self::line_end`], for marks that are never at an LF.
    #[inline(always)]
    fn line_end_behind(&mut self, marks: W, newline: W) -> W {
        self.runs(marks, !newline).0 & newline
    }

    /// Runs through `class` from each of `marks`, which are in `class`. A run may meet more marks. Returns the sum and these
    /// later marks. In the sum, the first byte after each run and the later marks are set. The other bytes of runs are clear.
    #[inline(always)]
    fn runs(&mut self, marks: W, class: W) -> (W, W) {
        let slot = self.slot();
        let carry = *slot;
        let inside = marks | carry;
        let sum = inside.plus(class);
        *slot = ((inside | !sum) & class).top();
        (sum, marks & (sum | carry))
    }

    /// Takes a stream with at most one marker per line, before the LF. Returns two streams: the LFs of lines with a
    /// marker, and all bytes of these lines from the marker to the LF.
    #[inline(always)]
    fn line_end_and_reach(&mut self, marker: W, newline: W) -> (W, W) {
        let sum = self.sum(marker, !newline);
        (sum & newline, sum ^ !newline)
    }
}

/// Everything that one step carries into the next.
pub struct Carried<W> {
    slots: [W; SLOTS],
    cr: Rare<W, CR_SLOTS>,
    ftp_file: Rare<W, FTP_FILE_SLOTS>,
    relative: Rare<W, RELATIVE_SLOTS>,
    number: Rare<W, NUMBER_SLOTS>,
    port: Rare<W, PORT_SLOTS>,
    escape: EscapeCarries<W>,
    defect: [W; DEFECT_SLOTS],
    /// If it is there, lines are listed unless scheme and host make them WHATWG-valid.
    halves: Option<Halves<W>>,
}

/// The first and the last bits of the halves of a word.
#[derive(Clone, Copy)]
pub struct Halves<W> {
    pub first: W,
    pub last: W,
}

impl<W: Word> Halves<W> {
    /// The last bit of each half that is full. Behind a full half, it may also be that of one that lacks only its first bit.
    #[inline(always)]
    fn full(self, word: W) -> W {
        // The carry of the addition clears the last bit.
        word & !word.plus(self.first) & self.last
    }
}

/// What steps carry for percent escapes.
struct EscapeCarries<W> {
    all: Rare<W, ESCAPE_SLOTS>,
    /// For those below 0x10.
    low: Rare<W, LOW_ESCAPE_SLOTS>,
    /// Whether steps look for escapes without checking that there are any.
    habit: Habit,
}

impl<W: Word> Carried<W> {
    /// The carries before the first step. Each lane begins at a line start, as if an LF came before it. With `halves`, lines are listed
    /// unless scheme and host make them WHATWG-valid.
    pub fn new(zero: W, last_bit: W, halves: Option<Halves<W>>) -> Self {
        let mut slots = [zero; SLOTS];
        slots[0] = last_bit.going_on();
        Self {
            slots,
            cr: Rare::new(zero),
            ftp_file: Rare::new(zero),
            relative: Rare::new(zero),
            number: Rare::new(zero),
            port: Rare::new(zero),
            escape: EscapeCarries { all: Rare::new(zero), low: Rare::new(zero), habit: Habit::default() },
            defect: [zero; DEFECT_SLOTS],
            halves,
        }
    }

    /// How many steps had a host that begins with a digit, or an escape below 0x10.
    pub fn n_rare(&self) -> u64 {
        self.number.times + self.escape.low.times
    }

    /// Decides what the next stripe does without a check, after a stripe of `n_steps`.
    pub fn look_back(&mut self, n_steps: usize) {
        // Steps that skip the check do not update `alive`, so a carry may be pending.
        let EscapeCarries { all, habit, .. } = &mut self.escape;
        all.alive |= habit.is_on();
        habit.look_back(n_steps);
    }
}

/// Whether steps do some common work without checking that they need it. A branch that half of the steps take without a
/// pattern costs more than the work.
#[derive(Default)]
struct Habit {
    /// How many steps have done the work since the last decision.
    times: usize,
    /// For how many more stripes the work is done without a check.
    stripes: usize,
}

/// How many stripes a [`Habit`] lasts before steps check again.
pub const HABIT_LASTS: usize = 15;

impl Habit {
    #[inline(always)]
    fn is_on(&self) -> bool {
        self.stripes > 0
    }

    /// Decides for the next stripe, after a stripe of `n_steps`.
    fn look_back(&mut self, n_steps: usize) {
        let is_common = self.times > n_steps / 3;
        self.stripes = match self.stripes {
            0 if is_common => HABIT_LASTS,
            stripes => stripes.saturating_sub(1),
        };
        self.times = 0;
    }
}

/// The carries of a feature that most lists do not have. A step skips the logic of the feature if it has none of its
/// bytes and no carry is pending. The slots then keep their words. These have no bit at a border, so they carry nothing
/// into a later step.
struct Rare<W, const N: usize> {
    slots: [W; N],
    alive: bool,
    /// How many steps had the feature.
    times: u64,
}

impl<W: Word, const N: usize> Rare<W, N> {
    fn new(zero: W) -> Self {
        Self { slots: [zero; N], alive: false, times: 0 }
    }

    /// Counts a step with the feature, and notes whether a carry is pending. A moved word carries its last bit, stored as
    /// the last or the first bit. A sum stores its carry as the first bit.
    #[inline(always)]
    fn look(&mut self) {
        self.times += 1;
        self.alive = self.slots[1..].iter().fold(self.slots[0], |all, &slot| all | slot).is_at_border();
    }
}

/// What one step knows of the lines that end in it, as bits at their LFs.
pub struct Ends<W> {
    pub newline: W,
    /// The line ends in CR.
    pub cr: W,
    /// The line is empty.
    pub blank: W,
    /// The scheme is http, not https.
    pub http: W,
    pub ftp: W,
    pub file: W,
    /// The line has no scheme.
    pub relative: W,
    /// RFC 1808 refuses the line. RFC 1738 and the draft refuse it too.
    pub tilde: W,
    /// RFC 1738 refuses the line if it has a scheme. The draft refuses it too.
    pub refused_1738: W,
    /// The draft refuses the line if its scheme is http or ftp.
    pub refused_draft: W,
    /// The line is listed. Unless defects are asked for, so is each line that no grammar accepts.
    pub listed: W,
    /// Empty if defects are not asked for.
    pub defects: Defects<W>,
    /// The line has an escaped delimiter of http and https.
    pub delimiter: W,
    /// Rarer advisories; `None` if no line has one.
    pub advised: Option<Advised<W>>,
}

/// The lines with a rare advisory, as bits at their LFs.
#[derive(Clone, Copy)]
pub struct Advised<W> {
    /// The line has an escaped NUL, TAB, LF or CR.
    pub control: W,
    /// The line has a port that is not the default of its scheme, http or https.
    pub port: W,
    /// The line has such a port below 1024.
    pub reserved_port: W,
}

/// The lines that no grammar accepts, with the first byte that RFC 3986 refuses in each. All are bits at the LFs of lines.
#[derive(Clone, Copy)]
pub struct Defects<W> {
    /// No grammar accepts the line.
    pub any: W,
    /// The place of the cause in [`CAUSES`], in bits, the lowest first. It is 7 if the cause is not there.
    pub cause: [W; 3],
    /// The byte is in the query.
    pub query: W,
    /// The byte is in the fragment.
    pub fragment: W,
}

/// The causes of the defects that the streams find.
pub const CAUSES: [Cause; 6] = [
    Cause::NonAscii,
    Cause::Space,
    Cause::ControlByte,
    Cause::IllegalCharacter,
    Cause::BadEscape,
    Cause::CharacterNotAllowed,
];

/// The line starts of a step.
#[derive(Clone, Copy)]
pub struct Beginnings<W> {
    newline: W,
    /// The first byte of each line.
    start: W,
    /// The first byte of each line that is not a scheme character.
    first_other: W,
    /// The bytes of `first_other` that make their line relative: neither a ":" nor the LF of an empty line.
    first_segment: W,
    /// An "f" at a line start, which may begin "ftp" or "file".
    f: W,
}

/// Finds the line starts of a step. Also returns whether the step needs the general logic, for CRs, ftp, file or
/// relative references.
#[inline(always)]
pub fn begin<W: Word>(c: impl Classes<W>, carried: &mut Carried<W>) -> (Beginnings<W>, bool) {
    let mut flow = Flow::new(&mut carried.slots[..BEGINNING_SLOTS]);
    let newline = c.newline();
    let start = flow.moved(newline);
    let first_other = flow.behind(start, c.scheme());
    let first_segment = first_other & !(c.colon() | (start & newline));
    let f = start & c.f();
    debug_assert_eq!(flow.at, BEGINNING_SLOTS);
    let other = carried.cr.alive | carried.ftp_file.alive | carried.relative.alive;
    (Beginnings { newline, start, first_other, first_segment, f }, other | (first_segment | f | c.cr()).any())
}

/// The reach of each scheme: the bytes of its lines from the ":" after the scheme to the LF.
#[derive(Clone, Copy)]
struct Reaches<W> {
    http: W,
    ftp: W,
    file: W,
}

impl<W: Word> Reaches<W> {
    /// The lines of all three.
    #[inline(always)]
    fn own_rule(self) -> W {
        self.http | self.ftp | self.file
    }

    /// Judges the bytes `at` which a host or port ends. Returns three streams: where RFC 1738 and the draft refuse the
    /// line, where the draft refuses it, and where it is listed. In ftp, a "?" there may belong to a login.
    #[inline(always)]
    fn behind_authority(self, at: W, c: impl Classes<W>) -> (W, W, W) {
        let question = at & c.question();
        let no_path = at & !c.slash();
        ((question & self.http) | (no_path & self.file), no_path & self.ftp, question & self.ftp)
    }
}

/// Bytes that decide what becomes of their line. Each part of a step adds to them.
struct Marks<W> {
    /// The line is listed.
    listed: W,
    /// All grammars refuse the line.
    violation: W,
    /// RFC 1738 and the draft refuse the line if it has a scheme.
    refused_both: W,
    /// The draft refuses the line if its scheme is http or ftp.
    refused_by_draft: W,
}

impl<W: Word> Marks<W> {
    /// Adds what [`Reaches::behind_authority`] finds.
    #[inline(always)]
    fn add_behind_authority(&mut self, (refused_both, refused_by_draft, listed): (W, W, W)) {
        self.refused_both = self.refused_both | refused_both;
        self.refused_by_draft = self.refused_by_draft | refused_by_draft;
        self.listed = self.listed | listed;
    }
}

/// Finds the CRs that end lines. A CR is part of the terminator if only CRs and the LF follow it. Returns the bytes that
/// follow a CR.
#[inline(always)]
fn crs<W: Word>(
    c: impl Classes<W>,
    start: W,
    end: W,
    carried: &mut Rare<W, CR_SLOTS>,
    marks: &mut Marks<W>,
) -> W {
    let mut flow = Flow::new(&mut carried.slots);
    let behind_cr = flow.moved(c.cr());
    marks.listed = marks.listed | (behind_cr & !end) | (start & c.cr());
    debug_assert_eq!(flow.at, CR_SLOTS);
    carried.look();
    behind_cr
}

/// The ends of "http" and "https" at line starts: the ":" after each.
#[inline(always)]
fn http_ends<W: Word>(c: impl Classes<W>, start: W, flow: &mut Flow<'_, W>) -> (W, W) {
    let h = flow.moved(start & c.h());
    let ht = flow.moved(h & c.t());
    let htt = flow.moved(ht & c.t());
    let http = flow.moved(htt & c.p());
    let https = flow.moved(http & c.s()) & c.colon();
    (http & c.colon(), https)
}

/// What a step knows of one scheme.
#[derive(Clone, Copy)]
struct OneScheme<W> {
    /// The ":" behind each.
    end: W,
    /// The LFs of its lines.
    lines: W,
    reach: W,
}

/// Finds "ftp" and "file". `f` is an "f" at a line start.
#[inline(always)]
fn ftp_file<W: Word>(
    c: impl Classes<W>,
    f: W,
    newline: W,
    carried: &mut Rare<W, FTP_FILE_SLOTS>,
) -> [OneScheme<W>; 2] {
    let mut flow = Flow::new(&mut carried.slots);
    let f = flow.moved(f);
    let ft = flow.moved(f & c.t());
    let ftp_end = flow.moved(ft & c.p()) & c.colon();
    let fi = flow.moved(f & c.i());
    let fil = flow.moved(fi & c.l());
    let file_end = flow.moved(fil & c.e()) & c.colon();
    let (ftp, in_ftp) = flow.line_end_and_reach(ftp_end, newline);
    let (file, in_file) = flow.line_end_and_reach(file_end, newline);
    debug_assert_eq!(flow.at, FTP_FILE_SLOTS);
    carried.look();
    [
        OneScheme { end: ftp_end, lines: ftp, reach: in_ftp },
        OneScheme { end: file_end, lines: file, reach: in_file },
    ]
}

/// Finds the lines without a scheme, as bits at their LFs. Listed are those with a ":" in the first segment, with a
/// query but no path, or with "//" at the start.
#[inline(always)]
fn relative<W: Word>(
    c: impl Classes<W>,
    Beginnings { newline, start, first_segment, .. }: Beginnings<W>,
    carried: &mut Rare<W, RELATIVE_SLOTS>,
    marks: &mut Marks<W>,
) -> W {
    let mut flow = Flow::new(&mut carried.slots);
    let relative = flow.sum(first_segment, !newline) & newline;
    let segment_end = flow.behind(first_segment, !(c.delimiter() | newline));
    let second_slash = flow.moved(start & c.slash());
    marks.listed =
        marks.listed | (segment_end & c.colon()) | (start & c.question()) | (second_slash & c.slash());
    debug_assert_eq!(flow.at, RELATIVE_SLOTS);
    carried.look();
    relative
}

/// What a step knows of hosts.
struct Hosts<W> {
    /// The first byte of each authority.
    authority: W,
    /// The byte after each host.
    host_end: W,
    /// The ":" after each host.
    port_colon: W,
    /// Labels that RFC 1738 refuses.
    bad_label: W,
    /// The first byte of each host that begins with a digit.
    digit_start: W,
    /// The byte after each host whose last label begins with a digit. RFC 1738 accepts only numbers of these.
    digit_label_end: W,
}

/// Finds the hosts. "//" and a plain host must follow a scheme. With file, the host may be empty if a "/" follows. All
/// other lines are listed.
#[inline(always)]
fn hosts<W: Word>(
    c: impl Classes<W>,
    (scheme_end, end): (W, W),
    reaches: Reaches<W>,
    halves: Option<Halves<W>>,
    flow: &mut Flow<'_, W>,
    marks: &mut Marks<W>,
) -> Hosts<W> {
    let behind_scheme = flow.moved(scheme_end);
    let second_slash = flow.moved(behind_scheme & c.slash());
    let authority = flow.moved(second_slash & c.slash());
    marks.listed = marks.listed | ((behind_scheme | second_slash) & !c.slash());
    marks.listed = marks.listed | (authority & !c.host() & !(reaches.file & c.slash()));
    let host_sum = flow.sum(authority, c.host());
    let host_end = host_sum & !c.host();
    let in_host = c.host() & !host_sum;
    let port_colon = host_end & c.colon();
    marks.listed = marks.listed | (host_end & !(c.delimiter() | end)) | (port_colon & reaches.file);

    // RFC 1738 hosts: each label begins and ends with a letter or digit, and the last label begins with a letter; or the
    // host is a number. The draft has no labels: a name begins with a letter.
    let label_marks = in_host & c.hyphen_dot();
    let behind_mark = flow.moved(label_marks);
    let dots = in_host & c.dot();
    let behind_dot = flow.moved(dots);
    let bad_label = (behind_mark & (dots | host_end)) | (label_marks & (authority | behind_dot));
    let digit_label_end = flow.behind((authority | behind_dot) & c.digit(), c.host() & !c.dot()) & host_end;
    let digit_start = authority & c.digit();
    if let Some(halves) = halves {
        // No two of "-" and "." in a row: this includes "--" at the third and fourth byte of a label.
        let not_plain = bad_label | digit_label_end | (behind_mark & label_marks);
        marks.listed = marks.listed | not_plain;
        if halves.full(in_host).any() {
            marks.listed = marks.listed | long_hosts(in_host, dots, halves);
        }
    }
    Hosts { authority, host_end, port_colon, bad_label, digit_start, digit_label_end }
}

/// Marks hosts that may have a label of more than 63 bytes, or more than 253 bytes. Such a label fills half of a word. Such a host fills
/// a word.
#[inline(always)]
fn long_hosts<W: Word>(in_host: W, dots: W, halves: Halves<W>) -> W {
    // The last bit of a word is carried out of its first bit only if the word is full.
    let full = in_host & !in_host.plus(in_host.top());
    halves.full(in_host & !dots) | full.top()
}

/// Judges hosts that begin with a digit. Returns the bytes after hosts that are numbers: four rows of digits with a "." between. If
/// a row is empty, the host has a bad label too.
#[inline(always)]
fn number_ends<W: Word>(
    c: impl Classes<W>,
    digit_start: W,
    carried: &mut Rare<W, NUMBER_SLOTS>,
    marks: &mut Marks<W>,
) -> W {
    let mut flow = Flow::new(&mut carried.slots);
    let mut end = flow.behind(digit_start, c.digit());
    for _ in 1..4 {
        end = flow.sum_behind(end & c.dot(), c.digit()) & !c.digit();
    }
    let number_end = end & !c.host();
    marks.refused_by_draft = marks.refused_by_draft | (flow.behind(digit_start, c.host()) & !number_end);
    debug_assert_eq!(flow.at, NUMBER_SLOTS);
    carried.look();
    number_end
}

/// What a step knows of ports.
struct Ports<W> {
    /// As [`Advised::port`].
    other: W,
    /// As [`Advised::reserved_port`].
    reserved: W,
}

/// Judges ports. With `halves`, lines with a port of more than four digits are listed.
#[inline(always)]
fn ports<W: Word>(
    c: impl Classes<W>,
    port_colon: W,
    (newline, end): (W, W),
    reaches: Reaches<W>,
    halves: Option<Halves<W>>,
    carried: &mut Rare<W, PORT_SLOTS>,
    marks: &mut Marks<W>,
) -> Ports<W> {
    let mut flow = Flow::new(&mut carried.slots);
    let port = flow.moved(port_colon);
    let empty_port = port & !c.digit();
    let port_end = flow.behind(port, c.digit());
    marks.refused_both = marks.refused_both | (empty_port & reaches.own_rule());
    marks.refused_by_draft = marks.refused_by_draft | empty_port;
    marks.listed = marks.listed | (port_end & !((c.delimiter() & !c.colon()) | end));
    marks.add_behind_authority(reaches.behind_authority(port_end, c));
    let second = flow.moved(port & c.digit());
    let third = flow.moved(second & c.digit());
    let fourth = flow.moved(third & c.digit());
    // A port of up to three digits is reserved, unless it is the default of its scheme.
    let short_end = port_end & (second | third | fourth);
    let eight = flow.moved(port & c.eight());
    let end_80 = flow.moved(eight & c.zero());
    let four = flow.moved(port & c.four());
    let four_four = flow.moved(four & c.four());
    let end_443 = flow.moved(four_four & c.three());
    let default = (end_80 & reaches.http) | (end_443 & !reaches.own_rule());
    // 1000 to 1023 are reserved too.
    let one = flow.moved(port & c.one());
    let one_zero = flow.moved(one & c.zero());
    let below_1020 = flow.moved(one_zero & c.zero_to_two() & !c.two_three());
    let below_1030 = flow.moved(one_zero & c.zero_to_two() & c.two_three());
    let below_1024 = (below_1020 & c.digit()) | (below_1030 & (c.zero_to_two() | c.three()));
    let low_end = port_end & flow.moved(below_1024);
    marks.listed = marks.listed | (port & c.zero());
    let other = flow.line_end(port_end & !(empty_port | default), newline);
    let reserved = flow.line_end((short_end & !default) | low_end, newline);
    if halves.is_some() {
        let fifth = flow.moved(fourth & c.digit());
        marks.listed = marks.listed | (fifth & c.digit());
    }
    debug_assert_eq!(flow.at, PORT_SLOTS - usize::from(halves.is_none()));
    carried.look();
    Ports { other, reserved }
}

/// What a step knows of percent escapes.
struct Escapes<W> {
    /// As [`Ends::delimiter`].
    delimiter: W,
    /// As [`Advised::control`]; `None` if no line has one.
    control: Option<W>,
    /// The bytes that break an escape.
    broken: W,
}

/// Judges percent escapes. In http and https, escapes of "/" ";" "?" (%2F %3B %3F) are noteworthy, and those that [`low_escapes`]
/// finds. In ftp, all are. Without `RARE`, lines with an escape below 0x10 are listed.
#[inline(always)]
fn escapes<W: Word, const RARE: bool>(
    c: impl Classes<W>,
    newline: W,
    in_ftp: W,
    zero: W,
    carried: &mut EscapeCarries<W>,
    marks: &mut Marks<W>,
) -> Escapes<W> {
    let mut escapes = Escapes { delimiter: zero, control: None, broken: zero };
    let mut low = zero;
    if carried.habit.is_on() || carried.all.alive | c.percent().any() {
        carried.habit.times += 1;
        (escapes, low) = all_escapes(c, newline, in_ftp, &mut carried.all, marks);
        if !carried.habit.is_on() {
            carried.all.look();
        }
    }
    if !RARE {
        marks.listed = marks.listed | low;
    } else if carried.low.alive | low.any() {
        escapes.control = Some(low_escapes(c, low, newline, &mut carried.low));
    }
    escapes
}

/// Judges all percent escapes, without [`Escapes::control`]. Also returns the first digits of those below 0x10.
#[inline(always)]
fn all_escapes<W: Word>(
    c: impl Classes<W>,
    newline: W,
    in_ftp: W,
    carried: &mut Rare<W, ESCAPE_SLOTS>,
    marks: &mut Marks<W>,
) -> (Escapes<W>, W) {
    let percent = c.percent();
    let mut flow = Flow::new(&mut carried.slots);
    let escape = flow.moved(percent);
    let escape_second = flow.moved(escape & c.hex());
    let broken = (escape | escape_second) & !c.hex();
    marks.violation = marks.violation | broken;
    let two_three = flow.moved(escape & c.two_three());
    let three = flow.moved(escape & c.three());
    let of_delimiter = (two_three & c.f()) | (three & c.b());
    marks.listed = marks.listed | (percent & in_ftp);
    let delimiter = flow.line_end_behind(of_delimiter, newline);
    debug_assert_eq!(flow.at, ESCAPE_SLOTS);
    (Escapes { delimiter, control: None, broken }, escape & c.zero())
}

/// Finds the escapes of NUL, TAB, LF and CR (%00 %09 %0A %0D) among those below 0x10. Returns [`Advised::control`].
#[inline(always)]
fn low_escapes<W: Word>(
    c: impl Classes<W>,
    low: W,
    newline: W,
    carried: &mut Rare<W, LOW_ESCAPE_SLOTS>,
) -> W {
    let mut flow = Flow::new(&mut carried.slots);
    let of_control = flow.moved(low) & c.control_digit();
    let control = flow.line_end_behind(of_control, newline);
    debug_assert_eq!(flow.at, LOW_ESCAPE_SLOTS);
    carried.look();
    control
}

/// The bytes of a step that some grammar refuses.
struct Refused<W> {
    /// No grammar accepts a line with one of these.
    violation: W,
    broken_escape: W,
    second_hash: W,
    /// The sum of the runs behind the first "#" of each line.
    hash_sum: W,
}

/// Finds the first byte that RFC 3986 refuses in each line that no grammar accepts. It is a violation, a quote or a bracket. (If a
/// quote or bracket is in an authority, its line is listed.) Also returns the lines that have any of these.
#[inline(always)]
fn defects<W: Word>(
    c: impl Classes<W>,
    newline: W,
    Refused { violation, broken_escape, second_hash, hash_sum }: Refused<W>,
    slots: &mut [W; DEFECT_SLOTS],
) -> (Defects<W>, W) {
    let mut flow = Flow::new(slots);
    let before_hash = !(c.hash() | newline);
    // An LF counts as a byte of its line.
    let in_fragment = (before_hash & !hash_sum) | (newline & hash_sum) | second_hash;
    let (query_sum, later_question) = flow.runs(c.question(), before_hash);
    // If "?" or "#" breaks an escape, the defect is in the component that the byte ends.
    let in_query = (before_hash & !(query_sum | c.question())) | later_question | (query_sum & !before_hash);
    let in_query = in_query & !in_fragment;
    let any = flow.line_end(violation, newline);
    let refused = violation | c.odd();
    let (sum, later) = flow.runs(refused & !newline, !newline);
    // A violation at the LF is an escape that has not ended.
    let first = (refused & !later) & !(newline & sum);
    let escape = first & broken_escape;
    let other = first & !broken_escape;
    let not_allowed = other & (second_hash | (c.odd() & !c.quote()));
    let illegal = other & !(c.space() | c.control() | c.non_ascii() | not_allowed);
    // The fragment between two hashes is missing. This has no place in `CAUSES`.
    let missing = first & second_hash & flow.moved(c.hash());
    let mut end = |marks: W| flow.line_end(marks, newline);
    let cause = [
        end((other & c.space()) | illegal | not_allowed),
        end((other & c.control()) | illegal | missing),
        end(escape | not_allowed),
    ];
    let (query, fragment) = (end(first & in_query), end(first & in_fragment));
    debug_assert_eq!(flow.at, DEFECT_SLOTS);
    (Defects { any, cause, query, fragment }, (sum & newline) | any)
}

/// The rest of a step: 64 bytes of each lane. Without `OTHER`, all lines of the step have a scheme other than ftp and
/// file, and no CR. Most of the logic for other lines is then left out. Without `RARE`, lines with a host that is a number
/// or an escape below 0x10 are listed. With `DEFECTS`, lines that no grammar accepts are in
/// [`Ends::defects`] instead of [`Ends::listed`].
#[inline(always)]
pub fn finish<W: Word, const OTHER: bool, const RARE: bool, const DEFECTS: bool>(
    c: impl Classes<W>,
    zero: W,
    beginnings: Beginnings<W>,
    carried: &mut Carried<W>,
) -> Ends<W> {
    let mut flow = Flow::new(&mut carried.slots[BEGINNING_SLOTS..]);
    let Beginnings { newline, start, first_other, first_segment, f } = beginnings;
    let (end, halves) = (if OTHER { c.end() } else { newline }, carried.halves);
    // Illegal bytes are needed last. If they were computed there, their inputs would be spilled until then.
    let (odd, violation) = (c.odd(), c.illegal().made());
    let listed = if DEFECTS { zero } else { odd };
    let mut marks = Marks { listed, violation, refused_both: zero, refused_by_draft: zero };

    let mut behind_cr = zero;
    if OTHER && carried.cr.alive | c.cr().any() {
        behind_cr = crs(c, start, end, &mut carried.cr, &mut marks);
    }

    let scheme_end = first_other & c.colon() & !start;
    let (http_end, https_end) = http_ends(c, start, &mut flow);
    let mut ftp_and_file = [OneScheme { end: zero, lines: zero, reach: zero }; 2];
    if OTHER && carried.ftp_file.alive | f.any() {
        ftp_and_file = ftp_file(c, f, newline, &mut carried.ftp_file);
    }
    let [ftp, file] = ftp_and_file;
    let known = (http_end | https_end) | (ftp.end | file.end);
    let (ftp, in_ftp, file, in_file) = (ftp.lines, ftp.reach, file.lines, file.reach);
    marks.listed = marks.listed | (scheme_end & !known);
    let (http, in_http) = flow.line_end_and_reach(http_end, newline);
    let reaches = Reaches { http: in_http, ftp: in_ftp, file: in_file };

    marks.listed = marks.listed | (start & c.colon());
    let mut no_scheme = zero;
    if OTHER && carried.relative.alive | first_segment.any() {
        no_scheme = relative(c, beginnings, &mut carried.relative, &mut marks);
    }

    let Hosts { authority, host_end, port_colon, bad_label, digit_start, digit_label_end } =
        hosts(c, (scheme_end, end), reaches, halves, &mut flow, &mut marks);

    // Query and fragment.
    let behind_question = flow.moved(c.question());
    let search_end = flow.behind(behind_question, !(c.slash_question() | newline));
    let mark_in_search = search_end & c.slash_question() & in_http;
    let hash_sum = flow.sum_behind(c.hash(), !(c.hash() | newline));
    let second_hash = hash_sum & c.hash();

    // What each grammar refuses, except in ports and escapes.
    marks.violation = marks.violation | second_hash;
    marks.refused_both = c.hash() | mark_in_search | (bad_label & reaches.own_rule());
    let draft_mark = c.semicolon_equals() | (c.colon() & !scheme_end & !port_colon);
    marks.refused_by_draft = (draft_mark & (in_http | in_ftp))
        | (behind_question & end & in_http)
        | c.hash()
        | mark_in_search
        | (c.question() & in_ftp)
        | (authority & !c.alpha() & !if RARE { digit_start } else { zero });
    marks.listed = marks.listed | (c.semicolon() & (in_ftp | in_file));
    marks.add_behind_authority(reaches.behind_authority(host_end & !c.colon(), c));

    // Lines of ftp and file and relative references are listed if they have an advisory.
    let other_schemes = ftp | file | no_scheme;
    let mut advised = None;
    let mut bad_number = digit_label_end & reaches.own_rule();
    if RARE && carried.number.alive | digit_start.any() {
        bad_number = bad_number & !number_ends(c, digit_start, &mut carried.number, &mut marks);
    }
    if carried.port.alive | port_colon.any() {
        let found = ports(c, port_colon, (newline, end), reaches, halves, &mut carried.port, &mut marks);
        marks.listed = marks.listed | (found.other & other_schemes);
        advised = Some(Advised { control: zero, port: found.other, reserved_port: found.reserved });
    }
    let of_number = if RARE { &mut marks.refused_both } else { &mut marks.listed };
    *of_number = *of_number | bad_number;
    let Escapes { delimiter, control, broken: broken_escape } =
        escapes::<_, RARE>(c, newline, in_ftp, zero, &mut carried.escape, &mut marks);
    marks.listed = marks.listed | (delimiter & other_schemes);
    if let Some(control) = control {
        marks.listed = marks.listed | (control & other_schemes);
        let none = Advised { control: zero, port: zero, reserved_port: zero };
        advised = Some(Advised { control, ..advised.unwrap_or(none) });
    }

    let tilde = flow.line_end_behind(c.tilde(), newline);
    let refused_1738 = flow.line_end(marks.refused_both, newline);
    let refused_draft = flow.line_end(marks.refused_by_draft, newline);
    // Lines that break the fixed order: RFC 1738 refuses them, but the draft does not.
    marks.listed = marks.listed | (refused_1738 & !(refused_draft | tilde) & (http | ftp));
    let listed = if DEFECTS { marks.listed } else { marks.listed | marks.violation };
    let listed = flow.line_end(listed, newline);
    debug_assert_eq!(flow.at, SLOTS - BEGINNING_SLOTS);
    let (found, lines) = if DEFECTS {
        let refused = Refused { violation: marks.violation, broken_escape, second_hash, hash_sum };
        defects(c, newline, refused, &mut carried.defect)
    } else {
        (Defects { any: zero, cause: [zero; 3], query: zero, fragment: zero }, zero)
    };
    // Lines with a quote or a bracket that some grammar may accept are listed.
    let listed = listed | (lines & !found.any);
    Ends {
        newline,
        cr: behind_cr & newline,
        blank: start & newline,
        http,
        ftp,
        file,
        relative: no_scheme,
        tilde,
        refused_1738: refused_1738 | tilde,
        refused_draft: refused_draft | refused_1738 | tilde,
        listed,
        defects: found,
        delimiter,
        advised,
    }
}
