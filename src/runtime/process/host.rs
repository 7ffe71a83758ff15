//! Calls to processes: one child a call.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::driver::{Cause, End, NoReply, Reply, Running};
use super::error::{Circumstances, Phase, ProcessError};
use super::launch::{Answer, Inherited, Invocation, Launch};
use crate::base::failure::Failing as _;
use crate::base::limits::READY_WAIT;
use crate::child::{Ledger, Start, spawn};
use crate::runtime::EventSink;

/// Starts children, calls them, and leaves none behind.
#[derive(Debug)]
pub(crate) struct ProcessHost {
    ledger: Arc<Ledger>,
    inherited: Inherited,
    /// Whoever may still have to be waited for: a call that was dropped leaves its child to the child's own task.
    running: Mutex<Vec<Running>>,
}

impl ProcessHost {
    pub(crate) fn new(ledger: Arc<Ledger>, inherited: Inherited) -> Self {
        Self { ledger, inherited, running: Mutex::new(Vec::new()) }
    }

    /// Calls a tool. Returns when it has answered and, for a child of its own, when nothing of that is left; an answer
    /// that was read stands whatever the child does afterwards. `cancelled` gives the call up, politely.
    ///
    /// Called within a runtime that lives at least as long as the call.
    pub(crate) async fn call(
        &self,
        launch: &Launch,
        invocation: Invocation,
        events: &dyn EventSink,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<Answer, ProcessError> {
        let asked = Asked::new(launch, &invocation);
        let running = self.start(launch, &asked, None)?;
        let stop = StopWhenDropped(&running);
        let outcome = tokio::select! {
            biased;
            outcome = running.call(launch, &invocation, events) => outcome.map_err(Missed::NoReply),
            () = cancelled => Err(Missed::Cancelled),
        };
        let end = running.stop().await;
        drop(stop);
        match outcome {
            Ok(reply) => asked.answer(Reply { errors: end.errors.clone(), ..reply }, Some(&end)),
            Err(missed) => Err(asked.missed(missed, &end)),
        }
    }

    /// Stops every child and waits until nothing of them is left.
    pub(crate) async fn close(&self) {
        let running = std::mem::take(&mut *self.running());
        for running in &running {
            running.ask_to_stop();
        }
        for running in &running {
            running.ended().await;
        }
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Vec<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, launch: &Launch, asked: &Asked, idle_after: Option<Duration>) -> Result<Running, ProcessError> {
        let start = Start {
            program: &launch.program,
            args: &launch.args,
            working_directory: &launch.working_directory,
            environment: launch.environment(&self.inherited),
        };
        let (child, pipes) = spawn(&start, &self.ledger).map_err(|error| ProcessError::StartFailed {
            reason: launch.redactor.redact(&error.to_string()).into_owned(),
            help: miette::Diagnostic::help(&error).map(|help| help.to_string()),
            class: error.class(),
            about: Box::new(asked.about(Phase::Start)),
        })?;
        let child = Running::begin(launch, child, pipes, idle_after);
        let mut running = self.running();
        running.retain(|running| running.end().is_none());
        running.push(child.clone());
        Ok(child)
    }
}

/// Sees to it that a child goes even if its call is dropped in the middle.
struct StopWhenDropped<'a>(&'a Running);

impl Drop for StopWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.ask_to_stop();
    }
}

/// What was asked, for the words of an error.
struct Asked {
    tool: String,
    time: Duration,
}

enum Missed {
    NoReply(NoReply),
    Cancelled,
}

impl Asked {
    fn new(launch: &Launch, invocation: &Invocation) -> Self {
        let tool = format!("{}/{}", launch.package, invocation.tool);
        Self { tool, time: invocation.deadline.saturating_duration_since(Instant::now()) }
    }

    fn about(&self, phase: Phase) -> Circumstances {
        Circumstances { tool: self.tool.clone(), phase, exit: None, line: None, stderr_tail: String::new(), limit: None }
    }

    fn about_end(&self, end: &End) -> Circumstances {
        let phase = if end.was_ready { Phase::Call } else { Phase::Start };
        Circumstances { exit: end.exit, stderr_tail: end.errors.clone(), ..self.about(phase) }
    }

    fn answer(&self, reply: Reply, end: Option<&End>) -> Result<Answer, ProcessError> {
        let Reply { answer, logs, logs_dropped, errors } = reply;
        match answer {
            Ok(result) => Ok(Answer { result, logs, logs_dropped, stderr_tail: errors }),
            Err(error) => {
                let about = Circumstances { exit: end.and_then(|end| end.exit), stderr_tail: errors, ..self.about(Phase::Call) };
                Err(ProcessError::Tool { code: error.code, message: error.message, about: Box::new(about) })
            }
        }
    }

    fn missed(&self, missed: Missed, end: &End) -> ProcessError {
        let mut about = Box::new(self.about_end(end));
        match missed {
            Missed::Cancelled => ProcessError::Cancelled { about },
            Missed::NoReply(NoReply::NotSent(end) | NoReply::Ended(end)) => self.ended(&end),
            Missed::NoReply(NoReply::TimedOut { was_sent }) => {
                about.phase = if was_sent { Phase::Call } else { Phase::Start };
                about.limit = u64::try_from(self.time.as_millis()).ok();
                ProcessError::TimedOut { after: self.time, about }
            }
            Missed::NoReply(NoReply::TooLarge(too_large)) => {
                about.limit = Some(too_large.limit as u64);
                ProcessError::InputTooLarge { limit: too_large.limit, about }
            }
            Missed::NoReply(NoReply::Overloaded) => ProcessError::Overloaded { about },
        }
    }

    /// The words for a child that came to its end before it answered.
    fn ended(&self, end: &End) -> ProcessError {
        let mut about = Box::new(self.about_end(end));
        match &end.cause {
            Cause::Stopped => ProcessError::Stopped { about },
            Cause::NotReady => {
                about.limit = u64::try_from(READY_WAIT.as_millis()).ok();
                ProcessError::NotReady { about }
            }
            Cause::Refused(error) => ProcessError::Refused { code: error.code.clone(), message: error.message.clone(), about },
            Cause::Stray { line } => {
                about.line = Some(line.clone());
                ProcessError::StrayOutput { about }
            }
            Cause::BadFrame { reason, line } => {
                about.line = Some(line.clone());
                ProcessError::BadFrame { reason: reason.clone(), about }
            }
            Cause::TooLarge { line, start } => {
                about.line = Some(start.clone());
                about.limit = Some(line.limit as u64);
                ProcessError::FrameTooLarge { bytes: line.bytes, limit: line.limit, about }
            }
            Cause::Closed { stream } => ProcessError::ClosedOutput { stream, about },
            Cause::Unresponsive => ProcessError::Unresponsive { about },
            Cause::Exited => match end.exit.map(|exit| (exit.code, exit.signal)) {
                Some((_, Some(signal))) => ProcessError::Killed { signal, about },
                Some((Some(code), None)) => ProcessError::Exited { code, about },
                // It is gone and somebody else has taken its status.
                Some((None, None)) | None => ProcessError::Exited { code: -1, about },
            },
        }
    }
}
