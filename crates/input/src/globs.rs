//! Globs that choose the files of a directory, in the notation of a `.gitignore`.
//!
//! The crate `glob` matches each pattern. This module gives it what it lacks: braces, escapes, "!", and the order of
//! several globs. It reads no directory.

use std::io;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};

/// The maximum number of patterns that the braces of one glob stand for. It bounds the time to match a name.
const MAX_PATTERNS: usize = 1000;

/// Globs in the user's order.
#[derive(Clone, Debug)]
pub(super) struct Globs {
    globs: Vec<Glob>,
    working_directory: PathBuf,
}

#[derive(Clone, Debug)]
struct Glob {
    patterns: Vec<Pattern>,
    takes: bool,
    only_directories: bool,
}

impl Globs {
    /// # Errors
    /// When a glob is invalid, or the working directory is unknown.
    pub(super) fn new(globs: &[impl AsRef<str>]) -> io::Result<Self> {
        let globs = globs.iter().map(AsRef::as_ref).filter(|glob| !glob.is_empty()).map(|glob| {
            let wrong = |why| io::Error::new(io::ErrorKind::InvalidInput, format!("{glob}: {why}"));
            Glob::new(glob).map_err(wrong)
        });
        Ok(Self { globs: globs.collect::<io::Result<_>>()?, working_directory: std::env::current_dir()? })
    }

    /// Whether the last glob that matches `path` takes it. If none matches, `None` for a directory, and for a file if every
    /// glob begins with "!".
    pub(super) fn takes(&self, path: &Path, is_directory: bool) -> Option<bool> {
        let path = path.strip_prefix(".").unwrap_or(path);
        let path = path.strip_prefix(&self.working_directory).unwrap_or(path).to_string_lossy();
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        let matches = |glob: &&Glob| {
            (is_directory || !glob.only_directories)
                && glob.patterns.iter().any(|pattern| pattern.matches_with(&path, options))
        };
        let last = self.globs.iter().rev().find(matches).map(|glob| glob.takes);
        last.or_else(|| (!is_directory && self.globs.iter().any(|glob| glob.takes)).then_some(false))
    }
}

impl Glob {
    fn new(glob: &str) -> Result<Self, &'static str> {
        let (takes, glob) = glob.strip_prefix('!').map_or((true, glob), |glob| (false, glob));
        let (only_directories, glob) = glob.strip_suffix('/').map_or((false, glob), |glob| (true, glob));
        // Without a slash, a glob matches at any depth. A slash at its start only says that it does not.
        let is_anywhere = !glob.contains('/');
        let pattern = |pattern: String| {
            let start = if is_anywhere && !pattern.is_empty() { "**/" } else { "" };
            Pattern::new(&format!("{start}{pattern}")).map_err(|error| error.msg)
        };
        let patterns = expanded(glob.strip_prefix('/').unwrap_or(glob))?;
        let patterns = patterns.into_iter().map(pattern).collect::<Result<_, _>>()?;
        Ok(Self { patterns, takes, only_directories })
    }
}

/// The patterns that `glob` stands for, one for each choice of alternatives in braces, in the notation of the crate `glob`.
fn expanded(glob: &str) -> Result<Vec<String>, &'static str> {
    let nothing = || vec![String::new()];
    let mut patterns = nothing();
    // For each open brace: the patterns before it, and its finished alternatives.
    let mut open: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    let mut rest = glob.chars();
    while let Some(c) = rest.next() {
        let literal = match (c, open.last_mut()) {
            ('{', _) => {
                open.push((std::mem::replace(&mut patterns, nothing()), Vec::new()));
                continue;
            }
            (',', Some((_, alternatives))) => {
                alternatives.append(&mut std::mem::replace(&mut patterns, nothing()));
                continue;
            }
            ('}', _) => {
                let (before, mut alternatives) = open.pop().ok_or("\"}\" without \"{\"")?;
                alternatives.append(&mut patterns);
                // An empty alternative counts only if there is no other.
                alternatives.retain(|alternative| !alternative.is_empty());
                if alternatives.is_empty() {
                    alternatives = nothing();
                }
                if before.len() * alternatives.len() > MAX_PATTERNS {
                    return Err("its braces stand for more than 1,000 patterns");
                }
                let with_end =
                    |end: &String| before.iter().map(|start| format!("{start}{end}")).collect::<Vec<_>>();
                patterns = alternatives.iter().flat_map(with_end).collect();
                continue;
            }
            // The first character of a class may be its end.
            ('[', _) => {
                let mut class = rest.as_str();
                let negation = if class.starts_with(['!', '^']) { "!" } else { "" };
                class = &class[negation.len()..];
                let end =
                    class.char_indices().skip(1).find(|(_, c)| *c == ']').ok_or("\"[\" without \"]\"")?.0;
                rest = class[end + 1..].chars();
                format!("[{negation}{}]", &class[..end])
            }
            ('\\', _) => {
                Pattern::escape(&rest.next().ok_or("nothing follows the \"\\\" at its end")?.to_string())
            }
            (c, _) => c.to_string(),
        };
        for pattern in &mut patterns {
            *pattern += &literal;
        }
    }
    if !open.is_empty() {
        return Err("\"{\" without \"}\"");
    }
    Ok(patterns.iter().map(|pattern| with_single_stars(pattern)).collect())
}

/// The same pattern with one "*" for several, except where "**" stands between slashes.
fn with_single_stars(pattern: &str) -> String {
    let component = |part: &str| {
        let mut single = part.to_owned();
        while part != "**" && single.contains("**") {
            single = single.replace("**", "*");
        }
        single
    };
    pattern.split('/').map(component).collect::<Vec<_>>().join("/")
}
