//! An author's process under what a host may do and seldom does: each scenario starts it anew, keeps to the protocol
//! itself, and says whether the process did.
//!
//! A call may be answered by a result or an error; what it says is not judged here. What is judged: every answer comes,
//! in any order, with the ids that were asked for; nothing but frames is written; the process ends when it should.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::{sleep_until, timeout_at};

use super::driver::{ERRORS_CHUNK, read};
use super::host::ProcessHost;
use super::launch::Launch;
use super::tail::{Tail, quoted};
use crate::base::id;
use crate::base::limits::{DRAIN_WAIT, READY_WAIT, STOP_TERM};
use crate::child::{Child, Exit, Input, Output, Pipes, Start, Stop, spawn};
use crate::manifest::Lifecycle;
use crate::protocol::{Call, Event, LineCodec, Session};
use crate::tool::ToolName;

/// How long the process may take for what a scenario asks of it, once it is ready.
const PATIENCE: Duration = Duration::from_secs(10);
/// Calls in flight at once: enough to overlap, fewer than a host may send (process-protocol §6).
const PARALLEL: usize = 8;
/// A split frame is written a few bytes at a time, in this many pieces at most.
const PIECES: usize = 200;
/// Between two pieces, so that the process reads them one by one.
const PIECE_PAUSE: Duration = Duration::from_millis(1);
/// Lines and pieces that wait for the process to read; until then it isn't read either.
const QUEUED: usize = 1_024;

/// What is done to the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scenario {
    SplitFrames,
    JoinedFrames,
    ParallelCalls,
    CancelInFlight,
    ShutdownInFlight,
    UnknownKeys,
    LargeInput,
    ClosedInput,
}

impl Scenario {
    pub(crate) const ALL: [Self; 8] = [
        Self::SplitFrames,
        Self::JoinedFrames,
        Self::ParallelCalls,
        Self::CancelInFlight,
        Self::ShutdownInFlight,
        Self::UnknownKeys,
        Self::LargeInput,
        Self::ClosedInput,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::SplitFrames => "split frames",
            Self::JoinedFrames => "joined frames",
            Self::ParallelCalls => "parallel calls",
            Self::CancelInFlight => "cancel in flight",
            Self::ShutdownInFlight => "shutdown in flight",
            Self::UnknownKeys => "unknown keys",
            Self::LargeInput => "1 MiB input",
            Self::ClosedInput => "closed stdin",
        }
    }

    /// Says whether the process gets more than one call at once.
    const fn overlaps(self) -> bool {
        matches!(self, Self::JoinedFrames | Self::ParallelCalls)
    }
}

/// The call that is made, again and again.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) tool: ToolName,
    /// Checked, defaults filled in.
    pub(crate) input: Value,
    /// The same with 1 MiB in it, if the tool's schema takes that.
    pub(crate) large: Option<Value>,
    /// Whether calls of the tool may run at once.
    pub(crate) may_overlap: bool,
}

/// What became of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ordeal {
    Survived,
    /// Both masked; a tool's words: not safe for a terminal as they are.
    Failed {
        why: String,
        stderr_tail: String,
    },
    /// It can't happen to this tool.
    Skipped {
        why: &'static str,
    },
}

impl ProcessHost {
    /// Puts a process of its own through `scenario`. Nothing of it is left when this returns or is dropped.
    pub(crate) async fn torture(&self, launch: &Launch, sample: &Sample, scenario: Scenario) -> Ordeal {
        if scenario == Scenario::LargeInput && sample.large.is_none() {
            return Ordeal::Skipped { why: "the input schema takes no text of 1 MiB" };
        }
        if scenario.overlaps() && launch.lifecycle == Lifecycle::PerCall {
            return Ordeal::Skipped { why: "a per-call process is given one call" };
        }
        if scenario.overlaps() && !sample.may_overlap {
            return Ordeal::Skipped { why: "the tool's calls are made one after another" };
        }
        let start = Start {
            program: &launch.program,
            args: &launch.args,
            working_directory: &launch.working_directory,
            environment: launch.environment(&self.inherited),
        };
        let mut victim = match spawn(&start, &self.ledger) {
            Ok((child, pipes)) => Victim::new(launch, sample, child, pipes),
            Err(error) => {
                let why = launch.redactor.redact(&error.to_string()).into_owned();
                return Ordeal::Failed { why, stderr_tail: String::new() };
            }
        };
        let outcome = victim.suffer(scenario).await;
        victim.see_out().await;
        match outcome {
            Ok(()) => Ordeal::Survived,
            Err(why) => Ordeal::Failed { why, stderr_tail: victim.tail.text(&launch.redactor) },
        }
    }
}

