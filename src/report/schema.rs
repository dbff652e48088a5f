//! The written form of the report, `schema/report.v1.json`, is the one that its types have.
//!
//! `URLSIFT_UPDATE=1 cargo test --lib schema` writes it anew, to be read before it is committed: a field more is all that may change
//! without another number.

use std::fs;
use std::path::Path;

use schemars::generate::SchemaSettings;

use super::{Report, SCHEMA};

#[test]
fn the_written_schema_is_that_of_the_types() {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Report>();
    schema.insert("title".to_owned(), SCHEMA.into());
    // What Rust calls `None` is `null` there.
    let schema = serde_json::to_string_pretty(&schema).unwrap().replace("`None`", "`null`") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/report.v1.json");
    if std::env::var_os("URLSIFT_UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &schema).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == schema,
        "{} is not that of the types",
        path.display()
    );
}
