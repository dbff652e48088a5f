//! `src/lib.rs` lists the folders of the crate `urlsift` in the order of the data. A folder uses itself and those above it. The compiler holds the
//! order of the inner crates.

use std::fs;
use std::path::Path;

/// A module's path from the root of the crate, such as `["input", "codec", "gzip"]`.
type ModulePath = Vec<String>;

/// A file of the library: the module that it is, and its text.
struct Source {
    module: ModulePath,
    text: String,
}

/// The modules that `lib.rs` lists, in its order.
fn folders(lib: &str) -> Vec<String> {
    let names = lib.lines().filter_map(|line| {
        let name = line.strip_prefix("pub mod ").or_else(|| line.strip_prefix("mod "))?;
        name.strip_suffix(';').map(str::to_owned)
    });
    names.collect()
}

/// All files of the crate.
fn sources() -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    let mut directories = vec![(src.clone(), ModulePath::new())];
    while let Some((directory, module)) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let below = |name: &str| [&module[..], &[name.to_owned()]].concat();
            if path.is_dir() {
                directories.push((path, below(&name)));
            } else if path != src.join("lib.rs") && path != src.join("main.rs") {
                let module = if name == "mod" { module.clone() } else { below(&name) };
                sources.push(Source { module, text: fs::read_to_string(path).unwrap() });
            }
        }
    }
    sources
}

/// Every path in `source` that begins with `crate::` or `super::`, from the root of the crate: where it leads, and its line.
fn used(source: &Source) -> Vec<(ModulePath, String)> {
    let mut used = Vec::new();
    // The modules that are open in this line, each with the end of its last line.
    let mut inner: Vec<(String, String)> = Vec::new();
    let mut lines = source.text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        if code.starts_with("//") {
            continue;
        }
        if inner.last().is_some_and(|(_, end)| line == end) {
            inner.pop();
        }
        let words: Vec<_> = code.split(' ').collect();
        if let [.., "mod", name, "{"] = words[..] {
            inner.push((name.to_owned(), format!("{indent}}}")));
        }
        // A group of imports may have several lines.
        let mut code = code.to_owned();
        let is_import = |code: &str| {
            matches!(
                code.split_once("use ").map(|(before, _)| before.trim_end()),
                Some("" | "pub" | "pub(crate)" | "pub(super)")
            )
        };
        while is_import(&code) && !code.contains(';') {
            code.push_str(lines.next().unwrap().trim());
        }
        let own: ModulePath =
            source.module.iter().chain(inner.iter().map(|(name, _)| name)).cloned().collect();
        for (at, start) in code.match_indices("crate::").chain(code.match_indices("super::")) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            let mut rest = &code[at..];
            let mut base = if start == "crate::" { ModulePath::new() } else { own.clone() };
            while let Some(behind) = rest.strip_prefix("super::") {
                base.pop();
                rest = behind;
            }
            rest = rest.strip_prefix("crate::").unwrap_or(rest);
            used.extend(leaves(rest).into_iter().map(|path| ([&base[..], &path].concat(), line.to_owned())));
        }
    }
    used
}

/// The paths that `text` begins with: one, or those of a group in braces.
fn leaves(text: &str) -> Vec<ModulePath> {
    let Some(group) = text.strip_prefix('{') else {
        let path = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':').next().unwrap();
        return vec![path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect()];
    };
    let mut depth = 1;
    let mut leaves_of_group = leaves(group);
    for (at, c) in group.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match depth {
            0 => break,
            1 if c == ',' && !group[at + 1..].starts_with('}') => {
                leaves_of_group.extend(leaves(group[at + 1..].trim_start()));
            }
            _ => {}
        }
    }
    leaves_of_group
}

/// What `sources` use below their own folder, or not in any folder, a sentence each.
fn violations(folders: &[String], sources: &[Source]) -> Vec<String> {
    let place = |name: &String| folders.iter().position(|folder| folder == name);
    let mut violations = Vec::new();
    for source in sources {
        let name = source.module.join("::");
        let Some(own) = place(&source.module[0]) else {
            violations.push(format!("{name} is in no folder that lib.rs lists"));
            continue;
        };
        for (path, line) in used(source) {
            match path.first().map(place) {
                Some(Some(other)) if other <= own => {}
                Some(Some(_)) => {
                    violations.push(format!("{name} uses {}, which is below it: {line}", path.join("::")));
                }
                _ => {
                    violations
                        .push(format!("{name} uses {}, which is in no folder: {line}", path.join("::")));
                }
            }
        }
    }
    violations
}

fn order() -> Vec<String> {
    folders(&fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap())
}

#[test]
fn folders_use_only_those_above_them() {
    let (folders, sources) = (order(), sources());
    assert!(folders.len() > 7 && sources.len() > 80);
    let found = violations(&folders, &sources);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_planted_violation_is_found() {
    let folders = ["grammar", "engine", "tally", "report"].map(str::to_owned);
    let planted = [
        "use crate::report::Report;",
        "fn f() -> crate::report::Report {}",
        "use crate::{engine::Engine, report::Report};",
        "use crate::{\n    engine::Engine,\n    report::{Report, Count},\n};",
        "use super::super::report::Report;",
        "#[cfg(test)]\nmod tests {\n    use super::super::super::report::Report;\n}",
        "#[cfg(test)]\nmod tests {\n    use super::*;\n}\nuse super::super::report::Report;",
        "use crate::Report;",
    ];
    for text in planted {
        let source = Source { module: vec!["engine".to_owned(), "lanes".to_owned()], text: text.to_owned() };
        assert_eq!(violations(&folders, &[source]).len(), 1, "{text}");
    }
    let allowed = [
        "use crate::{engine::Engine, grammar::{Grammar, Verdict}};",
        "// use crate::report::Report;",
        "use super::Engine;\nuse super::super::grammar::Grammar;",
        "mod tests {\n    use super::super::*;\n    use crate::engine::Engine;\n}",
    ];
    for text in allowed {
        let source = Source { module: vec!["engine".to_owned(), "lanes".to_owned()], text: text.to_owned() };
        assert_eq!(violations(&folders, &[source]), [""; 0], "{text}");
    }
}
