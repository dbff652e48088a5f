//! Counts the halves of a file on two threads and merges the counts.
//!
//! A part begins at the start of a line. Its place makes the line numbers of examples right in the merged counts.
//!
//!     cargo run --release --example merge_parts --no-default-features --features scan -- urls.txt

use std::thread;

use urlsift::{Place, Scan};

fn main() -> std::io::Result<()> {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| "/dev/stdin".into());
    let bytes = std::fs::read(path)?;
    let middle = bytes.len() / 2;
    let cut =
        bytes[middle..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |lf| middle + lf + 1);
    let (head, tail) = bytes.split_at(cut);

    let scan = Scan::new();
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| scan.part(head, Place { input: 0, offset: 0 }));
        let second = scan.part(tail, Place { input: 0, offset: head.len() as u64 });
        (first.join().expect("a scan does not panic"), second)
    });
    // Any order of merging gives the same counts.
    let tally = second.merge(first);

    println!("{} lines", tally.lines());
    for defect in tally.defects() {
        let lines: Vec<_> = defect.found.examples.iter().map(|example| example.line.to_string()).collect();
        println!(
            "{} {}: {}, first in lines {}",
            defect.component,
            defect.cause,
            defect.found.lines,
            lines.join(" ")
        );
    }
    Ok(())
}
