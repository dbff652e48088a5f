//! Detects the format of an input by its first records.
//!
//! A list of URLs must never be taken for something else. An input is a list if one of its first lines looks like a URL and like
//! no record. It is also a list if no more than half of these lines look like records of one format. Only a header can override
//! this. Logs and dumps that were cut, or that contain some foreign lines, are still detected.

use memchr::memmem;

use super::dialect::{
    LINES, cells, likely_delimiter, lines, named_delimiter, possible, unquoted, without_cut_line,
};
use super::field_names::{begins_as_url, is_same, is_strong, is_url, usual};
use super::looks::{SAMPLE_LEN, is_whole_url};
use super::record::Begins;
use super::{Format, Reader, Selector, json, w3c};
use urlsift_engine::lines::skip_byte_order_mark;

impl Format {
    /// Returns the format of an input that begins with `head`, judged by its first records. The result is [`Format::Lines`]
    /// unless another format is clear. A few kilobytes are enough. `head` may be the whole input, and it may end inside a record.
    ///
    /// ```
    /// # mod urlsift { pub use urlsift_records as internal; pub use urlsift_records as run; }
    /// use urlsift::run::Format;
    ///
    /// assert_eq!(Format::detect(b"http://example.org/\n"), Format::Lines);
    /// assert_eq!(Format::detect(b"{\"id\": 1, \"url\": \"http://example.org/\"}\n"), Format::JsonLines);
    /// ```
    #[must_use]
    pub fn detect(head: &[u8]) -> Self {
        Self::detect_with(head, &[])
    }

    /// Like [`Format::detect`], for an input from which `fields` are wanted. A header may name a wanted column.
    pub fn detect_with(head: &[u8], fields: &[Selector]) -> Self {
        Detected::of(head, fields).format
    }

    /// Whether the result of [`Format::detect_with`] is final: no bytes after `head` can change it. `head` ends with an LF.
    pub fn is_settled(head: &[u8], fields: &[Selector]) -> bool {
        Detected::of(head, fields).is_settled
    }
}

/// The format of an input, and whether no more of its bytes can change it.
struct Detected {
    format: Format,
    is_settled: bool,
}

impl Detected {
    fn of(head: &[u8], fields: &[Selector]) -> Self {
        let head = skip_byte_order_mark(head, 0);
        let mut begins = Format::ALL.iter().map(|&format| (format, (format.row().begins)(head)));
        let begins = begins.find(|(_, begins)| *begins != Begins::No);
        if let Some((format, begins @ (Begins::Likely | Begins::Yes))) = begins {
            return Self { format, is_settled: begins == Begins::Yes };
        }
        let lines: Vec<_> = lines(without_cut_line(head)).take(MOST_LINES).collect();
        if comments(&lines).any(w3c::is_header) {
            return Self { format: Format::W3c, is_settled: begins.is_none() };
        }
        // Neither comments of CSV nor headers of CDXJ.
        let first: Vec<_> =
            lines.iter().filter(|line| !matches!(line[0], b'#' | b'!' | b'@')).take(LINES).copied().collect();
        if first.is_empty() {
            return Self { format: Format::Lines, is_settled: false };
        }
        let (are_strings, likeness) = (are_json_strings(&first), likeness(&first));
        // The first line may be longer than what is looked at, as in crawls that keep pages in JSON.
        let is_long =
            |line: &[u8]| line.len() >= SAMPLE_LEN && line.starts_with(b"{\"") && json::begins_as_json(line);
        let format = if are_strings && first.iter().any(|line| line.contains(&b'\\'))
            || matches!(first[..], [line] if is_long(line))
        {
            Some(Format::JsonLines)
        } else {
            let most = likeness.iter().find(|(_, n)| *n > first.len() / 2);
            most.map(|(format, _)| *format).or_else(|| table(&lines, &first, fields))
        };
        // A format needs more than half of eight lines. Four lines that are not its records rule it out.
        let is_settled = begins.is_none()
            && (first.len() == LINES
                || !may_be_table(&lines, &first, fields)
                    && !are_strings
                    && likeness.iter().all(|(_, n)| first.len() - n >= LINES / 2));
        Self { format: format.unwrap_or(Format::Lines), is_settled }
    }
}

