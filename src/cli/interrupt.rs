//! Ctrl-C and SIGTERM: the first one stops the work at its next piece, the second ends the command at once.
//!
//! On systems without signals Ctrl-C ends the command as it ends any other.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use urlsift::watch::Watch;

/// The signal that has come, if one has.
#[derive(Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicI32>);

impl Interrupt {
    /// From now on a signal stops `watch`.
    #[cfg(unix)]
    pub(crate) fn stops(watch: &Watch) -> Self {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::iterator::Signals;
        use std::sync::mpsc::channel;

        let interrupt = Self::default();
        let (came, watch) = (interrupt.clone(), watch.clone());
        let (listens, told) = channel::<()>();
        let listen = move || {
            let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
            drop(listens);
            for signal in signals.forever() {
                if came.0.swap(signal, Ordering::Relaxed) != 0 {
                    super::output::abandon();
                    signal_hook::low_level::exit(128 + signal);
                }
                watch.stop();
            }
        };
        // Without the thread, signals do what they do by themselves.
        drop(std::thread::Builder::new().name("signals".to_owned()).spawn(listen));
        // Nothing is begun before that a signal would leave behind.
        let _ = told.recv();
        interrupt
    }

    #[cfg(not(unix))]
    pub(crate) fn stops(_: &Watch) -> Self {
        Self::default()
    }

    /// Its number.
    pub(crate) fn signal(&self) -> Option<u8> {
        u8::try_from(self.0.load(Ordering::Relaxed)).ok().filter(|&signal| signal > 0)
    }
}
