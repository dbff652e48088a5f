//! The two outputs of a split: what comes next of the inputs, and what of it can stand in one file.

use std::io::{self, Write};

use super::{Form, Split};
use crate::grammar::escape;
use crate::input::Input;
use crate::lines::trim_terminator;
use crate::records::Format;
use crate::run::Failure;
use crate::run::pipeline::Lent;
use crate::scan::record_fields;

/// Where something goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Accepted,
    Refused,
    Both,
    Nowhere,
}

/// A piece of an input, split.
pub(super) struct Parts {
    pub(super) input: u32,
    pub(super) format: Format,
    /// Bytes that go on with the last record of the piece before.
    pub(super) gap: Vec<u8>,
    /// Lines or records that are kept.
    pub(super) to_accepted: Option<Lent>,
    /// What there is for the other output, lines or rows.
    pub(super) to_refused: Vec<u8>,
    pub(super) header: Option<Header>,
    /// Where the last record went.
    pub(super) last: Option<To>,
    pub(super) accepted: u64,
    pub(super) refused: u64,
    pub(super) blank: u64,
    pub(super) remarks: u64,
    pub(super) boms: u64,
    pub(super) records: Option<record_fields::Records>,
}

impl Parts {
    pub(super) fn new(input: u32, format: Format) -> Self {
        Self {
            input,
            format,
            gap: Vec::new(),
            to_accepted: None,
            to_refused: Vec::new(),
            header: None,
            last: None,
            accepted: 0,
            refused: 0,
            blank: 0,
            remarks: 0,
            boms: 0,
            records: None,
        }
    }
}

/// The first record of a table, which names its columns.
pub(super) struct Header {
    pub(super) text: Vec<u8>,
    /// How many bytes stand before it in what goes to the accepted ones, and to the others.
    pub(super) at: [usize; 2],
}

