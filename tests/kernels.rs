//! Every kernel of this machine must give the same result on every buffer as the portable kernel, and as the judge line by
//! line.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::reference::Rng;
use crate::support::{amount, corpus_files, mutated, on_all_cores, with_scanner};
use urlsift::internal::run::KernelId;
use urlsift::internal::scan::{Options, Place, Scanner};
use urlsift::internal::{PathCounts, scan_into};
use urlsift::{Grammar, Tally};

/// [`Options`] is non-exhaustive, so a function builds it.
fn options(grammar: Grammar) -> Options {
    let mut options = Options::default();
    options.grammar = grammar;
    options
}

fn scan(kernel: KernelId, bytes: &[u8], grammar: Grammar) -> (Tally, PathCounts) {
    let mut tally = Tally::default();
    let (place, options) = (Place { input: 0, offset: 0 }, options(grammar));
    let path_counts = with_scanner(kernel, |scanner| scan_into(&mut tally, scanner, bytes, place, &options));
    (tally, path_counts)
}

/// The difference between the scans of `bytes`, if there is one.
fn fault(bytes: &[u8], grammar: Grammar) -> Option<String> {
    let counts = crate::scan_by_judge::count(bytes, grammar);
    let judged = crate::scan_by_judge::judged(&counts);
    let scan_with = |kernel| {
        let (tally, path_counts) = scan(kernel, bytes, grammar);
        let n_lines = path_counts.bulk + path_counts.listed;
        if n_lines == judged {
            Ok(tally)
        } else {
            Err(format!("{kernel}: {path_counts:?} are {n_lines} lines of {judged}"))
        }
    };
    let compare = || {
        // Equal tallies have equal counts, so only one of them is compared with the judge.
        let portable = scan_with(KernelId::Portable)?;
        let found = crate::scan_by_judge::of(&portable);
        if found != counts {
            return Err(format!("portable, judge\n{}", crate::scan_by_judge::difference(&found, &counts)));
        }
        for kernel in KernelId::available().filter(|&kernel| kernel != KernelId::Portable) {
            let tally = scan_with(kernel)?;
            if tally != portable {
                return Err(format!("{kernel}, portable\n{tally:?}\n{portable:?}"));
            }
        }
        Ok(())
    };
    compare().err()
}

/// Compares all kernels on `bytes`.
///
/// # Panics
/// If a kernel differs, with the shortest buffer that still shows the difference and is found within ten seconds.
fn check(bytes: &[u8], grammar: Grammar, origin: &dyn Fn() -> String) {
    if fault(bytes, grammar).is_none() {
        return;
    }
    let mut bytes = bytes.to_vec();
    let mut len = bytes.len().next_power_of_two();
    // Shortening a buffer of several chunks would take hours.
    let until = Instant::now() + Duration::from_secs(10);
    while len > 0 {
        let mut at = 0;
        while at < bytes.len() && Instant::now() < until {
            let shorter = [&bytes[..at], &bytes[bytes.len().min(at + len)..]].concat();
            if fault(&shorter, grammar).is_some() {
                bytes = shorter;
            } else {
                at += len;
            }
        }
        len /= 2;
    }
    panic!(
        "they differ, {grammar} explained ({}), still on \"{}\": {}",
        origin(),
        bytes[..bytes.len().min(4096)].escape_ascii(),
        fault(&bytes, grammar).unwrap_or_default()
    );
}

/// The grammar that explains the buffer with this number. Successive buffers have the same one, because a scanner makes a new
/// table of lines when the grammar changes. That takes longer than to scan a short buffer.
fn grammar_of(n: u64) -> Grammar {
    Grammar::ALL[usize::try_from(n / 64 % 5).unwrap()]
}

