//! The report for people: one screen of tables.

use std::fmt::Write;

use super::{Count, ExampleLine, Report, SchemeLabel};
use crate::defect::Cause;
use crate::escape::window;
use crate::grammar::Grammar;

/// How many schemes, defects and inputs are shown; the JSON report has all.
const MAX_ROWS: usize = 12;

/// How wide a bar is when it is full, in characters.
const BAR: usize = 24;

/// The widest line of the report: as wide as its tables.
const WIDTH: usize = 100;

struct Page {
    out: String,
    colour: bool,
}

/// Renders the report; with `colour`, escape sequences set off headings and marks.
#[must_use]
pub fn render(report: &Report, colour: bool) -> String {
    let mut page = Page { out: String::new(), colour };
    page.head(report);
    page.grammars(report);
    page.verdict_sets(report);
    page.schemes(report);
    page.defects(report);
    page.advisories(report);
    page.inputs(report);
    page.out
}

/// The number with its digits grouped by thousands.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share of a whole in per cent with two decimals; nothing of nothing is a dash. All but everything is never 100.00.
fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let hundredths = (u128::from(part) * 10_000 + u128::from(whole) / 2) / u128::from(whole);
    let hundredths = match hundredths {
        0 if part > 0 => return "<0.01".to_owned(),
        10_000 if part < whole => 9_999,
        n => n,
    };
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn bar(part: u64, whole: u64) -> String {
    const EIGHTHS: [&str; 8] =
        ["", "\u{258f}", "\u{258e}", "\u{258d}", "\u{258c}", "\u{258b}", "\u{258a}", "\u{2589}"];
    let eighths = if whole == 0 { 0 } else { u128::from(part) * 8 * BAR as u128 / u128::from(whole) };
    let eighths = usize::try_from(eighths).unwrap_or(0).max(usize::from(part > 0));
    "\u{2588}".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

fn size(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut unit = 0;
    let mut scaled = u128::from(bytes) * 100;
    while scaled >= 100_000 && unit + 1 < units.len() {
        scaled = (scaled + 500) / 1000;
        unit += 1;
    }
    if unit == 0 {
        format!("{bytes} B")
    } else {
        format!("{}.{:02} {}", scaled / 100, scaled % 100, units[unit])
    }
}

fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

impl Page {
    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn heading(&mut self, text: &str) {
        self.out.push('\n');
        let text = self.paint("1", text.trim_end());
        self.line(&text);
    }

    fn head(&mut self, report: &Report) {
        let totals = &report.totals;
        let inputs = plural(report.inputs.len() as u64, "input", "inputs");
        let head = format!(
            "urlsift {}   {inputs}   {}   {}",
            report.version,
            plural(totals.lines, "line", "lines"),
            size(totals.bytes)
        );
        self.line(&head);
        let mut notes = Vec::new();
        for (n, one, many) in [
            (totals.blank, "blank line", "blank lines"),
            (totals.cr, "line ended in CR", "lines ended in CR"),
            (totals.byte_order_marks, "byte order mark", "byte order marks"),
        ] {
            if n > 0 {
                notes.push(plural(n, one, many));
            }
        }
        if !notes.is_empty() {
            self.line(&notes.join(", "));
        }
        if !report.complete {
            let text = self.paint("1;31", "INCOMPLETE: some input could not be read to its end, see INPUTS");
            self.line(&text);
        }
    }

    fn grammars(&mut self, report: &Report) {
        let judged = report.totals.judged;
        self.heading(&format!("{:<14}{:>15}{:>9}{:>15}", "GRAMMAR", "accepted", "%", "refused"));
        for count in &report.grammars {
            self.line(&format!(
                "  {:<12}{:>15}{:>9}{:>15}  {}",
                count.id.name(),
                grouped(count.accepted),
                percent(count.accepted, judged),
                grouped(count.refused),
                bar(count.accepted, judged)
            ));
        }
        let any = report.totals.accepted_by_any;
        self.line(&format!(
            "  {:<12}{:>15}{:>9}{:>15}",
            "any of them",
            grouped(any),
            percent(any, judged),
            grouped(judged - any)
        ));
    }

    fn verdict_sets(&mut self, report: &Report) {
        self.heading(&format!("{:<50}{:>11}{:>9}", "ACCEPTED BY EXACTLY", "lines", "%"));
        for set in &report.verdict_sets {
            let cells = Grammar::ALL.map(|grammar| {
                if set.grammars.contains(&grammar) {
                    format!("{:<10}", grammar.name())
                } else {
                    " ".repeat(10)
                }
            });
            let mut names = cells.concat().trim_end().to_owned();
            if set.grammars.is_empty() {
                "none".clone_into(&mut names);
            }
            self.line(&format!(
                "  {names:<48}{:>11}{:>9}  {}",
                grouped(set.lines),
                percent(set.lines, report.totals.judged),
                bar(set.lines, report.totals.judged)
            ));
        }
    }

    fn schemes(&mut self, report: &Report) {
        let judged = report.totals.judged;
        let accepts = format!("{} %", report.grammar);
        self.heading(&format!("{:<24}{:>15}{:>9}{:>12}", "SCHEME", "lines", "%", accepts));
        let mut row = |name: &str, count: &Count| {
            let accepted = count.accepted.by(report.grammar);
            self.line(&format!(
                "  {name:<22}{:>15}{:>9}{:>12}  {}",
                grouped(count.lines),
                percent(count.lines, judged),
                percent(accepted, count.lines),
                bar(count.lines, judged)
            ));
        };
        let shown = report.schemes.len().min(MAX_ROWS);
        for scheme in &report.schemes[..shown] {
            let name = match scheme.label {
                Some(label) => {
                    let label = word_of(label);
                    format!("{} ({label})", shortened(&scheme.name, 20 - label.len() - 1))
                }
                None => shortened(&scheme.name, 22),
            };
            row(&name, &scheme.count);
        }
        if report.relative.lines > 0 {
            row("(relative)", &report.relative);
        }
        let rest = &report.schemes[shown..];
        let unlisted = &report.other_schemes;
        if !rest.is_empty() || unlisted.lines > 0 {
            let lines = rest.iter().map(|scheme| scheme.count.lines).sum::<u64>() + unlisted.lines;
            let names = if unlisted.lines > 0 { "more".to_owned() } else { grouped(rest.len() as u64) };
            self.line(&format!(
                "  {:<22}{:>15}{:>9}",
                format!("({names} others)"),
                grouped(lines),
                percent(lines, judged)
            ));
        }
    }

    fn defects(&mut self, report: &Report) {
        if report.defects.is_empty() {
            return;
        }
        self.heading(&format!(
            "{:<38}{:>15}  {}",
            format!("REFUSED BY {}", report.grammar),
            "lines",
            "first at line:column"
        ));
        for defect in report.defects.iter().take(MAX_ROWS) {
            let kind = format!("{}: {}", defect.component, words(defect.cause));
            self.example_row(report, &kind, defect.lines, defect.examples.first(), true);
        }
        let rest = report.defects.iter().skip(MAX_ROWS);
        let (kinds, lines) = rest.fold((0, 0), |(kinds, lines), defect| (kinds + 1, lines + defect.lines));
        if kinds > 0 {
            self.line(&format!("  {:<36}{:>15}", format!("({kinds} other kinds)"), grouped(lines)));
        }
    }

    fn advisories(&mut self, report: &Report) {
        if report.advisories.is_empty() {
            return;
        }
        self.heading(&format!("{:<38}{:>15}  {}", "ADVISORIES", "lines", "first at line"));
        for advisory in &report.advisories {
            self.example_row(report, advisory.name.name(), advisory.lines, advisory.examples.first(), false);
        }
    }

    fn example_row(
        &mut self,
        report: &Report,
        kind: &str,
        lines: u64,
        example: Option<&ExampleLine>,
        at: bool,
    ) {
        let mut row = format!("  {kind:<36}{:>15}", grouped(lines));
        if let Some(example) = example {
            let place = if at {
                format!("{}:{}", example.line, example.offset + 1)
            } else {
                example.line.to_string()
            };
            let several = report.inputs.len() > 1;
            let name = if several { format!("{}:", report.input_name(example.input)) } else { String::new() };
            let _ = write!(row, "  {name}{place}");
            self.line(&row);
            let text = self.excerpt(example, at);
            self.line(&format!("      {text}"));
        } else {
            self.line(&row);
        }
    }

    /// As much of the example as fits on a line, its mark set off.
    fn excerpt(&self, example: &ExampleLine, marked: bool) -> String {
        let mark = if marked { example.mark } else { [0, 0] };
        let shown = window(&example.text, mark, WIDTH - 12);
        let mut out = String::new();
        if shown.start > 0 || example.skipped > 0 {
            out.push('\u{2026}');
        }
        // The text is ASCII: any place in it can be cut at.
        if marked {
            let byte = format!("[{}]", &example.text[mark[0]..mark[1]]);
            out.push_str(&example.text[shown.start..mark[0]]);
            out.push_str(&self.paint("1;31", &byte));
            out.push_str(&example.text[mark[1]..shown.end]);
        } else {
            out.push_str(&example.text[shown.clone()]);
        }
        if shown.end < example.text.len() || example.cut {
            out.push('\u{2026}');
        }
        out
    }

    fn inputs(&mut self, report: &Report) {
        let failed: Vec<_> = report.inputs.iter().filter(|input| input.error.is_some()).collect();
        if failed.is_empty() {
            return;
        }
        self.heading("INPUTS not read to their end");
        for input in failed {
            let name = &input.name;
            let error = input.error.as_deref().unwrap_or_default();
            let text = format!("  {name}: {error} ({} counted)", plural(input.lines, "line", "lines"));
            self.line(&text);
        }
    }
}

/// The cause in words.
fn words(cause: Cause) -> String {
    match cause {
        Cause::NonAscii => "byte above 7F".to_owned(),
        _ => cause.name().replace('-', " "),
    }
}

fn word_of(label: SchemeLabel) -> &'static str {
    match label {
        SchemeLabel::Reserved => "reserved",
        SchemeLabel::Experimental => "experimental",
    }
}

fn shortened(name: &str, width: usize) -> String {
    if name.len() <= width { name.to_owned() } else { format!("{}\u{2026}", &name[..width - 1]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(percent(1, 0), "-");
        assert_eq!(percent(1, 3), "33.33");
        assert_eq!(percent(1, 1_000_000), "<0.01");
        assert_eq!(percent(999_999, 1_000_000), "99.99");
        assert_eq!(percent(5, 5), "100.00");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(4_852_686), "4.85 MB");
        assert_eq!(bar(0, 1), "");
        assert_eq!(bar(1, 1).chars().count(), BAR);
        assert_eq!(bar(1, 1_000_000).chars().count(), 1);
    }
}
