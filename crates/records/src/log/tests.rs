//! Patterns by cases, and lines against regular expressions that are made of the same pattern.

use regex::bytes::Regex;

use super::super::quoted::{Quoted, target};
use super::super::{Counts, Format, Reader, Skip};
use super::compose::Token;
use super::pattern::{Escapes, Pattern};
use super::variables::Kind;
use super::*;
use urlsift_grammar::random::Random;

/// The tokens of a pattern, in a form that is easy to read.
fn shown(pattern: &str) -> String {
    let pattern = match Pattern::parse(pattern) {
        Ok(pattern) => pattern,
        Err(why) => return why,
    };
    let token = |token: &Token| match token {
        Token::Literal(bytes) => bytes.escape_ascii().to_string().replace("\\\"", "\""),
        Token::Variable(variable) => match variable.kind {
            Kind::RequestLine => format!("<{}: line>", variable.name),
            Kind::Target => format!("<{}: request>", variable.name),
            Kind::Url(role) => format!("<{}: {role}>", variable.name),
            _ => format!("<{}>", variable.name),
        },
    };
    pattern.tokens.iter().map(token).collect()
}

#[test]
fn a_message_names_all_variables_of_a_known_log() {
    let logs = [
        (Format::S3, S3),
        (Format::Elb, ELB),
        (Format::Haproxy, HAPROXY),
        (Format::Squid, SQUID),
        (Format::Envoy, ENVOY),
    ];
    for (format, preset) in logs {
        let said = format.row().fields.strip_prefix(&format!("the fields of {format} are ")).unwrap();
        let said = said.trim_end_matches(" (or referer)").replace(" and ", ", ");
        let pattern = preset.pattern();
        let names: Vec<_> =
            pattern.tokens.iter().filter_map(Token::variable).map(|variable| &*variable.name).collect();
        assert_eq!(said, names.join(", "));
    }
}

