//! The ways a call to a process ends badly (design §6, codes of process failures).

use std::time::Duration;

use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

use crate::base::failure::{Class, Failing};
use crate::child::Exit;

/// What was going on when it went wrong: the details of every failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Circumstances {
    /// `package/tool`.
    pub(crate) tool: String,
    pub(crate) phase: Phase,
    /// How the process ended, if it did so by itself.
    pub(crate) exit: Option<Exit>,
    /// The line that broke the protocol, masked, safe to show.
    pub(crate) line: Option<String>,
    /// Masked; a tool's words: not safe for a terminal as they are.
    pub(crate) stderr_tail: String,
    /// The limit that was passed, in bytes or milliseconds.
    pub(crate) limit: Option<u64>,
}

impl ProcessError {
    /// A call whose turn didn't come in time.
    pub(crate) fn turn_never_came(tool: String, after: Duration) -> Self {
        let limit = u64::try_from(after.as_millis()).ok();
        let about = Circumstances { tool, phase: Phase::Start, exit: None, line: None, stderr_tail: String::new(), limit };
        Self::TimedOut { after, about: Box::new(about) }
    }
}

/// How far it had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Start,
    Call,
    Stop,
}

impl Phase {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Call => "call",
            Self::Stop => "stop",
        }
    }
}

