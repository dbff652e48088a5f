use serde_json::Value;

use super::super::Skip;
use super::*;

/// The texts at `paths` of an object that fills `record` from `from` on, or why there are none. The record is between two
/// others. One has an open string, and the other has strings that would close those of the record.
fn texts(record: &[u8], from: usize, paths: &[&str]) -> Result<Vec<Vec<u8>>, Miss> {
    let before = b"{\"e\":\"\n";
    let bytes = [&before[..], record, b"\n\",\"e\":\"no\"}\n"].concat();
    let record = before.len()..before.len() + record.len();
    let pointers: Vec<_> = paths.iter().map(|&path| Selector::Pointer(path.to_owned())).collect();
    let (mut marks, mut more) = (Marks::new(SEPARATORS, &bytes), Vec::new());
    let mut parts = Parts::new(&mut more);
    read(&mut marks, record, from, &Wanted::new(&pointers).unwrap(), &mut parts)?;
    Ok(parts.first.into_iter().chain(more).map(|part| part.bytes.into_owned()).collect())
}

/// Strings begin and end at every position of a block and of a window, after members of all kinds and inside some.
#[test]
fn members_are_those_of_serde_json() {
    let shapes = [
        r#"{"f":"FILL","a":{"b":[1,"x]}",{"c":"\\\"}"}],"d":"one"},"e":"two\u00e9\\"}"#,
        r#"{ "a" : { "FILL" : [ ] , "d" : "\"one" } , "b" : null , "e" : "two" }  "#,
        r#"{"a":{"e":-1.5e7,"d":"one"},"n":[[],{},"FILL",true],"x":{"a":{"d":"no"}},"e":"tw[o"}"#,
        r#"{"g":"\\FILL\\","\u0061":{"d":"FILL"},"e":"FILL"}"#,
    ];
    let paths = ["/e", "/a/d", "/a/b/1", "/n/2"];
    for shape in shapes {
        for n in (0..150).chain(1900..2100) {
            let record = shape.replace("FILL", &"f".repeat(n));
            let value: Value = serde_json::from_str(&record).unwrap();
            let expected = paths.iter().filter_map(|path| value.pointer(path)?.as_str());
            let expected: Vec<_> = expected.map(|text| text.as_bytes().to_vec()).collect();
            assert!(expected.len() >= 2);
            for from in [0, 7] {
                let record = [&b"key 14 "[..from], record.as_bytes()].concat();
                assert_eq!(texts(&record, from, &paths).as_ref(), Ok(&expected), "{n} {shape}");
            }
        }
    }
}

/// An object that is broken before the wanted value reports where. What follows the value is not read.
#[test]
fn broken_objects_say_where() {
    let bad = |at| Err(Miss::Bad(BadCause::BadJson, at));
    let one = |text: &str| Ok(vec![text.as_bytes().to_vec()]);
    for (record, expected) in [
        ("x", bad(0)),
        ("[1]", Err(Miss::Skipped(Skip::NoField))),
        ("[1", bad(2)),
        ("1 x", bad(0)),
        (r#"{"e":"x"#, bad(7)),
        (r#"{"e":"x}"#, bad(5)),
        (r#"{"e":"x\"}"#, bad(5)),
        (r#"{"a" 1,"e":"x"}"#, bad(5)),
        (r#"{"a":1;"e":"x"}"#, bad(6)),
        (r#"{"a":;"e":"x"}"#, bad(5)),
        (r#"{"a":"1" "e":"x"}"#, bad(9)),
        (r#"{"a":[{"b":"]"},"e":"x"}"#, bad(24)),
        (r#"{"a":-Infinity,"b": NaN ,"e":"x"}"#, one("x")),
        (r#"{"a":,"e":"x"}"#, bad(5)),
        (r#"{a:1,"e":"x"}"#, bad(1)),
        (r#"{"a":1,}"#, bad(7)),
        (r#"{"e":"\q"}"#, Err(Miss::Bad(BadCause::BadEscape, 5))),
        (r#"{"e":["x"]}"#, one("x")),
        (r#"{"e":["x",{}]}"#, Err(Miss::Bad(BadCause::NotAString, 10))),
        (r#"{"e":["x";"y"]}"#, bad(9)),
        (r#"{"e":null}"#, Err(Miss::Skipped(Skip::NoField))),
        (r#"{"e": null ,"f":1}"#, Err(Miss::Skipped(Skip::NoField))),
        (r#"{"e":null"x"}"#, Err(Miss::Bad(BadCause::NotAString, 5))),
        (r#"{"e":nullx}"#, Err(Miss::Bad(BadCause::NotAString, 5))),
        (r#"{"a":ObjectId("5f"),"e":"x"}"#, bad(13)),
        (r#"{"a":null'x',"e":"x"}"#, bad(9)),
        ("{}", Err(Miss::Skipped(Skip::NoField))),
        (r#"{"a":{"e":"x"}}"#, Err(Miss::Skipped(Skip::NoField))),
        (r#"{"e":"x",:::"}"#, one("x")),
        (r#"{"e":"x"]}"#, one("x")),
        (r#"{"e":"x","e":"y"}"#, one("x")),
    ] {
        assert_eq!(texts(record.as_bytes(), 0, &["/e"]), expected, "{record}");
    }
}
