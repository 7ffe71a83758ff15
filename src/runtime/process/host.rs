//! Calls to processes: a child for one, or one that stays.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::driver::{Cause, End, NoReply, Reply, Running};
use super::error::{Circumstances, Phase, ProcessError};
use super::keep::{BackOff, Keep, Key};
use super::launch::{Answer, Inherited, Invocation, Launch};
use crate::base::failure::Failing as _;
use crate::base::limits::{IDLE_EVICTION, READY_WAIT};
use crate::child::{Ledger, Start, spawn};
use crate::manifest::Lifecycle;
use crate::runtime::EventSink;
use crate::tool::PackageId;

/// How often a call is handed to another child because its own ended before the call was sent.
const ATTEMPTS: u32 = 3;
/// A call waits this long for a child that may not be started yet; a longer pause is an error at once, which says more.
const PATIENCE: Duration = Duration::from_secs(1);

/// Starts children, calls them, and leaves none behind.
#[derive(Debug)]
pub(crate) struct ProcessHost {
    pub(super) ledger: Arc<Ledger>,
    pub(super) inherited: Inherited,
    keep: Mutex<Keep>,
    pub(super) idle_after: Duration,
    /// Whoever may still have to be waited for: a call that was dropped leaves its child to the child's own task.
    running: Mutex<Vec<Running>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProcessHost {
    pub(crate) fn new(ledger: Arc<Ledger>, inherited: Inherited) -> Self {
        Self { ledger, inherited, keep: Mutex::default(), idle_after: IDLE_EVICTION, running: Mutex::default() }
    }

    /// Calls a tool. A child of its own has been stopped, with all that it started, when this returns; an answer that
    /// was read stands whatever the child does afterwards. `cancelled` gives the call up, politely.
    ///
    /// Called within a runtime that lives at least as long as the host.
    pub(crate) async fn call(
        &self,
        launch: &Launch,
        invocation: Invocation,
        events: &dyn EventSink,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<Answer, ProcessError> {
        let asked = Asked { launch, invocation: &invocation };
        match launch.lifecycle {
            Lifecycle::PerCall => self.call_once(&asked, events, cancelled).await,
            Lifecycle::Persistent => tokio::select! {
                biased;
                outcome = self.call_kept(&asked, events) => outcome,
                () = cancelled => Err(ProcessError::Cancelled { about: Box::new(asked.about(Phase::Call)) }),
            },
        }
    }

    async fn call_once(
        &self,
        asked: &Asked<'_>,
        events: &dyn EventSink,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<Answer, ProcessError> {
        let running = self.start(asked, None)?;
        let stop = StopWhenDropped(&running);
        let outcome = tokio::select! {
            biased;
            outcome = running.call(asked.launch, asked.invocation, events) => Some(outcome),
            () = cancelled => None,
        };
        let end = running.stop().await;
        drop(stop);
        match outcome {
            Some(Ok(reply)) => asked.answer(Reply { errors: end.errors.clone(), ..reply }),
            Some(Err(none)) => Err(asked.no_reply(none, asked.about_end(&end))),
            None => Err(ProcessError::Cancelled { about: Box::new(asked.about_end(&end)) }),
        }
    }

    /// Calls a persistent child. One that ended before the call was sent is replaced; one that ended with the call open
    /// is the call's failure, since nobody knows what it has done.
    async fn call_kept(&self, asked: &Asked<'_>, events: &dyn EventSink) -> Result<Answer, ProcessError> {
        let key = Key::of(asked.launch);
        let mut attempt = 1;
        loop {
            let found = locked(&self.keep).get(key, &asked.launch.package, Instant::now(), || self.start(asked, Some(self.idle_after)))?;
            let running = match found {
                Ok(running) => running,
                Err(pause) => {
                    self.sit_out(asked, pause).await?;
                    continue;
                }
            };
            match running.call(asked.launch, asked.invocation, events).await {
                Ok(reply) => return asked.answer(reply),
                Err(NoReply::NotSent(end)) if attempt < ATTEMPTS && may_try_another(&end) => attempt += 1,
                Err(none) => {
                    let about = Circumstances { stderr_tail: running.errors(), ..asked.about(Phase::Call) };
                    return Err(asked.no_reply(none, about));
                }
            }
        }
    }

    async fn sit_out(&self, asked: &Asked<'_>, pause: BackOff) -> Result<(), ProcessError> {
        let BackOff { crashes, until, last } = pause;
        let wait = until.saturating_duration_since(Instant::now());
        if wait > PATIENCE || until >= asked.invocation.deadline {
            let reason = asked.ended(&last).to_string();
            return Err(ProcessError::BackingOff { crashes, wait, reason, about: Box::new(asked.about_end(&last)) });
        }
        tokio::time::sleep_until(until.into()).await;
        Ok(())
    }

    /// Stops the persistent children of a package and waits until nothing of them is left. Calls in flight on them fail
    /// (process-protocol §11, invalidation).
    #[cfg_attr(not(test), expect(dead_code, reason = "for a host that outlives a change of settings: `serve`"))]
    pub(crate) async fn invalidate(&self, package: &PackageId) {
        let children = locked(&self.keep).take(package);
        stop_all(&children).await;
    }

    /// Stops every child and waits until nothing of them is left.
    pub(crate) async fn close(&self) {
        let children = std::mem::take(&mut *locked(&self.running));
        stop_all(&children).await;
    }

    fn start(&self, asked: &Asked<'_>, idle_after: Option<Duration>) -> Result<Running, ProcessError> {
        let launch = asked.launch;
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
        let mut running = locked(&self.running);
        running.retain(|running| running.end().is_none());
        running.push(child.clone());
        Ok(child)
    }
}

async fn stop_all(children: &[Running]) {
    for child in children {
        child.ask_to_stop();
    }
    for child in children {
        child.ended().await;
    }
}

/// A child that never got ready fails all who waited for it, and one that we stopped is not to be started behind our
/// back; but a neighbour's crash, or a pause in the calls, is nothing that an unsent call has to suffer for.
fn may_try_another(end: &End) -> bool {
    end.was_ready && !matches!(end.cause, Cause::Stopped)
}

/// Sees to it that a child goes even if its call is dropped in the middle.
struct StopWhenDropped<'a>(&'a Running);

impl Drop for StopWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.ask_to_stop();
    }
}

