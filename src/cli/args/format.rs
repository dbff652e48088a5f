//! Options for record formats and URL fields, and messages about the formats found.

use std::convert::Infallible;
use std::ffi::OsString;
use std::mem;

use crate::report::{grouped, plural};
use crate::run::{Reading, Records};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use urlsift_grammar::password::secrets_of_record;
use urlsift_input::{Codec, Input};
use urlsift_records::{BadCause, Dialect, Escape, Format, Selector, Skip};

use crate::cli::warn;

#[derive(Args)]
pub(crate) struct ReadingArgs {
    /// Format of the input: cdxj, clf, csv ... [default: auto]
    ///
    /// lines has one URL per line. cdxj, cdx, warc (also WET) and wat are formats of web archives. clf (Apache, nginx), w3c
    /// (IIS, CloudFront), iis (IIS without #Fields), alb and elb (AWS load balancers), s3, haproxy, squid, envoy and zeek are
    /// logs, and log is any other (--log-format). jsonl has a JSON value per line, and json is a JSON text of any size. cri
    /// has the lines of containers in Kubernetes. csv and tsv are tables of text. parquet is a table by column.
    /// xml (sitemaps, RSS, Atom) and html are markup. text is running text, or any bytes: urlsift finds the URLs in it.
    ///
    /// With auto, urlsift recognises any format but log and text by the first records. It says so on standard error, unless
    /// the format is lines.
    #[arg(long, hide_short_help = true, value_name = "FORMAT", default_value = "auto", hide_default_value = true,
          value_parser = PossibleValuesParser::new(names()).map(|name| Format::find(&name)),
          hide_possible_values = true)]
    input_format: WantedFormat,

    /// Which fields of a record are URLs
    ///
    /// A field is the name of a column, header or key, the number of a column from 1, or a JSON pointer. In a pointer, * stands
    /// for any key or index. In logs, a field is request or referer, in squid url; with --log-format it may be any variable. In xml, it
    /// is an element (loc) or an attribute (link@href, @href), and in html an attribute (href, img@data-src). In warc,
    /// body-links are the links of HTML pages. Separate several fields by commas, or repeat the option. The report counts each
    /// of them apart. If fields are numbers, the first line of a table is a record, not a header. A Parquet column in groups
    /// is named with its groups and dots, such as page.url.
    ///
    /// The default is a column with a usual name (url, uri, link, href, ...) or with URLs in it, the key "url", the header
    /// WARC-Target-URI, and request and referer of logs, also of logs in JSON with known keys.
    #[arg(long, hide_short_help = true, value_name = "FIELD,...", value_parser = fields)]
    field: Vec<Fields>,

    /// Character between the cells of CSV [default: auto]
    ///
    /// It is one ASCII character, such as ";", or "tab". With auto, the first lines decide between comma, tab, semicolon and
    /// bar.
    #[arg(long, hide_short_help = true, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<char>,

    /// How CSV and TSV escape quotes: double or backslash [default: auto]
    ///
    /// double is a second quote (RFC 4180). backslash is the way of Spark, MySQL and PostgreSQL; then \N is a missing value.
    /// With auto, quotes are doubled, unless a record is well-formed only if backslashes escape. A record that is not
    /// well-formed in either way is refused as doubtful-quote.
    #[arg(long, hide_short_help = true, value_name = "HOW",
          value_parser = PossibleValuesParser::new(Escape::ALL.iter().map(|escape| escape.name()))
              .map(|name| Escape::find(&name).expect("one of the possible values")),
          hide_possible_values = true)]
    escape: Option<Escape>,

    /// Pattern of log lines, as nginx or Apache are configured
    ///
    /// It is what stands between the quotes after log_format or LogFormat in the configuration, such as '$remote_addr [$time_local] "$request" $status'
    /// or '%h %t "%r" %>s'. The whole directive works too. URLs are $request, $request_uri, $uri, $http_referer,
    /// $sent_http_location and $scheme://$host$request_uri; %r, %U%q, %{Referer}i and %{Location}o. --field names any other
    /// variable. Lines that do not fit are refused.
    #[arg(long, hide_short_help = true, value_name = "PATTERN")]
    log_format: Option<String>,
}

