//! Diagnostic codes: each in one place, each on the page `docs/codes.md`, which is made from the source.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use regex::Regex;

use crate::world::{check_committed, files_below, repository};

/// A code, where it is defined, and the message it comes with, as written in the source.
type Codes = BTreeMap<String, Vec<(String, String)>>;

fn codes() -> Codes {
    let root = repository().join("src");
    // `#[error("…")] … #[diagnostic(code(spark::…)` of one variant.
    let in_errors =
        Regex::new(r#"(?s)#\[error\((?:"((?:[^"\\]|\\.)*)"|transparent)[^#]*?\)\]\s*#\[diagnostic\(\s*code\((spark::[a-z_:]+)\)"#)
            .expect("a pattern");
    // `Self::X => "spark::…"` of a table of codes, with what it means behind it where the table says so.
    let in_tables = Regex::new(r#"=>\s*"(spark::[a-z_:]+)"(?:,\s*"((?:[^"\\]|\\.)*)")?"#).expect("a pattern");
    let mut codes = Codes::new();
    for path in files_below(&root) {
        let text = fs::read_to_string(&path).expect("source is text");
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let place = path.strip_prefix(&root).expect("it is below").display().to_string();
        for found in in_errors.captures_iter(text) {
            let message = found.get(1).map_or("", |message| message.as_str()).to_owned();
            codes.entry(found[2].to_owned()).or_default().push((place.clone(), message));
        }
        for found in in_tables.captures_iter(text) {
            let message = found.get(2).map_or("", |message| message.as_str()).to_owned();
            codes.entry(found[1].to_owned()).or_default().push((place.clone(), message));
        }
        let count = text.matches("code(spark::").count();
        let found = in_errors.captures_iter(text).count();
        assert_eq!(count, found, "{place}: a code without the message right above it");
    }
    codes
}

#[test]
fn each_code_is_defined_once() {
    let twice: Vec<_> = codes().into_iter().filter(|(_, places)| places.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn each_code_is_documented() {
    let mut page = String::from(
        "# Diagnostic codes\n\nMade from the source by `UPDATE=1 scripts/test`. A code is never reused or renamed.\n\n| code | message |\n| --- | --- |\n",
    );
    for (code, places) in codes() {
        let message = places.first().map_or("", |(_, message)| message.as_str()).replace('|', "\\|").replace("\\\"", "\"");
        writeln!(page, "| `{code}` | {message} |").expect("a String takes it");
    }
    check_committed("docs/codes.md", &page);
}
