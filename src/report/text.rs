//! The report as text for people: tables that show how good a list is, what it contains, and what is wrong with it.

use std::fmt::{self, Write};

use super::page::{Ink, Page, TextStyle, count};
use super::whatwg::HOSTS_DIFFER;
use super::words::{self, grouped, percent, plural, size, warning};
use super::{Count, ExampleLine, InputWarning, Lengths, LevelCount, LooksLike, Report, TopOf, WhatwgCount};
use urlsift_grammar::Grammar;

/// The maximum number of rows of a table. The JSON report has all.
const MAX_ROWS: usize = 10;

/// The width of the first column of tables, and its minimum on a narrow page.
const NAMES: usize = 26;
const MIN_NAMES: usize = 12;

/// The minimum width for the place of a line.
const MIN_PLACE: usize = 12;

/// How many digits of the digest are shown: enough to tell a handful of reports apart.
const DIGEST: usize = 12;

impl fmt::Display for Report {
    /// Writes the text report as the command writes it to a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render(self, &TextStyle::default()))
    }
}

/// Renders the report as text. The same report and style always give the same text.
#[must_use]
pub fn render(report: &Report, style: &TextStyle) -> String {
    let mut text = Text::new(Page::new(style), report);
    text.head();
    text.grammars();
    text.verdict_sets();
    text.schemes();
    text.defects();
    text.whatwg();
    text.advisories();
    text.lengths();
    text.top();
    text.distinct();
    text.public_suffix_list();
    text.records();
    text.by_input(style);
    text.inputs();
    text.digest();
    text.page.finish()
}

struct Text<'a> {
    page: Page,
    report: &'a Report,
    /// The width of the first column of tables.
    names: usize,
    /// The same for tables whose names are short.
    short_names: usize,
    /// The width of a number of lines.
    numbers: usize,
    /// How many columns fit after the first.
    n_columns: usize,
}

impl<'a> Text<'a> {
    /// On a narrow page, tables have shorter names and no last column.
    fn new(page: Page, report: &'a Report) -> Self {
        let numbers = grouped(report.totals.lines).len().max(9);
        let mut text = Self { page, report, names: NAMES, short_names: NAMES, numbers, n_columns: 3 };
        let room = text.page.width();
        if NAMES + text.widths().iter().sum::<usize>() > room {
            text.n_columns = 2;
            let numbers: usize = text.widths()[..2].iter().sum();
            text.short_names = room.saturating_sub(numbers).clamp(MIN_NAMES, NAMES);
        }
        text.names = text.short_names;
        text
    }

    fn head(&mut self) {
        let Report { totals, inputs, grammars, grammar, .. } = self.report;
        let inputs = match inputs.as_slice() {
            [input] if input.name == "-" => "standard input".to_owned(),
            [input] => self.page.end(&self.page.name(&input.name), self.page.width().min(60)),
            inputs => plural(inputs.len() as u64, "input", "inputs"),
        };
        let head = [
            format!("urlsift {}", self.report.version),
            inputs,
            plural(totals.lines, "line", "lines"),
            size(totals.bytes),
        ];
        self.page.flow("", &head, "   ");
        let n_warned = |warning| {
            let inputs = self.report.inputs.iter();
            inputs.filter(|input| input.warnings.contains(&warning)).count() as u64
        };
        let counts = [
            (totals.blank, "blank line", "blank lines"),
            (totals.cr, "line ended in CR", "lines ended in CR"),
            (totals.byte_order_marks, "byte order mark", "byte order marks"),
            (
                self.report.inputs.iter().map(|input| input.nulls).sum(),
                "row without a value",
                "rows without a value",
            ),
            (n_warned(InputWarning::Utf16), "input decoded from UTF-16", "inputs decoded from UTF-16"),
            (n_warned(InputWarning::NoFinalLineEnd), "last line without LF", "last lines without LF"),
        ];
        self.notes("", None, &counts);
        if !self.report.complete {
            let text = "INCOMPLETE: not everything was read, see INPUTS";
            self.page.line(&self.page.paint(Ink::Warning, text));
        }
        let accepted = grammars.iter().find(|count| count.name == *grammar).map_or(0, |count| count.accepted);
        let none = totals.judged - totals.accepted_by_any;
        let share = |lines| format!(" ({} %)", percent(lines, totals.judged));
        let answer = [
            format!(
                "{grammar} accepts {} of {}{}",
                grouped(accepted),
                plural(totals.judged, "judged line", "judged lines"),
                share(accepted)
            ),
            format!("no grammar accepts {}{}", grouped(none), share(none)),
        ];
        if totals.judged > 0 {
            self.page.flow("", &answer, "; ");
        }
    }

