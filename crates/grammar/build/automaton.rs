//! From rules to automata: one nondeterministic automaton per grammar, made deterministic and minimal, and the product of all five.
//!
//! Each grammar has only a few hundred states, so the textbook algorithms are fast enough. This file does not know what the rules
//! mean.

use std::collections::HashMap;
use std::rc::Rc;

use crate::rule::{ByteSet, Name, Rule};

/// A node of a nondeterministic automaton.
enum Node {
    /// Reads one byte of the set inside the rule instance `path`.
    Byte { set: ByteSet, next: usize, path: usize },
    /// Continues at all of these nodes without reading a byte.
    Split(Vec<usize>),
    /// Accepts the line, if it ends here.
    Accept,
}

/// A rule instance: one rule, reached through certain enclosing rules. The instances form a tree; instance 0 is outside all rules.
struct Path {
    parent: usize,
    name: Option<&'static Name>,
}

/// The nondeterministic automaton of one grammar.
pub struct Nfa {
    nodes: Vec<Node>,
    paths: Vec<Path>,
    start: usize,
}

impl Nfa {
    pub fn of(rule: &Rule) -> Self {
        let paths = vec![Path { parent: 0, name: None }];
        let mut nfa = Self { nodes: vec![Node::Accept], paths, start: 0 };
        nfa.start = nfa.build(rule, 0, 0, &mut Vec::new());
        nfa
    }

    fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Builds the nodes that read `rule` and continue at `next`, and returns the first. `around` lists the enclosing recursive
    /// rules: their mark, their first node and the node after them.
    fn build(
        &mut self,
        rule: &Rule,
        next: usize,
        path: usize,
        around: &mut Vec<(Rc<()>, usize, usize)>,
    ) -> usize {
        match rule {
            Rule::One(set) => self.push(Node::Byte { set: *set, next, path }),
            Rule::Sequence(rules) => {
                rules.iter().rfold(next, |next, rule| self.build(rule, next, path, around))
            }
            Rule::Either(rules) => {
                let starts = rules.iter().map(|rule| self.build(rule, next, path, around)).collect();
                self.push(Node::Split(starts))
            }
            Rule::Many(rule) => {
                let turn = self.push(Node::Split(Vec::new()));
                let body = self.build(rule, turn, path, around);
                self.nodes[turn] = Node::Split(vec![body, next]);
                turn
            }
            Rule::Named(name, rule) => {
                let path = self.enter(path, name);
                self.build(rule, next, path, around)
            }
            Rule::Recur(mark, rule) => {
                let again = self.push(Node::Split(Vec::new()));
                around.push((mark.clone(), again, next));
                let body = self.build(rule, next, path, around);
                around.pop();
                self.nodes[again] = Node::Split(vec![body]);
                again
            }
            Rule::Again(mark) => {
                let found = around.iter().rev().find(|(other, ..)| Rc::ptr_eq(mark, other));
                let (_, again, after) = found.expect("a rule mentions itself only inside itself");
                assert_eq!(*after, next, "a rule mentions itself only at its end");
                *again
            }
            Rule::OtherThan(set, words) => self.build_other_than(*set, words, next, path),
        }
    }

    /// Builds one node per prefix of a word, and one for all texts that are no such prefix.
    fn build_other_than(&mut self, set: ByteSet, words: &[&str], next: usize, path: usize) -> usize {
        let mut beginnings: Vec<&str> =
            words.iter().flat_map(|word| (0..=word.len()).map(|n| &word[..n])).collect();
        beginnings.sort_unstable();
        beginnings.dedup();
        let free = self.push(Node::Split(Vec::new()));
        let nodes: Vec<_> = beginnings.iter().map(|_| self.push(Node::Split(Vec::new()))).collect();
        let any = self.push(Node::Byte { set, next: free, path });
        self.nodes[free] = Node::Split(vec![any, next]);
        for (beginning, &node) in beginnings.iter().zip(&nodes) {
            let mut rest = set;
            let mut ways = Vec::new();
            for (longer, &target) in beginnings.iter().zip(&nodes) {
                if longer.len() == beginning.len() + 1 && longer.starts_with(beginning) {
                    let last = longer.as_bytes()[beginning.len()];
                    let both = ByteSet::of([last.to_ascii_lowercase(), last.to_ascii_uppercase()]);
                    rest = ByteSet(std::array::from_fn(|i| rest.0[i] & !both.0[i]));
                    ways.push(self.push(Node::Byte { set: both, next: target, path }));
                }
            }
            ways.push(self.push(Node::Byte { set: rest, next: free, path }));
            if !beginning.is_empty() && !words.contains(beginning) {
                ways.push(next);
            }
            self.nodes[node] = Node::Split(ways);
        }
        nodes[0]
    }

