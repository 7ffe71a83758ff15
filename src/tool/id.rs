//! Names: one ASCII grammar each, parsed once (hardening A-11, D-4).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum IdError {
    #[error("has {found} characters, allowed are {min} to {max}")]
    Length { found: usize, min: usize, max: usize },
    #[error("must start with {start}")]
    Start { start: &'static str },
    #[error("may not contain `{}`, allowed are {allowed}", crate::base::text::visible(&.found.to_string()))]
    Character { found: char, allowed: &'static str },
    #[error("may not end in a dot: such folders can't exist on Windows")]
    EndsInDot,
    #[error("may not contain two dots in a row")]
    TwoDots,
    #[error("`{word}` is a device name on Windows, so no folder can be called that")]
    DeviceName { word: String },
    #[error("is not a version: write MAJOR.MINOR.PATCH, then at most one suffix -PRERELEASE or +BUILD")]
    Version,
    #[error("must look like `area.name`")]
    NoDot,
    #[error("must look like `package/tool`")]
    NotARef,
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub(crate) struct $type(String);

        impl $type {
            pub(crate) fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                $check(text)?;
                Ok(Self(text.to_owned()))
            }
        }

        impl TryFrom<String> for $type {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                $check(&text)?;
                Ok(Self(text))
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> Self {
                name.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }
    };
}

name!(
    /// A package id: 3 to 96 of `a-z`, `0-9`, `.`, `_`, `-`, the first a letter or digit (manifest §2); also a folder
    /// name on every system: no device name, no final dot, no two dots (design §4).
    PackageId,
    check_package_id
);
name!(
    /// A tool name: 2 to 96 of `a-z`, `0-9`, `_`, `-`, the first a letter (manifest §9).
    ToolName,
    check_tool_name
);
name!(
    /// The name of an environment variable: 1 to 128 of `A-Z`, `0-9`, `_`, the first no digit (manifest §11).
    VariableName,
    check_variable_name
);
name!(
    /// A host capability: lower-case words joined by dots, at most 160 characters (manifest §12).
    CapabilityName,
    check_capability_name
);

impl PackageId {
    /// Returns the id with `.`, `_` and `-` made alike: two ids that fold to the same look alike (hardening D-4).
    pub(crate) fn folded(&self) -> String {
        self.0.replace(['.', '_'], "-")
    }
}

impl ToolName {
    /// Returns the name with `_` and `-` made alike.
    pub(crate) fn folded(&self) -> String {
        self.0.replace('_', "-")
    }
}

fn check_length(text: &str, min: usize, max: usize) -> Result<(), IdError> {
    let found = text.chars().count();
    if (min..=max).contains(&found) { Ok(()) } else { Err(IdError::Length { found, min, max }) }
}

fn check_characters(text: &str, may: fn(char) -> bool, allowed: &'static str) -> Result<(), IdError> {
    text.chars().find(|c| !may(*c)).map_or(Ok(()), |found| Err(IdError::Character { found, allowed }))
}

fn check_start(text: &str, may: fn(char) -> bool, start: &'static str) -> Result<(), IdError> {
    if text.chars().next().is_some_and(may) { Ok(()) } else { Err(IdError::Start { start }) }
}

fn check_package_id(text: &str) -> Result<(), IdError> {
    check_length(text, 3, 96)?;
    check_characters(text, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-'), "a-z, 0-9, `.`, `_` and `-`")?;
    check_start(text, |c| c.is_ascii_lowercase() || c.is_ascii_digit(), "a-z or 0-9")?;
    if text.ends_with('.') {
        return Err(IdError::EndsInDot);
    }
    if text.contains("..") {
        return Err(IdError::TwoDots);
    }
    let stem = text.split('.').next().unwrap_or(text);
    if is_device_name(stem) { Err(IdError::DeviceName { word: stem.to_owned() }) } else { Ok(()) }
}

/// Says whether Windows reserves `stem` (a file name up to its first dot) in any case.
pub(crate) fn is_device_name(stem: &str) -> bool {
    let stem = stem.to_ascii_lowercase();
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|rest| matches!(rest, "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"))
    };
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$") || numbered("com") || numbered("lpt")
}

