//! Parquet: samples of several writers compared with pyarrow, scans compared with the values one by one, and truncated,
//! changed and malicious files.
//!
//! `records/README.md` describes how the samples were made.

mod parts;
mod rows;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::support::{amount, everything, exec, file};
use proptest::prelude::*;
use urlsift::internal::escape;
use urlsift::internal::parquet::{MAX_LEN, Table, TableError, TableErrorKind};
use urlsift::internal::run::{
    Counts, ExecOptions, Format, KernelId, Reading, Scanned, Selector, Skip, list_inputs, scan_records,
};
use urlsift::internal::scan::Options;
use urlsift::tally::FoundDefect;
use urlsift::{Grammar, judge};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records/parquet")
}

/// Each sample, with its column if that must be named.
fn samples() -> Vec<(PathBuf, Option<Selector>)> {
    let column = |path: &Path| {
        let name = match path.file_stem()?.to_str()? {
            "list-v1" | "list-v2" | "list-of-groups" => "links",
            "nested" => "page.meta.url",
            "map" => "/links/key_value/key",
            "fixed" => "code",
            _ => return None,
        };
        name.parse().ok()
    };
    let paths = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut samples: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "parquet"))
        .filter(|path| path.file_stem().unwrap() != "unusual")
        .map(|path| (path.clone(), column(&path)))
        .collect();
    samples.sort_by_key(|(path, _)| path.clone());
    assert!(samples.len() > 20);
    samples
}

fn expected(path: &Path) -> String {
    let own = fs::read_to_string(path.with_extension("expected"));
    own.or_else(|_| fs::read_to_string(path.with_file_name("urls.expected"))).unwrap()
}

/// All values of a column, and its number of rows or the error that ended reading.
struct Found {
    values: Vec<(u64, u64, Vec<u8>)>,
    rows: io::Result<u64>,
}

fn read(table: &Table, column: usize) -> Found {
    let (mut found, mut text) = (Vec::new(), Vec::new());
    let mut values = table.values(&[column], &(0..u64::MAX), MAX_LEN, None);
    let rows = loop {
        match values.next(&mut text) {
            Ok(None) => break Ok(values.progress().rows),
            Ok(Some(batch)) => {
                let fields = batch.fields(&batch.text);
                found.extend(fields.map(|field| (field.line, field.offset, field.bytes.into_owned())));
                text = batch.text;
            }
            Err(error) => break Err(error),
        }
    };
    Found { values: found, rows }
}

fn table(path: &Path) -> io::Result<Table> {
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    Table::open(file.into(), len, None)
}

fn open(path: &Path, column: Option<&Selector>) -> io::Result<(Table, usize)> {
    let table = table(path)?;
    let column = table.find(column)?;
    Ok((table, column))
}

#[test]
fn samples_are_read_as_pyarrow_reads_them() {
    for (path, column) in samples() {
        let (table, column) = open(&path, column.as_ref()).unwrap();
        let found = read(&table, column);
        let mut listing = String::new();
        for (row, _, bytes) in &found.values {
            write!(listing, "{row}\turl\t").unwrap();
            escape::push(&mut listing, bytes);
            listing.push('\n');
        }
        let rows = found.rows.unwrap();
        writeln!(listing, "{rows}\trows\t").unwrap();
        for (found, expected) in listing.lines().zip(expected(&path).lines()) {
            assert_eq!(found, expected, "{}", path.display());
        }
        assert_eq!(listing.len(), expected(&path).len(), "{}", path.display());
        assert_eq!(rows, table.rows());
        let mut places = found.values.windows(2).map(|pair| (pair[0].1, pair[1].1));
        assert!(places.all(|(place, next)| place < next), "each value has its own place");
    }
}

fn scanned(path: &Path, column: Option<&Selector>, options: &Options, exec: &ExecOptions) -> Scanned {
    let mut reading = Reading::default();
    reading.fields = column.cloned().into_iter().collect();
    scan_records(&list_inputs(&[path]), &reading, options, exec)
}

