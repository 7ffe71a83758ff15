//! One child's conversation as a state machine: what to write, what an arriving line means, what a time that has come
//! means (process-protocol §5 to §8).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

use super::frame::{ChildFrame, FrameFault, HostFrame, InputTooLarge, Level};
use crate::base::id;
use crate::base::limits::{READY_WAIT, SILENT_AFTER_CANCEL};
use crate::tool::{CapabilityName, PackageId, ToolName, Version};

/// What goes into an `invoke` frame, and what holds for the call while it is open.
pub(crate) struct Call<'a> {
    pub(crate) invocation: &'a str,
    pub(crate) tool: &'a ToolName,
    pub(crate) input: &'a RawValue,
    pub(crate) context: &'a Value,
    pub(crate) deadline: Instant,
    /// As they were when the call started; a grant that changes meanwhile counts for the next one (capabilities §2).
    pub(crate) granted: Arc<BTreeSet<CapabilityName>>,
}

/// An `error` frame: the tool says no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolError {
    pub(crate) code: String,
    pub(crate) message: String,
}

/// A `log` frame's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogLine {
    pub(crate) level: Level,
    pub(crate) message: String,
}

/// How far a call says it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Progress {
    /// From 0 to 1.
    pub(crate) fraction: Option<f64>,
    pub(crate) message: Option<String>,
}

/// What a line from the child means.
#[derive(Debug)]
pub(crate) enum Event {
    /// The child takes calls.
    Ready,
    /// The child answered `initialize` with an error.
    Refused(ToolError),
    Answered {
        invocation: String,
        answer: Result<Box<RawValue>, ToolError>,
    },
    /// A call that was given up has come to its end in the child: its slot is free.
    EndedLate {
        invocation: String,
    },
    /// Without an invocation if the child named none that is open.
    Log {
        invocation: Option<String>,
        line: LogLine,
    },
    Progress {
        invocation: String,
        progress: Progress,
    },
    /// A line to write.
    Reply(Vec<u8>),
    /// Nothing that anybody waits for.
    Ignored,
}

/// What a time that has come means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    /// No answer to `initialize`.
    NotReady,
    /// The call is over for its caller; `cancel` is to be written.
    TimedOut { invocation: String, cancel: Vec<u8> },
    /// The slot of a call that was given up is free; the child has shown that it lives, or nobody asked.
    SlotFree { invocation: String },
    /// Not one frame since the `cancel` of a call that had timed out: the child is to be stopped (design §4, stop).
    Unresponsive { invocation: String },
}

/// A line after which the child can't be trusted: a protocol failure.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum SessionFault {
    #[error(transparent)]
    Frame(#[from] FrameFault),
    #[error("a `{found}` frame can't answer `{asked}`")]
    WrongAnswer { asked: &'static str, found: &'static str },
    #[error("the `invocationId` of the answer is not the one that was asked for")]
    WrongInvocation,
}

impl SessionFault {
    /// Says whether the line was no frame at all.
    pub(crate) fn is_stray(&self) -> bool {
        matches!(self, Self::Frame(FrameFault::Stray))
    }
}

/// The host's side of one child's conversation.
///
/// A call is open until it is answered, cancelled or timed out. A call that was given up keeps its slot until the child
/// answers after all or 5 s have passed, so that a child isn't handed more than it was promised (design §4, stop).
#[derive(Debug)]
pub(crate) struct Session {
    phase: Phase,
    ids: RequestIds,
    sequence: u64,
    declared: Arc<BTreeSet<CapabilityName>>,
    /// At most as many as a child works on at a time: searched one by one.
    calls: Vec<OpenCall>,
    last_frame: Option<Instant>,
}

/// UUIDs (process-protocol §2) that differ in their last digits only: they have to be unique in one conversation, not
/// secret, and a random one costs a system call.
#[derive(Debug)]
struct RequestIds {
    start: String,
    given: u64,
}

impl RequestIds {
    fn new() -> Self {
        let mut start = id::random();
        start.truncate(24);
        Self { start, given: 0 }
    }

