//! Consecutive lines and what is known of them, from which columns make their cells. Passwords are masked here.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::io::Write;
use std::mem;
use std::ops::Range;

use crate::columns::cells::{Made, offset_in};
use crate::columns::{Column, Need};
use memchr::memmem;
use urlsift_engine::Scanner;
use urlsift_engine::judge_lines::JudgedLine;
use urlsift_engine::plain_hosts::{MAX_TEXT, PlainHosts, PlainParts};
use urlsift_engine::values::judge_values;
use urlsift_grammar::advisory::Advisories;
use urlsift_grammar::defect::Defect;
use urlsift_grammar::escape::{MASK, mask};
use urlsift_grammar::host::{compared, reverse, unchanged};
use urlsift_grammar::judge::judge;
use urlsift_grammar::keys::canonical;
use urlsift_grammar::keys::surt::{PathAndQuery, surt_by_host};
use urlsift_grammar::password::{secrets, secrets_of, shows_word_of};
use urlsift_grammar::plain_host::{Kept, PlainHost};
use urlsift_grammar::public_suffix::{SuffixList, UsedList};
use urlsift_grammar::resolve::{Base, resolve};
use urlsift_grammar::uri_parts::{Parts, host, split};
use urlsift_grammar::whatwg::on_demand::{self, OnDemand};
use urlsift_grammar::whatwg::plain::PlainUrl;
use urlsift_grammar::whatwg::{Level, TwoHosts, Url};
use urlsift_grammar::{Grammar, Verdict};

/// Lines of an input, or values in memory, and what is known of them.
#[derive(Debug, Default)]
pub struct Batch<'a> {
    pub(crate) lines: Vec<Line<'a>>,
    /// What lines are resolved against.
    pub(crate) origins: Vec<Origin>,
    /// A parser for each line, if what it makes of a line is asked for more than once. They keep their memory for the next lines.
    parsers: Vec<RefCell<OnDemand>>,
    /// The parser of all lines without their own. It stays in the caches, and forgets each line.
    shared_parser: RefCell<OnDemand>,
    /// Whether columns and conditions that are asked one after the other need the parser.
    pub(crate) keeps_parsed: bool,
    /// The components of each line, if several columns are components.
    known_parts: Vec<KnownParts>,
    /// Those of lines without a plain host.
    parts: Vec<Parts>,
    /// The memory that lines are in, as far as it is known. Cells are not copied from there.
    pub(crate) around: &'a [u8],
    /// The same if it is worth a search for plain hosts, and empty otherwise. Lines that are not in it have the same cells, but take longer.
    text: &'a [u8],
    /// Made when a column needs it, for all batches of the text.
    plain_hosts: OnceCell<PlainHosts<'a>>,
    /// The name of the input. Values have none.
    pub(crate) input: &'a str,
    /// The grammar whose refusals are explained.
    pub(crate) grammar: Grammar,
    /// The list of the columns of suffixes.
    pub(crate) suffixes: UsedList,
    pub(crate) mask_passwords: bool,
    /// Whether the lines are URLs in running text, which may have ended inside a password.
    pub(crate) is_of_text: bool,
}

/// A line, a field of a record, or a value.
#[derive(Debug, Default)]
pub(crate) struct Line<'a> {
    /// The line without its end; `None` for a null.
    pub(crate) bytes: Option<Cow<'a, [u8]>>,
    /// `None` for a null, and for a blank line of a list or an empty field of a record. Empty if the line is not judged.
    pub(crate) verdict: Option<Verdict>,
    pub(crate) advisories: Advisories,
    /// Whether it is known to be a [plain URL](PlainUrl).
    pub(crate) is_plain_url: bool,
    /// The number of the line, from 1.
    pub(crate) number: u64,
    /// Its offset in the input.
    pub(crate) offset: u64,
    /// What a field is called.
    pub(crate) field: Option<&'a str>,
    /// The index of its origin.
    pub(crate) origin: usize,
}

/// What lines are resolved against.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The base by RFC 3986.
    pub base: Option<Base>,
    /// The base of the WHATWG parser.
    pub url: Option<Url>,
    /// Whether what a line takes from them may be a password that is not recognised as one.
    pub hides_password: bool,
}

impl<'a> Line<'a> {
    /// A line of a list. `text` has it, and begins at `start` in the input.
    #[inline(always)]
    pub(crate) fn of_list(text: &'a [u8], judged: JudgedLine, number: u64, start: u64) -> Self {
        let place = judged.place();
        let (verdict, advisories) = judged.verdict().unzip();
        Self {
            offset: start + place.start as u64,
            bytes: Some(text[place].into()),
            verdict,
            advisories: advisories.unwrap_or_default(),
            is_plain_url: judged.is_plain_url(),
            number,
            ..Self::default()
        }
    }

