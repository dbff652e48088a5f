//! The notation of the five grammar files: regular expressions over bytes, whose parts have names.
//!
//! A grammar file (`src/rules/*.rs`) is one [`rules!`] block. Each rule has the document's own text as its doc comment, and
//! repeats it in Rust: `a + b` is a sequence, `a | b` a choice, and a string is a literal. [`opt`], [`many`] and [`some`] are `[ ]`, `*`
//! and `1*`. The library contains the text too, and shows it to a user whose line breaks the rule.

use std::ops::{Add, BitOr};
use std::rc::Rc;

/// A set of bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ByteSet(pub [u64; 4]);

impl ByteSet {
    pub(crate) const EMPTY: Self = Self([0; 4]);

    pub(crate) fn of(bytes: impl IntoIterator<Item = u8>) -> Self {
        let mut set = Self::EMPTY;
        for byte in bytes {
            set.0[usize::from(byte) / 64] |= 1 << (byte % 64);
        }
        set
    }

    /// Returns whether `byte` is in the set.
    pub const fn has(&self, byte: u8) -> bool {
        self.0[byte as usize / 64] >> (byte % 64) & 1 == 1
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
}

/// Everything about a rule except its expression.
pub struct Name {
    /// The rule as its document prints it, one line per line of the comment.
    pub text: &'static str,
    /// The section of the document that contains the rule, such as `3.2.2`.
    pub section: &'static str,
    /// The variant of `Component` for a defect inside this rule. With `Parts`, the delimiters of the line decide. With `None`, the
    /// enclosing rule decides.
    pub component: Option<&'static str>,
    /// Whether the rule is the percent escape.
    pub escape: bool,
}

/// A regular expression over bytes.
#[derive(Clone)]
pub enum Rule {
    One(ByteSet),
    Sequence(Vec<Rule>),
    Either(Vec<Rule>),
    Many(Box<Rule>),
    Named(&'static Name, Box<Rule>),
    /// A recursive rule, which refers to itself at its end. The `Rc` identifies it among the enclosing recursive rules.
    Recur(Rc<()>, Box<Rule>),
    /// The reference of a recursive rule to itself.
    Again(Rc<()>),
    /// One or more bytes of the set that do not spell one of the words, ignoring letter case.
    OtherThan(ByteSet, &'static [&'static str]),
}

impl From<&str> for Rule {
    fn from(literal: &str) -> Self {
        let mut bytes: Vec<_> = literal.bytes().map(|byte| Self::One(ByteSet::of([byte]))).collect();
        if bytes.len() == 1 { bytes.remove(0) } else { Self::Sequence(bytes) }
    }
}

fn sequence(first: Rule, second: Rule) -> Rule {
    let mut parts = match first {
        Rule::Sequence(parts) => parts,
        one => vec![one],
    };
    parts.push(second);
    Rule::Sequence(parts)
}

fn either(first: Rule, second: Rule) -> Rule {
    match (first, second) {
        (Rule::One(a), Rule::One(b)) => Rule::One(a.union(b)),
        (Rule::Either(mut all), Rule::One(b)) => {
            // Merge the byte sets of a choice: the language is the same, and the automaton has fewer nodes.
            match all.iter_mut().find_map(|rule| if let Rule::One(a) = rule { Some(a) } else { None }) {
                Some(a) => *a = a.union(b),
                None => all.push(Rule::One(b)),
            }
            Rule::Either(all)
        }
        (Rule::Either(mut all), other) => {
            all.push(other);
            Rule::Either(all)
        }
        (one, other) => Rule::Either(vec![one, other]),
    }
}

impl<R: Into<Rule>> Add<R> for Rule {
    type Output = Rule;
    fn add(self, next: R) -> Rule {
        sequence(self, next.into())
    }
}
impl Add<Rule> for &str {
    type Output = Rule;
    fn add(self, next: Rule) -> Rule {
        sequence(self.into(), next)
    }
}
impl<R: Into<Rule>> BitOr<R> for Rule {
    type Output = Rule;
    fn bitor(self, other: R) -> Rule {
        either(self, other.into())
    }
}
impl BitOr<Rule> for &str {
    type Output = Rule;
    fn bitor(self, other: Rule) -> Rule {
        either(self.into(), other)
    }
}

/// The empty text.
pub fn void() -> Rule {
    Rule::Sequence(Vec::new())
}

/// A literal, compared byte for byte. Needed for a choice that begins with two literals.
pub fn lit(literal: &str) -> Rule {
    literal.into()
}

/// Any one byte of `bytes`.
pub fn any(bytes: &str) -> Rule {
    Rule::One(ByteSet::of(bytes.bytes()))
}

/// One byte from `first` to `last`.
pub fn range(first: char, last: char) -> Rule {
    Rule::One(ByteSet::of(first as u8..=last as u8))
}

/// The rule or nothing: `[ rule ]`, `O(rule)`.
pub fn opt(rule: impl Into<Rule>) -> Rule {
    either(rule.into(), void())
}

/// The rule any number of times: `*rule`.
pub fn many(rule: impl Into<Rule>) -> Rule {
    Rule::Many(Box::new(rule.into()))
}

/// The rule once or more: `1*rule`, `N(rule)`.
pub fn some(rule: impl Into<Rule>) -> Rule {
    let rule = rule.into();
    rule.clone() + many(rule)
}

/// The rule from `least` to `most` times: `<least>*<most>rule`.
pub fn times(least: usize, most: usize, rule: impl Into<Rule>) -> Rule {
    let rule = rule.into();
    let optional = (least..most).fold(void(), |rest, _| opt(rule.clone() + rest));
    (0..least).fold(void(), |sequence, _| sequence + rule.clone()) + optional
}

/// A recursive rule. It may refer to itself only at its end, so that the language is regular.
pub fn recur(rule: impl FnOnce(Rule) -> Rule) -> Rule {
    let id = Rc::new(());
    Rule::Recur(id.clone(), Box::new(rule(Rule::Again(id))))
}

static SCHEME_NAME: Name = Name { text: "", section: "", component: Some("Scheme"), escape: false };

/// The literal name of a scheme, ignoring letter case (SPEC A5), and the ":" after it.
///
/// # Panics
/// When `name` does not end in ":".
pub fn scheme_name(name: &str) -> Rule {
    let letters = name.strip_suffix(':').expect("a scheme ends at its colon").bytes();
    let folded =
        letters.map(|byte| Rule::One(ByteSet::of([byte.to_ascii_lowercase(), byte.to_ascii_uppercase()])));
    Rule::Named(&SCHEME_NAME, Box::new(Rule::Sequence(folded.collect()))) + ":"
}

/// One or more bytes of `set` that do not spell one of `words`, ignoring letter case.
///
/// # Panics
/// When `set` is more than a set of bytes.
#[allow(clippy::needless_pass_by_value, reason = "as all operations on rules")]
pub fn other_than(words: &'static [&'static str], set: Rule) -> Rule {
    let Rule::One(set) = set else { panic!("other_than takes a set of bytes") };
    Rule::OtherThan(set, words)
}

