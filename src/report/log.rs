//! The file that `--log` names: what a run did, a line each, for a bug report. Appended to, never read.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Mutex;

use crate::base::clock::Clock;
use crate::base::text::visible;

#[derive(Debug)]
pub(crate) struct Log {
    file: Mutex<File>,
    clock: Clock,
}

impl Log {
    /// Opens the file to append to; a new one is its owner's alone.
    pub(crate) fn open(path: &Path, clock: Clock) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self { file: Mutex::new(options.open(path)?), clock })
    }

    /// Appends a line. A log that can't be written stops no command.
    pub(super) fn add(&self, level: &str, message: &str) {
        let line = format!("{} {level:<7} {}\n", self.clock.now(), visible(message));
        if let Ok(mut file) = self.file.lock() {
            // One write a line, so that lines of two processes don't mix.
            drop(file.write_all(line.as_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Timestamp;

    #[test]
    fn a_line_has_its_time_its_level_and_nothing_that_a_terminal_obeys() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let log = Log::open(&path, Clock::Fixed(Timestamp::from_millis(1_796_058_832_001))).expect("opened");
        log.add("hint", "red \u{1b}[31m\nnext");
        log.add("warning", "two");
        assert_eq!(
            std::fs::read_to_string(&path).expect("read"),
            "2026-11-30T17:13:52.001Z hint    red \\u{1b}[31m\\nnext\n2026-11-30T17:13:52.001Z warning two\n"
        );
    }
}
