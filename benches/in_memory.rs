//! What benches in memory share: the processor time of a thread, so that other work on the machine matters little, and cutting.

use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use urlsift::internal::Reader;

/// The processor time of this thread.
pub struct ThreadTime;

impl ThreadTime {
    fn now() -> Duration {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the clock exists on every Unix, and `time` is valid for writing.
        let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        assert_eq!(failed, 0);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
    }
}

impl Measurement for ThreadTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        Self::now()
    }

    fn end(&self, start: Duration) -> Duration {
        Self::now().saturating_sub(start)
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// Cuts records into chunks of a mebibyte, as for files, without reading their fields.
pub fn cut(mut reader: Reader, bytes: &[u8]) -> usize {
    let (mut at, mut n) = (0, 0);
    while at < bytes.len() {
        let end = bytes.len().min(at + (1 << 20));
        at += reader.cut(&bytes[at..end], end == bytes.len());
        n += 1;
    }
    n
}
