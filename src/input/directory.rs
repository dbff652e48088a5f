//! Paths to inputs: directories stand for the files in them and below them, in a fixed order.
//!
//! What is walked, and in which order, is decided here; how, by ripgrep's library.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_list::{Separator, read_names};
use super::source::Input;

/// Which files of directories are inputs.
///
/// All but those whose names begin with ".", or that lie in directories whose names do, and symbolic links. What is named itself is
/// always an input, whatever its name, and a link too.
///
/// ```
/// use urlsift::input::Walk;
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
    /// Takes only files that match one of `globs`, or, where they begin with "!", that match none. The last that matches decides.
    /// A glob without a slash is of a name at any depth; with one it is of a path from the working directory on. A hidden file that
    /// a glob matches is taken.
    ///
    /// # Errors
    /// When one is no glob; the error shows it.
    #[cfg(feature = "walk")]
    pub fn globs(self, globs: &[impl AsRef<str>]) -> io::Result<Self> {
        let wrong = |error: ignore::Error| io::Error::new(io::ErrorKind::InvalidInput, error.to_string());
        let mut builder = ignore::overrides::OverrideBuilder::new(std::env::current_dir()?);
        for glob in globs {
            builder.add(glob.as_ref()).map_err(wrong)?;
        }
        Ok(Self { globs: Some(builder.build().map_err(wrong)?), ..self })
    }

    /// Takes hidden files and directories too.
    #[must_use]
    pub fn hidden(self, hidden: bool) -> Self {
        Self { hidden, ..self }
    }

    /// Follows symbolic links. One that leads back to where it lies in, or nowhere, is an input that cannot be read.
    #[must_use]
    pub fn follow(self, follow: bool) -> Self {
        Self { follow, ..self }
    }

    /// Leaves out what `.gitignore`, `.ignore` and other files that git knows name.
    #[must_use]
    pub fn ignore_files(self, ignore_files: bool) -> Self {
        Self { ignore_files, ..self }
    }

    /// All inputs that `paths` name, in their order: `-` is standard input, a directory stands for all files in it and below
    /// it, sorted by name.
    ///
    /// A path that cannot be looked at is an input too; it fails when it is read.
    #[must_use]
    pub fn list(&self, paths: &[PathBuf]) -> Vec<Input> {
        let mut inputs = Vec::new();
        for path in paths {
            self.add(path.clone(), &mut inputs);
        }
        inputs
    }

    /// All inputs that the lines of `list` name, in their order, as [`list`](Self::list) understands them. They know where they
    /// are named ([`Input::listed_at`]).
    ///
    /// Blank lines are passed over, and CRs before an LF belong to no name. A list may be compressed.
    ///
    /// # Errors
    /// When the list cannot be read, is of more than 2^24 names, or has one that can be none: empty where names end in NUL,
    /// longer than 32 KiB, or standard input where the list comes from there.
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
            inputs.push(Input::file(path));
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
        for entry in builder.build() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let (path, error) = placed(error);
                    inputs.push(Input::broken(&path.unwrap_or_else(|| directory.to_owned()), error));
                    continue;
                }
            };
            // Sockets and pipes in a directory are not lists.
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                inputs.push(Input::file(entry.into_path()));
            }
        }
    }

    #[cfg(not(feature = "walk"))]
    #[allow(clippy::unused_self, reason = "with the feature it is used")]
    fn walk(&self, directory: &Path, inputs: &mut Vec<Input>) {
        let sentence = "it is a directory, and this build of urlsift reads none (the feature \"walk\")";
        inputs.push(Input::broken(directory, io::Error::new(io::ErrorKind::Unsupported, sentence)));
    }
}

/// An error of the walk, and what it is about.
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
