//! Conditions of `--fail-on`. The exit status is 1 if one holds. All arithmetic is exact, in integers.
//!
//! ```text
//! condition  = measure [ comparison number [ "%" ] ]       without a comparison: more than 0
//! measure    = "lines" / "blank" / "cr" / "judged" / "relative" / "scheme:" name / "advisory:" name
//!            / ( "refused" / "accepted" ) [ ":" ( grammar / "any" / "all" ) ]
//!            / "whatwg:" ( "valid" / "errors" / "failure" / "relative" / "hosts-differ" )
//! comparison = ">" / ">=" / "<" / "<=" / "=" / "!="
//! number     = 1*DIGIT, before "%" with up to seven decimals
//! ```
//!
//! Spaces may separate any two parts of a condition.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::report::whatwg::HOSTS_DIFFER;
use crate::report::{Report, WhatwgCount, grouped, plural};
use crate::run::Scanned;
use crate::scan::Options;
use crate::tally::{MAX_SCHEME_LEN, MAX_SCHEMES};
use urlsift_grammar::Grammar;
use urlsift_grammar::advisory::Advisory;
use urlsift_grammar::scheme::{KNOWN, scheme_len};
use urlsift_grammar::whatwg::Level;

use crate::cli::suggest::unknown;

/// One condition.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    /// The condition as typed.
    text: String,
    /// The measure up to the colon, and what follows the colon.
    measure: (String, Option<String>),
    /// Whether the condition holds, given how the measure compares with the limit.
    holds: fn(Ordering) -> bool,
    /// A number of lines, or a share in units of 1/[`WHOLE`].
    limit: u64,
    is_share: bool,
}

/// A share of 100 %. The unit of shares is 0.0000001 %.
const WHOLE: u64 = 1_000_000_000;

const MEASURES: [&str; 10] = [
    "refused",
    "accepted",
    "scheme:NAME",
    "relative",
    "advisory:NAME",
    "whatwg:LEVEL",
    "lines",
    "judged",
    "blank",
    "cr",
];

type Comparison = (&'static str, fn(Ordering) -> bool);

/// The comparisons. Longer ones precede their own prefixes.
const COMPARISONS: [Comparison; 6] = [
    (">=", Ordering::is_ge),
    ("<=", Ordering::is_le),
    ("!=", Ordering::is_ne),
    (">", Ordering::is_gt),
    ("<", Ordering::is_lt),
    ("=", Ordering::is_eq),
];

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim().to_owned();
        let (measure, comparison) = text.split_at(text.find(['>', '<', '=', '!']).unwrap_or(text.len()));
        let comparison = if comparison.is_empty() { ">0" } else { comparison };
        let (name, of) =
            measure.split_once(':').map_or((measure, None), |(name, of)| (name, Some(of.trim())));
        let measure = (name.trim().to_owned(), of.map(str::to_owned));
        // Any report has all measures but those of an option, which are 0, so an empty one suffices to check the name.
        lines(&measure, &Report::new(&Scanned::default(), &[], &Options::default(), false))?;
        let found = COMPARISONS.iter().find_map(|&(sign, holds)| {
            let (limit, is_share) = limit(comparison.strip_prefix(sign)?.trim())?;
            Some((holds, limit, is_share))
        });
        let (holds, limit, is_share) = found.ok_or(
            "expected a comparison (> >= < <= = !=) and a count, such as 100, or a share of at most 100%, such as 0.5%",
        )?;
        if is_share && measure.0 == "lines" {
            return Err("lines is the whole, which has no share; give a count".to_owned());
        }
        Ok(Self { text, measure, holds, limit, is_share })
    }
}

/// Parses a count, or a share with "%". Returns whether it is a share.
fn limit(text: &str) -> Option<(u64, bool)> {
    let Some(percent) = text.strip_suffix('%') else { return Some((text.parse().ok()?, false)) };
    let (whole, decimals) = percent.trim_end().split_once('.').unwrap_or((percent.trim_end(), ""));
    let share = format!("{whole}{decimals:0<7}").parse().ok()?;
    let is_share = share <= WHOLE && decimals.len() <= 7 && whole.len() + decimals.len() > 0;
    is_share.then_some((share, true))
}