#[test]
fn every_kernel_that_the_processor_can_run_is_covered() {
    let names: Vec<_> = KernelId::available().map(KernelId::name).collect();
    println!("kernels covered: {}", names.join(", "));
    // The features that the standard library detects.
    #[cfg(target_arch = "x86_64")]
    let (avx2, gfni, avx512) = (
        is_x86_feature_detected!("avx2"),
        is_x86_feature_detected!("gfni"),
        is_x86_feature_detected!("avx512vbmi") && is_x86_feature_detected!("avx512bw"),
    );
    #[cfg(not(target_arch = "x86_64"))]
    let (avx2, gfni, avx512) = (false, false, false);
    #[cfg(target_arch = "aarch64")]
    let neon = std::arch::is_aarch64_feature_detected!("neon");
    #[cfg(not(target_arch = "aarch64"))]
    let neon = false;
    let expected = [
        ("portable", true),
        ("avx2", avx2),
        ("avx2-gfni", avx2 && gfni),
        ("avx512", avx512 && gfni),
        ("neon", neon),
    ];
    let expected: Vec<_> = expected.into_iter().filter(|(_, runs)| *runs).map(|(name, _)| name).collect();
    assert_eq!(names, expected);
}

#[test]
fn corpora() {
    let files = corpus_files().into_iter();
    // `scan_by_judge` knows no bound on schemes; `schemes_are_bounded` looks at that.
    let files = files.filter(|path| !path.ends_with("schemes_2000.txt"));
    let files: Vec<_> = files.map(|path| (fs::read(&path).unwrap(), path)).collect();
    assert!(files.len() > 50);
    for grammar in Grammar::ALL {
        for (bytes, path) in &files {
            check(bytes, grammar, &|| path.display().to_string());
        }
    }
}

#[test]
fn schemes_are_bounded() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/hostile/schemes_2000.txt");
    let bytes = fs::read(path).unwrap();
    let (portable, _) = scan(KernelId::Portable, &bytes, Grammar::Rfc3986);
    for kernel in KernelId::available() {
        assert!(scan(kernel, &bytes, Grammar::Rfc3986).0 == portable, "{kernel}");
    }
}

/// Parts of lines. A buffer uses only a few kinds, like a real list.
const SCHEMES: [&str; 40] = [
    "http", "http", "http", "https", "https", "ftp", "ftp", "file", "file", "", "", "HTTP", "hTTps", "Ftp",
    "fIlE", "httpss", "htt", "ftps", "ft", "fil", "files", "f", "h", "gopher", "telnet", "mailto", "news",
    "wais", "nntp", "url", "url:http", "url:ftp", "x", "1x", "-x", "x+y", "afs", "ws", "tel", "data",
];
const HOSTS: [&str; 24] = [
    "example.org", "www.example.org", "h", "a-b.c-d", "127.0.0.1", "1.2.3.4.5", "256.1.1.1", "3com.com",
    "a.1b", "a.b1", "a-", "-a", "a..b", "a.", ".a", "-", ".", "", "a-.b", "a.-b", "h_x", "u@h", "u:p@h",
    "[::1]",
];
const PORTS: [&str; 12] =
    [":80", ":443", ":21", ":8080", ":25", ":", ":080", ":99999999999", ":8x", ":80:80", ":x", "::"];
const TEXTS: [&str; 44] = [
    "a", "index.html", "b/c", "-", "_", ".", "..", "~", "~u", "+", "=", ";", ";type=i", "&x=y", ":", "@",
    "!", "*", "'", "(", ")", ",", "$", "%41", "%2F", "%2f", "%3b", "%3F", "%2B", "%00", "%0a", "%09", "%0D",
    "%20", "%40", "%", "%4", "%4g", "\"", "[", "]", " ", "\u{e9}", "\\",
];

fn pick<'a>(rng: &mut Rng, from: &[&'a str]) -> &'a str {
    from[rng.below(from.len())]
}

/// A random line with a scheme. Some grammar accepts most of these lines.
fn line(rng: &mut Rng, scheme: &str, odd: usize) -> Vec<u8> {
    let mut line = scheme.to_owned();
    if !scheme.is_empty() {
        line += if rng.below(odd) > 0 {
            "://"
        } else {
            pick(rng, &["", ":", ":/", "//", ":///", ":x", "::/", ":?", ":#"])
        };
        line += if rng.below(odd) > 0 { HOSTS[rng.below(4)] } else { pick(rng, &HOSTS) };
        if rng.below(odd) == 0 {
            line += pick(rng, &PORTS);
        }
    }
    // Few lines are long, because only positions within a block matter.
    let long = if rng.below(8) == 0 { 40 } else { 6 };
    for mark in ["/", "?", "#"] {
        if mark == "/" || rng.below(4) == 0 {
            line += if rng.below(16) == 0 { pick(rng, &["", "//", "??", "##", "/?", "?/"]) } else { mark };
            for _ in 0..rng.below(long) {
                line += if rng.below(odd) > 0 { TEXTS[rng.below(8)] } else { pick(rng, &TEXTS) };
                if rng.below(3) == 0 {
                    line += if mark == "/" { "/" } else { "&" };
                }
            }
        }
    }
    let mut line = line.into_bytes();
    if rng.below(2 * odd) == 0 {
        line = mutated(&line, rng);
    }
    line.truncate(300);
    line
}

