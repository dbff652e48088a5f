//! Files are memory-mapped only on file systems where a lease prevents every change. All others are read.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use super::urlsift;

/// The length of the file that is scanned, in bytes.
const LEN: usize = 8 << 20;

/// The number of bytes that the command takes by `read`, and not from mapped files. The system tells it until somebody
/// waits for the process. `None` if the command cannot run.
fn bytes_read(mut command: Command) -> Option<usize> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut report = String::new();
    child.stdout.take().unwrap().read_to_string(&mut report).unwrap();
    let io = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap();
    child.wait().unwrap();
    let rchar = io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap();
    report.contains("\"complete\": true").then_some(rchar)
}

/// The type of the file system of a path, as `stat -f` names it.
fn file_system(path: &Path) -> String {
    let output = Command::new("stat").args(["-f", "-c", "%T"]).arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn write_list(path: &Path) {
    fs::write(path, b"http://a.exampl/\n".repeat(LEN / 17 + 1)).unwrap();
}

#[test]
fn files_are_mapped_only_where_leases_are_kept() {
    for folder in [env!("CARGO_TARGET_TMPDIR"), "/dev/shm"] {
        let Ok(file) = tempfile::NamedTempFile::new_in(folder) else { continue };
        let file = file.into_temp_path();
        write_list(&file);
        let scan = |options: &[&str]| {
            let mut command = urlsift();
            command.args(["--format", "json", "-j1"]).args(options).arg(&file);
            bytes_read(command).unwrap()
        };
        assert!(scan(&["--no-mmap"]) >= LEN);
        let n_read = scan(&[]);
        let system = file_system(&file);
        let keeps_leases = ["ext2/ext3", "xfs", "btrfs", "tmpfs"].contains(&system.as_str());
        eprintln!("{folder} is {system}: {n_read} of {LEN} bytes were read");
        // Even these file systems may refuse a lease.
        assert!(keeps_leases || n_read >= LEN);
    }
}

/// A process that wants to write waits for the threads that judge mapped lines. There must not be more threads than the
/// machine runs at once, and no line may cost much more than others.
#[test]
fn files_are_read_where_a_writer_would_wait_long() {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap().into_temp_path();
    write_list(&file);
    let n_cores = std::thread::available_parallelism().unwrap().get();
    for options in [
        format!("-j{}", n_cores + 1),
        "-j1024".to_owned(),
        "--whatwg".to_owned(),
        "--top=hosts".to_owned(),
        "--distinct=lines".to_owned(),
    ] {
        let mut command = urlsift();
        command.args(["--format", "json", &options]).arg(&file);
        assert!(bytes_read(command).unwrap() >= LEN, "{options}");
    }
}

/// The system grants leases on overlayfs, but a change of the layer below does not break them.
#[test]
fn files_on_overlayfs_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["lower", "upper", "work", "merged"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    write_list(&folder.path().join("lower/list"));
    let mut command = Command::new("unshare");
    // Mounts of a namespace of its own are gone when the command ends.
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]).current_dir(&folder).arg(
        "mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged && exec \"$0\" \"$@\"",
    );
    command.arg(env!("CARGO_BIN_EXE_urlsift")).args(["--format", "json", "-j1", "merged/list"]);
    match bytes_read(command) {
        Some(n_read) => assert!(n_read >= LEN, "{n_read} of {LEN} bytes were read"),
        None => eprintln!("LEFT OUT: no user namespace with overlayfs"),
    }
}