    /// Writes a note, and the counts that are not 0, each with its words for one and for many.
    fn notes(&mut self, indent: &str, first: Option<String>, counts: &[(u64, &str, &str)]) {
        let counts = counts.iter().filter(|(n, ..)| *n > 0);
        let notes: Vec<_> =
            first.into_iter().chain(counts.map(|(n, one, many)| plural(*n, one, many))).collect();
        if !notes.is_empty() {
            self.page.flow(indent, &notes, ", ");
        }
    }

    /// Writes the head of a table: its title and the names of its columns.
    fn table(&mut self, title: &str, columns: &[&str]) {
        self.names = self.short_names;
        self.head_of(title, columns);
    }

    /// Writes the head of a table with these names in its first column, which is as wide as they need if the page has room for them, the
    /// numbers and `behind` more columns. Returns the names; one that is too long has only its beginning or its end.
    fn table_of(
        &mut self,
        title: &str,
        columns: &[&str],
        names: impl Iterator<Item = String>,
        behind: usize,
        cut: fn(&Page, &str, usize) -> String,
    ) -> Vec<String> {
        let names: Vec<_> = names.map(|name| self.page.name(&name)).collect();
        let longest = names.iter().map(|name| count(name)).max().unwrap_or(0);
        let numbers: usize = self.widths()[..self.n_columns].iter().sum();
        let room = self.page.width().saturating_sub(numbers + behind).max(self.short_names);
        self.names = (longest + 3).clamp(self.short_names, room);
        self.head_of(title, columns);
        names.iter().map(|name| cut(&self.page, name, self.names - 3)).collect()
    }

    fn head_of(&mut self, title: &str, columns: &[&str]) {
        let title = format!("{title:<names$}", names = self.names);
        self.page.heading(&self.with_columns(title, columns));
    }

    /// Adds the columns that fit.
    fn with_columns(&self, mut row: String, columns: &[&str]) -> String {
        for (column, width) in columns.iter().zip(self.widths()).take(self.n_columns) {
            let _ = write!(row, "{column:>width$}");
        }
        row
    }

    /// The widths of the columns after the first.
    fn widths(&self) -> [usize; 3] {
        [self.numbers + 2, 9, self.numbers.max(9) + 3]
    }

    /// Writes a row of a table: a name, a number of lines, their share of a whole, one more column, and a bar.
    fn row(&mut self, name: &str, lines: u64, whole: u64, more: &str) {
        let row = self.cells(name, &[&grouped(lines), &percent(lines, whole), more]) + "  ";
        let bar = self.page.bar(lines, whole, count(&row));
        self.page.line(&(row + &bar));
    }

    /// Writes the row for everything that is not shown.
    fn rest(&mut self, what: &str, lines: u64, whole: u64) {
        let row = self.cells(what, &[&grouped(lines), &percent(lines, whole)]);
        self.page.line(&row);
    }

    /// The columns of any row: a name, and those of numbers that fit.
    fn cells(&self, name: &str, columns: &[&str]) -> String {
        self.with_columns(format!("  {name:<room$}", room = self.names - 2), columns)
    }

    fn grammars(&mut self) {
        let totals = &self.report.totals;
        self.table("GRAMMAR", &["accepted", "%", "refused"]);
        for count in &self.report.grammars {
            self.row(count.name.name(), count.accepted, totals.judged, &grouped(count.refused));
        }
        let refused = grouped(totals.judged - totals.accepted_by_any);
        self.row("any of them", totals.accepted_by_any, totals.judged, &refused);
    }