    fn next(&mut self) -> String {
        self.given += 1;
        format!("{}{:012x}", self.start, self.given)
    }
}

#[derive(Debug)]
enum Phase {
    Silent,
    Starting { request_id: String, deadline: Instant },
    Ready,
}

#[derive(Debug)]
struct OpenCall {
    request_id: String,
    invocation: String,
    granted: Arc<BTreeSet<CapabilityName>>,
    state: CallState,
}

#[derive(Debug)]
enum CallState {
    Open { deadline: Instant },
    GivenUp { at: Instant, until: Instant, why: GivenUp },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GivenUp {
    Cancelled,
    TimedOut,
}

impl CallState {
    fn due(&self) -> Instant {
        match self {
            Self::Open { deadline } => *deadline,
            Self::GivenUp { until, .. } => *until,
        }
    }

    fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. })
    }
}

impl Session {
    pub(crate) fn new(declared: Arc<BTreeSet<CapabilityName>>) -> Self {
        Self { phase: Phase::Silent, ids: RequestIds::new(), sequence: 0, declared, calls: Vec::new(), last_frame: None }
    }

    fn write(&mut self, request_id: &str, frame: HostFrame<'_>) -> Result<Vec<u8>, InputTooLarge> {
        let line = frame.to_line(request_id, self.sequence)?;
        self.sequence += 1;
        Ok(line)
    }

    /// A frame without anything in it that could be large.
    fn write_small(&mut self, request_id: &str, frame: HostFrame<'_>) -> Vec<u8> {
        self.write(request_id, frame).expect("ids and messages are bounded far below a frame")
    }

    fn write_fresh(&mut self, frame: HostFrame<'_>) -> Vec<u8> {
        let request_id = self.ids.next();
        self.write_small(&request_id, frame)
    }

    /// Returns the `initialize` line, the first of all.
    pub(crate) fn start(&mut self, package: &PackageId, version: &Version, now: Instant) -> Vec<u8> {
        let request_id = self.ids.next();
        let line = self.write_small(&request_id, HostFrame::Initialize { package: package.as_str(), version: version.as_str() });
        self.phase = Phase::Starting { request_id, deadline: now + READY_WAIT };
        line
    }

    /// Opens a call and returns its `invoke` line. Only after [`Event::Ready`].
    pub(crate) fn invoke(&mut self, call: Call<'_>) -> Result<Vec<u8>, InputTooLarge> {
        let request_id = self.ids.next();
        let Call { invocation, tool, input, context, deadline, granted } = call;
        let line = self.write(&request_id, HostFrame::Invoke { invocation, tool: tool.as_str(), input, context })?;
        let state = CallState::Open { deadline };
        self.calls.push(OpenCall { request_id, invocation: invocation.to_owned(), granted, state });
        Ok(line)
    }

    /// Gives an open call up at its caller's wish and returns the `cancel` line; `None` if it isn't open.
    pub(crate) fn cancel(&mut self, invocation: &str, now: Instant) -> Option<Vec<u8>> {
        let at = self.calls.iter().position(|call| call.invocation == invocation && call.state.is_open())?;
        Some(self.give_up(at, now, GivenUp::Cancelled))
    }

    fn give_up(&mut self, at: usize, now: Instant, why: GivenUp) -> Vec<u8> {
        let call = &mut self.calls[at];
        call.state = CallState::GivenUp { at: now, until: now + SILENT_AFTER_CANCEL, why };
        let invocation = call.invocation.clone();
        self.write_fresh(HostFrame::Cancel { invocation: &invocation })
    }

    /// Returns the last lines: `cancel` for each open call, then `shutdown` (design §4, stop). No call is open any more.
    pub(crate) fn shut_down(&mut self) -> Vec<u8> {
        let calls = std::mem::take(&mut self.calls);
        let mut lines = Vec::new();
        for call in calls.iter().filter(|call| call.state.is_open()) {
            lines.extend(self.write_fresh(HostFrame::Cancel { invocation: &call.invocation }));
        }
        lines.extend(self.write_fresh(HostFrame::Shutdown));
        self.phase = Phase::Silent;
        lines
    }

