//! The end of what a child wrote, masked: stderr, and the line that broke the protocol.

use std::collections::VecDeque;

use crate::base::limits::{LINE_SHOWN, STDERR_KEPT};
use crate::base::redacted::Redactor;
use crate::base::text::visible_bytes;

/// The last bytes of a stream. Kept raw, with enough more that a secret at the cut is never half shown.
///
/// Chunks are handed over, not copied: a flood costs its reader hardly more than the reads.
#[derive(Debug)]
pub(super) struct Tail {
    chunks: VecDeque<Chunk>,
    /// Bytes in `chunks`.
    held: usize,
    /// Bytes of the whole stream.
    total: u64,
    /// What of `chunks` is room for masking only.
    margin: usize,
}

#[derive(Debug)]
struct Chunk {
    bytes: Vec<u8>,
    /// How many of `bytes` are of the stream.
    filled: usize,
}

impl Tail {
    pub(super) fn new(redactor: &Redactor) -> Self {
        // Twice, since a mask may be longer than what it hides.
        Self { chunks: VecDeque::new(), held: 0, total: 0, margin: redactor.held_back() * 2 }
    }

    fn kept(&self) -> usize {
        STDERR_KEPT + self.margin
    }

    /// Adds the first `count` bytes of `buffer`. It may come back as another one of at least that length.
    pub(super) fn push(&mut self, buffer: &mut Vec<u8>, count: usize) {
        self.total += count as u64;
        self.held += count;
        match self.chunks.back_mut() {
            Some(last) if last.bytes.len() - last.filled >= count => {
                last.bytes[last.filled..last.filled + count].copy_from_slice(&buffer[..count]);
                last.filled += count;
            }
            _ => {
                let length = buffer.len();
                let free = self.forget().filter(|free| free.len() >= length).unwrap_or_else(|| vec![0; length]);
                self.chunks.push_back(Chunk { bytes: std::mem::replace(buffer, free), filled: count });
            }
        }
        drop(self.forget());
    }

    /// Lets go of what is too old; the last buffer that was.
    fn forget(&mut self) -> Option<Vec<u8>> {
        let mut free = None;
        while let Some(first) = self.chunks.front()
            && self.held - first.filled >= self.kept()
        {
            self.held -= first.filled;
            free = self.chunks.pop_front().map(|chunk| chunk.bytes);
        }
        free
    }

    /// The last bytes of the stream, at most so many as are kept.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.held);
        for chunk in &self.chunks {
            bytes.extend_from_slice(&chunk.bytes[..chunk.filled]);
        }
        bytes.drain(..bytes.len().saturating_sub(self.kept()));
        bytes
    }

    /// Where the stream is now, for [`Self::since`].
    pub(super) fn position(&self) -> u64 {
        self.total
    }

    /// Returns the masked end of the stream, at most 64 KiB.
    pub(super) fn text(&self, redactor: &Redactor) -> String {
        let bytes = self.bytes();
        // What stands before the margin may be the end of a secret whose start is gone.
        let cut = if self.total > bytes.len() as u64 { self.margin } else { 0 };
        shorten(masked(&bytes, redactor), cut)
    }

    /// As [`Self::text`], without what had been written when the stream was at `position`.
    pub(super) fn since(&self, position: u64, redactor: &Redactor) -> String {
        if self.total == position {
            return String::new();
        }
        let bytes = self.bytes();
        let fresh = usize::try_from(self.total - position).unwrap_or(usize::MAX);
        let Some(border) = bytes.len().checked_sub(fresh) else {
            return self.text(redactor);
        };
        // As far back as a secret across the border can reach; what is cut there is in the part that goes.
        let start = border.saturating_sub(self.margin);
        let (old, all) = (masked(&bytes[start..border], redactor), masked(&bytes[start..], redactor));
        match all.strip_prefix(&old) {
            Some(fresh) => shorten(fresh.to_owned(), 0),
            // One does, so it was masked as a whole: then all is shown.
            None => self.text(redactor),
        }
    }
}

fn masked(bytes: &[u8], redactor: &Redactor) -> String {
    redactor.redact(&String::from_utf8_lossy(bytes)).into_owned()
}

