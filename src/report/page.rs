//! A page of text for a terminal: width, character set, colours, and line wrapping. Knows no report.

use std::fmt::Write;
use std::ops::Range;

use anstyle::{AnsiColor, Style};

use urlsift_grammar::escape;

/// The look of the text report. [`Default`] is for files and pipes: 100 columns of Unicode without colours, independent of
/// any terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextStyle {
    /// Whether headings, bars and marks are coloured by escape sequences.
    pub colour: bool,
    /// The maximum number of columns, limited to 40 to 160.
    pub width: usize,
    /// Whether the report is ASCII only. Other characters in names are then written as `\xHH`.
    pub ascii: bool,
    /// The maximum number of rows of the table of inputs.
    pub by_input: usize,
    /// Whether example lines have characters that are not ASCII. Otherwise, and if the report is ASCII only, these are written
    /// as `\xHH`.
    pub utf8: bool,
    /// What a front end calls the settings that the report names.
    pub words: Words,
}

/// The command that lists lines, and the names of settings, as a front end has them. Without a command, a page has none, and without a
/// name, the report leaves out the setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Words {
    /// The command that lists the lines of inputs.
    pub list: &'static str,
    /// Its option for the grammar.
    pub grammar: &'static str,
    /// Its option for the base of relative references.
    pub base: &'static str,
    /// Its option for a condition on lines.
    pub condition: &'static str,
    /// The command that prints the JSON in a page.
    pub render: &'static str,
    /// What writes a report as JSON.
    pub write: &'static str,
    /// The setting that shows all inputs.
    pub all_inputs: &'static str,
}

/// How many inputs a report shows by default. The JSON report has all.
pub(super) const MAX_INPUTS: usize = 20;

impl Default for TextStyle {
    fn default() -> Self {
        let words = Words::default();
        Self { colour: false, width: 100, ascii: false, utf8: true, by_input: MAX_INPUTS, words }
    }
}

/// What a part of the text is. This determines its colour.
#[derive(Clone, Copy)]
pub(super) enum Ink {
    Heading,
    Bar,
    Place,
    Mark,
    Warning,
}

impl Ink {
    const fn style(self) -> Style {
        match self {
            Self::Heading => Style::new().bold(),
            Self::Bar => AnsiColor::Cyan.on_default(),
            Self::Place => Style::new().dimmed(),
            Self::Mark => AnsiColor::Red.on_default().bold(),
            Self::Warning => AnsiColor::Yellow.on_default().bold(),
        }
    }
}

/// The minimum number of columns.
const MIN_WIDTH: usize = 40;

/// How many more columns the continuation of a broken line is indented.
const HANGING: usize = 2;

/// The widest bar, in columns.
const MAX_BAR: usize = 40;

/// The narrowest bar that is still useful, in columns.
const MIN_BAR: usize = 6;

pub(super) struct Page {
    out: String,
    style: TextStyle,
}

impl Page {
    pub(super) fn new(style: &TextStyle) -> Self {
        Self { out: String::new(), style: TextStyle { width: style.width.clamp(MIN_WIDTH, 160), ..*style } }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        self.style.width
    }

