//! The modules of the library stand in data-flow order, and each uses only those above it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[test]
fn uses_point_up() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(src.join("lib.rs")).unwrap();
    let modules = lib.lines().filter_map(|line| {
        let name = line.strip_prefix("pub mod ").or_else(|| line.strip_prefix("mod "))?;
        name.strip_suffix(';').map(str::to_owned)
    });
    let modules: Vec<String> = modules.collect();
    assert!(modules.len() > 10);
    let place: BTreeMap<_, _> =
        modules.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    for (own, name) in modules.iter().enumerate() {
        let folder = src.join(name);
        let mut files = vec![src.join(format!("{name}.rs")), folder.join("mod.rs")];
        // Grammar files are the build script's, not the library's.
        if name != "grammar" {
            files.extend(fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path()));
        }
        for file in files {
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let code = text.split("#[cfg(test)]").next().unwrap();
            // What a comment points to is not used.
            let code: Vec<_> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            let code = code.join("\n");
            for used in code.split("crate::").skip(1) {
                let used = used.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap();
                if let Some(&other) = place.get(used) {
                    assert!(other <= own, "{} uses {used}, which stands below it in lib.rs", file.display());
                } else {
                    panic!("{} uses crate::{used}, which is no module of lib.rs", file.display());
                }
            }
        }
    }
}