/// Removes `margin` bytes at the front, and more until 64 KiB are left.
fn shorten(mut text: String, margin: usize) -> String {
    let at = margin.max(text.len().saturating_sub(STDERR_KEPT)).min(text.len());
    let at = (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.drain(..at);
    text
}

/// Returns a line as an error shows it: masked, made safe for a terminal, cut to 200 bytes (hardening P-1).
pub(super) fn quoted(line: &[u8], redactor: &Redactor) -> String {
    // A secret that starts within what is shown ends within this.
    let near = &line[..line.len().min(LINE_SHOWN + redactor.held_back())];
    let masked = masked(near, redactor);
    // One that starts later may be cut in the middle, and masks in front of it may have brought it near.
    let whole = if near.len() < line.len() { masked.len().saturating_sub(redactor.held_back()) } else { masked.len() };
    let shown = whole.min(LINE_SHOWN);
    let more = if shown < masked.len() || near.len() < line.len() { "…" } else { "" };
    format!("{}{more}", visible_bytes(&masked.as_bytes()[..shown], LINE_SHOWN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::redacted::{MASK, Redacted};

    const SECRET: &str = "correct-horse-battery";

    fn redactor() -> Redactor {
        Redactor::new([&Redacted::new(SECRET.to_owned())])
    }

    /// Reads `bytes` as the driver does, in pieces of at most 64 KiB into a buffer that may be swapped.
    fn feed(tail: &mut Tail, bytes: &[u8]) {
        let mut buffer = vec![0; 1_024];
        for chunk in bytes.chunks(64 * 1024) {
            buffer.resize(buffer.len().max(chunk.len()), 0);
            buffer[..chunk.len()].copy_from_slice(chunk);
            tail.push(&mut buffer, chunk.len());
            assert!(buffer.len() >= chunk.len());
        }
    }

    fn tail_of(chunks: &[&[u8]], redactor: &Redactor) -> Tail {
        let mut tail = Tail::new(redactor);
        for chunk in chunks {
            feed(&mut tail, chunk);
        }
        tail
    }

    // H: P-4
    #[test]
    fn the_newest_bytes_are_kept_in_bounded_memory() {
        let redactor = Redactor::default();
        let mut tail = Tail::new(&redactor);
        for number in 0..100_000_u32 {
            feed(&mut tail, format!("line {number}\n").as_bytes());
        }
        let text = tail.text(&redactor);
        assert_eq!(text.len(), STDERR_KEPT);
        assert!(text.ends_with("line 99998\nline 99999\n"));
        let capacity = |tail: &Tail| tail.chunks.iter().map(|chunk| chunk.bytes.capacity()).sum::<usize>();
        assert!(capacity(&tail) <= STDERR_KEPT * 4, "{}", capacity(&tail));
        for _ in 0..1_000 {
            feed(&mut tail, &vec![b'z'; 40_000]);
            feed(&mut tail, b"z");
        }
        assert!(capacity(&tail) <= STDERR_KEPT * 8, "{}", capacity(&tail));
        assert_eq!(tail_of(&[&vec![b'x'; STDERR_KEPT * 3]], &redactor).text(&redactor).len(), STDERR_KEPT);
        assert_eq!(tail_of(&[b"a", b"b"], &redactor).text(&redactor), "ab");
    }

    #[test]
    fn a_secret_is_masked_across_chunks() {
        let redactor = redactor();
        let tail = tail_of(&[b"key correct-ho", b"rse-batt", b"ery end"], &redactor);
        assert_eq!(tail.text(&redactor), format!("key {MASK} end"));
    }

    #[test]
    fn a_secret_at_the_cut_is_never_half_shown() {
        let redactor = redactor();
        for shift in 0..SECRET.len() {
            let fill = vec![b'.'; STDERR_KEPT * 2 - shift];
            let tail = tail_of(&[SECRET.as_bytes(), &fill], &redactor);
            assert!(!tail.text(&redactor).contains("battery"), "{shift}");
            let tail = tail_of(&[SECRET.as_bytes(), &fill[..STDERR_KEPT + tail.margin - shift]], &redactor);
            let text = tail.text(&redactor);
            assert!(text.trim_matches('.').is_empty(), "{shift}: {}", &text[..40]);
        }
    }

    // H: K-2
    #[test]
    fn a_secret_spelt_as_json_in_json_is_never_half_shown_either() {
        let redactor = redactor();
        let spelt = SECRET.bytes().map(|byte| format!("\\\\\\\\u{byte:04x}")).collect::<Vec<_>>().concat();
        for shift in 0..spelt.len() {
            let fill = vec![b'.'; STDERR_KEPT + redactor.held_back() - shift];
            let tail = tail_of(&[spelt.as_bytes(), &fill, &vec![b'.'; redactor.held_back()]], &redactor);
            let text = tail.text(&redactor);
            assert!(!text.contains("u00"), "{shift}: {}", &text[..40]);
            let line = format!("{}{spelt}{}", ".".repeat(shift), ".".repeat(3_000));
            assert!(!quoted(line.as_bytes(), &redactor).contains("u00"), "{shift}");
        }
    }

    #[test]
    fn what_was_written_before_a_call_is_not_the_calls() {
        let redactor = redactor();
        let mut tail = tail_of(&[b"old\n"], &redactor);
        let position = tail.position();
        assert_eq!(tail.since(position, &redactor), "");
        feed(&mut tail, b"new\n");
        assert_eq!(tail.since(position, &redactor), "new\n");
        assert_eq!(tail.since(0, &redactor), "old\nnew\n");
        let mut split = tail_of(&[b"correct-horse"], &redactor);
        let position = split.position();
        feed(&mut split, b"-battery end");
        assert!(!split.since(position, &redactor).contains("battery"));
        feed(&mut split, &vec![b'x'; STDERR_KEPT * 3]);
        assert_eq!(split.since(position, &redactor).len(), STDERR_KEPT);
    }

    // H: P-1
    #[test]
    fn a_quoted_line_is_masked_safe_and_short() {
        let redactor = redactor();
        assert_eq!(quoted(b"\x1b[2J hi", &redactor), "\\u{1b}[2J hi");
        assert_eq!(quoted(&[b'z'; 200], &redactor), "z".repeat(200));
        assert_eq!(quoted(&[b'z'; 201], &redactor), format!("{}…", "z".repeat(200)));
        for before in [0, 150, 185, 195, 199] {
            let line = format!("{}{SECRET}{}", ".".repeat(before), ".".repeat(300));
            assert!(!quoted(line.as_bytes(), &redactor).contains("corr"), "{before}");
        }
    }
}
