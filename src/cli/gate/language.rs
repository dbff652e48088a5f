//! The language of `--fail-on`.
//!
//! ```text
//! conditions = condition *( "," condition )
//! condition  = measure [ comparison number [ "%" ] ]       without a comparison: more than 0
//! measure    = "lines" / "blank" / "cr" / "judged" / "relative"
//!            / ( "refused" / "accepted" ) [ ":" ( grammar / "any" / "all" ) ]
//!            / "scheme:" name / "advisory:" name
//! comparison = ">" / ">=" / "<" / "<=" / "=" / "!="
//! number     = 1*DIGIT, before "%" with up to seven decimals
//! ```
//!
//! Spaces may stand between any two words of it.

use std::ops::Range;

use urlsift::escape::printable;
use urlsift::{Advisory, Grammar};

use super::super::hint::did_you_mean;
use super::{By, Comparison, Gate, Limit, Measure, WHOLE};

/// What is wrong with a condition, and with which of its bytes.
struct Wrong {
    at: Range<usize>,
    why: String,
}

/// The conditions that `text` has.
///
/// # Errors
/// What is wrong, and below it the text with the bytes that it is about marked.
pub(super) fn parse(text: &str) -> Result<Vec<Gate>, String> {
    let mut reader = Reader { text, at: 0 };
    let mut gates = Vec::new();
    loop {
        match reader.condition() {
            Ok(gate) => gates.push(gate),
            Err(wrong) => {
                let wrong = gates.last().and_then(|gate| in_groups(text, gate, &wrong)).unwrap_or(wrong);
                return Err(marked(text, &wrong));
            }
        }
        if !reader.takes(",") {
            return Ok(gates);
        }
    }
}

/// A better word on what is `wrong` behind the comma that follows `gate`: its number goes on there, in groups of three digits.
fn in_groups(text: &str, gate: &Gate, wrong: &Wrong) -> Option<Wrong> {
    let Limit::Count(count) = gate.limit else { return None };
    let first = count.to_string();
    let behind = &text[wrong.at.start..];
    let len = behind.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(behind.len());
    let groups = behind[..len].trim_end_matches(',');
    let whole = format!("{first},{groups}");
    // Nothing but the comma stands between the two.
    let is_number = groups.split(',').all(|group| group.len() == 3)
        && text[..wrong.at.start].ends_with(&format!("{first},"));
    is_number.then(|| Wrong {
        at: wrong.at.start - first.len() - 1..wrong.at.start + groups.len(),
        why: format!("a comma begins another condition; write {}", whole.replace(',', "")),
    })
}

/// The sentence, and the text with a mark below the bytes that the sentence is about.
fn marked(text: &str, wrong: &Wrong) -> String {
    let width = |range: Range<usize>| printable(&text.as_bytes()[range]).chars().count();
    let (indent, len) = (width(0..wrong.at.start), width(wrong.at.clone()).max(1));
    let shown = printable(text.as_bytes());
    format!("{}\n\n  {shown}\n  {}{}", wrong.why, " ".repeat(indent), "^".repeat(len))
}

const MEASURES: [&str; 9] =
    ["refused", "accepted", "scheme", "relative", "advisory", "lines", "judged", "blank", "cr"];

const COMPARISONS: [(&str, Comparison); 6] = [
    (">=", Comparison::AtLeast),
    (">", Comparison::More),
    ("<=", Comparison::AtMost),
    ("<", Comparison::Less),
    ("!=", Comparison::Other),
    ("=", Comparison::Equal),
];