    fn verdict_sets(&mut self) {
        let judged = self.report.totals.judged;
        if judged == 0 {
            return;
        }
        self.table("ACCEPTED BY EXACTLY", &["lines", "%"]);
        let (shown, hidden) = split(&self.report.verdict_sets);
        for set in shown {
            // Each grammar is represented by its number, always in the same column.
            let number = |grammar: Grammar| {
                let number = grammar.name().trim_start_matches(|c: char| !c.is_ascii_digit());
                format!("{:<5}", if set.grammars.contains(&grammar) { number } else { "" })
            };
            let names =
                if set.grammars.is_empty() { "none".to_owned() } else { Grammar::ALL.map(number).concat() };
            self.row(names.trim_end(), set.lines, judged, "");
        }
        if !hidden.is_empty() {
            let lines = hidden.iter().map(|set| set.lines).sum();
            self.rest(&format!("({} other sets)", hidden.len()), lines, judged);
        }
    }

    fn schemes(&mut self) {
        let report = self.report;
        let judged = report.totals.judged;
        if judged == 0 {
            return;
        }
        let accepts = format!("{} %", report.grammar);
        self.table("SCHEME", &["lines", "%", &accepts]);
        let by = |count: &Count| percent(count.accepted.by(report.grammar), count.lines);
        let (shown, hidden) = split(&report.schemes);
        for scheme in shown {
            let label = scheme.label.map_or_else(String::new, |label| format!(" ({label})"));
            let name = self.page.beginning(&scheme.name, NAMES - 3 - label.len()) + &label;
            self.row(&name, scheme.count.lines, judged, &by(&scheme.count));
        }
        if report.relative.lines > 0 {
            self.row("(relative)", report.relative.lines, judged, &by(&report.relative));
        }
        let unlisted = report.other.lines;
        if !hidden.is_empty() || unlisted > 0 {
            let lines = hidden.iter().map(|scheme| scheme.count.lines).sum::<u64>() + unlisted;
            // How many different schemes the unlisted lines have is unknown.
            let all_known = unlisted == 0;
            let n = if all_known { grouped(hidden.len() as u64) + " " } else { String::new() };
            self.rest(&format!("({n}other schemes)"), lines, judged);
        }
    }

    fn defects(&mut self) {
        let defects = self.report.defects.iter();
        let rows: Vec<_> = defects
            .map(|defect| {
                let kind = format!("{}:{}", defect.component, defect.cause);
                (kind, defect.lines, defect.examples.first())
            })
            .collect();
        self.marked_examples(&format!("REFUSED BY {}", self.report.grammar), &rows);
    }

    /// Writes the most frequent kinds of lines, each with the place in its first example, and how many lines the others have.
    fn marked_examples(&mut self, title: &str, rows: &[(String, u64, Option<&ExampleLine>)]) {
        let (shown, hidden) = split(rows);
        let width = self.examples(title, shown, true);
        if !hidden.is_empty() {
            let kinds = format!("({} other kinds)", hidden.len());
            let lines = grouped(hidden.iter().map(|(_, lines, _)| lines).sum());
            self.page.line(&format!("  {kinds:<width$}{lines:>numbers$}", numbers = self.numbers + 2));
        }
    }

    fn whatwg(&mut self) {
        let report = self.report;
        let Some(whatwg) = &report.whatwg else { return };
        self.levels(whatwg, Grammar::Rfc3986);
        if report.grammar != Grammar::Rfc3986 {
            self.levels(whatwg, report.grammar);
        }
        let base = whatwg.base.as_ref().map(|base| format!("base {}", self.page.name(base)));
        let counts = [
            (whatwg.not_utf8, "line is not UTF-8", "lines are not UTF-8"),
            (whatwg.too_long, "line is too long to be parsed", "lines are too long to be parsed"),
        ];
        self.notes("  ", base, &counts);
        let errors = whatwg.errors.iter();
        let rows: Vec<_> =
            errors.map(|error| (error.name.name().to_owned(), error.lines, error.examples.first())).collect();
        self.marked_examples("WHATWG VALIDATION ERRORS", &rows);
        let differ = &whatwg.hosts_differ;
        if differ.lines > 0 {
            let row = (HOSTS_DIFFER.to_owned(), differ.lines, differ.examples.first());
            self.examples("WHATWG ADVISORIES", &[row], false);
        }
    }

