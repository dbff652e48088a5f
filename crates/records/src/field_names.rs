//! Finds the column of a table that holds URLs: by its name, or by its values.

use urlsift_grammar::password::shown;

/// The usual names of columns that hold URLs, the likeliest first. Case, white space and `_` are ignored.
const STRONG: [&str; 15] = [
    "url", "uri", "targeturi", "warctargeturi", "pageurl", "fullurl", "link", "href", "imageurl", "siteurl",
    "sourceurl", "linkurl", "urls", "website", "permalink",
];

/// Names that hold URLs less often. A header with such a name alone does not make a table of an input.
const WEAK: [&str; 12] = [
    "address", "location", "loc", "page", "toppages", "landingpage", "target", "request", "source",
    "referer", "referrer", "src",
];

/// How many names a message or a report lists.
const SHOWN: usize = 20;

/// From which column or key of its records an input has its URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Its name, or its number if the table has no header. `None` if no such column is known.
    pub column: Option<String>,
    /// Whether its values decided, because no column has a usual name.
    pub by_values: bool,
    /// Whether the user gave the number of a column.
    pub is_numbered: bool,
    /// The names that there are, if a wanted one is not among them.
    pub names: Vec<String>,
    /// The indices of the wanted fields that are not among them.
    pub missing: Vec<usize>,
}

impl Choice {
    /// The choice of a named or numbered column.
    pub(super) fn of(column: &[u8], by_values: bool) -> Self {
        Self { column: Some(shown(column)), by_values, ..Self::default() }
    }

    /// The names of a header or an object of which none is wanted.
    pub fn none_of(names: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let mut names = names.into_iter();
        let mut shown: Vec<_> = names.by_ref().take(SHOWN).map(|name| shown(name.as_ref())).collect();
        let n_more = names.count();
        if n_more > 0 {
            shown.push(format!("and {n_more} more"));
        }
        Self { names: shown, ..Self::default() }
    }
}

/// Whether two names are the same. Case, white space and `_` are ignored. Names in spreadsheets have line breaks.
pub(super) fn is_same(name: &[u8], other: &[u8]) -> bool {
    significant(name).eq(significant(other))
}

/// The letters of a name that count.
fn significant(name: &[u8]) -> impl Iterator<Item = u8> {
    let counts = |byte: &&u8| !byte.is_ascii_whitespace() && **byte != b'_';
    name.iter().filter(counts).map(u8::to_ascii_lowercase)
}

/// The index of a name. The exact name precedes others that are the same.
pub(super) fn place(names: &[impl AsRef<[u8]>], wanted: &[u8]) -> Option<usize> {
    let exact = names.iter().position(|name| name.as_ref() == wanted);
    exact.or_else(|| names.iter().position(|name| is_same(name.as_ref(), wanted)))
}

/// The index of the name that most likely is that of URLs.
pub(super) fn usual(names: &[impl AsRef<[u8]>]) -> Option<usize> {
    STRONG.iter().chain(&WEAK).find_map(|usual| place(names, usual.as_bytes()))
}

/// Whether a name is that of URLs in most tables.
pub(super) fn is_strong(name: &[u8]) -> bool {
    STRONG.iter().any(|usual| is_same(name, usual.as_bytes()))
}

/// The usual names, the likeliest first.
#[cfg(feature = "parquet")]
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    STRONG.into_iter().chain(WEAK)
}

/// Whether a text begins as an absolute URL with an authority does: with a scheme and "://".
pub(super) fn is_url(text: &[u8]) -> bool {
    let is_of_scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let scheme = text.iter().take_while(is_of_scheme).count();
    scheme > 0 && text[scheme..].starts_with(b"://")
}

/// The same after white space.
pub(super) fn begins_as_url(value: &[u8]) -> bool {
    is_url(value.trim_ascii_start())
}

/// Counts the values of each column that are wanted, such as those that begin as URLs.
#[derive(Default)]
pub(super) struct ByValues {
    /// For each column, its wanted values, and all its values that are not empty.
    columns: Vec<[usize; 2]>,
}

impl ByValues {
    pub(super) fn add(&mut self, column: usize, value: &[u8]) {
        self.add_if(begins_as_url, column, value);
    }

    /// Adds a value, which is wanted if `is_wanted` says so.
    pub(super) fn add_if(&mut self, is_wanted: impl Fn(&[u8]) -> bool, column: usize, value: &[u8]) {
        if self.columns.len() <= column {
            self.columns.resize(column + 1, [0; 2]);
        }
        self.columns[column][0] += usize::from(is_wanted(value));
        self.columns[column][1] += usize::from(!value.is_empty());
    }

    /// The columns where at least half of the values are wanted.
    pub(super) fn likely(&self) -> impl DoubleEndedIterator<Item = usize> {
        let is_likely = |[wanted, all]: [usize; 2]| wanted > 0 && wanted * 2 >= all;
        (0..self.columns.len()).filter(move |&n| is_likely(self.columns[n]))
    }

    /// The first of these columns that has the most wanted values.
    pub(super) fn most_likely(&self) -> Option<usize> {
        self.likely().rev().max_by_key(|&n| self.columns[n][0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_tell_the_column() {
        assert_eq!(usual(&["id", "Page URL", "Link"]), Some(1));
        assert_eq!(usual(&["loc", "HREF"]), Some(1));
        assert_eq!(usual(&["Top_pages", "Clicks"]), Some(0));
        assert_eq!(usual(&["curl", "url2"]), None);
        let mut values = ByValues::default();
        for row in [["1", "http://a/", "http://a/"], ["2", "x", "https://b/"], ["", "ftp://c/", ""]] {
            row.into_iter().enumerate().for_each(|(n, value)| values.add(n, value.as_bytes()));
        }
        assert_eq!(values.most_likely(), Some(1));
        assert_eq!(ByValues::default().most_likely(), None);
        assert!(!begins_as_url(b"//h/") && !begins_as_url(b"a b://"));
    }
}