/// What is typed for a comparison, longest first, and what it is here.
const MISTAKEN: [(&str, &str); 9] = [
    ("===", "="),
    ("!==", "!="),
    ("==", "="),
    ("=>", ">="),
    ("=<", "<="),
    ("<>", "!="),
    ("\u{2265}", ">="),
    ("\u{2264}", "<="),
    ("\u{2260}", "!="),
];

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Goes on behind `sign`, if that comes next.
    fn takes(&mut self, sign: &str) -> bool {
        self.skip_spaces();
        let found = self.text[self.at..].starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    /// The longest run of characters that `is_part` takes; may be empty.
    fn word(&mut self, is_part: fn(char) -> bool) -> (&'a str, Range<usize>) {
        self.skip_spaces();
        let rest = &self.text[self.at..];
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let range = self.at..self.at + len;
        self.at = range.end;
        (&rest[..len], range)
    }

    /// The name that comes next.
    fn name(&mut self) -> (&'a str, Range<usize>) {
        self.word(|c| !c.is_whitespace() && !",:<>=!\u{2265}\u{2264}\u{2260}".contains(c))
    }

    fn condition(&mut self) -> Result<Gate, Wrong> {
        self.skip_spaces();
        let start = self.at;
        let measure = self.measure()?;
        self.check_comparison()?;
        let found = COMPARISONS.iter().find(|(sign, _)| self.takes(sign));
        let (comparison, limit) = match found {
            Some(&(_, comparison)) => (comparison, self.limit(&measure)?),
            None => (Comparison::More, Limit::Count(0)),
        };
        let text = self.text[start..self.at].trim_end().to_owned();
        self.skip_spaces();
        let rest = &self.text[self.at..];
        if !rest.is_empty() && !rest.starts_with(',') {
            let why = match found {
                None => {
                    "expected a comparison (> >= < <= = !=) with a number, or a comma and another condition"
                }
                Some(_) => "expected a comma and another condition, or the end",
            };
            return Err(self.wrong_here(why));
        }
        Ok(Gate { text, measure, comparison, limit })
    }

    /// # Errors
    /// When what comes next is no comparison, but looks like one.
    fn check_comparison(&mut self) -> Result<(), Wrong> {
        self.skip_spaces();
        let rest = &self.text[self.at..];
        MISTAKEN.iter().find(|(typed, _)| rest.starts_with(typed)).map_or(Ok(()), |(typed, meant)| {
            Err(Wrong {
                at: self.at..self.at + typed.len(),
                why: format!("no such comparison; write {meant}"),
            })
        })
    }

    /// The error that something else was expected here.
    fn wrong_here(&self, why: &str) -> Wrong {
        let len = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        Wrong { at: self.at..self.at + len, why: why.to_owned() }
    }

    fn measure(&mut self) -> Result<Measure, Wrong> {
        let (name, at) = self.name();
        let qualifier = self.takes(":").then(|| self.name());
        let plain = |measure| match &qualifier {
            None => Ok(measure),
            Some((_, of)) => {
                Err(Wrong { at: at.end..of.end, why: format!("{name} is not divided; write {name} alone") })
            }
        };
        match name {
            "lines" => plain(Measure::Lines),
            "blank" => plain(Measure::Blank),
            "cr" => plain(Measure::Cr),
            "judged" => plain(Measure::Judged),
            "relative" => plain(Measure::Relative),
            "refused" => Ok(Measure::Refused(by(qualifier)?)),
            "accepted" => Ok(Measure::Accepted(by(qualifier)?)),
            "scheme" => scheme(qualifier.unwrap_or(("", at.end..at.end))),
            "advisory" => advisory(qualifier.unwrap_or(("", at.end..at.end))),
            "" => Err(self.wrong_here(&format!("expected what is counted: {}", MEASURES.join(", ")))),
            _ => Err(unknown("measure", name, at, &MEASURES)),
        }
    }

    fn limit(&mut self, measure: &Measure) -> Result<Limit, Wrong> {
        let (number, at) = self.word(|c| c.is_ascii_alphanumeric() || "._-+".contains(c));
        if !self.takes("%") {
            let is_count = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            let why = if is_count {
                "the number is too large"
            } else {
                "expected a count of lines, such as 100, or a share, such as 0.5%"
            };
            return number
                .parse()
                .ok()
                .filter(|_| is_count)
                .map(Limit::Count)
                .ok_or(Wrong { at, why: why.to_owned() });
        }
        if !measure.has_shares() {
            let why = "lines is the whole, which has no share; give a count".to_owned();
            return Err(Wrong { at: at.start..self.at, why });
        }
        let why = "expected a share from 0% to 100%, with at most seven decimals".to_owned();
        share(number).map(Limit::Share).ok_or(Wrong { at, why })
    }
}

