//! Rows of `lines` and lines of `split` as data: they keep passwords and bytes unless an option or a terminal asks for less.

use super::{feed, text, urlsift};

const HOSTILE: &[u8] = b"http://a/\xc3\xa9\\x\n/\x1b[31m\xff\n/\xe2\x80\xae\xe2\x80\x8b\xef\xbb\xbf\n";

#[test]
fn rows_keep_utf8_and_escape_the_rest_so_that_it_can_be_restored() {
    let output = feed(&["lines", "-c", "text"], HOSTILE);
    let expected = "http://a/\u{e9}\\\\x\n/\\x1b[31m\\xff\n/\u{202e}\u{200b}\u{feff}\n";
    assert_eq!(text(&output.stdout), expected);
    let output = feed(&["lines", "-c", "text", "--format", "jsonl"], HOSTILE);
    let first: serde_json::Value =
        serde_json::from_str(text(&output.stdout).lines().next().unwrap()).unwrap();
    assert_eq!(first["text"], "http://a/\u{e9}\\x", "JSON has its own escapes");
    assert!(text(&output.stdout).contains("\"text_base64\":\"LxtbMzFt/w==\""), "{}", text(&output.stdout));
    let output = feed(&["split", "-q", "-m", "-", "--where", "kind=absolute,relative"], HOSTILE);
    assert_eq!(output.stdout, HOSTILE, "split writes the bytes");
}

#[test]
#[cfg(unix)]
fn a_terminal_gets_a_header_and_no_hidden_character() {
    use super::terminal::Terminal;
    let path = crate::support::file(HOSTILE);
    let show = |locale: &str, args: &[&str]| {
        let mut command = urlsift();
        command.args(["lines", "-c", "line,text"]).args(args).arg(&path).env("LC_ALL", locale);
        let (status, shown) = Terminal::start(command, None, None).end();
        assert_eq!(status, Some(0), "{shown}");
        shown.replace('\r', "")
    };
    let hidden = r"3	/\xe2\x80\xae\xe2\x80\x8b\xef\xbb\xbf";
    let second = r"2	/\x1b[31m\xff";
    assert_eq!(show("C.UTF-8", &[]), format!("line\ttext\n1\thttp://a/\u{e9}\\\\x\n{second}\n{hidden}\n"));
    assert_eq!(show("C", &[]), format!("line\ttext\n1\thttp://a/\\xc3\\xa9\\\\x\n{second}\n{hidden}\n"));
    assert!(show("C.UTF-8", &["--format", "jsonl"]).starts_with("{\"line\":1,"));
}

#[test]
fn passwords_stay_unless_they_are_to_be_masked() {
    let list = b"http://u:hunter2@a/\r\nu:hunter2@b c\n\nftp://u:hunter2@c/ d\nhttp://e";
    let masked = String::from_utf8_lossy(list).replace("hunter2", "***");
    for (mask, expected) in [(&[][..], text(list)), (&["--mask-passwords"], &*masked)] {
        let run = |args: &[&str]| text(&feed(&[args, mask].concat(), list).stdout).to_owned();
        let lines: Vec<_> = expected.lines().map(|line| if line.is_empty() { "-" } else { line }).collect();
        assert_eq!(run(&["lines", "-c", "text"]), lines.join("\n") + "\n");
        let [first, second, blank, refused, last]: [&str; 5] =
            expected.split_inclusive('\n').collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(run(&["split", "-a", "-"]), [first, blank, last].concat());
        assert_eq!(run(&["split", "-r", "-", "--refused-as", "lines"]), [second, refused].concat());
        let rows = run(&["split", "-r", "-"]);
        assert_eq!(rows, format!("-\t2\t21\tpath:space@11\t{second}-\t4\t36\tpath:space@18\t{refused}"));
    }
    // An empty password has nothing to mask, and neither has a port in a key.
    for (column, line, cell) in
        [("text", "http://u:@h/", "http://u:@h/"), ("surt", "http://a.b:81/c@1", "b,a:81)/c@1")]
    {
        let row = feed(&["lines", "-c", column, "--mask-passwords"], line.as_bytes()).stdout;
        assert_eq!(text(&row).trim_end(), cell, "{line}");
    }
}

