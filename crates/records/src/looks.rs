//! Recognises text that is read as a list of URLs but looks like something else, and finds out which format reads it best, so that a
//! warning can say so.
//!
//! The first [`SAMPLE_LEN`] bytes of an input decide. Most of their lines have to have a shape, and a line that is a URL and nothing
//! else never has one.

use std::sync::LazyLock;

use memchr::{memchr, memchr_iter, memmem, memrchr};
use serde::{Deserialize, Serialize};

use crate::dialect::{DELIMITERS, Dialect, cells, lines, records, unquoted, without_cut_line};
use crate::field_names::{ByValues, is_url};
use crate::{Format, Reader, Selector};
use urlsift_engine::lines::skip_byte_order_mark;
use urlsift_grammar::named;

/// The number of bytes at the start of an input that decide what it looks like.
pub const SAMPLE_LEN: usize = 64 << 10;

/// How many lines are looked at.
const LINES: usize = 200;

/// What an input looks like that is read as a list, and how it can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Looks {
    pub shape: TextShape,
    /// The way to read it that finds the most URLs; `None` if none finds any.
    #[serde(default)]
    pub trial: Option<Trial>,
}

impl Looks {
    /// What an input looks like that begins with `sample`; `None` if it looks like a list.
    pub fn of(sample: &[u8]) -> Option<Self> {
        let whole = without_cut_line(sample);
        let is_cut = sample.len() >= SAMPLE_LEN && whole.len() * 2 >= sample.len();
        let sample = skip_byte_order_mark(if is_cut { whole } else { sample }, 0);
        TextShape::of(sample).map(|shape| Self { shape, trial: Trial::best(sample, shape) })
    }
}

named! {
    /// What the text of an input looks like, if it does not look like one URL per line.
    TextShape {
        /// A list whose first line is a header, such as "url".
        Headed = "headed",
        /// Lines that end in CR alone.
        CrSeparated = "cr-separated",
        /// Lines that end in NUL.
        NulSeparated = "nul-separated",
        /// A JSON document, or several.
        Json = "json",
        /// Markup, such as XML or HTML.
        Markup = "markup",
        /// A table with commas between its columns.
        CommaTable = "comma-table",
        /// A table with tabs between its columns.
        TabTable = "tab-table",
        /// A table with semicolons between its columns.
        SemicolonTable = "semicolon-table",
        /// A table with vertical bars between its columns.
        BarTable = "bar-table",
        /// A list with comments or titles between the URLs.
        Commented = "commented",
        /// Several URLs in a line.
        Several = "several-per-line",
        /// A log or other text with URLs inside its lines.
        Log = "log",
        /// Base64, PEM or uuencode.
        Encoded = "encoded",
    }
}

/// The headers of tables with a single column.
const HEADERS: [&[u8]; 7] = [b"url", b"urls", b"uri", b"link", b"links", b"href", b"address"];

/// The beginnings of scripts, and of messages and other text with URLs in its lines.
const LOGS: [&[u8]; 10] = [
    b"#!/bin/", b"#!/usr/", b"%!PS-", b"#define ", b"#include ", b"BEGIN:VC", b"[InternetShortcut]",
    b"HTTP/1.", b"From: ", b"Received: ",
];

