//! Lanes of class streams to verdicts of plain lines, for all lines of 64 bytes of every lane at once.
//!
//! Bit-parallel parsing (Cameron and others, "Bitwise data parallelism in regular expression matching", PACT 2014). A
//! *stream* has one bit per byte. A *marker* is a bit at a place of interest; it moves to the next byte by a shift, and runs
//! through a class by addition: `(marker + class) & !class` is the first byte after the run. What leaves the 64 bytes of a
//! word at its end goes on in the next one ([`Flow`]). So the logic never stops at a line, nor looks at one:
//!
//! - the line start runs through scheme characters; a ":" there makes the line absolute; "http", "https", "ftp" and "file" are
//!   matched by moving markers over their letters;
//! - behind "://" a marker runs through plain host characters, then maybe through the digits of a port;
//! - what a grammar refuses sets a bit in a violation stream, and adding that stream to the stream of all bytes but LF carries
//!   it to the LF that ends the line: one bit per line, in the same place for all facts of a line.
//!
//! What is true of an http line only is asked for by the *reach* of the marker behind "http": all bytes from there to the LF.
//!
//! Of each line the streams know the verdict exactly, or call it *hard*: then nothing else is said of it. All grammars
//! here but the draft of 1993 and RFC 1738 come down to few facts, and on lines that are not hard they refuse in a fixed order:
//! what RFC 1808 refuses (a "~"), RFC 1738 refuses too, and what that refuses, so does the draft. Lines of the four schemes
//! and relative ones are counted here. *Listed* lines are handed on with their verdict or as hard: those that the chosen grammar
//! refuses, those with something to attend to (an unusual port, an escape that may be noteworthy, a scheme without a name here), and
//! the hard ones.
//!
//! Knows the grammars and no files, threads or tallies.

use crate::simd::Word;
use crate::simd::byte_class::Classes;

/// How many words go from each step to the next.
const SLOTS: usize = 22;
/// Those of them that are for how lines begin.
const BEGINNING_SLOTS: usize = 2;
/// How many more do for CRs, for lines of ftp and file and without a scheme, for ports and for percent escapes.
const CR_SLOTS: usize = 1;
const FTP_FILE_SLOTS: usize = 8;
const RELATIVE_SLOTS: usize = 3;
const PORT_SLOTS: usize = 13;
const ESCAPE_SLOTS: usize = 5;

/// What goes from one word of a lane to the next. Each operation that needs it has a slot, by the order of the calls, which
/// is the same in every step.
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

    /// Every bit one byte on.
    #[inline(always)]
    fn moved(&mut self, word: W) -> W {
        let before = std::mem::replace(self.slot(), word.going_on());
        word.moved(before)
    }

    /// The sum of `markers` and `class`: a bit of the class that a marker ran over is clear in it, and the first byte after is
    /// set. A byte may be run over by one marker at most.
    #[inline(always)]
    fn sum(&mut self, markers: W, class: W) -> W {
        let carry = self.slot();
        let sum = (markers | *carry).plus(class);
        // What ran over the last byte goes on.
        *carry = (class & !sum).top();
        sum
    }

    /// For each marker, the first byte at or behind it that is not in `class`.
    #[inline(always)]
    fn behind(&mut self, markers: W, class: W) -> W {
        self.sum(markers, class) & !class
    }

    /// The same from the byte behind each of `marks` on, with what a run leaves behind: its sum. Where a byte of `class` was run over, it
    /// has no bit; the first byte not run over has one.
    #[inline(always)]
    fn sum_behind(&mut self, marks: W, class: W) -> W {
        let before = self.slot();
        let sum = marks.moved(*before).plus(class);
        // What stands or runs over the last byte goes on.
        *before = (marks | (class & !sum)).going_on();
        sum
    }

    /// For each LF, whether `marks` has a bit in its line, the LF included. There may be many in a line: the first runs to the
    /// LF, and the others add up to less than the line.
    #[inline(always)]
    fn line_end(&mut self, marks: W, newline: W) -> W {
        self.line_end_behind(marks & !newline, newline) | (marks & newline)
    }

    /// The same of marks none of which is at an LF.
    #[inline(always)]
    fn line_end_behind(&mut self, marks: W, newline: W) -> W {
        let carry = self.slot();
        let inside = marks | *carry;
        let sum = inside.plus(!newline);
        *carry = ((inside | !sum) & !newline).top();
        sum & newline
    }

    /// For a stream with one marker a line at most, before the LF: for each LF, whether its line has one; and all bytes of such
    /// lines from the marker to the LF.
    #[inline(always)]
    fn line_end_and_reach(&mut self, marker: W, newline: W) -> (W, W) {
        let sum = self.sum(marker, !newline);
        (sum & newline, sum ^ !newline)
    }
}

