//! The scanner: bytes in, events out. It keeps its own stack, so no input can overflow the thread's.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::ControlFlow;

use super::fault::{Fault, FaultKind};
use super::place::Span;
use crate::base::limits::JSON_DEPTH;

/// What a text consists of. A sink hears of a fault where it stands and says whether to go on.
pub(super) trait Sink<'a> {
    fn open(&mut self, bracket: Bracket, at: usize);
    fn key(&mut self, key: Cow<'a, str>, span: Span);
    fn scalar(&mut self, scalar: Scalar<'a>, span: Span);
    fn close(&mut self, at: usize);
    fn fault(&mut self, fault: Fault) -> ControlFlow<()>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    Object,
    Array,
}

pub(super) enum Scalar<'a> {
    Null,
    Bool(bool),
    /// As written.
    Number(&'a str),
    String(Cow<'a, str>),
}

type Step = ControlFlow<()>;

/// Reads one JSON text. `Break` if the sink stopped it or it can't be read further.
pub(super) fn scan<'a>(bytes: &'a [u8], sink: &mut impl Sink<'a>) -> Step {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            let len = error.error_len().unwrap_or(bytes.len() - at);
            return stop(sink, FaultKind::InvalidUtf8, at, at + len);
        }
    };
    let mut scanner = Scanner { text, bytes, at: 0, open: Vec::new() };
    if text.starts_with('\u{feff}') {
        scanner.at = 3;
        sink.fault(Fault::new(FaultKind::ByteOrderMark, 0, 3))?;
    }
    scanner.document(sink)
}

fn stop<'a>(sink: &mut impl Sink<'a>, kind: FaultKind, start: usize, end: usize) -> Step {
    let _stopped = sink.fault(Fault::new(kind, start, end));
    ControlFlow::Break(())
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    open: Vec<Level<'a>>,
}

struct Level<'a> {
    bracket: Bracket,
    keys: Keys<'a>,
}

