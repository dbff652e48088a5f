//! Reads lists of input names.
//!
//! This module decides what a valid name is, and says where a list is wrong. It does not access the named inputs.

use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

use super::source::Input;

/// The byte that ends a name in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// LF: each name is a line.
    Newline,
    /// NUL, which no name contains. `find -print0` writes such lists.
    Nul,
}

/// Longest name, in bytes. No system has longer paths.
const MAX_LEN: usize = 32 << 10;

/// Most entries of a list.
const MAX_NAMES: u64 = 1 << 24;

/// The paths that `list` names, each with its line number, from 1.
///
/// # Errors
/// When the list cannot be read, or an entry is not a valid name. The error says which entry.
pub(super) fn read_names(list: &Input, separator: Separator) -> io::Result<Vec<(u64, PathBuf)>> {
    let (reader, _) = list.reader()?;
    let mut reader = BufReader::new(reader);
    let mut names = Vec::new();
    let end = if separator == Separator::Nul { 0 } else { b'\n' };
    for number in 1.. {
        let mut name = Vec::new();
        // One byte more than the longest name and its terminator, so that a longer name is noticed.
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