impl TextShape {
    /// The shape of an input that begins with `sample`, or `None` if it looks like a list of URLs.
    fn of(sample: &[u8]) -> Option<Self> {
        let body = sample.trim_ascii();
        let begins = |texts: &[&[u8]]| texts.iter().any(|text| body.starts_with(text));
        let n_lf = memchr_iter(b'\n', sample).count();
        let n_inner_cr = memchr_iter(b'\r', body).filter(|&at| body.get(at + 1) != Some(&b'\n')).count();
        let lines = first_records(sample);
        let count = |is_so: fn(&[u8]) -> bool| lines.iter().filter(|line| is_so(line)).count();
        let most = |is_so: fn(&[u8]) -> bool| count(is_so) * 2 > lines.len();
        let is_headed = matches!(lines[..], [first, second, ..]
            if is_url(second) && HEADERS.iter().any(|header| first.eq_ignore_ascii_case(header)));
        // Where hardly any line is a URL, one in five is enough for a log. In prose, one line is.
        let n_inside = count(has_url_inside);
        let is_prose = lines.len() > 2 && n_inside + count(is_url) > 0 && most(|line| line.contains(&b' '));
        let has_few = (n_inside * 5 >= lines.len() || is_prose) && count(is_whole_url) * 5 < lines.len();
        // The first shape that the input has.
        let shapes = [
            (Self::NulSeparated, n_lf == 0 && memchr_iter(0, body).count() > 1),
            (Self::CrSeparated, n_inner_cr > n_lf),
            (Self::Json, is_json(body)),
            (Self::Log, begins(&LOGS)),
            (Self::Encoded, begins(&[b"-----BEGIN ", b"begin 6", b"begin-base64 "]) || most(is_base64)),
            (Self::Headed, is_headed),
            (Self::Markup, is_tag(body) || most(has_tag)),
            (Self::TabTable, are_rows(&lines, b'\t')),
            (Self::BarTable, are_rows(&lines, b'|')),
            (Self::SemicolonTable, are_rows(&lines, b';')),
            (Self::CommaTable, are_rows(&lines, b',')),
            (Self::Several, most(has_several)),
            (Self::Log, most(has_url_inside) || has_few),
            (Self::Commented, begins(&[b"#EXTM3U"]) || is_commented(sample)),
        ];
        shapes.into_iter().find_map(|(shape, has_it)| has_it.then_some(shape))
    }
}

/// The first lines of a sample, without blank ones and comments.
fn first_records(mut sample: &[u8]) -> Vec<&[u8]> {
    // Dumps of databases have a short beginning, and then lines that fill the sample.
    if let Some(lf) = memrchr(b'\n', sample)
        && sample.len() - lf > SAMPLE_LEN / 2
    {
        sample = &sample[lf + 1..];
    }
    records(sample).take(LINES).collect()
}

/// A line and its cells.
type Row<'a> = (&'a [u8], Vec<&'a [u8]>);

