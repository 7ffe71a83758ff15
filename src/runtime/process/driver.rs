//! One child: its pipes on one side, `protocol::Session` in the middle, its callers on the other.
//!
//! A task of its own reads, keeps the times and sees the child to its end. Callers put their frames into the pipe
//! themselves while it has room. All state is behind one lock that is never held over a wait.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use tokio::io::AsyncReadExt as _;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep_until, timeout, timeout_at};

use super::launch::{Invocation, Launch};
use super::tail::{Tail, quoted};
use crate::base::limits::{CLOSED_GRACE, DRAIN_WAIT, LOG_BYTES_KEPT, LOGS_KEPT, PENDING_CALLS, QUEUED_CALLS, REPLIES_QUEUED};
use crate::base::redacted::Redactor;
use crate::child::{Child, Exit, Input, Output, Pipes, Stop};
use crate::protocol::{Call, Event, Expired, InputTooLarge, LineCodec, LineTooLong, LogLine, Progress, Session, SessionFault, ToolError};
use crate::runtime::EventSink;

/// What a read of stderr takes at most: what a pipe holds on Linux.
pub(super) const ERRORS_CHUNK: usize = 64 * 1024;
/// What it takes at first: most children write little there.
const ERRORS_FIRST: usize = 1_024;

/// A started child. Clones are handles on the same one.
#[derive(Clone, Debug)]
pub(super) struct Running(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    redactor: Redactor,
    idle_after: Option<Duration>,
    state: Mutex<State>,
    /// The child's task has something to do that it doesn't know of.
    wake: Notify,
    /// The phase has changed.
    changed: Notify,
    slots: Arc<Semaphore>,
    queued: AtomicUsize,
}

#[derive(Debug)]
struct State {
    session: Session,
    phase: Phase,
    /// `None` once it is closed.
    input: Option<Input>,
    outgoing: VecDeque<Line>,
    /// Bytes of the first outgoing line that are in the pipe already.
    written: usize,
    waiting: Vec<Waiting>,
    /// The slots of calls that nobody waits for any more but the child may still work on.
    given_up: Vec<(String, OwnedSemaphorePermit)>,
    errors: Tail,
    must_stop: bool,
    /// When the child's task wakes up by itself at the latest.
    armed: Option<Instant>,
    idle_since: Instant,
    has_answered: bool,
}

#[derive(Clone, Debug)]
enum Phase {
    Starting,
    Ready,
    /// No call is taken any more.
    Stopping,
    Ended(Arc<End>),
}

#[derive(Debug)]
struct Line {
    bytes: Vec<u8>,
    /// An answer to a request of the child's own.
    is_reply: bool,
}

/// A caller that waits for its answer.
#[derive(Debug)]
struct Waiting {
    invocation: String,
    /// Given back with the answer.
    slot: Option<OwnedSemaphorePermit>,
    heard: Vec<Heard>,
    heard_bytes: usize,
    dropped: u64,
    outcome: Option<Outcome>,
    waker: Option<Waker>,
    errors_from: u64,
}

#[derive(Debug)]
enum Heard {
    Log(LogLine),
    Progress(Progress),
}

#[derive(Debug)]
enum Outcome {
    Answered(Result<Box<RawValue>, ToolError>),
    TimedOut,
}

/// How a child came to its end.
#[derive(Debug)]
pub(super) struct End {
    pub(super) cause: Cause,
    /// How it ended by itself; `None` if we ended it.
    pub(super) exit: Option<Exit>,
    pub(super) errors: String,
    pub(super) was_ready: bool,
    pub(super) has_answered: bool,
    pub(super) at: Instant,
}

/// Why a child was, or is to be, over.
#[derive(Debug)]
pub(super) enum Cause {
    /// Asked for.
    Stopped,
    /// Without a call for too long, or without an output.
    Idle,
    NotReady,
    Refused(ToolError),
    Stray {
        line: String,
    },
    BadFrame {
        reason: String,
        line: String,
    },
    TooLarge {
        line: LineTooLong,
        start: String,
    },
    Closed {
        stream: &'static str,
    },
    Exited,
    Unresponsive,
}

