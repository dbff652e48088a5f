//! Turns paths into inputs. A directory stands for the files in it and below it, in a fixed order.
//!
//! This module decides which files are inputs, and their order. The crate `walkdir` walks the directories.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_list::{Separator, read_names};
#[cfg(feature = "walk")]
use super::globs::Globs;
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
/// # mod urlsift { pub mod internal { pub use urlsift_input::Walk; } }
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
    globs: Option<Globs>,
    #[cfg_attr(not(feature = "walk"), allow(dead_code, reason = "nothing is walked"))]
    hidden: bool,
    #[cfg_attr(not(feature = "walk"), allow(dead_code, reason = "nothing is walked"))]
    follow: bool,
}

impl Walk {
    /// Takes only files that match one of `globs`. A glob that begins with "!" leaves out the files that match it. The
    /// last glob that matches decides. A glob without a slash matches names at any depth. A glob with a slash matches
    /// paths relative to the working directory. A hidden file that a glob matches is taken.
    ///
    /// `*` and `?` match no slash, and `**` any directories. `[!a]` is any character but "a", and `{a,b}` either. A `\`
    /// takes its meaning from the next character. A glob that ends in a slash matches directories alone.
    ///
    /// # Errors
    /// When a glob is invalid, or its braces stand for more than 1,000 patterns. The error shows it.
    #[cfg(feature = "walk")]
    pub fn globs(self, globs: &[impl AsRef<str>]) -> io::Result<Self> {
        Ok(Self { globs: Some(Globs::new(globs)?), ..self })
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
        inputs.shrink_to_fit();
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
        let name: Arc<str> = list.name().into();
        for (number, path) in read_names(list, separator)? {
            let from = inputs.len();
            self.add(path, &mut inputs);
            for input in &mut inputs[from..] {
                input.listed = Some((name.clone(), number));
            }
        }
        inputs.shrink_to_fit();
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
        let walk = walkdir::WalkDir::new(directory).follow_links(self.follow).sort_by_file_name();
        let from = inputs.len();
        for entry in walk.into_iter().filter_entry(|entry| entry.depth() == 0 || self.takes(entry)) {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(directory).to_owned();
                    inputs.push(Input::broken(&path, cause(error)));
                    continue;
                }
            };
            // Sockets and pipes in a directory are not inputs.
            if entry.file_type().is_file() {
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

    /// Whether a file is an input, or a directory is walked.
    #[cfg(feature = "walk")]
    fn takes(&self, entry: &walkdir::DirEntry) -> bool {
        let by_glob =
            self.globs.as_ref().and_then(|globs| globs.takes(entry.path(), entry.file_type().is_dir()));
        by_glob.unwrap_or_else(|| self.hidden || !is_hidden(entry))
            && !NO_DATA.iter().any(|name| entry.file_name() == *name)
    }

    #[cfg(not(feature = "walk"))]
    #[allow(clippy::unused_self, reason = "with the feature it is used")]
    fn walk(&self, directory: &Path, inputs: &mut Vec<Input>) {
        let sentence = "it is a directory, and this build of urlsift reads none (the feature \"walk\")";
        inputs.push(Input::broken(directory, io::Error::new(io::ErrorKind::Unsupported, sentence)));
    }
}

/// Whether a file or directory is hidden by its name, or on Windows by its attributes.
#[cfg(feature = "walk")]
fn is_hidden(entry: &walkdir::DirEntry) -> bool {
    #[cfg(windows)]
    if entry.metadata().is_ok_and(|metadata| {
        use std::os::windows::fs::MetadataExt;
        const FILE_ATTRIBUTE_HIDDEN: u32 = 2;
        metadata.file_attributes() & FILE_ATTRIBUTE_HIDDEN != 0
    }) {
        return true;
    }
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// The error of the walk without the path that it is about.
#[cfg(feature = "walk")]
fn cause(error: walkdir::Error) -> io::Error {
    if let Some(ancestor) = error.loop_ancestor() {
        return io::Error::other(format!("the link leads back to {}, in which it lies", ancestor.display()));
    }
    error.into_io_error().unwrap_or_else(|| io::Error::other("it cannot be read"))
}
