//! `urlsift explain TEXT...`: one URL at a time, part by part and grammar by grammar.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::ops::Range;

use clap::Args;
use urlsift::escape::masked;
use urlsift::report::marked;
use urlsift::{Cause, Component, Defect, Grammar, Judgement, judge, parts};

use super::{End, output};

#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// The URLs, one an argument; quote them, and put -- before one that begins with "-"
    #[arg(value_name = "TEXT", required = true)]
    texts: Vec<OsString>,

    /// Show passwords instead of ***
    #[arg(long)]
    show_secrets: bool,
}

pub(crate) fn run(args: &ExplainArgs) -> io::Result<End> {
    output::to(None, |out| {
        for (n, text) in args.texts.iter().enumerate() {
            if n > 0 {
                writeln!(out)?;
            }
            out.write_all(explain(text.as_encoded_bytes(), args.show_secrets).as_bytes())?;
        }
        Ok(())
    })?;
    Ok(End::Done)
}

fn explain(line: &[u8], show_secrets: bool) -> String {
    let secret = if show_secrets { None } else { parts::password(line) };
    let judgement = judge(line);
    let mut out =
        if line.is_empty() { "(the empty text)\n".to_owned() } else { masked(line, secret.as_ref()) + "\n" };
    out.push('\n');
    components(&mut out, line, secret.as_ref());
    out.push('\n');
    for grammar in Grammar::ALL {
        match judgement.defect(grammar) {
            None => drop(writeln!(out, "  {:<11}accepts", grammar.name())),
            Some(defect) => refusal(&mut out, line, &judgement, &defect, secret.as_ref()),
        }
    }
    let advisories = judgement.advisories();
    if !advisories.is_empty() {
        out.push('\n');
        for advisory in advisories.iter() {
            let _ = writeln!(out, "  advisory: {advisory}: {}", advisory.meaning());
        }
    }
    out
}

fn components(out: &mut String, line: &[u8], secret: Option<&Range<usize>>) {
    let found = parts::split(line);
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
        let inside = secret.filter(|secret| range.start <= secret.start && secret.end <= range.end);
        let inside = inside.map(|secret| secret.start - range.start..secret.end - range.start);
        let text = masked(&line[range.clone()], inside.as_ref());
        let _ = writeln!(out, "  {name:<11}{}", if text.is_empty() { "(empty)" } else { &text });
    }
}

/// The widest line that shows the text.
const WIDTH: usize = 100;

fn refusal(
    out: &mut String,
    line: &[u8],
    judgement: &Judgement<'_>,
    defect: &Defect,
    secret: Option<&Range<usize>>,
) {
    let at = usize::try_from(defect.offset).unwrap_or(usize::MAX);
    let _ = writeln!(
        out,
        "  {:<11}refuses: {} ({defect})",
        defect.grammar.name(),
        sentence(line, at, defect, secret)
    );
    let (text, [start, end]) = marked(line, at, secret);
    let from = if text.len() <= WIDTH { 0 } else { start.saturating_sub(WIDTH / 2).min(text.len() - WIDTH) };
    let to = text.len().min(from + WIDTH);
    let (before, after) =
        (if from > 0 { "\u{2026}" } else { "" }, if to < text.len() { "\u{2026}" } else { "" });
    let _ = writeln!(out, "             {before}{}{after}", &text[from..to]);
    let indent = start - from + before.chars().count();
    let _ = writeln!(out, "             {}{}", " ".repeat(indent), "^".repeat((end - start).max(1)));
    let mut lines = defect.rule.lines();
    let _ = writeln!(out, "             {}", lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(out, "             {line}");
    }
    let section = defect.rule.section();
    let place = if section.starts_with(|c: char| c.is_ascii_digit()) {
        format!("section {section}")
    } else {
        section.to_owned()
    };
    let _ = writeln!(out, "             ({}, {place})", defect.grammar.document());
    let _ = writeln!(out, "             could go on with: {}", set(judgement.could_follow(defect.grammar)));
}

/// What is wrong, in words.
fn sentence(line: &[u8], at: usize, defect: &Defect, secret: Option<&Range<usize>>) -> String {
    let component = defect.component;
    let part = match component {
        Component::Scheme => "the scheme".to_owned(),
        _ => format!("the {component}"),
    };
    let hidden = secret.is_some_and(|secret| secret.contains(&at)).then_some(0..1);
    let byte = line.get(at).map_or_else(String::new, |byte| masked(&[*byte], hidden.as_ref()));
    match defect.cause {
        Cause::Space => format!("a space in {part}"),
        Cause::ControlByte => format!("the control byte {byte} in {part}"),
        Cause::NonAscii => format!("the byte {byte} above 7F in {part}"),
        Cause::IllegalCharacter => format!("\"{byte}\" is in no rule of this grammar"),
        Cause::BadEscape => format!("\"%\" without two hexadecimal digits behind it in {part}"),
        Cause::MissingComponent if component == Component::Scheme => "there is no scheme".to_owned(),
        Cause::MissingComponent => format!("{part} is missing or empty"),
        Cause::EndsEarly => format!("the text ends too early, in {part}"),
        Cause::UnknownScheme => "the scheme is not one of this grammar's".to_owned(),
        _ => format!("\"{byte}\" is not allowed here in {part}"),
    }
}

/// Bytes in short: runs as ranges.
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