/// Whether the lines are rows of a table.
fn are_rows(lines: &[&[u8]], delimiter: u8) -> bool {
    // Whatever else decides, most rows have several cells. Most lists end here.
    if lines.iter().filter(|line| memchr(delimiter, line).is_some()).count() * 2 <= lines.len() {
        return false;
    }
    let bare_cells = |line| cells(line, delimiter.into()).into_iter().map(|cell| unquoted(cell.trim_ascii()));
    let rows: Vec<Row<'_>> = lines.iter().map(|&line| (line, bare_cells(line).collect())).collect();
    let Some((first, names)) = rows.first() else { return false };
    let count = |is_so: &dyn Fn(&Row<'_>) -> bool| rows.iter().filter(|row| is_so(row)).count();
    let are_most = |n: usize| n * 10 >= lines.len() * 9;
    // A URL in a later column. No URL begins with a bare word and one of these delimiters.
    let n_inside = count(&|(line, cells)| !is_url(line) && cells[1..].iter().any(|cell| is_url(cell)));
    // A quoted column, and another one after it.
    let n_quoted = count(&|(line, _)| line[0] == b'"' && memmem::find(line, &[b'"', delimiter]).is_some());
    // As many cells as in the first line. After the first column, these are bare words, numbers or URLs.
    let is_even = |cells: &[&[u8]]| names.len() > 1 && cells.len() == names.len();
    let n_even = count(&|(_, cells)| is_even(cells));
    let n_bare = count(&|(_, cells)| is_even(cells) && cells[1..].iter().all(|cell| is_bare(cell)));
    // A URL may have a delimiter after its "?". Few have a tab or a bar before.
    let is_query = |byte: &u8| matches!(byte, b'?' | b'#');
    let n_certain =
        count(&|(line, _)| line.split(is_query).next().is_some_and(|path| path.contains(&delimiter)));
    // A header has no "/", and numbers in the first column are no URLs.
    let is_header = !first.iter().any(|byte| b":/?.%&=".contains(byte));
    let n_numbered = count(&|(_, cells)| cells[0].iter().all(u8::is_ascii_digit));
    n_inside * 2 > lines.len()
        || n_quoted * 2 > lines.len()
        || n_bare > 2 && are_most(n_bare) && n_certain * 5 >= lines.len()
        || match delimiter {
            b'\t' | b'|' => names.len() > 1 && n_certain * 2 > lines.len(),
            _ => lines.len() > 1 && are_most(n_even) && (is_header || n_numbered * 2 > lines.len()),
        }
}

/// Whether the value of a column is a URL, a number, a date, or words, and not the end of a URL.
fn is_bare(value: &[u8]) -> bool {
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || b".:%+-$,".contains(byte);
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_-+'\"".contains(byte);
    is_url(value) || value.contains(&b' ') || value.iter().all(is_of_number) || value.iter().all(is_of_word)
}

/// Whether text begins as a JSON array or object does.
fn is_json(text: &[u8]) -> bool {
    let Some((b'[' | b'{', rest)) = text.split_first() else { return false };
    matches!(rest.trim_ascii_start().first(), Some(b'"' | b'{' | b'[' | b']' | b'}'))
}

/// Whether text begins with a tag, a comment or a declaration of markup.
fn is_tag(text: &[u8]) -> bool {
    matches!(text, [b'<', next, ..] if next.is_ascii_alphabetic() || matches!(next, b'!' | b'?' | b'/'))
        && memchr(b'>', text).is_some()
        && !is_url(&text[1..])
}

/// Whether a line that is no URL has a tag.
fn has_tag(line: &[u8]) -> bool {
    !is_url(line) && memchr_iter(b'<', line).any(|at| is_tag(&line[at..]))
}

/// Whether a line is as long as a line of base64, and has all kinds of its characters and no others.
fn is_base64(line: &[u8]) -> bool {
    let has = |is_so: fn(&u8) -> bool| line.iter().any(is_so);
    (60..=76).contains(&line.len())
        && line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte))
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
}

/// Whether a line begins with a URL, and has another one after a blank or a separator.
fn has_several(line: &[u8]) -> bool {
    let behind_separator = |at: usize| {
        let scheme = line[..at].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let before = &line[..at - scheme];
        scheme > 0 && matches!(before.last(), Some(b' ' | b'\t' | b',' | b';' | b'|' | b'>'))
    };
    is_url(line) && marks(line).any(behind_separator)
}

/// Where "://" is in a line. The search is made once, because that takes longer than to search a line.
fn marks(line: &[u8]) -> impl Iterator<Item = usize> {
    static FINDER: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new(b"://"));
    FINDER.find_iter(line)
}

/// Whether text is one URL, and nothing else that a delimiter or a blank separates from it.
pub(super) fn is_whole_url(text: &[u8]) -> bool {
    is_url(text) && !has_several(text) && !text.iter().any(|byte| b" \t\r\n\"<>|".contains(byte))
}

/// Whether a tenth of the lines are comments or a third are titles, and most of the others are URLs with an authority.
fn is_commented(sample: &[u8]) -> bool {
    let lines = lines(sample).map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).take(LINES);
    let (urls, rest): (Vec<_>, Vec<_>) = lines.partition(|line| is_url(line));
    let is_comment = |line: &&[u8]| line.starts_with(b"# ") || line.starts_with(b"#EXT");
    let (comments, rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_comment);
    let n_titles = rest.iter().filter(|line| line.contains(&b' ')).count();
    let (n_urls, n_comments, n_others) = (urls.len(), comments.len(), rest.len() - n_titles);
    let has_many = (n_comments > 1 && n_comments * 9 >= n_urls) || (n_titles > 1 && n_titles * 2 >= n_urls);
    n_urls > 1 && has_many && n_others <= n_urls / 4
}

