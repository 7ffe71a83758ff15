//! Byte ranges of a text, and the lines and columns a person counts in.

use std::cell::Cell;

/// A byte range of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

/// A span as lines and columns, both from 1, columns in UTF-16 units, the end exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) end_line: usize,
    pub(crate) end_column: usize,
}

/// The line starts of a text. Line ends are `\n`, `\r\n` and `\r`. Places that are asked for in the order of the text
/// cost one pass over it, however long its lines.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    starts: Vec<usize>,
    /// The offset asked for last, and its column.
    last: Cell<(usize, usize)>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        Self { bytes, starts, last: Cell::new((0, 1)) }
    }

    pub(crate) fn place(&self, span: Span) -> Place {
        let (line, column) = self.position(span.start);
        let start = self.last.get();
        let (end_line, end_column) = self.position(span.end.max(span.start));
        // The next span may start before this one ends: inside it, for one.
        self.last.set(start);
        Place { line, column, end_line, end_column }
    }

    fn position(&self, offset: usize) -> (usize, usize) {
        let offset = offset.min(self.bytes.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        let (known, column) = self.last.get();
        let (from, column) = if (start..=offset).contains(&known) { (known, column) } else { (start, 1) };
        let column = column + self.units(from, offset);
        self.last.set((offset, column));
        (line, column)
    }

    fn units(&self, from: usize, to: usize) -> usize {
        let text = &self.bytes[from..to];
        if text.is_ascii() {
            return text.len();
        }
        let text = String::from_utf8_lossy(text);
        // A byte order mark takes no column in any editor.
        let text = if from == 0 { text.trim_start_matches('\u{feff}') } else { &text };
        text.encode_utf16().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_utf16_units_and_every_line_end_counts() {
        let text = "a\r\n\u{e9}\u{1f469}x\ry";
        let lines = Lines::new(text.as_bytes());
        let at = text.find('x').expect("it is there");
        assert_eq!(lines.place(Span::new(at, at + 1)), Place { line: 2, column: 4, end_line: 2, end_column: 5 });
        let at = text.find('y').expect("it is there");
        assert_eq!(lines.place(Span::new(at, at + 1)), Place { line: 3, column: 1, end_line: 3, end_column: 2 });
    }

    #[test]
    fn places_come_out_alike_in_any_order() {
        let text = "{\"é\": [1, \"👩\"],\n \"b\": {}}";
        let spans: Vec<Span> = text.char_indices().flat_map(|(at, _)| [Span::new(at, at), Span::new(at, text.len())]).collect();
        let fresh = |span: &Span| Lines::new(text.as_bytes()).place(*span);
        let lines = Lines::new(text.as_bytes());
        for span in spans.iter().chain(spans.iter().rev()) {
            assert_eq!(lines.place(*span), fresh(span));
        }
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        assert_eq!(Lines::new("\u{feff}{".as_bytes()).place(Span::new(3, 4)).column, 1);
    }
}
