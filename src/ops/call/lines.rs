//! Inputs that come one a line, from a file or a stream that may stay open for hours.

use std::fs::File;
use std::io::{self, Read as _};

use tokio::io::AsyncReadExt as _;
#[cfg(unix)]
use tokio::net::unix::pipe;

use crate::protocol::{LineCodec, LineTooLong};

/// Where lines come from. Waiting for one is cancel-safe.
pub(crate) struct LineSource {
    from: From,
    codec: LineCodec,
    is_at_end: bool,
}

enum From {
    /// Never makes anybody wait.
    File(File),
    /// Read on the runtime's own thread: another one would cost more than the call.
    #[cfg(unix)]
    Pipe(Option<pipe::Receiver>),
    Stdin(tokio::io::Stdin),
}

impl LineSource {
    pub(crate) fn file(file: File) -> Self {
        Self::new(From::File(file))
    }

    /// Reads standard input. Call it on the runtime.
    #[cfg(unix)]
    pub(crate) fn stdin() -> io::Result<Self> {
        use std::os::fd::AsFd as _;
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        if file.metadata()?.is_file() {
            return Ok(Self::file(file));
        }
        Ok(match pipe::Receiver::from_file(file) {
            Ok(receiver) => Self::new(From::Pipe(Some(receiver))),
            // A terminal or a socket.
            Err(_) => Self::new(From::Stdin(tokio::io::stdin())),
        })
    }

    #[cfg(not(unix))]
    pub(crate) fn stdin() -> io::Result<Self> {
        Ok(Self::new(From::Stdin(tokio::io::stdin())))
    }

    fn new(from: From) -> Self {
        Self { from, codec: LineCodec::default(), is_at_end: false }
    }

    /// Returns the next line that isn't blank, without its end; `None` after the last.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            match self.codec.next_line() {
                Ok(Some(line)) => return Ok(Some(line.to_vec())),
                Ok(None) => {}
                Err(LineTooLong { limit, .. }) => {
                    let reason = format!("a line has more than {limit} bytes, more than a frame holds");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
                }
            }
            if self.is_at_end {
                let rest = self.codec.rest().trim_ascii();
                let last = (!rest.is_empty()).then(|| rest.to_vec());
                self.codec = LineCodec::default();
                return Ok(last);
            }
            let count = self.read().await?;
            self.codec.filled(count);
            self.is_at_end = count == 0;
        }
    }

    async fn read(&mut self) -> io::Result<usize> {
        let space = self.codec.space();
        match &mut self.from {
            From::File(file) => file.read(space),
            #[cfg(unix)]
            From::Pipe(Some(receiver)) => receiver.read(space).await,
            #[cfg(unix)]
            From::Pipe(None) => Ok(0),
            From::Stdin(stdin) => stdin.read(space).await,
        }
    }
}

#[cfg(unix)]
impl Drop for LineSource {
    /// Whoever reads the same pipe after us gets it as it was: blocking.
    fn drop(&mut self) {
        if let From::Pipe(receiver) = &mut self.from
            && let Some(receiver) = receiver.take()
        {
            drop(receiver.into_blocking_fd());
        }
    }
}
