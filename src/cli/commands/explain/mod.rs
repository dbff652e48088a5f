//! `urlsift explain TEXT...`: shows single URLs, part by part and grammar by grammar.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::ops::Range;

use clap::Args;
use unicode_width::UnicodeWidthStr;
use urlsift_engine::Scanner;
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::{Cause, Defect};
use urlsift_grammar::escape::{self, Keep};
use urlsift_grammar::judge::{Judgement, judge};
use urlsift_grammar::public_suffix::UsedList;
use urlsift_grammar::{Grammar, uri_parts};

use crate::cli::args::report::shown_on_terminal;
use crate::cli::output_file::Output;
use crate::cli::{End, SuffixArgs, grammar, whatwg_base};
use crate::columns::text_rows::{Form, TextRows};
use crate::columns::{Batch, COLUMNS, Origin};

mod whatwg;

#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// URLs in quotes, one per argument; write -- before one that begins with -
    #[arg(value_name = "TEXT", required = true)]
    texts: Vec<OsString>,

    /// Only this grammar: draft1993, rfc1738, rfc1808, rfc2396 or rfc3986 [default: all]
    ///
    /// Columns of hosts and keys, and what browsers make of the URL, are left out too.
    #[arg(short, long, value_name = "GRAMMAR", value_parser = grammar(), hide_possible_values = true)]
    grammar: Option<Grammar>,

    /// Base URL: what browsers resolve a relative reference against
    ///
    /// Without it, the WHATWG parser fails on references. The five grammars need none.
    #[arg(long, value_name = "URL", conflicts_with = "grammar")]
    base: Option<OsString>,

    #[command(flatten)]
    suffixes: SuffixArgs,
}

pub(crate) fn run(args: &ExplainArgs) -> io::Result<End> {
    let grammars = args.grammar.map_or(Grammar::ALL.to_vec(), |grammar| vec![grammar]);
    let keep = shown_on_terminal();
    let base = args.base.as_deref().map(|base| whatwg_base(base, false)).transpose()?;
    Output::open(None)?.write(|out| {
        for (n, text) in args.texts.iter().enumerate() {
            if n > 0 {
                writeln!(out)?;
            }
            let line = text.as_encoded_bytes();
            let judgement = judge(line);
            let mut shown = beginning(line, keep);
            if args.grammar.is_none() {
                columns(&mut shown, line, args.suffixes.list(), keep);
            }
            verdicts(&mut shown, &judgement, line, &grammars, keep);
            if args.grammar.is_none() {
                whatwg::explain(&mut shown, line, base.as_ref(), keep);
            }
            advisories(&mut shown, &judgement);
            out.write_all(shown.as_bytes())?;
        }
        Ok(())
    })?;
    Ok(End::Done)
}

/// The line and its components. Nothing is masked, because the user typed the line.
fn beginning(line: &[u8], keep: Keep) -> String {
    let mut out = if line.is_empty() { "(the empty text)".to_owned() } else { shown(line, keep) };
    out.push_str("\n\n");
    components(&mut out, line, keep);
    out
}

fn verdicts(out: &mut String, judgement: &Judgement<'_>, line: &[u8], grammars: &[Grammar], keep: Keep) {
    out.push('\n');
    for &grammar in grammars {
        match judgement.defect(grammar) {
            None => drop(writeln!(out, "  {:<11}accepts", grammar.name())),
            Some(defect) => refusal(out, line, judgement, &defect, keep),
        }
    }
}

fn advisories(out: &mut String, judgement: &Judgement<'_>) {
    let advisories = judgement.advisories();
    if !advisories.is_empty() {
        out.push('\n');
        for advisory in advisories.iter() {
            let _ = writeln!(out, "  advisory: {advisory}: {}", advisory.meaning());
        }
    }
}

fn components(out: &mut String, line: &[u8], keep: Keep) {
    let found = uri_parts::split(line);
    let rows = [
        ("scheme", found.scheme),
        ("userinfo", found.userinfo),
        ("host", found.host),
        ("port", found.port),
        ("path", Some(found.path)),
        ("query", found.query),
        ("fragment", found.fragment),
    ];
    for (name, range) in rows {
        let Some(range) = range else { continue };
        let text = shown(&line[range], keep);
        let _ = writeln!(out, "  {name:<11}{}", if text.is_empty() { "(empty)" } else { &text });
    }
}

/// The columns that `explain` shows beside components.
const SHOWN: [&str; 9] = [
    "host_kind", "host_reversed", "host_problems", "suffix", "domain", "private_suffix", "private_domain",
    "canonical", "surt",
];