/// Random lines of a few kinds, with all kinds of line ends.
fn buffer(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    if rng.below(16) == 0 {
        bytes.extend_from_slice(b"\xef\xbb\xbf");
    }
    let schemes: Vec<_> = (0..=rng.below(4)).map(|_| pick(rng, &SCHEMES)).collect();
    // How rarely lines and line ends are unusual.
    let odd = [1, 4, 16, 100][rng.below(4)];
    let odd_ends = [1, 8, 1000][rng.below(3)];
    let most = [4, 20, 60][rng.below(3)];
    for _ in 0..rng.below(most) {
        match rng.below(40) {
            0 => bytes.extend((0..rng.below(301)).map(|_| b"abc-./1"[rng.below(7)])),
            1 => bytes.extend((0..rng.below(20)).map(|_| u8::try_from(rng.below(256)).unwrap())),
            _ => {
                let scheme = pick(rng, &schemes);
                bytes.extend(line(rng, scheme, odd));
            }
        }
        let end = if rng.below(odd_ends) > 0 {
            "\n"
        } else {
            pick(
                rng,
                &["\r\n", "\r\r\n", "\n\n", "\r", "\0\n", "\r\n\r\n", "\n\r\n", "\rx\n", "\n\n\n\n\r\r\n"],
            )
        };
        bytes.extend_from_slice(end.as_bytes());
    }
    if rng.below(2) == 0 {
        bytes.pop();
    }
    bytes
}

#[test]
fn random_buffers() {
    on_all_cores(amount(12_500, 100_000), |n| {
        let mut rng = Rng::new((1 << 32) + n);
        let bytes = buffer(&mut rng);
        check(&bytes, grammar_of(n), &|| format!("number {n}"));
        0
    });
}

/// No kernel reads past the end of its buffer. Buffers of all lengths end directly before a protected page.
#[cfg(unix)]
#[test]
fn buffers_at_the_end_of_memory() {
    let mut page = crate::page::Page::new(8192);
    let mut rng = Rng::new(1);
    let lengths = (0..300).chain((300..8192).step_by(61));
    for len in lengths {
        let mut text = Vec::new();
        while text.len() < len {
            text.extend(buffer(&mut rng));
            text.push(b'\n');
        }
        for end in ["", "\n", "\r", "%\n", "\nh"] {
            let mut bytes = text[..len - end.len().min(len)].to_vec();
            bytes.extend_from_slice(end.as_bytes());
            let grammar = grammar_of(8 * len as u64);
            check(&bytes, grammar, &|| format!("{len} bytes"));
            let expected = scan(KernelId::Portable, &bytes, grammar);
            let bytes = page.end_with(&bytes);
            for kernel in KernelId::available() {
                assert!(scan(kernel, bytes, grammar).0 == expected.0, "{kernel}, {len} bytes");
            }
        }
    }
}

/// Templates of lines. Every byte in them matters to some rule.
const TEMPLATES: [&str; 25] = [
    "http://a.b/c?d#e", "https://a-b.c:80/d", "ftp://a.bc:21/d%2Fe;type=a", "file://a/b", "file:///a?b",
    "a/b:c?d#e", "//a:1/b", "http://1.2.3.4/", "http://a:443/b", "http://a.b1.2c/", "http://a:1?b",
    "http://a?b/c??d#e#f", "HTTP://A/%2f%3B%0a%41", "ftp://a%0D", "x-y://a:1/%00b", "gopher://a:25/1%09",
    "http:", "ftp:/", "file:", "http://", "http://a:", "http://a/%4", "https://a#", "1x://a/b c",
    "url:http://a/b",
];