/// How frames reach the process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Whole,
    Split,
    /// With a key that no version of the protocol knows.
    Extended,
}

/// A process and all that is known of it.
struct Victim<'a> {
    launch: &'a Launch,
    sample: &'a Sample,
    session: Session,
    child: Child,
    /// `None` once it is closed.
    input: Option<Input>,
    /// `None` behind their end.
    output: Option<Output>,
    errors: Option<Output>,
    codec: LineCodec,
    chunk: Vec<u8>,
    tail: Tail,
    outgoing: VecDeque<Vec<u8>>,
    style: Style,
    seen: Seen,
}

#[derive(Default)]
struct Seen {
    is_ready: bool,
    /// Calls that have come to their end, cancelled ones too.
    over: usize,
    exit: Option<Exit>,
}

impl<'a> Victim<'a> {
    fn new(launch: &'a Launch, sample: &'a Sample, child: Child, pipes: Pipes) -> Self {
        let Pipes { input, output, errors } = pipes;
        Self {
            launch,
            sample,
            session: Session::new(Arc::clone(&launch.declared_capabilities)),
            child,
            input: Some(input),
            output: Some(output),
            errors: Some(errors),
            codec: LineCodec::default(),
            chunk: vec![0; ERRORS_CHUNK],
            tail: Tail::new(&launch.redactor),
            outgoing: VecDeque::new(),
            style: Style::Whole,
            seen: Seen::default(),
        }
    }

    async fn suffer(&mut self, scenario: Scenario) -> Result<(), String> {
        self.style = match scenario {
            Scenario::SplitFrames => Style::Split,
            Scenario::UnknownKeys => Style::Extended,
            _ => Style::Whole,
        };
        let hello = self.session.start(&self.launch.package, &self.launch.version, Instant::now());
        self.send(hello);
        self.wait(READY_WAIT, "get ready", |seen| seen.is_ready).await?;
        let sample = self.sample;
        match scenario {
            Scenario::SplitFrames | Scenario::UnknownKeys => self.call(&sample.input).await,
            Scenario::LargeInput => self.call(sample.large.as_ref().unwrap_or(&sample.input)).await,
            Scenario::JoinedFrames => {
                let lines = [self.invoke(&sample.input)?.1, self.invoke(&sample.input)?.1].concat();
                self.send(lines);
                self.wait(PATIENCE, "answer two calls that came in one write", |seen| seen.over == 2).await
            }
            Scenario::ParallelCalls => {
                for _ in 0..PARALLEL {
                    let (_, line) = self.invoke(&sample.input)?;
                    self.send(line);
                }
                self.wait(PATIENCE, "answer every one of 8 calls at once", |seen| seen.over == PARALLEL).await
            }
            Scenario::CancelInFlight => self.cancel().await,
            Scenario::ShutdownInFlight => {
                let (_, mut lines) = self.invoke(&sample.input)?;
                lines.extend(self.session.shut_down());
                self.send(lines);
                self.end("end within 1 s of a `shutdown` that came behind a call").await
            }
            Scenario::ClosedInput => self.end("end by itself within 1 s of the end of its stdin").await,
        }
    }

    async fn call(&mut self, input: &Value) -> Result<(), String> {
        let (_, line) = self.invoke(input)?;
        self.send(line);
        self.wait(PATIENCE, "answer the call", |seen| seen.over == 1).await
    }