    /// Returns how many calls the child works on, those that were given up included.
    #[cfg(test)]
    fn slots_taken(&self) -> usize {
        self.calls.len()
    }

    /// Takes one line of the child.
    pub(crate) fn receive(&mut self, line: &[u8], now: Instant) -> Result<Event, SessionFault> {
        let frame = ChildFrame::parse(line)?;
        self.last_frame = Some(now);
        match frame {
            ChildFrame::Ready { request_id, invocation_id } => self.answer(&request_id, invocation_id.as_deref(), Answer::Ready),
            ChildFrame::Result { request_id, invocation_id, result } => {
                self.answer(&request_id, Some(&invocation_id), Answer::Result(result))
            }
            ChildFrame::Error { request_id, invocation_id, code, message } => {
                self.answer(&request_id, invocation_id.as_deref(), Answer::Error(ToolError { code, message }))
            }
            ChildFrame::Log { invocation_id, level, message } => {
                let invocation = invocation_id.filter(|invocation| self.open(invocation).is_some());
                Ok(Event::Log { invocation, line: LogLine { level, message } })
            }
            ChildFrame::Progress { invocation_id, progress, message } => Ok(match self.open(&invocation_id) {
                Some(_) => Event::Progress { invocation: invocation_id, progress: Progress { fraction: progress, message } },
                None => Event::Ignored,
            }),
            ChildFrame::CapabilityRequest { request_id, invocation_id, capability } => {
                Ok(Event::Reply(self.refuse_capability(&request_id, &invocation_id, &capability)))
            }
        }
    }

    fn open(&self, invocation: &str) -> Option<&OpenCall> {
        self.calls.iter().find(|call| call.invocation == invocation && call.state.is_open())
    }

    fn answer(&mut self, request_id: &str, invocation: Option<&str>, answer: Answer) -> Result<Event, SessionFault> {
        if let Phase::Starting { request_id: initialize, .. } = &self.phase
            && initialize == request_id
        {
            return self.answer_to_initialize(invocation, answer);
        }
        let Some(at) = self.calls.iter().position(|call| call.request_id == request_id) else {
            return Ok(Event::Ignored);
        };
        if !self.calls[at].state.is_open() {
            return Ok(Event::EndedLate { invocation: self.calls.swap_remove(at).invocation });
        }
        if invocation.is_some_and(|invocation| invocation != self.calls[at].invocation) {
            return Err(SessionFault::WrongInvocation);
        }
        let answer = match answer {
            Answer::Ready => return Err(SessionFault::WrongAnswer { asked: "invoke", found: "ready" }),
            Answer::Result(result) => Ok(result),
            Answer::Error(error) => Err(error),
        };
        Ok(Event::Answered { invocation: self.calls.swap_remove(at).invocation, answer })
    }

    fn answer_to_initialize(&mut self, invocation: Option<&str>, answer: Answer) -> Result<Event, SessionFault> {
        if invocation.is_some() {
            return Err(SessionFault::WrongInvocation);
        }
        match answer {
            Answer::Ready => {
                self.phase = Phase::Ready;
                Ok(Event::Ready)
            }
            Answer::Error(error) => {
                self.phase = Phase::Silent;
                Ok(Event::Refused(error))
            }
            Answer::Result(_) => Err(SessionFault::WrongAnswer { asked: "initialize", found: "result" }),
        }
    }

    /// Checks 0 to 3 of capabilities §2, in their order. A capability that passes them is unavailable: there is no
    /// broker yet.
    fn refuse_capability(&mut self, request_id: &str, invocation: &str, capability: &str) -> Vec<u8> {
        let has = |names: &BTreeSet<CapabilityName>| names.iter().any(|name| name.as_str() == capability);
        let (code, message) = match self.open(invocation) {
            None => ("INVOCATION_NOT_ACTIVE", "the invocation is not active"),
            Some(_) if !has(&self.declared) => ("CAPABILITY_NOT_DECLARED", "the manifest does not declare this capability"),
            Some(call) if !has(&call.granted) => ("CAPABILITY_NOT_AUTHORIZED", "this capability has not been granted"),
            Some(_) => ("CAPABILITY_UNAVAILABLE", "this host does not have this capability"),
        };
        self.write_small(request_id, HostFrame::CapabilityError { invocation, code, message })
    }

