//! The basic URL parser (section 4.4), without state override.
//!
//! Each state of the standard is a function here, in the order of the standard. It reads what the standard reads in that state, and
//! calls the function of the next state. Where the standard puts one code point after the other into its buffer, a function looks for the end
//! of what belongs to the buffer. All code points that decide something are ASCII, so it looks at bytes.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2, memchr3_iter, memrchr};

use crate::whatwg::code_points::{EncodeSet, invalid_units};
use crate::whatwg::host::{Failure, parse_host};
use crate::whatwg::plain::{may_have_dot_segments, plain_host};
use crate::whatwg::url::{Url, default_port, port_number};
use crate::whatwg::{Found, ValidationError};

/// Parses `input`, from which blanks and controls at the ends, tabs and line ends are removed. Appends each error with its offset in
/// `input`.
pub(super) fn parse(
    input: &str,
    base: Option<&Url>,
    url: &mut Url,
    errors: &mut Vec<Found>,
) -> Result<(), Failure> {
    url.clear();
    url.path.reserve(input.len());
    Parser { text: input, input: input.as_bytes(), pointer: 0, base, is_special: false, url, errors }
        .scheme_start()
}

struct Parser<'a> {
    text: &'a str,
    /// The bytes of `text`.
    input: &'a [u8],
    pointer: usize,
    base: Option<&'a Url>,
    /// Whether the scheme is special.
    is_special: bool,
    url: &'a mut Url,
    errors: &'a mut Vec<Found>,
}

impl<'a> Parser<'a> {
    /// The byte at the pointer; `None` is the standard's *EOF code point*.
    fn c(&self) -> Option<u8> {
        self.input.get(self.pointer).copied()
    }