/// The format of a table that begins with `lines`. `first` are those that are records. `None` if it does not look like one.
fn table(lines: &[&[u8]], first: &[&[u8]], fields: &[Selector]) -> Option<Format> {
    let of = |delimiter| if delimiter == '\t' { Format::Tsv } else { Format::Csv };
    if let Some(delimiter) = named_delimiter(lines[0]) {
        return Some(of(delimiter))
            .filter(|_| lines.get(1).is_some_and(|line| cells(line, delimiter).len() > 1));
    }
    let Some(delimiter) = likely_delimiter(first) else {
        return is_quoted_column(first).then_some(Format::Csv);
    };
    // The first record names the columns, or the comment before it does (as in the lists of URLhaus).
    let comment = comments(lines).last().map_or(&b""[..], |line| line[1..].trim_ascii_start());
    let is_table = is_header(first[0], first.get(1).copied(), delimiter, fields)
        || is_header(comment, Some(first[0]), delimiter, fields)
        || has_column_of_urls(first, delimiter);
    is_table.then(|| of(delimiter))
}

/// Whether more lines may show that an input is a table. `lines` are those so far, and `first` its records. The name of a column
/// settles it, unless several delimiters are possible.
fn may_be_table(lines: &[&[u8]], first: &[&[u8]], fields: &[Selector]) -> bool {
    let line = first[0];
    let may_separate =
        |&delimiter: &char| delimiter == '\t' || !begins_as_url(line) || lines.len() > first.len();
    let delimiters: Vec<_> = possible(line).filter(may_separate).collect();
    match delimiters[..] {
        [] => {
            named_delimiter(line).is_some()
                || is_quoted_column(first)
                || first.len() == 1 && is_strong(unquoted(line))
        }
        [delimiter] => !is_header(line, first.get(1).copied(), delimiter, fields),
        _ => true,
    }
}

/// How many lines a table needs to be recognised by its values.
const ROWS: usize = 3;

/// Whether all lines have equally many cells, and one column has a URL in each line, mostly with nothing behind it. The first line
/// may name the columns.
///
/// A URL may contain delimiters other than tabs. So the column is not the first one, unless the columns have names.
fn has_column_of_urls(lines: &[&[u8]], delimiter: char) -> bool {
    let rows: Vec<_> = lines.iter().map(|line| cells(line, delimiter)).collect();
    let has_names = may_be_header(lines[0]);
    let values = &rows[usize::from(has_names)..];
    let is_column = |column: usize| {
        let mut cells = values.iter().map(|row| unquoted(row[column]));
        cells.clone().filter(|cell| is_whole_url(cell)).count() * 2 >= values.len()
            && cells.all(begins_as_url)
    };
    let from = usize::from(!has_names && delimiter != '\t');
    rows.len() >= ROWS
        && rows.iter().all(|row| row.len() == rows[0].len())
        && (from == 0 || !values.iter().any(|row| begins_as_url(row[0])))
        && (from..rows[0].len()).any(is_column)
}

/// Whether each line is a URL in quotes. The first line may be the name of the column.
fn is_quoted_column(lines: &[&[u8]]) -> bool {
    let is_value = |line: &&[u8]| matches!(line, [b'"', .., b'"']) && begins_as_url(unquoted(line));
    let values = if is_strong(unquoted(lines[0])) { &lines[1..] } else { lines };
    !values.is_empty() && values.iter().all(is_value) && values.iter().all(|line| cells(line, ',').len() == 1)
}

/// Whether each line is a URL as a JSON string.
fn are_json_strings(lines: &[&[u8]]) -> bool {
    lines.iter().all(|line| {
        let mut reader = Reader::new(Format::JsonLines);
        line.starts_with(b"\"")
            && reader.fields(line).all(|field| field.is_ok_and(|field| begins_as_url(&field.bytes)))
    })
}

