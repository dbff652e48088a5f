//! What a report says of a base: how many references were resolved against it, and to which hosts.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::read::same;
use super::{Report, Top, TopEntry, TopOf};
use crate::escape::{masked, printable};
use crate::grammar::Grammar;
use crate::resolve::Base;
use crate::secret::secrets;
use crate::tally::{self, MAX_NAME_LEN, MAX_NAMES, Tally};

/// How many hosts are listed where it is not said how many.
const N_HOSTS: usize = 10;

/// Relative references, resolved against a base (RFC 3986, section 5). Lines of three kinds make up all judged ones: those that
/// are resolved, those that have a scheme of their own, and those that RFC 3986 refuses, which refer to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BaseCount {
    /// The base, without a fragment, a password masked.
    pub url: String,
    /// Its scheme in lower case: that of all that is resolved.
    pub scheme: String,
    /// Its host in lower case; `None` if it has none, or an empty one.
    pub host: Option<String>,
    /// Lines without a scheme that RFC 3986 accepts.
    pub resolved: u64,
    /// Lines with a scheme that RFC 3986 accepts: they need no base.
    pub absolute: u64,
    /// Lines that RFC 3986 refuses.
    pub refused: u64,
    /// Of those resolved, those that begin with "//": they name a host themselves, and do not take that of the base.
    pub own_authority: u64,
    /// Of those resolved, those that lead to no host, an empty one, or one too long to be counted by name.
    pub without_host: u64,
    /// The hosts that most of those resolved lead to, the base's among them: as many as are listed of hosts (`top`), or ten.
    pub hosts: Top,
}

impl BaseCount {
    /// What a tally says with that base. Of hosts `n` are listed, or if that is 0, ten.
    pub(super) fn new(tally: &Tally, base: &Base, n: usize, show_secrets: bool) -> Self {
        let judged = tally.judged();
        let accepted = judged.accepted(Grammar::Rfc3986);
        let resolved = tally.relative().accepted(Grammar::Rfc3986);
        let own = tally.network_paths();
        let inherited = resolved - own.lines();
        let secrets = if show_secrets { Vec::new() } else { secrets(base.as_bytes(), false) };
        let host = base.host().filter(|host| !host.is_empty());
        let host = host.map(|host| printable(&host.to_ascii_lowercase()));
        let mut hosts = own.top_hosts(MAX_NAMES);
        let named = host.clone().filter(|host| host.len() <= MAX_NAME_LEN);
        let without_host = own.without_host() + if named.is_some() { 0 } else { inherited };
        if let Some(host) = named {
            match hosts.entries.iter_mut().find(|(name, _)| *name == host) {
                Some((_, lines)) => *lines += inherited,
                None => hosts.entries.push((host, inherited)),
            }
        }
        Self {
            url: masked(base.as_bytes(), &secrets),
            scheme: printable(&base.scheme().to_ascii_lowercase()),
            host,
            resolved,
            absolute: accepted - resolved,
            refused: judged.lines() - accepted,
            own_authority: own.lines(),
            without_host,
            hosts: top(hosts, if n == 0 { N_HOSTS } else { n }),
        }
    }

    /// Whether its sums are those of the report.
    pub(super) fn check(&self, report: &Report) -> Result<(), String> {
        let judged = report.totals.judged;
        let relative = report.relative.accepted.rfc3986;
        same("base", "references resolved", [self.resolved], relative)?;
        let refused = report.grammars.iter().find(|count| count.id == Grammar::Rfc3986);
        same("base", "refused lines", [self.refused], refused.map_or(0, |count| count.refused))?;
        let all = [self.resolved, self.absolute, self.refused];
        same("base", "lines resolved, with a scheme and refused", all, judged)?;
        let listed: u128 = self.hosts.entries.iter().map(|entry| u128::from(entry.lines)).sum();
        if self.own_authority > self.resolved || listed + u128::from(self.without_host) > self.resolved.into()
        {
            return Err("base: more lines by host than are resolved".to_owned());
        }
        Ok(())
    }
}

fn top(mut hosts: tally::Top, n: usize) -> Top {
    hosts.entries.retain(|&(_, lines)| lines > 0);
    hosts
        .entries
        .sort_by(|(name, lines), (other, others)| (Reverse(lines), name).cmp(&(Reverse(others), other)));
    hosts.entries.truncate(n);
    let entry = |(name, lines): (String, u64)| TopEntry { name: printable(name.as_bytes()), lines };
    Top {
        of: TopOf::Hosts,
        exact: hosts.max_error == 0,
        max_error: hosts.max_error,
        entries: hosts.entries.into_iter().map(entry).collect(),
    }
}
