//! What only Windows has: devices by name, files that others hold, paths that begin with `\\?\`, wildcards, and names that are not
//! Unicode. `scripts/test-windows` tests Ctrl-C and progress, which need a console.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::OpenOptionsExt;

use super::{LIST, feed, folder_with, json, names, text, urlsift};

#[test]
fn the_device_nul_is_read_and_written() {
    let output = feed(&["-o", "NUL"], LIST);
    assert_eq!((output.status.code(), text(&output.stdout), text(&output.stderr)), (Some(0), "", ""));
    let output = feed(&["--json", "NUL"], b"");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    assert_eq!(json(&output)["totals"]["lines"], 0);
}

#[test]
fn a_file_that_cannot_be_replaced_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    fs::write(&path, "before").unwrap();
    let name = path.to_str().unwrap();
    let refused = || {
        let output = feed(&["-o", name], LIST);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).starts_with(&format!("urlsift: {name}: ")), "{}", text(&output.stderr));
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no temporary file stays");
    };
    // Open in another program that does not share it for deletion.
    const READ_AND_WRITE: u32 = 3;
    let held = File::options().read(true).share_mode(READ_AND_WRITE).open(&path).unwrap();
    refused();
    drop(held);
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions.clone()).unwrap();
    refused();
    #[allow(clippy::permissions_set_readonly_false, reason = "this is not Unix")]
    permissions.set_readonly(false);
    fs::set_permissions(&path, permissions).unwrap();
    assert!(feed(&["-o", name], LIST).status.success());
    assert!(fs::read(&path).unwrap().starts_with(b"{"));
}

#[test]
fn a_file_that_another_program_writes_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.txt");
    fs::write(&path, LIST).unwrap();
    let _held = File::options().append(true).open(&path).unwrap();
    let output = urlsift().arg("--json").arg(&path).output().unwrap();
    assert_eq!(json(&output)["totals"]["lines"], 5);
}

#[test]
fn long_paths_and_wildcards_name_files() {
    let folder = folder_with(&["a.txt", "b.txt", "[c].txt"].map(|name| (name, LIST)));
    let verbatim = fs::canonicalize(folder.path().join("a.txt")).unwrap();
    assert!(verbatim.to_str().unwrap().starts_with(r"\\?\"));
    let output = urlsift().arg("--json").arg(&verbatim).output().unwrap();
    assert_eq!(json(&output)["inputs"][0]["name"], verbatim.to_str().unwrap());
    let output = urlsift().args(["--json", "*.TXT"]).current_dir(&folder).output().unwrap();
    assert_eq!(names(&output), ["[c].txt", "a.txt", "b.txt"]);
    let output = urlsift().args(["--json", "*.gz"]).current_dir(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("urlsift: *.gz: "), "{}", text(&output.stderr));
}

#[test]
fn a_name_that_is_not_unicode_is_escaped() {
    let name = OsString::from_wide(&[u16::from(b'a'), 0xd800, u16::from(b'b')]);
    let output = urlsift().args(["-o", "NUL"]).arg(&name).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with(r"urlsift: a\xed\xa0\x80b: "), "{}", text(&output.stderr));
}
