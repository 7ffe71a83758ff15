//! The lines of a file around a place, cut to what a screen holds and made visible, for miette to draw under a
//! message.
//!
//! miette would copy and count through the whole file for each message; here a message costs a few lines, whatever
//! the size of the file.

use std::borrow::Cow;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::base::json::{Place, Span};
use crate::base::text::visible_lines;

/// Characters shown in front of and behind the place on its line (ours: both and the place fit a wide screen).
const AROUND: usize = 60;
/// Characters shown of the place itself and of the lines beside it.
const LINE: usize = 120;
/// Bytes looked at in each direction (ours: more than what is shown can have, so a cut in a character is never seen). A
/// file of one line would be read once for each message otherwise.
const WINDOW: usize = 4_096;

/// A window of a file.
#[derive(Debug)]
pub(super) struct Excerpt {
    name: String,
    text: String,
    /// The place inside `text`.
    marked: SourceSpan,
    /// Line numbers, from 0: of the first line of `text`, and of the place; the place's column.
    first_line: usize,
    line: usize,
    column: usize,
}

impl Excerpt {
    pub(super) fn new(name: String, source: &[u8], span: Span, place: Place) -> Self {
        let start = span.start.min(source.len());
        // What goes on over several lines is marked on its first.
        let (line_end, below_start) = forward(source, start);
        let end = span.end.clamp(start, line_end);
        let (after_end, below_start) = if end == line_end { (line_end, below_start) } else { forward(source, end) };
        let (line_start, above_end) = backward(source, start);

        let above = above_end.and_then(|end| {
            let (start, before) = backward(source, end);
            // A line whose start is far is none to be shown beside this one.
            (start == 0 || before.is_some()).then(|| head(&shown(&source[start..end]), LINE).into_owned())
        });
        let below = below_start.map(|start| head(&shown(&source[start..forward(source, start).0]), LINE).into_owned());
        let before = tail(&shown(&source[line_start..start]), AROUND).into_owned();
        let marked = head(&shown(&source[start..end]), LINE).into_owned();
        let after = head(&shown(&source[end..after_end]), AROUND).into_owned();

        let mut text = String::new();
        if let Some(above) = &above {
            text.push_str(above);
            text.push('\n');
        }
        let offset = text.len() + before.len();
        text.push_str(&before);
        text.push_str(&marked);
        text.push_str(&after);
        if let Some(below) = below.filter(|below| !below.is_empty()) {
            text.push('\n');
            text.push_str(&below);
        }
        let line = place.line.saturating_sub(1);
        Self {
            name,
            text,
            marked: (offset, marked.len()).into(),
            first_line: line - usize::from(above.is_some()).min(line),
            line,
            column: place.column.saturating_sub(1),
        }
    }

    pub(super) fn marked(&self) -> SourceSpan {
        self.marked
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(&'a self, span: &SourceSpan, before: usize, after: usize) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        // Without lines around it miette wants to know where the place is; with them, what to draw.
        let (line, column) = if before == 0 && after == 0 { (self.line, self.column) } else { (self.first_line, 0) };
        let whole = SourceSpan::from((0, self.text.len()));
        if span.offset() + span.len() > whole.len() {
            return Err(MietteError::OutOfBounds);
        }
        let lines = self.text.lines().count();
        Ok(Box::new(MietteSpanContents::new_named(self.name.clone(), self.text.as_bytes(), whole, line, column, lines)))
    }
}

/// Returns where the line at `at` ends, and where the next one starts; a line that goes on too long ends early, and has
/// none after it.
fn forward(source: &[u8], at: usize) -> (usize, Option<usize>) {
    let near = &source[at..source.len().min(at + WINDOW)];
    match near.iter().position(|byte| *byte == b'\n') {
        Some(length) => (at + length, Some(at + length + 1)),
        None => (at + near.len(), None),
    }
}

/// Returns where the line at `at` starts, and where the one before it ends; of a line that is too long, a place in it.
fn backward(source: &[u8], at: usize) -> (usize, Option<usize>) {
    let from = at.saturating_sub(WINDOW);
    match source[from..at].iter().rposition(|byte| *byte == b'\n') {
        Some(found) => (from + found + 1, Some(from + found)),
        None => (from, None),
    }
}

/// Text of a line, safe for a terminal; the `\r` of its end is none of its text.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    visible_lines(text.strip_suffix('\r').unwrap_or(&text)).into_owned()
}

fn head(text: &str, limit: usize) -> Cow<'_, str> {
    crate::base::text::cut(text, limit)
}

/// Returns the last `limit` characters, with an ellipsis if some are left out.
fn tail(text: &str, limit: usize) -> Cow<'_, str> {
    let Some(skipped) = text.chars().count().checked_sub(limit).filter(|skipped| *skipped > 0) else { return Cow::Borrowed(text) };
    let kept: String = text.chars().skip(skipped).collect();
    Cow::Owned(format!("…{kept}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::json::Lines;

    fn check(source: &str, part: &str, text: &str, marked: &str) {
        let start = source.find(part).expect("it is in there");
        let span = Span::new(start, start + part.len());
        let place = Lines::new(source.as_bytes()).place(span);
        let excerpt = Excerpt::new("a".into(), source.as_bytes(), span, place);
        assert_eq!(excerpt.text, text);
        assert_eq!(&excerpt.text[excerpt.marked.offset()..][..excerpt.marked.len()], marked);
    }

    #[test]
    fn a_place_is_shown_with_a_line_on_each_side() {
        check("one\r\ntwo three\r\nfour\r\nfive", "three", "one\ntwo three\nfour", "three");
        check("one", "one", "one", "one");
        check("{\n}\n", "{", "{\n}", "{");
        check("x\n{ a\nb }\n", "{ a\nb }", "x\n{ a\nb }", "{ a");
    }

    // H: D-1, D-2
    #[test]
    fn nothing_in_an_excerpt_reaches_a_terminal_as_it_is() {
        check("a\u{1b}[2J \u{202e}X\u{9b}", "X", "a\\u{1b}[2J \\u{202e}X\\u{9b}", "X");
    }

    #[test]
    fn a_line_without_end_is_cut_around_the_place() {
        let source = format!("{}X{}", "a".repeat(1_000_000), "b".repeat(1_000_000));
        let text = format!("…{}X{}…", "a".repeat(AROUND), "b".repeat(AROUND));
        check(&source, "X", &text, "X");
    }

    #[test]
    fn a_long_line_beside_the_place_is_cut_or_left_out() {
        let long = "é".repeat(1_000_000);
        let cut = format!("{}…", "é".repeat(LINE));
        check(&format!("one\nX\n{long}"), "X", &format!("one\nX\n{cut}"), "X");
        check(&format!("{long}\nX\ntwo"), "X", "X\ntwo", "X");
        let (before, after) = ("é".repeat(AROUND), "é".repeat(AROUND));
        check(&format!("one\n{long}X{long}\ntwo"), "X", &format!("…{before}X{after}…"), "X");
        let all = format!("one\n{long}\ntwo");
        check(&all, &long, &format!("one\n{cut}"), &cut);
    }

    #[test]
    fn a_message_costs_the_same_in_a_file_of_one_line() {
        let source = "a".repeat(3_000_000);
        let begun = std::time::Instant::now();
        for at in 0..1_000 {
            let span = Span::new(at * 3_000, at * 3_000 + 1);
            let place = Place { line: 1, column: span.start + 1, end_line: 1, end_column: span.end + 1 };
            assert_eq!(Excerpt::new("a".into(), source.as_bytes(), span, place).marked().len(), 1);
        }
        // Reading all of it each time takes more than a minute.
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}