    pub(super) fn paint(&self, ink: Ink, text: &str) -> String {
        if self.style.colour && !text.is_empty() {
            let style = ink.style();
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// Adds a line. A line that does not fit loses its colours and is wrapped between words, or within a word that is too
    /// long.
    pub(super) fn line(&mut self, text: &str) {
        let text = text.trim_end();
        if count(text) <= self.width() {
            self.out.push_str(text);
            self.out.push('\n');
            return;
        }
        let plain: String = seen(text).collect();
        let mut rest = plain.as_str();
        let spaces = rest.len() - rest.trim_start().len();
        let (indent, mut room) = (spaces.min(self.width() / 2) + HANGING, self.width());
        while let Some((end, next)) = rest.char_indices().nth(room) {
            let space = if next == ' ' { Some(end) } else { rest[..end].rfind(' ') };
            let head = space.map_or("", |space| rest[..space].trim_end());
            let head = if head.is_empty() { &rest[..end] } else { head };
            let _ = write!(self.out, "{head}\n{:indent$}", "");
            rest = rest[head.len()..].trim_start();
            room = self.width() - indent;
        }
        self.out.push_str(rest);
        self.out.push('\n');
    }

    /// Adds an empty line and a heading.
    pub(super) fn heading(&mut self, text: &str) {
        self.out.push('\n');
        let text = self.paint(Ink::Heading, text.trim_end());
        self.line(&text);
    }

    /// Adds the parts of a sentence, on as few lines as possible.
    pub(super) fn flow(&mut self, indent: &str, parts: &[String], between: &str) {
        let mut line = indent.to_owned();
        for (n, part) in parts.iter().enumerate() {
            let part = if n + 1 < parts.len() { &format!("{part}{between}") } else { part };
            if line.len() > indent.len() && count(&line) + count(part.trim_end()) > self.width() {
                self.line(&line);
                indent.clone_into(&mut line);
            }
            line.push_str(part);
        }
        self.line(&line);
    }

    /// Whether example lines have characters that are not ASCII.
    pub(super) fn is_utf8(&self) -> bool {
        self.style.utf8 && !self.style.ascii
    }

    /// The characters that mark an omission.
    pub(super) fn dots(&self) -> &'static str {
        if self.style.ascii { "..." } else { "\u{2026}" }
    }

    /// A bar for a part of a whole, in the space after `used` columns.
    pub(super) fn bar(&self, part: u64, whole: u64, used: usize) -> String {
        let full = self.width().saturating_sub(used).min(MAX_BAR);
        if full < MIN_BAR {
            String::new()
        } else {
            self.paint(Ink::Bar, &bar(part, whole, full, self.style.ascii))
        }
    }

    /// Vertical bars side by side, each one column wide. The largest part has the full height.
    pub(super) fn skyline(&self, parts: &[u64]) -> String {
        let levels: &[char] = if self.style.ascii {
            &['.', ':', '-', '=', '+', '*', '#', '@']
        } else {
            &['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}']
        };
        let most = parts.iter().copied().max().unwrap_or(0).max(1);
        let level =
            |part: u64| usize::try_from((u128::from(part) * 8).div_ceil(u128::from(most))).unwrap_or(8);
        let column = |&part: &u64| level(part).checked_sub(1).map_or(' ', |level| levels[level.min(7)]);
        self.paint(Ink::Bar, &parts.iter().map(column).collect::<String>())
    }

    /// A text that is already printable. In ASCII mode, other characters are escaped.
    pub(super) fn name(&self, name: &str) -> String {
        if !self.style.ascii || name.is_ascii() {
            return name.to_owned();
        }
        let mut out = String::new();
        for c in name.chars() {
            if c.is_ascii() {
                out.push(c);
            } else {
                escape::push(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        out
    }

    /// Cuts a text at its end to fit into `width` columns.
    pub(super) fn beginning(&self, text: &str, width: usize) -> String {
        if count(text) <= width {
            return text.to_owned();
        }
        let kept = width.saturating_sub(count(self.dots()));
        text.chars().take(kept).chain(self.dots().chars()).collect()
    }

    /// Cuts a text at its start to fit into `width` columns.
    pub(super) fn end(&self, text: &str, width: usize) -> String {
        if count(text) <= width {
            return text.to_owned();
        }
        let skipped = count(text) - width.saturating_sub(count(self.dots()));
        self.dots().chars().chain(text.chars().skip(skipped)).collect()
    }

    /// Cuts a text of the data to fit after `used` columns, and puts the mark in brackets. `open` says whether text is already
    /// missing before and after it.
    pub(super) fn excerpt(
        &self,
        text: &str,
        mark: Option<[usize; 2]>,
        open: [bool; 2],
        used: usize,
    ) -> String {
        let width = self.width().saturating_sub(used + 2 + 2 * count(self.dots()));
        let Range { start, end } = escape::window(text, mark.unwrap_or([0, 0]), width);
        let dots = |is_cut: bool| if is_cut { self.dots() } else { "" };
        let shown = if let Some([from, to]) = mark {
            let marked = self.paint(Ink::Mark, &format!("[{}]", &text[from..to]));
            format!("{}{marked}{}", &text[start..from], &text[to..end])
        } else {
            text[start..end].to_owned()
        };
        format!("{}{shown}{}", dots(start > 0 || open[0]), dots(end < text.len() || open[1]))
    }
}

/// The number of columns of a text, assuming one per character. Escape sequences take none.
pub(super) fn count(text: &str) -> usize {
    seen(text).count()
}

/// The characters of a text without escape sequences.
fn seen(text: &str) -> impl Iterator<Item = char> {
    let mut escaped = false;
    text.chars().filter(move |&c| {
        let hidden = escaped || c == '\x1b';
        escaped = hidden && c != 'm';
        !hidden
    })
}

/// A bar for `part` of `whole`, where the whole has `full` columns. A part above 0 is always visible.
fn bar(part: u64, whole: u64, full: usize, ascii: bool) -> String {
    const EIGHTHS: [&str; 8] =
        ["", "\u{258f}", "\u{258e}", "\u{258d}", "\u{258c}", "\u{258b}", "\u{258a}", "\u{2589}"];
    let steps = if ascii { 1 } else { 8 };
    let length = (u128::from(part) * steps * full as u128).checked_div(u128::from(whole)).unwrap_or(0);
    let length = usize::try_from(length).unwrap_or(0).max(usize::from(part > 0));
    if ascii { "#".repeat(length) } else { "\u{2588}".repeat(length / 8) + EIGHTHS[length % 8] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars() {
        for ascii in [false, true] {
            assert_eq!(bar(0, 1, 24, ascii), "");
            assert_eq!(bar(1, 1, 24, ascii).chars().count(), 24);
            assert_eq!(bar(1, 1_000_000, 24, ascii).chars().count(), 1);
            assert_eq!(bar(0, 0, 24, ascii), "");
        }
        let page = Page::new(&TextStyle::default());
        assert_eq!(page.skyline(&[0, 1, 4, 8]), " \u{2581}\u{2584}\u{2588}");
        assert_eq!(page.skyline(&[]), "");
    }

    #[test]
    fn names_fit() {
        let page = Page::new(&TextStyle::default());
        assert_eq!(page.end("folder/name:1:2", 9), "\u{2026}name:1:2");
        assert_eq!(page.beginning("x-name", 4), "x-n\u{2026}");
        assert_eq!(page.end("name", 4), "name");
        let ascii = Page::new(&TextStyle { ascii: true, ..TextStyle::default() });
        assert_eq!(ascii.name("caf\u{e9}"), "caf\\xc3\\xa9");
        assert_eq!(ascii.beginning("x-long-name", 8), "x-lon...");
    }

    #[test]
    fn what_does_not_fit_is_broken() {
        let broken = |text: &str, colour: bool| {
            let mut page = Page::new(&TextStyle { width: 40, colour, ..TextStyle::default() });
            let text = if colour { page.paint(Ink::Mark, text) } else { text.to_owned() };
            page.line(&text);
            page.finish()
        };
        for (text, expected) in [
            ("a".repeat(40), "a".repeat(40) + "\n"),
            ("a".repeat(90), format!("{}\n  {}\n  {}\n", "a".repeat(40), "a".repeat(38), "a".repeat(12))),
            (
                format!("  {}   {} c", "a".repeat(30), "b".repeat(36)),
                format!("  {}\n    {}\n    c\n", "a".repeat(30), "b".repeat(36)),
            ),
            (format!("{} b", "a".repeat(40)), format!("{}\n  b\n", "a".repeat(40))),
        ] {
            assert_eq!(broken(&text, false), expected);
            assert_eq!(seen(&broken(&text, true)).collect::<String>(), expected);
        }
    }

    #[test]
    fn sentences_flow() {
        let mut page = Page::new(&TextStyle { width: 60, ..TextStyle::default() });
        page.flow("  ", &["a".repeat(30), "b".repeat(30), "c".to_owned()], ", ");
        assert_eq!(page.finish(), format!("  {},\n  {}, c\n", "a".repeat(30), "b".repeat(30)));
    }
}
