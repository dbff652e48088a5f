//! Serializes a whole tally, so that it can be merged elsewhere, and reads it back. What is read is not trusted:
//! [`Tally::check`] decides whether it is possible.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Tally;
use crate::tally::by_input::InputLines;
use crate::tally::by_verdict::ByVerdict;
use crate::tally::defects::FoundDefect;
use crate::tally::optional::OptionalCounts;
use crate::tally::whatwg::WhatwgCounts;
use urlsift_engine::example::{Example, Found, MAX_EXAMPLE_LEN, MAX_EXAMPLES};
use urlsift_engine::place::Extent;
use urlsift_grammar::advisory::Advisory;
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;
use urlsift_grammar::escape::{MASK, printable};
use urlsift_grammar::scheme::KNOWN;
use urlsift_grammar::{Grammar, Verdict};
use urlsift_records::input_signs::Signs;

/// Upper bound of the bytes of all inputs, which ensures that no count of lines overflows.
pub(crate) const MAX_BYTES: u64 = 1 << 62;

/// A tally, field by field.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TallyFields {
    blank: u64,
    cr: u64,
    byte_order_marks: u64,
    /// The schemes that have lines, by name.
    schemes: BTreeMap<String, ByVerdict>,
    unnamed_schemes: ByVerdict,
    relative: ByVerdict,
    /// The key is the bits of the verdict. Verdicts without examples are left out.
    examples: Vec<(u8, Vec<Example>)>,
    defects: Vec<(Component, Cause, Found)>,
    advisories: Vec<(Advisory, Found)>,
    census: OptionalCounts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whatwg: Option<Box<WhatwgCounts>>,
    runs: Vec<Extent>,
    signs: BTreeMap<u32, Signs>,
    by_input: BTreeMap<u32, InputLines>,
}

impl From<Tally> for TallyFields {
    fn from(tally: Tally) -> Self {
        let schemes =
            tally.schemes().into_iter().map(|(name, counts)| (name.to_owned(), counts.clone())).collect();
        let examples = Verdict::all()
            .map(|verdict| (verdict.bits(), tally.first(verdict).to_vec()))
            .filter(|(_, all)| !all.is_empty());
        let defects = tally
            .defects
            .iter()
            .map(|FoundDefect { component, cause, found }| (component, cause, found.clone()));
        Self {
            blank: tally.blank,
            cr: tally.cr,
            byte_order_marks: tally.boms,
            schemes,
            unnamed_schemes: tally.unnamed_schemes().clone(),
            relative: tally.relative.clone(),
            examples: examples.collect(),
            defects: defects.collect(),
            advisories: tally.advisories().map(|(advisory, found)| (advisory, found.clone())).collect(),
            runs: tally.runs,
            signs: tally.signs,
            by_input: tally.by_input,
            census: tally.census,
            whatwg: tally.whatwg,
        }
    }
}

impl TryFrom<TallyFields> for Tally {
    type Error = String;

    fn try_from(state: TallyFields) -> Result<Self, String> {
        let mut tally =
            Self { blank: state.blank, cr: state.cr, boms: state.byte_order_marks, ..Self::default() };
        for (name, counts) in &state.schemes {
            match KNOWN.iter().position(|known| known.name == name) {
                Some(known) => tally.known[known] = counts.clone(),
                None => tally.others.add(name, counts)?,
            }
        }
        tally.others.unnamed = state.unnamed_schemes;
        tally.relative = state.relative;
        for (bits, examples) in state.examples {
            let firsts = tally.firsts.get_mut(usize::from(bits));
            *firsts.ok_or_else(|| format!("no verdict has the bits {bits}"))? = examples;
        }
        for (component, cause, found) in state.defects {
            *tally.defects.get_mut(component, cause) = found;
        }
        for (advisory, found) in state.advisories {
            tally.advisories[advisory as usize] = found;
        }
        tally.census = state.census;
        tally.whatwg = state.whatwg;
        tally.runs = state.runs;
        tally.signs = state.signs;
        tally.by_input = state.by_input;
        Ok(tally)
    }
}

/// Gives new numbers to the inputs of a map. The new numbers must be distinct.
pub(crate) fn renumber<T>(map: &mut BTreeMap<u32, T>, number: &dyn Fn(u32) -> u32) {
    *map = std::mem::take(map).into_iter().map(|(input, of)| (number(input), of)).collect();
}