    /// Writes the table of WHATWG levels, and how many of their lines a grammar accepts and refuses. A narrow page has the levels
    /// alone, once.
    fn levels(&mut self, whatwg: &WhatwgCount, grammar: Grammar) {
        let title = format!("WHATWG {}", self.page.beginning(&whatwg.standard, 7));
        let by = format!("  by {grammar}");
        let [numbers, shares, more] = self.widths();
        let is_wide = self.names + numbers + shares + 2 * more + by.len() <= self.page.width();
        if !is_wide && grammar != Grammar::Rfc3986 {
            return;
        }
        let write = |mut row: String, [accepted, refused]: [&str; 2]| {
            if is_wide {
                let _ = write!(row, "{accepted:>more$}{refused:>more$}");
            }
            row
        };
        let head = format!("{title:<names$}{:>numbers$}{:>shares$}", "lines", "%", names = self.names);
        let head = write(head, ["accepted", "refused"]);
        self.page.heading(&if is_wide { head + &by } else { head });
        for LevelCount { name, count, .. } in &whatwg.levels {
            let accepted = count.accepted.by(grammar);
            let refused = count.lines.saturating_sub(accepted);
            let share = percent(count.lines, self.report.totals.judged);
            let cells = self.cells(name.name(), &[&grouped(count.lines), &share]);
            self.page.line(&write(cells, [&grouped(accepted), &grouped(refused)]));
        }
    }

    fn advisories(&mut self) {
        let advisories = self.report.advisories.iter();
        let rows: Vec<_> = advisories
            .map(|advisory| (advisory.name.name().to_owned(), advisory.lines, advisory.examples.first()))
            .collect();
        self.examples("ADVISORIES", &rows, false);
    }

    /// Writes a table of kinds of lines, each with its first example below it. With `marked`, the defect is marked in the
    /// example. Returns the width of the first column.
    fn examples(&mut self, title: &str, rows: &[(String, u64, Option<&ExampleLine>)], marked: bool) -> usize {
        let names = rows.iter().map(|(kind, ..)| count(kind)).max().unwrap_or(0).max(NAMES - 2);
        let numbers = self.numbers + 2;
        if !rows.is_empty() {
            self.page.heading(&format!("{title:<head$}{:>numbers$}  first at", "lines", head = names + 2));
        }
        for (kind, lines, example) in rows {
            let row = format!("  {kind:<names$}{:>numbers$}  ", grouped(*lines));
            let Some(example) = example else {
                self.page.line(&row);
                continue;
            };
            let column = if marked { self.report.column(example) } else { String::new() };
            let name = self.page.name(self.report.input_name(example.input));
            let room = self.page.width().saturating_sub(count(&row)).max(MIN_PLACE);
            let place = self.page.end(&format!("{name}:{}{column}", example.line), room);
            self.page.line(&(row + &self.page.paint(Ink::Place, &place)));
            let open = [example.skipped > 0, example.cut];
            let (text, mark) = example.shown(self.page.is_utf8());
            let text = self.page.excerpt(&text, marked.then_some(mark), open, 4);
            self.page.line(&format!("    {text}"));
            if let Some(hosts) = &example.hosts {
                let (hosts, room) = (self.page.name(&hosts.to_string()), self.page.width().saturating_sub(4));
                let words: Vec<_> = hosts.split(' ').map(|word| self.page.beginning(word, room)).collect();
                self.page.flow("    ", &words, " ");
            }
        }
        names
    }

