//! Which paths a package may have: those that mean one and the same file on every system (hardening, D-2).
//!
//! One rule for folders, archives and git trees. It looks at names alone.

use std::collections::{HashMap, HashSet};

use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;

use crate::base::limits::{NAME_BYTES, PATH_BYTES};
use crate::base::text::{hidden_in, visible};
use crate::tool::is_device_name;

/// Why a path can't be in a package.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum PathFault {
    #[error("the path is empty")]
    Empty,
    #[error("the path is absolute")]
    Absolute,
    #[error("the path has a `{step}` in it")]
    Step { step: &'static str },
    #[error("the name `{name}` has {bytes} bytes, a name has at most {NAME_BYTES}")]
    LongName { name: String, bytes: usize },
    #[error("the path has {bytes} bytes, a path has at most {PATH_BYTES}")]
    LongPath { bytes: usize },
    #[error("the name `{name}` has a `{found}`, which Windows can't have in a name")]
    Character { name: String, found: char },
    #[error("the name `{name}` has characters in it that can't be seen: {}", code_points(.found))]
    Hidden { name: String, found: Vec<char> },
    #[error("the name `{name}` ends in a {what}, which Windows drops")]
    End { name: String, what: &'static str },
    #[error("`{name}` is a device on Windows, so no file or folder can be called that")]
    Device { name: String },
    #[error("`{other}` is the same name on some systems")]
    Collision { other: String },
    #[error("it stands there twice")]
    Twice,
}

fn code_points(chars: &[char]) -> String {
    let points: Vec<String> = chars.iter().map(|c| format!("U+{:04X}", u32::from(*c))).collect();
    points.join(", ")
}

/// The paths of one package so far. Each is checked as it is added.
#[derive(Debug, Default)]
pub(crate) struct PathRules {
    /// Every path and every folder on the way to one, folded, with how it was first written.
    seen: HashMap<String, String>,
    files: HashSet<String>,
}

impl PathRules {
    /// Checks the path of one file, `/` between components, and remembers it. A fault of a folder is reported once.
    pub(crate) fn add(&mut self, path: &str) -> Vec<PathFault> {
        let mut faults = Vec::new();
        if path.is_empty() {
            return vec![PathFault::Empty];
        }
        if path.starts_with('/') {
            faults.push(PathFault::Absolute);
        }
        if path.len() > PATH_BYTES {
            faults.push(PathFault::LongPath { bytes: path.len() });
        }
        let mut end = 0;
        for name in path.split('/') {
            let prefix = &path[..end + name.len()];
            end += name.len() + 1;
            self.add_prefix(prefix, name, &mut faults);
        }
        if !self.files.insert(path.to_owned()) {
            faults.push(PathFault::Twice);
        }
        faults
    }

    fn add_prefix(&mut self, prefix: &str, name: &str, faults: &mut Vec<PathFault>) {
        match self.seen.get(fold(prefix).as_str()) {
            // Checked when it was first seen.
            Some(first) if first == prefix => {}
            Some(first) => faults.push(PathFault::Collision { other: visible(first).into_owned() }),
            None => {
                self.seen.insert(fold(prefix), prefix.to_owned());
                check_name(name, faults);
            }
        }
    }
}

/// Returns the path as the least particular file system compares it: case and the spelling of accents don't count.
fn fold(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    path.nfd().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfd().collect()
}

fn check_name(name: &str, faults: &mut Vec<PathFault>) {
    let climbing = match name {
        "" => Some("//"),
        "." => Some("."),
        ".." => Some(".."),
        _ => None,
    };
    if let Some(step) = climbing {
        faults.push(PathFault::Step { step });
        return;
    }
    let shown = || visible(name).into_owned();
    if name.len() > NAME_BYTES {
        faults.push(PathFault::LongName { name: shown().chars().take(80).chain(['…']).collect(), bytes: name.len() });
    }
    if let Some(found) = name.chars().find(|c| matches!(c, '\\' | ':' | '<' | '>' | '"' | '|' | '?' | '*')) {
        faults.push(PathFault::Character { name: shown(), found });
    }
    let mut hidden: Vec<char> = name.chars().filter(|c| matches!(c, '\n' | '\r' | '\t')).collect();
    hidden.extend(hidden_in(name));
    if !hidden.is_empty() {
        faults.push(PathFault::Hidden { name: shown(), found: hidden });
    }
    match name.chars().last() {
        Some('.') => faults.push(PathFault::End { name: shown(), what: "dot" }),
        Some(' ') => faults.push(PathFault::End { name: shown(), what: "blank" }),
        _ => {}
    }
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches(' ');
    if is_device_name(stem) {
        faults.push(PathFault::Device { name: shown() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &[&str]) -> Vec<String> {
        let mut rules = PathRules::default();
        paths.iter().flat_map(|path| rules.add(path)).map(|fault| fault.to_string()).collect()
    }

    #[test]
    fn ordinary_names_are_fine() {
        let names =
            ["a", "a.b/c d.txt", ".hidden", "..a", "a..b", "node_modules/@x/y.js", "Grüße/日本.md", "console", "com10", "👩\u{200d}🔬"];
        assert_eq!(check(&names), [""; 0]);
    }

    // H: A-8
    #[test]
    fn names_that_windows_cannot_have_are_refused() {
        for name in [
            "CON",
            "nul",
            "nul.txt",
            "Aux.tar.gz",
            "com1",
            "LPT9.log",
            "con .txt",
            "COM¹",
            "conin$",
            "a:b",
            "a<b",
            "a>b",
            "a\"b",
            "a|b",
            "a?b",
            "a*b",
            "a\\b",
            "trailing.",
            "trailing ",
            "a\u{0}b",
            "a\u{1f}b",
            "a\u{7f}b",
            "a\nb",
            "a\tb",
            "a\rb",
        ] {
            for path in [name.to_owned(), format!("x/{name}"), format!("{name}/x")] {
                assert_eq!(check(&[&path]).len(), 1, "{path:?}: {:?}", check(&[&path]));
            }
        }
    }

    // H: D-2
    #[test]
    fn names_with_characters_that_nobody_sees_are_refused() {
        for c in [
            '\u{202a}',
            '\u{202b}',
            '\u{202c}',
            '\u{202d}',
            '\u{202e}',
            '\u{2066}',
            '\u{2067}',
            '\u{2068}',
            '\u{2069}',
            '\u{200b}',
            '\u{e0041}',
            '\u{9b}',
        ] {
            let faults = check(&[&format!("gpj{c}.exe")]);
            assert!(faults.len() == 1 && faults[0].contains(&format!("U+{:04X}", u32::from(c))), "{faults:?}");
        }
    }

    // H: A-1
    #[test]
    fn a_path_never_climbs() {
        for path in ["", "/etc/x", "..", "../x", "a/../../x", "a/..", "./a", "a/./b", "a//b", "a/", "."] {
            assert!(!check(&[path]).is_empty(), "{path}");
        }
    }

    // H
    #[test]
    fn names_that_are_one_name_elsewhere_are_refused() {
        for (first, second) in [
            ("README", "readme"),
            ("a/x", "A/y"),
            ("a", "A/x"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("stra\u{df}e", "STRASSE"),
            ("\u{212a}", "k"),
            ("\u{3a3}", "\u{3c2}"),
            ("\u{c5}/x", "a\u{30a}/y"),
            ("same", "same"),
        ] {
            assert_eq!(check(&[first, second]).len(), 1, "{first:?} {second:?}: {:?}", check(&[first, second]));
        }
        assert_eq!(check(&["a/x", "a/y", "b/x"]), [""; 0]);
    }

    #[test]
    fn names_and_paths_have_a_length() {
        let (name, path) = ("n".repeat(255), "d/".repeat(511) + "ab");
        assert_eq!(check(&[&name]), [""; 0]);
        assert_eq!(check(&[&path]), [""; 0]);
        assert_eq!(check(&[&format!("{name}n")]).len(), 1);
        assert_eq!(check(&[&format!("{path}c")]), ["the path has 1025 bytes, a path has at most 1024"]);
    }
}
