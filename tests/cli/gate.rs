//! `--fail-on`: which conditions hold, and the messages about them.

use super::{LIST, assert_refused, feed, folder_with, text, urlsift};

#[test]
fn conditions_on_every_measure() {
    for (condition, status) in [
        ("refused", 1),
        ("refused>0", 1),
        ("refused>1", 0),
        ("refused>24.9%", 1),
        ("refused > 25%", 0),
        ("refused >= 25%", 1),
        ("refused:rfc1738>2", 1),
        ("refused:rfc1738>3", 0),
        ("refused:all", 1),
        ("refused:all>1", 0),
        ("refused:any<=2", 0),
        ("refused:any=3", 1),
        ("accepted<4", 1),
        ("accepted:rfc1738<1", 0),
        ("accepted:any<75%", 0),
        ("accepted:all!=1", 0),
        ("accepted:any<75.1%", 1),
        ("scheme:HTTP>0", 1),
        ("scheme:gopher", 0),
        ("relative>=25%", 1),
        ("advisory:password", 1),
        ("advisory:port-nondefault>25%", 0),
        ("blank>=20%", 1),
        ("blank>20%", 0),
        ("cr=1", 1),
        ("lines<5", 0),
        ("lines<6", 1),
        ("judged!=4", 0),
        ("scheme:gopher, blank>1, lines>=5", 1),
        ("scheme:gopher,blank>1,lines>5", 0),
    ] {
        let output = feed(&["--fail-on", condition], LIST);
        assert_eq!(output.status.code(), Some(status), "{condition}: {}", text(&output.stderr));
        assert_eq!(output.stderr.is_empty(), status == 0, "{condition}");
        assert!(!output.stdout.is_empty());
    }
    assert_eq!(feed(&["--fail-on", "refused", "-g", "rfc1738"], b"http://h/\n").status.code(), Some(0));
}

#[test]
fn each_condition_that_holds_is_named() {
    let output = feed(
        &["--fail-on", "refused:rfc1738>2 , blank", "--fail-on", "scheme:gopher", "--fail-on", "lines<9"],
        LIST,
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        "urlsift: --fail-on refused:rfc1738>2 is crossed: 3 of 4 judged lines, 75.00 %\n\
         urlsift: --fail-on blank is crossed: 1 of 5 lines, 20.00 %\n\
         urlsift: --fail-on lines<9 is crossed: 5 lines\n"
    );
    let output = feed(&["--fail-on", "lines<9,judged=1"], b"http://h/\n");
    assert_eq!(
        text(&output.stderr),
        "urlsift: --fail-on lines<9 is crossed: 1 line\n\
         urlsift: --fail-on judged=1 is crossed: 1 of 1 line, 100.00 %\n"
    );
}

#[test]
fn shown_percentages_agree_with_the_limit() {
    // Both round to 0.10 %.
    let list =
        |refused: usize| [b"http://a/\n".repeat(100_000 - refused), b"/b c\n".repeat(refused)].concat();
    assert_eq!(feed(&["--fail-on", "refused>0.1%"], &list(100)).status.code(), Some(0));
    let output = feed(&["--fail-on", "refused>0.1%"], &list(101));
    assert!(text(&output.stderr).ends_with(": 101 of 100,000 judged lines, 0.101 %\n"));
}

#[test]
fn a_scheme_not_counted_by_name_cannot_be_decided() {
    // The report keeps 1,000 names: s0 to s999.
    let many: Vec<u8> = (0..1500).flat_map(|n| format!("s{n}:x\n").into_bytes()).collect();
    let crossed = |condition: &str| feed(&["--fail-on", condition], &many);
    for (condition, status) in [
        ("scheme:s7>1", 0),
        ("scheme:s1499<501", 2),
        // These names would have been kept.
        ("scheme:zzz", 0),
        ("scheme:http", 0),
        ("scheme:s1499,scheme:s7", 1),
    ] {
        assert_eq!(crossed(condition).status.code(), Some(status), "{condition}");
    }
    let output = crossed("scheme:s1499>1");
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stdout.is_empty());
    let why = "urlsift: --fail-on scheme:s1499>1 cannot be told: so many schemes occur that this one is \
               not counted by name; \"urlsift lines -c scheme\" prints each line's\n";
    assert_eq!(text(&output.stderr), why);
    // A name that is too long to be kept does not displace another.
    let long = format!("{}:x\n", "a".repeat(300));
    let told = |condition: &str| feed(&["--fail-on", condition], long.as_bytes()).status.code();
    assert_eq!((told("scheme:foo"), told(&format!("scheme:{}", "a".repeat(300)))), (Some(0), Some(2)));
}

#[test]
fn empty_and_incomplete_scans_cross_no_limit() {
    assert_eq!(
        feed(&["--allow-empty", "--fail-on", "refused,accepted<99%"], b"").status.code(),
        Some(0),
        "nothing of nothing"
    );
    assert_eq!(feed(&["--fail-on", "lines<1"], b"").status.code(), Some(1));
    let output = feed(&["--fail-on", "lines<1000", "missing", "-"], LIST);
    assert_eq!(output.status.code(), Some(2), "incomplete comes first");
    assert!(
        text(&output.stderr).ends_with("urlsift: --fail-on was not looked at, since not all could be read\n")
    );
}

#[test]
fn errors_name_the_condition() {
    let output = feed(&["--fail-on", "blank,refused:rfc173>12"], b"");
    let expected = "invalid value 'refused:rfc173>12' for '--fail-on <CONDITION>': no such measure; did you mean refused:rfc1738?\n";
    assert_refused(&output, expected);
}

#[test]
fn nothing_passes_if_no_url_was_judged() {
    let objects = b"{\"name\":\"a\"}\n{\"name\":\"b\"}\n";
    let judged = ["--input-format", "jsonl", "--fail-on", "refused"];
    for (args, input) in
        [(&["--fail-on", "refused"][..], &b""[..]), (&["--fail-on", "refused"], b"\n\n"), (&judged, objects)]
    {
        let output = feed(args, input);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
        let message = text(&output.stderr).lines().last().unwrap();
        let expected =
            "urlsift: --fail-on did not pass, because no URL was judged; --allow-empty lets it pass";
        assert_eq!(message, expected);
        let allowed = feed(&[args, &["--allow-empty"]].concat(), input);
        assert_eq!(allowed.status.code(), Some(0), "{args:?}");
    }
    // Each input with records has to have a URL. A header is no record.
    let folder =
        folder_with(&[("ok", "http://h/\n"), ("empty.csv", "id,url\n1,\n2,\n"), ("head.csv", "id,url\n")]);
    let gate = |names: &[&str]| {
        urlsift().args(["--fail-on", "refused"]).args(names).current_dir(&folder).output().unwrap()
    };
    let output = gate(&["ok", "empty.csv", "head.csv"]);
    let said = text(&output.stderr).lines().last().unwrap().to_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("empty.csv has records, but no URL; "), "{said}");
    assert_eq!(gate(&["ok", "head.csv"]).status.code(), Some(0));
    // A condition that holds is named, and decides.
    assert_eq!(feed(&["--fail-on", "judged<1"], b"").status.code(), Some(1));
}