/// Compares the counts of a scan with the values one by one.
fn check(name: &str, scanned: &Scanned, found: &Found, rows: u64) {
    let tally = &scanned.tally;
    let values = found.values.iter().filter(|(.., bytes)| !bytes.is_empty());
    for grammar in Grammar::ALL {
        let accepted = values.clone().filter(|(.., bytes)| judge(bytes).verdict().accepts(grammar)).count();
        assert_eq!(tally.judged().accepted(grammar), accepted as u64, "{name} {grammar}");
    }
    assert_eq!(tally.judged().lines(), values.clone().count() as u64, "{name}");
    assert_eq!(tally.blank, (found.values.len() - values.clone().count()) as u64, "{name}");
    let mut lines: Vec<_> = found.values.iter().map(|(line, ..)| *line).collect();
    lines.dedup();
    let counts: &Counts = &scanned.records[0].1.counts;
    assert_eq!((counts.read(), counts.records()), (lines.len() as u64, rows), "{name}");
    assert_eq!(counts.skipped(Skip::NoField), rows - lines.len() as u64, "{name}");
    assert_eq!(tally.lines(), rows, "{name}");
    for FoundDefect { component, cause, found: some, .. } in tally.defects() {
        let refused = values.clone().filter(|(.., bytes)| {
            let defect = judge(bytes).defect(Grammar::Rfc3986);
            defect.is_some_and(|defect| (defect.component, defect.cause) == (component, cause))
        });
        let first: Vec<_> =
            refused.clone().take(some.examples.len()).map(|&(line, offset, _)| (line, offset)).collect();
        let examples: Vec<_> =
            some.examples.iter().map(|example| (example.line, example.place.offset)).collect();
        assert_eq!((examples, some.lines), (first, refused.count() as u64), "{name} {component} {cause}");
    }
}

#[test]
fn scans_count_each_value_for_any_effort() {
    for (path, column) in samples() {
        let name = path.display().to_string();
        let (table, number) = open(&path, column.as_ref()).unwrap();
        let found = read(&table, number);
        let mut first: Option<Scanned> = None;
        // The short mode takes two of the efforts for each kernel, and the others for the next one.
        let share = usize::try_from(amount(2, 1)).unwrap();
        for (n, kernel) in KernelId::available().enumerate() {
            let efforts = [(1, 1 << 20), (3, 1 << 20), (2, 1), (1, 200)];
            for (threads, shard_len) in efforts.into_iter().skip(n % share).step_by(share) {
                let mut exec = exec(threads, shard_len);
                exec.kernel = kernel;
                let scanned = scanned(&path, column.as_ref(), &everything(5), &exec);
                assert!(scanned.failures.is_empty(), "{name} {:?}", scanned.failures);
                assert_eq!(scanned.records[0].1.format, Format::Parquet);
                if let Some(first) = &first {
                    assert_eq!((&first.tally, &first.records), (&scanned.tally, &scanned.records), "{name}");
                } else {
                    check(&name, &scanned, &found, table.rows());
                    first = Some(scanned);
                }
            }
        }
    }
}

#[test]
fn columns_are_found_by_usual_names_names_pointers_and_numbers() {
    let open = |name: &str| table(&folder().join(name)).unwrap();
    let table = open("nested.parquet");
    let names: Vec<_> = table.columns().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["page.meta.url", "page.meta.n (int64)", "page.title"]);
    for (field, found) in [
        ("page.meta.url", 0),
        ("PAGE.Meta.URL", 0),
        ("/page/meta/url", 0),
        ("1", 0),
        ("3", 2),
        ("/page/title", 2),
    ] {
        assert_eq!(table.find(Some(&field.parse().unwrap())).unwrap(), found, "{field}");
    }
    for (field, message) in [
        ("page", "no column \"page\": its columns are page.meta.url, page.meta.n (int64), page.title"),
        ("0", "no column \"0\""),
        ("4", "no column \"4\""),
        ("2", "column page.meta.n (int64) is no text"),
        ("meta.url", "no column \"meta.url\""),
    ] {
        let error = table.find(Some(&field.parse().unwrap())).unwrap_err();
        assert!(error.to_string().starts_with(message), "{field}: {error}");
        assert_eq!(error.kind(), TableErrorKind::Column);
    }
    let error = table.find(None).unwrap_err().to_string();
    assert!(
        error.starts_with("no column has a usual name or values like URLs: its columns are page"),
        "{error}"
    );
    // A list can be selected by its own name.
    let table = open("list-v1.parquet");
    assert_eq!(table.find(Some(&"links".parse().unwrap())).unwrap(), 1);
    assert!(table.columns()[1].is_list() && !table.columns()[0].is_list());
}

