//! Options of `scan` for optional counts.

use std::ffi::OsString;
use std::io;

use crate::report::grouped;
use crate::scan::{Options, WhatwgWanted};
use crate::tally::{DistinctOf, MAX_NAMES, TopOf};
use clap::Args;
use clap::builder::TypedValueParser;

use crate::cli::offered::Offered;
use crate::cli::suggest::one_of;
use crate::cli::{SuffixArgs, whatwg_base};

#[derive(Args)]
pub(crate) struct CountArgs {
    /// Count how long lines are
    ///
    /// Adds percentiles, and the longest line with its place. An HTML page always has lengths.
    #[arg(long, hide_short_help = true)]
    lengths: bool,

    /// List the most frequent names: hosts or hosts=50
    ///
    /// Lists the N most frequent hosts, schemes, ports, tlds (last labels of hosts), domains (registrable domains), suffixes
    /// (public suffixes) or host-problems (what DNS says against hosts); without a number, 20. Can be given several times.
    #[arg(long, hide_short_help = true, value_name = "WHAT[=N]", value_parser = tops(), hide_possible_values = true)]
    top: Vec<(TopOf, usize)>,

    /// Estimate how many distinct hosts, lines or domains there are
    ///
    /// Counts hosts, lines, domains (registrable domains), or one of the keys canonical, surt and whatwg_href, which are the columns of
    /// "urlsift lines". Can be given several times. The report states the error of the estimate. Lines of more than 2 MiB have no key
    /// here.
    #[arg(long, value_name = "WHAT", value_parser = distinct(), hide_short_help = true, hide_possible_values = true)]
    distinct: Vec<DistinctOf>,

    #[command(flatten)]
    suffixes: SuffixArgs,

    /// Count what browsers take: the WHATWG URL Standard
    ///
    /// Adds how many lines are WHATWG-valid, have errors, fail, or are relative, each beside the verdicts of RFC 3986 and --grammar. Adds
    /// the standard's validation errors by name. Adds the lines whose host by RFC 3986 is not the one to which a browser connects
    /// (hosts-differ), with both hosts. Lines of more than 2 MiB are not parsed.
    #[arg(long, hide_short_help = true)]
    whatwg: bool,

    /// Base URL against which --whatwg parses lines
    ///
    /// Without it, lines that have no scheme are relative. For an HTML page, this is the URL of the page. In an archive, each page has
    /// its own. The links of a page with an element base are parsed against that.
    #[arg(long, value_name = "URL", requires = "whatwg", hide_short_help = true)]
    base: Option<OsString>,
}

impl CountArgs {
    /// Sets the scan options that the user asked for.
    ///
    /// # Errors
    /// If the base is none.
    pub(crate) fn apply(&self, options: &mut Options) -> io::Result<()> {
        options.lengths = self.lengths;
        options.top = self.top.iter().copied().collect();
        options.distinct = self.distinct.iter().copied().collect();
        options.suffixes = self.suffixes.list();
        let base = self.base.as_deref().map(|base| whatwg_base(base, true)).transpose()?;
        options.whatwg = self.whatwg.then_some(WhatwgWanted { base });
        Ok(())
    }
}

/// How many names a list has if no number is given.
const DEFAULT_TOP: &str = "20";

fn tops() -> impl TypedValueParser<Value = (TopOf, usize)> {
    Offered { parser: top, values: || TopOf::ALL.iter().map(TopOf::to_string).collect() }
}

fn distinct() -> impl TypedValueParser<Value = DistinctOf> {
    let parser = |name: &str| one_of("item", name, DistinctOf::ALL, DistinctOf::name);
    Offered { parser, values: || DistinctOf::ALL.iter().map(DistinctOf::to_string).collect() }
}

/// Parses a list and its length, such as `hosts=20`, or `hosts` alone.
fn top(text: &str) -> Result<(TopOf, usize), String> {
    let (of, n) = text.split_once('=').unwrap_or((text, DEFAULT_TOP));
    let of = one_of("list", of, TopOf::ALL, TopOf::name)?;
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
        assert!(matches!(top("hosts"), Ok((TopOf::Hosts, 20))));
        assert!(matches!(top("tlds=65536"), Ok((TopOf::Tlds, 65_536))));
        for (wrong, why) in [
            ("", "no such list; one of hosts, schemes, ports, tlds, domains, suffixes, host-problems"),
            ("host=2", "no such list; did you mean hosts?"),
            ("hosts=", "a number from 1 to 65,536"),
            ("hosts=0", "a number from 1 to 65,536"),
            ("hosts=65537", "a number from 1 to 65,536"),
        ] {
            let error = top(wrong).err().unwrap();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
