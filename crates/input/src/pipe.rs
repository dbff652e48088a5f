//! The size of pipes. On Linux a new pipe holds 64 KiB, so its reader and its writer wait for each other again and again.

/// The size of enlarged pipes in bytes. Linux grants every user so much by default (`/proc/sys/fs/pipe-max-size`).
#[cfg(target_os = "linux")]
const LEN: usize = 1 << 20;

/// Enlarges `file` if it is a pipe that holds less than a mebibyte. If that is refused, the pipe stays as it is.
#[cfg(target_os = "linux")]
pub fn enlarge_pipe(file: &impl std::os::fd::AsFd) {
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
    if fcntl_getpipe_size(file).is_ok_and(|len| len < LEN) {
        let _ = fcntl_setpipe_size(file, LEN);
    }
}

/// Other systems have no call for that.
#[cfg(not(target_os = "linux"))]
pub fn enlarge_pipe<T>(_: &T) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_enlarged_and_other_files_are_left_alone() {
        let (reader, writer) = std::io::pipe().unwrap();
        let small = rustix::pipe::fcntl_setpipe_size(&writer, 4096).unwrap();
        enlarge_pipe(&reader);
        let len = rustix::pipe::fcntl_getpipe_size(&writer).unwrap();
        // A user who has many pipes may be refused.
        let (_reader, other) = std::io::pipe().unwrap();
        let is_granted = rustix::pipe::fcntl_setpipe_size(&other, LEN).is_ok();
        assert_eq!(len, if is_granted { LEN } else { small });
        enlarge_pipe(&tempfile::tempfile().unwrap());
    }
}
