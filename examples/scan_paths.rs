//! Prints the report of files and directories, as the command does. Inputs that cannot be read are named on standard error.
//!
//!     cargo run --release --example scan_paths -- urls.txt crawl/

use std::process::ExitCode;

use urlsift::Scan;
use urlsift::report::Report;

fn main() -> ExitCode {
    let paths: Vec<_> = std::env::args_os().skip(1).collect();
    let found = Scan::new().paths(&paths);
    print!("{}", Report::of_paths(&found));
    for failure in found.failure_messages() {
        eprintln!("{failure}");
    }
    if found.failure_messages().next().is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