    /// Returns when [`Self::expire`] has something to say next, unless frames arrive before.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let start = match &self.phase {
            Phase::Starting { deadline, .. } => Some(*deadline),
            Phase::Silent | Phase::Ready => None,
        };
        self.calls.iter().map(|call| call.state.due()).chain(start).min()
    }

    /// Returns what the time that has come means, in no particular order.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<Expired> {
        let mut expired = Vec::new();
        if matches!(&self.phase, Phase::Starting { deadline, .. } if *deadline <= now) {
            self.phase = Phase::Silent;
            expired.push(Expired::NotReady);
        }
        let mut at = 0;
        while let Some(call) = self.calls.get(at) {
            match call.state {
                _ if call.state.due() > now => at += 1,
                CallState::Open { .. } => {
                    let invocation = call.invocation.clone();
                    let cancel = self.give_up(at, now, GivenUp::TimedOut);
                    expired.push(Expired::TimedOut { invocation, cancel });
                    at += 1;
                }
                CallState::GivenUp { at: since, why, .. } => {
                    let is_silent = self.last_frame.is_none_or(|last| last < since);
                    let invocation = self.calls.swap_remove(at).invocation;
                    expired.push(match why {
                        GivenUp::TimedOut if is_silent => Expired::Unresponsive { invocation },
                        GivenUp::TimedOut | GivenUp::Cancelled => Expired::SlotFree { invocation },
                    });
                }
            }
        }
        expired
    }
}

enum Answer {
    Ready,
    Result(Box<RawValue>),
    Error(ToolError),
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn names(names: &[&str]) -> Arc<BTreeSet<CapabilityName>> {
        Arc::new(names.iter().map(|name| name.parse().expect("a capability's name")).collect())
    }

    fn after(start: Instant, millis: u64) -> Instant {
        start + Duration::from_millis(millis)
    }

    fn parsed(line: &[u8]) -> Value {
        assert_eq!(line.last(), Some(&b'\n'));
        serde_json::from_slice(line).expect("a frame is JSON")
    }

    fn request_id(line: &[u8]) -> String {
        parsed(line)["requestId"].as_str().expect("an id").to_owned()
    }

    fn frame(kind: &str, request_id: &str, more: Value) -> Vec<u8> {
        let mut frame = json!({"protocolVersion": "spark-tool-process-v1", "type": kind, "requestId": request_id, "sequence": 0});
        if let (Value::Object(frame), Value::Object(more)) = (&mut frame, more) {
            frame.extend(more);
        }
        frame.to_string().into_bytes()
    }

    /// A session that has said hello, at `start`.
    struct Talk {
        session: Session,
        start: Instant,
    }

    impl Talk {
        fn ready() -> Self {
            let start = Instant::now();
            let mut session = Session::new(names(&["files.read", "http.fetch"]));
            let hello = session.start(&"acme.x".parse().expect("an id"), &"1.0.0".parse().expect("a version"), start);
            let event = session.receive(&frame("ready", &request_id(&hello), json!({})), start);
            assert!(matches!(event, Ok(Event::Ready)), "{event:?}");
            Self { session, start }
        }

        /// Opens a call with a deadline of 1 s; the id of its request.
        fn invoke(&mut self, invocation: &str) -> String {
            let tool = "add".parse().expect("a tool's name");
            let (input, context) = (serde_json::value::to_raw_value(&json!({})).expect("JSON"), json!({}));
            let deadline = after(self.start, 1_000);
            let granted = names(&["http.fetch"]);
            let call = Call { invocation, tool: &tool, input: &input, context: &context, deadline, granted };
            request_id(&self.session.invoke(call).expect("short"))
        }

