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