/// Both outputs, and what is in them so far.
pub(super) struct Outputs<'a, 'i> {
    sides: [Side<'a>; 2],
    form: Form,
    inputs: &'i [Input],
    /// What they hold, and the input that began it.
    format: Option<(Format, u32)>,
    /// The header of the table that they are.
    header: Option<Vec<u8>>,
    /// Where the last record went.
    last: To,
    pub(super) split: Split,
}

impl<'a, 'i> Outputs<'a, 'i> {
    pub(super) fn new(
        sides: [Option<&'a mut (dyn Write + Send)>; 2],
        form: Form,
        inputs: &'i [Input],
    ) -> Self {
        Self {
            sides: sides.map(Side::new),
            form,
            inputs,
            format: None,
            header: None,
            last: To::Nowhere,
            split: Split::default(),
        }
    }

    /// Writes what comes next; all pieces have to come in order. What cannot stand behind what has been written is a failure of its
    /// input, and left out.
    ///
    /// # Errors
    /// When an output cannot be written to, or the last one that was wanted is no longer read.
    pub(super) fn take(&mut self, parts: Parts) -> io::Result<()> {
        if self.split.failures.last().is_some_and(|failure| failure.input == parts.input) {
            return Ok(());
        }
        let (format, first) = *self.format.get_or_insert((parts.format, parts.input));
        if format != parts.format {
            let why = format!("is {}, and in the outputs there is {format} already, from", parts.format);
            self.fail(parts.input, &why, first);
            return Ok(());
        }
        self.go_on(&parts.gap)?;
        let accepted = parts.to_accepted.as_ref().map_or(&[][..], |bytes| bytes.get());
        let all = [accepted, &parts.to_refused];
        match &parts.header {
            None => self.write(all)?,
            Some(header) => {
                let at: [usize; 2] = std::array::from_fn(|n| header.at[n].min(all[n].len()));
                self.write(std::array::from_fn(|n| &all[n][..at[n]]))?;
                let names = trim_terminator(&header.text).0;
                match &self.header {
                    None => {
                        self.header = Some(names.to_vec());
                        let in_rows: &[u8] = if self.form == Form::Lines { &header.text } else { b"" };
                        self.write([&header.text, in_rows])?;
                    }
                    Some(first_names) if first_names == names => {}
                    Some(_) => {
                        self.fail(parts.input, "has other columns than", first);
                        return Ok(());
                    }
                }
                self.write(std::array::from_fn(|n| &all[n][at[n]..]))?;
            }
        }
        self.last = parts.last.unwrap_or(self.last);
        let split = &mut self.split;
        split.accepted += parts.accepted;
        split.refused += parts.refused;
        split.blank += parts.blank;
        split.remarks += parts.remarks;
        split.boms += parts.boms;
        if let Some(records) = parts.records {
            record_fields::append(&mut split.records, parts.input, records);
        }
        Ok(())
    }

    /// Ends what is open.
    ///
    /// # Errors
    /// As [`Outputs::take`].
    pub(super) fn finish(mut self) -> io::Result<Split> {
        let [_, refused] = &self.sides;
        if refused.is_open && self.form == Form::Tsv {
            self.write_on([b"", b"\n"])?;
        }
        Ok(self.split)
    }

    /// Notes that an input cannot stand behind the `first`.
    fn fail(&mut self, input: u32, why: &str, first: u32) {
        let first = self.inputs.get(first as usize).map_or("?", Input::name);
        let error = io::Error::other(format!("{why} {first}: split it alone"));
        self.split.failures.push(Failure { input, error });
    }

    /// Goes on with the last record.
    fn go_on(&mut self, gap: &[u8]) -> io::Result<()> {
        let mut row = String::new();
        if self.form == Form::Tsv && self.last == To::Refused {
            escape::push(&mut row, gap.strip_suffix(b"\n").unwrap_or(gap));
            if gap.ends_with(b"\n") {
                row.push('\n');
            }
        }
        let [accepted, refused] = match (self.last, self.form) {
            (To::Accepted, _) | (To::Both, Form::Tsv) => [gap, b""],
            (To::Refused, Form::Tsv) => [b"", row.as_bytes()],
            (To::Refused, Form::Lines) => [b"", gap],
            (To::Both, Form::Lines) => [gap, gap],
            (To::Nowhere, _) => [&b""[..], b""],
        };
        self.write_on([accepted, refused])
    }

    /// Writes to each side what is for it, whole lines.
    pub(super) fn write(&mut self, parts: [&[u8]; 2]) -> io::Result<()> {
        self.each(parts, Side::write)
    }

    /// The same, where it goes on with what was written last.
    fn write_on(&mut self, parts: [&[u8]; 2]) -> io::Result<()> {
        self.each(parts, Side::write_on)
    }

    fn each(
        &mut self,
        parts: [&[u8]; 2],
        write: impl Fn(&mut Side<'a>, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut closed = None;
        for (side, part) in self.sides.iter_mut().zip(parts) {
            match write(side, part) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    side.out = None;
                    closed = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        closed.filter(|_| self.sides.iter().all(|side| side.out.is_none())).map_or(Ok(()), Err)
    }
}

/// One of the two outputs.
struct Side<'a> {
    /// `None` if it is not wanted, or nobody reads it any more.
    out: Option<&'a mut (dyn Write + Send)>,
    /// Whether the line written last lacks its LF.
    is_open: bool,
}

impl<'a> Side<'a> {
    fn new(out: Option<&'a mut (dyn Write + Send)>) -> Self {
        Self { out, is_open: false }
    }

    /// Writes whole lines.
    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.is_open && !lines.is_empty() {
            self.write_on(b"\n")?;
        }
        self.write_on(lines)
    }

    /// Writes what goes on with the line written last.
    fn write_on(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (Some(out), Some(last)) = (&mut self.out, bytes.last()) else { return Ok(()) };
        self.is_open = *last != b'\n';
        out.write_all(bytes)?;
        out.flush()
    }
}