/// All that goes from each step to the next.
pub(crate) struct Carried<W> {
    slots: [W; SLOTS],
    cr: Rare<W, CR_SLOTS>,
    ftp_file: Rare<W, FTP_FILE_SLOTS>,
    relative: Rare<W, RELATIVE_SLOTS>,
    port: Rare<W, PORT_SLOTS>,
    escape: Rare<W, ESCAPE_SLOTS>,
    escape_habit: Habit,
}

impl<W: Word> Carried<W> {
    /// What stands before the first step: each lane begins where a line begins, as behind an LF.
    pub(crate) fn new(zero: W, last_bit: W) -> Self {
        let mut slots = [zero; SLOTS];
        slots[0] = last_bit.going_on();
        Self {
            slots,
            cr: Rare::new(zero),
            ftp_file: Rare::new(zero),
            relative: Rare::new(zero),
            port: Rare::new(zero),
            escape: Rare::new(zero),
            escape_habit: Habit::default(),
        }
    }

    /// Decides what the next stripe does without looking, behind one of `n_steps`.
    pub(crate) fn look_back(&mut self, n_steps: usize) {
        // Those that do not look do not say either whether something goes on.
        self.escape.alive |= self.escape_habit.is_on();
        self.escape_habit.look_back(n_steps);
    }
}

/// Whether steps do some work that many of them need without looking whether they do: a branch that is taken in half of the steps,
/// now here and now there, costs more than the work.
#[derive(Default)]
struct Habit {
    /// How many steps have done the work since this was last decided.
    times: usize,
    /// For how many stripes more it is on.
    stripes: usize,
}

/// How many stripes a [`Habit`] lasts, before steps look again for one.
pub(crate) const HABIT_LASTS: usize = 15;

impl Habit {
    #[inline(always)]
    fn is_on(&self) -> bool {
        self.stripes > 0
    }

    /// Decides on the next stripe, behind one of `n_steps`.
    fn look_back(&mut self, n_steps: usize) {
        let is_common = self.times > n_steps / 3;
        self.stripes = match self.stripes {
            0 if is_common => HABIT_LASTS,
            stripes => stripes.saturating_sub(1),
        };
        self.times = 0;
    }
}

/// Slots of what most lists do not have: when none of them has anything for the next word, and there is nothing new, the work is
/// left out. What is in them then stays, and is nothing to the next word that does the work either.
struct Rare<W, const N: usize> {
    slots: [W; N],
    alive: bool,
}

impl<W: Word, const N: usize> Rare<W, N> {
    fn new(zero: W) -> Self {
        Self { slots: [zero; N], alive: false }
    }

    /// Of words that move the last bit goes on, as their last or as their first, of sums the carry, which is the first.
    #[inline(always)]
    fn look(&mut self) {
        self.alive = self.slots[1..].iter().fold(self.slots[0], |all, &slot| all | slot).is_at_border();
    }
}

/// What one step says of the lines that end in it, by bits at their LFs; and three streams of bytes.
pub(crate) struct Ends<W> {
    pub(crate) newline: W,
    /// The line ends in a CR.
    pub(crate) cr: W,
    /// The line has no byte.
    pub(crate) blank: W,
    pub(crate) http: W,
    pub(crate) ftp: W,
    pub(crate) file: W,
    /// The line has no scheme.
    pub(crate) relative: W,
    /// RFC 1808 refuses it, RFC 1738 and the draft too.
    pub(crate) tilde: W,
    /// RFC 1738 refuses it (if it has a scheme), and the draft too.
    pub(crate) refused_1738: W,
    /// The draft refuses it (if it is of http or ftp).
    pub(crate) refused_draft: W,
    /// The line is hard, has something to attend to, or is refused by all grammars.
    pub(crate) listed: W,
    /// It has an escaped delimiter of http and https.
    pub(crate) delimiter: W,
    /// It has a port that is not the default one of http or https: surely 2000 or more, or reserved.
    pub(crate) port: W,
    /// It has a reserved port: the default one of the other of the two.
    pub(crate) reserved_port: W,
    /// The bytes that may have an advisory.
    pub(crate) noteworthy: W,
    /// The bytes for which a line is hard.
    pub(crate) hard: W,
    /// The bytes for which all grammars refuse a line.
    pub(crate) violation: W,
}

