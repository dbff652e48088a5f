//! Options that name inputs and say how they are compressed.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use urlsift_input::{Codec, Input, Separator, Walk};

use crate::cli::args::directory;
use crate::cli::output_file::keep_list;
use crate::cli::{input_path, more, suggest, warn};

/// The paths of inputs.
#[derive(Args)]
pub(crate) struct PathArgs {
    /// Files, directories, or - for standard input
    ///
    /// Inputs are lists of URLs, one per line, compressed or not. A directory stands for all files in it and below it, in
    /// the order of their names. Without a path, urlsift reads standard input, unless it is a terminal.
    #[arg(value_name = "PATH", value_parser = input_path())]
    paths: Vec<PathBuf>,

    /// Read more paths from a list, or - for standard input
    ///
    /// The list has one path per line; blank lines are skipped. Errors of an input name the line that lists it.
    #[arg(long, value_name = "FILE", value_parser = input_path(), hide_short_help = true)]
    files_from: Option<PathBuf>,

    /// Paths in the list end in NUL, as find -print0 writes them
    #[arg(short = '0', long, requires = "files_from", hide_short_help = true)]
    null: bool,

    #[command(flatten)]
    walk: directory::WalkArgs,

    /// How inputs are compressed [default: by their content]
    ///
    /// By default, urlsift recognises gzip, zstd, bzip2 and xz by their first bytes, whatever the names. Line numbers and
    /// offsets are those of the decoded bytes. One of auto, none (does not decode), gzip, zstd, bzip2 and xz.
    #[arg(long, value_name = "CODEC", value_parser = codec, default_value = "auto", hide_default_value = true,
          hide_short_help = true)]
    pub(crate) codec: CodecChoice,
}

/// The codec of all inputs; `None` means that their content decides.
type CodecChoice = Option<Codec>;

/// Parses the name of a codec.
fn codec(name: &str) -> Result<CodecChoice, String> {
    if name == "auto" {
        return Ok(None);
    }
    Codec::find(name).map(Some).ok_or_else(|| {
        let names: Vec<_> = ["auto"].into_iter().chain(Codec::ALL.iter().map(|codec| codec.name())).collect();
        suggest::unknown("codec", name, &names)
    })
}

impl PathArgs {
    /// The inputs. Without any, it is standard input, or `None` if that is a terminal.
    ///
    /// # Errors
    /// If a glob is invalid, or a list of names cannot be read.
    pub(crate) fn inputs(&self) -> io::Result<Option<Vec<Input>>> {
        let separator = if self.null { Separator::Nul } else { Separator::Newline };
        let inputs = inputs(&self.walk.walk()?, &self.paths, self.files_from.as_deref(), separator)?;
        Ok(inputs.map(|inputs| inputs.into_iter().map(|input| input.with_codec(self.codec)).collect()))
    }

    /// The words of a command line that name the same inputs. `None` for standard input.
    pub(crate) fn words(&self) -> Option<Vec<OsString>> {
        let is_standard = |path: &PathBuf| path.as_os_str() == "-";
        let list = self.files_from.as_ref();
        if (self.paths.is_empty() && list.is_none()) || self.paths.iter().chain(list).any(is_standard) {
            return None;
        }
        let mut words = self.walk.words();
        if let Some(codec) = self.codec {
            words.extend(["--codec".into(), codec.name().into()]);
        }
        if let Some(list) = list {
            words.extend(["--files-from".into(), list.into()]);
            words.extend(self.null.then(|| "--null".into()));
        }
        let begins_as_option =
            self.paths.iter().any(|path| path.as_os_str().as_encoded_bytes().starts_with(b"-"));
        words.extend(begins_as_option.then(|| "--".into()));
        words.extend(self.paths.iter().map(OsString::from));
        Some(words)
    }
}

/// Standard input for `-`, and a file otherwise.
pub(super) fn input_at(path: &Path) -> Input {
    if path.as_os_str() == "-" { Input::standard() } else { Input::file(path) }
}

/// The inputs of `paths` and of a list of more paths. Without any, it is standard input, or `None` if that is a terminal.
///
/// # Errors
/// If the list cannot be read.
pub(crate) fn inputs(
    walk: &Walk,
    paths: &[PathBuf],
    list: Option<&Path>,
    separator: Separator,
) -> io::Result<Option<Vec<Input>>> {
    #[cfg(windows)]
    let paths = &wildcards::expanded(paths)[..];
    let mut inputs = walk.list(paths);
    if let Some(list) = list {
        inputs.extend(listed_in(walk, list, separator, &inputs)?);
    } else if paths.is_empty() {
        if io::stdin().is_terminal() {
            return Ok(None);
        }
        inputs.push(Input::standard());
    }
    warn_of_copies(&inputs);
    Ok(Some(inputs))
}

