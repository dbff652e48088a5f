//! Derives the automata that judge lines from the five grammar files, and the table of public suffixes, when the crate is compiled.
//!
//! This script writes `$OUT_DIR/tables.rs`, which `src/automaton.rs` includes: the automaton that runs all five grammars at
//! once, one automaton per grammar whose states know which rule is being read, and the pairs of byte classes that none of these
//! tells apart. It also writes the table of public suffixes, which `src/public_suffix.rs` includes.

#![recursion_limit = "512"]
#![allow(clippy::precedence, reason = "a rule reads as in its document: sequence binds closer than choice")]
#![allow(clippy::doc_link_with_quotes, reason = "the comment on a rule is the rule as printed")]

mod automaton;
mod pairs;
mod punycode;
mod rule;

#[path = "../src/rules/draft1993.rs"]
mod draft1993;
#[path = "../src/rules/rfc1738.rs"]
mod rfc1738;
#[path = "../src/rules/rfc1808.rs"]
mod rfc1808;
#[path = "../src/rules/rfc2396.rs"]
mod rfc2396;
#[path = "../src/rules/rfc3986.rs"]
mod rfc3986;
#[allow(dead_code, reason = "the library searches by it")]
#[path = "../src/labels.rs"]
mod labels;
#[allow(dead_code, reason = "the library searches it")]
#[path = "../src/suffix_table.rs"]
mod suffix_table;

use std::fmt::{Display, Write};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use automaton::{Classes, Dfa, Nfa, State};
use rule::Name;
use suffix_table::{Table, fingerprint};

fn main() {
    println!("cargo::rustc-env=URLSIFT_RUSTC={}", compiler().unwrap_or_default());
    println!("cargo::rerun-if-changed=build");
    for file in ["src/rules", "src/labels.rs", "src/suffix_table.rs", SUFFIXES] {
        println!("cargo::rerun-if-changed={file}");
    }
    if env::var_os("CARGO_FEATURE_SCAN").is_some() {
        write_suffixes();
    }

    let tops = [
        draft1993::prefixedurl(),
        rfc1738::url(),
        rfc1808::url(),
        rfc2396::uri_reference(),
        rfc3986::uri_reference(),
    ];
    let automata: Vec<_> = tops.iter().map(Nfa::of).collect();
    let fine = Classes::of(&automata);
    let minimal: Vec<_> =
        automata.iter().map(|nfa| automaton::minimise(&automaton::determinise(nfa, &fine, false))).collect();
    let (classes, machine) = automaton::merge_classes(&automaton::product(&minimal), &fine);
    let labelled: Vec<_> = automata
        .iter()
        .map(|nfa| automaton::minimise(&automaton::determinise(nfa, &classes, true)))
        .collect();

    let mut out = String::new();
    let sizes: Vec<_> = minimal.iter().map(|dfa| dfa.next.len()).collect();
    constant(&mut out, "MINIMAL_SIZES", "[usize; 5]", format!("{sizes:?}"));
    constant(&mut out, "N_CLASSES", "usize", classes.samples.len());
    constant(&mut out, "N_STATES", "usize", machine.next.len());
    write_machine(&mut out, &classes, &machine);
    write_labelled(&mut out, &automata, &labelled);
    let hash = fingerprint(out.as_bytes());
    constant(&mut out, "TABLES", "u64", hash);
    let pairs = automata.iter().zip(&labelled).map(|of| pairs::numbers(&machine, of, &classes.samples));
    let pairs: Vec<_> = pairs.map(|numbers| format!("{numbers:?}")).collect();
    table(&mut out, "PAIR_NUMBERS", "[u16; N_CLASSES * N_CLASSES]", pairs);
    write("tables.rs", out);
}

/// The compiler and its version, which benchmark results name. Cargo runs this script again when the compiler changes.
fn compiler() -> Option<String> {
    let output = Command::new(env::var_os("RUSTC")?).arg("-V").output().ok()?;
    String::from_utf8(output.stdout).ok()?.lines().next().map(str::to_owned)
}

/// The Public Suffix List.
const SUFFIXES: &str = "data/public_suffix_list.dat";

