//! Byte ranges of a text, and the lines and columns a person counts in.

use std::ops::Range;

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

    pub(crate) const fn range(self) -> Range<usize> {
        self.start..self.end
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

/// The line starts of a text. Line ends are `\n`, `\r\n` and `\r`.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        Self { bytes, starts }
    }

    pub(crate) fn place(&self, span: Span) -> Place {
        let (line, column) = self.position(span.start);
        let (end_line, end_column) = self.position(span.end.max(span.start));
        Place { line, column, end_line, end_column }
    }

    fn position(&self, offset: usize) -> (usize, usize) {
        let offset = offset.min(self.bytes.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        let before = String::from_utf8_lossy(&self.bytes[start..offset]);
        // A byte order mark takes no column in any editor.
        let before = if start == 0 { before.trim_start_matches('\u{feff}') } else { &before };
        (line, before.encode_utf16().count() + 1)
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
    fn a_byte_order_mark_takes_no_column() {
        assert_eq!(Lines::new("\u{feff}{".as_bytes()).place(Span::new(3, 4)).column, 1);
    }
}