    /// Cancels a call it has just been given. One that is kept has to take the next call; one that isn't may also end.
    async fn cancel(&mut self) -> Result<(), String> {
        let (invocation, mut lines) = self.invoke(&self.sample.input)?;
        lines.extend(self.session.cancel(&invocation, Instant::now()).unwrap_or_default());
        self.send(lines);
        if self.launch.lifecycle == Lifecycle::PerCall {
            let is_over = |seen: &Seen| seen.over == 1 || seen.exit.is_some();
            return self.wait(PATIENCE, "come to an end with a call that was cancelled", is_over).await;
        }
        let (_, line) = self.invoke(&self.sample.input)?;
        self.send(line);
        self.wait(PATIENCE, "answer the call after one that was cancelled", |seen| seen.over == 2).await
    }

    /// Ends its input behind what is to be written, and waits for its end.
    async fn end(&mut self, what: &'static str) -> Result<(), String> {
        self.wait(PATIENCE, "read its stdin", |_| true).await?;
        self.input = None;
        self.wait(STOP_TERM, what, |seen| seen.exit.is_some()).await?;
        match self.seen.exit.and_then(|exit| exit.signal) {
            Some(_) => Err(format!("it did not end by itself: {}", self.end_words())),
            None => Ok(()),
        }
    }

    /// Opens a call; its id and its line.
    fn invoke(&mut self, input: &Value) -> Result<(String, Vec<u8>), String> {
        let invocation = id::random();
        let input = serde_json::value::to_raw_value(input).map_err(|error| error.to_string())?;
        let call = Call {
            invocation: &invocation,
            tool: &self.sample.tool,
            input: &input,
            context: &json!({"correlationId": invocation, "deadlineMs": PATIENCE.as_secs() * 1_000, "locale": null, "caller": "test"}),
            deadline: Instant::now() + PATIENCE,
            granted: Arc::clone(&self.launch.granted_capabilities),
        };
        let line = self.session.invoke(call).map_err(|error| format!("the input is too large: allowed are {} bytes", error.limit))?;
        Ok((invocation, line))
    }

    fn send(&mut self, lines: Vec<u8>) {
        match self.style {
            Style::Whole => self.outgoing.push_back(lines),
            Style::Split => {
                let piece = lines.len().div_ceil(PIECES).max(3);
                self.outgoing.extend(lines.chunks(piece).map(<[u8]>::to_vec));
            }
            Style::Extended => self.outgoing.push_back(extended(&lines)),
        }
    }

    /// Moves bytes until all is written and `is_done`; an error says what it did instead.
    async fn wait(&mut self, limit: Duration, what: &str, is_done: impl Fn(&Seen) -> bool) -> Result<(), String> {
        let until = Instant::now() + limit;
        let mut write_from = Instant::now();
        loop {
            if self.outgoing.is_empty() && is_done(&self.seen) {
                return Ok(());
            }
            if self.seen.exit.is_some() {
                // Whoever is gone reads nothing more.
                self.outgoing.clear();
                return if is_done(&self.seen) { Ok(()) } else { Err(format!("it did not {what}: {}", self.end_words())) };
            }
            if Instant::now() >= until {
                return Err(format!("it did not {what}: nothing more came within {} s", limit.as_secs()));
            }
            let may_read = self.output.is_some() && self.outgoing.len() < QUEUED;
            let Self { child, input, output, errors, codec, chunk, tail, outgoing, style, .. } = &mut *self;
            tokio::select! {
                count = read(output, codec.space()), if may_read => match count {
                    Ok(count @ 1..) => {
                        codec.filled(count);
                        self.feed()?;
                    }
                    Ok(0) | Err(_) => *output = None,
                },
                count = read(errors, chunk), if errors.is_some() => match count {
                    Ok(count @ 1..) => tail.push(chunk, count),
                    Ok(0) | Err(_) => *errors = None,
                },
                written = write(input, outgoing, write_from), if !outgoing.is_empty() => {
                    if written.is_err() {
                        // It closed its end, which it may if it ends; what is waited for won't come otherwise.
                        *input = None;
                        outgoing.clear();
                    }
                    if *style == Style::Split {
                        write_from = Instant::now() + PIECE_PAUSE;
                    }
                }
                () = child.ended() => self.has_ended().await?,
                () = sleep_until(until.into()) => {}
            }
        }
    }

