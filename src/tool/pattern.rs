//! Regular expressions from manifests and schemas: ECMAScript without the `u` flag, linear where they can be, stopped
//! at a step limit where not (design §4, hardening J-6).

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::base::limits::PATTERN_STEPS;

/// A compiled pattern. Searches are unanchored, as in ECMAScript's `test`.
#[derive(Clone)]
pub(crate) struct Pattern {
    text: Arc<str>,
    regex: fancy_regex::Regex,
    non_linear: Option<&'static str>,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("is not a regular expression: {message}")]
pub(crate) struct PatternFault {
    pub(crate) message: String,
}

/// A match was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("pattern needs too many steps")]
pub(crate) struct StepLimit;

impl Pattern {
    pub(crate) fn compile(text: &str) -> Result<Self, PatternFault> {
        let rust = jsonschema_regex::to_rust_regex(text).map_err(|()| PatternFault { message: "syntax error".to_owned() })?;
        let regex = fancy_regex::RegexBuilder::new(&rust)
            .backtrack_limit(PATTERN_STEPS)
            .build()
            .map_err(|error| PatternFault { message: error.to_string() })?;
        Ok(Self { text: text.into(), regex, non_linear: non_linear_construct(text) })
    }

    pub(crate) fn is_match(&self, text: &str) -> Result<bool, StepLimit> {
        self.regex.is_match(text).map_err(|_| StepLimit)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Says whether the time of a match grows with the length of the text alone.
    pub(crate) const fn is_linear(&self) -> bool {
        self.non_linear.is_none()
    }

    /// Returns the construct that keeps the pattern from being linear.
    pub(crate) const fn non_linear_construct(&self) -> Option<&'static str> {
        self.non_linear
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Pattern({:?})", self.text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

fn non_linear_construct(text: &str) -> Option<&'static str> {
    let mut before = '\0';
    let mut in_class = false;
    for (at, c) in text.char_indices() {
        let rest = &text[at..];
        match c {
            _ if before == '\\' => {
                if !in_class && (('1'..='9').contains(&c) || c == 'k') {
                    return Some("a back-reference");
                }
                before = '\0';
                continue;
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class && (rest.starts_with("(?=") || rest.starts_with("(?!")) => return Some("look-ahead"),
            '(' if !in_class && (rest.starts_with("(?<=") || rest.starts_with("(?<!")) => return Some("look-behind"),
            _ => {}
        }
        before = c;
    }
    None
}
