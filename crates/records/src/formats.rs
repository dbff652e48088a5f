//! The table of formats. A format is a file with a [`RecordReader`], and a row here.

use std::sync::Arc;

use super::dialect::Dialect;
use super::markup::Language;
use super::page::Page;
use super::record::{Begins, Cursor, Record, RecordReader, none_of};
use super::selector::Selector;
use super::{alb, cdx, cdxj, clf, container, csv, json, lines, log, markup, text, w3c, warc};
use urlsift_grammar::named;

/// What is known of a format beside its name, its description and its reader.
pub(super) struct Row {
    /// Which fields its records have: the message about any other field.
    pub(super) fields: &'static str,
    /// Why it cannot be read by fields alone.
    pub(super) needs: &'static str,
    records: RecordKind,
    /// Whether its records have JSON objects.
    has_objects: bool,
    /// Whether a field ends at a byte that a password may contain.
    ends_at_delimiters: bool,
    /// Whether an input begins like the format. The first row that does not answer `No` counts.
    pub(super) begins: fn(&[u8]) -> Begins,
    /// Whether a line looks like a record. It need not have a URL.
    pub(super) is_record: fn(&[u8]) -> bool,
}

/// What most formats are.
const USUAL: Row = Row {
    fields: "",
    needs: "",
    records: RecordKind::Lines,
    has_objects: false,
    ends_at_delimiters: true,
    begins: |_| Begins::No,
    is_record: |_| false,
};

use RecordKind::{Cells, Elements, Parts, Text};

/// What the records of a format are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordKind {
    /// Lines that can be read without the lines before them.
    Lines,
    /// Lines of text, and a header before them may say how to read them.
    Text,
    /// The same, with a delimiter between cells.
    Cells,
    /// Elements of a document.
    Elements,
    /// Other parts of an input. Like elements, they cannot be copied one by one, and bytes between them belong to none.
    Parts,
}

/// Whether an input begins with the magic number of Parquet, plain or encrypted, and then with no text. After the number comes a
/// page or the footer, whose first byte is a control character.
fn begins_as_parquet(head: &[u8]) -> Begins {
    let begins = head.starts_with(b"PAR1") || head.starts_with(b"PARE");
    let has_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    Begins::yes_if(begins && head.get(4).is_some_and(has_control))
}