/// The number of lines of a measure; `None` if the report cannot tell.
///
/// # Errors
/// If the measure does not exist. The error lists the existing ones.
fn lines((name, of): &(String, Option<String>), report: &Report) -> Result<Option<u64>, String> {
    let totals = &report.totals;
    let accepted = |by: Option<&str>| match by {
        Some("any") => Ok(totals.accepted_by_any),
        Some("all") => {
            let sets = report.verdict_sets.iter().filter(|set| set.grammars.len() == Grammar::ALL.len());
            Ok(sets.map(|set| set.lines).sum())
        }
        by => {
            let names = [&Grammar::ALL.map(Grammar::name)[..], &["any", "all"]].concat();
            let by = by.unwrap_or(report.grammar.name());
            let found = report.grammars.iter().find(|count| count.name.name() == by);
            found.map(|count| count.accepted).ok_or_else(|| unknown("grammar", by, &names))
        }
    };
    Ok(Some(match (name.as_str(), of.as_deref()) {
        ("lines", None) => totals.lines,
        ("blank", None) => totals.blank,
        ("cr", None) => totals.cr,
        ("judged", None) => totals.judged,
        ("relative", None) => report.relative.lines,
        ("accepted", by) => accepted(by)?,
        // "Refused by any" is the opposite of "accepted by all", and "refused by all" of "accepted by any".
        ("refused", Some("any")) => totals.judged - accepted(Some("all"))?,
        ("refused", Some("all")) => totals.judged - accepted(Some("any"))?,
        ("refused", by) => totals.judged - accepted(by)?,
        ("scheme", Some(of)) if scheme_len(format!("{of}:").as_bytes()) == Some(of.len()) => {
            return Ok(lines_of_scheme(report, &of.to_ascii_lowercase()));
        }
        ("advisory", Some(of)) => {
            let names: Vec<_> = Advisory::ALL.iter().map(|advisory| advisory.name()).collect();
            if !names.contains(&of) {
                return Err(unknown("advisory", of, &names));
            }
            report.advisories.iter().find(|count| count.name.name() == of).map_or(0, |count| count.lines)
        }
        ("whatwg", Some(of)) => {
            let level = Level::ALL.iter().find(|level| level.name() == of);
            if level.is_none() && of != HOSTS_DIFFER {
                let levels = Level::ALL.iter().map(|level| level.name());
                let names: Vec<_> = levels.chain([HOSTS_DIFFER]).collect();
                return Err(unknown("WHATWG measure", of, &names));
            }
            let lines_of =
                |whatwg: &WhatwgCount| level.map_or(whatwg.hosts_differ.lines, |&level| whatwg.lines(level));
            report.whatwg.as_ref().map_or(0, lines_of)
        }
        (name, of) => return Err(unknown("measure", &[name, of.unwrap_or("")].join(":"), &MEASURES)),
    }))
}

/// The number of lines with the scheme `name`; `None` if the report may have counted them among other schemes.
fn lines_of_scheme(report: &Report, name: &str) -> Option<u64> {
    if let Some(scheme) = report.schemes.iter().find(|scheme| scheme.name == name) {
        return Some(scheme.count.lines);
    }
    let is_known = |name: &str| KNOWN.iter().any(|known| known.name == name);
    // Names that are kept precede all others in this order; see `MAX_SCHEMES`.
    let kept = report.schemes.iter().map(|scheme| (scheme.name.len(), &*scheme.name));
    let kept: Vec<_> = kept.filter(|(_, name)| !is_known(name)).collect();
    let would_be_kept = is_known(name)
        || report.other.lines == 0
        || kept.iter().any(|&last| last > (name.len(), name))
        || (kept.len() < MAX_SCHEMES && name.len() <= MAX_SCHEME_LEN);
    would_be_kept.then_some(0)
}

/// A share as a percentage with at least two decimals. It has enough decimals to show on which side of 0 %, `limit` and 100
/// % it lies.
fn percent(part: u64, whole: u64, limit: u64) -> String {
    let [part, whole, all] = [part, whole, WHOLE].map(u128::from);
    let mut unit = 100;
    loop {
        let rounded = (part * 100 * unit + whole / 2) / whole;
        let agrees = |share| (rounded * all / 100).cmp(&(share * unit)) == (part * all).cmp(&(share * whole));
        // With 17 decimals, no product overflows.
        let decimals = unit.ilog10() as usize;
        if decimals == 17 || [0, limit.into(), all].into_iter().all(agrees) {
            return format!("{}.{:0decimals$}", rounded / unit, rounded % unit);
        }
        unit *= 10;
    }
}

impl fmt::Display for Gate {
    /// Writes the condition as it was typed.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl Gate {
    /// Whether the condition is about what the WHATWG parser makes of lines.
    pub(crate) fn needs_whatwg(&self) -> bool {
        self.measure.0 == "whatwg"
    }

    /// Whether `part` of `whole` crosses the limit. If `whole` is 0, it never does.
    fn is_crossed(&self, part: u64, whole: u64) -> bool {
        let units = if self.is_share { [WHOLE, whole] } else { [1, 1] };
        let [unit, whole, part, limit] = [units[0], units[1], part, self.limit].map(u128::from);
        whole > 0 && (self.holds)((part * unit).cmp(&(whole * limit)))
    }