impl Cause {
    /// Says whether the child can still be talked to.
    fn is_polite(&self) -> bool {
        match self {
            Self::Stopped | Self::Idle | Self::NotReady | Self::Refused(_) | Self::Unresponsive => true,
            Self::Stray { .. } | Self::BadFrame { .. } | Self::TooLarge { .. } | Self::Closed { .. } | Self::Exited => false,
        }
    }
}

/// What a call gave.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) answer: Result<Box<RawValue>, ToolError>,
    /// What the child has written to stderr since the call went out.
    pub(super) errors: String,
}

/// Why a call gave nothing.
#[derive(Debug)]
pub(super) enum NoReply {
    /// The child was over before the call went out: another one may take it.
    NotSent(Arc<End>),
    /// The child came to its end with the call open.
    Ended(Arc<End>),
    TimedOut {
        was_sent: bool,
    },
    TooLarge(InputTooLarge),
    Overloaded,
}

impl Running {
    /// Takes a started child over: says hello and sets its task to work. With `idle_after` it is stopped after that
    /// long without a call.
    pub(super) fn begin(launch: &Launch, child: Child, pipes: Pipes, idle_after: Option<Duration>) -> Self {
        let now = Instant::now();
        let mut session = Session::new(Arc::clone(&launch.declared_capabilities));
        let hello = session.start(&launch.package, &launch.version, now);
        let state = State {
            session,
            phase: Phase::Starting,
            input: Some(pipes.input),
            outgoing: VecDeque::from([Line { bytes: hello, is_reply: false }]),
            written: 0,
            waiting: Vec::new(),
            given_up: Vec::new(),
            errors: Tail::new(&launch.redactor),
            must_stop: false,
            armed: None,
            idle_since: now,
            has_answered: false,
        };
        let shared = Arc::new(Shared {
            redactor: launch.redactor.clone(),
            idle_after,
            state: Mutex::new(state),
            wake: Notify::new(),
            changed: Notify::new(),
            slots: Arc::new(Semaphore::new(PENDING_CALLS)),
            queued: AtomicUsize::new(0),
        });
        let driver = Driver {
            shared: Arc::clone(&shared),
            child,
            output: Some(pipes.output),
            errors: Some(pipes.errors),
            codec: LineCodec::default(),
            chunk: vec![0; ERRORS_FIRST],
        };
        // Nobody joins it: its end is a phase.
        drop(tokio::spawn(driver.run()));
        Self(shared)
    }

    /// Asks the child to go, without waiting for it.
    pub(super) fn ask_to_stop(&self) {
        self.0.state().must_stop = true;
        self.0.wake.notify_one();
    }

    /// Asks the child to go and waits until nothing of it is left.
    pub(super) async fn stop(&self) -> Arc<End> {
        self.ask_to_stop();
        self.ended().await
    }

    pub(super) async fn ended(&self) -> Arc<End> {
        self.0.until(|state| if let Phase::Ended(end) = &state.phase { Some(Arc::clone(end)) } else { None }).await
    }

    /// Returns how it ended, if it has.
    pub(super) fn end(&self) -> Option<Arc<End>> {
        if let Phase::Ended(end) = &self.0.state().phase { Some(Arc::clone(end)) } else { None }
    }

    /// Says whether it may take a call now or soon.
    pub(super) fn takes_calls(&self) -> bool {
        let state = self.0.state();
        matches!(state.phase, Phase::Starting | Phase::Ready) && !state.must_stop
    }

    /// Returns the masked end of stderr.
    pub(super) fn errors(&self) -> String {
        self.0.state().errors.text(&self.0.redactor)
    }

    /// Waits for the child and for a turn, sends the call, waits for its answer. Dropped meanwhile, the call is given
    /// up and the child told so.
    pub(super) async fn call(&self, launch: &Launch, invocation: &Invocation, sink: &dyn EventSink) -> Result<Reply, NoReply> {
        let slot = match timeout_at(invocation.deadline.into(), self.slot()).await {
            Ok(Ok(slot)) => slot,
            Ok(Err(none)) => return Err(none),
            Err(_) => return Err(NoReply::TimedOut { was_sent: false }),
        };
        let sent = self.0.send(launch, invocation, slot).map_err(NoReply::TooLarge)?;
        match sent {
            Some(()) => Ticket { shared: &self.0, invocation: &invocation.id, is_open: true }.reply(sink).await,
            // It began to stop in between.
            None => Err(NoReply::NotSent(self.ended().await)),
        }
    }