    fn lengths(&mut self) {
        let Some(lengths) = self.report.lengths.as_ref().filter(|lengths| !lengths.buckets.is_empty()) else {
            return;
        };
        self.page.heading("LINE LENGTHS in bytes");
        let mut parts = vec![format!("shortest {}", grouped(lengths.min))];
        parts.extend(
            lengths.percentiles.iter().map(|p| format!("{} % up to {}", p.percent, grouped(p.bytes))),
        );
        let longest = lengths.longest.as_ref().map_or_else(String::new, |line| {
            let name = self.page.name(self.report.input_name(line.input));
            format!(" ({})", self.page.end(&format!("{name}:{}", line.line), 48))
        });
        parts.push(format!("longest {}{longest}", grouped(lengths.max)));
        self.page.flow("  ", &parts, ", ");
        let (from, octaves) = octaves(lengths);
        let skyline = self.page.skyline(&octaves);
        let to = u128::from(from) << octaves.len();
        let to = grouped(u64::try_from(to - 1).unwrap_or(u64::MAX));
        let bars = format!("{} {skyline} {to}", grouped(from));
        self.page.flow("  ", &[bars, "twice as long from bar to bar".to_owned()], ", ");
    }

    fn top(&mut self) {
        let judged = self.report.totals.judged;
        for top in &self.report.top {
            let what = format!("TOP {}", words::names(top.of).to_uppercase());
            let names = top.entries.iter().map(|entry| entry.name.clone());
            // Schemes are counted in all lines.
            let (counted, one) =
                if top.of == TopOf::Schemes { ("lines", "line") } else { ("accepted", "accepted line") };
            let names = self.table_of(&what, &[counted, "%"], names, 0, Page::beginning);
            for (entry, name) in top.entries.iter().zip(names) {
                self.row(&name, entry.lines, judged, "");
            }
            if top.entries.is_empty() {
                self.page.line(&format!("  (no {one} has one)"));
            }
            if !top.exact {
                let wrong = format!("(wrong by at most {}", plural(top.max_error, "line", "lines"));
                let notes = [wrong, "names that have no more may be missing)".to_owned()];
                self.page.flow("  ", &notes, "; ");
            }
        }
    }

    fn distinct(&mut self) {
        if self.report.distinct.is_empty() {
            return;
        }
        self.page.heading("DISTINCT");
        for distinct in &self.report.distinct {
            let what = words::items(distinct.of);
            let error = percent(distinct.error_ppm, 1_000_000);
            self.page
                .line(&format!("  {what}: about {} (standard error {error} %)", grouped(distinct.estimate)));
        }
    }

    /// Names the list of public suffixes that a count depends on.
    fn public_suffix_list(&mut self) {
        if let Some(list) = &self.report.public_suffix_list {
            let name = self.page.beginning(&list.name(), 48);
            self.page.line(&format!("  (domains by the list of public suffixes {name})"));
        }
    }

    /// Writes the inputs that hold records, with causes of refusals, and then their fields.
    fn records(&mut self) {
        let inputs = self.report.inputs.iter().enumerate();
        let of_records: Vec<_> =
            inputs.filter_map(|(n, input)| Some((n, input.records.as_deref()?))).collect();
        let (shown, hidden) = split(&of_records);
        if shown.is_empty() {
            return;
        }
        let report = self.report;
        let names =
            shown.iter().map(|(n, records)| format!("{} ({})", report.input_name(*n), records.format));
        let names = self.table_of("RECORDS", &["read", "skipped", "refused"], names, 0, Page::end);
        for ((_, records), name) in shown.iter().zip(names) {
            let [read, skipped, refused] =
                [records.read, records.n_skipped(), records.n_refused()].map(grouped);
            self.page.line(&self.cells(&name, &[&read, &skipped, &refused]));
            for refused in &records.refused {
                let first = refused.first.first();
                let at = first.map_or_else(String::new, |first| {
                    format!(
                        ", first in line {} at byte {} of the record",
                        first.line,
                        first.offset.saturating_add(1)
                    )
                });
                let what = refused.cause.name();
                self.page.line(&format!("    {} {what}{at}", grouped(refused.records)));
            }
        }
        self.other_inputs(hidden.len());
        self.fields();
    }

