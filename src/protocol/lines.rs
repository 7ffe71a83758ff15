//! Bytes of a stream in, its lines out. Holds at most one line and one chunk.

use std::io::BufRead as _;

use crate::base::limits::FRAME_BYTES;

/// How much is read at a time: what a pipe holds on Linux.
const CHUNK: usize = 64 * 1024;
/// A byte order mark and a carriage return may stand around the JSON that the limit counts.
const AROUND: usize = 4;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A line with more bytes than a frame may have (hardening P-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineTooLong {
    /// What has been read of it; it may have been meant to be longer.
    pub(crate) bytes: usize,
    pub(crate) limit: usize,
}

/// Cuts a stream into lines of at most 4 MiB (process-protocol §1). `\r\n`, blank lines and a byte order mark before a
/// line are tolerated (design §4, stdout discipline).
///
/// Each byte is looked at once and moved at most twice, however the stream is cut.
#[derive(Debug)]
pub(crate) struct LineCodec {
    /// `start..end` is what no line has been made of yet; up to `scanned` it has no line end.
    bytes: Vec<u8>,
    start: usize,
    scanned: usize,
    end: usize,
    limit: usize,
}

impl Default for LineCodec {
    fn default() -> Self {
        Self::new(FRAME_BYTES)
    }
}

impl LineCodec {
    pub(crate) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), start: 0, scanned: 0, end: 0, limit }
    }

    /// Returns where the next bytes of the stream go. Empty only behind a line that was refused.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.scanned, self.end) = (0, 0, 0);
            // The room of a large frame isn't kept for the small ones that follow.
            self.bytes.truncate(CHUNK);
            self.bytes.shrink_to(CHUNK);
        }
        if self.bytes.len() - self.end < CHUNK / 4 {
            self.make_space();
        }
        &mut self.bytes[self.end..]
    }

    fn make_space(&mut self) {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.scanned -= self.start;
            self.end -= self.start;
            self.start = 0;
        }
        if self.bytes.len() - self.end < CHUNK / 4 {
            let largest = self.limit + AROUND + CHUNK;
            let length = (self.bytes.len() * 2).clamp(CHUNK, largest);
            self.bytes.reserve_exact(length - self.bytes.len());
            self.bytes.resize(length, 0);
        }
    }

    /// Says that the first `count` bytes of [`Self::space`] have been written.
    pub(crate) fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.bytes.len());
    }

    /// Returns the next whole line that isn't blank, without its end; `None` if the stream has to be read further.
    /// After an error there is nothing more to be had but [`Self::rest`].
    pub(crate) fn next_line(&mut self) -> Result<Option<&[u8]>, LineTooLong> {
        loop {
            let Some(length) = line_end(&self.bytes[self.scanned..self.end]) else {
                self.scanned = self.end;
                let bytes = self.end - self.start;
                return if bytes > self.limit + AROUND { Err(LineTooLong { bytes, limit: self.limit }) } else { Ok(None) };
            };
            let (from, to) = self.trimmed(self.start, self.scanned + length);
            if to - from > self.limit {
                return Err(LineTooLong { bytes: to - from, limit: self.limit });
            }
            self.scanned += length + 1;
            self.start = self.scanned;
            if !self.bytes[from..to].trim_ascii().is_empty() {
                return Ok(Some(&self.bytes[from..to]));
            }
        }
    }

    fn trimmed(&self, start: usize, end: usize) -> (usize, usize) {
        let line = &self.bytes[start..end];
        let from = if line.starts_with(BYTE_ORDER_MARK) { start + BYTE_ORDER_MARK.len() } else { start };
        let to = if line.ends_with(b"\r") { end - 1 } else { end };
        (from, to.max(from))
    }

    /// Returns what was read and is no line yet; behind an error, the refused line.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }
}

