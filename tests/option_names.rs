//! No string outside of the front ends names an option of the command. What helps is a value there (`crates/input/src/advice.rs`).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::citations::{ending, files};

/// The names of options in a text.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words = text.split(move |c| !is_part(c));
    words.filter_map(|word| word.strip_prefix("--")).filter(|name| name.starts_with(char::is_alphabetic))
}

/// A string with an option of another program.
const OTHER: &str = "xz -dc --format=lzma FILE";

/// The options in the strings of a program, without its tests, or in a template. Code has no two hyphens.
fn named<'a>(path: &str, text: &'a str) -> impl Iterator<Item = &'a str> {
    let is_program = ending(path) == "rs";
    let text = text.split("#[cfg(test)]\nmod ").next().filter(|_| is_program).unwrap_or(text);
    let lines = text.lines().filter(|line| !line.contains(OTHER));
    let without_comment =
        |line: &'a str| if line.starts_with("//") { "" } else { line.split(" //").next().unwrap() };
    lines.map(move |line| if is_program { without_comment(line) } else { line }).flat_map(options)
}

#[test]
fn only_front_ends_name_options() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // A package of the crate does not have the inner crates.
    if !root.join(".ci").exists() {
        return;
    }
    let all = |folder: &str| {
        let mut paths = BTreeSet::new();
        files(root, folder, &mut paths);
        let read = |path: String| (fs::read_to_string(root.join(&path)).unwrap_or_default(), path);
        paths.into_iter().map(read).collect::<Vec<_>>()
    };
    let help = all("tests/help/");
    let known: BTreeSet<_> = help.iter().flat_map(|(text, _)| options(text)).collect();
    assert!(known.contains("input-format") && known.contains("field"));
    let is_library = |path: &str| {
        let is_left_out =
            path.starts_with("src/cli/") || path.contains("/tests/") || path.ends_with("/tests.rs");
        !is_left_out && ["rs", "html"].contains(&ending(path))
    };
    let mut found = Vec::new();
    for (text, path) in ["src/", "crates/", "templates/"].into_iter().flat_map(all) {
        let names = named(&path, &text).filter(|name| is_library(&path) && known.contains(name));
        found.extend(names.map(|name| format!("{path}: --{name}")));
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_planted_option_is_found() {
    for program in ["x(\"a; --field chooses one\");", "x(\"--field=url\");\n#[cfg(test)]\nmod tests {}"] {
        assert_eq!(named("a.rs", program).collect::<Vec<_>>(), ["field"], "{program}");
    }
    for program in [
        "// --field\nx(\"a--field\"); // --field\n    /// --field",
        "x(\"xz -dc --format=lzma FILE | urlsift\");",
        "#[cfg(test)]\nmod tests {\n    x(\"--field\");\n}",
    ] {
        assert_eq!(named("a.rs", program).count(), 0, "{program}");
    }
    assert_eq!(named("a.html", "<p>http://h/ --field</p>").count(), 1);
}
