use super::canonical::{canonical, canonical_of_accepted, kept, push_canonical};
use crate::Grammar;
use crate::judge::judge;
use crate::random::Random;

/// The lines of the samples that the repository has, where it is the whole repository.
fn samples() -> Vec<Vec<u8>> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpora/samples");
    let files = std::fs::read_dir(directory).into_iter().flatten();
    let texts = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
    texts.flat_map(|text| text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>()).collect()
}

/// Lines of a few pieces each, which have what the rules of both profiles look at.
fn drawn(n: usize, seed: u64) -> impl Iterator<Item = Vec<u8>> {
    let starts = "|http://|https://|http://example.org/|https://www2.a-b.org|HTTP://|hTtps://|FTP://|ftp://|ws:|x:|//|dns:";
    let starts: Vec<_> = starts.split('|').collect();
    let pieces: Vec<_> =
        "/|/|//|.|..|/.|/../|?|#|&|=|:|:80|:443|:0|:-1|@|[::1]|[v1.A]|a|B|www.|www2.|example|\
        .com|10|010|:12345678|:123456789|:0|///|http:///|ftp:///|+|\u{7f}|%7F|%3F|%e2%82%ac|&a&a&a&a&a&a&a&a&a|\
        %20|%26|%3d|%23|%2541|%5A|%41|%7e|%2F|%2e|%c3%a9|%C3|%|25|é|ß|\u{fffd}| |\t|(|\
        sid=0123456789abcdef0123456789ABCDEF|cfid=1&cftoken=2|b=2|a=1|.aspx|&k|\
        ?jsessionid=0123456789abcdef0123456789abcdef|&phpsess|\
        &aspsessionidabcdefgh=abcdefghijklmnopqrstuvwx&|id=0123456789abcdef0123456789abcdef|\
        /(0123456789abcdefABCDEFgh)/|/(a(0123456789abcdefABCDEFgh))/|~"
            .split('|')
            .collect();
    let mut random = Random::new(seed);
    (0..n).map(move |_| {
        let mut line = starts[random.below(starts.len())].to_owned();
        let n_pieces = random.below(10);
        for _ in 0..random.below(n_pieces + 1) {
            line += pieces[random.below(pieces.len())];
        }
        line.into_bytes()
    })
}

#[test]
fn canonical_forms() {
    for (line, expected) in [
        ("HTTP://User@EXAMPLE.com:80", "http://User@example.com/"),
        ("http://%45%58%41mple.org/%7Efoo%2f", "http://example.org/~foo%2F"),
        ("https://a:443/", "https://a/"),
        ("https://a:00443/?", "https://a/?"),
        ("https://a:80#%c3", "https://a:80/#%C3"),
        ("ws://a:80", "ws://a/"),
        ("wss://a:443?b", "wss://a/?b"),
        ("ftp://a:21", "ftp://a/"),
        ("foo://a:", "foo://a"),
        ("//A:80/../b", "//a:80/../b"),
        ("//A:", "//a"),
        ("../%2e/a", ".././a"),
        ("http://a/b/%2e%2E/c/.", "http://a/c/"),
        ("http:b/../c", "http:b/../c"),
        ("http:?b", "http:?b"),
        ("x:/a/..//b", "x:/.//b"),
        ("x:/.//b", "x:/.//b"),
        ("http://[2001:DB8:0::1]/", "http://[2001:db8:0::1]/"),
        ("http://[v1.FE]/A?B#C", "http://[v1.fe]/A?B#C"),
        ("http://a%2Fb%C3/", "http://a%2Fb%C3/"),
        ("http:///", "http:///"),
        ("", ""),
    ] {
        let mut out = Vec::new();
        assert_eq!(canonical(line.as_bytes(), &mut out), Some(expected.as_bytes()), "{line}");
    }
    assert_eq!(canonical(b"http://a b/", &mut Vec::new()), None);
}

#[test]
fn canonical_forms_are_accepted_and_their_own() {
    let (mut n_plain, mut n_slow) = (0, 0);
    for line in samples().into_iter().chain(drawn(60_000, 1)) {
        let (mut out, mut again) = (Vec::new(), Vec::new());
        let show = || String::from_utf8_lossy(&line).into_owned();
        let Some(form) = canonical(&line, &mut out) else {
            assert!(!judge(&line).verdict().accepts(Grammar::Rfc3986));
            let _ = canonical_of_accepted(&line, &mut out);
            continue;
        };
        assert!(judge(form).verdict().accepts(Grammar::Rfc3986), "{}", show());
        assert_eq!(canonical(form, &mut again), Some(form), "{}", show());
        again = b"kept".to_vec();
        push_canonical(&line, &mut again);
        assert_eq!(again.strip_prefix(b"kept"), Some(form), "{}", show());
        let plain = kept(&line).map(|kept| kept.text(&line));
        assert!(plain.as_deref().is_none_or(|plain| plain == form), "{}", show());
        *(if plain.is_some() { &mut n_plain } else { &mut n_slow }) += 1;
    }
    assert!(n_plain > 1_000 && n_slow > 1_000, "{n_plain} {n_slow}");
}