    /// A field of a record, which may be empty.
    pub(crate) fn of_field(bytes: Cow<'a, [u8]>, needs_advisories: bool) -> Self {
        let judgement = (!bytes.is_empty()).then(|| judge(&bytes));
        let verdict = judgement.map(|judgement| judgement.verdict());
        let judgement = judgement.filter(|_| needs_advisories);
        let advisories = judgement.map(|judgement| judgement.advisories()).unwrap_or_default();
        Self { verdict, advisories, bytes: Some(bytes), ..Self::default() }
    }
}

impl<'a> Batch<'a> {
    /// Values for cells of `columns`, judged if these need it. They are in `text` as far as it is known. There is one origin for all, or one for
    /// each.
    #[must_use]
    pub fn of_values(
        columns: &[&Column],
        scanner: &mut Scanner,
        values: &[Option<&'a [u8]>],
        text: &'a [u8],
        grammar: Grammar,
        origins: Vec<Origin>,
    ) -> Self {
        let line = |value: Option<&'a [u8]>| Line { bytes: value.map(Cow::from), ..Line::default() };
        let mut lines: Vec<_> = values.iter().copied().map(line).collect();
        if origins.len() > 1 {
            lines.iter_mut().zip(0..).for_each(|(line, n)| line.origin = n);
        }
        if columns.iter().any(|column| column.needs.is_judged()) {
            let whatwg = columns.iter().any(|column| column.needs == Need::Parser);
            judge_values(scanner, values, whatwg, |n, verdict, advisories, is_plain_url| {
                let line = &mut lines[n];
                (line.verdict, line.advisories, line.is_plain_url) =
                    (Some(verdict), advisories, is_plain_url);
            });
        } else {
            let verdict =
                |line: &mut Line<'_>| line.verdict = line.bytes.as_ref().map(|_| Verdict::default());
            lines.iter_mut().for_each(verdict);
        }
        let mut batch = Self { lines, origins, grammar, ..Self::default() };
        batch.set_text(text);
        batch
    }

    /// Judges the lines, which are fields of records. Empty ones have no verdict.
    pub(crate) fn judge_fields(&mut self, scanner: &mut Scanner, whatwg: bool) {
        let fields = self.lines.iter().map(|line| line.bytes.as_deref().filter(|field| !field.is_empty()));
        let (fields, mut judged) = (fields.collect::<Vec<_>>(), Vec::with_capacity(self.lines.len()));
        judge_values(scanner, &fields, whatwg, |n, verdict, advisories, is_plain_url| {
            judged.push((n, verdict, advisories, is_plain_url));
        });
        for (n, verdict, advisories, is_plain_url) in judged {
            let line = &mut self.lines[n];
            (line.verdict, line.advisories, line.is_plain_url) = (Some(verdict), advisories, is_plain_url);
        }
    }

    /// Searches for plain hosts in what is around the lines from the first to the last, if a good part of it are lines.
    pub(crate) fn search_between(&mut self) {
        let places = self.lines.iter().filter_map(|line| {
            let bytes = line.bytes.as_deref()?;
            let start = offset_in(self.around, bytes)?;
            Some(start..start + bytes.len())
        });
        let (start, end, len) = places.fold((usize::MAX, 0, 0), |(start, end, len), place| {
            (start.min(place.start), end.max(place.end), len + place.len())
        });
        let is_worth_it = start < end && end - start <= MAX_TEXT.min(8 * len);
        self.text = if is_worth_it { &self.around[start..end] } else { b"" };
        self.plain_hosts = OnceCell::new();
    }

    /// Says that most of `text` are lines of the batch.
    pub(crate) fn set_text(&mut self, text: &'a [u8]) {
        self.around = text;
        self.text = if text.len() <= MAX_TEXT { text } else { b"" };
        self.plain_hosts = OnceCell::new();
    }

    /// Adds the parsers that are missing, so that each line has its own.
    pub(crate) fn add_parsers(&mut self) {
        self.parsers.resize_with(self.parsers.len().max(self.lines.len()), RefCell::default);
    }

    /// Finds the components of all lines if several columns are components.
    pub(super) fn add_components(&mut self, are_wanted: bool) {
        let (mut known, mut parts) = (mem::take(&mut self.known_parts), mem::take(&mut self.parts));
        known.clear();
        parts.clear();
        if are_wanted {
            known.extend(self.rows().map(|row| {
                row.as_ref().and_then(Row::plain_parts).map_or_else(
                    || {
                        parts.push(split(row.map_or(b"", |row| row.line)));
                        KnownParts::At(parts.len() - 1)
                    },
                    KnownParts::Plain,
                )
            }));
        }
        (self.known_parts, self.parts) = (known, parts);
    }

    /// Takes out all lines, and all origins but the first.
    pub(crate) fn clear(&mut self) {
        self.truncate(0);
        self.origins.truncate(1);
    }

    /// Takes out the lines for which `is_kept` is false.
    pub(crate) fn retain(&mut self, is_kept: &[bool]) {
        let mut n_kept = 0;
        for (n, _) in is_kept.iter().enumerate().filter(|(_, is_kept)| **is_kept) {
            if n_kept < n {
                self.lines.swap(n_kept, n);
                // What a parser knows belongs to its line.
                if self.keeps_parsed {
                    self.parsers.swap(n_kept, n);
                }
            }
            n_kept += 1;
        }
        self.truncate(n_kept);
    }

    /// Takes out all lines but the first `n`.
    fn truncate(&mut self, n: usize) {
        // Those behind have forgotten theirs.
        let parsers = self.parsers.iter_mut().take(self.lines.len());
        parsers.skip(n).for_each(|parser| parser.get_mut().forget());
        self.lines.truncate(n);
    }

    /// The lines that were judged; `None` for those without a verdict.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = Option<Row<'_, 'a>>> {
        self.lines.iter().enumerate().map(|(n, whole)| {
            let (line, verdict) = (whole.bytes.as_deref()?, whole.verdict?);
            Some(Row { batch: self, n, whole, line, verdict, is_masked: false })
        })
    }
}

