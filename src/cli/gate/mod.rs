//! `--fail-on`: conditions on the counts that make the exit status 1 when they hold. What is measured, and whether it crosses its
//! limit, in exact integers; how a condition is written stands in [`language`].

mod language;

use std::cmp::Ordering;
use std::str::FromStr;

use urlsift::report::{Report, grouped};
use urlsift::scheme::KNOWN;
use urlsift::tally::{MAX_SCHEME_LEN, MAX_SCHEMES};
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
    /// The least and the most that it can be: one number where the report says it.
    least: u64,
    most: u64,
    /// What shares are of; `None` for the whole itself.
    base: Option<Base>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Base {
    lines: u64,
    noun: &'static str,
}

impl Count {
    fn is_known(self) -> bool {
        self.least == self.most
    }

    /// It in words, with a share that is on the same side of `limit` as the count itself.
    fn sentence(self, limit: Limit) -> String {
        let both = |text: &dyn Fn(u64) -> String| {
            let most = text(self.most);
            if self.is_known() { most } else { format!("{} to {most}", text(self.least)) }
        };
        let lines = both(&grouped);
        match self.base {
            None => format!("{lines} lines"),
            Some(Base { lines: 0, noun }) => format!("{lines} of 0 {noun}"),
            Some(Base { lines: whole, noun }) => {
                let share = both(&|part| percent(part, whole, limit));
                format!("{lines} of {} {noun}, {share} %", grouped(whole))
            }
        }
    }
}

/// A share in per cent, rounded to two decimals, or to as many more as it takes not to look like the limit, all or nothing where it
/// is none of these. `whole` is not 0.
fn percent(part: u64, whole: u64, limit: Limit) -> String {
    let shares =
        [0, WHOLE].into_iter().chain(if let Limit::Share(share) = limit { Some(share) } else { None });
    let exact = u128::from(part) * u128::from(WHOLE);
    let looks_right = |rounded: u128, unit: u128| {
        shares.clone().all(|share| {
            let seen = (rounded * u128::from(WHOLE / 100)).cmp(&(u128::from(share) * unit));
            seen == exact.cmp(&(u128::from(share) * u128::from(whole)))
        })
    };
    let whole = u128::from(whole);
    let (mut digits, mut rest) = (u128::from(part) * 100 / whole, u128::from(part) * 100 % whole);
    // Two shares that differ do so by a part in whole * WHOLE: there are no more decimals than that has, and all numbers fit.
    let mut unit = 1;
    loop {
        (digits, rest, unit) = (digits * 10 + rest * 10 / whole, rest * 10 % whole, unit * 10);
        let rounded = digits + u128::from(rest * 2 >= whole);
        if unit >= 100 && looks_right(rounded, unit) {
            let decimals = unit.ilog10() as usize;
            return format!("{}.{:0decimals$}", rounded / unit, rounded % unit);
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
        let known = |lines| (lines, lines);
        let (least, most) = match self {
            Self::Lines => known(totals.lines),
            Self::Blank => known(totals.blank),
            Self::Cr => known(totals.cr),
            Self::Judged => known(judged),
            Self::Relative => known(report.relative.lines),
            Self::Scheme(name) => lines_of_scheme(report, name),
            Self::Accepted(by) => known(accepted(*by)),
            // Refused by one at the least is what not all accept, and refused by all is what none accepts.
            Self::Refused(By::Any) => known(judged - by_all()),
            Self::Refused(By::All) => known(judged - by_any),
            Self::Refused(by) => known(judged - accepted(*by)),
            Self::Advisory(advisory) => {
                let counts = report.advisories.iter().find(|count| count.name == *advisory);
                known(counts.map_or(0, |count| count.lines))
            }
        };
        let base = match self {
            Self::Lines => None,
            Self::Blank | Self::Cr | Self::Judged => Some(Base { lines: totals.lines, noun: "lines" }),
            _ => Some(Base { lines: judged, noun: "judged lines" }),
        };
        Count { least, most, base }
    }
}

/// The least and the most lines that the scheme `name` can have. They differ where that name would not have been kept: then
/// its lines, if there are any, were counted together with others.
fn lines_of_scheme(report: &Report, name: &str) -> (u64, u64) {
    if let Some(scheme) = report.schemes.iter().find(|scheme| scheme.name == name) {
        return (scheme.count.lines, scheme.count.lines);
    }
    let is_known = |name: &str| KNOWN.iter().any(|known| known.name == name);
    // As `MAX_SCHEMES` says: what comes before one that was kept would have been kept itself.
    let place = |name: &str| (name.len(), name.to_owned());
    let kept: Vec<_> = report
        .schemes
        .iter()
        .filter(|scheme| !is_known(&scheme.name))
        .map(|scheme| place(&scheme.name))
        .collect();
    let would_be_kept = is_known(name)
        || (name.len() <= MAX_SCHEME_LEN
            && (kept.len() < MAX_SCHEMES || kept.iter().max().is_some_and(|last| place(name) < *last)));
    (0, if would_be_kept { 0 } else { report.other_schemes.lines })
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

    /// Whether it holds for numbers of which the least and the most are so ordered; `None` where it holds for some of them only.
    fn holds_for_all(self, [least, most]: [Ordering; 2]) -> Option<bool> {
        let is_one_sided = !matches!(self, Self::Equal | Self::Other);
        let is_told = least == most || (is_one_sided && self.holds(least) == self.holds(most));
        is_told.then(|| self.holds(least))
    }

    /// It in words, before the limit.
    fn words(self) -> &'static str {
        match self {
            Self::More => "more than",
            Self::AtLeast => "not less than",
            Self::Less => "less than",
            Self::AtMost => "not more than",
            Self::Equal => "exactly",
            Self::Other => "not",
        }
    }
}