/// Reads a delimiter.
///
/// # Errors
/// If it is not one ASCII character, or one that has another meaning in tables.
fn delimiter(text: &str) -> Result<char, &'static str> {
    let mut chars = text.chars();
    match (text, chars.next(), chars.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some('"' | '\\' | '\r' | '\n'), None) => {
            Err("quotes, backslashes and line ends do not separate cells")
        }
        (_, Some(char), None) if char.is_ascii() => Ok(char),
        _ => Err("it has to be one ASCII character, or \"tab\""),
    }
}

/// What one `--field` names.
type Fields = Vec<Selector>;

/// Cuts a list of fields at its commas, but not inside the password of a URL, which may be the name of a column or a key.
fn fields(text: &str) -> Result<Fields, Infallible> {
    let secrets = secrets_of_record(text.as_bytes(), false);
    let commas = text.match_indices(',').map(|(at, _)| at);
    let commas = commas.filter(|at| !secrets.iter().any(|secret| secret.contains(at)));
    let mut start = 0;
    let cut = |end: usize| text[mem::replace(&mut start, end + 1)..end].parse::<Selector>();
    commas.chain([text.len()]).map(cut).collect()
}

/// A record format; `None` means that the input decides.
type WantedFormat = Option<Format>;

fn names() -> Vec<&'static str> {
    let formats = Format::ALL.iter().map(|format| format.name());
    ["auto"].into_iter().chain(formats).collect()
}

impl ReadingArgs {
    /// The format that these options choose.
    fn format(&self) -> Option<Format> {
        let implied = self.delimiter.map(|_| Format::Csv).or(self.log_format.as_ref().map(|_| Format::Log));
        self.input_format.or(implied)
    }

    /// The options for reading inputs. With a format and a `codec`, contents of any kind are read.
    ///
    /// # Errors
    /// If the format cannot have one of the fields.
    pub(crate) fn reading(&self, codec: Option<Codec>) -> std::io::Result<Reading> {
        let format = self.format();
        let refused = |why: &str| std::io::Error::new(std::io::ErrorKind::InvalidInput, why);
        if self.delimiter.is_some() && format != Some(Format::Csv) {
            return Err(refused("--delimiter is for --input-format csv"));
        }
        if self.escape.is_some() && format.is_some_and(|format| !format.has_cells()) {
            return Err(refused("--escape is for --input-format csv and tsv"));
        }
        if self.log_format.is_some() && format != Some(Format::Log) {
            return Err(refused("--log-format is for --input-format log"));
        }
        if self.log_format.is_none() && format == Some(Format::Log) {
            return Err(refused("--input-format log needs the pattern of its lines: --log-format"));
        }
        let fields = self.field.concat();
        let twice = |(n, field): (usize, &Selector)| fields[..n].contains(field).then(|| field.to_string());
        if let Some(field) = fields.iter().enumerate().find_map(twice) {
            return Err(refused(&format!("--field names {field} twice")));
        }
        let any_contents = format.is_some() && codec.is_some();
        let reading = Reading {
            format,
            fields,
            delimiter: self.delimiter,
            escape: self.escape,
            log_format: self.log_format.clone(),
            any_contents,
        };
        // The footer of a Parquet file says which fields exist, so they are checked later.
        if let Some(format) =
            reading.format.filter(|&format| !(cfg!(feature = "parquet") && format == Format::Parquet))
        {
            reading.reader(format, &[])?;
        }
        Ok(reading)
    }