impl Tally {
    /// Checks that this can be the tally of lines judged with `grammar`, all in inputs for which `is_input` holds.
    /// `wants_whatwg` says whether WHATWG levels were asked for. Nothing derived from a tally that passes can overflow.
    ///
    /// # Errors
    /// The reason why the tally is impossible.
    pub(crate) fn check(
        &self,
        grammar: Grammar,
        wants_whatwg: bool,
        is_input: impl Fn(u32) -> bool,
    ) -> Result<(), String> {
        let is_run = |run: &Extent| {
            // Each value or null has at least a byte.
            let (len, bytes) = (run.end.saturating_sub(run.start), run.bytes());
            is_input(run.input) && len > 0 && run.lines <= len && len <= bytes
        };
        let are_runs = self.runs.iter().all(is_run);
        let are_apart =
            self.runs.windows(2).all(|pair| (pair[0].input, pair[0].end) < (pair[1].input, pair[1].start));
        let bytes: u128 = self.runs.iter().map(|run| u128::from(run.bytes())).sum();
        if !are_runs
            || !are_apart
            || bytes > MAX_BYTES.into()
            || self.signs.keys().any(|&input| !is_input(input))
        {
            return Err("stretches that cannot have been read".to_owned());
        }
        let bytes = u64::try_from(bytes).map_err(|_| "too many bytes".to_owned())?;
        let all = self.known.iter().chain(self.others.names().map(|(_, counts)| counts));
        let all = all.chain([&self.others.unnamed, &self.relative]);
        let judged: u128 = all.flat_map(ByVerdict::sets).map(|(_, lines)| u128::from(lines)).sum();
        // The limit is not `bytes`, because a field may be selected any number of times and is counted each time.
        let judged = u64::try_from(judged).ok().filter(|&judged| judged.max(self.blank) <= MAX_BYTES);
        let judged = judged.ok_or_else(|| "more lines than can be counted".to_owned())?;
        if self.cr > judged + self.blank || self.boms > bytes {
            return Err("more line ends than bytes".to_owned());
        }
        let refused = judged - self.judged().accepted(grammar);
        let of_defects: u128 = self.defects.values().map(|found| u128::from(found.lines)).sum();
        if of_defects != refused.into() || self.advisories.iter().any(|found| found.lines > judged) {
            return Err(format!("{of_defects} lines with defects, of {refused} that {grammar} refuses"));
        }
        let of_inputs: u128 = self.by_input.values().map(|lines| u128::from(lines.judged)).sum();
        let are_possible =
            self.by_input.iter().all(|(&input, lines)| is_input(input) && lines.is_possible(grammar));
        if of_inputs != judged.into() || !are_possible {
            return Err(format!("{of_inputs} judged lines of inputs, of {judged} in all"));
        }
        let founds = self.defects.values().chain(&self.advisories);
        if founds.clone().any(|found| found.examples.len() as u64 > found.lines) {
            return Err("more examples than lines".to_owned());
        }
        match &self.whatwg {
            None if wants_whatwg && judged > 0 => return Err("no WHATWG levels".to_owned()),
            Some(_) if !wants_whatwg => return Err("WHATWG levels that nobody asked for".to_owned()),
            counts => counts.iter().try_for_each(|counts| counts.check(&self.judged()))?,
        }
        let lists = founds.map(|found| &found.examples).chain(self.firsts.iter());
        let mut lists = lists.chain(self.whatwg.iter().flat_map(|counts| counts.example_lists()));
        lists.try_for_each(|examples| are_examples(examples, &is_input))?;
        self.census.check(judged, MAX_BYTES, is_input)
    }

    /// Gives new numbers to inputs, which must be distinct. Name counts of inputs that have ended keep
    /// the old number.
    pub(crate) fn renumber(&mut self, number: &dyn Fn(u32) -> u32) {
        for examples in self.example_lists_mut() {
            for example in examples.iter_mut() {
                example.place.input = number(example.place.input);
            }
            examples.sort_by_key(|example| example.place);
        }
        self.census.renumber(number);
        self.runs.iter_mut().for_each(|run| run.input = number(run.input));
        self.runs.sort_unstable();
        renumber(&mut self.signs, number);
        renumber(&mut self.by_input, number);
    }

    /// The examples of all kinds of lines, each kind by place.
    fn example_lists_mut(&mut self) -> impl Iterator<Item = &mut Vec<Example>> {
        let founds = self.defects.values_mut().chain(&mut self.advisories);
        let whatwg = self.whatwg.iter_mut().flat_map(|counts| counts.example_lists_mut());
        founds.map(|found| &mut found.examples).chain(self.firsts.iter_mut()).chain(whatwg)
    }

    /// All examples, mutable, so that text that must not be shown can be replaced.
    pub(crate) fn examples_mut(&mut self) -> impl Iterator<Item = &mut Example> {
        self.example_lists_mut().flatten()
    }
}

/// Checks that these can be the first examples of one kind.
fn are_examples(examples: &[Example], is_input: impl Fn(u32) -> bool) -> Result<(), String> {
    let is_one = |example: &Example| {
        let len = example.text.len();
        let are_secrets =
            example.secrets.iter().all(|secret| secret.start <= secret.end && secret.end <= len)
                && example.secrets.windows(2).all(|pair| pair[0].end <= pair[1].start);
        let is_there = is_input(example.place.input) && example.place.offset < MAX_BYTES;
        let is_placed = example.line > 0 && example.line <= MAX_BYTES && example.skipped <= example.at;
        // A mask can be longer than its password.
        let fits = example.mark <= len && len <= MAX_EXAMPLE_LEN * MASK.len();
        let hosts = example.hosts.iter().flat_map(|hosts| [&hosts.rfc3986, &hosts.browsers]);
        let mut hosts = hosts.map(|host| printable(host.as_bytes()) == **host);
        is_there && is_placed && are_secrets && fits && hosts.all(|is_safe| is_safe)
    };
    let ascending = examples.windows(2).all(|pair| pair[0].place <= pair[1].place);
    if examples.len() <= MAX_EXAMPLES && ascending && examples.iter().all(is_one) {
        Ok(())
    } else {
        Err("examples that cannot be".to_owned())
    }
}
