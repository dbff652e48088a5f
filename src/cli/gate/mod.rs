//! `--fail-on`: conditions on the counts that make the exit status 1 when they hold. What is measured, and whether it crosses its
//! limit, in exact integers; how a condition is written stands in [`language`].

mod language;

use std::cmp::Ordering;
use std::str::FromStr;

use urlsift::report::{Report, grouped};
use urlsift::{Advisory, Grammar};

/// The conditions of one `--fail-on`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gates(Vec<Gate>);

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Gate {
    /// As it was typed.
    text: String,
    measure: Measure,
    comparison: Comparison,
    limit: Limit,
}

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Measure {
    /// All lines, and how many of them are blank, end in CR, or are judged.
    Lines,
    Blank,
    Cr,
    Judged,
    /// Judged lines without a scheme, or with that one, in lower case.
    Relative,
    Scheme(String),
    Accepted(By),
    Refused(By),
    Advisory(Advisory),
}

/// Who accepts or refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The grammar of `--grammar`.
    Chosen,
    One(Grammar),
    /// At least one of the five.
    Any,
    /// Each of the five.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    More,
    AtLeast,
    Less,
    AtMost,
    Equal,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Count(u64),
    /// Parts of [`WHOLE`] of the measure's base.
    Share(u64),
}

/// Parts of a whole, fine enough for any limit that is typed.
const WHOLE: u64 = 1_000_000_000;

/// Some of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    /// `None` when the report does not say.
    part: Option<u64>,
    /// What shares are of; `None` for the whole itself.
    base: Option<Base>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Base {
    lines: u64,
    noun: &'static str,
}

impl Count {
    /// It in words.
    fn sentence(self) -> String {
        let Some(part) = self.part else {
            return "not known: the report keeps the names of some schemes only, and this is none of them"
                .to_owned();
        };
        match self.base {
            None => format!("{} lines", grouped(part)),
            Some(Base { lines, noun }) => {
                let share = match (u128::from(part) * 10_000).checked_div(u128::from(lines)) {
                    None => String::new(),
                    Some(0) if part > 0 => ", under 0.01%".to_owned(),
                    Some(n) => format!(", {}.{:02}%", n / 100, n % 100),
                };
                format!("{} of {} {noun}{share}", grouped(part), grouped(lines))
            }
        }
    }
}

impl Measure {
    /// Whether shares of it make sense: of all measures but the whole.
    fn has_shares(&self) -> bool {
        *self != Self::Lines
    }

    /// How many lines that are in the report. The one place that reads it.
    fn of(&self, report: &Report) -> Count {
        let totals = &report.totals;
        let (judged, by_any) = (totals.judged, totals.accepted_by_any);
        let by_all = || {
            let sets = report.verdict_sets.iter().filter(|set| set.grammars.len() == Grammar::ALL.len());
            sets.map(|set| set.lines).sum::<u64>()
        };
        let by_one = |grammar: Grammar| {
            let counts = report.grammars.iter().find(|count| count.id == grammar);
            counts.map_or(0, |count| count.accepted)
        };
        let accepted = |by| match by {
            By::Chosen => by_one(report.grammar),
            By::One(grammar) => by_one(grammar),
            By::Any => by_any,
            By::All => by_all(),
        };
        let part = match self {
            Self::Lines => Some(totals.lines),
            Self::Blank => Some(totals.blank),
            Self::Cr => Some(totals.cr),
            Self::Judged => Some(judged),
            Self::Relative => Some(report.relative.lines),
            Self::Scheme(name) => match report.schemes.iter().find(|scheme| scheme.name == *name) {
                Some(scheme) => Some(scheme.count.lines),
                None => (report.other_schemes.lines == 0).then_some(0),
            },
            Self::Accepted(by) => Some(accepted(*by)),
            // Refused by one at the least is what not all accept, and refused by all is what none accepts.
            Self::Refused(By::Any) => Some(judged - by_all()),
            Self::Refused(By::All) => Some(judged - by_any),
            Self::Refused(by) => Some(judged - accepted(*by)),
            Self::Advisory(advisory) => {
                let counts = report.advisories.iter().find(|count| count.name == *advisory);
                Some(counts.map_or(0, |count| count.lines))
            }
        };
        let base = match self {
            Self::Lines => None,
            Self::Blank | Self::Cr | Self::Judged => Some(Base { lines: totals.lines, noun: "lines" }),
            _ => Some(Base { lines: judged, noun: "judged lines" }),
        };
        Count { part, base }
    }
}

impl Comparison {
    fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::More => ordering.is_gt(),
            Self::AtLeast => ordering.is_ge(),
            Self::Less => ordering.is_lt(),
            Self::AtMost => ordering.is_le(),
            Self::Equal => ordering.is_eq(),
            Self::Other => ordering.is_ne(),
        }
    }
}

impl Gate {
    /// Whether the count crosses the limit. What is not known does; no share of nothing does.
    fn is_crossed_by(&self, count: Count) -> bool {
        let Some(part) = count.part else { return true };
        match self.limit {
            Limit::Count(limit) => self.comparison.holds(part.cmp(&limit)),
            Limit::Share(limit) => {
                let whole = count.base.map_or(part, |base| base.lines);
                let scaled = u128::from(part) * u128::from(WHOLE);
                whole > 0 && self.comparison.holds(scaled.cmp(&(u128::from(whole) * u128::from(limit))))
            }
        }
    }
}

impl FromStr for Gates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        language::parse(text).map(Self)
    }
}

impl Gates {
    /// A sentence for each condition that the report crosses.
    pub(crate) fn crossed(&self, report: &Report) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|gate| {
            let count = gate.measure.of(report);
            let sentence = || format!("--fail-on {} is crossed: {}", gate.text, count.sentence());
            gate.is_crossed_by(count).then(sentence)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_crossed(condition: &str, part: u64, whole: u64) -> bool {
        let Gates(gates) = condition.parse().unwrap();
        let base = Base { lines: whole, noun: "lines" };
        gates[0].is_crossed_by(Count { part: Some(part), base: Some(base) })
    }

    #[test]
    fn comparisons_are_exact() {
        for (condition, crossed) in [
            ("refused", [false, true, true]),
            ("refused>1", [false, false, true]),
            ("refused>=1", [false, true, true]),
            ("refused<1", [true, false, false]),
            ("refused<=1", [true, true, false]),
            ("refused=1", [false, true, false]),
            ("refused!=1", [true, false, true]),
            ("refused>25%", [false, false, true]),
            ("refused>=25%", [false, true, true]),
            ("refused<25.0000001%", [true, true, false]),
            ("refused=25%", [false, true, false]),
        ] {
            for (part, crossed) in (0..).zip(crossed) {
                assert_eq!(is_crossed(condition, part, 4), crossed, "{condition} {part}");
            }
        }
        let most = u64::MAX;
        assert!(
            is_crossed("refused>=100%", most, most)
                && !is_crossed("refused>99.9999999%", 999_999_999, 1_000_000_000)
        );
    }

    #[test]
    fn nothing_has_no_share() {
        for condition in ["refused<1%", "refused>=0%", "refused=0%", "accepted<99%"] {
            assert!(!is_crossed(condition, 0, 0), "{condition}");
        }
        assert!(is_crossed("judged<1", 0, 0));
    }

    #[test]
    fn what_is_not_known_is_crossed() {
        let Gates(gates) = "scheme:foo>3".parse().unwrap();
        let count = Count { part: None, base: None };
        assert!(gates[0].is_crossed_by(count) && count.sentence().starts_with("not known"));
    }
}