/// Reads a file with these bytes. Returns what was read, and the number of rows in the footer.
fn read_bytes(bytes: &[u8], column: Option<&Selector>) -> (Found, Option<u64>) {
    let path = file(bytes);
    match open(&path, column) {
        Ok((table, column)) => {
            let rows = table.rows();
            (read(&table, column), Some(rows))
        }
        Err(error) => (Found { values: Vec::new(), rows: Err(error) }, None),
    }
}

fn kind(error: &io::Error) -> TableErrorKind {
    error
        .get_ref()
        .and_then(|error| error.downcast_ref::<TableError>())
        .expect("an error of the table")
        .kind()
}

/// Checks that an error is one of the contents.
fn check_kind(error: &io::Error) {
    kind(error);
}

#[test]
fn truncated_files_are_refused() {
    let bytes = fs::read(folder().join("snappy-v1.parquet")).unwrap();
    for len in (0..bytes.len()).rev().step_by(7).skip(1) {
        let (found, _) = read_bytes(&bytes[..len], None);
        assert_eq!(kind(&found.rows.unwrap_err()), TableErrorKind::NotParquet, "{len}");
    }
}

/// One page is damaged. All values before it count.
#[test]
fn values_before_damage_are_counted() {
    let path = folder().join("zstd-v2.parquet");
    let bytes = fs::read(&path).unwrap();
    let (whole, rows) = read_bytes(&bytes, None);
    let (mut seen, exec) = (0, exec(2, 1 << 20));
    // The magic number of zstd, which begins each page.
    for at in memchr::memmem::find_iter(&bytes, b"\x28\xb5\x2f\xfd") {
        let mut changed = bytes.clone();
        changed[at] = 0;
        let (found, _) = read_bytes(&changed, None);
        let Err(error) = &found.rows else { continue };
        assert_eq!(kind(error), TableErrorKind::Damaged);
        assert_eq!(found.values, whole.values[..found.values.len()], "what stands before it");
        let scanned = scanned(&file(changed), None, &everything(5), &exec);
        let counted = scanned.records[0].1.counts.records();
        check("changed", &scanned, &found, counted);
        let message = scanned.failures[0].error.to_string();
        let (place, rest) = message.split_once(": ").unwrap();
        assert!(place.starts_with("row group ") && place.contains(", page at byte "), "{message}");
        assert_eq!(
            rest,
            format!("its zstd data is damaged; {counted} of its {} rows were read", rows.unwrap())
        );
        seen += 1;
    }
    assert!(seen > 10);
}

#[test]
fn checksums_are_compared() {
    let bytes = fs::read(folder().join("checksum.parquet")).unwrap();
    let mut changed = bytes.clone();
    // The change is in a value of the first dictionary, where only the checksum can reveal it.
    let at = memchr::memmem::find(&bytes, b"www.example.com/page/").unwrap();
    changed[at] = b'x';
    let error = read_bytes(&changed, None).0.rows.unwrap_err();
    assert_eq!(kind(&error), TableErrorKind::Damaged);
    assert!(error.to_string().ends_with("its checksum is another"), "{error}");
}

/// Splits a file into its pages and its footer.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (rest, tail) = bytes.split_last_chunk::<8>().unwrap();
    let len = u32::from_le_bytes(tail[..4].try_into().unwrap()) as usize;
    rest.split_at(rest.len() - len)
}

