//! Built-in samples: generated lines that resemble real lists, the same on every machine.
//!
//! The mix resembles lists from the web. Most of its lines are pages of hosts, usually https, some with a query, a fragment
//! or an escape. A few have a port, a password or a rare scheme, and some are relative. One in a hundred has a defect that
//! RFC 3986 refuses. The other samples mix lines of one other kind into clean lines from the web.

use std::collections::HashMap;
use std::iter;
use std::str::FromStr;

use urlsift_grammar::random::Random;

/// The seed of the sample and of the order of repeated lines.
pub(super) const SEED: u64 = 1994;

/// The kinds of lines that can be mixed into clean lines.
pub(super) const KINDS: [&str; 7] = ["iris", "mailto", "attacks", "redirects", "streams", "1990s", "vectors"];

/// What a sample consists of.
#[derive(Clone, Copy)]
pub(super) enum Sample {
    /// The mix.
    Mix,
    /// Clean lines, and in every thousand this many of a kind.
    Kind(&'static str, u16),
}

impl FromStr for Sample {
    type Err = String;

    /// Parses `KIND` or `KIND:PERCENT`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, percent) = text.split_once(':').unwrap_or((text, "100"));
        let kind = KINDS.into_iter().find(|known| *known == kind);
        let kind = kind.ok_or_else(|| format!("the kinds are {}", KINDS.join(", ")))?;
        let percent = percent.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
        let percent: f32 = percent.ok_or("the share is in per cent, such as iris:10")?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is at most 1,000")]
        Ok(Self::Kind(kind, (percent * 10.0).round() as u16))
    }
}

/// The generator's rules, one per line: a name and the texts to choose from, separated by spaces. `*N` is a text's weight.
/// A name in parentheses is replaced by a text of that rule.
const RULES: &str = r#"
line (url)(end)
clean https://(clean_host)(path) http://(clean_host)(path)
clean_host (prefix).(domain).(top)*6 (domain).(top)*4
iris http://(language).dbpedia.org/resource/(name)_(name) http://(language).wikipedia.org/wiki/(name)/(name)
language en de ja ru
name (word)(letter)(word) (letter)(word) (letter)(letter)(letter)(letter)(letter) (word)(letter)
letter é ü ñ ç ß ø 東 京 語 ж д ו ب
mailto mailto:(word).(word)@(host) mailto:(word)@(domain).(top) mailto:(word)(number)@(domain).(top)?subject=(words)
attacks https://(clean_host)(segments)/(word).php?id=(payload)&(pair) http://(clean_host)(segments)/(word).php?(word)=(payload)
payload (number)'(space)OR(space)'1'='1 "><script>alert(open)(number)(close)</script> (number)(space)UNION(space)SELECT(space)1,2,3--
payload ../../../etc/passwd%00 `id` {{(number)*(number)}} ${jndi:ldap://(clean_host)/a} <svg/onload=alert(open)1(close)> |cat(space)/etc/passwd
redirects //(clean_host)/%2f..%2f(word) /\(clean_host)/(word) http:(clean_host)/(words) https:/\(clean_host)/(words)/(words)
redirects https://(clean_host)/(word)?next=//(clean_host)/(words) https://(clean_host)@(clean_host)/(words) ///(clean_host)/(words)
redirects https://(clean_host)\@(clean_host)/(words) javascript:alert(open)1(close)//(clean_host)/(words) https:(clean_host)%23.(clean_host)/(word)
streams http://(address):(high_port)/live/(word)(number)/(word)/(number).m3u8?token=(hex)(hex)(hex)(hex)&expires=(number)(number)
streams http://(clean_host):(high_port)/(word)/(words)/(number)/(number).ts?sid=(hex)(hex)(hex)&quality=(number)&(pair)
address (octet).(octet).(octet).(octet)
octet (digit) (digit)(digit) 1(digit)(digit)*3 2(four)(digit)
four 0 1 2 3 4
high_port 80 8080*2 8000*2 8899 25461*2 1(digit)(digit)(digit) 2(digit)(digit)(digit)(digit) (number)
hex (nibble)(nibble)(nibble)(nibble)
nibble (digit)*10 a b c d e f
1990s ftp://(word):(word)@ftp.(domain).(top)/pub/(words) ftp://anonymous@(clean_host)/(words).tar.Z gopher://gopher.(domain).(top)/00/(words)
1990s gopher://(domain).(top):70/11/(word)/(words) news:comp.(word).(word) news:(number).(words)@(domain).(top) wais://(domain).(top)/(words)?(word)
1990s telnet://(word)@(domain).(top):23/ prospero://(domain).(top):1525//(word)/(word) nntp://news.(domain).(top)/alt.(word)/(number) wais:/(words)
vectors http://[(hex)::(nibble)]:(number)/(words) http://(word):(word)@(host):b/ (word):/(words)/(words) http:///(words)/(word) ../(words)/./(words)
vectors file:c:\\(word)\\(words) (word)(space)(word)://(host) //(host)/%zz(segments) http://a_b.(top)^/(words) sc://ñ/(words)?(pair) ?(pair)=#(words)
vectors http://(octet).(octet).(octet)/(words) (word):(word):(words) #(words)(segment) urn:(word):(word):(number) http://h:(digit)(digit)a/(words)
vectors http://%(hex)/(words) data:text/plain,(words)(escape) mailto: /(words)?(word)=[1] ::(words)(segments) http:(words)(segments) http://(host)/(words)
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
pub(super) fn sample(of: Sample, size: usize) -> Vec<u8> {
    let mut rules =
        HashMap::from([("", vec![""]), ("space", vec![" "]), ("open", vec!["("]), ("close", vec![")"])]);
    for (name, texts) in RULES.lines().filter_map(|rule| rule.split_once(' ')) {
        let weighted = texts.split(' ').map(|text| text.split_once('*').unwrap_or((text, "1")));
        let texts = weighted.flat_map(|(text, weight)| iter::repeat_n(text, weight.parse().unwrap_or(1)));
        rules.entry(name).or_default().extend(texts);
    }
    let mut out = Vec::with_capacity(size);
    let (mut line, mut random) = (String::new(), Random::new(SEED));
    loop {
        let rule = match of {
            Sample::Mix => "line",
            Sample::Kind(kind, share) if random.below(1000) < share.into() => kind,
            Sample::Kind(..) => "clean",
        };
        expand(&mut line, rule, &rules, &mut random);
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
    use crate::scan::{Options, scan};
    use urlsift_grammar::Grammar;

    #[test]
    fn the_sample_is_what_it_says() {
        let bytes = sample(Sample::Mix, 1 << 20);
        assert!(bytes.len() > (1 << 20) - 1000 && bytes.len() <= 1 << 20 && bytes.ends_with(b"\n"));
        let shorter = sample(Sample::Mix, 1 << 16);
        assert!(bytes.starts_with(&shorter));
        let judged = scan(&bytes, &Options::default()).judged();
        let refused = judged.lines() - judged.accepted(Grammar::Rfc3986);
        assert!((7..=13).contains(&(refused * 1000 / judged.lines())), "{judged:?}");
        assert!((50..=90).contains(&(bytes.len() as u64 / judged.lines())), "{judged:?}");
    }
}