/// A share in per cent, with decimals or without, in parts of [`WHOLE`].
fn share(percent: &str) -> Option<u64> {
    let (whole, decimals) = percent.split_once('.').unwrap_or((percent, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && decimals.is_empty()) || !digits(whole) || !digits(decimals) || decimals.len() > 7
    {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let decimals: u64 = format!("{decimals:0<7}").parse().ok()?;
    let parts = whole.checked_mul(WHOLE / 100)?.checked_add(decimals)?;
    (parts <= WHOLE).then_some(parts)
}

fn by(qualifier: Option<(&str, Range<usize>)>) -> Result<By, Wrong> {
    let Some((name, at)) = qualifier else { return Ok(By::Chosen) };
    match name {
        "any" => Ok(By::Any),
        "all" => Ok(By::All),
        _ => name.parse().map(By::One).map_err(|_| {
            let names = Grammar::ALL.map(Grammar::name);
            unknown("grammar", name, at, &[&names[..], &["any", "all"]].concat())
        }),
    }
}

fn scheme((name, at): (&str, Range<usize>)) -> Result<Measure, Wrong> {
    let is_scheme =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if name.is_empty() || !is_scheme(name) {
        let why = "expected the name of a scheme, such as scheme:http: letters, digits, + - and .".to_owned();
        return Err(Wrong { at, why });
    }
    Ok(Measure::Scheme(name.to_ascii_lowercase()))
}

fn advisory((name, at): (&str, Range<usize>)) -> Result<Measure, Wrong> {
    let found = Advisory::ALL.iter().find(|advisory| advisory.name() == name);
    let names = || Advisory::ALL.iter().map(|advisory| advisory.name()).collect::<Vec<_>>();
    found.map(|&advisory| Measure::Advisory(advisory)).ok_or_else(|| unknown("advisory", name, at, &names()))
}

/// The error that `name` is none of `names`.
fn unknown(kind: &str, name: &str, at: Range<usize>, names: &[&str]) -> Wrong {
    let hint = did_you_mean(name, names).unwrap_or_else(|| format!("one of {}", names.join(", ")));
    Wrong { at, why: format!("no such {kind}; {hint}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_mean_what_they_say() {
        let one = |text: &str| {
            let mut gates = parse(text).unwrap();
            assert_eq!(gates.len(), 1, "{text}");
            let gate = gates.remove(0);
            (gate.measure, gate.comparison, gate.limit)
        };
        let count = |n| (Comparison::More, Limit::Count(n));
        let share = |n| (Comparison::More, Limit::Share(n));
        for (text, measure, (comparison, limit)) in [
            ("refused", Measure::Refused(By::Chosen), count(0)),
            (" refused > 12 ", Measure::Refused(By::Chosen), count(12)),
            ("refused>0.1%", Measure::Refused(By::Chosen), share(1_000_000)),
            ("refused>.5 %", Measure::Refused(By::Chosen), share(5_000_000)),
            ("refused>100%", Measure::Refused(By::Chosen), share(WHOLE)),
            ("refused:rfc1738>12", Measure::Refused(By::One(Grammar::Rfc1738)), count(12)),
            (
                "accepted : any < 99%",
                Measure::Accepted(By::Any),
                (Comparison::Less, Limit::Share(990_000_000)),
            ),
            ("accepted:all!=1", Measure::Accepted(By::All), (Comparison::Other, Limit::Count(1))),
            ("scheme:HTTP", Measure::Scheme("http".to_owned()), count(0)),
            ("scheme:z39.50<=3", Measure::Scheme("z39.50".to_owned()), (Comparison::AtMost, Limit::Count(3))),
            ("advisory:password", Measure::Advisory(Advisory::Password), count(0)),
            ("blank>5%", Measure::Blank, share(50_000_000)),
            ("lines<1000", Measure::Lines, (Comparison::Less, Limit::Count(1000))),
            ("judged>=7", Measure::Judged, (Comparison::AtLeast, Limit::Count(7))),
            ("relative=0", Measure::Relative, (Comparison::Equal, Limit::Count(0))),
            ("cr", Measure::Cr, count(0)),
        ] {
            assert_eq!(one(text), (measure, comparison, limit), "{text}");
        }
        let texts: Vec<_> =
            parse("refused > 1 , lines<5,cr").unwrap().into_iter().map(|gate| gate.text).collect();
        assert_eq!(texts, ["refused > 1", "lines<5", "cr"]);
    }

    #[test]
    fn errors_say_where() {
        for (text, why, mark) in [
            ("", "expected what is counted", "^"),
            ("refused>1,", "expected what is counted", "          ^"),
            ("refusd>1", "no such measure; did you mean refused?", "^^^^^^"),
            ("nonsense", "no such measure; one of refused, accepted", "^^^^^^^^"),
            ("refused:rfc173>12", "no such grammar; did you mean rfc1738?", "        ^^^^^^"),
            ("refused:>12", "no such grammar; one of draft1993", "        ^"),
            ("advisory", "no such advisory; one of password", "        ^"),
            ("advisory:pasword", "no such advisory; did you mean password?", "         ^^^^^^^"),
            ("scheme>0", "expected the name of a scheme", "      ^"),
            ("scheme:h_p", "expected the name of a scheme", "       ^^^"),
            ("blank:http", "blank is not divided", "     ^^^^^"),
            ("refused>", "expected a count of lines", "        ^"),
            ("refused>x", "expected a count of lines", "        ^"),
            ("refused>-1", "expected a count of lines", "        ^^"),
            ("refused==1", "no such comparison; write =", "       ^^"),
            ("refused =>1", "no such comparison; write >=", "        ^^"),
            ("refused=<1", "no such comparison; write <=", "       ^^"),
            ("refused<>1", "no such comparison; write !=", "       ^^"),
            ("refused\u{2265}1", "no such comparison; write >=", "       ^"),
            ("refused>1,000", "a comma begins another condition; write 1000", "        ^^^^^"),
            (
                "blank,refused>1,000,000,cr",
                "a comma begins another condition; write 1000000",
                "              ^^^^^^^^^",
            ),
            ("refused>1,00", "no such measure", "          ^^"),
            ("refused>1%,000", "no such measure", "           ^^^"),
            ("refused>99999999999999999999", "the number is too large", "        ^^^^^^^^^^^^^^^^^^^^"),
            ("refused>101%", "expected a share from 0% to 100%", "        ^^^"),
            ("refused>%", "expected a share", "        ^"),
            ("refused>1e3%", "expected a share", "        ^^^"),
            ("refused>0.12345678%", "expected a share", "        ^^^^^^^^^^"),
            ("lines>5%", "lines is the whole", "      ^^"),
            ("refused 5", "expected a comparison", "        ^"),
            ("refused>5 lines", "expected a comma", "          ^"),
            ("refused>5%%", "expected a comma", "          ^"),
            ("\u{e9}\x1b", "no such measure", "^^^^^"),
        ] {
            let error = parse(text).unwrap_err();
            let lines: Vec<_> = error.lines().collect();
            assert!(lines[0].starts_with(why), "{text}: {error}");
            assert_eq!(
                (lines[2], lines[3]),
                (&*format!("  {}", printable(text.as_bytes())), &*format!("  {mark}")),
                "{text}"
            );
            assert!(!error.contains('\x1b'));
        }
    }
}