    fn enter(&mut self, parent: usize, name: &'static Name) -> usize {
        let same =
            |path: &Path| path.parent == parent && path.name.is_some_and(|other| std::ptr::eq(other, name));
        let known = self.paths.iter().position(same);
        known.unwrap_or_else(|| {
            self.paths.push(Path { parent, name: Some(name) });
            self.paths.len() - 1
        })
    }

    /// Returns the reading and accepting nodes that are reached from `nodes` without reading a byte, sorted.
    fn closure(&self, nodes: &[usize]) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let mut todo = nodes.to_vec();
        let mut reached = Vec::new();
        while let Some(node) = todo.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            match &self.nodes[node] {
                Node::Split(ways) => todo.extend(ways),
                _ => reached.push(node),
            }
        }
        reached.sort_unstable();
        reached
    }

    /// The rule instances that contain `path`, innermost first, beginning with `path`.
    fn around(&self, path: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(path), |&path| Some(self.paths[path].parent)).take_while(|&path| path != 0)
    }

    /// Returns whether `path` lies in an instance of the same rule as `rule`.
    fn is_inside(&self, path: usize, rule: usize) -> bool {
        self.around(path).any(|around| self.same_rule(around, rule))
    }

    fn same_rule(&self, a: usize, b: usize) -> bool {
        match (self.paths[a].name, self.paths[b].name) {
            (Some(a), Some(b)) => std::ptr::eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    /// Returns the innermost rule that contains all of `paths`, as the instance around the first of them. Instances of one rule
    /// count as the same here: `database` in `waisindex` equals `database` in `waisdoc`.
    fn common(&self, paths: &[usize]) -> Option<usize> {
        let (&first, others) = paths.split_first()?;
        Some(
            self.around(first)
                .find(|&rule| others.iter().all(|&path| self.is_inside(path, rule)))
                .unwrap_or(0),
        )
    }

    fn is_escape(&self, path: usize) -> bool {
        self.paths[path].name.is_some_and(|name| name.escape)
    }

    /// Returns the label of a state: the rule that a refusal in this state breaks.
    ///
    /// The state reads `nodes` next. `read` are the rule instances that may have read the last byte. The label names the
    /// inner one of two rules: the innermost one around all of `read`, and the innermost one around all of `nodes`.
    fn label(&self, read: &[usize], nodes: &[usize]) -> Label {
        let ahead: Vec<_> = nodes.iter().filter_map(|&node| self.path_of(node)).collect();
        let escape = !ahead.is_empty() && ahead.iter().all(|&path| self.is_escape(path));
        // An escape counts as a character of the rule around it.
        let outside = |&path: &usize| if self.is_escape(path) { self.paths[path].parent } else { path };
        let read: Vec<_> = read.iter().map(outside).collect();
        let behind = self.common(&read);
        let before = self.common(&ahead.iter().map(outside).collect::<Vec<_>>());
        let path = match (behind, before) {
            (Some(behind), Some(before)) if self.is_inside(before, behind) => before,
            (Some(behind), Some(before)) if self.is_inside(behind, before) => behind,
            (Some(behind), Some(before)) => self.common(&[behind, before]).unwrap_or(0),
            (behind, before) => behind.or(before).unwrap_or(0),
        };
        Label { path, escape, fresh: !read.iter().any(|&read| self.is_inside(read, path)) }
    }

    fn path_of(&self, node: usize) -> Option<usize> {
        if let Node::Byte { path, .. } = self.nodes[node] { Some(path) } else { None }
    }

    /// Returns the rule to show for a rule instance, and the component of a defect in it.
    pub fn rule_at(&self, path: usize) -> (&'static Name, &'static str) {
        let names = || self.around(path).filter_map(|path| self.paths[path].name);
        // The literal name of a scheme has no text, so the rule around it is shown.
        let shown = names().find(|name| !name.text.is_empty()).expect("the top rule of a grammar has a text");
        let component =
            names().find_map(|name| name.component).expect("the top rule of a grammar names a component");
        (shown, component)
    }

    /// The rule of the percent escape.
    pub fn escape(&self) -> &'static Name {
        let mut names = self.paths.iter().filter_map(|path| path.name);
        names.find(|name| name.escape).expect("every grammar has escapes")
    }

    /// The components that the rules name for their defects, without duplicates.
    pub fn components(&self) -> Vec<&'static str> {
        let names = self.paths.iter().filter_map(|path| path.name);
        let mut all: Vec<_> =
            names.filter_map(|name| name.component).filter(|name| *name != "Parts").collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the outermost rules whose defects lie in `component`.
    ///
    /// Rules that contain the literal name of a scheme count only if there are no others. The rules inside them define the
    /// component.
    pub fn rules_of(&self, component: &str) -> Vec<&'static Name> {
        let spells = |rule: usize| {
            let is_scheme = |&path: &usize| self.paths[path].name.is_some_and(|name| name.text.is_empty());
            (1..self.paths.len()).filter(is_scheme).any(|path| self.around(path).any(|around| around == rule))
        };
        let of = |path: &usize| self.paths[*path].name.is_some_and(|name| name.component == Some(component));
        let (spelling, others): (Vec<_>, Vec<_>) =
            (1..self.paths.len()).filter(of).partition(|&path| spells(path));
        let candidates = if others.is_empty() { spelling } else { others };
        let outermost = |path: &usize| !self.around(*path).skip(1).any(|around| candidates.contains(&around));
        let mut names: Vec<&'static Name> = Vec::new();
        // Rules are built from their ends, so the first rule of the document was entered last.
        for name in
            candidates.iter().rev().filter(|path| outermost(path)).filter_map(|&path| self.paths[path].name)
        {
            if !name.text.is_empty() && !names.iter().any(|known| std::ptr::eq(*known, name)) {
                names.push(name);
            }
        }
        names
    }

    /// The top rule.
    pub fn top(&self) -> &'static Name {
        self.paths[1].name.expect("the top rule of a grammar has a name")
    }

    /// All bytes that some rule reads.
    pub fn alphabet(&self) -> ByteSet {
        self.nodes.iter().fold(ByteSet::EMPTY, |all, node| match node {
            Node::Byte { set, .. } => all.union(*set),
            _ => all,
        })
    }
}