/// What was asked, for the words of an error.
struct Asked<'a> {
    launch: &'a Launch,
    invocation: &'a Invocation,
}

impl Asked<'_> {
    fn about(&self, phase: Phase) -> Circumstances {
        let tool = format!("{}/{}", self.launch.package, self.invocation.tool);
        Circumstances { tool, phase, exit: None, line: None, stderr_tail: String::new(), limit: None }
    }

    fn about_end(&self, end: &End) -> Circumstances {
        let phase = if end.was_ready { Phase::Call } else { Phase::Start };
        Circumstances { exit: end.exit, stderr_tail: end.errors.clone(), ..self.about(phase) }
    }

    fn answer(&self, reply: Reply) -> Result<Answer, ProcessError> {
        let Reply { answer, errors } = reply;
        match answer {
            Ok(result) => Ok(Answer { result, stderr_tail: errors }),
            Err(error) => {
                let about = Box::new(Circumstances { stderr_tail: errors, ..self.about(Phase::Call) });
                Err(ProcessError::Tool { code: error.code, message: error.message, about })
            }
        }
    }

    fn no_reply(&self, none: NoReply, about: Circumstances) -> ProcessError {
        let mut about = Box::new(about);
        match none {
            NoReply::NotSent(end) | NoReply::Ended(end) => self.ended(&end),
            NoReply::TimedOut { was_sent } => {
                let after = self.invocation.timeout;
                about.phase = if was_sent { Phase::Call } else { Phase::Start };
                about.limit = u64::try_from(after.as_millis()).ok();
                ProcessError::TimedOut { after, about }
            }
            NoReply::TooLarge(too_large) => {
                about.limit = Some(too_large.limit as u64);
                ProcessError::InputTooLarge { limit: too_large.limit, about }
            }
            NoReply::Overloaded => ProcessError::Overloaded { about },
        }
    }

    /// The words for a child that came to its end before it answered.
    fn ended(&self, end: &End) -> ProcessError {
        let mut about = Box::new(self.about_end(end));
        match &end.cause {
            Cause::Stopped | Cause::Idle => {
                about.phase = Phase::Stop;
                ProcessError::Stopped { about }
            }
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
