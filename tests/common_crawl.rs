//! Rows that Common Crawl documents have the same values in our columns.
//!
//! The rows are examples of its table of captures (the schema and the tests of its program `cc-index-table`), of its documentation of the
//! CDXJ index, and one row of a crawl of 2021 that a user shows.

use std::process::Command;

use crate::support::file;

/// Our columns, in the order of Common Crawl's `url_surtkey`, `url_host_name`, `url_host_registry_suffix`, `url_host_registered_domain`,
/// `url_host_private_suffix`, `url_host_private_domain`, `url_host_name_reversed`, `url_protocol`, `url_port`, `url_path` and `url_query`.
/// `url_host_name` is in lower case and in ASCII, as `whatwg_host` is.
const COLUMNS: &str =
    "surt,whatwg_host,suffix,domain,private_suffix,private_domain,host_reversed,scheme,port,path,query";

/// A URL, and the values of its columns. `-` is null; `?` is not documented.
const ROWS: [(&str, &str); 12] = [
    (
        "https://www.example.com/path/index.html",
        "com,example)/path/index.html www.example.com com example.com com example.com com.example.www https - /path/index.html -",
    ),
    (
        "https://whwheelers.org/robots.txt",
        "org,whwheelers)/robots.txt whwheelers.org org whwheelers.org org whwheelers.org ? https - /robots.txt -",
    ),
    (
        "https://commoncrawl.org/faq",
        "org,commoncrawl)/faq commoncrawl.org org commoncrawl.org ? ? ? https - /faq -",
    ),
    ("https://www.commoncrawl.org/get-started", "org,commoncrawl)/get-started ? ? ? ? ? ? ? ? ? ?"),
    (
        "http://www.example.com/index.html",
        "? www.example.com com example.com com example.com ? http - /index.html -",
    ),
    ("https://example.com:8443/search?q=abc&lang=en", "? ? ? ? ? ? ? https 8443 /search q=abc&lang=en"),
    ("https://bbc.co.uk/", "? bbc.co.uk co.uk bbc.co.uk co.uk bbc.co.uk ? ? ? ? ?"),
    ("https://myblog.blogspot.com/", "? ? com blogspot.com blogspot.com myblog.blogspot.com ? ? ? ? ?"),
    (
        "https://mypublicbucket.s3.amazonaws.com/",
        "? ? com amazonaws.com s3.amazonaws.com mypublicbucket.s3.amazonaws.com ? ? ? ? ?",
    ),
    ("http://123.123.123.123/index.html", "? 123.123.123.123 - - - - - http - /index.html -"),
    ("https://münchen.de/", "? xn--mnchen-3ya.de ? ? ? ? ? ? ? ? ?"),
    ("https://%f0%9f%a7%a0.s.country/", "? xn--qv9h.s.country ? ? ? ? ? ? ? ? ?"),
];

#[test]
fn columns_are_those_of_common_crawl() {
    let list = file(ROWS.map(|(url, _)| format!("{url}\n")).concat());
    let output = Command::new(env!("CARGO_BIN_EXE_urlsift"))
        .args(["lines", "-c", COLUMNS])
        .arg(&list)
        .output()
        .unwrap();
    let rows = String::from_utf8(output.stdout).unwrap();
    assert_eq!(rows.lines().count(), ROWS.len());
    for (row, (url, expected)) in rows.lines().zip(ROWS) {
        let expected: Vec<_> = expected.split(' ').collect();
        assert_eq!(row.split('\t').count(), expected.len());
        for ((column, value), expected) in COLUMNS.split(',').zip(row.split('\t')).zip(expected) {
            assert!(expected == "?" || value == expected, "{url}: {column} is {value}, and not {expected}");
        }
    }
}