/// Whether a line has a URL that is not at its start. A blank, a quote, a bracket, a name with "=", or the name of a file precedes it.
fn has_url_inside(line: &[u8]) -> bool {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let is_behind = |before: &[u8]| {
        // As grep and compilers write it: the name of a file, or a number, and ":".
        let prefix = before.iter().rposition(|&byte| byte == b':').map_or(&b""[..], |colon| &before[..colon]);
        let is_prefix = prefix.iter().any(|byte| b"/.".contains(byte))
            || (!prefix.is_empty() && prefix.iter().all(u8::is_ascii_digit));
        let is_value = memchr(b'=', before).is_some_and(|at| before[..at].iter().all(is_of_name));
        is_prefix || is_value || before.iter().any(|byte| b" \t\"'`<([{".contains(byte))
    };
    !is_url(line) && marks(line).any(|at| is_behind(&line[..at]))
}

/// A way to read an input, and what it finds in its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trial {
    pub format: Format,
    /// The delimiter of a table, if urlsift would take another one.
    pub delimiter: Option<char>,
    /// The wanted columns of a table: bit `n` stands for column `n + 1`.
    columns: u64,
    /// Whether it finds URLs. Otherwise it finds hosts or paths.
    pub finds_urls: bool,
    /// How many it finds.
    pub found: u64,
}

impl Trial {
    /// The way that finds the most URLs in `sample`, the beginning of an input. If none finds a URL and the shape is a table, a column
    /// may have hosts or paths.
    fn best(sample: &[u8], shape: TextShape) -> Option<Self> {
        use TextShape::{BarTable, CommaTable, SemicolonTable, TabTable};
        let of_shape = match shape {
            BarTable => Some('|'),
            CommaTable => Some(','),
            SemicolonTable => Some(';'),
            TabTable => Some('\t'),
            _ => None,
        };
        let table = |delimiter| {
            let (trial, refuses) = Self::of_table(sample, delimiter)?;
            Some((trial, refuses, of_shape == Some(delimiter)))
        };
        let tables = DELIMITERS.into_iter().filter_map(table);
        let is_it =
            |format: &&Format| format.has_objects() || format.has_elements() || **format == Format::Text;
        let other = |&format: &Format| {
            Self::of_format(sample, format).map(|(trial, refuses)| (trial, refuses, false))
        };
        let others = Format::ALL.iter().rev().filter(is_it).filter_map(other);
        let is_something = |trial: &Self| trial.found > 0 && (trial.finds_urls || of_shape.is_some());
        let all = tables.chain(others).filter(|(trial, ..)| is_something(trial));
        // Of two that find as many, the one that refuses no record, is of this shape and has more structure is right, and else the first.
        let rank = |(trial, refuses, is_of_shape): &(Self, bool, bool)| {
            (trial.finds_urls, trial.found, !refuses, *is_of_shape, trial.format != Format::Text)
        };
        all.rev().max_by_key(rank).map(|(trial, ..)| trial)
    }

    /// Reads records of a format that is no table. A reference in a document counts as a URL. Also returns whether a record is
    /// refused.
    fn of_format(sample: &[u8], format: Format) -> Option<(Self, bool)> {
        let trial = Self { format, delimiter: None, columns: 0, finds_urls: true, found: 0 };
        let reader = Reader::with_fields(format, &[]).ok()?;
        Some(trial.with(reader, sample, |value| is_whole_url(value) || format.has_elements()))
    }

