//! Handles Ctrl-C, SIGTERM and a closed terminal: the first signal stops the work after the current chunk, the second ends the process at
//! once. So does the first, if it comes after the work.
//!
//! Windows has no signals, but it has Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use urlsift_input::progress::Watch;

/// The signals that have come.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    /// The number of the last signal, or 0.
    last: Arc<AtomicUsize>,
    /// Whether the work had ended before a signal came.
    is_over: Arc<AtomicBool>,
}

impl Interrupt {
    /// From now on, a signal stops `watch`.
    #[cfg(unix)]
    pub(crate) fn stops(watch: &Watch) -> Self {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        use signal_hook::flag;
        use signal_hook::iterator::Signals;
        use std::sync::mpsc::channel;

        let interrupt = Self::default();
        let (came, stopped) = (interrupt.clone(), watch.clone());
        let handled = if heeds_hangup() { &[SIGINT, SIGTERM, SIGHUP][..] } else { &[SIGINT, SIGTERM] };
        let number = |signal| usize::try_from(signal).unwrap_or_default();
        let (give, take) = channel::<Signals>();
        let listen = move || {
            let Ok(mut signals) = take.recv() else { return };
            for (n, signal) in signals.forever().enumerate() {
                if n > 0 || came.is_over.load(Ordering::Relaxed) {
                    let _abandoned = crate::cli::output_file::abandon();
                    signal_hook::low_level::exit(128 + signal);
                }
                // A signal that comes before the flags are registered sets none.
                came.last.store(number(signal), Ordering::Relaxed);
                stopped.stop();
            }
        };
        // Without this thread, signals keep their default effect.
        if std::thread::Builder::new().name("signals".to_owned()).spawn(listen).is_ok()
            && let Ok(signals) = Signals::new(handled)
        {
            // The signal handler itself sets the flags. The same signal may end the process that feeds our pipe, and we
            // must not take that end for a normal one before the thread runs.
            for &signal in handled {
                let _ = flag::register_usize(signal, Arc::clone(&interrupt.last), number(signal));
                let _ = flag::register(signal, watch.flag());
            }
            let _ = give.send(signals);
        }
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
            if came.last.swap(SIGINT, Ordering::Relaxed) > 0 || came.is_over.load(Ordering::Relaxed) {
                let _abandoned = crate::cli::output_file::abandon();
                std::process::exit(130);
            }
            watch.stop();
        });
        interrupt
    }

    /// Notes that the work is over. Returns the number of the signal that has stopped it, if one came.
    pub(crate) fn end(&self) -> Option<u8> {
        let signal = u8::try_from(self.last.load(Ordering::Relaxed)).ok().filter(|&signal| signal > 0);
        // The signal that has stopped the work may not have been handled yet, and must not end the process.
        self.is_over.store(signal.is_none(), Ordering::Relaxed);
        signal
    }
}

/// Whether a closed terminal stops the work. It does not if this process is to outlive it (`nohup`), or if the system does not say.
#[cfg(unix)]
fn heeds_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    ignored.is_some_and(|set| set >> (signal_hook::consts::SIGHUP - 1) & 1 == 0)
}