    async fn slot(&self) -> Result<OwnedSemaphorePermit, NoReply> {
        let over = self.0.until(|state| match &state.phase {
            Phase::Starting | Phase::Stopping => None,
            Phase::Ready => Some(None),
            Phase::Ended(end) => Some(Some(Arc::clone(end))),
        });
        if let Some(end) = over.await {
            return Err(NoReply::NotSent(end));
        }
        if let Ok(slot) = Arc::clone(&self.0.slots).try_acquire_owned() {
            return Ok(slot);
        }
        let _queued = Queued::enter(&self.0.queued).ok_or(NoReply::Overloaded)?;
        match Arc::clone(&self.0.slots).acquire_owned().await {
            Ok(slot) => Ok(slot),
            // Closed: the child is on its way out.
            Err(_) => Err(NoReply::NotSent(self.ended().await)),
        }
    }
}

/// A place among those who wait for a slot.
struct Queued<'a>(&'a AtomicUsize);

impl<'a> Queued<'a> {
    fn enter(queued: &'a AtomicUsize) -> Option<Self> {
        let place = queued.fetch_add(1, Ordering::Relaxed);
        let entered = Self(queued);
        (place < QUEUED_CALLS).then_some(entered)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An open call. Dropped before its answer, it is given up.
struct Ticket<'a> {
    shared: &'a Shared,
    invocation: &'a str,
    is_open: bool,
}

impl Ticket<'_> {
    async fn reply(mut self, sink: &dyn EventSink) -> Result<Reply, NoReply> {
        loop {
            let (heard, dropped, ended) = poll_fn(|context| self.shared.poll_call(self.invocation, context)).await;
            if dropped > 0 {
                sink.lost(dropped);
            }
            for heard in heard {
                match heard {
                    Heard::Progress(progress) => sink.progress(&progress),
                    Heard::Log(line) => sink.log(&line),
                }
            }
            if let Some(ended) = ended {
                self.is_open = false;
                let (answer, errors) = ended?;
                return Ok(Reply { answer, errors });
            }
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.shared.give_up(self.invocation);
        }
    }
}