/// Whether what the parser makes of a line is needed more than once.
pub(crate) fn keeps_parsed(needs: impl Iterator<Item = Need>) -> bool {
    needs.filter(|need| *need == Need::Parser).count() > 1
}

/// The components of a line.
#[derive(Debug)]
enum KnownParts {
    Plain(PlainParts),
    /// The index of the components.
    At(usize),
}

/// Where in a compared host the part begins that a column takes of it. If there are bits, they say which of its bytes are dots.
pub(super) type PartOfSuffixes = fn(&SuffixList, &[u8], Option<u64>) -> Option<usize>;

/// A line that was judged.
pub(crate) struct Row<'b, 'a> {
    batch: &'b Batch<'a>,
    n: usize,
    pub(crate) whole: &'b Line<'a>,
    pub(crate) line: &'b [u8],
    pub(crate) verdict: Verdict,
    /// Whether the line has masks in place of its passwords.
    is_masked: bool,
}

impl<'b, 'a> Row<'b, 'a> {
    fn origin(&self) -> &'b Origin {
        &self.batch.origins[self.whole.origin]
    }

    /// Why a grammar refuses the line.
    pub(crate) fn defect(&self, grammar: Grammar) -> Option<Defect> {
        if self.verdict.accepts(grammar) { None } else { Defect::of_line(grammar, self.line) }
    }

    /// The plain hosts of the text that the line is in, and where it is in that text.
    #[inline(always)]
    fn plain_hosts(&self) -> Option<(&'b PlainHosts<'a>, Range<usize>)> {
        let start = offset_in(self.batch.text, self.line)?;
        let hosts = self.batch.plain_hosts.get_or_init(|| PlainHosts::of(self.batch.text));
        Some((hosts, start..start + self.line.len()))
    }

    /// The same, with the host of the line, if it is known to be plain.
    #[inline(always)]
    fn plain(&self) -> Option<(&'b PlainHosts<'a>, Range<usize>, PlainHost)> {
        let (hosts, place) = self.plain_hosts()?;
        let host = hosts.host(&place)?;
        Some((hosts, place, host))
    }

    /// The host of the line, if it is known to be plain.
    #[inline(always)]
    fn plain_host(&self) -> Option<PlainHost> {
        self.plain().map(|(.., host)| host)
    }

    /// Whether what follows a plain host is plain, too.
    #[inline]
    fn has_plain_rest(&self, host: PlainHost) -> bool {
        self.plain_hosts().is_some_and(|(hosts, place)| hosts.has_plain_rest(&place, host))
    }

    /// The components of the line, if it has a plain host.
    #[inline(always)]
    fn plain_parts(&self) -> Option<PlainParts> {
        let (hosts, place, host) = self.plain()?;
        hosts.parts(&place, host)
    }

    /// A component: what `of_plain` takes of a line with a plain host, or else what `part` takes of the components.
    #[inline]
    pub(super) fn component(
        &self,
        of_plain: impl Fn(PlainParts) -> Option<Range<usize>>,
        part: impl Fn(&Parts) -> Option<Range<usize>>,
    ) -> Option<Range<usize>> {
        match self.batch.known_parts.get(self.n) {
            Some(KnownParts::Plain(plain)) => of_plain(*plain),
            Some(KnownParts::At(at)) => part(&self.batch.parts[*at]),
            None => self.plain_parts().map_or_else(|| part(&split(self.line)), of_plain),
        }
    }

    /// Where the host of the line is.
    #[inline(always)]
    pub(super) fn host_range(&self) -> Option<Range<usize>> {
        if !self.batch.known_parts.is_empty() {
            return self.component(|plain| Some(plain.host()), |parts| parts.host.clone());
        }
        match self.plain_host() {
            Some(host) => Some(host.start..host.end),
            None => Some(host(self.line)?.name),
        }
    }

    /// Where the port of the line is.
    #[inline]
    pub(super) fn port_range(&self) -> Option<Range<usize>> {
        if !self.batch.known_parts.is_empty() {
            return self.component(|_| None, |parts| parts.port.clone());
        }
        if self.plain_host().is_some() { None } else { host(self.line)?.port }
    }

    /// The host of the line, if it is known to be a plain URL by its plain host. The parser is not needed then.
    #[inline(always)]
    fn host_of_plain_url(&self) -> Option<PlainHost> {
        let host = self.plain_host().filter(|_| self.verdict.accepts(Grammar::Rfc3986))?;
        PlainUrl::has_plain_host(self.line, host).then_some(host)
    }

    /// Whether the line is known to be a plain URL. The parser is not needed then.
    #[inline(always)]
    fn is_plain_url(&self) -> bool {
        !self.is_masked && self.whole.is_plain_url || self.host_of_plain_url().is_some()
    }

    /// Asks the parser.
    fn parser<T>(&self, ask: impl FnOnce(&mut on_demand::Line<'_>) -> T) -> T {
        let base = self.origin().url.as_ref();
        if self.is_masked {
            return ask(&mut OnDemand::default().line(self.line, base, false));
        }
        let is_accepted = self.verdict.accepts(Grammar::Rfc3986);
        if let Some(own) = self.batch.parsers.get(self.n) {
            return ask(&mut own.borrow_mut().line(self.line, base, is_accepted));
        }
        let mut shared = self.batch.shared_parser.borrow_mut();
        shared.forget();
        ask(&mut shared.line(self.line, base, is_accepted))
    }

    /// The level.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime")]
    pub(super) fn level(&self) -> Level {
        if self.is_plain_url() {
            return Level::Valid;
        }
        self.parser(|line| line.level())
    }

    /// The numbers of the validation errors.
    pub(super) fn errors(&self) -> Vec<u8> {
        if self.is_plain_url() {
            return Vec::new();
        }
        self.parser(|line| line.errors().iter().map(|found| found.error as u8).collect())
    }

    /// What `make` makes of the line. If passwords are masked, it is made of the line with masks, so that no part of a password is in it.
    pub(super) fn shown(
        &self,
        out: &mut Vec<u8>,
        make: impl for<'r> Fn(&Row<'r, 'a>, &mut Vec<u8>) -> Option<Made<'r>>,
    ) -> Option<Made<'b>> {
        if !self.batch.mask_passwords {
            return make(self, out);
        }
        let text = |row: &Row<'_, 'a>| {
            let mut out = Vec::new();
            make(row, &mut out).map(|made| made.into_text(out))
        };
        let made = text(self)?;
        let secrets = self.secrets(self.line);
        if secrets.is_empty() {
            return Some(made.into());
        }
        let line = mask(self.line, secrets);
        let row = Row { line: &line, is_masked: true, ..*self };
        let made = text(&row).unwrap_or_else(|| MASK.as_bytes().to_vec());
        Some(mask(&made, self.secrets(&made)).into_owned().into())
    }

    /// The line, with masks if they are wanted.
    pub(super) fn text(&self) -> Cow<'b, [u8]> {
        if self.batch.mask_passwords { mask(self.line, self.secrets(self.line)) } else { self.line.into() }
    }

    /// The URI that the line refers to, if RFC 3986 accepts it and there is a base, or it needs none.
    pub(super) fn resolved(&self) -> Option<Made<'b>> {
        let base = self.origin().base.as_ref();
        let mut target = Vec::new();
        if !self.verdict.accepts(Grammar::Rfc3986) || !resolve(base, self.line, &mut target) {
            return None;
        }
        if !self.batch.mask_passwords {
            return Some(target.into());
        }
        let takes_authority = split(self.line).scheme.is_none() && !self.line.starts_with(b"//");
        Some(self.mask_target(&target, base.filter(|_| takes_authority).map(Base::as_bytes)).into())
    }

    /// The part of the line that is where `of` says.
    #[inline]
    pub(super) fn part(&self, of: impl Fn(&Self) -> Option<Range<usize>>) -> Option<Made<'b>> {
        let range = of(self)?;
        if !self.batch.mask_passwords {
            return Some(self.line[range].into());
        }
        let inside = |secret: Range<usize>| {
            let (start, end) = (secret.start.max(range.start), secret.end.min(range.end));
            (start < end).then(|| start - range.start..end - range.start)
        };
        let secrets = self.secrets(self.line).into_iter().filter_map(inside).collect();
        Some(Made::Text(mask(&self.line[range], secrets)))
    }

    /// The host as hosts are compared, and the bits of its dots if they are known.
    #[inline]
    pub(crate) fn compared_host<'h>(&self, buffer: &'h mut Vec<u8>) -> Option<(&'h [u8], Option<u64>)>
    where
        'b: 'h,
    {
        if let Some(PlainHost { start, end, dots, .. }) = self.plain_host()
            && self.line[end - 1] != b'.'
        {
            return Some((&self.line[start..end], Some(dots)));
        }
        Some((compared(&self.line[host(self.line)?.name], buffer)?, None))
    }

    /// The labels of the host in reverse order, if it has labels.
    pub(super) fn host_reversed(&self, out: &mut Vec<u8>) -> Option<Made<'b>> {
        let mut buffer = Vec::new();
        let (host, _) = self.compared_host(&mut buffer)?;
        reverse(host, out).then_some(Made::Written)
    }

    /// The part of the host that `part` chooses of its suffixes. `last` is the plain host of a line before, and where its part begins: lines
    /// with the same host mostly follow each other.
    #[inline]
    pub(super) fn by_suffix(
        &self,
        part: PartOfSuffixes,
        last: &mut (&'b [u8], Option<usize>),
        out: &mut Vec<u8>,
    ) -> Option<Made<'b>> {
        let Some(PlainHost { start, end, dots, .. }) = self.plain_host() else {
            return self.by_suffix_of_any(part, out);
        };
        let host = &self.line[start..end];
        if last.0 != host {
            if host.ends_with(b".") {
                return self.by_suffix_of_any(part, out);
            }
            *last = (host, part(&self.batch.suffixes, host, Some(dots)));
        }
        Some(host[last.1?..].into())
    }

    #[inline(never)]
    fn by_suffix_of_any(&self, part: PartOfSuffixes, out: &mut Vec<u8>) -> Option<Made<'b>> {
        let (host, mut buffer) = (&self.line[host(self.line)?.name], Vec::new());
        let list = &*self.batch.suffixes;
        // The part is the end of the host, if the host is compared as it is written.
        if let Some(name) = unchanged(host) {
            return Some(name[part(list, name, None)?..].into());
        }
        let name = compared(host, &mut buffer)?;
        out.extend_from_slice(&name[part(list, name, None)?..]);
        Some(Made::Written)
    }

    /// The canonical form of the line, if RFC 3986 accepts it.
    pub(super) fn canonical(&self, out: &mut Vec<u8>) -> Option<Made<'b>> {
        if self.is_masked {
            return Some(canonical::canonical(self.line, &mut Vec::new())?.to_vec().into());
        }
        if !self.verdict.accepts(Grammar::Rfc3986) {
            return None;
        }
        let kept = match self.plain() {
            Some((hosts, place, host)) => {
                let has_plain_segments = hosts.has_plain_rest(&place, host);
                let may_have_escape = !hosts.has_no_escape(&place, host);
                canonical::kept_behind_host(self.line, host.end, has_plain_segments, may_have_escape)
            }
            None => canonical::kept(self.line),
        };
        if let Some(kept) = kept {
            return Some(self.form(kept, out));
        }
        canonical::push_canonical(self.line, out);
        Some(Made::Written)
    }

    /// A normal form of the line.
    #[inline]
    fn form(&self, kept: Kept, out: &mut Vec<u8>) -> Made<'b> {
        kept.form(self.line, out).map_or(Made::Written, Made::from)
    }

    /// The key of the line in the indices of web archives, if it has one.
    pub(super) fn surt(&self, out: &mut Vec<u8>) -> Option<Made<'b>> {
        let known = self.plain().and_then(|(hosts, place, host)| {
            let (path, query) = hosts.parts(&place, host)?.ends();
            let may_have_escape = !hosts.has_no_escape(&place, host);
            Some((host, PathAndQuery { path, query, may_have_escape }))
        });
        surt_by_host(self.line, known, out).then_some(Made::Written)
    }

    /// The URL that the WHATWG parser makes of the line, if it makes one.
    pub(super) fn href(&self, out: &mut Vec<u8>) -> Option<Made<'b>> {
        let mask_passwords = self.batch.mask_passwords;
        if let Some(host) = self.host_of_plain_url().filter(|_| !mask_passwords)
            && self.has_plain_rest(host)
        {
            return Some(self.form(Kept::with_path(self.line, host.end), out));
        }
        self.parser(|line| {
            let plain = line.plain().filter(|_| !mask_passwords);
            if let Some(kept) = plain.and_then(|url| url.kept(self.line)) {
                return Some(self.form(kept, out));
            }
            let url = line.url()?;
            if !mask_passwords {
                let _ = write!(out, "{url}");
                return Some(Made::Written);
            }
            let has_authority = |base: &&Url| {
                (&base.username, &base.password, &base.host) == (&url.username, &url.password, &url.host)
            };
            let base = self.origin().url.as_ref().filter(has_authority).map(Url::to_string);
            // The parser also finds passwords that are hard to find in text.
            let shown = url.without_password().to_string();
            let shown = self.mask_target(shown.as_bytes(), base.as_deref().map(str::as_bytes));
            Some(shown.into())
        })
    }

    /// The host of that URL. If the URL with masks does not show it, it is a mask too.
    pub(super) fn host(&self) -> Option<Made<'b>> {
        let host = match self.host_of_plain_url() {
            Some(host) => self.line[host.start..host.end].into(),
            None => self.parser(|line| match line.plain() {
                Some(url) => url.host(self.line),
                None => Some(line.url()?.host.clone()?.into_bytes().into()),
            })?,
        };
        let href = || {
            let mut out = Vec::new();
            self.href(&mut out).map(|href| href.into_text(out))
        };
        let is_hidden =
            self.batch.mask_passwords && href().is_none_or(|href| memmem::find(&href, &host).is_none());
        Some(if is_hidden { MASK.as_bytes().into() } else { Made::Text(host) })
    }

    /// Whether RFC 3986 and browsers find different hosts.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime")]
    pub(crate) fn hosts_differ(&self) -> bool {
        !self.is_plain_url() && self.parser(|line| line.hosts_differ())
    }

    /// The hosts that RFC 3986 and browsers find, and why, if they differ.
    pub(super) fn two_hosts(&self) -> Option<Made<'b>> {
        if self.is_plain_url() {
            return None;
        }
        self.parser(|line| {
            if line.plain().is_some() {
                return None;
            }
            let hosts = TwoHosts::of(self.line, self.origin().url.as_ref(), line.url()?)?;
            Some(hosts.to_string().into_bytes().into())
        })
    }

    /// The ranges of the line or its target that may be passwords.
    fn secrets(&self, text: &[u8]) -> Vec<Range<usize>> {
        secrets_of(text, false, self.batch.is_of_text)
    }

    /// Masks the passwords in the target of the line. `base` is where the target has its authority from, unless it is the line.
    fn mask_target(&self, target: &[u8], base: Option<&[u8]>) -> Vec<u8> {
        let of_line = self.secrets(self.line).len();
        let of_target = self.secrets(target);
        // Resolving can make a password unrecognisable, by the base before it or by removed dot-segments. Then the whole
        // target is masked.
        let of_base = || base.map_or(0, |base| secrets(base, false).len());
        let is_hidden = base.is_some() && self.origin().hides_password
            || of_line > 0 && of_target.len() < of_line + of_base();
        let shown = mask(target, of_target);
        let is_shown = |base| shows_word_of(base, &secrets(base, false), &shown);
        if is_hidden || base.is_some_and(is_shown) { MASK.as_bytes().to_vec() } else { shown.into_owned() }
    }
}
