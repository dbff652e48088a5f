//! Which inputs are named, and how they are compressed.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::slice;

use clap::Args;
use urlsift::input::{Codec, Input, Separator, Walk};

use crate::cli::args::directory;
use crate::cli::suggest;
use crate::cli::{complain, input_path};

/// What to read.
#[derive(Args)]
pub(crate) struct PathArgs {
    /// Files, directories with all files below them, - for standard input
    ///
    /// Lists of URLs, one a line, compressed or not. The files of a directory are read in the order of their names. Where no path is named,
    /// standard input is read, unless it is a terminal.
    #[arg(value_name = "PATH", value_parser = input_path())]
    paths: Vec<PathBuf>,

    /// Read what else to read from a list of names, - for standard input
    ///
    /// One name a line; blank lines are passed over. What is wrong with an input is told with the line that names it.
    #[arg(long, value_name = "FILE", value_parser = input_path(), hide_short_help = true)]
    files_from: Option<PathBuf>,

    /// Names in the list of --files-from end in NUL, as find -print0 writes them
    #[arg(short = '0', long, requires = "files_from", hide_short_help = true)]
    null: bool,

    #[command(flatten)]
    walk: directory::WalkArgs,

    /// How inputs are compressed [default: by their content]
    ///
    /// Without this, gzip, zstd, bzip2 and xz are recognised by their first bytes, whatever the names, and decoded; numbers of
    /// lines and offsets are those of what comes of it. One of auto, none (taken as they are), gzip, zstd, bzip2 and xz.
    #[arg(long, value_name = "CODEC", value_parser = codec, hide_short_help = true)]
    codec: Option<CodecChoice>,
}

/// By what inputs are decoded; `None` is by their content.
#[derive(Clone, Copy)]
struct CodecChoice(Option<Codec>);

/// How inputs are compressed.
fn codec(name: &str) -> Result<CodecChoice, String> {
    if name == "auto" {
        return Ok(CodecChoice(None));
    }
    let known = Codec::ALL.iter().find(|codec| codec.name() == name);
    known.map(|&codec| CodecChoice(Some(codec))).ok_or_else(|| {
        let names: Vec<_> = ["auto"].into_iter().chain(Codec::ALL.iter().map(|codec| codec.name())).collect();
        let hint =
            suggest::did_you_mean(name, &names).unwrap_or_else(|| format!("one of {}", names.join(", ")));
        format!("no such codec; {hint}")
    })
}

impl PathArgs {
    /// The inputs; none named is standard input, unless that is a terminal.
    ///
    /// # Errors
    /// When a glob is none, or a list of names cannot be read.
    pub(crate) fn inputs(&self) -> io::Result<Option<Vec<Input>>> {
        let separator = if self.null { Separator::Nul } else { Separator::Newline };
        let inputs = inputs(&self.walk.walk()?, &self.paths, self.files_from.as_deref(), separator)?;
        Ok(inputs.map(|inputs| inputs.into_iter().map(|input| input.with_codec(self.codec())).collect()))
    }

    /// How all inputs are packed, if that was said.
    pub(crate) fn codec(&self) -> Option<Codec> {
        self.codec.and_then(|CodecChoice(codec)| codec)
    }
}

/// The inputs that paths name, and a list of more of them; none named is standard input, unless that is a terminal.
///
/// # Errors
/// When the list cannot be read.
pub(crate) fn inputs(
    walk: &Walk,
    paths: &[PathBuf],
    list: Option<&Path>,
    separator: Separator,
) -> io::Result<Option<Vec<Input>>> {
    let mut inputs: Vec<_> = paths.iter().flat_map(|path| listed(walk, path)).collect();
    if let Some(list) = list {
        inputs.extend(listed_in(walk, list, separator, &inputs)?);
    } else if paths.is_empty() {
        if io::stdin().is_terminal() {
            return Ok(None);
        }
        inputs.push(Input::standard());
    }
    Ok(Some(inputs))
}

/// The inputs that the list at `path` names, beside `others`.
///
/// # Errors
/// When it cannot be read, or standard input is both an input and the list.
fn listed_in(walk: &Walk, path: &Path, separator: Separator, others: &[Input]) -> io::Result<Vec<Input>> {
    let list = if path.as_os_str() == "-" { Input::standard() } else { Input::file(path.to_owned()) };
    if list.is_standard() && others.iter().any(Input::is_standard) {
        return Err(io::Error::other("standard input cannot be both an input and the list of --files-from"));
    }
    let inputs = walk.list_named(&list, separator).map_err(|error| {
        io::Error::new(error.kind(), format!("{}: {error}; nothing was read", list.name()))
    })?;
    if inputs.is_empty() {
        complain(&format!("{}: there is no name in this list", list.name()));
    }
    Ok(inputs)
}

/// The inputs that a path names. An empty directory is worth a word: all is well with no lines.
fn listed(walk: &Walk, path: &PathBuf) -> Vec<Input> {
    let inputs = walk.list(slice::from_ref(path));
    if inputs.is_empty() {
        complain(&format!("{}: there is no file to read in this directory or below it", path.display()));
    }
    inputs
}