fn check_tool_name(text: &str) -> Result<(), IdError> {
    check_length(text, 2, 96)?;
    check_characters(text, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'), "a-z, 0-9, `_` and `-`")?;
    check_start(text, |c| c.is_ascii_lowercase(), "a-z")
}

fn check_variable_name(text: &str) -> Result<(), IdError> {
    check_length(text, 1, 128)?;
    check_characters(text, |c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_', "A-Z, 0-9 and `_`")?;
    check_start(text, |c| c.is_ascii_uppercase() || c == '_', "A-Z or `_`")
}

fn check_capability_name(text: &str) -> Result<(), IdError> {
    check_length(text, 3, 160)?;
    check_characters(text, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-'), "a-z, 0-9, `.`, `_` and `-`")?;
    if !text.contains('.') {
        return Err(IdError::NoDot);
    }
    for word in text.split('.') {
        if word.is_empty() {
            return Err(IdError::TwoDots);
        }
        check_start(word, |c| c.is_ascii_lowercase(), "a-z, and so must each word behind a dot")?;
    }
    Ok(())
}

/// A package version as the manifest writes it: `1.2.3`, `1.2.3-beta.1` or `1.2.3+build`, never both suffixes
/// (manifest §2). Ordered by `SemVer` precedence, then by its text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Version {
    text: String,
}

impl Version {
    /// Bytes of a version: it becomes a folder name and a field of `initialize`, which holds 160 (process-protocol §3).
    pub(crate) const MAX: usize = 160;

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Says whether it is `SemVer` 2 too: no leading zeros, no empty identifiers.
    pub(crate) fn is_semver(&self) -> bool {
        semver::Version::parse(&self.text).is_ok()
    }

    fn parts(&self) -> ([&str; 3], Option<&str>) {
        let core_end = self.text.find(['-', '+']).unwrap_or(self.text.len());
        let mut numbers = self.text[..core_end].split('.');
        let core = [(); 3].map(|()| numbers.next().unwrap_or("0").trim_start_matches('0'));
        let suffix = &self.text[core_end..];
        (core, suffix.strip_prefix('-'))
    }
}

impl FromStr for Version {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        check_length(text, 5, Self::MAX)?;
        let core_end = text.find(['-', '+']).unwrap_or(text.len());
        let core: Vec<&str> = text[..core_end].split('.').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let suffix = text.get(core_end + 1..);
        let is_suffix =
            |suffix: &str| !suffix.is_empty() && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
        if core.len() != 3 || !core.iter().all(is_number) || !suffix.is_none_or(is_suffix) {
            return Err(IdError::Version);
        }
        // It names a folder: Windows drops a final dot.
        if text.ends_with('.') {
            return Err(IdError::EndsInDot);
        }
        Ok(Self { text: text.to_owned() })
    }
}

impl TryFrom<String> for Version {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.text
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((core, pre), (other_core, other_pre)) = (self.parts(), other.parts());
        let by_core = core.iter().zip(&other_core).map(|(a, b)| by_number(a, b)).find(|order| order.is_ne());
        by_core
            .unwrap_or_else(|| match (pre, other_pre) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(a), Some(b)) => by_pre_release(a, b),
            })
            .then_with(|| self.text.cmp(&other.text))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares digit strings without leading zeros, of any length.
fn by_number(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

fn by_pre_release(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.split('.'), b.split('.'));
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => {
                let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
                match (is_number(a), is_number(b)) {
                    (true, true) => by_number(a.trim_start_matches('0'), b.trim_start_matches('0')),
                    (true, false) => Ordering::Less,
                    (false, true) => Ordering::Greater,
                    (false, false) => a.cmp(b),
                }
            }
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// `package/tool`, the stable identity of a tool (manifest §10).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ToolRef {
    pub(crate) package: PackageId,
    pub(crate) tool: ToolName,
}

impl FromStr for ToolRef {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let (package, tool) = text.split_once('/').ok_or(IdError::NotARef)?;
        Ok(Self { package: package.parse()?, tool: tool.parse()? })
    }
}

impl fmt::Display for ToolRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.package, self.tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: FromStr<Err = IdError>>(good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(text.parse::<T>().is_ok(), "{text}");
        }
        for text in bad {
            assert!(text.parse::<T>().is_err(), "{text}");
        }
    }

    // H: A-11, D-4
    #[test]
    fn a_package_id_is_one_folder_name_on_every_system() {
        let long = "a".repeat(97);
        check::<PackageId>(
            &["demo.hello", "abc", "0ab", "a_b-c.d", "console", &long[..96], "com10"],
            &[
                "ab",
                &long,
                "Abc",
                "../../x",
                "a/b",
                "a\\b",
                "con",
                "con.tools",
                "nul",
                "com1.x",
                "abc.",
                "a..b",
                ".abc",
                "-abc",
                "p\u{430}ypal",
                "abc ",
                "a\0b",
            ],
        );
    }

    #[test]
    fn tool_variable_and_capability_names_follow_their_grammar() {
        check::<ToolName>(&["say_hello", "a1", "a-b"], &["a", "1a", "Say", "a b", "a.b", "_ab"]);
        check::<VariableName>(&["A", "_A1", "API_KEY"], &["", "1A", "a", "A-B", "A B"]);
        check::<CapabilityName>(
            &["http.fetch", "storage.kv.get", "a_b.c-d"],
            &["http", "http.", ".fetch", "a..b", "A.b", "1a.b", "a.1b", "a._b"],
        );
    }

    // H: A-11
    #[test]
    fn a_version_has_at_most_one_suffix_and_names_one_folder() {
        check::<Version>(
            &["1.2.3", "0.0.0", "1.2.3-beta.1", "1.2.3+build.5", "01.2.3", "1.2.3-x-y"],
            &["1.2", "1.2.3.4", "1.2.3-a+b", "1/../..", "v1.2.3", "1.2.3-", "1.2.3-a.", "1.2.x", "..", "1.2.3-a/b", "1.2.3 "],
        );
    }

    #[test]
    fn versions_are_ordered_by_precedence() {
        let sorted = [
            "0.9.9",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "1.2.0",
            "1.10.0",
            "99999999999999999999.0.0",
        ];
        let mut versions: Vec<Version> = sorted.iter().rev().map(|text| text.parse().expect("a version")).collect();
        versions.sort();
        assert_eq!(versions.iter().map(Version::as_str).collect::<Vec<_>>(), sorted);
    }

    #[test]
    fn a_tool_is_named_by_package_and_tool() {
        let tool: ToolRef = "demo.hello/say_hello".parse().expect("a reference");
        assert_eq!(tool.to_string(), "demo.hello/say_hello");
        assert!("demo.hello".parse::<ToolRef>().is_err());
        assert!("demo.hello/a/b".parse::<ToolRef>().is_err());
    }

    #[test]
    fn names_that_look_alike_fold_alike() {
        let fold = |text: &str| text.parse::<PackageId>().expect("an id").folded();
        assert_eq!(fold("a_b.c"), fold("a-b-c"));
    }
}
