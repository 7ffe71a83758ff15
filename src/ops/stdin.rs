//! Reading stdin as data, for every `-` of the command line.

use std::io::{self, Read as _};

use super::{Interrupt, Interrupted};

/// Reads stdin to its end, at most `limit` bytes and one more, by which the caller knows that it was too long. A
/// signal ends the wait.
pub(super) fn read_stdin(interrupt: &Interrupt, limit: u64) -> io::Result<Result<Vec<u8>, Interrupted>> {
    let mut stdin = io::stdin().lock();
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    while (bytes.len() as u64) <= limit {
        // What the buffer of the standard library holds was read when the poll said so: it is never waited for here.
        #[cfg(unix)]
        if let Err(interrupted) = interrupt.wait_readable(std::os::fd::AsFd::as_fd(&stdin))? {
            return Ok(Err(interrupted));
        }
        match stdin.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(usize::try_from(limit.saturating_add(1)).unwrap_or(usize::MAX));
    Ok(interrupt.check().map(|()| bytes))
}
