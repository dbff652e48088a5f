//! Checks the parser of the WHATWG URL Standard against its own answers, and against the shortcut that looks at scheme and host alone.
//!
//! The first byte says how much of the input is the base.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlsift::internal::PlainUrl;
use urlsift::whatwg::{Level, hosts_differ, parse};
use urlsift::{Grammar, judge};

fuzz_target!(|input: &[u8]| {
    let &[share, ref input @ ..] = input else { return };
    let (base, line) = input.split_at(usize::from(share).min(input.len()));
    let base = parse(base, None).url().cloned();
    let parsed = parse(line, base.as_ref());
    if let Some(url) = parsed.url() {
        // The URL that browsers use is a URL, and stays as it is.
        let href = url.to_string();
        let again = parse(href.as_bytes(), None);
        let again = again.url().expect("a URL");
        assert_eq!((again.to_string(), &again.host), (href, &url.host));
    }
    if let Some(plain) = PlainUrl::of(line, judge(line).verdict().accepts(Grammar::Rfc3986)) {
        let url = parsed.url().expect("a URL");
        assert!(parsed.level() == Level::Valid && !hosts_differ(line, base.as_ref(), url));
        assert_eq!(plain.host(line).as_deref(), url.host.as_deref().map(str::as_bytes));
        if let Some(kept) = plain.kept(line) {
            assert_eq!(*kept.text(line), *url.to_string().as_bytes());
        }
    }
});
