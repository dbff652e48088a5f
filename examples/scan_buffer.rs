//! Counts the lines of a file that each grammar accepts.
//!
//!     cargo run --release --example scan_buffer --no-default-features --features scan -- urls.txt

use urlsift::{Grammar, Scan};

fn main() -> std::io::Result<()> {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| "/dev/stdin".into());
    let tally = Scan::new().bytes(&std::fs::read(path)?);
    println!("{:>12} judged", tally.judged().lines());
    for grammar in Grammar::ALL {
        println!("{:>12} {grammar}", tally.judged().accepted(grammar));
    }
    Ok(())
}
