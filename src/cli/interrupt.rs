//! Handles Ctrl-C and SIGTERM: the first signal stops the work after the current chunk, the second ends the process at
//! once.
//!
//! Windows has no signals, but it has Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use urlsift_input::progress::Watch;

/// The number of the last signal, or 0.
#[derive(Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// From now on, a signal stops `watch`.
    #[cfg(unix)]
    pub(crate) fn stops(watch: &Watch) -> Self {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::flag;
        use signal_hook::iterator::Signals;
        use std::sync::mpsc::channel;

        let interrupt = Self::default();
        let (came, watch) = (interrupt.clone(), watch.clone());
        let (listens, told) = channel::<()>();
        let listen = move || {
            let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
            // The signal handler itself sets the flags. The same signal may end the process that feeds our pipe, and we
            // must not take that end for a normal one before this thread runs.
            for signal in [SIGINT, SIGTERM] {
                let number = usize::try_from(signal).unwrap_or_default();
                let _ = flag::register_usize(signal, Arc::clone(&came.0), number);
                let _ = flag::register(signal, watch.flag());
            }
            drop(listens);
            for (n, signal) in signals.forever().enumerate() {
                if n > 0 {
                    crate::cli::output_file::abandon();
                    signal_hook::low_level::exit(128 + signal);
                }
                watch.stop();
            }
        };
        // Without this thread, signals keep their default effect.
        drop(std::thread::Builder::new().name("signals".to_owned()).spawn(listen));
        // Wait for the handlers, so that no temporary file exists that a signal would leave behind.
        let _ = told.recv();
        interrupt
    }

    /// From now on, Ctrl-C stops `watch`.
    #[cfg(windows)]
    pub(crate) fn stops(watch: &Watch) -> Self {
        /// Its number on Unix.
        const SIGINT: usize = 2;

        let interrupt = Self::default();
        let (came, watch) = (interrupt.clone(), watch.clone());
        // The system has a thread of its own for this. If there is no console, nothing can press Ctrl-C.
        let _ = ctrlc::set_handler(move || {
            if came.0.swap(SIGINT, Ordering::Relaxed) > 0 {
                crate::cli::output_file::abandon();
                std::process::exit(130);
            }
            watch.stop();
        });
        interrupt
    }

    /// The number of the signal, if one came.
    pub(crate) fn signal(&self) -> Option<u8> {
        u8::try_from(self.0.load(Ordering::Relaxed)).ok().filter(|&signal| signal > 0)
    }
}
