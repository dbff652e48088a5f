//! Values that the completions of a shell offer for options which also take other texts.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

/// A parser, and values that it takes. Help does not list them: the option needs `hide_possible_values`.
#[derive(Clone)]
pub(crate) struct Offered<P> {
    pub(crate) parser: P,
    pub(crate) values: fn() -> Vec<String>,
}

impl<P: TypedValueParser> TypedValueParser for Offered<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<P::Value, Error> {
        self.parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.values)().into_iter().map(PossibleValue::new)))
    }
}
