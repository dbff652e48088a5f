//! How far the work has come: one line on standard error, for somebody who is waiting there, and gone at the end.
//!
//! The library only counts (`Watch`); here that is looked at ten times a second, and drawn.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use urlsift::input::Input;
use urlsift::progress::Watch;
use urlsift::report::grouped;

/// Work that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// What is drawn where it is known how much there is.
const WITH_TOTAL: &str = "[{bar:24}] {percent:>3}%  {decimal_bytes} of {decimal_total_bytes}  {msg}{decimal_bytes_per_sec}  {eta} left";

/// What is drawn of pipes.
const WITHOUT_TOTAL: &str = "{decimal_bytes}  {msg}{decimal_bytes_per_sec}  {elapsed}";

/// Whether somebody may be waiting: standard error is a terminal, and nothing is typed in there.
pub(crate) fn is_wanted(inputs: &[Input]) -> bool {
    let typed_in = io::stdin().is_terminal() && inputs.iter().any(|input| input.name() == "-");
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stderr().is_terminal() && !typed_in && !dumb
}

/// Does `work`, and shows meanwhile how far `watch` says that it has come through `inputs`.
pub(crate) fn during<R>(watch: &Watch, inputs: &[Input], work: impl FnOnce() -> R) -> R {
    let (done, end) = channel::<()>();
    thread::scope(|scope| {
        // Without a thread there is nothing to see.
        let _ = thread::Builder::new().spawn_scoped(scope, move || show(watch, inputs, &end));
        let result = work();
        drop(done);
        result
    })
}

/// Whether that time has passed before the end.
fn passes(pause: Duration, end: &Receiver<()>) -> bool {
    end.recv_timeout(pause) == Err(RecvTimeoutError::Timeout)
}

fn show(watch: &Watch, inputs: &[Input], end: &Receiver<()>) {
    // Its rate counts from now on; what it is told is drawn as soon as it is complete.
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    if !passes(PATIENCE, end) {
        return;
    }
    let tell = || {
        bar.set_position(watch.bytes());
        // Of what comes slowly, some is read before the first line is judged.
        let lines = watch.lines();
        bar.set_message(if lines > 0 { format!("{} lines  ", grouped(lines)) } else { String::new() });
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
    ProgressStyle::with_template(template).expect("a template of ours").progress_chars("=> ")
}