/// Gives an expression its name.
pub fn named(name: &'static Name, rule: Rule) -> Rule {
    Rule::Named(name, Box::new(rule))
}

/// Declares the rules of a document in its order.
///
/// - `section "…";` names the section of the rules that follow.
/// - `rule NAME = …;` is a rule that is shown to users.
/// - `rule NAME in COMPONENT = …;` also names the component of a defect in the rule. `in Parts` is for a rule that contains
///   several components.
/// - `token NAME = …;` is a detail that users do not see, such as a set of characters.
/// - `escape NAME = …;` is the percent escape.
macro_rules! rules {
    (@ $section:literal;) => {};
    (@ $old:literal; section $section:literal; $($rest:tt)*) => { rules! { @ $section; $($rest)* } };
    (@ $section:literal; $(#[doc = $text:literal])+ token $name:ident = $body:expr; $($rest:tt)*) => {
        $(#[doc = $text])+
        #[allow(dead_code, reason = "some rules of a document are not reached from its top")]
        pub fn $name() -> Rule { Rule::from($body) }
        rules! { @ $section; $($rest)* }
    };
    (@ $section:literal; $(#[doc = $text:literal])+ $kind:ident $name:ident $(in $component:ident)? = $body:expr; $($rest:tt)*) => {
        $(#[doc = $text])+
        #[allow(dead_code, reason = "some rules of a document are not reached from its top")]
        pub fn $name() -> Rule {
            static NAME: Name = Name {
                text: concat!($($text, "\n"),+),
                section: $section,
                component: rules!(@component $($component)?),
                escape: rules!(@kind $kind),
            };
            named(&NAME, Rule::from($body))
        }
        rules! { @ $section; $($rest)* }
    };
    (@component) => { None };
    (@component $component:ident) => { Some(stringify!($component)) };
    (@kind rule) => { false };
    (@kind escape) => { true };
    (section $($rest:tt)*) => { rules! { @ ""; section $($rest)* } };
}
pub(crate) use rules;
