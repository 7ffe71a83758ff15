//! Windows: a tree is ended by the system's own `taskkill`, by pid (process-protocol §7). Written, not run.
//!
//! Pipes there can't be written without waiting, so every frame goes through the child's task. An orphan whose parent
//! ended before the tree was stopped is out of reach.

use std::io;
use std::pin::Pin;
use std::process::{Child as StdChild, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite as _, ReadBuf};

use super::spawn::Exit;

/// How often a child is asked whether it has ended.
const LOOK: Duration = Duration::from_millis(15);

/// A child's standard input. Dropping it closes it.
#[derive(Debug)]
pub(crate) struct Input(tokio::process::ChildStdin);

impl Input {
    pub(super) fn new(input: ChildStdin) -> io::Result<Self> {
        tokio::process::ChildStdin::from_std(input).map(Self)
    }

    pub(crate) fn try_write(&self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    pub(crate) fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }
}

/// A child's standard output or error.
#[derive(Debug)]
pub(crate) enum Output {
    Output(tokio::process::ChildStdout),
    Errors(tokio::process::ChildStderr),
}

impl AsyncRead for Output {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Output(output) => Pin::new(output).poll_read(context, buffer),
            Self::Errors(errors) => Pin::new(errors).poll_read(context, buffer),
        }
    }
}

pub(super) fn outputs(output: ChildStdout, errors: ChildStderr) -> io::Result<(Output, Output)> {
    Ok((Output::Output(tokio::process::ChildStdout::from_std(output)?), Output::Errors(tokio::process::ChildStderr::from_std(errors)?)))
}

#[derive(Debug)]
pub(super) struct ExitNews;

impl ExitNews {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) async fn next(&mut self) {
        tokio::time::sleep(LOOK).await;
    }
}

pub(super) fn exit_of(status: ExitStatus) -> Exit {
    Exit { code: status.code(), signal: None }
}

/// How hard a process is asked to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    /// There is no polite way beyond `shutdown` and the closed input.
    Term,
    Kill,
}

/// A process as it can't be mistaken for a later one; no process can be told so far here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) pid: u32,
    pub(super) started: u64,
}

#[expect(clippy::disallowed_methods, reason = "child is the door to processes; this is the system's own program")]
pub(super) fn signal_group(leader: u32, force: Force) {
    if force == Force::Kill {
        let _gone = Command::new(r"C:\Windows\System32\taskkill.exe")
            .args(["/T", "/F", "/PID", &leader.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

pub(super) fn is_in_group(_process: u32, _leader: u32) -> bool {
    true
}

pub(super) fn signal_one(process: u32, force: Force) {
    signal_group(process, force);
}

pub(super) fn is_lasting_thread() -> bool {
    true
}

pub(super) fn adopt_orphans() {}

pub(super) fn has_ended(child: &mut StdChild) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

pub(super) fn reap_stray(_process: u32) -> bool {
    true
}

pub(super) fn any_ended() -> Option<u32> {
    None
}

pub(super) fn own_children() -> Vec<u32> {
    Vec::new()
}

pub(super) fn descendants(_process: u32) -> Vec<Seen> {
    Vec::new()
}

pub(super) fn seen(_pid: u32) -> Option<Seen> {
    None
}

pub(super) fn marker(_pid: u32) -> Option<String> {
    None
}

pub(super) fn marked(_prefix: &str) -> Vec<u32> {
    Vec::new()
}
