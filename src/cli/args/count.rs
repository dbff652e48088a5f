//! What `scan` counts on demand: options as typed to options of the scan.

use clap::{Args, ValueEnum};
use urlsift::report::grouped;
use urlsift::scan::Options;
use urlsift::tally::MAX_NAMES;

#[derive(Args)]
pub(crate) struct CountArgs {
    /// Count how long lines are
    ///
    /// Percentiles, the longest line and where it is. A page (html) has it always.
    #[arg(long, hide_short_help = true)]
    lengths: bool,

    /// List the most frequent: hosts=20, say
    ///
    /// The N most frequent hosts, schemes, ports or tlds (last labels of hosts); can be given again.
    #[arg(long, value_name = "WHAT=N", value_parser = top)]
    top: Vec<(TopOf, usize)>,

    /// Estimate how many different hosts or lines there are
    ///
    /// Can be given again. The report states the error.
    #[arg(long, value_enum, value_name = "WHAT", hide_short_help = true)]
    distinct: Vec<DistinctOf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum TopOf {
    Hosts,
    Schemes,
    Ports,
    Tlds,
}

#[derive(Clone, Copy, ValueEnum)]
enum DistinctOf {
    /// Hosts of accepted lines, letter case ignored
    Hosts,
    /// Judged lines
    Lines,
}

impl CountArgs {
    /// Lets a scan count what is asked for.
    pub(crate) fn apply(&self, options: &mut Options) {
        options.lengths = self.lengths;
        for &(of, n) in &self.top {
            let wanted = match of {
                TopOf::Hosts => &mut options.top.hosts,
                TopOf::Schemes => &mut options.top.schemes,
                TopOf::Ports => &mut options.top.ports,
                TopOf::Tlds => &mut options.top.tlds,
            };
            *wanted = n;
        }
        for of in &self.distinct {
            match of {
                DistinctOf::Hosts => options.distinct.hosts = true,
                DistinctOf::Lines => options.distinct.lines = true,
            }
        }
    }
}

/// What to list, and how many of it.
fn top(text: &str) -> Result<(TopOf, usize), String> {
    let (of, n) = text.split_once('=').ok_or("expected what to list and how many of it, such as hosts=20")?;
    let of = TopOf::from_str(of, false)
        .map_err(|_| format!("no list of {of:?}; there are hosts, schemes, ports and tlds"))?;
    let n = n.parse().ok().filter(|n| (1..=MAX_NAMES).contains(n));
    let n = n.ok_or_else(|| format!("how many is a number from 1 to {}", grouped(MAX_NAMES as u64)))?;
    Ok((of, n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        assert!(matches!(top("hosts=20"), Ok((TopOf::Hosts, 20))));
        assert!(matches!(top("tlds=65536"), Ok((TopOf::Tlds, 65_536))));
        for (wrong, why) in [
            ("hosts", "such as hosts=20"),
            ("host=2", "no list of \"host\""),
            ("hosts=", "a number from 1 to 65,536"),
            ("hosts=0", "a number from 1 to 65,536"),
            ("hosts=65537", "a number from 1 to 65,536"),
        ] {
            let error = top(wrong).err().unwrap();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