/// Replaces or inserts every byte at every position of a template, and adds it before and after.
#[test]
fn every_byte_in_every_place() {
    // The lines of a round begin at different positions of a block. Each round shifts them by `step` bytes.
    let step = amount(13, 7);
    let n_rounds = 64_u64.div_ceil(step);
    on_all_cores(TEMPLATES.len() as u64 * n_rounds, |n| {
        let template = TEMPLATES[usize::try_from(n / n_rounds).unwrap()].as_bytes();
        let before = n % n_rounds * step;
        let mut bytes = vec![b'x'; usize::try_from(before).unwrap()];
        bytes.push(b'\n');
        for at in 0..=template.len() {
            for byte in 0..=u8::MAX {
                for skipped in [0, 1] {
                    bytes.extend_from_slice(&template[..at]);
                    bytes.push(byte);
                    bytes.extend_from_slice(&template[template.len().min(at + skipped)..]);
                    bytes.push(b'\n');
                }
            }
        }
        let grammar = Grammar::ALL[usize::try_from(n % 5).unwrap()];
        check(&bytes, grammar, &|| format!("{} behind {before}", template.escape_ascii()));
        0
    });
}

/// Tests every template alone, at every position of the first two blocks, with every line end.
#[test]
fn every_place_of_a_block() {
    for template in TEMPLATES {
        let mut places: Vec<_> = (0..130).step_by(usize::try_from(amount(3, 1)).unwrap()).collect();
        // Those with the same grammar are successive.
        places.sort_by_key(|before| before % 5);
        for before in places {
            for end in ["", "\n", "\r", "\r\n", "\r\r\n", "\0\n"] {
                for rest in ["", "http://h/\n"] {
                    let mut text = "y".repeat(before);
                    let _ = write!(text, "\n{template}{end}{rest}");
                    let grammar = Grammar::ALL[before % 5];
                    check(text.as_bytes(), grammar, &|| format!("{template} behind {before}"));
                }
            }
        }
    }
}

/// The first `n` bytes of `text` repeated.
fn repeated(text: &[u8], n: usize) -> Vec<u8> {
    text.iter().copied().cycle().take(n).collect()
}

#[test]
fn buffers_of_one_kind() {
    let mut buffers: Vec<(&str, Vec<u8>)> = vec![("only newlines", vec![b'\n'; 100_000])];
    buffers.push(("blank lines with CR", b"\r\n".repeat(100_000)));
    buffers.push(("blank lines with more and more CRs", {
        (0..1500).flat_map(|n| [vec![b'\r'; n % 200], b"\n".to_vec()].concat()).collect()
    }));
    for text in [
        "http://h/\n", "https://h/\n", "ftp://h/\n", "file:///\n", "x\n", "http://h:81/\n", "ftp://h/%00\n",
        "http://h/ \n", "x://h/\n", "http://h?x\n", "http://h/%2F\r\n",
    ] {
        buffers.push((text, text.as_bytes().repeat(60_000)));
        buffers.push((text, text.as_bytes()[..text.len() - 1].to_vec()));
    }
    for (name, bytes) in &buffers {
        for grammar in [Grammar::Rfc3986, Grammar::Rfc1738] {
            check(bytes, grammar, &|| (*name).to_owned());
        }
    }
}

/// Lines longer than all lanes together, or so long that no line begins in some lanes.
#[test]
fn lines_longer_than_lanes() {
    let bodies = [
        "http://h/", "ftp://h/%2F", "file:///", "x://", "a", "http://h/?", "http://h/#", "", "https://a.b:",
        "ftp",
    ];
    let fillers = ["a", "1", "a-", "%41", "/", ".", "1.", "?", ":", "\r", "%00", "http://h/", "=", "~"];
    let n = bodies.len() * fillers.len();
    on_all_cores(n as u64, |n| {
        let n = usize::try_from(n).unwrap();
        let (body, filler) = (bodies[n % bodies.len()], fillers[n / bodies.len()]);
        for len in [500, 4096, 5000, 20_000] {
            for tail in ["", "\n", " \n", "#\n", "\r\n", "%\n", "\nhttp://h/\nftp://h/\n"] {
                let mut bytes = b"ftp://h/a\nb\n".to_vec();
                bytes.extend_from_slice(body.as_bytes());
                bytes.extend(repeated(filler.as_bytes(), len));
                bytes.extend_from_slice(tail.as_bytes());
                check(&bytes, Grammar::ALL[n % 5], &|| format!("{body} and {len} bytes of {filler}"));
            }
        }
        0
    });
}

