//! Lists of names of inputs.

use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

use super::source::Input;

/// What ends a name in a list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// LF, as in a list of lines.
    Newline,
    /// NUL, which no name has in it, as `find -print0` writes them.
    Nul,
}

/// No path is longer, in bytes, on any system.
const MAX_LEN: usize = 32 << 10;

/// A list is not of more names.
const MAX_NAMES: u64 = 1 << 24;

/// The paths that `list` names, with the numbers of their lines, from 1.
///
/// # Errors
/// When it cannot be read, or something in it is no name; the error says where.
pub(super) fn read_names(list: &Input, separator: Separator) -> io::Result<Vec<(u64, PathBuf)>> {
    let (reader, _) = list.reader()?;
    let mut reader = BufReader::new(reader);
    let mut names = Vec::new();
    let end = if separator == Separator::Nul { 0 } else { b'\n' };
    for number in 1.. {
        let mut name = Vec::new();
        // One byte more than a name and its terminator have.
        let len = reader.by_ref().take(MAX_LEN as u64 + 2).read_until(end, &mut name)?;
        if len == 0 {
            break;
        }
        let wrong =
            |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, format!("line {number}: {what}")));
        name.pop_if(|last| *last == end);
        if separator == Separator::Newline {
            while name.pop_if(|last| *last == b'\r').is_some() {}
        }
        if name.len() > MAX_LEN {
            return wrong("longer than any name of a file; is this a list of names?");
        }
        if number > MAX_NAMES {
            return wrong("more names than there can be inputs");
        }
        if name.is_empty() {
            if separator == Separator::Nul {
                return wrong("an empty name");
            }
            continue;
        }
        if name == b"-" && list.is_standard() {
            return wrong("standard input cannot be an input, since the list comes from there");
        }
        let Some(path) = path(name) else { return wrong("a name that is not UTF-8") };
        names.push((number, path));
    }
    Ok(names)
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "on other systems there are bytes that are no name")]
fn path(name: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Some(std::ffi::OsString::from_vec(name).into())
}

#[cfg(not(unix))]
fn path(name: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(name).ok().map(PathBuf::from)
}