    /// The bytes after the pointer.
    fn remaining(&self) -> &'a [u8] {
        self.input.get(self.pointer + 1..).unwrap_or_default()
    }

    fn error(&mut self, error: ValidationError, at: usize) {
        self.errors.push(Found { error, offset: at });
    }

    fn fail(&mut self, error: ValidationError, at: usize) -> Result<(), Failure> {
        self.error(error, at);
        Err(Failure)
    }

    /// Reports what in this range is no URL unit.
    fn check_units(&mut self, range: Range<usize>) {
        let start = range.start;
        for at in invalid_units(&self.text[range]) {
            self.errors.push(Found { error: ValidationError::InvalidUrlUnit, offset: start + at });
        }
    }

    /// Appends the code points in this range to `out`, percent-encoded by `set`, and reports what is no URL unit.
    fn encode(&mut self, range: Range<usize>, set: EncodeSet, out: fn(&mut Url) -> &mut String) {
        let text = &self.text[range.clone()];
        if set.plain_len(text.as_bytes()) == text.len() {
            return out(self.url).push_str(text);
        }
        self.check_units(range);
        set.encode(text, out(self.url));
    }

    /// Sets the scheme.
    fn set_scheme(&mut self, scheme: &str) {
        scheme.clone_into(&mut self.url.scheme);
        self.url.scheme.make_ascii_lowercase();
        self.is_special = self.url.is_special();
    }

    /// Whether `byte` ends a segment: "/", and in special URLs "\".
    fn is_slash(&self, byte: Option<u8>) -> bool {
        byte == Some(b'/') || byte == Some(b'\\') && self.is_special
    }

    /// Passes a slash at the pointer. Returns whether there is one. A "\" is an error.
    fn pass_slash(&mut self) -> bool {
        let c = self.c();
        let is_slash = self.is_slash(c);
        if is_slash && c == Some(b'\\') {
            self.error(ValidationError::InvalidReverseSolidus, self.pointer);
        }
        self.pointer += usize::from(is_slash);
        is_slash
    }

    /// The first place from the pointer on where the authority or a segment ends, or the end of the input.
    fn end_of_segment(&self) -> usize {
        let is_special = self.is_special;
        let is_end = |&byte: &u8| matches!(byte, b'/' | b'?' | b'#') || is_special && byte == b'\\';
        let rest = &self.input[self.pointer..];
        self.pointer + rest.iter().position(is_end).unwrap_or(rest.len())
    }

    fn scheme_start(&mut self) -> Result<(), Failure> {
        let is_letter = self.c().is_some_and(|c| c.is_ascii_alphabetic());
        if is_letter { self.scheme() } else { self.no_scheme() }
    }

    fn scheme(&mut self) -> Result<(), Failure> {
        let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let len = self.input.iter().position(|byte| !is_scheme(byte)).unwrap_or(self.input.len());
        if self.input.get(len) != Some(&b':') {
            return self.no_scheme();
        }
        self.set_scheme(&self.text[..len]);
        self.pointer = len;
        let remaining = self.remaining();
        self.pointer += 1;
        if self.url.scheme == "file" {
            if !remaining.starts_with(b"//") {
                self.error(ValidationError::SpecialSchemeMissingFollowingSolidus, self.pointer);
            }
            self.file()
        } else if self.is_special {
            let has_base = self.base.is_some_and(|base| base.scheme == self.url.scheme);
            if has_base { self.special_relative_or_authority() } else { self.special_authority_slashes() }
        } else if remaining.starts_with(b"/") {
            self.pointer += 1;
            self.path_or_authority()
        } else {
            self.url.has_opaque_path = true;
            self.opaque_path()
        }
    }

    fn no_scheme(&mut self) -> Result<(), Failure> {
        match self.base {
            Some(base) if base.has_opaque_path && self.c() == Some(b'#') => {
                self.set_scheme(&base.scheme);
                self.url.path.clone_from(&base.path);
                self.url.has_opaque_path = true;
                self.url.query.clone_from(&base.query);
                self.pointer += 1;
                self.fragment()
            }
            Some(base) if !base.has_opaque_path => {
                if base.scheme == "file" {
                    self.file()
                } else {
                    self.relative()
                }
            }
            _ => self.fail(ValidationError::MissingSchemeNonRelativeUrl, 0),
        }
    }

    fn special_relative_or_authority(&mut self) -> Result<(), Failure> {
        if self.input[self.pointer..].starts_with(b"//") {
            self.pointer += 2;
            return self.special_authority_ignore_slashes();
        }
        self.error(ValidationError::SpecialSchemeMissingFollowingSolidus, self.pointer);
        self.relative()
    }

    fn path_or_authority(&mut self) -> Result<(), Failure> {
        if self.c() == Some(b'/') {
            self.pointer += 1;
            return self.authority();
        }
        self.path()
    }

    /// Takes credentials, host and port of the base.
    fn take_authority(&mut self, base: &Url) {
        self.url.username.clone_from(&base.username);
        self.url.password.clone_from(&base.password);
        self.url.host.clone_from(&base.host);
        self.url.port = base.port;
    }

    fn relative(&mut self) -> Result<(), Failure> {
        let base = self.base.ok_or(Failure)?;
        self.set_scheme(&base.scheme);
        if self.pass_slash() {
            return self.relative_slash();
        }
        self.take_authority(base);
        self.after_path_of(base)
    }

    /// Takes path and query of the base, as far as the reference does not replace them.
    fn after_path_of(&mut self, base: &Url) -> Result<(), Failure> {
        self.url.path.clone_from(&base.path);
        match self.c() {
            Some(b'?') => {
                self.pointer += 1;
                self.query()
            }
            Some(b'#') => {
                self.url.query.clone_from(&base.query);
                self.pointer += 1;
                self.fragment()
            }
            Some(_) => {
                self.url.shorten_path();
                self.path()
            }
            None => {
                self.url.query.clone_from(&base.query);
                Ok(())
            }
        }
    }

    fn relative_slash(&mut self) -> Result<(), Failure> {
        if self.pass_slash() {
            return if self.is_special { self.special_authority_ignore_slashes() } else { self.authority() };
        }
        let base = self.base.ok_or(Failure)?;
        self.take_authority(base);
        self.path()
    }

    fn special_authority_slashes(&mut self) -> Result<(), Failure> {
        if self.input[self.pointer..].starts_with(b"//") {
            self.pointer += 2;
        } else {
            self.error(ValidationError::SpecialSchemeMissingFollowingSolidus, self.pointer);
        }
        self.special_authority_ignore_slashes()
    }

    fn special_authority_ignore_slashes(&mut self) -> Result<(), Failure> {
        while matches!(self.c(), Some(b'/' | b'\\')) {
            self.error(ValidationError::SpecialSchemeMissingFollowingSolidus, self.pointer);
            self.pointer += 1;
        }
        self.authority()
    }

    fn authority(&mut self) -> Result<(), Failure> {
        let rest = &self.input[self.pointer..];
        if self.is_special
            && let Some((len, false)) = plain_host(rest)
            && matches!(rest.get(len), None | Some(b'/' | b'?' | b'#'))
        {
            let end = self.pointer + len;
            self.url.host = Some(self.text[self.pointer..end].to_ascii_lowercase());
            self.pointer = end;
            return self.path_start();
        }
        let (start, end) = (self.pointer, self.end_of_segment());
        let authority = &self.input[start..end];
        let Some(last_at) = memrchr(b'@', authority) else {
            return self.host(end);
        };
        for at in memchr_iter(b'@', authority) {
            self.error(ValidationError::InvalidCredentials, start + at);
        }
        let credentials = &self.text[start..start + last_at];
        let (username, password) = credentials.split_once(':').unwrap_or((credentials, ""));
        EncodeSet::Userinfo.encode(username, &mut self.url.username);
        EncodeSet::Userinfo.encode(password, &mut self.url.password);
        self.pointer = start + last_at + 1;
        if self.pointer == end {
            return self.fail(ValidationError::HostMissing, end);
        }
        self.host(end)
    }

    /// Parses the host that reaches from the pointer to `end`.
    fn take_host(&mut self, end: usize) -> Result<String, Failure> {
        let start = self.pointer;
        self.pointer = end;
        let is_opaque = !self.is_special;
        let errors = &mut *self.errors;
        parse_host(&self.text[start..end], is_opaque, &mut |error, at| {
            errors.push(Found { error, offset: start + at });
        })
    }

    /// Reads the rest of the authority, which ends at `end`.
    fn host(&mut self, end: usize) -> Result<(), Failure> {
        let start = self.pointer;
        let mut inside_brackets = false;
        let colon = memchr3_iter(b':', b'[', b']', &self.input[start..end]).find(|at| {
            let byte = self.input[start + at];
            inside_brackets = byte == b'[' || inside_brackets && byte != b']';
            byte == b':' && !inside_brackets
        });
        let host_end = colon.map_or(end, |colon| start + colon);
        if start == host_end && (colon.is_some() || self.is_special) {
            return self.fail(ValidationError::HostMissing, start);
        }
        self.url.host = Some(self.take_host(host_end)?);
        if colon.is_some() {
            self.pointer += 1;
            return self.port();
        }
        self.path_start()
    }

    fn port(&mut self) -> Result<(), Failure> {
        let (start, end) = (self.pointer, self.end_of_segment());
        let digits = &self.input[start..end];
        if let Some(at) = digits.iter().position(|byte| !byte.is_ascii_digit()) {
            return self.fail(ValidationError::PortInvalid, start + at);
        }
        if !digits.is_empty() {
            let Some(port) = port_number(digits) else {
                return self.fail(ValidationError::PortOutOfRange, start);
            };
            self.url.port = Some(port).filter(|_| default_port(&self.url.scheme) != Some(port));
        }
        self.pointer = end;
        self.path_start()
    }

    fn file(&mut self) -> Result<(), Failure> {
        self.set_scheme("file");
        self.url.host = Some(String::new());
        if self.pass_slash() {
            return self.file_slash();
        }
        let Some(base) = self.base.filter(|base| base.scheme == "file") else {
            return self.path();
        };
        self.url.host.clone_from(&base.host);
        if self.starts_with_drive_letter() {
            self.error(ValidationError::FileInvalidWindowsDriveLetter, self.pointer);
            return self.path();
        }
        self.after_path_of(base)
    }

    /// Whether the rest *starts with a Windows drive letter*.
    fn starts_with_drive_letter(&self) -> bool {
        let rest = &self.input[self.pointer..];
        rest.get(..2).is_some_and(is_drive_letter)
            && matches!(rest.get(2), None | Some(b'/' | b'\\' | b'?' | b'#'))
    }

    fn file_slash(&mut self) -> Result<(), Failure> {
        if self.pass_slash() {
            return self.file_host();
        }
        if let Some(base) = self.base.filter(|base| base.scheme == "file") {
            self.url.host.clone_from(&base.host);
            let first = base.first_segment().unwrap_or_default();
            let is_normalized = is_drive_letter(first.as_bytes()) && first.ends_with(':');
            if is_normalized && !self.starts_with_drive_letter() {
                self.push_segment(first);
            }
        }
        self.path()
    }

    fn file_host(&mut self) -> Result<(), Failure> {
        let end = self.end_of_segment();
        let host = &self.input[self.pointer..end];
        if is_drive_letter(host) {
            self.error(ValidationError::FileInvalidWindowsDriveLetterHost, self.pointer);
            self.take_segment(end);
            return self.pass_delimiter(end);
        }
        if !host.is_empty() {
            let host = self.take_host(end)?;
            self.url.host = Some(if host == "localhost" { String::new() } else { host });
        }
        self.path_start()
    }

    fn path_start(&mut self) -> Result<(), Failure> {
        if self.is_special {
            self.pass_slash();
            return self.path();
        }
        // Nothing else ends a host or a port.
        self.pass_delimiter(self.pointer)
    }

    /// Reads what follows the delimiter at `end`: "?", "#", or one that begins a segment.
    fn pass_delimiter(&mut self, end: usize) -> Result<(), Failure> {
        let c = self.input.get(end);
        self.pointer = end + usize::from(c.is_some());
        match c {
            Some(b'?') => self.query(),
            Some(b'#') => self.fragment(),
            Some(_) => self.path(),
            None => Ok(()),
        }
    }

    /// Reads the path: as a whole if it stays as it is, and else segment by segment.
    fn path(&mut self) -> Result<(), Failure> {
        let rest = &self.input[self.pointer..];
        let len = EncodeSet::Path.plain_len(rest);
        let is_whole = matches!(rest.get(len), None | Some(b'?' | b'#'));
        if is_whole && self.url.scheme != "file" && !may_have_dot_segments(&rest[..len]) {
            let end = self.pointer + len;
            self.url.path.push('/');
            self.url.path.push_str(&self.text[self.pointer..end]);
            return self.pass_delimiter(end);
        }
        loop {
            let end = self.end_of_segment();
            self.check_units(self.pointer..end);
            self.take_segment(end);
            if !self.is_slash(self.input.get(end).copied()) {
                return self.pass_delimiter(end);
            }
            self.pointer = end + 1;
        }
    }

    /// Appends the segment that reaches from the pointer to `end`.
    fn take_segment(&mut self, end: usize) {
        let segment = &self.text[self.pointer..end];
        let c = self.input.get(end).copied();
        if c == Some(b'\\') {
            self.error(ValidationError::InvalidReverseSolidus, end);
        }
        let is_last = !self.is_slash(c);
        match dots(segment) {
            Some(n_dots) => {
                if n_dots == 2 {
                    self.url.shorten_path();
                }
                if is_last {
                    self.push_segment("");
                }
            }
            None if self.url.scheme == "file"
                && self.url.path.is_empty()
                && is_drive_letter(segment.as_bytes()) =>
            {
                self.push_segment(&segment[..1]);
                self.url.path.push(':');
            }
            None => self.push_segment(segment),
        }
    }

    fn push_segment(&mut self, segment: &str) {
        self.url.path.push('/');
        EncodeSet::Path.encode(segment, &mut self.url.path);
    }

    fn opaque_path(&mut self) -> Result<(), Failure> {
        let start = self.pointer;
        let rest = &self.input[start..];
        let end = start + memchr2(b'?', b'#', rest).unwrap_or(rest.len());
        self.check_units(start..end);
        let path = &self.text[start..end];
        // A blank before a query or a fragment would be lost if these were removed.
        let kept = path.strip_suffix(' ').filter(|_| end < self.input.len());
        EncodeSet::C0Control.encode(kept.unwrap_or(path), &mut self.url.path);
        if kept.is_some() {
            self.url.path.push_str("%20");
        }
        self.pass_delimiter(end)
    }

    fn query(&mut self) -> Result<(), Failure> {
        let start = self.pointer;
        let rest = &self.input[start..];
        let end = start + memchr(b'#', rest).unwrap_or(rest.len());
        let set = if self.is_special { EncodeSet::SpecialQuery } else { EncodeSet::Query };
        self.url.query = Some(String::with_capacity(end - start));
        self.encode(start..end, set, |url| url.query.get_or_insert_default());
        self.pass_delimiter(end)
    }

    #[expect(clippy::unnecessary_wraps, reason = "the other states can fail")]
    fn fragment(&mut self) -> Result<(), Failure> {
        self.url.fragment = Some(String::new());
        self.encode(self.pointer..self.input.len(), EncodeSet::Fragment, |url| {
            url.fragment.get_or_insert_default()
        });
        Ok(())
    }
}

/// Whether these bytes are a *Windows drive letter*: a letter, and ":" or "|".
fn is_drive_letter(bytes: &[u8]) -> bool {
    matches!(bytes, [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

/// The number of dots of a *single-dot* or *double-dot URL path segment*; `None` if the segment is another.
fn dots(segment: &str) -> Option<usize> {
    let (mut rest, mut n_dots) = (segment.as_bytes(), 0);
    while !rest.is_empty() {
        rest = match rest {
            [b'.', rest @ ..] | [b'%', b'2', b'e' | b'E', rest @ ..] => rest,
            _ => return None,
        };
        n_dots += 1;
    }
    matches!(n_dots, 1 | 2).then_some(n_dots)
}