/// The component of a defect is found by the first 65,536 bytes of a line. Short lines with the same defect are counted in bulk.
#[test]
fn a_defect_far_behind_in_a_line() {
    let lines = [
        ("", "http://seven:-1/"),
        ("", "://h:8a#"),
        ("http://", ":-1/"),
        ("ftp://", ":8a?"),
        ("//", ":-1#"),
        ("", "a?b#c#"),
    ];
    // With so many lines counted in bulk, the others are listed and not left to the table scan.
    let many = "http://h/a\n".repeat(24_000);
    for (start, end) in lines {
        let short = format!("{start}h{end}\nfoo://h:-1/\nfile://mm:8a/a#f\n").repeat(10);
        let long = format!("{start}{}{end}\n", "x".repeat(1 << 16));
        let check = |text: String, grammar| check(text.as_bytes(), grammar, &|| format!("{start}...{end}"));
        for grammar in Grammar::ALL {
            check(format!("{short}{long}{short}"), grammar);
            check(format!("{long}{short}"), grammar);
        }
        check(format!("{many}{short}{many}{short}{long}{short}{many}"), Grammar::Rfc3986);
    }
}

/// Buffers of several chunks, with a line across a chunk boundary, or longer than a chunk.
#[test]
fn buffers_of_several_chunks() {
    let mut rng = Rng::new(1);
    let mut text = Vec::new();
    while text.len() < 1 << 20 {
        text.extend(buffer(&mut rng));
        text.push(b'\n');
    }
    on_all_cores(12, |n| {
        let mut rng = Rng::new(n);
        let at = |k: usize| (k * (512 << 10)).saturating_sub(40 + usize::try_from(n).unwrap() * 7);
        let mut bytes = text[..at(1)].to_vec();
        let filler = [b'a', b'\n', b'\r'][rng.below(3)];
        if n % 3 == 0 {
            bytes.extend_from_slice(b"\nhttp://h/");
            bytes.extend(vec![filler; (600 << 10) + rng.below(1000)]);
            bytes.extend_from_slice(b" \nftp://h/\n");
        }
        let rest = text[rng.below(1000)..].iter().take(700 << 10);
        bytes.extend(rest);
        check(&bytes, Grammar::ALL[rng.below(5)], &|| format!("chunks, {n}"));
        0
    });
}

/// Most lines have a byte that no grammar allows. Once their defects have examples, the bit streams count such lines in bulk.
#[test]
fn lines_that_no_grammar_accepts() {
    on_all_cores(amount(4, 32), |n| {
        let mut rng = Rng::new((1 << 34) + n);
        let schemes = [&SCHEMES[..], &["http", "https", "ftp", "file", ""]][rng.below(2)];
        let spoilers =
            [&["\u{e9}"][..], &["\u{e9}", " ", "\0", "\x7f", "<", "\"", "[", "%", "%4", "#", "##"]];
        let spoilers = spoilers[rng.below(2)];
        let odd = [4, 16, 1000][rng.below(3)];
        let mut bytes = Vec::new();
        while bytes.len() < 3 << 19 {
            let scheme = pick(&mut rng, schemes);
            let mut line = line(&mut rng, scheme, odd);
            if rng.below(odd) > 0 {
                let at = rng.below(line.len() + 1);
                line.splice(at..at, pick(&mut rng, spoilers).bytes());
            }
            bytes.extend(line);
            bytes.push(b'\n');
        }
        check(&bytes, Grammar::Rfc3986, &|| format!("number {n}"));
        0
    });
}