impl Limit {
    /// A share as it would be typed.
    fn share(self) -> Option<String> {
        let Self::Share(parts) = self else { return None };
        let percent = WHOLE / 100;
        let decimals = format!("{:07}", parts % percent);
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        Some(format!("{}{point}{decimals} %", parts / percent))
    }
}

/// What a report says of a condition, in a sentence for the user.
pub(crate) enum Finding {
    /// It holds.
    Crossed(String),
    /// Whether it holds cannot be told from the report.
    Untold(String),
}

impl Gate {
    /// Whether the count crosses the limit; `None` where that cannot be told. No share of nothing does.
    fn is_crossed_by(&self, count: Count) -> Option<bool> {
        let order = |part: u64| match self.limit {
            Limit::Count(limit) => part.cmp(&limit),
            Limit::Share(limit) => {
                let whole = count.base.map_or(part, |base| base.lines);
                (u128::from(part) * u128::from(WHOLE)).cmp(&(u128::from(whole) * u128::from(limit)))
            }
        };
        if matches!((self.limit, count.base), (Limit::Share(_), Some(Base { lines: 0, .. }))) {
            return Some(false);
        }
        self.comparison.holds_for_all([count.least, count.most].map(order))
    }

    /// What there is to say of the report; nothing where the condition does not hold.
    fn finding(&self, report: &Report) -> Option<Finding> {
        let count = self.measure.of(report);
        let (text, counted) = (&self.text, count.sentence(self.limit));
        match self.is_crossed_by(count) {
            Some(false) => None,
            Some(true) => {
                let limit = self.limit.share();
                let limit =
                    limit.map_or(String::new(), |share| format!(", {} {share}", self.comparison.words()));
                Some(Finding::Crossed(format!("--fail-on {text} is crossed: {counted}{limit}")))
            }
            None => Some(Finding::Untold(format!(
                "--fail-on {text} cannot be told: {counted}, since so many schemes occur that this one is not counted by name; \
                 \"urlsift lines -c scheme\" prints each line's"
            ))),
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
    /// What there is to say of each condition that holds, or may hold.
    pub(crate) fn findings(&self, report: &Report) -> impl Iterator<Item = Finding> {
        self.0.iter().filter_map(|gate| gate.finding(report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_crossed(condition: &str, part: u64, whole: u64) -> bool {
        told(condition, [part, part], whole).unwrap()
    }

    fn told(condition: &str, [least, most]: [u64; 2], whole: u64) -> Option<bool> {
        let Gates(gates) = condition.parse().unwrap();
        let base = Base { lines: whole, noun: "lines" };
        gates[0].is_crossed_by(Count { least, most, base: Some(base) })
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
    fn bounds_decide_where_they_can() {
        for (condition, told_of_it) in [
            ("scheme:x", None),
            ("scheme:x>4", None),
            ("scheme:x>5", Some(false)),
            ("scheme:x>=0", Some(true)),
            ("scheme:x<6", Some(true)),
            ("scheme:x<=4", None),
            ("scheme:x=3", None),
            ("scheme:x=6", Some(false)),
            ("scheme:x!=3", None),
            ("scheme:x!=6", Some(true)),
            ("scheme:x>50%", Some(false)),
            ("scheme:x>49%", None),
        ] {
            assert_eq!(told(condition, [0, 5], 10), told_of_it, "{condition}");
        }
    }

    #[test]
    fn shares_do_not_contradict_what_is_said_of_them() {
        let share = |percent: &str| {
            let Gates(gates) = format!("refused>{percent}%").parse().unwrap();
            gates[0].limit
        };
        for (part, whole, limit, shown) in [
            (1_004, 1_000_000, share("0.1"), "0.1004"),
            (1_000, 1_000_000, share("0.1"), "0.10"),
            (999, 1_000_000, share("0.1"), "0.0999"),
            (1, 3, share("33.33"), "33.333"),
            (1, 3, share("33.3333333"), "33.33333333"),
            (2, 3, Limit::Count(1), "66.67"),
            (1, 1_000_000, Limit::Count(0), "0.0001"),
            (999_999, 1_000_000, Limit::Count(0), "99.9999"),
            (1, 80_000_000, share("0.0000013"), "0.000001"),
            (0, 7, Limit::Count(0), "0.00"),
            (7, 7, share("99.9999999"), "100.00"),
            (u64::MAX - 1, u64::MAX, share("100"), "99.99999999999999999"),
        ] {
            assert_eq!(percent(part, whole, limit), shown, "{part} of {whole}");
        }
        assert_eq!(share("0.10").share().unwrap(), "0.1 %");
        assert_eq!(share("100").share().unwrap(), "100 %");
        assert_eq!(share("0.0000001").share().unwrap(), "0.0000001 %");
    }
}