    /// Takes all whole lines that have been read.
    fn feed(&mut self) -> Result<(), String> {
        let redactor = &self.launch.redactor;
        let mut replies = Vec::new();
        loop {
            let line = match self.codec.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(too_long) => return Err(format!("it wrote a frame too large: allowed are {} bytes", too_long.limit)),
            };
            match self.session.receive(line, Instant::now()) {
                Ok(Event::Ready) => self.seen.is_ready = true,
                Ok(Event::Refused(error)) => {
                    return Err(redactor.redact(&format!("it refused to start: {}: {}", error.code, error.message)).into_owned());
                }
                Ok(Event::Answered { .. } | Event::EndedLate { .. }) => self.seen.over += 1,
                Ok(Event::Reply(reply)) => replies.push(reply),
                Ok(Event::Log { .. } | Event::Progress { .. } | Event::Ignored) => {}
                Err(fault) => {
                    return Err(format!("it broke the protocol: {}: {}", redactor.redact(&fault.to_string()), quoted(line, redactor)));
                }
            }
        }
        for reply in replies {
            self.send(reply);
        }
        Ok(())
    }

    /// It has ended. What it wrote before counts, whoever holds its pipes open.
    async fn has_ended(&mut self) -> Result<(), String> {
        self.seen.exit = Some(self.child.finish(Stop::ask(Instant::now()).reap_by()).await);
        let until = Instant::now() + DRAIN_WAIT;
        while let Ok(Ok(count @ 1..)) = timeout_at(until.into(), read(&mut self.output, self.codec.space())).await {
            self.codec.filled(count);
            self.feed()?;
        }
        Ok(())
    }

    fn end_words(&self) -> String {
        match self.seen.exit.map(|exit| (exit.code, exit.signal)) {
            Some((_, Some(signal))) => format!("it was killed by signal {signal}"),
            Some((Some(code), None)) => format!("it exited with code {code}"),
            Some((None, None)) | None => "it is gone".to_owned(),
        }
    }

    /// Asks it to go, if it is still there, and stops it with its tree by the timetable of every child.
    async fn see_out(&mut self) {
        if self.seen.exit.is_none() {
            self.style = Style::Whole;
            self.outgoing.clear();
            let goodbye = self.session.shut_down();
            if let Some(input) = self.input.take() {
                // A frame that was cut in the middle is its last line then, and the end of its input says the rest.
                let _full_or_closed = input.try_write(&goodbye);
            }
            let mut stop = Stop::ask(Instant::now());
            loop {
                let Self { child, output, errors, codec, chunk, tail, .. } = &mut *self;
                tokio::select! {
                    biased;
                    () = child.ended() => break,
                    () = sleep_until(stop.due().into()) => if !stop.advance(child) {
                        break;
                    },
                    // Read, so that it isn't held up, and not kept.
                    count = read(output, codec.space()), if output.is_some() => if !matches!(count, Ok(1..)) {
                        *output = None;
                    },
                    count = read(errors, chunk), if errors.is_some() => match count {
                        Ok(count @ 1..) => tail.push(chunk, count),
                        Ok(0) | Err(_) => *errors = None,
                    },
                }
            }
            self.child.finish(stop.reap_by()).await;
        }
        let until = Instant::now() + DRAIN_WAIT;
        while let Ok(Ok(count @ 1..)) = timeout_at(until.into(), read(&mut self.errors, &mut self.chunk)).await {
            self.tail.push(&mut self.chunk, count);
        }
    }
}

/// Writes what the pipe takes of the first piece, not before `from`. Nothing is lost if the future is dropped.
async fn write(input: &mut Option<Input>, outgoing: &mut VecDeque<Vec<u8>>, from: Instant) -> io::Result<()> {
    sleep_until(from.into()).await;
    let (Some(input), Some(piece)) = (input, outgoing.front_mut()) else {
        outgoing.clear();
        return Ok(());
    };
    let count = poll_fn(|context| input.poll_write(context, piece)).await?;
    if count >= piece.len() {
        outgoing.pop_front();
    } else {
        piece.drain(..count);
    }
    Ok(())
}

