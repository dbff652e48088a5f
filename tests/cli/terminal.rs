//! A pseudo-terminal for tests: what a command shows there, and keys to press.

#![allow(unsafe_code, reason = "the calls that make a terminal are the system's")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A command on a terminal of 100 columns.
pub(crate) struct Terminal {
    child: Child,
    keys: File,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Starts `command` with its standard error on the terminal. Standard output and input are there too, unless given.
    ///
    /// # Panics
    /// If there is no terminal.
    pub(crate) fn start(mut command: Command, stdin: Option<Stdio>, stdout: Option<Stdio>) -> Self {
        let (mut here, mut there) = (0, 0);
        let mut size = libc::winsize { ws_row: 50, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: both numbers are written before the call returns 0, and the size is only read.
        let opened =
            unsafe { libc::openpty(&raw mut here, &raw mut there, null_mut(), null_mut(), &raw mut size) };
        assert_eq!(opened, 0, "no terminal");
        // SAFETY: both descriptors were just opened, and nothing else owns them.
        let (here, there) = unsafe { (File::from_raw_fd(here), OwnedFd::from_raw_fd(there)) };
        let end = || Stdio::from(there.try_clone().unwrap());
        command.env("TERM", "xterm").env_remove("NO_COLOR");
        command.stdin(stdin.unwrap_or_else(end)).stdout(stdout.unwrap_or_else(end)).stderr(end());
        let number = there.as_raw_fd();
        #[allow(
            clippy::useless_conversion,
            reason = "the number of the request has other types on other systems"
        )]
        let make_controlling = libc::TIOCSCTTY.into();
        let own = move || {
            // SAFETY: both calls are allowed between fork and exec, and access no memory.
            let owned = unsafe { libc::setsid() >= 0 && libc::ioctl(number, make_controlling, 0) == 0 };
            if owned { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        };
        // SAFETY: the function only makes the two calls above.
        unsafe { command.pre_exec(own) };
        let child = command.spawn().unwrap();
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (mut screen, copy) = (here.try_clone().unwrap(), Arc::clone(&shown));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = screen.read(&mut buffer) {
                copy.lock().unwrap().extend(&buffer[..n]);
            }
        });
        Self { child, keys: here, shown }
    }

    /// Everything that was written to the screen.
    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    /// Waits until the screen has shown `text`.
    ///
    /// # Panics
    /// If that takes longer than a minute.
    pub(crate) fn wait_for(&self, text: &str) {
        let start = Instant::now();
        while !self.shown().contains(text) {
            assert!(start.elapsed() < Duration::from_secs(60), "never shown: {text}\n{}", self.shown());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The running command.
    pub(crate) fn command(&self) -> &Child {
        &self.child
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
    }

    /// The exit status of the command, and everything that was shown.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap();
        // The last output may still be in transit.
        thread::sleep(Duration::from_millis(50));
        (status.code(), self.shown())
    }
}
