//! Turns paths into inputs. A directory stands for the files in it and below it, in a fixed order.
//!
//! This module decides which files are inputs, and in which order. The crate `ignore`, ripgrep's library, walks the
//! directories.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_list::{Separator, read_names};
use super::source::Input;

/// What programs write beside the files of a table: the log of Delta Lake, and the mark of a job that is done.
#[cfg(feature = "walk")]
const NO_DATA: [&str; 2] = ["_delta_log", "_SUCCESS"];

/// Which files of directories are inputs.
///
/// By default, these are all files except hidden files, symbolic links, `_SUCCESS` and what is in `_delta_log`. A file is hidden if its name begins with ".",
/// or if it is in a directory whose name does. A path that is given itself is always an input, even if it is hidden or a
/// link.
///
/// ```
/// use urlsift::internal::Walk;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = |name: &str| folder.path().join(name);
/// for name in ["a.gz", "b.txt", "old.gz", ".hidden"] {
///     std::fs::write(path(name), "http://example.org/\n")?;
/// }
/// let walk = Walk::default().globs(&["*.gz", "!old*"])?;
/// let inputs = walk.list(&[folder.path().to_owned()]);
/// assert_eq!(inputs.len(), 1);
/// assert!(inputs[0].name().ends_with("a.gz"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Walk {
    #[cfg(feature = "walk")]
    globs: Option<ignore::overrides::Override>,
    #[cfg_attr(not(feature = "walk"), allow(dead_code, reason = "nothing is walked"))]
    hidden: bool,
    #[cfg_attr(not(feature = "walk"), allow(dead_code, reason = "nothing is walked"))]
    follow: bool,
    #[cfg_attr(not(feature = "walk"), allow(dead_code, reason = "nothing is walked"))]
    ignore_files: bool,
}

impl Walk {
    /// Takes only files that match one of `globs`. A glob that begins with "!" leaves out the files that match it. The
    /// last glob that matches decides. A glob without a slash matches names at any depth. A glob with a slash matches
    /// paths relative to the working directory. A hidden file that a glob matches is taken.
    ///
    /// # Errors
    /// When a glob is invalid. The error shows it.
    #[cfg(feature = "walk")]
    pub fn globs(self, globs: &[impl AsRef<str>]) -> io::Result<Self> {
        let wrong = |error: ignore::Error| io::Error::new(io::ErrorKind::InvalidInput, error.to_string());
        let mut builder = ignore::overrides::OverrideBuilder::new(std::env::current_dir()?);
        for glob in globs {
            builder.add(glob.as_ref()).map_err(wrong)?;
        }
        Ok(Self { globs: Some(builder.build().map_err(wrong)?), ..self })
    }

    /// Also takes hidden files and directories.
    #[must_use]
    pub fn hidden(self, hidden: bool) -> Self {
        Self { hidden, ..self }
    }

    /// Follows symbolic links. A link to a directory that contains it, or to nothing, is an input that cannot be read.
    #[must_use]
    pub fn follow(self, follow: bool) -> Self {
        Self { follow, ..self }
    }

    /// Leaves out the files that `.gitignore`, `.ignore` and other ignore files of git name.
    #[must_use]
    pub fn ignore_files(self, ignore_files: bool) -> Self {
        Self { ignore_files, ..self }
    }

    /// All inputs that `paths` name, in their order. `-` is standard input. A directory stands for all files in it and
    /// below it, sorted by name.
    ///
    /// A path that cannot be accessed is an input too, and so is a directory without files. Reading it fails.
    #[must_use]
    pub fn list(&self, paths: &[impl AsRef<Path>]) -> Vec<Input> {
        let mut inputs = Vec::new();
        for path in paths {
            self.add(path.as_ref().to_owned(), &mut inputs);
        }
        inputs
    }

    /// All inputs that the entries of `list` name, in their order. Each entry is treated as a path in
    /// [`list`](Self::list). The inputs know where they are named.
    ///
    /// Blank lines are skipped, and CRs before an LF do not belong to a name. A list may be compressed.
    ///
    /// # Errors
    /// When the list cannot be read, has more than 2^24 entries, or has an invalid name. These names are invalid: names
    /// longer than 32 KiB, empty names where names end in NUL, and `-` in a list that is read from standard input.
    pub fn list_named(&self, list: &Input, separator: Separator) -> io::Result<Vec<Input>> {
        let mut inputs = Vec::new();
        let name = Arc::from(list.name());
        for (number, path) in read_names(list, separator)? {
            let from = inputs.len();
            self.add(path, &mut inputs);
            for input in &mut inputs[from..] {
                input.set_listed_at(&name, number);
            }
        }
        Ok(inputs)
    }

    fn add(&self, path: PathBuf, inputs: &mut Vec<Input>) {
        if path.as_os_str() == "-" {
            inputs.push(Input::standard());
        } else if path.is_dir() {
            self.walk(&path, inputs);
        } else {
            inputs.push(Input::named(path));
        }
    }

    #[cfg(feature = "walk")]
    fn walk(&self, directory: &Path, inputs: &mut Vec<Input>) {
        let mut builder = ignore::WalkBuilder::new(directory);
        builder.standard_filters(self.ignore_files).hidden(!self.hidden).follow_links(self.follow);
        builder.sort_by_file_name(std::ffi::OsStr::cmp);
        if let Some(globs) = &self.globs {
            builder.overrides(globs.clone());
        }
        builder.filter_entry(|entry| {
            entry.depth() == 0 || !NO_DATA.iter().any(|name| entry.file_name() == *name)
        });
        let from = inputs.len();
        for entry in builder.build() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let (path, error) = placed(error);
                    inputs.push(Input::broken(&path.unwrap_or_else(|| directory.to_owned()), error));
                    continue;
                }
            };
            // Sockets and pipes in a directory are not inputs.
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                inputs.push(Input::file(entry.into_path()));
            }
        }
        if inputs.len() == from {
            let which = if self.globs.is_some() {
                "no file in this directory or below it matches"
            } else {
                "there is no file to read in this directory or below it"
            };
            inputs.push(Input::broken(directory, io::Error::other(which)));
        }
    }

    #[cfg(not(feature = "walk"))]
    #[allow(clippy::unused_self, reason = "with the feature it is used")]
    fn walk(&self, directory: &Path, inputs: &mut Vec<Input>) {
        let sentence = "it is a directory, and this build of urlsift reads none (the feature \"walk\")";
        inputs.push(Input::broken(directory, io::Error::new(io::ErrorKind::Unsupported, sentence)));
    }
}

/// The error of the walk as an [`io::Error`], and the path that it is about.
#[cfg(feature = "walk")]
fn placed(error: ignore::Error) -> (Option<PathBuf>, io::Error) {
    use ignore::Error::{Io, Loop, WithDepth, WithLineNumber, WithPath};
    match error {
        WithDepth { err, .. } | WithLineNumber { err, .. } => placed(*err),
        WithPath { path, err } => {
            let (inner, error) = placed(*err);
            (inner.or(Some(path)), error)
        }
        Loop { ancestor, child } => {
            let sentence = format!("the link leads back to {}, in which it lies", ancestor.display());
            (Some(child), io::Error::other(sentence))
        }
        Io(error) => (None, error),
        other => (None, io::Error::other(other.to_string())),
    }
}
