//! A progress bar on standard error, which disappears at the end.
//!
//! The library only counts (`Watch`). This file reads the counts ten times per second and draws them.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::report::{grouped, plural};
use indicatif::{DecimalBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use urlsift_input::Input;
use urlsift_input::progress::Watch;

/// Work that takes less time shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two updates.
const PAUSE: Duration = Duration::from_millis(100);

/// The template if the total size is known. The last part is cut if the terminal is narrow: a line that wraps could not be removed whole.
const WITH_TOTAL: &str = "{percent:>3}%  {decimal_bytes} of {decimal_total_bytes}  {decimal_bytes_per_sec}  {eta} left  {wide_msg}";

/// The template if the total size is unknown, as for pipes.
const WITHOUT_TOTAL: &str = "{decimal_bytes}  {decimal_bytes_per_sec}  {elapsed}  {wide_msg}";

/// Whether somebody may want to see progress: standard error is a terminal, and no input is typed on one.
pub(crate) fn is_wanted(inputs: &[Input]) -> bool {
    let typed_in = io::stdin().is_terminal() && inputs.iter().any(|input| input.name() == "-");
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stderr().is_terminal() && !typed_in && !dumb
}

/// Runs `work`, and shows the progress of `watch` through `inputs` in another thread.
pub(crate) fn during<R>(watch: &Watch, inputs: &[Input], work: impl FnOnce() -> R) -> R {
    let (done, end) = channel::<()>();
    thread::scope(|scope| {
        // If the system refuses a thread, there is no progress bar.
        let _ = thread::Builder::new().spawn_scoped(scope, move || show(watch, inputs, &end));
        let result = work();
        drop(done);
        result
    })
}

/// A line on how long a scan took.
pub(crate) fn speed(elapsed: Duration, n_lines: u64, n_bytes: u64) -> String {
    let seconds = elapsed.as_secs_f64();
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded to be shown"
    )]
    let per_second = DecimalBytes((n_bytes as f64 / seconds.max(1e-9)) as u64);
    let lines = plural(n_lines, "line", "lines");
    format!("{lines}, {} in {seconds:.2} s ({per_second}/s)", DecimalBytes(n_bytes))
}

/// Waits for `pause`. Returns whether the work is still running.
fn passes(pause: Duration, end: &Receiver<()>) -> bool {
    end.recv_timeout(pause) == Err(RecvTimeoutError::Timeout)
}

fn show(watch: &Watch, inputs: &[Input], end: &Receiver<()>) {
    // Created now, so that its rate counts from now on. Hidden until its style and length are set.
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    if !passes(PATIENCE, end) {
        return;
    }
    let tell = || {
        bar.set_position(watch.bytes());
        // A slow input may have bytes read before any line is judged.
        let lines = watch.lines();
        bar.set_message(if lines > 0 { format!("{} lines", grouped(lines)) } else { String::new() });
    };
    tell();
    match inputs.iter().map(Input::size_bytes).sum::<Option<u64>>() {
        Some(total) => {
            bar.set_style(style(WITH_TOTAL));
            bar.set_length(total);
        }
        None => bar.set_style(style(WITHOUT_TOTAL)),
    }
    bar.set_draw_target(ProgressDrawTarget::stderr());
    while passes(PAUSE, end) {
        tell();
    }
    bar.finish_and_clear();
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template of ours")
}