#[test]
fn patterns_of_nginx_are_read() {
    for (pattern, expected) in [
        (
            r#"$remote_addr - $remote_user [$time_local] "$request" $status "$http_referer""#,
            r#"<remote_addr> - <remote_user> [<time_local> <time_local>] "<request: line>" <status> "<http_referer: referer>""#,
        ),
        ("${host}_$request_uri", "<host>_<request_uri: request>"),
        ("$status $uri$is_args$args|", "<status> <uri: request>|"),
        ("$uri?$args", "<uri: request>"),
        ("$scheme://$http_host$request_uri $status", "<request_uri: url> <status>"),
        ("$scheme://$host:$server_port$request_uri", "<request_uri: url>"),
        ("$status https://$host$request_uri", "<status> <request_uri: url>"),
        ("http://$host$uri", "<uri: url>"),
        ("$host $request_uri", "<host> <request_uri: request>"),
        (r#""$request_method $request_uri $server_protocol" $status"#, r#""<request_uri: line>" <status>"#),
        (r#""$request_method $scheme://$host$uri $server_protocol""#, r#""<uri: line>""#),
        (
            "$request_method $uri $server_protocol $status",
            "<request_method> <uri: request> <server_protocol> <status>",
        ),
        (r"\x$uri\t\\", r"\\x<uri: request>\t\\"),
        (
            "log_format main escape=default '$remote_addr \"$request\" '\n    '$status \\'$uri\\'';",
            "<remote_addr> \"<request: line>\" <status> \\'<uri: request>\\'",
        ),
        (
            "$remote_addr$status $uri",
            "nothing separates remote_addr and status, so that a line does not show where one ends",
        ),
        ("$scheme$host", "nothing separates scheme and host, so that a line does not show where one ends"),
        ("$uri $", "after $, a name is missing (byte 6)"),
        ("$uri ${a", "after $, a name is missing (byte 6)"),
        (r"$uri\n$status", "a record is one line, but it has a line break"),
        ("", "it has no variable, such as $request or %r"),
    ] {
        assert_eq!(shown(pattern), expected, "{pattern}");
    }
}

#[test]
fn patterns_of_apache_are_read() {
    for (pattern, expected) in [
        (
            r#"%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\""#,
            r#"<h> <l> <u> [<t>] "<r: line>" <s> <b> "<{Referer}i: referer>" "<{User-Agent}i>""#,
        ),
        (r#"LogFormat "%v:%p %h \"%r\" %>s" vhost"#, r#"<v>:<p> <h> "<r: line>" <s>"#),
        ("%U%q", "<U: request>"),
        ("%v%U%q", "<U: url>"),
        ("http://%{Host}i%U%q %s", "<U: url> <s>"),
        (r#""%m %U%q %H""#, r#""<U: line>""#),
        ("%!200,304{Referer}i %{Referer}<i %400r", "<{Referer}i: referer> <{Referer}i: referer> <r: line>"),
        ("%{Location}o %% %^FB %{X}^ti", "<{Location}o: url> % <^FB> <{X}^ti>"),
        ("[%{%d/%b/%Y:%T}t.%{msec_frac}t %{%z}t] %U", "[<t>/<t>/<t>:<t>.<{msec_frac}t> <t>] <U: request>"),
        ("%{begin:%Y%m%d-%H}t %U", "<t>-<t> <U: request>"),
        ("%U%h", "nothing separates U and h, so that a line does not show where one ends"),
        ("%U %", "after %, the letter of a directive is missing (byte 4)"),
        ("%U %{a", "after %, the letter of a directive is missing (byte 4)"),
        ("%U %é", "after %, the letter of a directive is missing (byte 4)"),
        ("%U %>", "after %, the letter of a directive is missing (byte 4)"),
    ] {
        assert_eq!(shown(pattern), expected, "{pattern}");
    }
}

#[test]
fn only_patterns_with_the_wanted_variables_are_compiled() {
    let fault = |pattern: &str, fields: &[&str]| {
        let fields: Vec<_> = fields.iter().map(|field| field.parse().unwrap()).collect();
        Plan::of(pattern, &fields).err()
    };
    assert_eq!(fault("$remote_addr $status", &[]), Some(Fault::NoUrl));
    assert_eq!(fault("$remote_addr $status", &["status"]), None);
    assert_eq!(fault("$remote_addr $status", &["$status"]), None);
    assert_eq!(fault("%h %{X-Url}i", &["{x-url}i"]), None);
    assert_eq!(fault("%h %{X-Url}i", &["%{X-Url}i"]), None);
    assert_eq!(fault("$status $uri", &["request"]), None);
    assert_eq!(fault("$status $uri", &["request", "referer"]), Some(Fault::Field(1)));
    assert_eq!(fault("$status $uri", &["1"]), Some(Fault::Field(0)));
    let blanks = |name: &str| Some(Fault::Blanks(name.to_owned()));
    assert_eq!(fault("$request $status", &[]), blanks("request"));
    assert_eq!(fault("$http_user_agent $uri", &[]), blanks("http_user_agent"));
    assert_eq!(fault("$uri $http_user_agent $status", &[]), None);
    assert_eq!(fault("\"$http_user_agent\" $uri", &[]), None);
    assert_eq!(fault("$request|$status", &[]), None);
}

/// Reads all lines at once, and cut at any byte, which has to give the same.
fn read(reader: &Reader, bytes: &[u8]) -> (Vec<String>, Counts) {
    let mut whole = reader.clone();
    let found: Vec<_> = whole.fields(bytes).map(|field| format!("{field:?}")).collect();
    for cut in 1..bytes.len() {
        let (mut cutter, mut fields, mut counts) = (reader.clone(), Vec::new(), Counts::default());
        let mut start = 0;
        for (end, is_last) in [(cut, false), (bytes.len(), true)] {
            let mut copy = cutter.clone();
            let len = cutter.cut(&bytes[start..end], is_last);
            fields.extend(copy.fields(&bytes[start..start + len]).map(|field| format!("{field:?}")));
            counts = counts.merge(copy.counts());
            start += len;
        }
        assert_eq!((&fields, &counts), (&found, whole.counts()), "cut at {cut}");
    }
    let counts = whole.counts().clone();
    (found, counts)
}

/// The fields of lines with this pattern: `role@offset text`, or `cause@offset`.
fn fields(pattern: &str, lines: &str) -> Vec<String> {
    let reader = Reader::of_log(pattern, &[]).unwrap();
    read(&reader, lines.as_bytes());
    let of = |field: Result<super::super::Field<'_>, super::super::BadRecord>| match field {
        Ok(field) => format!("{}@{} {}", field.role, field.offset, field.bytes.escape_ascii()),
        Err(bad) => format!("{}@{}", bad.cause, bad.at),
    };
    reader.clone().fields(lines.as_bytes()).map(of).collect()
}

#[test]
fn lines_are_read_or_refused_where_they_cease_to_fit() {
    let combined = r#"$remote_addr - $remote_user [$time_local] "$request" $status "$http_referer""#;
    for (pattern, line, expected) in [
        (
            combined,
            r#"::1 - a b [1/Jan/2026:0 +0] "GET /a HTTP/1.1" 200 "http://r/""#,
            &["request@33 /a", "referer@51 http://r/"][..],
        ),
        (combined, r#"::1 - - [1 +0] "GET /\x22\" HTTP/1.1" 200 "-""#, &["request@20 /\\\"\\\""]),
        (combined, r#"::1 - - [1 +0] "-" 200 "-""#, &[]),
        (combined, "::1 - -", &["not-a-record@6"]),
        (combined, "", &[]),
        (combined, r#"::1 - - [1 +0] "GET /"#, &["quote-not-closed@15"]),
        (combined, r#"::1 - - [1 +0] "GET /" 200 "a"b"#, &["text-behind-quote@30"]),
        (combined, r#"::1 - - [1 +0] "GET /a"b" 200 "a""#, &["text-behind-quote@23"]),
        (combined, r#"::1 - - [1 +0] "GET /a" 200 "a" 7"#, &["text-behind-quote@31"]),
        (combined, r#"::1 - - [1 +0] "GET /a""#, &["not-a-record@23"]),
        (combined, r#"::1 - - [1 +0] "/a" 200 "a""#, &["bad-request@16"]),
        (
            "ts=$msec url=$scheme://$host$request_uri st=$status",
            "ts=1 url=http://h/a?b st=2 3",
            &["url@9 http://h/a?b"],
        ),
        ("ts=$msec url=$uri", "at=1 url=/", &["not-a-record@0"]),
        ("ts=$msec url=$uri", "tst1 url=/", &["not-a-record@2"]),
        ("ts=$msec url=$uri", "ts=1 uri=/", &["not-a-record@3"]),
        ("$uri|$status", "/a b\\x7cc|200|x", &["request@0 /a b|c"]),
        ("$uri [$status]", "/a [b] c]", &["not-a-record@6"]),
        ("$status https://$host$uri", "200 https://h/a", &["url@4 https://h/a"]),
        ("log_format a escape=none '\"$uri\" $status';", "\"/a\\x41\"b\" 1", &["request@1 /a\\\\x41\\\"b"]),
        ("%h %t \"%m %U%q %H\" %s", "h [1 +0] \"GET /a?b HTTP/1.0\" 2", &["request@14 /a?b"]),
        ("\"%!200{Referer}i\" %{Location}o", "\"-\" /to", &["url@4 /to"]),
    ] {
        assert_eq!(fields(pattern, line), expected, "{pattern} in {line}");
        assert_eq!(fields(pattern, &format!("{line}\r\n{line}\n"))[..expected.len()], *expected, "{line}");
    }
}

#[test]
fn a_dash_of_s3_may_lack_its_quotes() {
    let line =
        "o b [03/Mar/2026:08:15:00 +0000] 1 r i REST.COPY.OBJECT_GET k REQUEST 200 - 1 2 3 4 REFERER - -";
    for (request, referer, expected) in [
        (r#""GET /a HTTP/1.1""#, r#""http://r/""#, vec!["/a", "http://r/"]),
        ("-", r#""http://r/""#, vec!["http://r/"]),
        (r#""GET /a HTTP/1.1""#, "-", vec!["/a"]),
        ("-", "-", vec![]),
        (r#""-""#, "-", vec![]),
    ] {
        let line = line.replace("REQUEST", request).replace("REFERER", referer);
        let mut reader = Reader::new(Format::S3);
        let found: Vec<_> =
            reader.fields(line.as_bytes()).map(|field| field.unwrap().bytes.into_owned()).collect();
        assert_eq!(found, expected.iter().map(|text| text.as_bytes()).collect::<Vec<_>>(), "{line}");
        assert_eq!(reader.counts().skipped(Skip::NoField), u64::from(expected.is_empty()));
    }
}

/// The result for a line by regular expressions, one for each variable: offsets and texts, or `None` if the line is refused.
fn twin(pattern: &Pattern, expressions: &[(Regex, bool)], line: &[u8]) -> Option<Vec<(usize, Vec<u8>)>> {
    let start = pattern.tokens[0].literal().unwrap_or_default();
    let mut rest = line.strip_prefix(start)?;
    let mut found = Vec::new();
    let mut steps = pattern.tokens.iter().filter_map(Token::variable).zip(expressions);
    while let Some((variable, (expression, has_escapes))) = steps.next() {
        let captures = expression.captures(rest)?;
        let at = line.len() - rest.len();
        let value = captures.get(1).unwrap();
        let quoted = Quoted { start: at, end: at + value.end(), has_escapes: *has_escapes };
        let field = match variable.kind {
            Kind::RequestLine => target(line, quoted).ok()?,
            Kind::Target | Kind::Url(_) if value.as_bytes() != b"-" => Some((at, quoted.text(line))),
            _ => None,
        };
        if let Some((at, bytes)) = field {
            let bytes = if pattern.escapes == Escapes::Hash { without_hashes(bytes) } else { bytes };
            found.push((at, bytes.into_owned()));
        }
        rest = &rest[captures.get(0).unwrap().end()..];
        if captures.get(2).is_some() {
            steps.next();
        }
    }
    let is_at_end = rest.is_empty() || pattern.is_open && matches!(rest[0], b' ' | b'\t');
    is_at_end.then_some(found)
}

/// An expression for each variable of a pattern, and whether its values have escapes. A second group is a `-` without quotes.
fn expressions(pattern: &Pattern) -> Vec<(Regex, bool)> {
    let literal = |n: usize| pattern.tokens.get(n).and_then(Token::literal).unwrap_or_default();
    let escaped = |bytes: &[u8]| regex::escape(std::str::from_utf8(bytes).unwrap());
    let of = |n: usize| {
        let (before, after) = (if n == 0 { b"" } else { literal(n - 1) }, literal(n + 1));
        let is_quoted = before.ends_with(b"\"") && after.starts_with(b"\"");
        let has_escapes = pattern.escapes == Escapes::Backslash;
        let value = match (after.is_empty(), is_quoted && has_escapes) {
            (true, _) => "(.*)",
            (false, true) => r#"((?:[^"\\]|\\.)*)"#,
            (false, false) => "(.*?)",
        };
        let next = literal(n + 3);
        let is_dash =
            pattern.may_lack_quotes && after.len() > 1 && after.ends_with(b"\"") && next.starts_with(b"\"");
        let bare = if is_dash {
            let bare = [&after[..after.len() - 1], b"-", &next[1..]].concat();
            format!("|({})", escaped(&bare))
        } else {
            String::new()
        };
        let end = format!("(?:{}{bare})", escaped(after));
        (Regex::new(&format!(r"(?s-u)\A{value}{end}")).unwrap(), has_escapes)
    };
    (0..pattern.tokens.len()).filter(|&n| pattern.tokens[n].variable().is_some()).map(of).collect()
}

/// Parts of values.
const VALUES: [&[u8]; 20] = [
    b"GET /a HTTP/1.1", b"-", b"", b"200", b"/a?b", b"http://h/", b"a b", b"\\\"", b"\\x41", b"\\", b"\"",
    b" ", b"[x] ", b" - ", b"#22", b"#2", b"::1", b"10/0", b"\xff\0", b"GET /\\\\\" HTTP/2",
];

/// A line: the literals of the pattern with values between them. Some of its bytes are changed.
fn drawn_line(pattern: &Pattern, random: &mut Random) -> Vec<u8> {
    let mut line = Vec::new();
    for token in &pattern.tokens {
        line.extend_from_slice(token.literal().unwrap_or_else(|| VALUES[random.below(VALUES.len())]));
    }
    for _ in 0..random.below(3) {
        let at = random.below(line.len() + 1);
        match random.below(3) {
            0 => line.truncate(at),
            1 => drop(line.splice(at..at, VALUES[random.below(VALUES.len())].iter().copied())),
            _ => drop(line.splice(at..line.len().min(at + 1), None)),
        }
    }
    line.retain(|byte| !matches!(byte, b'\n' | b'\r'));
    line
}

/// Compares drawn lines. Returns how many have a URL.
fn compare(pattern: &Pattern, plan: &Plan, n_lines: usize, random: &mut Random) -> usize {
    let expressions = expressions(pattern);
    let mut n_read = 0;
    for _ in 0..n_lines {
        let line = drawn_line(pattern, random);
        if line.is_empty() {
            continue;
        }
        let mut more = Vec::new();
        let record = Record::line(first_line(&line), &mut more, |line, parts| plan.take(line, parts));
        let parts = record.first.into_iter().chain(more);
        let found: Vec<_> = parts.map(|part| (part.at, part.bytes.into_owned())).collect();
        let found = match record.miss {
            None | Some(Miss::Skipped(_)) => Some(found),
            Some(Miss::Bad(_, at)) => {
                assert!(at <= line.len());
                None
            }
        };
        n_read += usize::from(found.as_ref().is_some_and(|found| !found.is_empty()));
        assert_eq!(found, twin(pattern, &expressions, &line), "{} {pattern:?}", line.escape_ascii());
    }
    n_read
}

#[test]
fn drawn_lines_are_read_as_by_expressions() {
    let own = [
        r#"$remote_addr - $remote_user [$time_local] "$request" $status "$http_referer" "$http_user_agent""#,
        r#""$request"|$status|$http_referer"#,
        "$scheme://$host$request_uri $status",
        "$uri - $http_referer - ",
        r#"a$uri"b"$http_referer""$sent_http_location" "#,
        r#"%h %t "%r" "%{Referer}i""#,
        "%U%q\t%s",
    ];
    let presets = [S3, ELB, HAPROXY, SQUID, ENVOY];
    let patterns = own.iter().map(|text| Pattern::parse(text).unwrap());
    let mut random = Random::new(26);
    let mut n_read = 0;
    for pattern in patterns.chain(presets.map(|preset| preset.pattern())) {
        let plan = Plan::compile(&pattern, &[]).unwrap();
        n_read += compare(&pattern, &plan, 3000, &mut random);
    }
    assert!(n_read > 10_000, "{n_read}");
}

/// Draws patterns too. Most of them are refused.
#[test]
fn drawn_patterns_are_read_as_by_expressions() {
    let parts = [
        "$uri", "$request", "$http_referer", "${scheme}", "://", "$host", "$args", "$status", "$time_local",
        "%U", "%q", "%>s", "%r", "%t", "%{%d %H%M}t", "%{Referer}i", "%", "%%", "{", "}", "$", " ", " ",
        "\"", "\"", "\" \"", "\\\"", "\\", "-", "[", "] ", "\u{e9}", "'", ";", "log_format a ", "LogFormat ",
        "escape=none ",
    ];
    let mut random = Random::new(27);
    let (mut n_patterns, mut n_read) = (0, 0);
    for _ in 0..20_000 {
        let text: String = (0..=random.below(9)).map(|_| parts[random.below(parts.len())]).collect();
        let Ok(pattern) = Pattern::parse(&text) else { continue };
        if let Ok(plan) = Plan::compile(&pattern, &[]) {
            n_patterns += 1;
            n_read += compare(&pattern, &plan, 10, &mut random);
        }
    }
    assert!(n_patterns > 500 && n_read > 500, "{n_patterns} {n_read}");
}