/// Why there is no answer. Texts of the tool in it are masked.
#[derive(Clone, Debug, Error, Diagnostic)]
pub(crate) enum ProcessError {
    #[error("`{}` could not be started: {reason}", about.tool)]
    #[diagnostic(code(spark::process::start_failed))]
    StartFailed {
        reason: String,
        #[help]
        help: Option<String>,
        class: Class,
        about: Box<Circumstances>,
    },
    #[error("`{}` refused to start: {code}: {message}", about.tool)]
    #[diagnostic(code(spark::process::refused))]
    Refused { code: String, message: String, about: Box<Circumstances> },
    #[error("`{}` did not get ready in time", about.tool)]
    #[diagnostic(code(spark::process::not_ready), help("a tool answers `initialize` with `ready` before it does anything slow"))]
    NotReady { about: Box<Circumstances> },
    #[error("`{}` printed a line that is not a frame: {}", about.tool, about.line.as_deref().unwrap_or_default())]
    #[diagnostic(code(spark::process::stray_output), help("stdout belongs to the protocol: log to stderr"))]
    StrayOutput { about: Box<Circumstances> },
    #[error("`{}` wrote a frame that breaks the protocol: {reason}", about.tool)]
    #[diagnostic(code(spark::process::bad_frame), help("docs/protocol.md has every frame and its fields"))]
    BadFrame { reason: String, about: Box<Circumstances> },
    #[error("`{}` wrote a frame too large: {bytes} bytes read, allowed are {limit}", about.tool)]
    #[diagnostic(code(spark::process::frame_too_large), help("write large results to a file in SPARK_TOOL_DATA_DIR and answer its path"))]
    FrameTooLarge { bytes: usize, limit: usize, about: Box<Circumstances> },
    #[error("`{}` closed its {stream} and went on running", about.tool)]
    #[diagnostic(code(spark::process::closed_output), help("a tool keeps stdin and stdout open until it is told to shut down"))]
    ClosedOutput { stream: &'static str, about: Box<Circumstances> },
    #[error("`{}` exited with code {code} before it answered", about.tool)]
    #[diagnostic(code(spark::process::exited))]
    Exited { code: i32, about: Box<Circumstances> },
    #[error("`{}` was killed by {} before it answered", about.tool, signal_name(*signal))]
    #[diagnostic(code(spark::process::killed))]
    Killed { signal: i32, about: Box<Circumstances> },
    #[error("`{}` did not answer within {}", about.tool, shown(*after))]
    #[diagnostic(code(spark::process::timed_out), help("give it more time with --timeout"))]
    TimedOut { after: Duration, about: Box<Circumstances> },
    #[error("`{}` said nothing after another call to it had timed out, so it was stopped", about.tool)]
    #[diagnostic(code(spark::process::unresponsive), help("a tool that works on a call keeps reading its stdin and obeys `cancel`"))]
    Unresponsive { about: Box<Circumstances> },
    /// A persistent process was stopped for a reason of ours: a setting changed, the host goes.
    #[error("the process of `{}` was stopped while it worked on the call", about.tool)]
    #[diagnostic(code(spark::process::stopped), help("call it again"))]
    Stopped { about: Box<Circumstances> },
    #[error("`{}` ended {crashes} times in a row and is started again in {} at the earliest: {reason}", about.tool, shown(*wait))]
    #[diagnostic(code(spark::process::backing_off))]
    BackingOff { crashes: u32, wait: Duration, reason: String, about: Box<Circumstances> },
    #[error("`{}` has too many calls waiting for it", about.tool)]
    #[diagnostic(code(spark::process::overloaded), help("call it again when others have been answered"))]
    Overloaded { about: Box<Circumstances> },
    #[error("the input for `{}` is too large: allowed are {limit} bytes of JSON", about.tool)]
    #[diagnostic(code(spark::process::input_too_large), help("put large data into a file and pass its path"))]
    InputTooLarge { limit: usize, about: Box<Circumstances> },
    #[error("the call to `{}` was cancelled", about.tool)]
    #[diagnostic(code(spark::process::cancelled))]
    Cancelled { about: Box<Circumstances> },
    /// The tool did what it should and says no.
    #[error("{code}: {message}")]
    #[diagnostic(code(spark::process::tool_error))]
    Tool { code: String, message: String, about: Box<Circumstances> },
}

/// Returns `500 ms`, `3 s`, `2.5 s`.
fn shown(duration: Duration) -> String {
    let millis = duration.as_millis();
    match (millis / 1_000, millis % 1_000) {
        (0, millis) => format!("{millis} ms"),
        (seconds, 0) => format!("{seconds} s"),
        (seconds, rest) => format!("{seconds}.{} s", rest / 100),
    }
}

fn signal_name(signal: i32) -> String {
    #[cfg(unix)]
    if let Ok(signal) = nix::sys::signal::Signal::try_from(signal) {
        return signal.as_str().to_owned();
    }
    format!("signal {signal}")
}

impl ProcessError {
    /// Returns what was going on.
    pub(crate) fn about(&self) -> &Circumstances {
        match self {
            Self::StartFailed { about, .. }
            | Self::Refused { about, .. }
            | Self::NotReady { about }
            | Self::StrayOutput { about }
            | Self::BadFrame { about, .. }
            | Self::FrameTooLarge { about, .. }
            | Self::ClosedOutput { about, .. }
            | Self::Exited { about, .. }
            | Self::Killed { about, .. }
            | Self::TimedOut { about, .. }
            | Self::Unresponsive { about }
            | Self::Stopped { about }
            | Self::BackingOff { about, .. }
            | Self::Overloaded { about }
            | Self::InputTooLarge { about, .. }
            | Self::Cancelled { about }
            | Self::Tool { about, .. } => about,
        }
    }
}

impl Failing for ProcessError {
    fn class(&self) -> Class {
        match self {
            Self::StartFailed { class, .. } => *class,
            Self::Tool { .. } => Class::AnswerNo,
            Self::InputTooLarge { .. } => Class::Unusable,
            // Whoever cancelled knows the signal; this is for one who doesn't ask.
            Self::Cancelled { .. } => Class::Interrupted(2),
            Self::Refused { .. }
            | Self::NotReady { .. }
            | Self::StrayOutput { .. }
            | Self::BadFrame { .. }
            | Self::FrameTooLarge { .. }
            | Self::ClosedOutput { .. }
            | Self::Exited { .. }
            | Self::Killed { .. }
            | Self::TimedOut { .. }
            | Self::Unresponsive { .. }
            | Self::Stopped { .. }
            | Self::BackingOff { .. }
            | Self::Overloaded { .. } => Class::ToolBroke,
        }
    }

    fn details(&self) -> Value {
        let about = self.about();
        json!({
            "tool": about.tool,
            "phase": about.phase.as_str(),
            "exitCode": about.exit.and_then(|exit| exit.code),
            "signal": about.exit.and_then(|exit| exit.signal),
            "line": about.line,
            "stderrTail": about.stderr_tail,
            "limit": about.limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_signals_read_well() {
        for (millis, expected) in [(20, "20 ms"), (3_000, "3 s"), (2_550, "2.5 s"), (120_000, "120 s")] {
            assert_eq!(shown(Duration::from_millis(millis)), expected);
        }
        assert_eq!(signal_name(999), "signal 999");
        #[cfg(unix)]
        assert_eq!(signal_name(9), "SIGKILL");
    }
}