    /// Writes how many fields of each role the chosen grammar accepts, if there are several roles. If the user wants several fields,
    /// writes the counts of each of these.
    fn fields(&mut self) {
        let (report, judged) = (self.report, self.report.totals.judged);
        let kinds = report.fields();
        if kinds.len() < 2 {
            return;
        }
        if kinds.iter().all(|sum| sum.name.is_none()) {
            self.table("FIELD", &["judged", "%", &format!("{} %", report.grammar)]);
            for sum in kinds {
                self.row(sum.role.name(), sum.judged, judged, &percent(sum.accepted, sum.judged));
            }
            return;
        }
        let title = format!("FIELD, {} accepts", report.grammar);
        let names = kinds.iter().map(super::records::FieldSum::label);
        let names = self.table_of(&title, &["accepted", "refused", "blank"], names, 0, Page::end);
        for (sum, name) in kinds.iter().zip(names) {
            let refused = sum.judged.saturating_sub(sum.accepted);
            let [accepted, refused, blank] = [sum.accepted, refused, sum.blank].map(grouped);
            self.page.line(&self.cells(&name, &[&accepted, &refused, &blank]));
        }
    }

    /// Writes a table of the inputs if there are several, those with the smallest share of accepted lines first.
    fn by_input(&mut self, style: &TextStyle) {
        let report = self.report;
        let inputs = report.inputs_worst_first();
        if inputs.len() < 2 || style.by_input == 0 {
            return;
        }
        let (shown, hidden) = inputs.split_at(inputs.len().min(style.by_input));
        let title = format!("INPUT, {} accepts", report.grammar);
        let names = shown.iter().map(|(input, _)| input.name.clone());
        let defects = shown.iter().map(|(_, judged)| {
            let defect = judged.most_frequent_defect.as_ref();
            defect.map_or_else(String::new, |defect| {
                format!("  {}:{}, {}", defect.component, defect.cause, grouped(defect.lines))
            })
        });
        let defects: Vec<_> = defects.collect();
        let behind = defects.iter().map(String::len).max().unwrap_or(0);
        let names = self.table_of(&title, &["judged", "%", "refused"], names, behind, Page::end);
        for (((_, judged), name), defect) in shown.iter().zip(names).zip(defects) {
            let accepted = judged.accepted.by(report.grammar);
            let share = percent(accepted, judged.lines);
            let refused = grouped(judged.lines.saturating_sub(accepted));
            let row = self.cells(&name, &[&grouped(judged.lines), &share, &refused]);
            self.page.line(&(row + &defect));
        }
        if !hidden.is_empty() {
            let how = match style.words.all_inputs {
                "" => String::new(),
                option => format!("; {option} shows them"),
            };
            self.page.line(&format!("  ({} other inputs{how})", grouped(hidden.len() as u64)));
        }
    }

    fn inputs(&mut self) {
        let inputs = &self.report.inputs;
        let failed = inputs.iter().filter_map(|input| {
            let error = self.page.name(input.error.as_deref()?);
            let counted = format!("{} counted", plural(input.lines, "line", "lines"));
            Some(vec![format!("{}: {error}", self.page.name(&input.name)), counted])
        });
        let failed: Vec<_> = failed.collect();
        let warned = inputs.iter().filter_map(|input| {
            // For a single input, the head already has the warnings.
            let kinds = if inputs.len() > 1 { &input.warnings[..] } else { &[] };
            let mut parts: Vec<_> = kinds.iter().map(|&kind| warning(kind).to_owned()).collect();
            parts.extend(input.looks_like.as_deref().map(LooksLike::sentence));
            parts.first_mut()?.insert_str(0, &format!("{}: ", self.page.name(&input.name)));
            Some(parts)
        });
        let warned: Vec<_> = warned.collect();
        for (title, rows) in [("INPUTS not read to their end", failed), ("INPUTS with warnings", warned)] {
            if !rows.is_empty() {
                self.page.heading(title);
            }
            let (shown, hidden) = split(&rows);
            for parts in shown {
                self.page.flow("  ", parts, ", ");
            }
            self.other_inputs(hidden.len());
        }
    }

    fn other_inputs(&mut self, n: usize) {
        if n > 0 {
            self.page.line(&format!("  ({n} other inputs)"));
        }
    }

    fn digest(&mut self) {
        let digest = self.report.digest.get(..DIGEST).unwrap_or(&self.report.digest);
        self.page.line("");
        self.page.line(&self.page.paint(Ink::Place, &format!("digest {digest}")));
    }
}

