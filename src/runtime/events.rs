//! What a tool says while it works.

use crate::protocol::{LogLine, Progress};

/// Hears a call's log lines and progress as they come, masked, in their order. They are a tool's words: whoever shows
/// them makes them safe for a terminal.
pub(crate) trait EventSink: Send + Sync {
    fn log(&self, line: &LogLine);
    fn progress(&self, progress: &Progress);

    /// So many log lines came faster than they could be heard, and are gone.
    fn lost(&self, _lines: u64) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silent;

impl EventSink for Silent {
    fn log(&self, _line: &LogLine) {}
    fn progress(&self, _progress: &Progress) {}
}