    /// The words of a command line for the same options.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let format =
            self.input_format.iter().flat_map(|format| ["--input-format".into(), format.name().into()]);
        let fields = self.field.iter().flatten().flat_map(|field| ["--field".into(), field.text().into()]);
        let delimiter =
            self.delimiter.map(|char| if char == '\t' { "tab".to_owned() } else { char.to_string() });
        let delimiter = delimiter.iter().flat_map(|text| ["--delimiter".into(), text.into()]);
        let escape = self.escape.iter().flat_map(|escape| ["--escape".into(), escape.name().into()]);
        let log_format = self.log_format.iter().flat_map(|pattern| ["--log-format".into(), pattern.into()]);
        format.chain(fields).chain(delimiter).chain(escape).chain(log_format).collect()
    }

    /// Says which formats were detected and which columns were chosen, unless the user named them. Then says why records of an input gave no URL. A
    /// report says so too, so with one (`has_report`) only inputs without any URL are named. Last come the wanted fields that select nothing.
    pub(crate) fn explain(&self, found: &[(u32, Records)], inputs: &[Input], has_report: bool) {
        let name = |input: u32| inputs.get(input as usize).map_or("?", Input::name);
        for (input, records) in found {
            let name = name(*input);
            let format = records.format;
            let dialect = records.dialect.map_or(String::new(), described);
            let column = records.column.as_ref().map_or(String::new(), |column| format!(", column {column}"));
            let counts = &records.counts;
            // In markup, what is no such field is no record.
            let is_empty = counts.records() == 0 && format.has_elements();
            let has_none = counts.read() == 0 && (is_empty || counts.skipped(Skip::NoField) > 0);
            let tip = if records.by_values {
                ", because its values look like URLs and no column has a usual name; --field names another"
                    .to_owned()
            } else if has_none && !records.names.is_empty() {
                let keys = if self.field.is_empty() { "url".to_owned() } else { joined(&self.field) };
                let what = if records.names.contains(&keys) { "a string under" } else { "the key" };
                let are = if records.names.len() == 1 { "is" } else { "are" };
                format!(
                    "; no object has {what} {keys}; there {are} {}; --field names one, and urlsift extract finds URLs inside text",
                    records.names.join(", ")
                )
            } else if has_none && !self.field.is_empty() {
                format!("; no record has the field {}", joined(&self.field))
            } else if has_none {
                "; no URL was found; --field says where there is one, and urlsift extract finds URLs inside text".to_owned()
            } else {
                String::new()
            };
            let as_lines = match self.format() {
                None => "; --input-format lines takes each line for a URL",
                Some(_) if tip.is_empty() => continue,
                Some(_) => "",
            };
            warn(&format!("{name}: read as {format}{dialect}{column}{tip}{as_lines}"));
        }
        for (input, records) in found {
            let is_useless = records.counts.read() == 0
                && records.counts.skipped(Skip::NoField) == 0
                && records.missing_column().is_none();
            if (is_useless || !has_report)
                && let Some(causes) = causes(records)
            {
                warn(&format!("{}: {causes}", name(*input)));
            }
        }
        complain_of_empty_fields(found);
    }
}

/// What is unusual in a dialect.
fn described(dialect: Dialect) -> String {
    let delimiter = match dialect.delimiter {
        ',' | '\t' => String::new(),
        other => format!(", delimiter {other}"),
    };
    let escape = if dialect.escape == Some(Escape::Backslash) { ", backslash escapes" } else { "" };
    delimiter + escape
}

/// Fields joined by commas.
fn joined(fields: &[Fields]) -> String {
    fields.iter().flatten().map(Selector::to_string).collect::<Vec<_>>().join(", ")
}

/// Names the wanted fields that select nothing, if there are several. A report alone would show zeros.
fn complain_of_empty_fields(found: &[(u32, Records)]) {
    let read = || found.iter().map(|(_, records)| records).filter(|records| records.counts.read() > 0);
    let Some(first) = read().next() else { return };
    for (n, name) in
        first.selected.iter().enumerate().filter_map(|(n, wanted)| Some((n, wanted.name.as_ref()?)))
    {
        if read().all(|records| records.selected.get(n).is_none_or(|wanted| wanted.roles.is_empty())) {
            warn(&format!("--field {name} selects no value"));
        }
    }
}

/// How many records yielded no URL, with causes; `None` if every record did.
fn causes(records: &Records) -> Option<String> {
    let counts = &records.counts;
    let refused = BadCause::ALL.iter().filter(|&&cause| counts.refused(cause) > 0).map(|&cause| {
        let first = records.refused.get(&cause).and_then(|bad| bad.first());
        let first =
            first.map(|bad| format!(" (first in line {}, at byte {} of the record)", bad.line, bad.at + 1));
        (counts.refused(cause), format!("{cause}{}", first.unwrap_or_default()))
    });
    let skipped = [Skip::NoField, Skip::Encoded].map(|why| (counts.skipped(why), why.name().to_owned()));
    let missed: Vec<_> = refused.chain(skipped).filter(|(n, _)| *n > 0).collect();
    let n_missed: u64 = missed.iter().map(|(n, _)| n).sum();
    let all = plural(counts.read() + n_missed, "record", "records");
    let missed: Vec<_> = missed.iter().map(|(n, why)| format!("{} {why}", grouped(*n))).collect();
    (n_missed > 0).then(|| format!("{} of {all} gave no URL: {}", grouped(n_missed), missed.join(", ")))
}
