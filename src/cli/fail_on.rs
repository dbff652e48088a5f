//! Conditions of `--fail-on`. The exit status is 1 if one holds. All arithmetic is exact, in integers.
//!
//! ```text
//! condition  = measure [ comparison number [ "%" ] ]       without a comparison: more than 0
//! measure    = name [ ":" value ]                          see `measures`
//! comparison = ">" / ">=" / "<" / "<=" / "=" / "!="
//! number     = 1*DIGIT, before "%" with up to seven decimals
//! ```
//!
//! Spaces may separate any two parts of a condition.

use std::cmp::Ordering;
use std::str::FromStr;

use crate::report::{Report, WhatwgCount, grouped, plural};
use crate::tally::{MAX_SCHEME_LEN, MAX_SCHEMES};
use clap::builder::TypedValueParser;
use urlsift_grammar::Grammar;
use urlsift_grammar::advisory::Advisory;
use urlsift_grammar::scheme::{KNOWN, scheme_len};
use urlsift_grammar::whatwg::Level;

use crate::cli::args::filter::levels;
use crate::cli::offered::Offered;
use crate::cli::suggest::did_you_mean;

/// One condition.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    /// The condition as typed.
    pub(crate) text: String,
    measure: Measure,
    /// Whether the condition holds, given how the measure compares with the limit.
    holds: fn(Ordering) -> bool,
    /// A number of lines, or a share in units of 1/[`WHOLE`].
    limit: u64,
    is_share: bool,
}

/// A share of 100 %. The unit of shares is 0.0000001 %.
const WHOLE: u64 = 1_000_000_000;

/// What a condition counts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Measure {
    Refused(By),
    Accepted(By),
    /// A scheme, in lower case.
    Scheme(String),
    Relative,
    Advisory(Advisory),
    /// What browsers make of lines; `None` stands for hosts that differ.
    Whatwg(Option<Level>),
    Lines,
    Judged,
    Blank,
    Cr,
}

/// The grammars that refuse or accept lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// One grammar. `None` is the grammar of the report.
    One(Option<Grammar>),
    Any,
    All,
}

/// All measures by name, but those of most schemes.
fn measures() -> Vec<(String, Measure)> {
    let grammars = Grammar::ALL.map(|grammar| (grammar.name(), By::One(Some(grammar))));
    let by = grammars.into_iter().chain([("any", By::Any), ("all", By::All)]);
    let others = [
        ("scheme:http", Measure::Scheme("http".to_owned())),
        ("relative", Measure::Relative),
        ("lines", Measure::Lines),
        ("judged", Measure::Judged),
        ("blank", Measure::Blank),
        ("cr", Measure::Cr),
    ];
    let mut all = Vec::new();
    for (word, of) in [("refused", Measure::Refused as fn(By) -> Measure), ("accepted", Measure::Accepted)] {
        all.push((word.to_owned(), of(By::One(None))));
        all.extend(by.clone().map(|(name, by)| (format!("{word}:{name}"), of(by))));
    }
    all.extend(others.map(|(name, measure)| (name.to_owned(), measure)));
    all.extend(Advisory::ALL.iter().map(|&name| (format!("advisory:{name}"), Measure::Advisory(name))));
    all.extend(levels().into_iter().map(|(name, level)| (format!("whatwg:{name}"), Measure::Whatwg(level))));
    all
}

/// The parser of a condition. Completions offer measures.
pub(crate) fn gates() -> impl TypedValueParser<Value = Gate> {
    let values = || measures().into_iter().map(|(name, _)| name).collect();
    Offered { parser: |text: &str| text.parse::<Gate>(), values }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let typed = text.split(':').map(str::trim).collect::<Vec<_>>().join(":");
        if let Some(name) = typed.strip_prefix("scheme:")
            && scheme_len(format!("{name}:").as_bytes()) == Some(name.len())
        {
            return Ok(Self::Scheme(name.to_ascii_lowercase()));
        }
        let all = measures();
        if let Some((_, measure)) = all.iter().find(|(name, _)| *name == typed) {
            return Ok(measure.clone());
        }
        let names: Vec<_> = all.iter().map(|(name, _)| &**name).collect();
        let hint = did_you_mean(&typed, &names).unwrap_or_else(|| {
            let mut words: Vec<_> = names.iter().filter_map(|name| name.split(':').next()).collect();
            words.dedup();
            format!("one of {}", words.join(", "))
        });
        Err(format!("no such measure; {hint}"))
    }
}