/// What is known about a refusal in a state of a labelled automaton.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label {
    /// The rule instance being read.
    pub path: usize,
    /// Whether a percent escape is open.
    pub escape: bool,
    /// Whether no byte of the rule has been read yet.
    pub fresh: bool,
}

/// The byte classes: bytes in one class are equal to all automata. Holds the class of each byte, and one byte of each class.
pub struct Classes {
    pub of: [u8; 256],
    pub samples: Vec<u8>,
}

impl Classes {
    pub fn by_key<K: Eq + std::hash::Hash>(key: impl Fn(u8) -> K) -> Self {
        let mut known = HashMap::new();
        let mut samples = Vec::new();
        let of = std::array::from_fn(|byte| {
            let byte = u8::try_from(byte).expect("256 bytes");
            *known.entry(key(byte)).or_insert_with(|| {
                samples.push(byte);
                u8::try_from(samples.len() - 1).expect("at most 256 classes")
            })
        });
        Self { of, samples }
    }

    pub fn of(automata: &[Nfa]) -> Self {
        Self::by_key(|byte| {
            let nodes = automata.iter().flat_map(|nfa| &nfa.nodes);
            nodes.map(|node| matches!(node, Node::Byte { set, .. } if set.has(byte))).collect::<Vec<_>>()
        })
    }
}

/// A complete deterministic automaton over byte classes. State 0 is the start.
pub struct Dfa<T> {
    pub next: Vec<Vec<usize>>,
    /// The fact of each state.
    pub facts: Vec<T>,
}

/// The fact of a state of one grammar: whether it accepts, and its label. `None` if no line can be accepted any more.
pub type State = Option<(bool, Label)>;