/// Splits a list into the rows that are shown and the hidden rest. A single row is never hidden: the row that says so is as
/// long.
fn split<T>(rows: &[T]) -> (&[T], &[T]) {
    rows.split_at(if rows.len() <= MAX_ROWS + 1 { rows.len() } else { MAX_ROWS })
}

/// Lines by octave of their length, from the shortest to the longest, and the length at which the first octave begins.
fn octaves(lengths: &Lengths) -> (u64, Vec<u64>) {
    let octave = |length: u64| length.max(1).ilog2();
    let first = octave(lengths.min);
    let mut octaves = vec![0; (octave(lengths.max).saturating_sub(first) + 1) as usize];
    for bucket in &lengths.buckets {
        let place = octave(bucket.from).saturating_sub(first) as usize;
        if let Some(lines) = octaves.get_mut(place) {
            *lines += bucket.lines;
        }
    }
    (1 << first, octaves)
}

#[cfg(test)]
mod tests {
    use super::super::{Distinct, DistinctOf, LengthBucket, LongestLine, Percentile, Top, TopEntry, TopOf};
    use super::*;
    use crate::run::Scanned;
    use crate::scan::{Options, scan};
    use urlsift_input::Input;

    /// A report of three lines with every optional part.
    fn full() -> Report {
        let options = Options::default();
        let tally = scan(b"http://a/\nhttp://b/ \n?\n", &options);
        let scanned = Scanned { tally, ..Scanned::default() };
        let mut report = Report::new(&scanned, &[Input::standard()], &options, false);
        let bucket = |length, lines| LengthBucket { from: length, to: length, lines };
        report.lengths = Some(Lengths {
            min: 1,
            max: 10,
            sum: 20,
            longest: Some(LongestLine { input: 0, line: 2, line_offset: 10, bytes: 10 }),
            percentiles: vec![Percentile { percent: 50, bytes: 9 }],
            buckets: vec![bucket(1, 1), bucket(9, 1), bucket(10, 1)],
        });
        let entries = vec![TopEntry { name: "a".to_owned(), lines: 2 }];
        report.top = vec![Top { of: TopOf::Hosts, exact: false, max_error: 1, entries }];
        report.distinct = vec![Distinct { of: DistinctOf::Lines, estimate: 3, error_ppm: 16_000 }];
        report
    }

    #[test]
    fn what_is_asked_for_is_shown() {
        let text = render(&full(), &TextStyle::default());
        for part in [
            "   standard input   3 lines   23 B\n",
            "rfc3986 accepts 2 of 3 judged lines (66.67 %); no grammar accepts 1 (33.33 %)\n",
            "  path:space                        1  -:2:10\n    http://b/[ ]\n",
            "LINE LENGTHS in bytes\n  shortest 1, 50 % up to 9, longest 10 (-:2)\n",
            "  1 \u{2584}  \u{2588} 15, ",
            "TOP HOSTS ",
            "  (wrong by at most 1 line; names that have no more may be missing)\n",
            "DISTINCT\n  lines: about 3 (standard error 1.60 %)\n",
            "\ndigest ",
        ] {
            assert!(text.contains(part), "{part:?} in\n{text}");
        }
    }

    #[test]
    fn a_narrow_page_is_not_exceeded() {
        let mut report = full();
        let most = u64::MAX / 1000;
        report.lengths.iter_mut().for_each(|lengths| lengths.max = most);
        report.top[0].max_error = most;
        report.distinct[0].estimate = most;
        let records = r#"{"format": "jsonl", "read": 3, "skipped": [], "refused": [], "fields": []}"#;
        report.inputs[0].records = Some(serde_json::from_str(records).unwrap());
        for lines in [3, 1_234_567, most] {
            report.totals.lines = lines;
            for width in 40..64 {
                let text = render(&report, &TextStyle { width, ..TextStyle::default() });
                assert!(text.lines().all(|line| count(line) <= width), "{width}: {text}");
            }
        }
    }

    #[test]
    fn one_row_more_is_not_hidden() {
        let rows = [0; MAX_ROWS + 2];
        assert_eq!(split(&rows[1..]).1.len(), 0);
        assert_eq!((split(&rows).0.len(), split(&rows).1.len()), (MAX_ROWS, 2));
    }
}