/// Makes the enum of formats, the table, and a reader of any format, whose methods are those of the format's reader. The comment of
/// a format is also in `schema/report.v2.json`.
macro_rules! formats {
    ($($(#[doc = $doc:literal])+
    $variant:ident = $name:literal: $reader:ty = $open:expr, { $($column:ident: $value:expr,)* })+) => {
        named! {
            /// How the URLs of an input are stored.
            Format { $($(#[doc = $doc])+ $variant = $name,)+ }
        }

        /// The rows of the table, in the order of [`Format::ALL`].
        static FORMATS: [Row; Format::ALL.len()] = [$(Row { $($column: $value,)* ..USUAL }),+];

        #[derive(Clone, Debug)]
        #[allow(clippy::large_enum_variant, reason = "a chunk has its reader in a box")]
        pub(super) enum AnyReader { $($variant($reader),)+ }

        impl AnyReader {
            /// The reader of `fields` of a format. The error is the index of a field that the format does not have, or the number of
            /// fields if the format cannot be read by fields alone.
            pub(super) fn new(format: Format, fields: &[Selector]) -> Result<Self, usize> {
                match format {
                    $(Format::$variant => {
                        let open: fn(&[Selector]) -> Result<$reader, usize> = $open;
                        open(fields).map(Self::$variant)
                    })+
                }
            }
        }

        /// What is called for each record. The format is matched here, so that the calls may be inlined.
        impl AnyReader {
            #[inline]
            pub(super) fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
                match self { $(Self::$variant(reader) => reader.read(cursor),)+ }
            }

            pub(super) fn page(&self, wanted: u32) -> &Page {
                match self { $(Self::$variant(reader) => reader.page(wanted),)+ }
            }

            /// For what is called seldom, or is too long to be inlined.
            pub(super) fn as_dyn(&mut self) -> &mut dyn RecordReader {
                match self { $(Self::$variant(reader) => reader,)+ }
            }

            pub(super) fn as_dyn_ref(&self) -> &dyn RecordReader {
                match self { $(Self::$variant(reader) => reader,)+ }
            }
        }
    };
}

const KEYS: &str = "a field of JSON is a key of the object or a pointer, which begins with \"/\"";
const COLUMNS: &str = "a field of w3c and iis is request, referer, a name in #Fields, or a number from 1";
const CELLS: &str = "a field of csv and tsv is the name of a column or a number from 1";

formats! {
    /// One URL per line.
    Lines = "lines": lines::Lines = |fields| none_of(fields).map(|()| lines::Lines), {
        fields: "lines have no fields", ends_at_delimiters: false, begins: |head| w3c::begins(head, false),
    }
    /// CDXJ, an index of web archives: a key, a time and a JSON object per line. Read: its "url".
    Cdxj = "cdxj": cdxj::Objects = cdxj::Objects::new, {
        fields: KEYS, has_objects: true, is_record: cdxj::is_record,
    }
    /// CDX, the predecessor of CDXJ: columns that a header names by letters. Read: column "a", or the third column without a header.
    Cdx = "cdx": cdx::Columns = cdx::Columns::new, {
        fields: "a field of cdx is a letter of its header or a number from 1", records: Text,
        begins: |head| Begins::yes_if(head.starts_with(b" CDX ")), is_record: cdx::is_record,
    }
    /// WARC and WET, web archives (ISO 28500). Read: the header WARC-Target-URI of each record. The field "body-links"
    /// has the links of pages.
    Warc = "warc": warc::Archive = warc::Archive::new, {
        fields: "a field of warc is the name of a header, or body-links", records: Parts,
        begins: |head| warc::begins(head, false),
    }
    /// WAT, the page metadata of Common Crawl. Read: the "url" of each of the "Links" in the JSON of a WARC record.
    Wat = "wat": warc::Archive = |fields| none_of(fields).map(|()| warc::Archive::of_wat()), {
        fields: "the fields of wat are always the links", records: Parts, begins: |head| warc::begins(head, true),
    }
    /// The common and combined log formats of Apache and nginx. Read: request target and Referer.
    Clf = "clf": clf::WantedFields = clf::WantedFields::new, {
        fields: "the fields of clf are request and referer", is_record: clf::is_record,
    }
    /// The extended log format of the W3C (IIS, CloudFront). Read: the columns that a line #Fields names cs-uri-stem, cs-uri-query
    /// and cs(Referer).
    W3c = "w3c": w3c::Columns = |fields| w3c::Columns::new(&w3c::W3C, fields), {
        fields: COLUMNS, records: Text, begins: |head| w3c::begins(head, true),
    }
    /// The access log of the application load balancer of AWS. Read: the URL of the request.
    Alb = "alb": clf::WantedFields = clf::WantedFields::of_request, {
        fields: "the only field of alb is request", is_record: alb::is_record,
    }
    /// The server access log of Amazon S3. Read: request target and Referer.
    S3 = "s3": Arc<log::Plan> = |fields| log::S3.plan(fields), {
        fields: "the fields of s3 are bucket_owner, bucket, time, remote_ip, requester, request_id, operation, key, request, http_status, error_code, bytes_sent, object_size, total_time, turn_around_time and http_referer (or referer)",
        is_record: |line| log::S3.is_record(line),
    }
    /// The access log of the classic load balancer of AWS. Read: the URL of the request.
    Elb = "elb": Arc<log::Plan> = |fields| log::ELB.plan(fields), {
        fields: "the fields of elb are timestamp, elb, client, backend, request_time, backend_time, response_time, elb_status, backend_status, received, sent and request",
        is_record: |line| log::ELB.is_record(line),
    }
    /// The HTTP log of HAProxy, with or without what syslog writes before it. Read: request target.
    Haproxy = "haproxy": Arc<log::Plan> = |fields| log::HAPROXY.plan(fields), {
        fields: "the fields of haproxy are process_and_client, accept_date, frontend, backend, server, timers, status, bytes_read, cookies_to_captured_headers and request",
        is_record: |line| log::HAPROXY.is_record(line),
    }
    /// The native access log of Squid. Read: the URL.
    Squid = "squid": Arc<log::Plan> = |fields| log::SQUID.plan(fields), {
        fields: "the fields of squid are time_elapsed_client_and_code, status, bytes, method, url, user and hierarchy_and_type",
        is_record: |line| log::SQUID.is_record(line),
    }
    /// The default access log of Envoy. Read: request target.
    Envoy = "envoy": Arc<log::Plan> = |fields| log::ENVOY.plan(fields), {
        fields: "the fields of envoy are start_time, request and response_code",
        is_record: |line| log::ENVOY.is_record(line),
    }
    /// The log http.log of Zeek, with tabs. Read: the columns that a line #fields names uri and referrer.
    Zeek = "zeek": w3c::Columns = |fields| w3c::Columns::new(&w3c::ZEEK, fields), {
        fields: "a field of zeek is request, referer, a name in #fields, or a number from 1", records: Text,
        begins: |head| Begins::yes_if(head.starts_with(b"#separator \\x09")),
    }
    /// The log of IIS without a line #Fields. Read: the columns of the default order, as in [`Format::W3c`].
    Iis = "iis": w3c::Columns = w3c::Columns::of_iis, {
        fields: COLUMNS, records: Text, is_record: w3c::is_record_of_iis,
    }
    /// A log whose pattern the user gives ([`Reading::log_format`](crate::run::Reading::log_format)). Read: the variables that
    /// are URLs. Never detected.
    Log = "log": Arc<log::Plan> = |fields| Err(fields.len()), {
        fields: "a field of a log is request, referer, url, or the name of a variable of its pattern",
        needs: "a log needs its pattern",
    }
    /// One JSON value per line. Read: the "url" of an object, or the URLs of a known log pipeline.
    JsonLines = "jsonl": json::Wanted = json::Wanted::new, {
        fields: KEYS, has_objects: true, is_record: json::is_object,
    }
    /// A JSON text of any size. Read: the "url" of each element of an array at the top, of each value of a sequence, or of each
    /// entry of a HAR.
    Json = "json": json::Document = json::Document::new, {
        fields: KEYS, has_objects: true, records: Parts, begins: json::begins,
    }
    /// Logs of containers in Kubernetes (CRI): a time, a stream, a tag and a line of another log. Read: the URLs of that line, if it
    /// is JSON or a line of an access log.
    Cri = "cri": container::Cri = |fields| none_of(fields).map(|()| container::Cri), {
        fields: "the fields of cri are those of the lines in it",
        is_record: |line| container::unwrapped(line).is_some(),
    }
    /// A table of text: comma-separated values (RFC 4180), or the same with semicolons, bars or tabs. Read: the column of URLs.
    Csv = "csv": csv::Table = |fields| csv::Table::new(Dialect::of(','), fields), { fields: CELLS, records: Cells, }
    /// Tab-separated values. Read: the column of URLs.
    Tsv = "tsv": csv::Table = |fields| csv::Table::new(Dialect::of('\t'), fields), { fields: CELLS, records: Cells, }
    /// Parquet, which stores tables by column. Read: the column of URLs. It is not read from its start, because the positions of its
    /// values are at the end of the file.
    Parquet = "parquet": lines::Lines = |fields| Err(fields.len()), {
        records: Parts, ends_at_delimiters: false, begins: begins_as_parquet,
        needs: if cfg!(feature = "parquet") {
            "a Parquet file tells at its end where its columns are: it is read from a file itself, not from a pipe and not compressed once more"
        } else {
            "it is a Parquet file, and this build of urlsift cannot read those (the feature \"parquet\": cargo install urlsift --features parquet)"
        },
    }
    /// Running text, or any bytes. Read: the URLs in it. Never detected.
    Text = "text": text::Search = |fields| none_of(fields).map(|()| text::Search::new()), {
        fields: "text has no fields", records: Parts,
    }
    /// XML: sitemaps, RSS, Atom and others. Read: the elements and attributes that are usually URLs.
    Xml = "xml": markup::Search = |fields| markup::Search::new(Language::Xml, fields), {
        fields: "a field of xml is the name of an element (loc), or of an attribute after @ (link@href, @href)",
        records: Elements, begins: |head| markup::begins(head, Language::Xml),
    }
    /// HTML pages. Read: the attributes that are links (href, src, srcset, action and others).
    Html = "html": markup::Search = |fields| markup::Search::new(Language::Html, fields), {
        fields: "a field of html is the name of an attribute (href), or with its element before it (img@data-src)",
        records: Elements, begins: |head| markup::begins(head, Language::Html),
    }
}

impl Format {
    pub(super) fn row(self) -> &'static Row {
        &FORMATS[self as usize]
    }

    /// Whether each record is one or more lines of text, so that single records can be copied to another file.
    #[must_use]
    pub fn has_text_records(self) -> bool {
        !matches!(self.row().records, RecordKind::Elements | RecordKind::Parts)
    }

    /// Whether each record is one line that can be read without the lines before it. Any part of an input that begins and ends at
    /// line boundaries can then be read alone.
    #[must_use]
    pub fn is_cut_at_lines(self) -> bool {
        self.row().records == RecordKind::Lines
    }

    /// Whether its records have cells with delimiters between them, and therefore a [`Dialect`].
    #[must_use]
    pub fn has_cells(self) -> bool {
        self.row().records == RecordKind::Cells
    }

    /// Whether its records are elements of a document. What has no wanted field is no record then.
    #[must_use]
    pub fn has_elements(self) -> bool {
        self.row().records == RecordKind::Elements
    }

    /// Whether its records have JSON objects, whose keys a message can list.
    #[must_use]
    pub fn has_objects(self) -> bool {
        self.row().has_objects
    }

    /// Whether a field ends at a byte that a password may contain, such as a quote or a comma. So it may end inside a password.
    #[must_use]
    pub fn ends_at_delimiters(self) -> bool {
        self.row().ends_at_delimiters
    }
}