    /// Reads the columns of a table that have URLs in most lines, or else the first one that has hosts or paths. Also returns whether a
    /// record is refused.
    fn of_table(sample: &[u8], delimiter: char) -> Option<(Self, bool)> {
        let (mut urls, mut targets) = (ByValues::default(), ByValues::default());
        let rows = records(sample).take(LINES).map(|line| cells(line, delimiter));
        for cells in rows.filter(|cells| cells.len() > 1) {
            for (column, cell) in cells.into_iter().take(64).enumerate() {
                urls.add(column, unquoted(cell));
                targets.add_if(is_target, column, unquoted(cell));
            }
        }
        let finds_urls = urls.likely().next().is_some();
        let wanted: Vec<_> =
            if finds_urls { urls.likely().collect() } else { targets.likely().take(1).collect() };
        let columns = wanted.into_iter().fold(0, |columns, n| columns | 1_u64 << n);
        let format = if delimiter == '\t' { Format::Tsv } else { Format::Csv };
        let usual = Dialect::detect(sample, None, None).delimiter;
        let named = Some(delimiter).filter(|_| format == Format::Csv && delimiter != usual);
        let trial = Self { format, delimiter: named, columns, finds_urls, found: 0 };
        let fields: Vec<_> = trial.columns().map(Selector::Number).collect();
        let reader = Reader::with_fields(format, &fields).ok().filter(|_| columns != 0)?;
        let reader = reader.in_dialect(Dialect { delimiter, escape: None });
        Some(trial.with(reader, sample, if finds_urls { is_whole_url } else { is_target }))
    }

    /// The trial with the number of fields in `sample` that are so, and whether a record is refused.
    fn with(self, mut reader: Reader, sample: &[u8], is_so: impl Fn(&[u8]) -> bool) -> (Self, bool) {
        let (found, refused): (Vec<_>, Vec<_>) = reader.fields(sample).partition(Result::is_ok);
        let found = found.iter().flatten().filter(|field| is_so(&field.bytes)).count() as u64;
        (Self { found, ..self }, !refused.is_empty())
    }

    /// The numbers of the wanted columns of a table, from 1.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        let columns = self.columns;
        (0..64).filter(move |n| columns >> n & 1 == 1).map(|n| n + 1)
    }
}