type Ended = Result<(Result<Box<RawValue>, ToolError>, String), NoReply>;

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `look` finds what it looks for; it is asked after each change of phase.
    async fn until<T>(&self, look: impl Fn(&State) -> Option<T>) -> T {
        if let Some(found) = look(&self.state()) {
            return found;
        }
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(found) = look(&self.state()) {
                return found;
            }
            changed.await;
        }
    }

    /// Writes a call's frame, or as much as the pipe takes; `None` if the child takes no calls any more.
    fn send(&self, launch: &Launch, invocation: &Invocation, slot: OwnedSemaphorePermit) -> Result<Option<()>, InputTooLarge> {
        let mut state = self.state();
        if !matches!(state.phase, Phase::Ready) || state.must_stop {
            return Ok(None);
        }
        let bytes = state.session.invoke(Call {
            invocation: &invocation.id,
            tool: &invocation.tool,
            input: &invocation.input,
            context: &invocation.context,
            deadline: invocation.deadline,
            granted: Arc::clone(&launch.granted_capabilities),
        })?;
        let errors_from = state.errors.position();
        state.waiting.push(Waiting {
            invocation: invocation.id.clone(),
            slot: Some(slot),
            heard: Vec::new(),
            heard_bytes: 0,
            dropped: 0,
            outcome: None,
            waker: None,
            errors_from,
        });
        state.outgoing.push_back(Line { bytes, is_reply: false });
        // A broken pipe is the child's task's to find out about.
        let is_written = matches!(state.flush(), Ok(()));
        let is_early = state.armed.is_none_or(|armed| invocation.deadline < armed);
        drop(state);
        if !is_written || is_early {
            self.wake.notify_one();
        }
        Ok(Some(()))
    }

    /// Takes what a call has heard, and its end if there is one.
    fn poll_call(&self, invocation: &str, context: &mut Context<'_>) -> Poll<(Vec<Heard>, u64, Option<Ended>)> {
        let mut state = self.state();
        let Some(at) = state.waiting.iter().position(|waiting| waiting.invocation == invocation) else {
            unreachable!("only its ticket takes a call off the list, with its end");
        };
        let phase = state.phase.clone();
        let waiting = &mut state.waiting[at];
        let (heard, dropped) = (std::mem::take(&mut waiting.heard), std::mem::take(&mut waiting.dropped));
        waiting.heard_bytes = 0;
        let ended = match (waiting.outcome.take(), phase) {
            (Some(Outcome::Answered(answer)), _) => Some(Ok((answer, state.errors.since(state.waiting[at].errors_from, &self.redactor)))),
            (Some(Outcome::TimedOut), _) => Some(Err(NoReply::TimedOut { was_sent: true })),
            (None, Phase::Ended(end)) => Some(Err(NoReply::Ended(end))),
            (None, Phase::Starting | Phase::Ready | Phase::Stopping) => None,
        };
        if ended.is_some() {
            state.waiting.swap_remove(at);
        } else if heard.is_empty() {
            state.waiting[at].waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready((heard, dropped, ended))
    }

    fn give_up(&self, invocation: &str) {
        let mut state = self.state();
        let Some(at) = state.waiting.iter().position(|waiting| waiting.invocation == invocation) else { return };
        let waiting = state.waiting.swap_remove(at);
        if let Some(bytes) = state.session.cancel(invocation, Instant::now()) {
            state.given_up.extend(waiting.slot.map(|slot| (waiting.invocation, slot)));
            state.outgoing.push_back(Line { bytes, is_reply: false });
            let _left_to_the_task = state.flush();
        }
        drop(state);
        self.wake.notify_one();
    }

    /// Goes on writing; ready when all is written.
    fn poll_flush(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.state();
        loop {
            let State { input, outgoing, written, .. } = &mut *state;
            let (Some(input), Some(line)) = (input, outgoing.front()) else {
                return Poll::Ready(Ok(()));
            };
            match input.poll_write(context, &line.bytes[*written..]) {
                Poll::Ready(Ok(count)) => state.has_written(count),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl State {
    /// Writes what the pipe takes at once; an error also says that something is left.
    fn flush(&mut self) -> io::Result<()> {
        while let (Some(input), Some(line)) = (&self.input, self.outgoing.front()) {
            let count = input.try_write(&line.bytes[self.written..])?;
            self.has_written(count);
        }
        Ok(())
    }

    fn has_written(&mut self, count: usize) {
        self.written += count;
        if self.outgoing.front().is_some_and(|line| self.written >= line.bytes.len()) {
            self.outgoing.pop_front();
            self.written = 0;
        }
    }

    /// Says whether the child asks for more than it reads answers to.
    fn has_too_many_replies(&self) -> bool {
        self.outgoing.iter().filter(|line| line.is_reply).map(|line| line.bytes.len()).sum::<usize>() > REPLIES_QUEUED
    }

    fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Ready) && self.waiting.is_empty() && self.given_up.is_empty()
    }

    fn finish(&mut self, invocation: &str, outcome: Outcome) -> Option<OwnedSemaphorePermit> {
        let waiting = self.waiting.iter_mut().find(|waiting| waiting.invocation == invocation)?;
        waiting.outcome = Some(outcome);
        if let Some(waker) = waiting.waker.take() {
            waker.wake();
        }
        waiting.slot.take()
    }

    fn free(&mut self, invocation: &str) {
        self.given_up.retain(|(given_up, _)| given_up != invocation);
    }

    fn hear(&mut self, invocation: Option<&str>, heard: Heard) {
        let waiting = match (invocation, &mut self.waiting[..]) {
            (Some(invocation), all) => all.iter_mut().find(|waiting| waiting.invocation == invocation),
            // Nobody else can be meant.
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let Some(waiting) = waiting else { return };
        let bytes = match &heard {
            Heard::Log(line) => line.message.len(),
            Heard::Progress(progress) => progress.message.as_deref().map_or(0, str::len),
        };
        if waiting.heard.len() >= LOGS_KEPT || waiting.heard_bytes + bytes > LOG_BYTES_KEPT {
            waiting.dropped += u64::from(matches!(heard, Heard::Log(_)));
            return;
        }
        waiting.heard_bytes += bytes;
        waiting.heard.push(heard);
        if let Some(waker) = waiting.waker.take() {
            waker.wake();
        }
    }

    /// Takes one line of the child; a cause if it was the last.
    fn receive(&mut self, line: &[u8], now: Instant, redactor: &Redactor) -> Option<Cause> {
        let event = match self.session.receive(line, now) {
            Ok(event) => event,
            Err(fault) => return Some(cause_of(&fault, line, redactor)),
        };
        match event {
            Event::Ready => self.phase = Phase::Ready,
            Event::Refused(error) => return Some(Cause::Refused(masked_error(error, redactor))),
            Event::Answered { invocation, answer } => {
                self.has_answered = true;
                self.idle_since = now;
                let answer = answer.map_err(|error| masked_error(error, redactor));
                // The slot is free at once.
                drop(self.finish(&invocation, Outcome::Answered(answer)));
            }
            Event::EndedLate { invocation } => self.free(&invocation),
            Event::Log { invocation, line } => {
                let message = redactor.redact(&line.message).into_owned();
                self.hear(invocation.as_deref(), Heard::Log(LogLine { message, ..line }));
            }
            Event::Progress { invocation, progress } => {
                let message = progress.message.map(|message| redactor.redact(&message).into_owned());
                self.hear(Some(&invocation), Heard::Progress(Progress { message, ..progress }));
            }
            Event::Reply(bytes) => self.outgoing.push_back(Line { bytes, is_reply: true }),
            Event::Ignored => {}
        }
        None
    }

    /// Does what the time asks for.
    fn expire(&mut self, now: Instant) -> Option<Cause> {
        for expired in self.session.expire(now) {
            match expired {
                Expired::NotReady => return Some(Cause::NotReady),
                Expired::TimedOut { invocation, cancel } => {
                    let slot = self.finish(&invocation, Outcome::TimedOut);
                    self.given_up.extend(slot.map(|slot| (invocation, slot)));
                    self.outgoing.push_back(Line { bytes: cancel, is_reply: false });
                }
                Expired::SlotFree { invocation } => {
                    self.free(&invocation);
                    self.idle_since = now;
                }
                Expired::Unresponsive { invocation } => {
                    self.free(&invocation);
                    return Some(Cause::Unresponsive);
                }
            }
        }
        None
    }
}

fn masked_error(error: ToolError, redactor: &Redactor) -> ToolError {
    let masked = |text: String| redactor.redact(&text).into_owned();
    ToolError { code: masked(error.code), message: masked(error.message) }
}

fn cause_of(fault: &SessionFault, line: &[u8], redactor: &Redactor) -> Cause {
    let quoted = quoted(line, redactor);
    if fault.is_stray() {
        return Cause::Stray { line: quoted };
    }
    Cause::BadFrame { reason: redactor.redact(&fault.to_string()).into_owned(), line: quoted }
}

/// The child's task.
struct Driver {
    shared: Arc<Shared>,
    child: Child,
    /// `None` behind their end.
    output: Option<Output>,
    errors: Option<Output>,
    codec: LineCodec,
    chunk: Vec<u8>,
}

/// What the loop has to look out for this time.
struct Outlook {
    must_write: bool,
    may_read: bool,
    is_armed: bool,
}

impl Driver {
    async fn run(mut self) {
        let cause = self.serve().await;
        let end = Arc::new(self.see_out(cause).await);
        let mut state = self.shared.state();
        state.phase = Phase::Ended(end);
        state.input = None;
        state.outgoing.clear();
        state.given_up.clear();
        for waiting in &mut state.waiting {
            if let Some(waker) = waiting.waker.take() {
                waker.wake();
            }
        }
        drop(state);
        self.shared.slots.close();
        self.shared.changed.notify_waiters();
    }

    /// Moves bytes until something ends it.
    async fn serve(&mut self) -> Cause {
        let mut timer = Box::pin(sleep_until(Instant::now().into()));
        loop {
            let outlook = match self.look_out(&mut timer) {
                Ok(outlook) => outlook,
                Err(cause) => return cause,
            };
            let Self { shared, child, output, errors, codec, chunk } = &mut *self;
            tokio::select! {
                read = read(output, codec.space()), if outlook.may_read => match read {
                    Ok(count @ 1..) => {
                        codec.filled(count);
                        if let Some(cause) = self.feed() {
                            return cause;
                        }
                    }
                    Ok(0) | Err(_) => return self.output_has_closed().await,
                },
                read = read(errors, chunk), if errors.is_some() => keep(shared, errors, chunk, read.ok()),
                written = poll_fn(|context| shared.poll_flush(context)), if outlook.must_write => if written.is_err() {
                    return self.has_closed("input").await;
                },
                () = shared.wake.notified() => {}
                () = &mut timer, if outlook.is_armed => {
                    let mut state = shared.state();
                    state.armed = None;
                    if let Some(cause) = state.expire(Instant::now()) {
                        return cause;
                    }
                }
                () = child.ended() => return self.has_ended().await,
            }
        }
    }

    /// Arms the timer for what comes first. It is only ever set to an earlier time: a call more or less costs nothing,
    /// and waking up once too often is harmless.
    fn look_out(&mut self, timer: &mut Pin<Box<Sleep>>) -> Result<Outlook, Cause> {
        let mut state = self.shared.state();
        if state.must_stop {
            return Err(Cause::Stopped);
        }
        let idle_until = self.shared.idle_after.filter(|_| state.is_idle()).map(|after| state.idle_since + after);
        if idle_until.is_some_and(|until| until <= Instant::now()) {
            return Err(Cause::Idle);
        }
        let due = state.session.next_deadline().into_iter().chain(idle_until).min();
        if let Some(due) = due
            && state.armed.is_none_or(|armed| due < armed)
        {
            timer.as_mut().reset(due.into());
            state.armed = Some(due);
        }
        Ok(Outlook { must_write: !state.outgoing.is_empty(), may_read: !state.has_too_many_replies(), is_armed: state.armed.is_some() })
    }

    /// Takes all whole lines that have been read.
    fn feed(&mut self) -> Option<Cause> {
        let Self { shared, codec, .. } = self;
        let mut state = shared.state();
        let was_starting = matches!(state.phase, Phase::Starting);
        let now = Instant::now();
        let cause = loop {
            match codec.next_line() {
                Ok(Some(line)) => {
                    if let Some(cause) = state.receive(line, now, &shared.redactor) {
                        break Some(cause);
                    }
                }
                Ok(None) => break None,
                Err(line) => break Some(Cause::TooLarge { line, start: quoted(codec.rest(), &shared.redactor) }),
            }
        };
        // What is left, the loop writes.
        let _left = state.flush();
        let is_ready = was_starting && matches!(state.phase, Phase::Ready);
        drop(state);
        if is_ready {
            shared.changed.notify_waiters();
        }
        cause
    }

    /// The child closed its output: it is ending, has no call and may end, or is broken.
    async fn output_has_closed(&mut self) -> Cause {
        self.output = None;
        let is_idle = self.shared.state().is_idle();
        if is_idle { Cause::Idle } else { self.has_closed("output").await }
    }

    async fn has_closed(&mut self, stream: &'static str) -> Cause {
        match timeout(CLOSED_GRACE, self.child.ended()).await {
            Ok(()) => self.has_ended().await,
            Err(_) => Cause::Closed { stream },
        }
    }

    /// The child has ended by itself. What it wrote before counts, whoever holds its pipes open (hardening P-6).
    async fn has_ended(&mut self) -> Cause {
        self.child.finish(Stop::ask(Instant::now()).reap_by()).await;
        let until = Instant::now() + DRAIN_WAIT;
        while let Ok(Ok(count @ 1..)) = timeout_at(until.into(), read(&mut self.output, self.codec.space())).await {
            self.codec.filled(count);
            if let Some(cause) = self.feed() {
                return cause;
            }
        }
        Cause::Exited
    }

    /// Sees the child to its end by the timetable of design §4, with all that it started.
    async fn see_out(&mut self, cause: Cause) -> End {
        let now = Instant::now();
        // Killed before its input is closed, or it might end by itself and look as if it had meant to.
        let mut stop = if cause.is_polite() { Stop::ask(now) } else { Stop::kill(&mut self.child, now) };
        let was_ready = self.close_to_calls(cause.is_polite());
        self.shared.slots.close();
        self.wait_for_end(&mut stop).await;
        let exit = self.child.finish(stop.reap_by()).await;
        self.drain_errors().await;
        let state = self.shared.state();
        let is_ours = stop.is_firm() && !matches!(cause, Cause::Exited) && exit.code.is_none();
        End {
            exit: Some(exit).filter(|_| !is_ours),
            errors: state.errors.text(&self.shared.redactor),
            was_ready,
            has_answered: state.has_answered,
            at: Instant::now(),
            cause,
        }
    }

    /// Says goodbye, if there is anybody to say it to. Returns whether the child had been ready.
    fn close_to_calls(&self, is_polite: bool) -> bool {
        let mut state = self.shared.state();
        let was_ready = matches!(state.phase, Phase::Ready);
        state.phase = Phase::Stopping;
        let bytes = state.session.shut_down();
        if is_polite {
            state.outgoing.push_back(Line { bytes, is_reply: false });
            let _left = state.flush();
        } else {
            state.outgoing.clear();
        }
        if state.outgoing.is_empty() {
            state.input = None;
        }
        was_ready
    }

    /// Keeps the pipes flowing and takes the steps of the stop, until the child has ended or there is no step left.
    async fn wait_for_end(&mut self, stop: &mut Stop) {
        loop {
            let must_write = {
                let mut state = self.shared.state();
                if stop.is_firm() {
                    state.outgoing.clear();
                }
                if state.outgoing.is_empty() {
                    state.input = None;
                }
                state.input.is_some()
            };
            let Self { shared, child, output, errors, codec, chunk } = &mut *self;
            tokio::select! {
                biased;
                () = child.ended() => return,
                () = sleep_until(stop.due().into()) => if !stop.advance(child) {
                    return;
                },
                // What comes now is nobody's: read, so that the child isn't held up, and not kept.
                read = read(output, codec.space()), if output.is_some() => if !matches!(read, Ok(1..)) {
                    *output = None;
                },
                read = read(errors, chunk), if errors.is_some() => keep(shared, errors, chunk, read.ok()),
                written = poll_fn(|context| shared.poll_flush(context)), if must_write => if written.is_err() {
                    shared.state().outgoing.clear();
                },
            }
        }
    }

    /// Takes what a dead child left on stderr.
    async fn drain_errors(&mut self) {
        let until = Instant::now() + DRAIN_WAIT;
        let Self { shared, errors, chunk, .. } = self;
        while errors.is_some() {
            let read = timeout_at(until.into(), read(errors, chunk)).await.ok().and_then(Result::ok);
            keep(shared, errors, chunk, read);
        }
    }
}

pub(super) async fn read(output: &mut Option<Output>, space: &mut [u8]) -> io::Result<usize> {
    match output {
        Some(output) => output.read(space).await,
        None => Ok(0),
    }
}

/// Keeps what was read from stderr; its end, an error or a time-out closes it.
fn keep(shared: &Shared, errors: &mut Option<Output>, chunk: &mut Vec<u8>, read: Option<usize>) {
    match read {
        Some(count @ 1..) => {
            let is_full = count == chunk.len();
            shared.state().errors.push(chunk, count);
            if is_full && chunk.len() < ERRORS_CHUNK {
                chunk.resize(ERRORS_CHUNK, 0);
            }
        }
        Some(0) | None => *errors = None,
    }
}