/// Wildcards in paths: shells of Windows leave them to the program, and no file there has "*" or "?" in its name.
#[cfg(windows)]
mod wildcards {
    use std::path::{Path, PathBuf};

    /// The paths with wildcards replaced by the files that match, sorted by name. A path that matches none stays, so that
    /// an error names it.
    pub(super) fn expanded(paths: &[PathBuf]) -> Vec<PathBuf> {
        paths.iter().flat_map(|path| found(path).unwrap_or_else(|| vec![path.clone()])).collect()
    }

    fn found(path: &Path) -> Option<Vec<PathBuf>> {
        // A path that begins with "\\?\" is taken as it is by the system too.
        let pattern = path.to_str().filter(|text| text.contains(['*', '?']) && !text.starts_with(r"\\?\"))?;
        let any_case = glob::MatchOptions { case_sensitive: false, ..glob::MatchOptions::new() };
        // Brackets are parts of names.
        let found = glob::glob_with(&pattern.replace('[', "[[]"), any_case)
            .ok()?
            .filter_map(Result::ok)
            .collect::<Vec<_>>();
        (!found.is_empty()).then_some(found)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn wildcards_stand_for_files() {
            let folder = tempfile::tempdir().unwrap();
            for name in ["b.txt", "a.txt", "[c].txt", "d.gz"] {
                std::fs::write(folder.path().join(name), "").unwrap();
            }
            let names = |pattern: &str| {
                let paths = expanded(&[folder.path().join(pattern)]);
                paths.iter().map(|path| path.file_name().unwrap().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(names("*.txt"), ["[c].txt", "a.txt", "b.txt"]);
            assert_eq!(names("[c].*"), ["[c].txt"]);
            assert_eq!(names("?.gz"), ["d.gz"]);
            assert_eq!(names("*.zst"), ["*.zst"]);
            assert_eq!(names("a.txt"), ["a.txt"]);
        }
    }
}

/// Warns if a file and a compressed file of the same name are both inputs, such as `a.txt` and `a.txt.gz`.
fn warn_of_copies(inputs: &[Input]) {
    let named = || inputs.iter().filter_map(|input| Some((input.path()?, input.name())));
    let is_compressed =
        |path: &Path| path.extension().is_some_and(|end| COMPRESSED.iter().any(|known| end == *known));
    let compressed = || named().filter(|(path, _)| is_compressed(path));
    let plain: HashSet<_> = compressed().map(|(path, _)| path.with_extension("")).collect();
    let plain: HashMap<_, _> = named().filter(|(path, _)| plain.contains(*path)).collect();
    let plain_of = |path: &Path| plain.get(path.with_extension("").as_path()).copied();
    let mut copies: Vec<_> = compressed().filter_map(|(path, name)| Some((name, plain_of(path)?))).collect();
    copies.sort_unstable();
    copies.dedup();
    if let [(first, plain), others @ ..] = &copies[..] {
        let others = match others.len() {
            0 => String::new(),
            n => format!(" ({} of such files)", more(n, "pair")),
        };
        warn(&format!("{plain} and {first} are both counted: are they the same list?{others}"));
    }
}

/// The endings of compressed files.
const COMPRESSED: [&str; 6] = ["gz", "bgz", "zst", "zstd", "bz2", "xz"];

/// The inputs in the list at `path`.
///
/// # Errors
/// If the list cannot be read, or if standard input is both the list and one of `others`.
fn listed_in(walk: &Walk, path: &Path, separator: Separator, others: &[Input]) -> io::Result<Vec<Input>> {
    let list = input_at(path);
    if list.is_standard() && others.iter().any(Input::is_standard) {
        return Err(io::Error::other("standard input cannot be both an input and the list of --files-from"));
    }
    let inputs = walk.list_named(&list, separator).map_err(|error| {
        io::Error::new(error.kind(), format!("{}: {error}; nothing was read", list.name()))
    })?;
    if inputs.is_empty() {
        warn(&format!("{}: there is no name in this list", list.name()));
    }
    keep_list(list);
    Ok(inputs)
}