/// Whether a value may be a host or a path.
fn is_target(value: &[u8]) -> bool {
    let is_of_host = |byte: &u8| byte.is_ascii_alphanumeric() || b"-.:".contains(byte);
    let tld = value.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let is_host = value.len() > tld.len() + 1
        && value.iter().all(is_of_host)
        && tld.len() > 1
        && tld.iter().all(u8::is_ascii_alphabetic);
    is_host || value.starts_with(b"/") && !value.contains(&b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_no_shape() {
        for list in [
            "",
            "\n",
            "http://h/\n",
            "http://h/\r\nhttp://h/a\r\n",
            "http://h/\r\n",
            "http://h/a,1\nhttp://h/b,2\n",
            "/a,1.html\n/b,2.html\n",
            "/a;v=1\n/b;v=2\n",
            "http://h/a b\nhttp://h/c d\n",
            "http://h/?a=<b>\nhttp://h/<c>\n",
            "# a list\nhttp://h/\n",
            "# id,url\nhttp://h/\n",
            "example.org\nwww.example.org\n",
            "http://h/?a=b\nurl=http://h/\nhttp://h/\n",
            "http://h/\n http://h/\nhttp://h/\n",
            "http://h/\nsee http://h/ there\nhttp://h/\n",
            "[::1]\n",
            "192.0.2.1\n192.0.2.2\n",
            "http://h/\0\n",
            "a:b\nc:d\n",
            "http://h/a,1.html\nhttp://h/b,2.html\nhttp://h/c,3.html\n",
            "http://h/?ids=1|2\nhttp://h/?ids=3|4\nhttp://h/?ids=5|6\n",
            "q=1\na=2&b=3\n",
            "url:http://h/\nfeed:http://h/\njdbc:mysql://h/\n",
            "http://h/?u=http://h/\nhttp://h/http://h/\n",
        ] {
            assert_eq!(TextShape::of(list.as_bytes()), None, "{list:?}");
        }
    }

    #[test]
    fn the_advised_delimiter_is_that_of_the_shape() {
        for text in [
            "http://h/;1,5;x\nhttp://k/;2,5;y\nhttp://l/;30,5;z\n",
            "http://h/;1,5\nhttp://k/;2,5\nhttp://l/;3,5\n",
        ] {
            let trial = Trial::best(text.as_bytes(), TextShape::SemicolonTable).unwrap();
            assert_eq!((trial.delimiter, trial.found), (Some(';'), 3), "{text}");
        }
    }

    #[test]
    fn other_text_has_a_shape() {
        use TextShape::*;
        for (text, shape) in [
            ("url\nhttp://h/\n", Headed),
            ("http://h/\rhttp://h/a\r", CrSeparated),
            ("http://h/\0http://h/a\0", NulSeparated),
            ("[\"http://h/\"]", Json),
            ("[\n  {\"url\": \"http://h/\"}\n]\n", Json),
            ("{\n  \"url\": \"http://h/\"\n}\n", Json),
            ("<?xml version=\"1.0\"?>\n<urlset>\n", Markup),
            ("text\n<a href=\"http://h/\">\n<p>\n", Markup),
            ("\"http://h/\"\n\"http://h/a\"\n", Log),
            ("  'http://h/',\n  'http://h/a'\n", Log),
            ("<http://h/>\n", Log),
            ("1,http://h/\n2,http://h/a\n", CommaTable),
            ("1,\"http://h/\",x\n", CommaTable),
            ("rank,domain\n1,example.org\n2,example.com\n", CommaTable),
            ("1,example.org\n2,example.com\n", CommaTable),
            ("http://h/\t200\nhttp://h/a\t404\n", TabTable),
            ("1;http://h/\n2;http://h/a\n", SemicolonTable),
            ("| 1 | http://h/ |\n| 2 | http://h/a |\n", BarTable),
            ("1. http://h/\n2. http://h/a\n", Log),
            ("   12 http://h/\n    3 http://h/a\n", Log),
            ("- http://h/\n* http://h/a\n", Log),
            ("url = http://h/\nother=http://h/a\n", Log),
            ("url: http://h/\n", Log),
            ("  http://h/\n\thttp://h/a\n", Log),
            ("2026-01-01 GET http://h/ 200\n", Log),
            ("see http://h/ there\n", Log),
            ("a.txt:http://h/\na.txt:http://h/a\n", Log),
            ("12:http://h/\n13:http://h/a\n", Log),
            ("BEGIN:VCARD\nURL:http://h/\nEND:VCARD\n", Log),
            ("http://h/,5\nhttp://h/a,7\nhttp://h/b,\n", CommaTable),
            ("example.org,1\nexample.com,2\nexample.net,3\n", CommaTable),
            ("Adresse,Klicks\nhttp://h/?a,5\nhttp://h/b,6\nhttp://h/c,7\n", CommaTable),
            ("\"http://h/\",\"a,b\"\n\"http://h/a\",\"c\"\n", CommaTable),
            ("http://h/;2026-01-01;a word\nhttp://h/a;2026-01-02;x\nhttp://h/b;;\n", SemicolonTable),
            ("http://h/ http://h/a\nhttp://h/b,http://h/c\n", Several),
            ("#EXTM3U\n#EXTINF:1,a\nhttp://h/a\n#EXTINF:2,b\nhttp://h/b\n", Commented),
            ("A title\nhttp://h/a\nAnother title\nhttp://h/b\n", Commented),
        ] {
            assert_eq!(TextShape::of(text.as_bytes()), Some(shape), "{text:?}");
        }
    }
}
