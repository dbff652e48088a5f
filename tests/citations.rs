//! Every file that a document or a comment cites exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// All files of the repository below `folder`, as paths from its root.
pub(crate) fn files(root: &Path, folder: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}{}", entry.file_name().to_str().unwrap());
        if !entry.file_type().unwrap().is_dir() {
            found.insert(path);
        } else if ![".git", "target"].contains(&path.rsplit('/').next().unwrap()) {
            files(root, &format!("{path}/"), found);
        }
    }
}

/// The ending of a file's name.
pub(crate) fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// The text of `line` that people read: all of a document, and the comments of a program.
fn prose<'a>(path: &str, line: &'a str) -> &'a str {
    if ending(path) == "rs" { line.split_once("//").map_or("", |(_, comment)| comment) } else { line }
}

/// What `text` has in backticks and looks like a file with source or text in a folder.
fn cited(text: &str) -> impl Iterator<Item = &str> {
    let is_path = |word: &&str| {
        word.contains('/')
            && ["rs", "md", "py", "toml", "tsv"].contains(&ending(word))
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte))
    };
    text.split('`').skip(1).step_by(2).filter(is_path)
}

#[test]
fn every_cited_file_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // A package of the crate does not have all files that its comments cite.
    if !root.join(".ci").exists() {
        return;
    }
    let mut found = BTreeSet::new();
    files(root, "", &mut found);
    let exists = |path: &str| {
        found
            .iter()
            .any(|file| file.strip_suffix(path).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')))
    };
    let mut stale = Vec::new();
    for path in found.iter().filter(|path| ["rs", "md"].contains(&ending(path))) {
        let text = fs::read_to_string(root.join(path)).unwrap();
        for (n, line) in text.lines().enumerate() {
            let missing = cited(prose(path, line)).filter(|word| !exists(word.trim_start_matches("../")));
            stale.extend(missing.map(|word| format!("{path}:{}: {word}", n + 1)));
        }
    }
    assert_eq!(stale, [""; 0], "these files do not exist");
}
