//! What Linux and macOS have in common: pipes, signals to a group, the news that a child has ended.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::pin::Pin;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::task::{Context, Poll};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgid};
use tokio::io::AsyncWrite as _;
use tokio::net::unix::pipe;
use tokio::signal::unix::{SignalKind, signal};

use super::spawn::Exit;

/// A child's standard output or error. Implements `AsyncRead`.
pub(crate) type Output = pipe::Receiver;

/// A child's standard input. Dropping it closes it.
#[derive(Debug)]
pub(crate) struct Input(pipe::Sender);

impl Input {
    pub(super) fn new(input: ChildStdin) -> io::Result<Self> {
        pipe::Sender::from_owned_fd(OwnedFd::from(input)).map(Self)
    }

    /// Writes what the pipe takes at once; `WouldBlock` if that is nothing.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    /// Writes what the pipe takes, or arranges for a wake-up when it takes something.
    pub(crate) fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }
}

pub(super) fn outputs(output: ChildStdout, errors: ChildStderr) -> io::Result<(Output, Output)> {
    Ok((pipe::Receiver::from_owned_fd(OwnedFd::from(output))?, pipe::Receiver::from_owned_fd(OwnedFd::from(errors))?))
}

/// Hears of every child that ends. Made before a child starts, it misses nothing of it.
#[derive(Debug)]
pub(super) struct ExitNews(tokio::signal::unix::Signal);

impl ExitNews {
    pub(super) fn new() -> io::Result<Self> {
        signal(SignalKind::child()).map(Self)
    }

    /// Waits until some child, not necessarily one's own, has ended since the last time.
    pub(super) async fn next(&mut self) {
        self.0.recv().await;
    }
}

pub(super) fn exit_of(status: ExitStatus) -> Exit {
    Exit { code: status.code(), signal: status.signal() }
}

/// How hard a process is asked to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    Term,
    Kill,
}

impl Force {
    fn signal(self) -> Signal {
        match self {
            Self::Term => Signal::SIGTERM,
            Self::Kill => Signal::SIGKILL,
        }
    }
}

/// Signals the group that a child leads. Only while the child isn't reaped: its pid keeps the group's name from others.
pub(super) fn signal_group(leader: u32, force: Force) {
    // An empty group is no error.
    let _gone = killpg(pid(leader), force.signal());
}

pub(super) fn is_in_group(process: u32, leader: u32) -> bool {
    getpgid(Some(pid(process))) == Ok(pid(leader))
}

pub(super) fn signal_one(process: u32, force: Force) {
    let _gone = kill(pid(process), force.signal());
}

pub(super) fn pid(process: u32) -> Pid {
    // Pids of every Unix are far below 2^31.
    Pid::from_raw(i32::try_from(process).unwrap_or(i32::MAX))
}
