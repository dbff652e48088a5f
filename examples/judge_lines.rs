//! Copies the lines that all five grammars accept from standard input to standard output, and reports how many it left out.
//!
//! `judge` takes a line without its terminator, which is LF and all CRs directly before it.
//!
//!     cargo run --example judge_lines --no-default-features < urls.txt

use std::io::{self, BufRead, BufWriter, Write};

use urlsift::{Grammar, judge};

fn main() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut bytes = Vec::new();
    let mut kept_back = 0_u64;
    // Read bytes, not text, because a line may contain anything.
    while input.read_until(b'\n', &mut bytes)? > 0 {
        let body = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let n_cr = body.iter().rev().take_while(|&&byte| byte == b'\r').count();
        let verdict = judge(&body[..body.len() - n_cr]).verdict();
        if Grammar::ALL.into_iter().all(|grammar| verdict.accepts(grammar)) {
            out.write_all(&bytes)?;
        } else {
            kept_back += 1;
        }
        bytes.clear();
    }
    out.flush()?;
    eprintln!("{kept_back} lines were kept back");
    Ok(())
}
