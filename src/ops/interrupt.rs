//! A wish to stop that came from outside: raised once by whoever hears signals, seen by everything that works or
//! waits.

use std::sync::Arc;
#[cfg(unix)]
use std::{
    io::{PipeReader, PipeWriter, Write as _},
    sync::Mutex,
};

use miette::Diagnostic;
use thiserror::Error;
use tokio::sync::watch;

use crate::base::failure::{Class, Failing};

/// A handle on the wish; clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    signal: watch::Sender<Option<i32>>,
    /// A blocking wait polls `woken` beside what it waits for; `waker` is taken and dropped by the signal, which ends
    /// the pipe for all who poll it, now and later.
    #[cfg(unix)]
    woken: Option<PipeReader>,
    #[cfg(unix)]
    waker: Mutex<Option<PipeWriter>>,
}

impl Interrupt {
    pub(crate) fn new() -> Self {
        #[cfg(unix)]
        let (woken, waker) = std::io::pipe().map_or((None, None), |(reader, writer)| (Some(reader), Some(writer)));
        Self(Arc::new(Shared {
            signal: watch::Sender::new(None),
            #[cfg(unix)]
            woken,
            #[cfg(unix)]
            waker: Mutex::new(waker),
        }))
    }

    /// Raises it. The first signal counts; later ones change nothing.
    pub(crate) fn raise(&self, signal: i32) {
        self.0.signal.send_if_modified(|raised| {
            let is_first = raised.is_none();
            raised.get_or_insert(signal);
            is_first
        });
        #[cfg(unix)]
        if let Ok(mut waker) = self.0.waker.lock()
            && let Some(mut waker) = waker.take()
        {
            // The end of the pipe alone wakes a poll; the byte is for systems where it doesn't.
            drop(waker.write(b"!"));
        }
    }

    /// Returns the number of the signal that asked us to stop.
    pub(crate) fn signal(&self) -> Option<i32> {
        *self.0.signal.borrow()
    }

    /// Ends a piece of work that has no better place to stop.
    pub(crate) fn check(&self) -> Result<(), Interrupted> {
        self.signal().map_or(Ok(()), |signal| Err(Interrupted { signal }))
    }

    /// Waits until it is raised. Cancel-safe.
    pub(crate) async fn raised(&self) -> Interrupted {
        let mut signals = self.0.signal.subscribe();
        match signals.wait_for(Option::is_some).await.map(|signal| *signal) {
            Ok(Some(signal)) => Interrupted { signal },
            // The sender lives in `self`, so the channel is open as long as anybody waits.
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }

    /// Waits until `source` can be read without blocking. A system without polls lets the read itself wait; there
    /// the signal ends the process.
    #[cfg(unix)]
    pub(crate) fn wait_readable(&self, source: std::os::fd::BorrowedFd<'_>) -> std::io::Result<Result<(), Interrupted>> {
        use std::os::fd::AsFd as _;

        use nix::errno::Errno;
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

        let Some(woken) = &self.0.woken else { return Ok(self.check()) };
        let mut both = [PollFd::new(woken.as_fd(), PollFlags::POLLIN), PollFd::new(source, PollFlags::POLLIN)];
        loop {
            match poll(&mut both, PollTimeout::NONE) {
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
                Ok(_) => return Ok(self.check()),
            }
        }
    }
}

/// The command was told to stop and did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Diagnostic)]
#[error("interrupted")]
#[diagnostic(code(spark::interrupted))]
pub(crate) struct Interrupted {
    pub(crate) signal: i32,
}

impl Failing for Interrupted {
    fn class(&self) -> Class {
        Class::Interrupted(self.signal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_counts_and_everybody_sees_it() {
        let interrupt = Interrupt::new();
        let other = interrupt.clone();
        assert_eq!(other.check(), Ok(()));
        interrupt.raise(15);
        interrupt.raise(2);
        assert_eq!(other.check(), Err(Interrupted { signal: 15 }));
    }

    #[cfg(unix)]
    #[test]
    fn a_blocking_wait_ends_when_it_is_raised() {
        use std::os::fd::AsFd as _;

        let interrupt = Interrupt::new();
        let (reader, _writer) = std::io::pipe().expect("a pipe");
        let raiser = interrupt.clone();
        let thread = std::thread::spawn(move || raiser.raise(2));
        assert_eq!(interrupt.wait_readable(reader.as_fd()).expect("polled"), Err(Interrupted { signal: 2 }));
        thread.join().expect("raised");
    }
}