impl By {
    /// How many lines these accept.
    fn accepted(self, report: &Report) -> u64 {
        match self {
            Self::One(grammar) => {
                let grammar = grammar.unwrap_or(report.grammar);
                let found = report.grammars.iter().find(|count| count.name == grammar);
                found.map_or(0, |count| count.accepted)
            }
            Self::Any => report.totals.accepted_by_any,
            Self::All => {
                let sets = report.verdict_sets.iter().filter(|set| set.grammars.len() == Grammar::ALL.len());
                sets.map(|set| set.lines).sum()
            }
        }
    }
}

impl Measure {
    /// The number of lines; `None` if the report cannot tell.
    fn lines(&self, report: &Report) -> Option<u64> {
        let totals = &report.totals;
        Some(match self {
            // "Refused by any" is the opposite of "accepted by all", and "refused by all" of "accepted by any".
            Self::Refused(By::Any) => totals.judged - By::All.accepted(report),
            Self::Refused(By::All) => totals.judged - By::Any.accepted(report),
            Self::Refused(by) => totals.judged - by.accepted(report),
            Self::Accepted(by) => by.accepted(report),
            Self::Scheme(name) => return lines_of_scheme(report, name),
            Self::Relative => report.relative.lines,
            Self::Advisory(advisory) => {
                report.advisories.iter().find(|count| count.name == *advisory).map_or(0, |count| count.lines)
            }
            Self::Whatwg(level) => {
                let of = |whatwg: &WhatwgCount| {
                    level.map_or(whatwg.hosts_differ.lines, |level| whatwg.lines(level))
                };
                report.whatwg.as_ref().map_or(0, of)
            }
            Self::Lines => totals.lines,
            Self::Judged => totals.judged,
            Self::Blank => totals.blank,
            Self::Cr => totals.cr,
        })
    }
}

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
        let measure: Measure = measure.parse()?;
        let found = COMPARISONS.iter().find_map(|&(sign, holds)| {
            let (limit, is_share) = limit(comparison.strip_prefix(sign)?.trim())?;
            Some((holds, limit, is_share))
        });
        let (holds, limit, is_share) = found.ok_or(
            "expected a comparison (> >= < <= = !=) and a count, such as 100, or a share of at most 100%, such as 0.5%",
        )?;
        if is_share && measure == Measure::Lines {
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

impl Gate {
    /// Whether the condition is about what the WHATWG parser makes of lines.
    pub(crate) fn needs_whatwg(&self) -> bool {
        matches!(self.measure, Measure::Whatwg(_))
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
        let part = self.measure.lines(report).ok_or_else(|| {
            format!(
                "--fail-on {text} cannot be told: so many schemes occur that this one is not counted by name; \
                 \"urlsift lines -c scheme\" prints each line's"
            )
        })?;
        let of = |n, one, many| (n, format!("{} of {}", grouped(part), plural(n, one, many)));
        let (whole, lines) = match self.measure {
            Measure::Lines => (0, plural(part, "line", "lines")),
            Measure::Blank | Measure::Cr | Measure::Judged => of(report.totals.lines, "line", "lines"),
            _ => of(report.totals.judged, "judged line", "judged lines"),
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
        let sentence = format!("--fail-on {text} is crossed: {lines}{share}");
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
            ("refused:rfc173>12", "no such measure; did you mean refused:rfc1738?"),
            ("refused:>12", "no such measure; did you mean refused?"),
            ("advisory", "no such measure; did you mean advisory:"),
            ("advisory:pasword", "no such measure; did you mean advisory:password?"),
            ("scheme:h_p", "no such measure; did you mean scheme:http?"),
            ("lines>5%", "lines is the whole"),
            ("whatwg", "no such measure; did you mean whatwg:"),
            ("whatwg:fail", "no such measure; did you mean whatwg:failure?"),
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

    /// The help of the option is written by hand.
    #[test]
    fn measures_are_offered_and_in_the_help() {
        let mut command = crate::cli::help::command(false);
        let scan = command.find_subcommand_mut("scan").unwrap();
        let option = scan.get_arguments().find(|arg| arg.get_long() == Some("fail-on")).unwrap();
        let help = option.get_long_help().unwrap().to_string();
        let offered = option.get_possible_values();
        for (name, _) in measures() {
            assert!(
                offered.iter().any(|value| value.get_name() == name) && name.parse::<Gate>().is_ok(),
                "{name}"
            );
            let word = name.split(':').next().unwrap();
            assert!(help.contains(if word == "whatwg" { &name } else { word }), "{name}");
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