#[test]
fn passwords_in_records_are_masked_and_the_rest_is_kept() {
    let log = r#"1.2.3.4 - - [10/Oct/2000:13:55:36 +0000] "GET http://u:hunter2@h/ HTTP/1.0" 200 1 "u:hunter2@r" "a@b""#;
    for (args, input) in [
        (
            &["--input-format", "csv"][..],
            "id,url,by\n1,u:hunter2@h,x:hunter2@z\n2,\"http://u:hunter2@h/,\",a\n3,/a b,http://u:hunter2@c\n"
                .to_owned(),
        ),
        (
            &["--input-format", "jsonl"],
            "{\"url\": \"http:\\/\\/u:hunter2@h\\/\", \"at\": \"1:2\"}\n".to_owned(),
        ),
        (&["--input-format", "clf"], format!("{log}\n")),
    ] {
        for threads in ["-j1", "-j2"] {
            let all =
                [&["split", "-q", threads, "-m", "-", "--where", "kind=absolute,relative"], args].concat();
            assert_eq!(text(&feed(&all, input.as_bytes()).stdout), input);
            let masked = [&all[..], &["--mask-passwords"]].concat();
            let expected = input.replace("hunter2", "***");
            assert_eq!(text(&feed(&masked, input.as_bytes()).stdout), expected, "{args:?}");
        }
    }
    let escaped = [
        ("{\"url\": \"u:hunter2\\u0040h\"}\n", "{\"url\": \"u:***\\u0040h\"}\n"),
        (
            "{\"by\":\"http:\\/\\/u:hunter2\\u0040h\\/\",\"url\":\"/\"}\n",
            "{\"by\":\"http:\\/\\/u:***\\u0040h\\/\",\"url\":\"/\"}\n",
        ),
        (
            "{\"by\":\"u\\u003ahunter2\\u0040h\",\"url\":\"/\"}\n",
            "{\"by\":\"u\\u003a***\\u0040h\",\"url\":\"/\"}\n",
        ),
    ];
    let args = ["split", "-q", "-a", "-", "--input-format", "jsonl", "--mask-passwords"];
    for (record, masked) in escaped {
        assert_eq!(text(&feed(&args, record.as_bytes()).stdout), masked);
    }
    // The place of a password is not known if the field has other escapes in it, so the rest of the record is masked.
    let args = [&["split", "-q", "-r", "-", "--refused-as", "lines"], &args[4..]].concat();
    let output = feed(&args, b"{\"url\": \"u:hunter2\\u00e9@h\"}\n");
    assert_eq!(text(&output.stdout), "{\"url\": \"***\n");
}

/// A password may begin in the part of a record that is read, and continue in the part that is passed on.
#[test]
fn the_rest_of_a_record_that_is_too_long_is_masked() {
    let long = format!("id,url\n1,http://u:{}hunter2@h/\n2,http://h/\n", "x".repeat(17 << 20));
    let args = ["split", "-q", "-a", "-", "-r", "/dev/null", "--mask-passwords", "--input-format", "csv"];
    let output = feed(&args, long.as_bytes());
    assert_eq!(text(&output.stdout), "id,url\n2,http://h/\n");
    for form in ["lines", "tsv"] {
        let args =
            ["split", "-q", "-r", "-", "--refused-as", form, "--mask-passwords", "--input-format", "csv"];
        let output = feed(&args, long.as_bytes());
        assert!(output.stdout.ends_with(b"***\n") && !text(&output.stdout).contains("hunter2"));
    }
}

#[test]
fn explain_shows_what_was_typed_names_the_byte_and_aligns_the_mark() {
    let explain = |args: &[&str]| {
        let output = urlsift().arg("explain").args(args).env("LC_ALL", "C.UTF-8").output().unwrap();
        text(&output.stdout).to_owned()
    };
    let shown = explain(&["http://u:hunter2@h/", "-g", "1738"]);
    assert!(shown.starts_with("http://u:hunter2@h/\n") && shown.contains("u:hunter2\n"), "{shown}");
    assert!(shown.contains("  rfc1738 ") && !shown.contains("rfc3986"), "only one grammar: {shown}");
    let shown = explain(&["-g", "3986", "/\u{65e5}\u{672c}e\u{301} x\u{e9}"]);
    assert!(
        shown.contains("refuses: the byte E6 of \"\u{65e5}\", above 7F, in the path (path:non-ascii@1)"),
        "{shown}"
    );
    // The mark is as wide as the character.
    assert!(
        shown.contains("\n             /\u{65e5}\u{672c}e\u{301} x\u{e9}\n              ^^\n"),
        "{shown}"
    );
    let shown = explain(&["-g", "3986", "http://a/\u{1b}"]);
    assert!(shown.contains("refuses: the control byte 1B in the path"), "{shown}");
    assert!(shown.contains("\n             http://a/\\x1b\n                      ^^^^\n"), "{shown}");
    // The window of a long line has the mark in it.
    let shown = explain(&["-g", "2396", &format!("/{} b", "a".repeat(200))]);
    let lines: Vec<_> = shown.lines().skip_while(|line| !line.contains("refuses")).skip(1).take(2).collect();
    assert_eq!(
        lines[0].trim_start().chars().position(|c| c == ' ').unwrap() + 13,
        lines[1].len() - 1,
        "{shown}"
    );
}
