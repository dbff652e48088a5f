//! What somebody may have meant who typed a name that there is not.

/// How alike two names have to be, of 1: as alike as clap asks of options.
const ALIKE: f64 = 0.7;

/// A question for the name that is most like `typed`, if one is like it at all.
pub(crate) fn did_you_mean(typed: &str, names: &[&str]) -> Option<String> {
    let typed = typed.to_ascii_lowercase();
    let likeness = |name: &&&str| strsim::jaro(&typed, name);
    let nearest = names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&nearest) > ALIKE).then(|| format!("did you mean {nearest}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["refused", "accepted", "relative"];
        assert_eq!(did_you_mean("Refusd", &names).as_deref(), Some("did you mean refused?"));
        assert_eq!(did_you_mean("xyz", &names), None);
        assert_eq!(did_you_mean("", &names), None);
    }
}