/// Writes the columns that have a cell for the line.
fn columns(out: &mut String, line: &[u8], suffixes: UsedList, keep: Keep) {
    let columns: Vec<_> = COLUMNS.iter().filter(|column| SHOWN.contains(&column.name)).collect();
    let origins = vec![Origin::default()];
    let mut batch =
        Batch::of_values(&columns, &mut Scanner::default(), &[Some(line)], line, Grammar::Rfc3986, origins);
    batch.suffixes = suffixes;
    let mut rows = TextRows::new(Form::Tsv, keep, &columns, 0);
    let _ = rows.write::<()>(&mut batch, &mut |_| Ok(()));
    let row = String::from_utf8_lossy(&rows.out);
    let cells = columns.iter().zip(row.trim_end_matches('\n').split('\t'));
    for (n, (column, cell)) in cells.filter(|(_, cell)| *cell != "-").enumerate() {
        let before = if n == 0 { "\n" } else { "" };
        let cell = match cell {
            "" => "(empty)",
            r"\x2d" => "-",
            cell => &cell.replace(r"\\", r"\"),
        };
        let _ = writeln!(out, "{before}  {:<15}{cell}", column.name);
    }
}

/// Text as a person reads it: a backslash is not doubled.
fn shown(bytes: &[u8], keep: Keep) -> String {
    escape::text(bytes, keep).replace(r"\\", r"\")
}

/// How many columns of the text are shown. With the indent, they fill a terminal of 80 columns.
const WIDTH: usize = 64;

fn refusal(out: &mut String, line: &[u8], judgement: &Judgement<'_>, defect: &Defect, keep: Keep) {
    let at = usize::try_from(defect.offset).unwrap_or(usize::MAX);
    let _ = writeln!(
        out,
        "  {:<11}refuses: {} ({defect})",
        defect.grammar.name(),
        sentence(line, at, defect, keep)
    );
    mark(out, line, at, keep);
    let mut lines = defect.rule.lines();
    let _ = writeln!(out, "             {}", lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(out, "             {line}");
    }
    let _ = writeln!(out, "             ({})", defect.source());
    let _ = writeln!(out, "             could go on with: {}", set(judgement.could_follow(defect.grammar)));
}

/// Shows a line with a mark below the byte at `at`.
fn mark(out: &mut String, line: &[u8], at: usize, keep: Keep) {
    if !line.is_empty() {
        let (text, indent, n_marked) = window(line, at, keep);
        let _ = writeln!(out, "             {text}");
        let _ = writeln!(out, "             {}{}", " ".repeat(indent), "^".repeat(n_marked));
    }
}

/// The part of the line around the byte at `at` that fits into [`WIDTH`] columns, how many columns precede the mark below
/// it, and how many the mark has.
fn window(line: &[u8], at: usize, keep: Keep) -> (String, usize, usize) {
    let marked = escape::character(line, at);
    let width = |range: Range<usize>| shown(&line[range], keep).width();
    // Half of the columns are for what precedes the mark, and more if little follows it.
    let (mut start, mut end) = (marked.start, marked.end);
    let mut n_columns = width(marked.clone());
    let mut extend = |limit: usize, forwards: bool| {
        while if forwards { end < line.len() } else { start > 0 } {
            let next = escape::character(line, if forwards { end } else { start - 1 });
            let n_more = width(next.clone());
            if n_columns + n_more > limit {
                break;
            }
            n_columns += n_more;
            if forwards { end = next.end } else { start = next.start }
        }
    };
    extend(WIDTH / 2, false);
    extend(WIDTH, true);
    extend(WIDTH, false);
    let [before, after] = [start > 0, end < line.len()].map(|is_cut| if is_cut { "\u{2026}" } else { "" });
    let text = format!("{before}{}{after}", shown(&line[start..end], keep));
    let indent = before.width() + width(start..marked.start);
    (text, indent, width(marked).max(1))
}

/// Describes the defect in words. Names the byte, and the character that it is part of.
fn sentence(line: &[u8], at: usize, defect: &Defect, keep: Keep) -> String {
    let component = defect.component;
    let part = format!("the {component}");
    let code = line.get(at).map_or_else(String::new, |byte| format!("{byte:02X}"));
    let text = shown(&line[escape::character(line, at)], keep);
    let byte = match &text[..] {
        "\"" => "a double quote".to_owned(),
        r"\" => "a backslash".to_owned(),
        _ => format!("\"{text}\""),
    };
    match defect.cause {
        Cause::Space => format!("a space in {part}"),
        Cause::ControlByte => format!("the control byte {code} in {part}"),
        Cause::NonAscii if std::str::from_utf8(&line[escape::character(line, at)]).is_ok() => {
            format!("the byte {code} of {byte}, above 7F, in {part}")
        }
        Cause::NonAscii => format!("the byte {code}, above 7F, in {part}"),
        Cause::IllegalCharacter => format!("{byte} is in no rule of this grammar"),
        Cause::BadEscape => format!("\"%\" without two hexadecimal digits behind it in {part}"),
        Cause::MissingComponent if component == Component::Scheme => "there is no scheme".to_owned(),
        Cause::MissingComponent => format!("{part} is missing or empty"),
        Cause::EndsEarly => format!("the text ends too early, in {part}"),
        Cause::UnknownScheme => "the scheme is not one of this grammar's".to_owned(),
        _ => format!("{byte} is not allowed here in {part}"),
    }
}

/// Lists bytes, with ranges for runs of letters and digits.
fn set(bytes: impl Iterator<Item = u8>) -> String {
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for byte in bytes {
        match runs.last_mut() {
            Some((_, last))
                if last.checked_add(1) == Some(byte)
                    && byte.is_ascii_alphanumeric()
                    && last.is_ascii_alphanumeric() =>
            {
                *last = byte;
            }
            _ => runs.push((byte, byte)),
        }
    }
    if runs.is_empty() {
        return "nothing; it had to end here".to_owned();
    }
    let texts = runs.into_iter().map(|(first, last)| match last - first {
        0 => char::from(first).to_string(),
        1 => format!("{} {}", char::from(first), char::from(last)),
        _ => format!("{}-{}", char::from(first), char::from(last)),
    });
    texts.collect::<Vec<_>>().join(" ")
}