/// An earlier scan must not affect a later one by the same scanner, with another length or grammar.
#[test]
fn an_earlier_scan_does_not_affect_a_later_one() {
    let mut rng = Rng::new(1);
    let kernels: Vec<_> = KernelId::available().collect();
    let mut order = Vec::new();
    for _ in 0..300 {
        let mut bytes = buffer(&mut rng);
        if rng.below(10) == 0 {
            bytes = repeated(b"ftp://h/%00?\nhttp://h/ #\n\nfile://~\n", rng.below(200_000));
        }
        let grammar = Grammar::ALL[rng.below(5)];
        let place = Place { input: 3, offset: 1 << 40 };
        let mut portable = Tally::default();
        let scan_by = |kernel, tally: &mut Tally| {
            let options = options(grammar);
            with_scanner(kernel, |scanner| scan_into(tally, scanner, &bytes, place, &options));
        };
        scan_into(&mut portable, &mut Scanner::new(KernelId::Portable), &bytes, place, &options(grammar));
        let mut tally = Tally::default();
        let kernel = kernels[rng.below(kernels.len())];
        scan_by(kernel, &mut tally);
        order.push((kernel, bytes.len()));
        assert!(tally == portable, "{order:?}");
    }
}

/// Scans the parts of an input into one tally with alternating kernels. The tally must equal the tally of the whole, with line
/// numbers.
#[test]
fn parts_by_different_kernels() {
    let kernels: Vec<_> = KernelId::available().collect();
    on_all_cores(amount(375, 3000), |n| {
        let mut rng = Rng::new((1 << 33) + n);
        let bytes = buffer(&mut rng);
        let grammar = grammar_of(n);
        let (mut tally, mut at) = (Tally::default(), 0);
        while at < bytes.len() {
            let from = at + rng.below(bytes.len() - at);
            let end =
                bytes[from..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |lf| from + lf + 1);
            let kernel = kernels[rng.below(kernels.len())];
            let place = Place { input: 0, offset: at as u64 };
            let options = options(grammar);
            with_scanner(kernel, |scanner| scan_into(&mut tally, scanner, &bytes[at..end], place, &options));
            at = end;
        }
        let (whole, _) = scan(KernelId::Portable, &bytes, grammar);
        assert!(
            tally == whole,
            "number {n}: {}",
            crate::scan_by_judge::difference(
                &crate::scan_by_judge::of(&tally),
                &crate::scan_by_judge::of(&whole)
            )
        );
        0
    });
}

/// Bytes that no grammar allows have a shortcut without the automaton. It must give the judge's explanation.
#[test]
fn bytes_that_no_grammar_has() {
    let illegal: Vec<u8> =
        (0..=255_u8).filter(|&byte| !byte.is_ascii_graphic() || b"<>\\^`{|}".contains(&byte)).collect();
    let heads = [
        "http://h", "https://h:80", "ftp://h:", "file://", "file://h", "x://h", "1x://h", "+://h", "x-y://",
        "http:", "http:/", "http:///", "://h", "//h", "//", "/", "", "a", "mailto:", "mailto://h",
        "gopher://h", "news://h", "url://h", "url:http://h", "HTTP://H", "http://u@h", "http://[::1]",
        "http://1.2.3.4", "http://a-.b", "afs://h",
    ];
    let middles = [
        "", "/", "/a", "/a/b", "?", "/?", "/?a/?", "#", "/#", "/?#", "/#?", "/a?b#c/?", "?/", "#/", "/~",
        "/;=", "/:@",
    ];
    let befores = ["", "%", "%4", "%41", "%4g", "a", "%%", "#", "##", "%414", "\"", "[", "a%41b"];
    on_all_cores(amount(2500, 20_000), |n| {
        let mut rng = Rng::new((1 << 34) + n);
        let mut line = Vec::new();
        for text in [pick(&mut rng, &heads), pick(&mut rng, &middles), pick(&mut rng, &befores)] {
            line.extend_from_slice(text.as_bytes());
        }
        line.push(illegal[rng.below(illegal.len())]);
        for _ in 0..rng.below(3) {
            line.extend_from_slice(
                pick(&mut rng, &["a", "/", "?", "#", "%", "%41", " ", "\u{e9}", ":"]).as_bytes(),
            );
        }
        if rng.below(8) == 0 {
            line = mutated(&line, &mut rng);
        }
        // A CR at the end and an LF are line terminators.
        line.retain(|&byte| !matches!(byte, b'\n' | b'\r'));
        if !line.is_empty() {
            line.push(b'\n');
            check(&line, Grammar::Rfc3986, &|| format!("line {n}"));
        }
        0
    });
}
