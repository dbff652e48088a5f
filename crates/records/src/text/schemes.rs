//! The schemes that are known by name, and what follows them in a URL. X8 and X9 of `tests/conformance/CONTEXT.md` list them.

/// What has to follow the colon of a scheme that has no "//". Otherwise the name is taken for a word of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// "@" before any other colon, or "?" at once.
    Address,
    /// "." or "@" before any other colon.
    Group,
    /// A digit, "+" or "-" at once.
    Number,
    /// A name of letters, digits and hyphens, and another colon.
    Namespace,
    /// A name with a comma, and another colon.
    Authority,
    /// A comma at once, or after "/" or ";" and before any other colon.
    MediaType,
    /// "?" at once.
    Query,
    /// Any byte but another colon at once.
    Anything,
}

impl Needs {
    /// Whether `rest` is what has to follow. No byte after its first colon matters.
    pub(super) fn is_met(self, rest: &[u8]) -> bool {
        let until_colon = rest.split(|&byte| byte == b':').next().unwrap_or_default();
        let has_colon = until_colon.len() < rest.len();
        let first = rest.first().copied().unwrap_or_default();
        match self {
            Self::Address => first == b'?' || until_colon.contains(&b'@'),
            Self::Group => until_colon.iter().any(|byte| matches!(byte, b'.' | b'@')),
            Self::Number => first.is_ascii_digit() || matches!(first, b'+' | b'-'),
            Self::Namespace => {
                let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
                has_colon && !until_colon.is_empty() && until_colon.iter().all(is_name)
            }
            Self::Authority => has_colon && until_colon.contains(&b','),
            Self::MediaType => {
                let comma = until_colon.iter().position(|&byte| byte == b',');
                comma.is_some_and(|comma| {
                    comma == 0 || until_colon[..comma].iter().any(|byte| matches!(byte, b'/' | b';'))
                })
            }
            Self::Query => first == b'?',
            Self::Anything => !rest.is_empty() && first != b':',
        }
    }
}

/// The longest name of a scheme, in bytes. No registered scheme is as long.
pub(super) const MAX_LEN: usize = 64;

/// Whether a name is a scheme that begins a URL with "//" after other bytes of a scheme (X8).
pub(super) fn is_usual(name: &[u8]) -> bool {
    [&b"http"[..], b"https", b"ftp"].iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The known schemes without "//", and what has to follow their colon (X9).
const KNOWN: [(&[u8], Needs); 22] = [
    (b"mailto", Needs::Address),
    (b"sip", Needs::Address),
    (b"sips", Needs::Address),
    (b"xmpp", Needs::Address),
    (b"acct", Needs::Address),
    (b"mid", Needs::Address),
    (b"cid", Needs::Address),
    (b"news", Needs::Group),
    (b"tel", Needs::Number),
    (b"sms", Needs::Number),
    (b"geo", Needs::Number),
    (b"doi", Needs::Number),
    (b"callto", Needs::Number),
    (b"urn", Needs::Namespace),
    (b"tag", Needs::Authority),
    (b"data", Needs::MediaType),
    (b"magnet", Needs::Query),
    (b"about", Needs::Anything),
    (b"bitcoin", Needs::Anything),
    (b"blob", Needs::Anything),
    (b"javascript", Needs::Anything),
    (b"view-source", Needs::Anything),
];

/// For each last letter of a known scheme, the letters that precede it in one: bit 1 is "a", in upper or lower case.
static ENDINGS: [u32; 256] = {
    let mut endings = [0; 256];
    let mut n = 0;
    while n < KNOWN.len() {
        let [.., before, last] = KNOWN[n].0 else { panic!("a name has two letters") };
        let bit = 1 << (*before & 31);
        endings[last.to_ascii_lowercase() as usize] |= bit;
        endings[last.to_ascii_uppercase() as usize] |= bit;
        n += 1;
    }
    endings
};

/// Whether the name of a known scheme may end with these two bytes. Most words are ruled out by them, without a branch.
#[inline(always)]
pub(super) fn may_end_with(before: u8, last: u8) -> bool {
    ENDINGS[usize::from(last)] >> (before & 31) & 1 == 1
}

/// What has to follow the colon of a known scheme (X9). `None` if the name is not a known scheme.
pub(super) fn find(name: &[u8]) -> Option<Needs> {
    KNOWN.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|&(_, needs)| needs)
}