/// Counts for each format how many lines look like its records. There are none if a line looks like a URL and like no record.
fn likeness(lines: &[&[u8]]) -> Vec<(Format, usize)> {
    let is_no_record = |line: &[u8]| !Format::ALL.iter().any(|format| (format.row().is_record)(line));
    if lines.iter().any(|line| may_be_url(line) && is_no_record(line)) {
        return Vec::new();
    }
    // The first two may contain the lines of others.
    let formats = [Format::JsonLines, Format::Cri].iter().chain(Format::ALL);
    let count = |format: &Format| lines.iter().filter(|line| (format.row().is_record)(line)).count();
    formats.map(|format| (*format, count(format))).collect()
}

/// Whether a line may be a URL, or begin with one. Records that are lines contain blanks or quotes.
fn may_be_url(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let line = line.strip_prefix(b"\"").unwrap_or(line);
    is_url(line) || !line.iter().any(|byte| matches!(byte, b' ' | b'\t' | b'"'))
}

/// The comments before the first record.
fn comments<'a>(lines: &[&'a [u8]]) -> impl Iterator<Item = &'a [u8]> {
    lines.iter().copied().take_while(|line| line.starts_with(b"#"))
}

/// How many lines are read to find records, including comments and headers.
const MOST_LINES: usize = 64;

/// Whether a line may name columns: it has no URL.
fn may_be_header(line: &[u8]) -> bool {
    memmem::find(line, b"://").is_none()
}