    /// Returns the message if the condition holds.
    ///
    /// # Errors
    /// If the report cannot tell whether it holds. The error is the message about that.
    pub(crate) fn check(&self, report: &Report) -> Result<Option<String>, String> {
        let text = &self.text;
        let part = lines(&self.measure, report)?.ok_or_else(|| {
            format!(
                "--fail-on {text} cannot be told: so many schemes occur that this one is not counted by name; \
                 \"urlsift lines -c scheme\" prints each line's"
            )
        })?;
        let (whole, base) = match self.measure.0.as_str() {
            "lines" => (0, String::new()),
            "blank" | "cr" | "judged" => {
                (report.totals.lines, format!(" of {}", grouped(report.totals.lines)))
            }
            _ => (report.totals.judged, format!(" of {} judged", grouped(report.totals.judged))),
        };
        // Lines that are too long to be parsed may be of any level.
        let too_long =
            report.whatwg.as_ref().filter(|_| self.needs_whatwg()).map_or(0, |whatwg| whatwg.too_long);
        let most = part + too_long;
        let unit = if self.is_share { [whole, WHOLE] } else { [1, 1] }.map(u128::from);
        let at_limit = u64::try_from(u128::from(self.limit) * unit[0] / unit[1]).unwrap_or(u64::MAX);
        let crossed = [part, at_limit.clamp(part, most), most].map(|part| self.is_crossed(part, whole));
        if crossed.contains(&true) && crossed.contains(&false) {
            return Err(format!(
                "--fail-on {text} cannot be told: {} too long to be parsed; \"urlsift lines -c whatwg,hosts_differ\" parses each line",
                plural(too_long, "line is", "lines are")
            ));
        }
        let limit = if self.is_share { self.limit } else { 0 };
        let share = if whole == 0 { String::new() } else { format!(", {} %", percent(part, whole, limit)) };
        let sentence = format!("--fail-on {text} is crossed: {}{base} lines{share}", grouped(part));
        Ok(self.is_crossed(part, whole).then_some(sentence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_what_there_is() {
        for (text, why) in [
            ("", "no such measure; one of refused, accepted"),
            ("refusd>1", "no such measure; did you mean refused?"),
            ("refused 5", "no such measure; did you mean refused?"),
            ("refused:rfc173>12", "no such grammar; did you mean rfc1738?"),
            ("refused:>12", "no such grammar; one of draft1993"),
            ("advisory", "no such measure; did you mean advisory:NAME?"),
            ("advisory:pasword", "no such advisory; did you mean password?"),
            ("scheme:h_p", "no such measure; did you mean scheme:NAME?"),
            ("lines>5%", "lines is the whole"),
            ("whatwg", "no such measure; did you mean whatwg:LEVEL?"),
            ("whatwg:fail", "no such WHATWG measure; did you mean failure?"),
        ] {
            let error = text.parse::<Gate>().unwrap_err();
            assert!(error.starts_with(why), "{text}: {error}");
        }
        let counts = [">", ">x", ">-1", "==1", "=>1", "<>1", "!1", ">99999999999999999999", ">5 lines"];
        let shares = [">5%%", ">101%", ">%", ">.%", ">1e3%", ">0.12345678%"];
        for limit in counts.into_iter().chain(shares) {
            let error = format!("refused{limit}").parse::<Gate>().unwrap_err();
            assert!(error.starts_with("expected a comparison"), "{limit}: {error}");
        }
    }

    #[test]
    fn comparisons_are_exact() {
        let is_crossed = |condition: &str, part, whole| {
            let gate: Gate = condition.parse().unwrap();
            gate.is_crossed(part, whole)
        };
        for (condition, crossed) in [
            ("refused>25%", [false, false, true]),
            ("refused>=25%", [false, true, true]),
            ("refused<25.0000001%", [true, true, false]),
            ("refused=25%", [false, true, false]),
            ("refused!=25 %", [true, false, true]),
        ] {
            for (part, crossed) in (0..).zip(crossed) {
                assert_eq!(is_crossed(condition, part, 4), crossed, "{condition} {part}");
            }
        }
        assert!(is_crossed("refused>=100%", u64::MAX, u64::MAX));
        assert!(!is_crossed("refused>99.9999999%", 999_999_999, 1_000_000_000));
        assert!(!is_crossed("refused>=0%", 0, 0), "nothing has no share");
    }

    #[test]
    fn shares_agree_with_the_limit() {
        for (part, whole, limit, shown) in [
            (1_004, 1_000_000, "0.1%", "0.1004"),
            (1_000, 1_000_000, ".1%", "0.10"),
            (999, 1_000_000, "0.1%", "0.0999"),
            (1, 3, "33.3333333%", "33.33333333"),
            (1, 1_000_000, "0%", "0.0001"),
            (999_999, 1_000_000, "0%", "99.9999"),
            (7, 7, "99.9999999%", "100.00"),
            (u64::MAX - 1, u64::MAX, "100%", "99.99999999999999999"),
        ] {
            let (limit, _) = super::limit(limit).unwrap();
            assert_eq!(percent(part, whole, limit), shown, "{part} of {whole}");
        }
    }
}
