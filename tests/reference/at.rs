//! The operations of BNF as methods, which the rules are written with.
//!
//! A rule is a function from the current place to the place after it. Sequence is therefore composition, and `a b [ c ]` is
//! `at.then(a).then(b).opt(c)`. The two implementations define what a place is. No rule calls itself: the documents' only
//! recursions have the form `x = item [ link x ]`, which is [`At::chain`].

/// The state of a derivation: a set of positions in a line, or the end of a line that is being generated.
pub trait At: Sized {
    /// Matches the literal exactly.
    fn lit(&self, text: &str) -> Self;

    /// Matches the literal, ignoring letter case. For scheme names, for the draft's "url:" (A5) and for strings in ABNF.
    fn lit_nocase(&self, text: &str) -> Self;

    /// Matches one byte of the set.
    fn one(&self, set: fn(u8) -> bool) -> Self;

    /// Matches one of these bytes: `"a" | "b" | "c"` is `any_of("abc")`.
    fn any_of(&self, bytes: &str) -> Self;

    /// Applies the rule once.
    fn then(&self, rule: impl Fn(&Self) -> Self) -> Self;

    /// Applies the rule or nothing: `[ rule ]`.
    fn opt(&self, rule: impl Fn(&Self) -> Self) -> Self;

    /// Applies the rule zero or more times: `*rule`.
    fn many(&self, rule: impl Fn(&Self) -> Self) -> Self;

    /// Applies the rule from `min` to `max` times: `min*max rule`.
    fn times(&self, min: usize, max: usize, rule: impl Fn(&Self) -> Self) -> Self;

    /// Applies any one of the rules. Their order has no meaning.
    fn alt(&self, rules: &[fn(&Self) -> Self]) -> Self;

    /// Applies the rule, unless the text that it derives is one of `names`, ignoring letter case (A15).
    fn unless(&self, names: &[&str], rule: impl Fn(&Self) -> Self) -> Self;

    /// Applies the rule one or more times: `1*rule`.
    fn many1(&self, rule: impl Fn(&Self) -> Self) -> Self {
        self.then(&rule).many(&rule)
    }

    /// The right-recursive rule `x = item [ link x ]`, which is `item *( link item )`.
    fn chain(&self, item: impl Fn(&Self) -> Self, link: impl Fn(&Self) -> Self) -> Self {
        self.then(&item).many(|p| p.then(&link).then(&item))
    }
}
