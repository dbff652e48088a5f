//! What the rules are written in: the operations of BNF as methods, chained in the order of reading.
//!
//! A rule is a function from "where we are" to "where we can be after it", so that sequence is composition
//! and `a b [ c ]` reads `at.then(a).then(b).opt(c)`. What "where" means is left to the two implementations.
//! No rule calls itself: the documents' only recursions are `x = item [ link x ]`, which is [`At::chain`].

/// Where a derivation stands: a set of positions in a line, or the end of a line being drawn.
pub trait At: Sized {
    /// The literal, byte for byte.
    fn lit(&self, text: &str) -> Self;

    /// The literal, its letters in either case. For scheme names, for the draft's "url:" (A5) and for ABNF's
    /// strings.
    fn lit_nocase(&self, text: &str) -> Self;

    /// One byte of the set.
    fn one(&self, set: fn(u8) -> bool) -> Self;

    /// One of these bytes: `"a" | "b" | "c"` is `any_of("abc")`.
    fn any_of(&self, bytes: &str) -> Self;

    /// The rule, once.
    fn then(&self, rule: impl Fn(&Self) -> Self) -> Self;

    /// The rule or nothing: `[ rule ]`.
    fn opt(&self, rule: impl Fn(&Self) -> Self) -> Self;

    /// The rule zero or more times: `*rule`.
    fn many(&self, rule: impl Fn(&Self) -> Self) -> Self;

    /// The rule from `min` to `max` times: `min*max rule`.
    fn times(&self, min: usize, max: usize, rule: impl Fn(&Self) -> Self) -> Self;

    /// Any one of the rules; their order has no meaning.
    fn alt(&self, rules: &[fn(&Self) -> Self]) -> Self;

    /// The rule, except where the text it derives is one of `names`, in whatever case (A15).
    fn unless(&self, names: &[&str], rule: impl Fn(&Self) -> Self) -> Self;

    /// The rule one or more times: `1*rule`.
    fn many1(&self, rule: impl Fn(&Self) -> Self) -> Self {
        self.then(&rule).many(&rule)
    }

    /// The right-recursive rule `x = item [ link x ]`, which is `item *( link item )`.
    fn chain(&self, item: impl Fn(&Self) -> Self, link: impl Fn(&Self) -> Self) -> Self {
        self.then(&item).many(|p| p.then(&link).then(&item))
    }
}
