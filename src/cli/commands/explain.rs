//! `urlsift explain TEXT...`: shows single URLs, part by part and grammar by grammar.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::ops::Range;

use crate::grammar::Grammar;
use crate::grammar::component::Component;
use crate::grammar::defect::Cause;
use crate::grammar::defect::Defect;
use crate::grammar::escape::{marked, masked, window};
use crate::grammar::judge::Judgement;
use crate::grammar::judge::judge;
use crate::grammar::{password, uri_parts};
use clap::Args;

use crate::cli::End;
use crate::cli::output_file::Output;

#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// URLs in quotes, one per argument; write -- before one that begins with -
    #[arg(value_name = "TEXT", required = true)]
    texts: Vec<OsString>,

    /// Show passwords instead of ***
    #[arg(long)]
    show_secrets: bool,
}

pub(crate) fn run(args: &ExplainArgs) -> io::Result<End> {
    Output::open(None)?.write(|out| {
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
    let secrets = if show_secrets { Vec::new() } else { password::secrets(line, false) };
    let judgement = judge(line);
    let mut out =
        if line.is_empty() { "(the empty text)\n".to_owned() } else { masked(line, &secrets) + "\n" };
    out.push('\n');
    components(&mut out, line, &secrets);
    out.push('\n');
    for grammar in Grammar::ALL {
        match judgement.defect(grammar) {
            None => drop(writeln!(out, "  {:<11}accepts", grammar.name())),
            Some(defect) => refusal(&mut out, line, &judgement, &defect, &secrets),
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

fn components(out: &mut String, line: &[u8], secrets: &[Range<usize>]) {
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
        let touching = secrets.iter().filter(|secret| range.start < secret.end && secret.start < range.end);
        let inside = |at: usize| at.clamp(range.start, range.end) - range.start;
        let inside: Vec<_> = touching.map(|secret| inside(secret.start)..inside(secret.end)).collect();
        let text = masked(&line[range.clone()], &inside);
        let _ = writeln!(out, "  {name:<11}{}", if text.is_empty() { "(empty)" } else { &text });
    }
}

/// How many characters of the text are shown. With the indent, they fill a terminal of 80 columns.
const WIDTH: usize = 64;

fn refusal(
    out: &mut String,
    line: &[u8],
    judgement: &Judgement<'_>,
    defect: &Defect,
    secrets: &[Range<usize>],
) {
    let at = usize::try_from(defect.offset).unwrap_or(usize::MAX);
    let _ = writeln!(
        out,
        "  {:<11}refuses: {} ({defect})",
        defect.grammar.name(),
        sentence(line, at, defect, secrets)
    );
    let (text, mark) = marked(line, at, secrets);
    if !line.is_empty() {
        let shown = window(&text, mark, WIDTH);
        let before = if shown.start > 0 { "\u{2026}" } else { "" };
        let after = if shown.end < text.len() { "\u{2026}" } else { "" };
        let _ = writeln!(out, "             {before}{}{after}", &text[shown.clone()]);
        let indent = mark[0] - shown.start + before.chars().count();
        let _ =
            writeln!(out, "             {}{}", " ".repeat(indent), "^".repeat((mark[1] - mark[0]).max(1)));
    }
    let mut lines = defect.rule.lines();
    let _ = writeln!(out, "             {}", lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(out, "             {line}");
    }
    let _ = writeln!(out, "             ({})", defect.source());
    let _ = writeln!(out, "             could go on with: {}", set(judgement.could_follow(defect.grammar)));
}

/// Describes the defect in words.
fn sentence(line: &[u8], at: usize, defect: &Defect, secrets: &[Range<usize>]) -> String {
    let component = defect.component;
    let part = match component {
        Component::Scheme => "the scheme".to_owned(),
        _ => format!("the {component}"),
    };
    let hidden = secrets.iter().any(|secret| secret.contains(&at));
    let byte =
        line.get(at).map_or_else(String::new, |byte| masked(&[*byte], if hidden { &[0..1] } else { &[] }));
    let byte = if byte == "\"" { "a double quote".to_owned() } else { format!("\"{byte}\"") };
    match defect.cause {
        Cause::Space => format!("a space in {part}"),
        Cause::ControlByte => format!("the control byte {byte} in {part}"),
        Cause::NonAscii => format!("the byte {byte} above 7F in {part}"),
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
