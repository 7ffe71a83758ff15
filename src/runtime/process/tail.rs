//! The end of what a child wrote, masked: stderr, and the line that broke the protocol.

use crate::base::limits::{LINE_SHOWN, STDERR_KEPT};
use crate::base::redacted::Redactor;
use crate::base::text::visible_bytes;

/// The last bytes of a stream. Kept raw, with enough more that a secret at the cut is never half shown.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    /// Of the whole stream.
    total: u64,
    /// What of `bytes` is room for masking only.
    margin: usize,
}

impl Tail {
    pub(super) fn new(redactor: &Redactor) -> Self {
        // Twice, since a mask may be longer than what it hides.
        Self { bytes: Vec::new(), total: 0, margin: redactor.held_back() * 2 }
    }

    fn kept(&self) -> usize {
        STDERR_KEPT + self.margin
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        let kept = self.kept();
        if chunk.len() >= kept {
            self.bytes.clear();
            self.bytes.extend_from_slice(&chunk[chunk.len() - kept..]);
            return;
        }
        // Moved only when twice the room is full, so that each byte is moved once at most.
        if self.bytes.len() + chunk.len() > kept * 2 {
            let gone = self.bytes.len() + chunk.len() - kept;
            self.bytes.drain(..gone);
        }
        self.bytes.extend_from_slice(chunk);
    }

    /// Where the stream is now, for [`Self::since`].
    pub(super) fn position(&self) -> u64 {
        self.total
    }

    /// Returns the masked end of the stream, at most 64 KiB.
    pub(super) fn text(&self, redactor: &Redactor) -> String {
        let start = self.bytes.len().saturating_sub(self.kept());
        let masked = masked(&self.bytes[start..], redactor);
        let is_cut = self.total > (self.bytes.len() - start) as u64;
        // What stands before the margin may be the end of a secret whose start is gone.
        shorten(masked, if is_cut { self.margin } else { 0 })
    }

    /// As [`Self::text`], without what had been written when the stream was at `position`.
    pub(super) fn since(&self, position: u64, redactor: &Redactor) -> String {
        if position == 0 || self.total == position {
            return if position == self.total { String::new() } else { self.text(redactor) };
        }
        let fresh = usize::try_from(self.total - position).unwrap_or(usize::MAX);
        let Some(before) = self.bytes.len().checked_sub(fresh) else {
            return self.text(redactor);
        };
        let (old, all) = (masked(&self.bytes[..before], redactor), masked(&self.bytes, redactor));
        // A secret across the border was masked as a whole: then all is shown.
        shorten(all.strip_prefix(&old).map_or_else(|| all.clone(), str::to_owned), 0)
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

    fn tail_of(chunks: &[&[u8]], redactor: &Redactor) -> Tail {
        let mut tail = Tail::new(redactor);
        for chunk in chunks {
            tail.push(chunk);
        }
        tail
    }

    // H: P-4
    #[test]
    fn the_newest_bytes_are_kept_in_bounded_memory() {
        let redactor = Redactor::default();
        let mut tail = Tail::new(&redactor);
        for number in 0..100_000_u32 {
            tail.push(format!("line {number}\n").as_bytes());
        }
        let text = tail.text(&redactor);
        assert_eq!(text.len(), STDERR_KEPT);
        assert!(text.ends_with("line 99998\nline 99999\n"));
        assert!(tail.bytes.capacity() <= STDERR_KEPT * 4);
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

    #[test]
    fn what_was_written_before_a_call_is_not_the_calls() {
        let redactor = redactor();
        let mut tail = tail_of(&[b"old\n"], &redactor);
        let position = tail.position();
        assert_eq!(tail.since(position, &redactor), "");
        tail.push(b"new\n");
        assert_eq!(tail.since(position, &redactor), "new\n");
        assert_eq!(tail.since(0, &redactor), "old\nnew\n");
        let mut split = tail_of(&[b"correct-horse"], &redactor);
        let position = split.position();
        split.push(b"-battery end");
        assert!(!split.since(position, &redactor).contains("battery"));
        split.push(&vec![b'x'; STDERR_KEPT * 3]);
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