fn with_footer(before: &[u8], footer: &[u8]) -> Vec<u8> {
    let len = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [before, footer, &len, b"PAR1"].concat()
}

fn varint(mut n: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while n > 0x7f {
        out.push(n.to_le_bytes()[0] | 0x80);
        n >>= 7;
    }
    out.push(n.to_le_bytes()[0]);
    out
}

#[test]
fn footers_with_excessive_sizes_are_refused() {
    // A schema of `n` nested groups.
    let deep = |n: u64| {
        let group = b"\x35\x00\x18\x00\x15\x02\x00".repeat(usize::try_from(n).unwrap() - 1);
        [
            &b"\x15\x02\x19\xfc"[..],
            &varint(n),
            &group,
            b"\x15\x0c\x25\x00\x18\x01a\x00",
            b"\x16\x00\x19\x0c\x00",
        ]
        .concat()
    };
    // A root that claims many children and has none.
    let wide =
        |n: u64| [&b"\x15\x02\x19\x1c\x48\x00\x15"[..], &varint(n * 2), b"\x00\x16\x00\x19\x0c\x00"].concat();
    let many = |n: u64| [&b"\x15\x02\x19\xfc"[..], &varint(n), &[0; 50]].concat();
    for (footer, expected) in [
        (deep(3), None),
        (deep(1000), Some(TableErrorKind::TooLarge)),
        (deep(1_000_000), Some(TableErrorKind::TooLarge)),
        (wide(0x3fff_ffff), Some(TableErrorKind::Damaged)),
        (many(u64::MAX), Some(TableErrorKind::Damaged)),
    ] {
        let (found, _) = read_bytes(&with_footer(b"PAR1", &footer), Some(&Selector::Number(1)));
        assert_eq!(found.rows.as_ref().err().map(kind), expected, "{:?}", found.rows);
    }
    let long = [&b"PAR1"[..], &0x7fff_ffff_u32.to_le_bytes(), b"PAR1"].concat();
    assert_eq!(kind(&read_bytes(&long, None).0.rows.unwrap_err()), TableErrorKind::TooLarge);
    let encrypted = [&b"PARE"[..], &[0; 60], &[40, 0, 0, 0], b"PARE"].concat();
    assert_eq!(kind(&read_bytes(&encrypted, None).0.rows.unwrap_err()), TableErrorKind::Unsupported);
}

fn zigzag(n: i64) -> Vec<u8> {
    varint((n << 1 ^ n >> 63).cast_unsigned())
}

/// A file with these pages, each preceded by its header. The only column, url, has `n_values` values and nulls in `n_rows`
/// rows. It is required (0), optional (1) or repeated (2).
fn one_column(repetition: i64, pages: &[u8], n_values: i64, n_rows: i64) -> Vec<u8> {
    with_groups(repetition, pages, &[(4, n_values, n_rows)])
}

/// The same with several row groups, each with its place in the file, its values and nulls, and its rows.
fn with_groups(repetition: i64, pages: &[u8], groups: &[(usize, i64, i64)]) -> Vec<u8> {
    let mut footer = [
        &b"\x15\x02\x19\x2c\x48\x01r\x15\x02\x00\x15\x0c\x25"[..],
        &zigzag(repetition),
        b"\x18\x03url\x00\x16",
        &zigzag(groups.iter().map(|(.., n_rows)| n_rows).sum()),
        b"\x19\xfc",
        &varint(groups.len() as u64),
    ]
    .concat();
    for &(at, n_values, n_rows) in groups {
        footer.extend(b"\x19\x1c\x3c\x45\x00\x16");
        footer.extend(zigzag(n_values));
        footer.extend(b"\x46");
        footer.extend(zigzag(i64::try_from(at).unwrap()));
        footer.extend(b"\x00\x00\x26");
        footer.extend(zigzag(n_rows));
        footer.push(0);
    }
    footer.push(0);
    with_footer(&[b"PAR1", pages].concat(), &footer)
}