fn line_end(bytes: &[u8]) -> Option<usize> {
    // The standard library's only way to the system's `memchr`: ten times as fast as looking at each byte.
    let length = { bytes }.skip_until(b'\n').ok()?;
    length.checked_sub(1).filter(|at| bytes[*at] == b'\n')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Feeds `chunks` and returns the lines, with the error that ended them.
    fn lines_of<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, Option<LineTooLong>) {
        let mut codec = LineCodec::new(limit);
        let mut lines = Vec::new();
        for mut chunk in chunks {
            while !chunk.is_empty() {
                let space = codec.space();
                let count = chunk.len().min(space.len());
                space[..count].copy_from_slice(&chunk[..count]);
                codec.filled(count);
                chunk = &chunk[count..];
                loop {
                    match codec.next_line() {
                        Ok(Some(line)) => lines.push(line.to_vec()),
                        Ok(None) => break,
                        Err(error) => return (lines, Some(error)),
                    }
                }
            }
        }
        (lines, None)
    }

    #[test]
    fn a_stream_is_cut_at_its_line_ends() {
        let check = |stream: &str, expected: &[&str]| {
            let (lines, error) = lines_of(100, [stream.as_bytes()]);
            assert_eq!(error, None);
            assert_eq!(lines, expected.iter().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>(), "{stream:?}");
        };
        check("{}\n[]\n", &["{}", "[]"]);
        check("{}\r\n", &["{}"]);
        check("\u{feff}{}\n\u{feff}[]\r\n", &["{}", "[]"]);
        check("\n \t\r\n\r\n{}\n\n\u{feff}\n", &["{}"]);
        check("{}\nunfinished", &["{}"]);
        check("", &[]);
    }

    // H: P-2
    #[test]
    fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        let exactly = [vec![b'x'; FRAME_BYTES], b"\r\n".to_vec()].concat();
        let (lines, error) = lines_of(FRAME_BYTES, exactly.chunks(10_000));
        assert_eq!((lines.len(), error), (1, None));

        let one_more = [vec![b'x'; FRAME_BYTES + 1], b"\n".to_vec()].concat();
        let (_, error) = lines_of(FRAME_BYTES, one_more.chunks(10_000));
        assert_eq!(error, Some(LineTooLong { bytes: FRAME_BYTES + 1, limit: FRAME_BYTES }));
    }

    // H: P-2
    #[test]
    fn a_line_that_never_ends_is_refused_at_the_limit_in_bounded_memory() {
        let mut codec = LineCodec::default();
        let mut read = 0;
        let error = loop {
            let space = codec.space();
            space.fill(b'y');
            let count = space.len();
            codec.filled(count);
            read += count;
            match codec.next_line() {
                Ok(None) => {}
                Ok(Some(_)) => panic!("there is no line"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.bytes, read);
        assert!(codec.bytes.capacity() <= FRAME_BYTES + AROUND + CHUNK, "{}", codec.bytes.capacity());
        assert_eq!(&codec.rest()[..3], b"yyy");
    }

    #[test]
    fn the_room_of_a_large_line_is_given_back() {
        let mut codec = LineCodec::default();
        for byte in [vec![b'x'; 3_000_000], b"\n".to_vec()].concat() {
            codec.space()[0] = byte;
            codec.filled(1);
        }
        assert!(codec.next_line().expect("short enough").is_some());
        assert!(codec.space().len() <= CHUNK);
        assert!(codec.bytes.capacity() <= CHUNK);
    }

    proptest! {
        #[test]
        fn it_doesnt_matter_where_a_stream_is_cut(stream in "([a-z]{0,6}|\u{feff}|\r|\n){0,40}\n", cuts in proptest::collection::vec(0..60_usize, 0..12)) {
            let bytes = stream.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            let ((lines, error), (whole_lines, whole_error)) = (lines_of(30, pieces), lines_of(30, [bytes]));
            // How much of a refused line had been read is all that may differ.
            prop_assert_eq!((lines, error.is_some()), (whole_lines, whole_error.is_some()));
        }
    }
}