        fn receive(&mut self, kind: &str, request_id: &str, more: Value) -> Result<Event, SessionFault> {
            self.receive_at(0, kind, request_id, more)
        }

        fn receive_at(&mut self, millis: u64, kind: &str, request_id: &str, more: Value) -> Result<Event, SessionFault> {
            self.session.receive(&frame(kind, request_id, more), after(self.start, millis))
        }

        fn expire(&mut self, millis: u64) -> Vec<String> {
            let expired = self.session.expire(after(self.start, millis));
            expired
                .iter()
                .map(|expired| match expired {
                    Expired::NotReady => "not ready".to_owned(),
                    Expired::TimedOut { invocation, .. } => format!("{invocation} timed out"),
                    Expired::SlotFree { invocation } => format!("{invocation} free"),
                    Expired::Unresponsive { invocation } => format!("{invocation} unresponsive"),
                })
                .collect()
        }
    }

    fn answered(event: Result<Event, SessionFault>) -> (String, Result<String, ToolError>) {
        match event {
            Ok(Event::Answered { invocation, answer }) => (invocation, answer.map(|raw| raw.get().to_owned())),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_frame_is_initialize_and_only_ready_or_error_answers_it() {
        let start = Instant::now();
        let check = |kind: &str, more: Value, expected: &str| {
            let mut session = Session::new(names(&[]));
            let hello = session.start(&"acme.x".parse().expect("an id"), &"1.0.0".parse().expect("a version"), start);
            assert_eq!((parsed(&hello)["type"].as_str(), parsed(&hello)["sequence"].as_u64()), (Some("initialize"), Some(0)));
            let event = session.receive(&frame(kind, &request_id(&hello), more), start);
            assert_eq!(format!("{event:?}"), expected);
        };
        check("ready", json!({}), "Ok(Ready)");
        check("error", json!({"code": "NO", "message": "no"}), r#"Ok(Refused(ToolError { code: "NO", message: "no" }))"#);
        check("result", json!({"invocationId": "i", "result": 1}), "Err(WrongInvocation)");
        check("ready", json!({"invocationId": "i"}), "Err(WrongInvocation)");
    }

    #[test]
    fn a_child_that_never_gets_ready_is_told_so_after_15_s() {
        let start = Instant::now();
        let mut session = Session::new(names(&[]));
        session.start(&"acme.x".parse().expect("an id"), &"1.0.0".parse().expect("a version"), start);
        assert_eq!(session.next_deadline(), Some(start + READY_WAIT));
        assert_eq!(session.expire(after(start, 14_999)), []);
        assert_eq!(session.expire(after(start, 15_000)), [Expired::NotReady]);
        assert_eq!(session.next_deadline(), None);
    }

    #[test]
    fn answers_find_their_calls_in_any_order() {
        let mut talk = Talk::ready();
        let ids = ["a", "b", "c"].map(|invocation| talk.invoke(invocation));
        assert_eq!(talk.session.slots_taken(), 3);
        let answer = answered(talk.receive("result", &ids[2], json!({"invocationId": "c", "result": 3})));
        assert_eq!(answer, ("c".to_owned(), Ok("3".to_owned())));
        let answer = answered(talk.receive("error", &ids[0], json!({"code": "E", "message": "m"})));
        assert_eq!(answer, ("a".to_owned(), Err(ToolError { code: "E".to_owned(), message: "m".to_owned() })));
        let answer = answered(talk.receive("result", &ids[1], json!({"invocationId": "b", "result": null})));
        assert_eq!(answer, ("b".to_owned(), Ok("null".to_owned())));
        assert_eq!((talk.session.slots_taken(), talk.session.next_deadline()), (0, None));
    }

    #[test]
    fn an_answer_that_fits_nothing_is_ignored_and_one_that_fits_badly_ends_it() {
        let mut talk = Talk::ready();
        let id = talk.invoke("a");
        let unknown = talk.receive("result", "nobody", json!({"invocationId": "a", "result": 1}));
        assert!(matches!(unknown, Ok(Event::Ignored)), "{unknown:?}");
        let ready = talk.receive("ready", &id, json!({})).expect_err("no answer to invoke");
        assert_eq!(ready, SessionFault::WrongAnswer { asked: "invoke", found: "ready" });
        for (kind, more) in
            [("result", json!({"invocationId": "b", "result": 1})), ("error", json!({"invocationId": "b", "code": "E", "message": "m"}))]
        {
            assert_eq!(talk.receive(kind, &id, more).expect_err("another invocation"), SessionFault::WrongInvocation);
        }
    }

    #[test]
    fn the_sequence_counts_every_frame_of_the_host() {
        let mut talk = Talk::ready();
        talk.invoke("a");
        let cancel = talk.session.cancel("a", talk.start).expect("it is open");
        let mut lines = vec![cancel];
        lines.extend(talk.session.shut_down().split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec));
        let sequences: Vec<_> =
            lines.iter().map(|line| (parsed(line)["type"].as_str().map(str::to_owned), parsed(line)["sequence"].as_u64())).collect();
        assert_eq!(sequences, [(Some("cancel".to_owned()), Some(2)), (Some("shutdown".to_owned()), Some(3))]);
    }

    #[test]
    fn every_request_has_a_uuid_of_its_own() {
        let mut ids = RequestIds::new();
        let (first, second) = (ids.next(), ids.next());
        assert!(first != second && first[..24] == second[..24]);
        assert_eq!((first.len(), first.matches('-').count(), &first[14..15]), (36, 4, "4"));
        assert!(first.chars().all(|c| c == '-' || c.is_ascii_hexdigit()), "{first}");
    }

    #[test]
    fn a_cancelled_call_keeps_its_slot_until_the_child_answers_or_5_s_pass() {
        let mut talk = Talk::ready();
        let (first, _second) = (talk.invoke("a"), talk.invoke("b"));
        assert!(talk.session.cancel("a", talk.start).is_some());
        assert!(talk.session.cancel("a", talk.start).is_none(), "only once");
        assert!(talk.session.cancel("b", talk.start).is_some());
        let late = talk.receive("result", &first, json!({"invocationId": "a", "result": 1}));
        assert!(matches!(&late, Ok(Event::EndedLate { invocation }) if invocation == "a"), "{late:?}");
        assert_eq!(talk.session.slots_taken(), 1);
        assert_eq!(talk.expire(4_999), [""; 0]);
        assert_eq!(talk.expire(5_000), ["b free"]);
    }

    #[test]
    fn a_child_that_stays_silent_after_a_time_out_is_unresponsive_and_one_that_speaks_is_not() {
        for (speaks, expected) in [(false, "a unresponsive"), (true, "a free")] {
            let mut talk = Talk::ready();
            talk.invoke("a");
            assert_eq!(talk.expire(999), [""; 0]);
            assert_eq!(talk.expire(1_000), ["a timed out"]);
            if speaks {
                let log = talk.receive_at(3_000, "log", "x", json!({"level": "info", "message": "still here"}));
                assert!(matches!(log, Ok(Event::Log { invocation: None, .. })), "{log:?}");
            }
            assert_eq!(talk.session.next_deadline(), Some(after(talk.start, 6_000)));
            assert_eq!(talk.expire(6_000), [expected]);
        }
    }

    #[test]
    fn capabilities_are_checked_in_their_order() {
        let mut talk = Talk::ready();
        talk.invoke("a");
        talk.invoke("gone");
        talk.session.cancel("gone", talk.start);
        let mut check = |invocation: &str, capability: &str, expected: &str| {
            let request = json!({"invocationId": invocation, "capability": capability, "input": {}});
            let Ok(Event::Reply(line)) = talk.receive("capability.request", "own-1", request) else {
                panic!("no reply");
            };
            let reply = parsed(&line);
            assert_eq!(
                [&reply["type"], &reply["requestId"], &reply["invocationId"], &reply["code"]],
                ["capability.error", "own-1", invocation, expected]
            );
        };
        check("never", "nothing.known", "INVOCATION_NOT_ACTIVE");
        check("gone", "http.fetch", "INVOCATION_NOT_ACTIVE");
        check("a", "process.exec", "CAPABILITY_NOT_DECLARED");
        check("a", "not a name!", "CAPABILITY_NOT_DECLARED");
        check("a", "files.read", "CAPABILITY_NOT_AUTHORIZED");
        check("a", "http.fetch", "CAPABILITY_UNAVAILABLE");
    }

    #[test]
    fn logs_and_progress_name_their_call_while_it_is_open() {
        let mut talk = Talk::ready();
        talk.invoke("a");
        let event = talk.receive("log", "x", json!({"invocationId": "a", "level": "info", "message": "m"}));
        assert!(matches!(&event, Ok(Event::Log { invocation: Some(of), .. }) if of == "a"), "{event:?}");
        let event = talk.receive("log", "x", json!({"invocationId": "old", "level": "info", "message": "m"}));
        assert!(matches!(event, Ok(Event::Log { invocation: None, .. })), "{event:?}");
        let event = talk.receive("progress", "x", json!({"invocationId": "a", "progress": 1}));
        assert!(matches!(event, Ok(Event::Progress { progress: Progress { fraction: Some(1.0), .. }, .. })), "{event:?}");
        let event = talk.receive("progress", "x", json!({"invocationId": "old"}));
        assert!(matches!(event, Ok(Event::Ignored)), "{event:?}");
    }

    #[test]
    fn a_stray_line_is_told_from_a_broken_frame() {
        let mut talk = Talk::ready();
        let stray = talk.session.receive(b"hello", talk.start).expect_err("stray");
        assert!(stray.is_stray());
        let broken = talk.session.receive(br#"{"protocolVersion":"x"}"#, talk.start).expect_err("broken");
        assert!(!broken.is_stray());
    }

    /// xorshift64*: the same mutations in every run.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            let wide = u64::try_from(limit).expect("small");
            usize::try_from((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % wide).expect("below a usize")
        }
    }

    #[test]
    fn no_mutation_of_a_frame_makes_it_panic() {
        const BITS: [&[u8]; 12] =
            [b"\"", b"{", b"}", b"\\u", b"\xff", b"1e999999", b"null", b"-", b"\"type\":", b",", b"\0", b"\"invocationId\":\"b\","];
        let mut dice = Dice(0x5eed);
        let mut counts = [0_usize; 2];
        let mut talk = Talk::ready();
        let seeds = [
            frame("ready", "r", json!({})),
            frame("result", "r", json!({"invocationId": "a", "result": {"a": [1.5, null, "é\u{1f469}"]}})),
            frame("error", "r", json!({"invocationId": "a", "code": "E", "message": "m\n"})),
            frame("log", "r", json!({"level": "info", "message": "m"})),
            frame("progress", "r", json!({"invocationId": "a", "progress": 0.5, "message": "half"})),
            frame("capability.request", "r", json!({"invocationId": "a", "capability": "files.read", "input": {"path": "x"}})),
        ];
        for round in 0..100_000 {
            if round % 1_000 == 0 {
                talk = Talk::ready();
                talk.invoke("a");
            }
            let mut line = seeds[dice.below(seeds.len())].clone();
            for _ in 0..=dice.below(3) {
                let at = dice.below(line.len());
                match dice.below(4) {
                    0 => line[at] = u8::try_from(dice.below(256)).expect("a byte"),
                    1 if line.len() > 1 => drop(line.remove(at)),
                    2 => drop(line.splice(at..at, BITS[dice.below(BITS.len())].iter().copied())),
                    _ => line.truncate(at + 1),
                }
            }
            counts[usize::from(talk.session.receive(&line, talk.start).is_ok())] += 1;
        }
        assert!(counts.iter().all(|count| *count > 1_000), "both kinds occur: {counts:?}");
    }
}