/// A page of these values, without nulls, and their number.
fn plain_group(values: &[impl AsRef<[u8]>]) -> (Vec<u8>, i64) {
    let mut bytes = Vec::new();
    for value in values {
        let value = value.as_ref();
        bytes.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
        bytes.extend(value);
    }
    let n = i64::try_from(values.len()).unwrap();
    (page(n, 0, &bytes), n)
}

/// A file with these row groups.
fn with_values(groups: &[Vec<String>]) -> Vec<u8> {
    let (mut pages, mut places) = (Vec::new(), Vec::new());
    for values in groups {
        let (page, n) = plain_group(values);
        places.push((4 + pages.len(), n, n));
        pages.extend(page);
    }
    with_groups(0, &pages, &places)
}

/// An uncompressed page of version 1; `encoding` is the format's number of the encoding.
fn page(n_values: i64, encoding: i64, bytes: &[u8]) -> Vec<u8> {
    let len = zigzag(i64::try_from(bytes.len()).unwrap());
    let header = [b"\x15\x00\x15", &len[..], b"\x15", &len, b"\x2c\x15", &zigzag(n_values), b"\x15"].concat();
    [&header[..], &zigzag(encoding), b"\x15\x06\x15\x06\x00\x00", bytes].concat()
}

fn dictionary(n_values: i64, bytes: &[u8]) -> Vec<u8> {
    let len = zigzag(i64::try_from(bytes.len()).unwrap());
    let header = [b"\x15\x04\x15", &len[..], b"\x15", &len, b"\x4c\x15", &zigzag(n_values)].concat();
    [&header[..], b"\x15\x00\x00\x00", bytes].concat()
}

/// `n` equal levels, as pages of version 1 encode them.
fn levels(n: i64, level: u8) -> Vec<u8> {
    let run = [varint((n << 1).cast_unsigned()), vec![level]].concat();
    [&u32::try_from(run.len()).unwrap().to_le_bytes()[..], &run].concat()
}

const MANY: i64 = 0x7fff_ffff;

#[test]
fn pages_with_excessive_sizes_are_refused() {
    let lengths = [&[128, 1, 4][..], &varint(MANY.cast_unsigned()), &[0, 0, 0, 0, 0, 0]].concat();
    let two = [&lengths[..], &lengths].concat();
    let lists = [levels(MANY, 0), levels(MANY, 1)].concat();
    let (long, short) =
        ([levels(MANY, 1), vec![1]].concat(), [levels(3, 1), b"\x05\0\0\0ab".to_vec()].concat());
    let indices = |bytes: &[u8]| {
        let pages = [dictionary(1, b"\x01\0\0\0a"), page(3, 8, bytes)].concat();
        one_column(0, &pages, 3, 3)
    };
    for (what, file, kind) in [
        ("an index", indices(&[1, 6, 1]), TableErrorKind::Damaged),
        ("wide indices", indices(&[33, 6, 1]), TableErrorKind::Damaged),
        ("too few indices", indices(&[1, 4, 0]), TableErrorKind::Damaged),
        ("a dictionary", one_column(0, &dictionary(MANY, b"\0\0\0\0"), 1, 1), TableErrorKind::TooLarge),
        ("a small one", one_column(0, &dictionary(9, b"\0\0\0\0"), 1, 1), TableErrorKind::Damaged),
        ("lengths", one_column(0, &page(1, 6, &lengths), 1, 1), TableErrorKind::Damaged),
        ("as many", one_column(0, &page(MANY, 6, &lengths), MANY, MANY), TableErrorKind::Damaged),
        ("two kinds of lengths", one_column(0, &page(1, 7, &two), 1, 1), TableErrorKind::Damaged),
        ("lists", one_column(2, &page(MANY, 0, &lists), MANY, MANY), TableErrorKind::Damaged),
        ("values", one_column(1, &page(MANY, 0, &long), MANY, MANY), TableErrorKind::Damaged),
        ("a value", one_column(1, &page(3, 0, &short), 3, 3), TableErrorKind::Damaged),
        ("no levels", one_column(1, &page(3, 0, b"\xff\xff\xff\xff"), 3, 3), TableErrorKind::Damaged),
    ] {
        let error = read_bytes(&file, None).0.rows.unwrap_err();
        assert_eq!(self::kind(&error), kind, "{what}: {error}");
    }
    // A run may be longer than the page.
    let run = indices(&[&[0][..], &varint(u64::MAX - 1)].concat());
    assert_eq!(read_bytes(&run, None).0.values.len(), 3);
    // Nulls take no memory, however many a page has.
    let n = 1 << 24;
    let (found, rows) = read_bytes(&one_column(1, &page(n, 0, &levels(n, 0)), n, n), None);
    assert_eq!((found.values.len(), found.rows.unwrap(), rows), (0, 1 << 24, Some(1 << 24)));
    // A row of lists may continue over any number of pages.
    let part = |first| {
        let runs = [varint(2), vec![first], varint(((1 << 20) - 1) << 1), vec![1]].concat();
        let repetition = [&u32::try_from(runs.len()).unwrap().to_le_bytes()[..], &runs].concat();
        page(1 << 20, 0, &[repetition, levels(1 << 20, 0)].concat())
    };
    // The last row is a page of more values than any step.
    let long = [varint(2), vec![0], varint(((5 << 20) - 1) << 1), vec![1]].concat();
    let long = [&u32::try_from(long.len()).unwrap().to_le_bytes()[..], &long].concat();
    let long = page(5 << 20, 0, &[long, levels(5 << 20, 0)].concat());
    let pages = [part(0), part(1).repeat(8), long].concat();
    let (found, rows) = read_bytes(&one_column(2, &pages, 14 << 20, 2), None);
    assert_eq!((found.values.len(), found.rows.unwrap(), rows), (0, 2, Some(2)));
}