/// Writes the table of public suffixes.
fn write_suffixes() {
    let text = fs::read(SUFFIXES).expect("the package has the list");
    let list = Table::parse(&text, |name| Some(punycode::name_to_ascii(name))).expect(SUFFIXES);
    let mut out = String::new();
    table(&mut out, "NODES", "u64", list.nodes.iter());
    table(&mut out, "DISPLACEMENTS", "u16", list.displacements.iter());
    let labels = list.labels.escape_ascii();
    writeln!(out, "pub static LABELS: [u8; {}] = *b\"{labels}\";", list.labels.len())
        .expect("a string takes all");
    constant(&mut out, "VERSION", "&str", format!("{:?}", list.version));
    constant(&mut out, "HASH", "u64", list.hash);
    write("public_suffix_list.rs", out);
}

fn write(name: &str, contents: impl AsRef<[u8]>) {
    let path = Path::new(&env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join(name);
    fs::write(path, contents).expect("OUT_DIR can be written");
}

fn constant(out: &mut String, name: &str, kind: &str, value: impl Display) {
    writeln!(out, "pub const {name}: {kind} = {value};").expect("a string takes all");
}

fn table<T: Display>(out: &mut String, name: &str, kind: &str, values: impl IntoIterator<Item = T>) {
    let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    writeln!(out, "pub static {name}: [{kind}; {}] = [", values.len()).expect("a string takes all");
    for line in values.chunks(24) {
        writeln!(out, "    {},", line.join(", ")).expect("a string takes all");
    }
    out.push_str("];\n");
}

/// Writes the automaton of all grammars: for each state, a row of next states by byte class.
fn write_machine(out: &mut String, classes: &Classes, machine: &Dfa<u8>) {
    table(out, "CLASS_OF", "u8", classes.of);
    table(out, "NEXT", "u16", machine.next.iter().flatten());
    table(out, "ACCEPTING", "u8", &machine.facts);
}

/// Writes the labelled automata, and the rules that their labels name.
fn write_labelled(out: &mut String, automata: &[Nfa], labelled: &[Dfa<State>]) {
    let mut rules: Vec<(&str, &str)> = Vec::new();
    let mut number = |name: &Name| {
        let rule = (name.text, name.section);
        rules.iter().position(|known| *known == rule).unwrap_or_else(|| {
            rules.push(rule);
            rules.len() - 1
        })
    };
    let mut machines = String::new();
    for (grammar, (nfa, dfa)) in automata.iter().zip(labelled).enumerate() {
        let alphabet = nfa.alphabet().0;
        let dead = dfa.facts.iter().position(Option::is_none).expect("every grammar refuses something");
        // A state is the index of its row.
        let row = |state: &usize| state * dfa.next[0].len();
        let mut labels = Vec::new();
        for state in &dfa.facts {
            // The rule of the dead state is never read.
            let (accepting, rule, component, escape, fresh) =
                state.map_or((false, 0, "None".into(), false, false), |(accepting, label)| {
                    let (name, component) = nfa.rule_at(label.path);
                    let component = if component == "Parts" {
                        "None".into()
                    } else {
                        format!("Some(Component::{component})")
                    };
                    (accepting, number(name), component, label.escape, label.fresh)
                });
            labels.push(format!(
                "Label {{ rule: {rule}, component: {component}, escape: {escape}, fresh: {fresh}, accepting: {accepting} }}"
            ));
        }
        table(out, &format!("NEXT_{grammar}"), "u32", dfa.next.iter().flatten().map(row));
        table(out, &format!("LABELS_{grammar}"), "Label", labels);
        let (top, escape) = (number(nfa.top()), number(nfa.escape()));
        let rules_of = nfa.components().into_iter().map(|component| {
            let rules: Vec<_> = nfa.rules_of(component).into_iter().map(&mut number).collect();
            format!("(Component::{component}, &{rules:?})")
        });
        table(out, &format!("RULES_OF_{grammar}"), "(Component, &[u16])", rules_of);
        writeln!(
            machines,
            "    Labelled {{ next: &NEXT_{grammar}, labels: &LABELS_{grammar}, dead: {}, top: {top}, escape: {escape}, rules_of: &RULES_OF_{grammar}, alphabet: {alphabet:?} }},",
            row(&dead)
        )
        .expect("a string takes all");
    }
    writeln!(out, "pub static LABELLED: [Labelled; 5] = [\n{machines}];").expect("a string takes all");
    let rules =
        rules.iter().map(|(text, section)| format!("Rule {{ text: {text:?}, section: {section:?} }}"));
    table(out, "RULES", "Rule", rules);
}
