//! `--fail-on`: limits that make the exit status 1 when they are crossed.

use std::str::FromStr;

use urlsift::report::Report;

/// A limit on the lines that the chosen grammar refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    /// How many lines may be refused: of 10^9 judged ones when `share`, or in all.
    limit: u64,
    share: bool,
}

/// Parts of a whole, fine enough for any limit that is typed.
const WHOLE: u64 = 1_000_000_000;

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "expected refused, refused>N or refused>N%, such as refused>0.1%";
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let rest = compact.strip_prefix("refused").ok_or(EXPECTED)?;
        if rest.is_empty() {
            return Ok(Self { limit: 0, share: false });
        }
        let number = rest.strip_prefix('>').ok_or(EXPECTED)?;
        let Some(percent) = number.strip_suffix('%') else {
            let limit =
                number.parse().map_err(|_| format!("{number} is not a count of lines; {EXPECTED}"))?;
            return Ok(Self { limit, share: false });
        };
        let limit =
            share(percent).ok_or_else(|| format!("{percent} is not a share from 0 to 100; {EXPECTED}"))?;
        Ok(Self { limit, share: true })
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

impl Gate {
    /// Whether the report crosses the limit.
    pub(crate) fn is_crossed_by(self, report: &Report) -> bool {
        let refused =
            report.grammars.iter().find(|count| count.id == report.grammar).map_or(0, |count| count.refused);
        if self.share {
            u128::from(refused) * u128::from(WHOLE)
                > u128::from(report.totals.judged) * u128::from(self.limit)
        } else {
            refused > self.limit
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        let gate = |text: &str| text.parse::<Gate>();
        assert_eq!(gate("refused"), Ok(Gate { limit: 0, share: false }));
        assert_eq!(gate("refused > 12"), Ok(Gate { limit: 12, share: false }));
        assert_eq!(gate("refused>0.1%"), Ok(Gate { limit: 1_000_000, share: true }));
        assert_eq!(gate("refused>.5%"), Ok(Gate { limit: 5_000_000, share: true }));
        assert_eq!(gate("refused>100%"), Ok(Gate { limit: WHOLE, share: true }));
        for wrong in [
            "",
            "accepted",
            "refused>",
            "refused>x",
            "refused>-1",
            "refused>101%",
            "refused>%",
            "refused<1",
            "refused>1e3%",
        ] {
            assert!(gate(wrong).is_err(), "{wrong}");
        }
    }
}
