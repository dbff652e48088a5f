//! Recognises text that is read as a list of URLs but looks like something else, so that a warning can say so.
//!
//! The shape is decided on the first [`SAMPLE_LEN`] bytes of an input. Most of its lines have to have the shape, and a
//! line that is a URL and nothing else never has one.

use memchr::{memchr, memchr_iter, memmem, memrchr};

use crate::dialect::{cells, records};
use crate::field_names::is_url;
use urlsift_grammar::named;

/// The number of bytes at the start of an input that decide its shape.
pub const SAMPLE_LEN: usize = 64 << 10;

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

impl TextShape {
    /// The shape of an input that begins with `sample`, or `None` if it looks like a list of URLs.
    pub fn of(sample: &[u8]) -> Option<Self> {
        let n_lf = memchr_iter(b'\n', sample).count();
        let body = sample.trim_ascii();
        if n_lf == 0 && body.contains(&0) {
            return (memchr_iter(0, body).count() > 1).then_some(Self::NulSeparated);
        }
        let n_inner_cr = memchr_iter(b'\r', body).filter(|&at| body.get(at + 1) != Some(&b'\n')).count();
        if n_inner_cr > n_lf {
            return Some(Self::CrSeparated);
        }
        if is_json(body) {
            return Some(Self::Json);
        }
        let begins = |texts: &[&[u8]]| texts.iter().any(|text| body.starts_with(text));
        let scripts = begins(&[b"#!/bin/", b"#!/usr/", b"%!PS-", b"#define ", b"#include "]);
        let messages = [&b"BEGIN:VC"[..], b"[InternetShortcut]", b"HTTP/1.", b"From: ", b"Received: "];
        if scripts || begins(&messages) {
            return Some(Self::Log);
        }
        let lines = Lines::of(sample);
        if begins(&[b"-----BEGIN ", b"begin 6", b"begin-base64 "]) || lines.most(is_base64) {
            return Some(Self::Encoded);
        }
        if let [first, second, ..] = lines.0[..]
            && HEADERS.iter().any(|header| first.eq_ignore_ascii_case(header))
            && is_url(second)
        {
            return Some(Self::Headed);
        }
        if is_tag(body) || lines.most(has_tag) {
            return Some(Self::Markup);
        }
        let tables = [
            (b'\t', Self::TabTable),
            (b'|', Self::BarTable),
            (b';', Self::SemicolonTable),
            (b',', Self::CommaTable),
        ];
        if let Some((_, table)) = tables.into_iter().find(|(delimiter, _)| lines.are_rows(*delimiter)) {
            return Some(table);
        }
        if lines.most(is_log) {
            return Some(Self::Log);
        }
        if lines.most(has_several) {
            return Some(Self::Several);
        }
        // Where hardly any line is a URL, one in five is enough. In prose, one line is.
        let [n_urls, n_inside] = [lines.count(is_whole_url), lines.count(is_log)];
        let is_prose = || {
            lines.0.len() > 2 && n_inside + lines.count(is_url) > 0 && lines.most(|line| line.contains(&b' '))
        };
        if n_urls * 5 < lines.0.len() && (n_inside * 5 >= lines.0.len() || is_prose()) {
            return Some(Self::Log);
        }
        (begins(&[b"#EXTM3U"]) || is_commented(sample)).then_some(Self::Commented)
    }

    /// Whether it is a table.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::CommaTable | Self::TabTable | Self::SemicolonTable | Self::BarTable)
    }
}

/// How many lines are looked at.
pub(crate) const LINES: usize = 200;

/// The first lines of a sample, without blank ones and comments.
struct Lines<'a>(Vec<&'a [u8]>);

impl<'a> Lines<'a> {
    fn of(mut sample: &'a [u8]) -> Self {
        // Dumps of databases have a short beginning, and then lines that fill the sample.
        if let Some(lf) = memrchr(b'\n', sample)
            && sample.len() - lf > SAMPLE_LEN / 2
        {
            sample = &sample[lf + 1..];
        }
        Self(records(sample).take(LINES).collect())
    }

    fn count(&self, is_so: impl Fn(&[u8]) -> bool) -> usize {
        self.0.iter().filter(|line| is_so(line)).count()
    }

    /// Whether more than half of the lines are so.
    fn most(&self, is_so: impl Fn(&[u8]) -> bool) -> bool {
        self.count(is_so) * 2 > self.0.len()
    }

