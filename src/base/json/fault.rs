//! What is wrong with a JSON text.

use super::place::Span;
use crate::base::limits::JSON_DEPTH;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The text has no value at all.
    Empty,
    /// A byte order mark before the text. Only reported, never a reason to stop.
    ByteOrderMark,
    InvalidUtf8,
    TooDeep,
    UnexpectedEnd,
    /// Something that starts no value and continues nothing.
    Unexpected(char),
    ExpectedKey,
    ExpectedColon,
    ExpectedComma,
    TrailingComma,
    Comment,
    /// A key a second time in one object; where the first one stands.
    DuplicateKey {
        key: String,
        first: Span,
    },
    LoneSurrogate,
    RawControl(char),
    BadEscape,
    BadNumber,
    UnterminatedString,
    SingleQuotes,
    /// `NaN`, `True`, `undefined` and other words that aren't JSON.
    BadWord(String),
    /// A second value after the first.
    TrailingData,
}

/// One thing that is wrong, with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) span: Span,
}

impl Fault {
    pub(crate) const fn new(kind: FaultKind, start: usize, end: usize) -> Self {
        Self { kind, span: Span::new(start, end) }
    }

    /// Says what is wrong: lowercase, no period.
    pub(crate) fn message(&self) -> String {
        match &self.kind {
            FaultKind::Empty => "the text is empty where JSON was expected".into(),
            FaultKind::ByteOrderMark => "the text starts with a byte order mark".into(),
            FaultKind::InvalidUtf8 => format!("the text is not UTF-8 at byte {}", self.span.start),
            FaultKind::TooDeep => format!("nested deeper than {JSON_DEPTH} levels"),
            FaultKind::UnexpectedEnd => "the text ends before the JSON is complete".into(),
            FaultKind::Unexpected(c) => format!("unexpected `{}`", super::super::text::visible(&c.to_string())),
            FaultKind::ExpectedKey => "expected a key in double quotes".into(),
            FaultKind::ExpectedColon => "expected `:` after the key".into(),
            FaultKind::ExpectedComma => "expected `,` or the closing bracket".into(),
            FaultKind::TrailingComma => "trailing comma".into(),
            FaultKind::Comment => "comments are not JSON".into(),
            FaultKind::DuplicateKey { key, .. } => format!("duplicate key `{}`", super::super::text::visible(key)),
            FaultKind::LoneSurrogate => "half of a surrogate pair in a string".into(),
            FaultKind::RawControl(c) => format!("control character U+{:04X} in a string", u32::from(*c)),
            FaultKind::BadEscape => "unknown escape in a string".into(),
            FaultKind::BadNumber => "this is not a JSON number".into(),
            FaultKind::UnterminatedString => "the string has no closing quote on its line".into(),
            FaultKind::SingleQuotes => "strings need double quotes".into(),
            FaultKind::BadWord(word) => format!("`{}` is not JSON", super::super::text::visible(word)),
            FaultKind::TrailingData => "more text after the end of the JSON".into(),
        }
    }

    /// Says what to do about it.
    pub(crate) fn help(&self) -> Option<String> {
        let help = match &self.kind {
            FaultKind::Empty => "write one JSON value",
            FaultKind::ByteOrderMark => "save the file as UTF-8 without a byte order mark",
            FaultKind::InvalidUtf8 => "save the file as UTF-8",
            FaultKind::TooDeep => "flatten the value; every reader of this format has such a limit",
            FaultKind::UnexpectedEnd => "close every `{`, `[` and `\"` that was opened",
            FaultKind::ExpectedKey => "write keys as \"key\"",
            FaultKind::ExpectedColon | FaultKind::Unexpected(_) => return None,
            FaultKind::ExpectedComma => "a comma may be missing before this",
            FaultKind::TrailingComma => "remove the comma before the closing bracket",
            FaultKind::Comment => "remove the comment; a key that starts with `x-` can hold a note",
            FaultKind::DuplicateKey { .. } => "readers differ on which of the two counts: keep one",
            FaultKind::LoneSurrogate => "write the character itself, or both halves of the pair",
            FaultKind::RawControl(_) => "write it as an escape such as \\n or \\u0009",
            FaultKind::BadEscape => "the escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hex digits",
            FaultKind::BadNumber => "numbers look like -1, 2.5 or 6e3: no leading zero, no leading `+`, a digit on both sides of the point",
            FaultKind::UnterminatedString => "end the string with \"; a line end inside is written \\n",
            FaultKind::SingleQuotes => "write \" instead of '",
            FaultKind::BadWord(word) => match word.to_ascii_lowercase().as_str() {
                "true" | "false" | "null" => "JSON words are all lower-case: true, false, null",
                "none" | "nil" | "undefined" => "write null",
                "nan" | "infinity" | "inf" => "JSON has no such number",
                _ => "put text in double quotes",
            },
            FaultKind::TrailingData => "a file holds one JSON value",
        };
        Some(help.to_owned())
    }

    /// Says whether a tolerant reading can go on behind it.
    pub(super) const fn is_passable(&self) -> bool {
        matches!(
            self.kind,
            FaultKind::ByteOrderMark
                | FaultKind::TrailingComma
                | FaultKind::Comment
                | FaultKind::DuplicateKey { .. }
                | FaultKind::LoneSurrogate
                | FaultKind::RawControl(_)
                | FaultKind::BadEscape
                | FaultKind::BadNumber
                | FaultKind::SingleQuotes
                | FaultKind::BadWord(_)
                | FaultKind::ExpectedComma
                | FaultKind::TrailingData
        )
    }
}
