//! The built-in sample: lines as lists from the web have them, made by dice that always fall the same way.
//!
//! Nearly all are ordinary: pages of hosts, most by https, some with a query, a fragment or an escape; a few have a port, a
//! password or a rarer scheme, some are relative, and one in a hundred is damaged in a way that RFC 3986 refuses.

/// Numbers that look random, the same on every machine.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new() -> Self {
        Self(1994)
    }

    /// The next number below `n`, which is not 0 (splitmix64).
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let below = (u128::from(z ^ (z >> 31)) * n as u128) >> 64;
        usize::try_from(below).expect("it is below a usize")
    }

    /// True so many times in a thousand.
    fn once(&mut self, in_a_thousand: usize) -> bool {
        self.below(1000) < in_a_thousand
    }

    fn of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}

const WORDS: &[&str] = &[
    "a",
    "about",
    "account",
    "article",
    "archive",
    "blog",
    "books",
    "category",
    "city",
    "contact",
    "data",
    "de",
    "docs",
    "download",
    "en",
    "events",
    "example",
    "faq",
    "files",
    "forum",
    "gallery",
    "garden",
    "green",
    "help",
    "history",
    "home",
    "house",
    "id",
    "images",
    "index",
    "info",
    "item",
    "latest",
    "library",
    "list",
    "local",
    "map",
    "media",
    "music",
    "news",
    "north",
    "open",
    "page",
    "people",
    "photo",
    "post",
    "press",
    "product",
    "project",
    "river",
    "school",
    "search",
    "shop",
    "software",
    "station",
    "stone",
    "story",
    "tag",
    "travel",
    "university",
    "user",
    "view",
    "weather",
    "world",
];

const TOP: &[&str] = &[
    "com", "com", "com", "com", "org", "org", "net", "de", "co.uk", "fr", "edu", "gov", "info", "io", "jp",
    "nl",
];

const ENDINGS: &[&str] = &["/", "/", "", "", ".html", ".html", ".php", ".pdf", ".jpg", ".aspx"];

const DAMAGE: &[&str] =
    &[" ", " ", "|", "\"", "<br>", "[1]", "\\", "%", "%u00e9", "\u{e9}", "\u{fc}r", "{id}", "^", "\t"];

/// At most `size` bytes of whole lines, and nearly as many; none if no line is so short.
pub(super) fn sample(size: usize) -> Vec<u8> {
    let mut dice = Dice::new();
    let mut out = Vec::with_capacity(size);
    let mut line = String::new();
    loop {
        line.clear();
        write_line(&mut line, &mut dice);
        line.push('\n');
        if out.len() + line.len() > size {
            return out;
        }
        out.extend_from_slice(line.as_bytes());
    }
}

fn write_line(line: &mut String, dice: &mut Dice) {
    match dice.below(1000) {
        0..620 => page(line, "https", dice),
        620..925 => page(line, "http", dice),
        925..980 => path_and_more(line, dice),
        980..988 => page(line, "ftp", dice),
        988..993 => {
            line.push_str("mailto:");
            line.push_str(dice.of(WORDS));
            line.push('@');
            host(line, dice);
        }
        993..996 => {
            line.push_str("urn:isbn:");
            number(line, 1_000_000_000, dice);
        }
        996..998 => page(line, "gemini", dice),
        _ => page(line, "HTTP", dice),
    }
    if dice.once(10) {
        line.push_str(dice.of(DAMAGE));
        line.push_str(dice.of(WORDS));
    }
}

fn page(line: &mut String, scheme: &str, dice: &mut Dice) {
    line.push_str(scheme);
    line.push_str("://");
    if dice.once(1) {
        line.push_str("user:password@");
    }
    host(line, dice);
    if dice.once(8) {
        line.push_str(dice.of(&[":8080", ":8000", ":443", ":3000"]));
    }
    path_and_more(line, dice);
}

fn host(line: &mut String, dice: &mut Dice) {
    if dice.once(600) {
        line.push_str(dice.of(&["www.", "www.", "www.", "en.", "blog.", "shop.", "static."]));
    }
    line.push_str(dice.of(WORDS));
    if dice.once(700) {
        line.push_str(dice.of(&["-", "", "."]));
        line.push_str(dice.of(WORDS));
    }
    line.push('.');
    line.push_str(dice.of(TOP));
}

fn path_and_more(line: &mut String, dice: &mut Dice) {
    if dice.once(15) {
        line.push_str("/~");
        line.push_str(dice.of(WORDS));
    }
    for _ in 0..dice.below(5) {
        line.push('/');
        words(line, dice);
        if dice.once(200) {
            number(line, 100_000, dice);
        }
        if dice.once(15) {
            line.push_str(dice.of(&["%20", "%C3%A9", "%2F", "%28", "%E2%80%93"]));
            line.push_str(dice.of(WORDS));
        }
    }
    line.push_str(if line.is_empty() { "/" } else { dice.of(ENDINGS) });
    if dice.once(220) {
        for n in 0..=dice.below(4) {
            line.push(if n == 0 { '?' } else { '&' });
            line.push_str(dice.of(WORDS));
            line.push('=');
            if dice.once(500) { number(line, 1_000_000, dice) } else { words(line, dice) }
        }
    }
    if dice.once(40) {
        line.push('#');
        words(line, dice);
    }
}

/// A word or some, as titles stand in paths.
fn words(line: &mut String, dice: &mut Dice) {
    line.push_str(dice.of(WORDS));
    let more = if dice.once(250) { dice.below(6) } else { 0 };
    for _ in 0..more {
        line.push(if dice.once(800) { '-' } else { '_' });
        line.push_str(dice.of(WORDS));
    }
}

fn number(line: &mut String, below: usize, dice: &mut Dice) {
    line.push_str(&dice.below(below).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlsift::{Grammar, scan};

    #[test]
    fn the_sample_is_what_it_says() {
        let bytes = sample(1 << 20);
        assert!(bytes.len() > (1 << 20) - 1000 && bytes.len() <= 1 << 20 && bytes.ends_with(b"\n"));
        assert!(sample(1 << 16) == bytes[..sample(1 << 16).len()]);
        let judged = scan(&bytes, &scan::Options::default()).judged();
        let per_thousand = |lines: u64| lines * 1000 / judged.lines();
        assert!(
            (7..=13).contains(&per_thousand(judged.lines() - judged.accepted(Grammar::Rfc3986))),
            "{judged:?}"
        );
        assert!(
            (50..=90).contains(&(bytes.len() as u64 / judged.lines())),
            "{}",
            bytes.len() as u64 / judged.lines()
        );
        assert!(sample(3).is_empty());
    }
}