/// Repeated text takes linear time. Each of these lines would take seconds in quadratic time.
#[test]
fn hostile_lines() {
    let n = 1 << 17;
    let pieces = "/..|/|/a/|.|..|%25|25|%2525|%|%c3|%c3%a9|%e2%82|&|=|a=1&|b&a=1&|sid=&|cfid=|cfid=1&|\
        &cftoken=1|cfid=&cftoken=&|/(|/(0123456789abcdefABCDEFgh)/|(a(0123456789abcdefABCDEFgh)|\
        ?|[|]|:|@|www.|é|é.|ß|\u{fdfa}|\u{300}|\u{5d0}|1|0.|\t| |\u{fffd}"
        .split('|');
    for piece in pieces {
        for start in ["http://a/", "http://", "http://a/?", "http://a/x.aspx", "x:/", ""] {
            let line = [start, &piece.repeat(n / piece.len()), ".aspx?z"].concat().into_bytes();
            let _ = canonical_of_accepted(&line, &mut Vec::new());
            #[cfg(feature = "keys")]
            let _ = super::surt::surt(&line, &mut Vec::new());
        }
    }
}

#[cfg(feature = "keys")]
mod surt {
    use std::path::Path;

    use super::{drawn, samples};
    use crate::keys::surt::{PathAndQuery, push_any, push_plain, surt};
    use crate::plain_host::PlainHost;
    use crate::uri_parts::split;

    fn known(line: &[u8]) -> Option<(PlainHost, PathAndQuery)> {
        let (host, parts) = (PlainHost::of(line)?, split(line));
        let path = parts.path.end;
        let query = parts.query.map_or(path, |query| query.end);
        Some((host, PathAndQuery { path, query, may_have_escape: line.contains(&b'%') }))
    }

    fn of(push: fn(&[u8], &mut Vec<u8>) -> Option<()>, line: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        push(line, &mut out).map(|()| out)
    }

    fn key(line: &[u8]) -> Option<Vec<u8>> {
        let mut out = b"kept".to_vec();
        let has_key = surt(line, &mut out);
        assert!(out.starts_with(b"kept") && (has_key || out.len() == 4));
        has_key.then(|| out.split_off(4))
    }

    /// Every row, or the rows of another table of this form.
    #[test]
    fn keys_are_those_of_the_key_maker() {
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/surt-cc.tsv");
        let path = std::env::var_os("URLSIFT_SURT_TABLE").unwrap_or_else(|| own.into());
        let table = std::fs::read(Path::new(&path)).unwrap();
        let (mut n_rows, mut n_different) = (0, 0);
        for row in table.split(|&byte| byte == b'\n').filter(|row| !row.is_empty()) {
            let tab = row.iter().rposition(|&byte| byte == b'\t').unwrap();
            let (line, expected) = (&row[..tab], &row[tab + 1..]);
            let is_exception = expected.starts_with(b"!") && expected.ends_with(b"Exception");
            let expected = (!is_exception).then_some(expected);
            let key = key(line);
            n_rows += 1;
            if key.as_deref() != expected {
                n_different += 1;
                let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                eprintln!(
                    "{}\n  is {:?}\n  not {:?}",
                    show(line),
                    key.as_deref().map(show),
                    expected.map(show)
                );
            }
        }
        assert!(n_rows > 0 && n_different == 0, "{n_different} of {n_rows} keys are different");
    }

    #[test]
    fn plain_lines_have_the_keys_of_the_rules() {
        let (mut n_plain, mut n_others) = (0, 0);
        for line in samples().into_iter().chain(drawn(60_000, 2)) {
            let slow = of(push_any, &line);
            let by_host = of(|line, out| push_plain(line, known(line), out), &line);
            let plain = of(|line, out| push_plain(line, None, out), &line);
            assert_eq!(by_host, plain, "{}", String::from_utf8_lossy(&line));
            if let Some(plain) = plain {
                assert_eq!(Some(plain), slow, "{}", String::from_utf8_lossy(&line));
                n_plain += 1;
            } else {
                n_others += 1;
            }
            assert_eq!(key(&line), slow);
        }
        assert!(n_plain > 1_000 && n_others > 1_000, "{n_plain} {n_others}");
    }
}
