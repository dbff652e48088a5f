//! A corpus that is scanned whole, or in parts whose partial reports are merged.

use std::ops::Range;

use urlsift::internal::run::{ExecOptions, Input, Part, Reading, ScannedParts, scan_parts, scan_records};
use urlsift::internal::scan::Options;
use urlsift::partial_report::{Identity, Partial, Settings};
use urlsift::report::Report;

use super::exec;

/// A corpus and how it is scanned.
pub(crate) struct Corpus {
    pub(crate) inputs: Vec<Input>,
    pub(crate) reading: Reading,
    pub(crate) options: Options,
    pub(crate) exec: ExecOptions,
    pub(crate) is_numbered: bool,
}

impl Corpus {
    pub(crate) fn new(inputs: Vec<Input>, reading: Reading, options: Options) -> Self {
        Self { inputs, reading, options, exec: exec(2, 1 << 20), is_numbered: false }
    }

    pub(crate) fn report(&self) -> Report {
        let scanned = scan_records(&self.inputs, &self.reading, &self.options, &self.exec);
        Report::new(&scanned, &self.inputs, &self.options, false)
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::new(&self.options, &self.reading, None, false)
    }

    pub(crate) fn scan(&self, parts: &[Part]) -> ScannedParts {
        scan_parts(&self.inputs, parts, &self.reading, &self.options, &self.exec)
    }

    /// The partial report of what was found in some parts, after a round trip through JSON.
    pub(crate) fn partial_of(&self, found: &ScannedParts, parts: &[Part]) -> Partial {
        let identity = |(number, input): (u32, &Input)| Identity {
            number: self.is_numbered.then_some(number),
            name: input.name().to_owned(),
        };
        let identities: Vec<_> = (0..).zip(&self.inputs).map(identity).collect();
        written(&Partial::new(found, parts, &identities, None, self.settings()).unwrap())
    }

    /// The partial report of some parts that can be read.
    pub(crate) fn partial(&self, parts: &[Part]) -> Partial {
        let found = self.scan(parts);
        assert!(found.scanned.failures.is_empty(), "{:?}", found.scanned.failures);
        self.partial_of(&found, parts)
    }

    /// The partial report of what begins in a range of the first input.
    pub(crate) fn range(&self, range: Range<u64>) -> Partial {
        self.partial(&[Part { range, ..Part::whole(0) }])
    }
}

/// Writes a partial report to JSON, which is one line, and reads it back.
pub(crate) fn written(partial: &Partial) -> Partial {
    let mut json = Vec::new();
    partial.write_json(&mut json).unwrap();
    assert_eq!(json.iter().position(|&byte| byte == b'\n'), Some(json.len() - 1));
    let read = Partial::from_json(&json).unwrap();
    assert_eq!(&read, partial);
    read
}
