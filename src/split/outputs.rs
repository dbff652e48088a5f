//! Writes the two outputs of a split, chunk by chunk in order. This file decides which inputs can share an output. It
//! does not judge lines.

use std::io::{self, Write};

use super::{Form, Options, Split};
use crate::run::Failure;
use crate::run::pipeline::PooledBuffer;
use urlsift_engine::lines::trim_terminator;
use urlsift_grammar::escape::{Keep, MASK, push_text};
use urlsift_input::Input;
use urlsift_records::{Format, without_end};

/// The destination of a line or record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Accepted,
    Refused,
    Both,
    Nowhere,
}

/// The result of splitting one chunk.
pub(super) struct Parts {
    pub(super) input: u32,
    pub(super) format: Format,
    /// Bytes that continue the last record of the previous chunk.
    pub(super) gap: Vec<u8>,
    /// Accepted lines or records.
    pub(super) to_accepted: Option<PooledBuffer>,
    /// Lines or rows for the refused output.
    pub(super) to_refused: Vec<u8>,
    pub(super) header: Option<Header>,
    /// Where the last record went.
    pub(super) last: Option<To>,
    /// What is counted of the chunk.
    pub(super) split: Split,
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
            split: Split::default(),
        }
    }
}

/// The first record of a table, which names its columns.
pub(super) struct Header {
    pub(super) text: Vec<u8>,
    /// How many bytes precede it in what goes to the accepted and to the refused output.
    pub(super) at: [usize; 2],
}

/// Both outputs, and what has been written to them.
pub(super) struct Outputs<'a, 'i> {
    sides: [Side<'a>; 2],
    form: Form,
    mask_passwords: bool,
    inputs: &'i [Input],
    /// The format of the outputs, and the first input, which determined it.
    format: Option<(Format, u32)>,
    /// The column names of the table in the outputs.
    header: Option<Vec<u8>>,
    /// Where the last record went.
    last: To,
    pub(super) split: Split,
}

impl<'a, 'i> Outputs<'a, 'i> {
    pub(super) fn new(
        sides: [Option<&'a mut (dyn Write + Send)>; 2],
        options: &Options,
        inputs: &'i [Input],
    ) -> Self {
        Self {
            sides: sides.map(|out| Side { out, is_open: false }),
            form: options.form,
            mask_passwords: options.mask_passwords,
            inputs,
            format: None,
            header: None,
            last: To::Nowhere,
            split: Split::default(),
        }
    }

    /// Writes the next chunk. Chunks must come in order.
    ///
    /// An input that cannot follow what has been written is a failure, and is left out.
    ///
    /// # Errors
    /// If an output cannot be written, or the last wanted output has no reader any more.
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
        self.split.add(parts.split);
        Ok(())
    }

    /// Ends an unfinished row, and returns the counts.
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

    /// Notes that an input cannot share the outputs with input `first`.
    fn fail(&mut self, input: u32, why: &str, first: u32) {
        let first = self.inputs.get(first as usize).map_or("?", Input::name);
        let error = io::Error::other(format!("{why} {first}: split it alone"));
        self.split.failures.push(Failure { input, error });
    }

    /// Writes `gap`, which continues the last record. A password may continue in it, so it is masked whole.
    fn go_on(&mut self, gap: &[u8]) -> io::Result<()> {
        let masked = [MASK.as_bytes(), &gap[without_end(gap).len()..]].concat();
        let gap = if self.mask_passwords && !gap.is_empty() { &masked } else { gap };
        let mut row = Vec::new();
        if self.form == Form::Tsv && self.last == To::Refused {
            push_text(&mut row, gap.strip_suffix(b"\n").unwrap_or(gap), Keep::Ascii);
            if gap.ends_with(b"\n") {
                row.push(b'\n');
            }
        }
        let [accepted, refused] = match (self.last, self.form) {
            (To::Accepted, _) | (To::Both, Form::Tsv) => [gap, b""],
            (To::Refused, Form::Tsv) => [b"", &row[..]],
            (To::Refused, Form::Lines) => [b"", gap],
            (To::Both, Form::Lines) => [gap, gap],
            (To::Nowhere, _) => [&b""[..], b""],
        };
        self.write_on([accepted, refused])
    }

    /// Writes whole lines to each side.
    pub(super) fn write(&mut self, parts: [&[u8]; 2]) -> io::Result<()> {
        self.each(parts, Side::write)
    }

    /// Writes bytes to each side that continue its last line.
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
    /// `None` if it is not wanted, or has no reader any more.
    out: Option<&'a mut (dyn Write + Send)>,
    /// Whether the line written last lacks its LF.
    is_open: bool,
}

impl Side<'_> {
    /// Writes whole lines.
    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.is_open && !lines.is_empty() {
            self.write_on(b"\n")?;
        }
        self.write_on(lines)
    }

    /// Writes bytes that continue the last line.
    fn write_on(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (Some(out), Some(last)) = (&mut self.out, bytes.last()) else { return Ok(()) };
        self.is_open = *last != b'\n';
        out.write_all(bytes)?;
        out.flush()
    }
}
