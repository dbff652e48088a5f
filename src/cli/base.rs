//! `--base URL`, as typed, for the commands that resolve references.

use std::ffi::OsString;

use clap::builder::{OsStringValueParser, TypedValueParser};
use urlsift::resolve::Base;

use super::complain;

/// A base; what is none is refused where it is typed.
pub(super) fn base() -> impl TypedValueParser<Value = Base> {
    OsStringValueParser::new().try_map(|url: OsString| Base::new(url.as_encoded_bytes()))
}

/// Says what of a base is not used.
pub(super) fn explain(base: Option<&Base>) {
    if base.is_some_and(Base::had_fragment) {
        complain(
            "--base: what is behind the \"#\" is left out, since a base has no fragment (RFC 3986, section 5.1)",
        );
    }
}