    /// Whether the lines are rows of a table.
    fn are_rows(&self, delimiter: u8) -> bool {
        let n_cells = |line: &[u8]| cells(line, char::from(delimiter)).len();
        let Some((first, rows)) = self.0.split_first() else { return false };
        // A URL in a later column. No URL begins with a bare word and one of these delimiters.
        let has_url_inside = |line: &[u8]| !is_url(line) && columns(line, delimiter).skip(1).any(is_url);
        // A quoted column, and another one after it.
        let is_quoted_row = |line: &[u8]| line[0] == b'"' && memmem::find(line, &[b'"', delimiter]).is_some();
        if self.most(has_url_inside) || self.most(is_quoted_row) {
            return true;
        }
        let n = n_cells(first);
        if n < 2 {
            return false;
        }
        // Bare words, numbers or URLs after the first column. A URL may have a delimiter after its "?", but some have no "?".
        let is_row = |line: &[u8]| n_cells(line) == n && columns(line, delimiter).skip(1).all(is_bare);
        let is_certain = |line: &[u8]| memchr(delimiter, &line[..path_end(line)]).is_some();
        let n_rows = self.count(is_row);
        if n_rows > 2 && n_rows * 10 >= self.0.len() * 9 && self.count(is_certain) * 5 >= self.0.len() {
            return true;
        }
        match delimiter {
            // Few URLs contain these, and only behind a "?".
            b'\t' | b'|' => self.most(is_certain),
            // URLs contain the others. A header has no "/", and numbers in the first column are no URLs.
            _ => {
                let is_even = rows.iter().filter(|row| n_cells(row) == n).count() * 10 >= rows.len() * 9;
                let is_number = |row: &[u8]| {
                    columns(row, delimiter).next().is_some_and(|word| word.iter().all(u8::is_ascii_digit))
                };
                let is_header = |line: &[u8]| !line.iter().any(|byte| b":/?.%&=".contains(byte));
                is_even && !rows.is_empty() && (is_header(first) || self.most(is_number))
            }
        }
    }
}

/// The offset of the query or fragment of a line, or the length of the line if it has none.
fn path_end(line: &[u8]) -> usize {
    line.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(line.len())
}

/// Whether the value of a column is a URL, a number, a date, or words, and not the end of a URL.
fn is_bare(value: &[u8]) -> bool {
    let is_number = value.iter().all(|byte| byte.is_ascii_digit() || b" .:%+-$".contains(byte));
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b" _-+'\"".contains(byte);
    is_url(value) || is_number || value.iter().all(is_word) || value.contains(&b' ')
}

/// The columns of a row, without blanks and quotes around them.
fn columns(line: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    line.split(move |&byte| byte == delimiter).map(|column| {
        let column = column.trim_ascii();
        column.strip_prefix(b"\"").unwrap_or(column)
    })
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
    is_url(line) && memmem::find_iter(line, b"://").any(behind_separator)
}

/// Whether text is one URL, and nothing else that a delimiter or a blank separates from it.
pub(crate) fn is_whole_url(text: &[u8]) -> bool {
    is_url(text) && !has_several(text) && !text.iter().any(|byte| b" \t\r\n\"<>|".contains(byte))
}

/// Whether a tenth of the lines are comments or a third are titles, and most of the others are URLs with an authority.
fn is_commented(sample: &[u8]) -> bool {
    let lines = sample.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let [mut n_urls, mut n_comments, mut n_titles, mut n_others] = [0; 4];
    for line in lines.filter(|line| !line.is_empty()).take(LINES) {
        let kind = if is_url(line) {
            &mut n_urls
        } else if line.starts_with(b"# ") || line.starts_with(b"#EXT") {
            &mut n_comments
        } else if line.contains(&b' ') {
            &mut n_titles
        } else {
            &mut n_others
        };
        *kind += 1;
    }
    let has_many = (n_comments > 1 && n_comments * 9 >= n_urls) || (n_titles > 1 && n_titles * 2 >= n_urls);
    n_urls > 1 && has_many && n_others <= n_urls / 4
}

/// Whether a line has a URL that is not at its start. A blank, a quote, a bracket, a name with "=", or the name of a file precedes it.
fn is_log(line: &[u8]) -> bool {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let is_behind = |before: &[u8]| {
        // As grep and compilers write it: the name of a file, or a number, and ":".
        let prefix = before.iter().rposition(|&byte| byte == b':').map_or(&b""[..], |colon| &before[..colon]);
        let is_prefix = prefix.iter().any(|byte| b"/.".contains(byte))
            || (!prefix.is_empty() && prefix.iter().all(u8::is_ascii_digit));
        let is_value = memchr(b'=', before).is_some_and(|at| before[..at].iter().all(is_of_name));
        is_prefix || is_value || before.iter().any(|byte| b" \t\"'`<([{".contains(byte))
    };
    !is_url(line) && memmem::find_iter(line, b"://").any(|at| is_behind(&line[..at]))
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