/// Returns the lines with a key more in each frame (process-protocol §1: unknown keys are ignored).
fn extended(lines: &[u8]) -> Vec<u8> {
    let mut written = Vec::with_capacity(lines.len() + 256);
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_prefix(b"{") {
            Some(rest) => {
                written.extend_from_slice(br#"{"x-unknown":{"type":"shutdown","deep":[null,1.5e3,{"\u00e9":"\ud83d\udc19"}]},"#);
                written.extend_from_slice(rest);
            }
            None => written.extend_from_slice(line),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    async fn failed(bench: &Bench, large: bool) -> Vec<(&'static str, Ordeal)> {
        let input = json!({"echo": 1, "sleepMs": 20});
        let large = large.then(|| json!({"echo": "x".repeat(1024 * 1024)}));
        let sample = Sample { tool: "work".parse().expect("a name"), input, large, may_overlap: true };
        let mut failed = Vec::new();
        for scenario in Scenario::ALL {
            let ordeal = bench.host.torture(&bench.launch, &sample, scenario).await;
            if ordeal != Ordeal::Survived {
                failed.push((scenario.as_str(), ordeal));
            }
            assert_eq!(bench.alive(), [0; 0], "{scenario:?}");
        }
        failed
    }

    #[tokio::test]
    async fn a_good_process_survives_everything() {
        assert_eq!(failed(&Bench::persistent("ok"), true).await, []);
        assert_eq!(failed(&Bench::persistent("blank"), true).await, []);
    }

    #[tokio::test]
    async fn what_cannot_happen_to_a_tool_is_skipped() {
        let skipped = failed(&Bench::new("ok"), false).await;
        assert!(skipped.iter().all(|(_, ordeal)| matches!(ordeal, Ordeal::Skipped { .. })), "{skipped:?}");
        assert_eq!(skipped.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["joined frames", "parallel calls", "1 MiB input"]);
    }

    /// A process in `mode` fails in `expected` and in nothing else; the last failure.
    async fn check(mode: &str, expected: &[&str]) -> (String, String) {
        let failed = failed(&Bench::persistent(mode), true).await;
        assert_eq!(failed.iter().map(|(name, _)| *name).collect::<Vec<_>>(), expected, "{mode}: {failed:?}");
        match failed.into_iter().next_back() {
            Some((_, Ordeal::Failed { why, stderr_tail })) => (why, stderr_tail),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn one_that_stays_fails_where_it_has_to_go() {
        let (why, _) = check("ignore-shutdown", &["shutdown in flight", "closed stdin"]).await;
        assert_eq!(why, "it did not end by itself within 1 s of the end of its stdin: nothing more came within 1 s");
    }

    #[tokio::test]
    async fn one_that_breaks_says_how() {
        let calls = ["split frames", "joined frames", "parallel calls", "cancel in flight", "unknown keys", "1 MiB input"];
        let (why, stderr_tail) = check("exit-call 3", &calls).await;
        assert_eq!(why, "it did not answer the call: it exited with code 3");
        assert_eq!(stderr_tail, "Traceback: it broke\nKeyError: 'x'\n");
        let noisy =
            ["split frames", "joined frames", "parallel calls", "cancel in flight", "shutdown in flight", "unknown keys", "1 MiB input"];
        let (why, _) = check("noise banner", &noisy).await;
        assert_eq!(why, "it broke the protocol: the line is not a frame: Welcome to Fake Tool 1.0");
    }

    #[test]
    fn every_frame_gets_the_unknown_key() {
        let text = String::from_utf8(extended(b"{\"a\":1}\n{\"b\":2}\n")).expect("UTF-8");
        let frames: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!((frames.len(), &frames[0]["a"], &frames[1]["b"]), (2, &json!(1), &json!(2)));
        assert!(frames.iter().all(|frame| frame["x-unknown"].is_object()));
    }
}