/// Makes the automaton deterministic by the subset construction. If `labelled`, states that differ only in their label stay
/// separate.
pub fn determinise(nfa: &Nfa, classes: &Classes, labelled: bool) -> Dfa<State> {
    let blank = Label { path: 0, escape: false, fresh: false };
    let mut states: Vec<(Vec<usize>, Label)> = Vec::new();
    let mut known = HashMap::new();
    let mut find = |read: &[usize], targets: &[usize], states: &mut Vec<(Vec<usize>, Label)>| {
        let nodes = nfa.closure(targets);
        let label = if labelled && !nodes.is_empty() { nfa.label(read, &nodes) } else { blank };
        *known.entry((nodes.clone(), label)).or_insert_with(|| {
            states.push((nodes, label));
            states.len() - 1
        })
    };
    find(&[], &[nfa.start], &mut states);
    let mut next = Vec::new();
    while next.len() < states.len() {
        let nodes = states[next.len()].0.clone();
        let row = classes.samples.iter().map(|&byte| {
            let reading = nodes.iter().filter_map(|&node| match &nfa.nodes[node] {
                Node::Byte { set, next, path } if set.has(byte) => Some((*path, *next)),
                _ => None,
            });
            let (read, targets): (Vec<_>, Vec<_>) = reading.unzip();
            find(&read, &targets, &mut states)
        });
        let row = row.collect();
        next.push(row);
    }
    let accepts = |nodes: &[usize]| nodes.iter().any(|&node| matches!(nfa.nodes[node], Node::Accept));
    let facts = states.iter().map(|(nodes, label)| (!nodes.is_empty()).then(|| (accepts(nodes), *label)));
    Dfa { facts: facts.collect(), next }
}

/// Minimises an automaton (Moore). States are merged if their facts are equal, and every byte leads them to merged states.
pub fn minimise<T: Copy + Eq + std::hash::Hash>(dfa: &Dfa<T>) -> Dfa<T> {
    fn number<K: Eq + std::hash::Hash>(keys: impl Iterator<Item = K>) -> (Vec<usize>, usize) {
        let mut known = HashMap::new();
        let mut block = Vec::new();
        for key in keys {
            let n = known.len();
            block.push(*known.entry(key).or_insert(n));
        }
        (block, known.len())
    }
    let (mut block, mut n_blocks) = number(dfa.facts.iter());
    loop {
        let keys = block.iter().zip(&dfa.next);
        let keys = keys.map(|(own, row)| (*own, row.iter().map(|&state| block[state]).collect::<Vec<_>>()));
        let (finer, n_finer) = number(keys);
        if n_finer == n_blocks {
            break;
        }
        (block, n_blocks) = (finer, n_finer);
    }
    let chosen: Vec<_> =
        (0..n_blocks).map(|n| block.iter().position(|&own| own == n).expect("no block is empty")).collect();
    Dfa {
        next: chosen.iter().map(|&state| dfa.next[state].iter().map(|&to| block[to]).collect()).collect(),
        facts: chosen.iter().map(|&state| dfa.facts[state]).collect(),
    }
}

/// Returns the product of automata, which runs them all at once. The fact of a state is the set of automata that accept. The
/// product of minimal automata is minimal, because two of its states differ in at least one of them.
pub fn product(machines: &[Dfa<State>]) -> Dfa<u8> {
    let start: Vec<usize> = vec![0; machines.len()];
    let mut states = vec![start.clone()];
    let mut known = HashMap::from([(start, 0)]);
    let mut next: Vec<Vec<usize>> = Vec::new();
    while next.len() < states.len() {
        let state = states[next.len()].clone();
        let n_classes = machines[0].next[0].len();
        let row = (0..n_classes).map(|class| {
            let to: Vec<_> =
                machines.iter().zip(&state).map(|(machine, &own)| machine.next[own][class]).collect();
            *known.entry(to.clone()).or_insert_with(|| {
                states.push(to);
                states.len() - 1
            })
        });
        let row = row.collect();
        next.push(row);
    }
    let accepts = |state: &Vec<usize>| {
        let bits = machines.iter().zip(state).enumerate();
        bits.fold(0, |set, (bit, (machine, &own))| {
            set | u8::from(machine.facts[own].is_some_and(|(accepts, _)| accepts)) << bit
        })
    };
    Dfa { facts: states.iter().map(accepts).collect(), next }
}

/// Merges the byte classes that `dfa` does not distinguish. Returns the new classes, and the automaton over them.
pub fn merge_classes<T: Copy>(dfa: &Dfa<T>, classes: &Classes) -> (Classes, Dfa<T>) {
    let column = |byte: u8| {
        let class = usize::from(classes.of[usize::from(byte)]);
        dfa.next.iter().map(|row| row[class]).collect::<Vec<_>>()
    };
    let merged = Classes::by_key(column);
    let pick = |row: &Vec<usize>| {
        merged.samples.iter().map(|&byte| row[usize::from(classes.of[usize::from(byte)])]).collect()
    };
    let next = dfa.next.iter().map(pick).collect();
    let facts = dfa.facts.clone();
    (merged, Dfa { next, facts })
}