/// The second page ends in the length of its last value.
#[test]
fn a_damaged_page_is_one_line_on_standard_error() {
    let good = b"\x08\0\0\0http://a".repeat(3);
    let pages = [page(3, 0, &good), page(3, 0, &good[..good.len() - 9])].concat();
    let path = file(one_column(0, &pages, 6, 6));
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_urlsift")).arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    let (_, error) = message.split_once('\n').unwrap();
    let error = error.strip_prefix(&format!("urlsift: {}: ", path.display())).unwrap();
    assert_eq!(error, "row group 1, page at byte 57: it ends inside a value; 3 of its 6 rows were read\n");
}

/// Reads a changed file. Nothing may panic, and the numbers must add up.
fn check_changed(bytes: &[u8], column: Option<&Selector>) {
    let (found, rows) = read_bytes(bytes, column);
    let mut last = 0;
    for (row, ..) in &found.values {
        assert!(*row >= last, "rows are in order");
        last = *row;
    }
    if let Ok(read) = found.rows {
        assert_eq!(Some(read), rows, "all rows, or an error");
        assert!(last <= read);
    } else {
        kind(&found.rows.unwrap_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn changed_files_never_panic(
        sample in prop::sample::select(samples()),
        in_footer in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..5_u8), 1..6),
    ) {
        let (path, column) = sample;
        let bytes = fs::read(path).unwrap();
        let (before, footer) = split(&bytes);
        let (mut before, mut footer) = (before.to_vec(), footer.to_vec());
        let part = if in_footer || before.len() < 5 { &mut footer } else { &mut before };
        for (at, byte, kind) in changes {
            let at = at.index(part.len());
            match kind {
                0 => part[at] = byte,
                1 => part[at] ^= 1 << (byte % 8),
                2 => part[at] = 0xff,
                3 => part.insert(at, byte),
                _ if part.len() > 5 => _ = part.remove(at),
                _ => {}
            }
        }
        check_changed(&with_footer(&before, &footer), column.as_ref());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_changed(&bytes, None);
        check_changed(&with_footer(b"PAR1", &bytes), Some(&Selector::Number(1)));
    }
}