/// Whether a line has two or more columns, one of them called like a wanted field or by a usual name for URLs. If that name often means
/// something else, the `next` line has a URL in this column. Columns that are padded with blanks are no cells.
fn is_header(line: &[u8], next: Option<&[u8]>, delimiter: char, fields: &[Selector]) -> bool {
    let is_padded = |cell: &[u8]| cell.starts_with(b" ");
    let name = |cell| if is_padded(cell) { b"" } else { unquoted(cell.trim_ascii_end()) };
    let names: Vec<_> = cells(line, delimiter).into_iter().map(name).collect();
    let is_there = |wanted: &str| names.iter().any(|name| is_same(wanted.as_bytes(), name));
    let is_wanted = |field: &Selector| matches!(field, Selector::Name(name) if is_there(name));
    let is_usual = |column: usize| {
        let value = next.and_then(|next| cells(next, delimiter).get(column).copied());
        is_strong(names[column]) || value.is_some_and(|value| begins_as_url(unquoted(value)))
    };
    let has_url = usual(&names).is_some_and(is_usual) || fields.iter().any(is_wanted);
    names.len() > 1 && may_be_header(line) && has_url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_that_is_longer_than_the_sample_is_a_record() {
        let line = |start: &str| [start, &"x".repeat(SAMPLE_LEN)].concat();
        let format_of = |line: &str| Format::detect(line.as_bytes());
        assert_eq!(format_of(&line("{\"url\": \"http://h/\", \"page\": \"")), Format::JsonLines);
        assert_eq!(format_of(&line("{\"url\": \"http://h/\"} \"")), Format::JsonLines);
        assert_eq!(format_of(&line("{\"url\": http")), Format::Lines);
        assert_eq!(format_of("{\"url\": \"http://h/\", \"page\": \""), Format::Lines);
    }

    #[test]
    fn foreign_lines_change_nothing_and_lines_of_lists_do() {
        let records = [
            (Format::JsonLines, "{\"url\": \"http://h/\"}\n", "{\"url\": nothing\n"),
            (Format::JsonLines, "{ \"id\":1, \"url\" : \"http://h/\" }\n", "{\"id\":1}\n"),
            (Format::Cdxj, "org,h)/ 20260101000000 {\"url\": \"http://h/\"}\n", "tus\": \"200\"}\n"),
            (Format::Cdxj, "org,h)/ 20260101000000123 {\"target\": \"http://h/\"}\n", "a b\n"),
            (Format::Cdx, "org,h)/ 20260101000000 http://h/ text/html 200 ABC 1792\n", "a b\n"),
            (Format::Cri, "2026-01-01T00:00:00.000000000Z stdout F {}\n", "a b\n"),
            (Format::Clf, "::1 - - [01/Jan/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n", "1.1\" 200 1\n"),
            (Format::Alb, "h2 2026-01-01T00:00:00.000000Z a \"GET / HTTP/1.1\"\n", "\"GET / HTTP/1.1\"\n"),
            (
                Format::S3,
                "o b [01/Jan/2026:00:00:00 +0000] ::1 - r REST.GET.OBJECT k \"GET / HTTP/1.1\" 200 - 1 1 1 1 \"-\"\n",
                "a b\n",
            ),
            (
                Format::Elb,
                "2026-01-01T00:00:00.000000Z e c b -1 0.1 0.1 200 200 1 1 \"GET http://h/ HTTP/1.1\"\n",
                "a b\n",
            ),
            (
                Format::Haproxy,
                "::1:80 [01/Jan/2026:00:00:00.000] f b/s 0/0/0/0/0 200 1 - - \"GET / HTTP/1.1\"\n",
                "a b\n",
            ),
            (
                Format::Squid,
                "1772525700.586      0 ::1 TCP_HIT/200 5 GET http://h/ - HIER_NONE/- text/html\n",
                "a b\n",
            ),
            (Format::Envoy, "[2026-01-01T00:00:00.000Z] \"GET / HTTP/2\" 200 - 0 0\n", "a b\n"),
            (Format::Iis, "2026-01-01 00:00:00 ::1 GET / - 80 - ::1 a - 200 0 0 15\n", "a b\n"),
        ];
        for (format, record, foreign) in records {
            let format_of = |lines: &[&str]| Format::detect(lines.concat().as_bytes());
            assert_eq!(format_of(&[record]), format, "{record}");
            assert_eq!(format_of(&[foreign, record, record]), format, "{record}");
            assert_eq!(format_of(&[record, record, record, foreign]), format, "{record}");
            assert_eq!(format_of(&[record, "http://h/\n", record]), Format::Lines, "{record}");
            let most_foreign = [[foreign; 5].concat(), record.repeat(4)].concat();
            if format != Format::JsonLines {
                assert_eq!(format_of(&[&most_foreign]), Format::Lines, "{record}");
            }
        }
        let format_of = |lines: &str| Format::detect(lines.as_bytes());
        for directive in ["#Date: 2026-01-01", "#Software: x", "#Start-Date: x", "# x"] {
            assert_eq!(format_of(&format!("{directive}\n#Fields: cs-uri-stem\n/\n")), Format::W3c);
            if directive != "#Software: x" {
                assert_eq!(format_of(&format!("{directive}\nid,url\n1,http://h/\n")), Format::Csv);
                assert_eq!(
                    format_of(&format!("{directive}\nhttp://h/#Fields: \n#Fields: x\n")),
                    Format::Lines
                );
            }
        }
        for list in [
            "http://h/a?x={\"a\":1} t\n{\"b\":1}\n{\"c\":1}\n",
            "http://h/a 20260101000000 http://web.archive.org/ title of the page here\n",
            "saved 20260101000000 at: see http://h/ for more\n",
            " http://h/ Title\n{\"b\":1}\n{\"b\":1}\n",
        ] {
            assert_eq!(format_of(list), Format::Lines, "{list}");
        }
        for line in ["http://h/ Title", " http://h/", "#Date: x\nhttp://h/"] {
            assert!(Format::is_settled(format!("{line}\n").as_bytes(), &[]), "{line}");
        }
        assert!(Format::is_settled(b"a b\nc d\ne f\ng h\n", &[]), "none can be most of eight");
    }

    #[test]
    fn wanted_fields_tell_tables_and_objects() {
        let format_of =
            |head: &str, field: &str| Format::detect_with(head.as_bytes(), &[field.parse().unwrap()]);
        assert_eq!(format_of("id,Link\n1,http://h/\n", "link"), Format::Csv);
        assert_eq!(format_of("\"id\"\t\"link\"\n1\thttp://h/\n", "link"), Format::Tsv);
        assert_eq!(format_of("id,name\n1,http://h/\n", "uri"), Format::Lines);
        // The message about a wanted field that there is not has to name those of the format.
        assert_eq!(format_of("id,link\n1,http://h/\n", "uri"), Format::Csv);
        assert_eq!(format_of("1\thttp://h/\n2\thttp://h/\n3\thttp://h/\n", "uri"), Format::Tsv);
        assert_eq!(format_of("{\"url\": 5, \"a\": [1]}\n", "a"), Format::JsonLines);
        assert_eq!(format_of("{\"a\": {\"b\": \"http://h/\"}}\n", "/a/b"), Format::JsonLines);
    }

    #[test]
    fn tables_are_recognised_by_their_rows() {
        let format_of = |head: &str| Format::detect(head.as_bytes());
        for (table, format) in [
            ("site;clicks\nhttp://a/;1\nhttp://b/;2\n", Format::Csv),
            ("1|http://a/\n2|http://b/\n3|http://c/\n", Format::Csv),
            ("http://a/\tone\nhttp://b/\ttwo\nhttp://c/\t\n", Format::Tsv),
            ("sep=;\nsite;clicks\nhttp://a/;1\n", Format::Csv),
            ("id;url\n1;http://a/,b\n", Format::Csv),
            ("\"url\"\n\"http://a/,b\"\n", Format::Csv),
            ("\"http://a/\"\n\"http://b/\"\n", Format::Csv),
            ("http://a/;x\nhttp://b/;y\nhttp://c/;z\n", Format::Lines),
            ("http://a/,http://b/\nhttp://c/,http://d/\nhttp://e/,http://f/\n", Format::Lines),
            ("a,http://b/\nc,http://d/,\ne,http://f/\n", Format::Lines),
            ("url\nhttp://a/,b\n", Format::Lines),
            ("a;b\nc;d\ne;f\n", Format::Lines),
            // What follows the URLs, a statement of SQL, and a table whose cells are padded.
            ("a\thttp://a/ (x)\nb\thttp://b/ (x)\nc\thttp://c/ (x)\n", Format::Lines),
            ("INSERT INTO a(id,url,x) VALUES(1,'http://h/','y');\n", Format::Lines),
            ("| id | url |\n|---|---|\n| 1 | http://h/ |\n", Format::Lines),
        ] {
            assert_eq!(format_of(table), format, "{table}");
        }
    }

    /// No later line changes a settled result. The sequences have lines that speak for and against formats.
    #[test]
    fn what_is_settled_stays() {
        let lines = [
            "http://example.org/",
            "",
            "# id,url",
            "#Fields: cs-uri-stem",
            "#Version: 1.0",
            "#Date: 2026-01-01",
            "http://example.org/ Title",
            "a few words",
            "!meta {}",
            "id,url",
            "1\turl",
            "1;http://example.org/",
            "a;b,url|c",
            "\"http://example.org/\"",
            "{\"url\": \"http://example.org/\"}",
            "org,example)/ 20260101000000 {\"url\": \"http://example.org/\"}",
            " CDX N b a",
            "k 20260101000000 http://example.org/ - 200 - - 1 2 f",
            "::1 - - [01/Jan/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 1",
            "2026/01/01 00:00:00 [error] nginx",
            "https 2026-01-01T00:00:00.000000Z \"GET / HTTP/1.1\"",
            "WARC/1.0",
            "1772525700.586      0 ::1 TCP_HIT/200 5 GET http://h/ - HIER_NONE/- text/html",
            "2026-01-01 00:00:00 ::1 GET / - 80 - ::1 a - 200 0 0 15",
        ];
        let mut n_settled = 0;
        for n in 0..40_000_usize {
            // Each number seeds a sequence of lines. A line is mostly repeated, so that formats are detected.
            let mut choice = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut line = lines[choice % lines.len()];
            let mut text = Vec::new();
            let mut settled = None;
            for _ in 0..12 {
                text.extend(line.bytes().chain([b'\n']));
                let detected = Detected::of(&text, &[]);
                if let Some(format) = settled {
                    assert_eq!(detected.format, format, "{}", text.escape_ascii());
                    assert!(detected.is_settled);
                } else if detected.is_settled {
                    settled = Some(detected.format);
                    n_settled += 1;
                }
                choice = choice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if choice >> 61 == 0 {
                    line = lines[(choice >> 32) % lines.len()];
                }
            }
        }
        assert!(n_settled > 10_000, "{n_settled}");
        assert!(
            Format::is_settled(b"http://example.org/\n", &[])
                && !Format::is_settled(b"\n", &[])
                && !Format::is_settled(b"{\"url\": \"/\"}\n", &[])
        );
    }
}
