//! The arrows of design §2 and the rules of style that a compiler doesn't know.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::world::{files_below, repository};

/// What each room may name besides itself. A new arrow is a change to the design, in a commit of its own.
const ARROWS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("tool", &["base"]),
    ("http", &["base", "tool"]),
    ("manifest", &["base", "tool", "http"]),
    ("studio", &["base", "tool", "http"]),
    ("protocol", &["base", "tool"]),
    ("policy", &["base", "tool"]),
    ("child", &["base"]),
    ("store", &["base", "tool", "http", "manifest", "studio", "protocol", "policy"]),
    ("secrets", &["base", "tool"]),
    ("net", &["base"]),
    ("package", &["base", "tool", "manifest", "net", "child"]),
    ("registry", &["base", "tool", "manifest", "net", "child"]),
    ("sandbox", &["base", "tool"]),
    ("runtime", &["base", "tool", "http", "manifest", "studio", "protocol", "policy", "net", "sandbox", "child"]),
    ("capability", &["base", "tool", "http", "manifest", "studio", "protocol", "policy", "net", "store", "child"]),
    (
        "ops",
        &[
            "base",
            "tool",
            "http",
            "manifest",
            "studio",
            "protocol",
            "policy",
            "child",
            "store",
            "secrets",
            "net",
            "package",
            "registry",
            "sandbox",
            "runtime",
            "capability",
        ],
    ),
    ("report", &["base", "tool", "http", "manifest", "studio", "protocol", "policy", "ops"]),
    ("serve", &["base", "tool", "http", "manifest", "studio", "protocol", "policy", "ops", "report"]),
    ("connect", &["base", "ops"]),
    ("cli", &["base", "tool", "http", "manifest", "studio", "protocol", "policy", "ops", "report", "serve", "connect"]),
];

/// The domain: no I/O, no async, no clock, no files.
const DOMAIN: &[&str] = &["tool", "http", "manifest", "studio", "protocol", "policy"];

/// Where a crate may be named. The others are free.
const CRATES: &[(&str, &[&str])] = &[
    ("rusqlite", &["store"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("etcetera", &["cli"]),
    ("terminal_size", &["cli"]),
    ("indicatif", &["report"]),
    ("anstream", &["report"]),
    ("ignore", &["package"]),
    ("jsonschema", &["tool"]),
    ("jsonschema_regex", &["tool"]),
    ("fancy_regex", &["tool"]),
    ("uuid", &["base"]),
    ("jiff", &["base"]),
    ("aho_corasick", &["base"]),
    ("strsim", &["base"]),
    ("notify", &["ops"]),
    ("tokio", &["child", "runtime", "capability", "net", "registry", "ops", "serve", "cli"]),
    ("nix", &["base", "child", "package", "store", "sandbox", "runtime", "ops", "report", "cli"]),
];

/// File names that say nothing and grow (style §9).
const BANNED_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "common", "manager", "misc", "types"];

/// A source file: its room, its path for messages, its text without comments.
struct Source {
    room: String,
    path: PathBuf,
    code: String,
    first_line: String,
}

fn sources() -> Vec<Source> {
    let source = repository().join("src");
    let comment = Regex::new(r"(?m)^\s*//.*$").expect("a pattern");
    files_below(&source)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("source is text");
            let relative = path.strip_prefix(&source).expect("it is below");
            let room =
                if relative.components().count() > 1 { relative.iter().next().expect("a room").to_string_lossy() } else { "".into() };
            Source {
                room: room.into_owned(),
                path: relative.to_owned(),
                code: comment.replace_all(&text, "").into_owned(),
                first_line: text.lines().next().unwrap_or_default().to_owned(),
            }
        })
        .collect()
}

fn fail_on(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn every_arrow_is_in_the_design() {
    let named = Regex::new(r"\bcrate::(\w+)").expect("a pattern");
    let mut problems = Vec::new();
    for source in sources().iter().filter(|source| !source.room.is_empty()) {
        let Some((_, may_name)) = ARROWS.iter().find(|(room, _)| *room == source.room) else {
            problems.push(format!("{}: the room `{}` is not in the design", source.path.display(), source.room));
            continue;
        };
        for target in named.captures_iter(&source.code).map(|found| found[1].to_owned()).collect::<BTreeSet<_>>() {
            if target != source.room && !may_name.contains(&target.as_str()) {
                problems.push(format!("{}: `{}` may not name `{target}`", source.path.display(), source.room));
            }
        }
    }
    fail_on(&problems);
}

#[test]
fn the_domain_has_no_clock_no_files_and_no_async() {
    let doors = Regex::new(r"\bbase::(clock|files)\b|\basync\b|\bstd::(fs|net|process|thread)\b|\bInstant::now\b").expect("a pattern");
    let mut problems = Vec::new();
    for source in sources().iter().filter(|source| DOMAIN.contains(&source.room.as_str())) {
        let code = source.code.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        problems.extend(doors.find_iter(code).map(|found| format!("{}: `{}`", source.path.display(), found.as_str())));
    }
    fail_on(&problems);
}

#[test]
fn every_crate_is_named_in_its_rooms_alone() {
    let mut problems = Vec::new();
    for source in sources() {
        for (name, rooms) in CRATES {
            let named = Regex::new(&format!(r"(?m)\b{name}::|\buse {name}\b")).expect("a pattern");
            if named.is_match(&source.code) && !rooms.contains(&source.room.as_str()) {
                problems.push(format!("{}: `{}` may not name the crate `{name}`", source.path.display(), source.room));
            }
        }
    }
    fail_on(&problems);
}

#[test]
fn imports_can_be_read_by_this_test() {
    let bad = Regex::new(r"use crate::\{|\bsuper::super::super::").expect("a pattern");
    let mut problems = Vec::new();
    for source in sources() {
        problems.extend(bad.find_iter(&source.code).map(|found| format!("{}: `{}`", source.path.display(), found.as_str())));
    }
    fail_on(&problems);
}

#[test]
fn every_file_has_its_page_and_a_name_that_says_something() {
    let mut problems = Vec::new();
    for source in sources() {
        if !source.first_line.starts_with("//! ") {
            problems.push(format!("{}: no `//!` page", source.path.display()));
        }
        let is_banned =
            |part: &std::ffi::OsStr| BANNED_NAMES.contains(&Path::new(part).file_stem().unwrap_or_default().to_string_lossy().as_ref());
        if source.path.iter().any(is_banned) {
            problems.push(format!("{}: the name says nothing", source.path.display()));
        }
    }
    fail_on(&problems);
}

#[test]
fn every_test_file_is_listed() {
    let main = fs::read_to_string(repository().join("tests/main.rs")).expect("it is there");
    let mut problems = Vec::new();
    for entry in fs::read_dir(repository().join("tests")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let is_module = path.extension().is_some_and(|extension| extension == "rs") || path.join("mod.rs").exists();
        if is_module && stem != "main" && !main.contains(&format!("mod {stem};")) {
            problems.push(format!("tests/main.rs doesn't list `mod {stem};`"));
        }
    }
    fail_on(&problems);
}