/// How the lines of a step begin.
#[derive(Clone, Copy)]
pub(crate) struct Beginnings<W> {
    newline: W,
    /// Their first bytes.
    start: W,
    /// The first byte of each that is not of a scheme.
    first_other: W,
    /// Those of them that begin or end a line without a scheme, but for ":".
    segment: W,
    /// The "f" that may be of "ftp" or "file".
    f: W,
}

/// The beginning of a step; and whether there is in it more than lines with a scheme that is not ftp or file.
#[inline(always)]
pub(crate) fn begin<W: Word>(c: impl Classes<W>, carried: &mut Carried<W>) -> (Beginnings<W>, bool) {
    let mut flow = Flow::new(&mut carried.slots[..BEGINNING_SLOTS]);
    let newline = c.newline();
    let start = flow.moved(newline);
    let first_other = flow.behind(start, c.scheme());
    let segment = first_other & !(c.colon() | (start & newline));
    let f = start & c.f();
    debug_assert_eq!(flow.at, BEGINNING_SLOTS);
    let other = carried.cr.alive | carried.ftp_file.alive | carried.relative.alive;
    (Beginnings { newline, start, first_other, segment, f }, other | (segment | f | c.cr()).any())
}

/// The bytes of lines of some schemes, from behind the scheme on.
#[derive(Clone, Copy)]
struct Reaches<W> {
    http: W,
    ftp: W,
    file: W,
}

impl<W: Word> Reaches<W> {
    /// Of the bytes `at` which a host or port ends, those for which both RFC 1738 and the draft refuse a line, those for which the draft
    /// does, and those for which it is hard: in ftp, a "?" there may belong to a login.
    #[inline(always)]
    fn behind_authority(self, at: W, c: impl Classes<W>) -> (W, W, W) {
        let question = at & c.question();
        let no_path = at & !c.slash();
        ((question & self.http) | (no_path & self.file), no_path & self.ftp, question & self.ftp)
    }
}