/// The keys of an open object. Most have few: those are compared one by one, without hashing.
enum Keys<'a> {
    Few(Vec<(Cow<'a, str>, Span)>),
    Many(HashMap<Cow<'a, str>, Span>),
}

impl<'a> Keys<'a> {
    /// Adds a key; the place of the same key before it, if there is one.
    fn add(&mut self, key: Cow<'a, str>, span: Span) -> Option<Span> {
        match self {
            Self::Few(few) => {
                if let Some((_, first)) = few.iter().find(|(known, _)| *known == key) {
                    return Some(*first);
                }
                few.push((key, span));
                if few.len() > 16 {
                    *self = Self::Many(few.drain(..).collect());
                }
                None
            }
            Self::Many(many) => match many.entry(key) {
                std::collections::hash_map::Entry::Occupied(first) => Some(*first.get()),
                std::collections::hash_map::Entry::Vacant(free) => {
                    free.insert(span);
                    None
                }
            },
        }
    }
}

/// Returns how many bytes from the start are neither the quote, nor a backslash, nor a control character of C0.
fn plain_run(bytes: &[u8], quote: u8) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // The high bit of a byte that is zero; only bytes above such a one may be marked wrongly.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let quotes = ONES * u64::from(quote);
    let mut at = 0;
    // Eight at a time: strings of megabytes go through here.
    for chunk in bytes.chunks_exact(8) {
        let word = u64::from_le_bytes(chunk.try_into().expect("chunks of eight"));
        let below = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let found = zero(word ^ quotes) | zero(word ^ (ONES * u64::from(b'\\'))) | below;
        if found != 0 {
            break;
        }
        at += 8;
    }
    let is_special = |byte: &u8| *byte == quote || *byte == b'\\' || *byte < 0x20;
    at + bytes[at..].iter().position(is_special).unwrap_or(bytes.len() - at)
}

impl<'a> Scanner<'a> {
    fn document(&mut self, sink: &mut impl Sink<'a>) -> Step {
        self.blanks(sink)?;
        if self.at >= self.bytes.len() {
            return stop(sink, FaultKind::Empty, 0, self.bytes.len());
        }
        self.value(sink)?;
        while let Some(level) = self.open.last() {
            match level.bracket {
                Bracket::Object => self.in_object(sink)?,
                Bracket::Array => self.in_array(sink)?,
            }
        }
        self.blanks(sink)?;
        if self.at < self.bytes.len() {
            sink.fault(Fault::new(FaultKind::TrailingData, self.at, self.bytes.len()))?;
        }
        ControlFlow::Continue(())
    }

    /// Reads a scalar whole, or the opening bracket of what then is the innermost level.
    fn value(&mut self, sink: &mut impl Sink<'a>) -> Step {
        let start = self.at;
        match self.bytes.get(start) {
            None => stop(sink, FaultKind::UnexpectedEnd, start, start),
            Some(b'{') => self.enter(Bracket::Object, sink),
            Some(b'[') => self.enter(Bracket::Array, sink),
            Some(b'"') => {
                let text = self.string(sink, b'"')?;
                sink.scalar(Scalar::String(text), Span::new(start, self.at));
                ControlFlow::Continue(())
            }
            Some(b'\'') => {
                let text = self.string(sink, b'\'')?;
                sink.fault(Fault::new(FaultKind::SingleQuotes, start, self.at))?;
                sink.scalar(Scalar::String(text), Span::new(start, self.at));
                ControlFlow::Continue(())
            }
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.number(sink),
            Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' || *byte == b'$' => self.word(sink),
            Some(_) => self.unexpected(sink),
        }
    }

    fn enter(&mut self, bracket: Bracket, sink: &mut impl Sink<'a>) -> Step {
        if self.open.len() >= JSON_DEPTH {
            return stop(sink, FaultKind::TooDeep, self.at, self.at + 1);
        }
        sink.open(bracket, self.at);
        self.open.push(Level { bracket, keys: Keys::Few(Vec::new()) });
        self.at += 1;
        self.blanks(sink)?;
        let closing = if bracket == Bracket::Object { b'}' } else { b']' };
        match self.bytes.get(self.at) {
            Some(byte) if *byte == closing => self.leave(sink),
            _ if bracket == Bracket::Object => self.member(sink),
            _ => self.value(sink),
        }
    }

    fn leave(&mut self, sink: &mut impl Sink<'a>) -> Step {
        self.at += 1;
        self.open.pop();
        sink.close(self.at);
        ControlFlow::Continue(())
    }

    fn member(&mut self, sink: &mut impl Sink<'a>) -> Step {
        let start = self.at;
        let key = match self.bytes.get(start) {
            None => return stop(sink, FaultKind::UnexpectedEnd, start, start),
            Some(b'"') => self.string(sink, b'"')?,
            Some(b'\'') => {
                let key = self.string(sink, b'\'')?;
                sink.fault(Fault::new(FaultKind::SingleQuotes, start, self.at))?;
                key
            }
            Some(_) => return stop(sink, FaultKind::ExpectedKey, start, start + self.char_at(start).map_or(0, char::len_utf8)),
        };
        let span = Span::new(start, self.at);
        if let Some(level) = self.open.last_mut()
            && let Some(first) = level.keys.add(key.clone(), span)
        {
            sink.fault(Fault { kind: FaultKind::DuplicateKey { key: key.to_string(), first }, span })?;
        }
        sink.key(key, span);
        self.blanks(sink)?;
        match self.bytes.get(self.at) {
            None => return stop(sink, FaultKind::UnexpectedEnd, self.at, self.at),
            Some(b':') => self.at += 1,
            Some(_) => {
                let end = self.at + self.char_at(self.at).map_or(0, char::len_utf8);
                return stop(sink, FaultKind::ExpectedColon, self.at, end);
            }
        }
        self.blanks(sink)?;
        self.value(sink)
    }

    fn in_object(&mut self, sink: &mut impl Sink<'a>) -> Step {
        self.next_or_close(b'}', sink, Self::member)
    }

    fn in_array(&mut self, sink: &mut impl Sink<'a>) -> Step {
        self.next_or_close(b']', sink, Self::value)
    }

    fn next_or_close<S: Sink<'a>>(&mut self, closing: u8, sink: &mut S, next: fn(&mut Self, &mut S) -> Step) -> Step {
        self.blanks(sink)?;
        let at = self.at;
        match self.bytes.get(at) {
            None => stop(sink, FaultKind::UnexpectedEnd, at, at),
            Some(b',') => {
                self.at += 1;
                self.blanks(sink)?;
                match self.bytes.get(self.at) {
                    Some(byte) if *byte == closing => {
                        sink.fault(Fault::new(FaultKind::TrailingComma, at, at + 1))?;
                        self.leave(sink)
                    }
                    _ => next(self, sink),
                }
            }
            Some(byte) if *byte == closing => self.leave(sink),
            Some(b'}' | b']') => self.unexpected(sink),
            Some(_) => {
                // A forgotten comma: report it where it belongs and read what follows as the next item.
                let end = at + self.char_at(at).map_or(0, char::len_utf8);
                sink.fault(Fault::new(FaultKind::ExpectedComma, at, end))?;
                next(self, sink)
            }
        }
    }

    fn unexpected(&mut self, sink: &mut impl Sink<'a>) -> Step {
        let c = self.char_at(self.at).unwrap_or('\0');
        stop(sink, FaultKind::Unexpected(c), self.at, self.at + c.len_utf8())
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..).and_then(|rest| rest.chars().next())
    }

    fn blanks(&mut self, sink: &mut impl Sink<'a>) -> Step {
        loop {
            while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
                self.at += 1;
            }
            let rest = &self.bytes[self.at..];
            let length = match rest {
                [b'/', b'/', ..] | [b'#', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => self.text[self.at..].find("*/").map_or(rest.len(), |end| end + 2),
                _ => return ControlFlow::Continue(()),
            };
            sink.fault(Fault::new(FaultKind::Comment, self.at, self.at + length))?;
            self.at += length;
        }
    }

    fn number(&mut self, sink: &mut impl Sink<'a>) -> Step {
        let start = self.at;
        let length = self.bytes[start..]
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'+' | b'-' | b'_'))
            .unwrap_or(self.bytes.len() - start);
        self.at = start + length;
        let text = &self.text[start..self.at];
        let span = Span::new(start, self.at);
        if is_number(text.as_bytes()) {
            sink.scalar(Scalar::Number(text), span);
        } else {
            let kind = match text.trim_start_matches(['-', '+']) {
                "Infinity" | "NaN" | "inf" | "nan" => FaultKind::BadWord(text.to_owned()),
                _ => FaultKind::BadNumber,
            };
            sink.fault(Fault { kind, span })?;
            sink.scalar(Scalar::Number("0"), span);
        }
        ControlFlow::Continue(())
    }

    fn word(&mut self, sink: &mut impl Sink<'a>) -> Step {
        let start = self.at;
        let length = self.bytes[start..]
            .iter()
            .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')))
            .unwrap_or(self.bytes.len() - start);
        self.at = start + length;
        let span = Span::new(start, self.at);
        let scalar = match &self.text[start..self.at] {
            "null" => Scalar::Null,
            "true" => Scalar::Bool(true),
            "false" => Scalar::Bool(false),
            word => {
                let shown: String = word.chars().take(40).collect();
                sink.fault(Fault { kind: FaultKind::BadWord(shown), span })?;
                Scalar::Null
            }
        };
        sink.scalar(scalar, span);
        ControlFlow::Continue(())
    }

    fn string(&mut self, sink: &mut impl Sink<'a>, quote: u8) -> ControlFlow<(), Cow<'a, str>> {
        let opening = self.at;
        self.at += 1;
        let mut copied: Option<String> = None;
        let mut plain_from = self.at;
        loop {
            let rest = &self.bytes[self.at..];
            let run = plain_run(rest, quote);
            self.at += run;
            match self.bytes.get(self.at) {
                None | Some(b'\n' | b'\r') => {
                    stop(sink, FaultKind::UnterminatedString, opening, self.at)?;
                }
                Some(b'\\') => {
                    let out = copied.get_or_insert_default();
                    out.push_str(&self.text[plain_from..self.at]);
                    let c = self.escape(sink)?;
                    copied.get_or_insert_default().push(c);
                    plain_from = self.at;
                }
                Some(byte) if *byte == quote => {
                    let tail = &self.text[plain_from..self.at];
                    self.at += 1;
                    return ControlFlow::Continue(match copied {
                        None => Cow::Borrowed(tail),
                        Some(mut out) => {
                            out.push_str(tail);
                            Cow::Owned(out)
                        }
                    });
                }
                Some(byte) => {
                    sink.fault(Fault::new(FaultKind::RawControl(char::from(*byte)), self.at, self.at + 1))?;
                    self.at += 1;
                }
            }
        }
    }

    /// Reads one escape; a faulty one gives U+FFFD to a sink that goes on.
    fn escape(&mut self, sink: &mut impl Sink<'a>) -> ControlFlow<(), char> {
        let start = self.at;
        self.at += 2;
        let c = match self.bytes.get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(sink, start),
            other => {
                // Not past the end, nor into the middle of a character.
                self.at = start + 1 + other.map_or(0, |_| self.char_at(start + 1).map_or(0, char::len_utf8));
                sink.fault(Fault::new(FaultKind::BadEscape, start, self.at))?;
                char::REPLACEMENT_CHARACTER
            }
        };
        ControlFlow::Continue(c)
    }

    fn unicode_escape(&mut self, sink: &mut impl Sink<'a>, start: usize) -> ControlFlow<(), char> {
        let Some(unit) = self.hex(start + 2) else {
            sink.fault(Fault::new(FaultKind::BadEscape, start, start + 2))?;
            return ControlFlow::Continue(char::REPLACEMENT_CHARACTER);
        };
        self.at = start + 6;
        if let Some(c) = char::from_u32(unit) {
            return ControlFlow::Continue(c);
        }
        if (0xd800..0xdc00).contains(&unit)
            && self.bytes.get(self.at..self.at + 2) == Some(b"\\u")
            && let Some(low @ 0xdc00..0xe000) = self.hex(self.at + 2)
            && let Some(c) = char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00))
        {
            self.at += 6;
            return ControlFlow::Continue(c);
        }
        sink.fault(Fault::new(FaultKind::LoneSurrogate, start, self.at))?;
        ControlFlow::Continue(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 4)?;
        digits.iter().try_fold(0, |sum, digit| char::from(*digit).to_digit(16).map(|digit| sum * 16 + digit))
    }
}

/// The grammar of RFC 8259 §6.
fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    rest = &rest[whole..];
    if let Some(after) = rest.strip_prefix(b".") {
        let count = digits(after);
        if count == 0 {
            return false;
        }
        rest = &after[count..];
    }
    if let Some(after) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let after = after.strip_prefix(b"+").or_else(|| after.strip_prefix(b"-")).unwrap_or(after);
        let count = digits(after);
        if count == 0 {
            return false;
        }
        rest = &after[count..];
    }
    rest.is_empty()
}
