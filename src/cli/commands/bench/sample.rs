//! The built-in sample: generated lines that resemble lists from the web, the same on every machine.
//!
//! Most are pages of hosts, usually https, some with a query, a fragment or an escape. A few have a port, a password or a
//! rare scheme, and some are relative. One in a hundred has a defect that RFC 3986 refuses.

use std::collections::HashMap;
use std::iter;

use crate::random::Random;

/// The seed of the sample and of the order of repeated lines.
pub(super) const SEED: u64 = 1994;

/// The generator's rules, one per line: a name and the texts to choose from, separated by spaces. `*N` is a text's weight.
/// A name in parentheses is replaced by a text of that rule.
const RULES: &str = r#"
line (url)(end)
url https://(page)*620 http://(page)*305 /(word)(path)*55 ftp://(page)*8 mailto:(word)@(host)*5 urn:isbn:(number)*3 (rare)://(page)*4
rare gemini HTTP
page (host)(port)(path)*999 user:password@(host)(path)
host (prefix).(domain).(top)*6 (domain).(top)*4
prefix www*3 en blog shop static
domain (word)*3 (word)-(word)*2 (word)(word)*2 (word).(word)*2
top com*4 org*2 net de co.uk fr edu gov info io jp nl
port ()*496 :8080 :8000 :443 :3000
path (segments)(ending)(query)(fragment)*985 /~(word)(segments)/*15
segments () (segment) (segment)(segment) (segment)(segment)(segment) (segment)(segment)(segment)(segment)
segment /(words)*785 /(words)(number)*200 /(words)(escape)(word)*15
escape %20 %C3%A9 %2F %28 %E2%80%93
ending /*2 ()*2 .html*2 .php .pdf .jpg .aspx
query ()*780 ?(pair)*55 ?(pair)&(pair)*55 ?(pair)&(pair)&(pair)*55 ?(pair)&(pair)&(pair)&(pair)*55
pair (word)=(number) (word)=(words)
fragment ()*96 #(words)*4
words (word)*79 (word)(join)(title)*21
title (word) (word)(join)(title)*2
join -*4 _
number (digit)(digit) (digit)(digit)(digit)(digit) (digit)(digit)(digit)(digit)(digit)(digit)
digit 0 1 2 3 4 5 6 7 8 9
end ()*990 (damage)(word)*10
damage (space)*3 | " <br> [1] \ % %u00e9 é ür {id} ^
word a about account article archive blog books category city contact data de docs download en events example faq files
word forum gallery garden green help history home house id images index info item latest library list local map media
word music news north open page people photo post press product project river school search shop software station stone
word story tag travel university user view weather world"#;

/// Generates whole lines of nearly `size` bytes, but not more. Empty if no line is that short.
pub(super) fn sample(size: usize) -> Vec<u8> {
    let mut rules = HashMap::from([("", vec![""]), ("space", vec![" "])]);
    for (name, texts) in RULES.lines().filter_map(|rule| rule.split_once(' ')) {
        let weighted = texts.split(' ').map(|text| text.split_once('*').unwrap_or((text, "1")));
        let texts = weighted.flat_map(|(text, weight)| iter::repeat_n(text, weight.parse().unwrap_or(1)));
        rules.entry(name).or_default().extend(texts);
    }
    let mut out = Vec::with_capacity(size);
    let (mut line, mut random) = (String::new(), Random::new(SEED));
    loop {
        expand(&mut line, "line", &rules, &mut random);
        line.push('\n');
        if out.len() + line.len() > size {
            return out;
        }
        out.extend_from_slice(line.as_bytes());
        line.clear();
    }
}

/// Appends a random text of the rule `name`.
fn expand(line: &mut String, name: &str, rules: &HashMap<&str, Vec<&str>>, random: &mut Random) {
    let texts = &rules[name];
    for (n, part) in texts[random.below(texts.len())].split(['(', ')']).enumerate() {
        if n % 2 == 0 { line.push_str(part) } else { expand(line, part, rules, random) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::Grammar;
    use crate::scan::{Options, scan};

    #[test]
    fn the_sample_is_what_it_says() {
        let bytes = sample(1 << 20);
        assert!(bytes.len() > (1 << 20) - 1000 && bytes.len() <= 1 << 20 && bytes.ends_with(b"\n"));
        assert!(sample(1 << 16) == bytes[..sample(1 << 16).len()]);
        let judged = scan(&bytes, &Options::default()).judged();
        let refused = judged.lines() - judged.accepted(Grammar::Rfc3986);
        assert!((7..=13).contains(&(refused * 1000 / judged.lines())), "{judged:?}");
        assert!((50..=90).contains(&(bytes.len() as u64 / judged.lines())), "{judged:?}");
    }
}