/// The rest of the step: 64 bytes of each lane. Unless `OTHER`, it is known that there is nothing other in it than lines with a
/// scheme that is not ftp or file, and most of the work for those is left out.
#[inline(always)]
#[allow(clippy::too_many_lines, reason = "one derivation, whose parts share most streams")]
pub(crate) fn finish<W: Word, const OTHER: bool>(
    c: impl Classes<W>,
    zero: W,
    beginnings: Beginnings<W>,
    carried: &mut Carried<W>,
) -> Ends<W> {
    let mut flow = Flow::new(&mut carried.slots[BEGINNING_SLOTS..]);
    let Beginnings { newline, start, first_other, segment, f } = beginnings;
    let end = if OTHER { c.end() } else { newline };
    let mut hard = c.odd();
    // It is wanted last. If it were made there, the words that it is made of would be put aside until then.
    let illegal = c.illegal().made();

    // A CR is part of the terminator if only CRs and the LF follow it.
    let mut behind_cr = zero;
    if OTHER && carried.cr.alive | c.cr().any() {
        let mut flow = Flow::new(&mut carried.cr.slots);
        behind_cr = flow.moved(c.cr());
        hard = hard | (behind_cr & !end) | (start & c.cr());
        debug_assert_eq!(flow.at, CR_SLOTS);
        carried.cr.look();
    }

    // The scheme.
    let scheme_end = first_other & c.colon() & !start;
    let h = flow.moved(start & c.h());
    let ht = flow.moved(h & c.t());
    let htt = flow.moved(ht & c.t());
    let http = flow.moved(htt & c.p());
    let https = flow.moved(http & c.s()) & c.colon();
    let http = http & c.colon();
    let (mut ftp, mut in_ftp, mut file, mut in_file) = (zero, zero, zero, zero);
    let mut known = http | https;
    if OTHER && carried.ftp_file.alive | f.any() {
        let mut flow = Flow::new(&mut carried.ftp_file.slots);
        let f = flow.moved(f);
        let ft = flow.moved(f & c.t());
        let ftp_end = flow.moved(ft & c.p()) & c.colon();
        let fi = flow.moved(f & c.i());
        let fil = flow.moved(fi & c.l());
        let file_end = flow.moved(fil & c.e()) & c.colon();
        (ftp, in_ftp) = flow.line_end_and_reach(ftp_end, newline);
        (file, in_file) = flow.line_end_and_reach(file_end, newline);
        debug_assert_eq!(flow.at, FTP_FILE_SLOTS);
        known = known | ftp_end | file_end;
        carried.ftp_file.look();
    }
    let mut attend = scheme_end & !known;
    let (http, in_http) = flow.line_end_and_reach(http, newline);
    let in_ftp_file = in_ftp | in_file;
    let in_own_rule = in_http | in_ftp_file;

    // No scheme: a ":" in the first segment is for the judge, as is a query without a path, and what begins with "//".
    hard = hard | (start & c.colon());
    let mut relative = zero;
    if OTHER && carried.relative.alive | segment.any() {
        let mut flow = Flow::new(&mut carried.relative.slots);
        relative = flow.sum(segment, !newline) & newline;
        let segment_end = flow.behind(segment, !(c.delimiter() | newline));
        let second_slash = flow.moved(start & c.slash());
        hard = hard | (segment_end & c.colon()) | (start & c.question()) | (second_slash & c.slash());
        debug_assert_eq!(flow.at, RELATIVE_SLOTS);
        carried.relative.look();
    }

    // A scheme must be followed by "//", and that by a plain host, or, of file, by nothing and a "/".
    let behind_scheme = flow.moved(scheme_end);
    let second_slash = flow.moved(behind_scheme & c.slash());
    let authority = flow.moved(second_slash & c.slash());
    hard = hard | ((behind_scheme | second_slash) & !c.slash());
    hard = hard | (authority & !c.host() & !(in_file & c.slash()));
    let host_sum = flow.sum(authority, c.host());
    let host_end = host_sum & !c.host();
    let in_host = c.host() & !host_sum;
    let port_colon = host_end & c.colon();
    hard = hard | (host_end & !(c.delimiter() | end)) | (port_colon & in_file);

    // The host as RFC 1738 has it: labels that begin and end with a letter or digit, the last one with a letter. A last
    // label that begins with a digit is an address or wrong.
    let marks = in_host & c.hyphen_dot();
    let behind_mark = flow.moved(marks);
    let dots = in_host & c.dot();
    let behind_dot = flow.moved(dots);
    let bad_label = (behind_mark & (dots | host_end)) | (marks & (authority | behind_dot));
    let digit_label_end = flow.behind((authority | behind_dot) & c.digit(), c.host() & !c.dot());
    hard = hard | (digit_label_end & host_end & in_own_rule);

    // Query and fragment.
    let behind_question = flow.moved(c.question());
    let search_end = flow.behind(behind_question, !(c.slash_question() | newline));
    let mark_in_search = search_end & c.slash_question() & in_http;
    let second_hash = flow.sum_behind(c.hash(), !(c.hash() | newline)) & c.hash();

    // What each grammar refuses, but for ports and escapes.
    let mut violation = illegal | second_hash;
    let mut refused_both = c.hash() | mark_in_search | (bad_label & in_own_rule);
    let draft_mark = c.semicolon_equals() | (c.colon() & !scheme_end & !port_colon);
    let mut refused_by_draft = (draft_mark & (in_http | in_ftp))
        | (behind_question & end & in_http)
        | c.hash()
        | mark_in_search
        | (authority & !c.alpha())
        | (c.question() & in_ftp);
    hard = hard | (c.semicolon() & in_ftp_file);
    let reaches = Reaches { http: in_http, ftp: in_ftp, file: in_file };
    let (refused_there, refused_by_draft_there, hard_there) =
        reaches.behind_authority(host_end & !c.colon(), c);
    refused_both = refused_both | refused_there;
    refused_by_draft = refused_by_draft | refused_by_draft_there;
    hard = hard | hard_there;

    let (mut port, mut other_port, mut reserved_port) = (zero, zero, zero);
    if carried.port.alive | port_colon.any() {
        let mut flow = Flow::new(&mut carried.port.slots);
        port = flow.moved(port_colon);
        let empty_port = port & !c.digit();
        let port_end = flow.behind(port, c.digit());
        let (refused_there, refused_by_draft_there, hard_there) = reaches.behind_authority(port_end, c);
        refused_both = refused_both | (empty_port & in_own_rule) | refused_there;
        refused_by_draft = refused_by_draft | empty_port | refused_by_draft_there;
        hard = hard | (port_end & !((c.delimiter() & !c.colon()) | end)) | hard_there;
        // Four digits or more, the first of them from "2" on: no default of http or https, and not reserved.
        let second = flow.moved(port & c.digit() & !c.zero_one());
        let third = flow.moved(second & c.digit());
        let fourth = flow.moved(third & c.digit());
        let high_end = flow.behind(fourth & c.digit(), c.digit());
        // "80" and "443" are the default of one of the two, and reserved for the other.
        let eight = flow.moved(port & c.eight());
        let default_end = port_end & !in_ftp_file;
        let end_80 = flow.moved(eight & c.zero()) & default_end;
        let four = flow.moved(port & c.four());
        let four_four = flow.moved(four & c.four());
        let end_443 = flow.moved(four_four & c.three()) & default_end;
        let reserved_end = (end_80 & !in_http) | (end_443 & in_http);
        attend = attend | (port_end & !(high_end | end_80 | end_443));
        other_port = flow.line_end(high_end | reserved_end, newline);
        reserved_port = flow.line_end(reserved_end, newline);
        debug_assert_eq!(flow.at, PORT_SLOTS);
        carried.port.look();
    }

    // Percent escapes. Of http and https, those of control bytes and of "/" ";" "?" (%2F %3B %3F) are noteworthy; of ftp, any.
    let percent = c.percent();
    let (mut delimiter, mut noteworthy) = (zero, port);
    if carried.escape_habit.is_on() || carried.escape.alive | percent.any() {
        carried.escape_habit.times += 1;
        let mut flow = Flow::new(&mut carried.escape.slots);
        let escape = flow.moved(percent);
        let escape_second = flow.moved(escape & c.hex());
        violation = violation | ((escape | escape_second) & !c.hex());
        let two_three = flow.moved(escape & c.two_three());
        let three = flow.moved(escape & c.three());
        let of_delimiter = (two_three & c.f()) | (three & c.b());
        let other = (escape & c.zero()) | (percent & in_ftp);
        attend = attend | other;
        noteworthy = noteworthy | of_delimiter | other;
        delimiter = flow.line_end_behind(of_delimiter, newline);
        debug_assert_eq!(flow.at, ESCAPE_SLOTS);
        if !carried.escape_habit.is_on() {
            carried.escape.look();
        }
    }

    let tilde = flow.line_end_behind(c.tilde(), newline);
    let refused_1738 = flow.line_end(refused_both, newline);
    let refused_draft = flow.line_end(refused_by_draft, newline);
    // What RFC 1738 refuses and the draft does not is out of order.
    hard = hard | (refused_1738 & !(refused_draft | tilde) & (http | ftp));
    let listed = flow.line_end(hard | attend | violation, newline);
    // Of other schemes, and without one, they have to be looked at.
    let listed = listed | ((delimiter | other_port) & (ftp | file | relative));
    debug_assert_eq!(flow.at, SLOTS - BEGINNING_SLOTS);
    let refused_1738 = refused_1738 | tilde;
    Ends {
        newline,
        cr: behind_cr & newline,
        blank: start & newline,
        http,
        ftp,
        file,
        relative,
        tilde,
        refused_1738,
        refused_draft: refused_draft | refused_1738,
        listed,
        delimiter,
        port: other_port,
        reserved_port,
        noteworthy,
        hard,
        violation,
    }
}
