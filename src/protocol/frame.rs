//! The frames: those of the host are written, those of the child read (process-protocol §2 to §4).

use std::io;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::base::json;
use crate::base::limits::{FRAME_BYTES, FRAME_LOG_UNITS, FRAME_MESSAGE_UNITS, FRAME_NAME_UNITS};
use crate::base::text::{cut, utf16_len, visible};

/// What every frame says of itself (process-protocol §2).
pub(crate) const PROTOCOL_VERSION: &str = "spark-tool-process-v1";
/// The largest integer that every JSON reader keeps (process-protocol §2, `sequence`).
const SEQUENCE_MAX: f64 = 9_007_199_254_740_991.0;

/// A frame to the child (process-protocol §3).
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostFrame<'a> {
    Initialize { package: &'a str, version: &'a str },
    Invoke { invocation: &'a str, tool: &'a str, input: &'a RawValue, context: &'a Value },
    Cancel { invocation: &'a str },
    CapabilityError { invocation: &'a str, code: &'a str, message: &'a str },
    Shutdown,
}

/// A frame to the child with more bytes than a frame may have; it isn't sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputTooLarge {
    pub(crate) limit: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct HostWire<'a> {
    protocol_version: &'static str,
    r#type: &'static str,
    request_id: &'a str,
    sequence: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    invocation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    package_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    package_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capability_protocol_version: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

impl HostFrame<'_> {
    /// Returns the frame as a line, its end included.
    pub(crate) fn to_line(self, request_id: &str, sequence: u64) -> Result<Vec<u8>, InputTooLarge> {
        let mut line = Bounded(Vec::with_capacity(256));
        let written = serde_json::to_writer(&mut line, &self.wire(request_id, sequence));
        // The bound is all that can fail: keys are strings and every value is JSON already.
        written.map_err(|_| InputTooLarge { limit: FRAME_BYTES })?;
        line.0.push(b'\n');
        Ok(line.0)
    }

    fn wire<'a>(&'a self, request_id: &'a str, sequence: u64) -> HostWire<'a> {
        let base = HostWire { protocol_version: PROTOCOL_VERSION, request_id, sequence, ..HostWire::default() };
        match *self {
            Self::Initialize { package, version } => HostWire {
                r#type: "initialize",
                package_id: Some(package),
                package_version: Some(version),
                capability_protocol_version: Some(1),
                ..base
            },
            Self::Invoke { invocation, tool, input, context } => HostWire {
                r#type: "invoke",
                invocation_id: Some(invocation),
                tool_name: Some(tool),
                input: Some(input),
                context: Some(context),
                ..base
            },
            Self::Cancel { invocation } => HostWire { r#type: "cancel", invocation_id: Some(invocation), ..base },
            Self::CapabilityError { invocation, code, message } => {
                HostWire { r#type: "capability.error", invocation_id: Some(invocation), code: Some(code), message: Some(message), ..base }
            }
            Self::Shutdown => HostWire { r#type: "shutdown", ..base },
        }
    }
}

/// Bytes that refuse to become more than a frame: an input of 100 MB is never written out whole.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > FRAME_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A frame from the child (process-protocol §4). Results are text: numbers stay as written and 4 MiB cost no
/// tree.
#[derive(Debug)]
pub(crate) enum ChildFrame {
    Ready { request_id: String, invocation_id: Option<String> },
    Result { request_id: String, invocation_id: String, result: Box<RawValue> },
    Error { request_id: String, invocation_id: Option<String>, code: String, message: String },
    Log { invocation_id: Option<String>, level: Level, message: String },
    Progress { invocation_id: String, progress: Option<f64>, message: Option<String> },
    CapabilityRequest { request_id: String, invocation_id: String, capability: String },
}

/// How much a log line matters (process-protocol §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

impl Level {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Why a line of the child is not a frame. Texts may quote the line: they are shown after redaction.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum FrameFault {
    /// A print, a banner, a log line: nothing that was meant as a frame.
    #[error("the line is not a frame")]
    Stray,
    #[error("{0}")]
    Json(String),
    #[error("`protocolVersion` must be `{PROTOCOL_VERSION}`, found `{found}`")]
    ProtocolVersion { found: String },
    #[error("unknown `type`: `{found}`")]
    UnknownType { found: String },
    #[error("`{key}` is missing")]
    Missing { key: &'static str },
    #[error("`{key}` must be {expected}")]
    Field { key: &'static str, expected: String },
}

/// Every key a child's frame may have, as text; what isn't here is ignored. Flat, since a tagged enum of serde's fails
/// on fractions while numbers keep their text (design §4, numbers).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChildWire<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    r#type: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    request_id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    sequence: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    invocation_id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    code: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    message: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    level: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    progress: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    capability: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    input: Option<&'a RawValue>,
}

/// A key that is there, with `null` as a value like any other.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl ChildFrame {
    /// Reads one line of the child.
    pub(crate) fn parse(line: &[u8]) -> Result<Self, FrameFault> {
        if let Err(fault) = json::check(line) {
            return Err(if is_meant_as_frame(line) { FrameFault::Json(fault.message()) } else { FrameFault::Stray });
        }
        // An array would be taken for the fields in their order.
        if line.trim_ascii_start().first() != Some(&b'{') {
            return Err(FrameFault::Stray);
        }
        let wire: ChildWire<'_> = serde_json::from_slice(line).map_err(|error| FrameFault::Json(error.to_string()))?;
        if wire.protocol_version.is_none() {
            return Err(FrameFault::Stray);
        }
        wire.read()
    }
}

/// Says whether a line that can't be read was written as a frame: then the fault in it is the news, else the line.
fn is_meant_as_frame(line: &[u8]) -> bool {
    const KEY: &[u8] = b"\"protocolVersion\"";
    line.trim_ascii_start().starts_with(b"{") && line.windows(KEY.len()).any(|window| window == KEY)
}

impl ChildWire<'_> {
    fn read(&self) -> Result<ChildFrame, FrameFault> {
        match text(self.protocol_version, "protocolVersion")? {
            version if version == PROTOCOL_VERSION => {}
            found => return Err(FrameFault::ProtocolVersion { found: shown(&found) }),
        }
        let kind = text(self.r#type, "type")?;
        let request_id = name(self.request_id, "requestId")?;
        check_sequence(self.sequence)?;
        let invocation_id = self.invocation_id.map(|raw| name(Some(raw), "invocationId")).transpose()?;
        let invocation = || invocation_id.clone().ok_or(FrameFault::Missing { key: "invocationId" });
        Ok(match kind.as_str() {
            "ready" => ChildFrame::Ready { request_id, invocation_id },
            "result" => ChildFrame::Result { request_id, invocation_id: invocation()?, result: any(self.result, "result")? },
            "error" => ChildFrame::Error {
                request_id,
                invocation_id,
                code: name(self.code, "code")?,
                message: bounded(self.message, "message", 1, FRAME_MESSAGE_UNITS)?,
            },
            "log" => {
                ChildFrame::Log { invocation_id, level: level(self.level)?, message: bounded(self.message, "message", 0, FRAME_LOG_UNITS)? }
            }
            "progress" => ChildFrame::Progress {
                invocation_id: invocation()?,
                progress: self.progress.map(fraction).transpose()?,
                message: self.message.map(|raw| bounded(Some(raw), "message", 0, FRAME_MESSAGE_UNITS)).transpose()?,
            },
            "capability.request" => {
                let capability = name(self.capability, "capability")?;
                // It must be there; what it says is for the broker that doesn't exist yet.
                self.input.ok_or(FrameFault::Missing { key: "input" })?;
                ChildFrame::CapabilityRequest { request_id, invocation_id: invocation()?, capability }
            }
            found => return Err(FrameFault::UnknownType { found: shown(found) }),
        })
    }
}

fn shown(found: &str) -> String {
    visible(&cut(found, 60)).into_owned()
}

fn text(raw: Option<&RawValue>, key: &'static str) -> Result<String, FrameFault> {
    let raw = raw.ok_or(FrameFault::Missing { key })?;
    serde_json::from_str(raw.get()).map_err(|_| FrameFault::Field { key, expected: "a string".to_owned() })
}

fn bounded(raw: Option<&RawValue>, key: &'static str, min: usize, max: usize) -> Result<String, FrameFault> {
    let text = text(raw, key)?;
    if (min..=max).contains(&utf16_len(&text)) {
        Ok(text)
    } else {
        Err(FrameFault::Field { key, expected: format!("a string of {min} to {max} characters") })
    }
}

fn name(raw: Option<&RawValue>, key: &'static str) -> Result<String, FrameFault> {
    bounded(raw, key, 1, FRAME_NAME_UNITS)
}

fn any(raw: Option<&RawValue>, key: &'static str) -> Result<Box<RawValue>, FrameFault> {
    raw.map(ToOwned::to_owned).ok_or(FrameFault::Missing { key })
}

/// A number as JavaScript would read it: `1.0` is the integer 1 (process-protocol §2).
fn number(raw: &RawValue) -> Option<f64> {
    let text = raw.get();
    text.starts_with(|c: char| c.is_ascii_digit() || c == '-').then(|| text.parse().ok()).flatten()
}

fn check_sequence(raw: Option<&RawValue>) -> Result<(), FrameFault> {
    let sequence = number(raw.ok_or(FrameFault::Missing { key: "sequence" })?);
    match sequence {
        Some(number) if number.fract() == 0.0 && (0.0..=SEQUENCE_MAX).contains(&number) => Ok(()),
        _ => Err(FrameFault::Field { key: "sequence", expected: "an integer from 0 to 9007199254740991".to_owned() }),
    }
}

fn fraction(raw: &RawValue) -> Result<f64, FrameFault> {
    number(raw)
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| FrameFault::Field { key: "progress", expected: "a number from 0 to 1".to_owned() })
}

fn level(raw: Option<&RawValue>) -> Result<Level, FrameFault> {
    match text(raw, "level")?.as_str() {
        "debug" => Ok(Level::Debug),
        "info" => Ok(Level::Info),
        "warn" => Ok(Level::Warn),
        "error" => Ok(Level::Error),
        _ => Err(FrameFault::Field { key: "level", expected: "`debug`, `info`, `warn` or `error`".to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const READY: &str = r#"{"protocolVersion":"spark-tool-process-v1","type":"ready","requestId":"r","sequence":0}"#;

    /// A frame with `rest` (which starts with a comma) behind the keys that every frame has.
    fn frame(kind: &str, rest: &str) -> String {
        format!(r#"{{"protocolVersion":"spark-tool-process-v1","type":"{kind}","requestId":"r","sequence":0{rest}}}"#)
    }

    fn raw(value: &serde_json::Value) -> Box<RawValue> {
        serde_json::value::to_raw_value(value).expect("JSON")
    }

    fn fault(line: &str) -> FrameFault {
        ChildFrame::parse(line.as_bytes()).expect_err(line)
    }

    #[test]
    fn host_frames_are_written_as_the_protocol_shows_them() {
        let check = |frame: HostFrame<'_>, expected: &str| {
            let line = frame.to_line("r-2", 1).expect("short");
            assert_eq!(String::from_utf8(line).expect("UTF-8"), format!("{expected}\n"));
        };
        let input = raw(&json!({"a": 1, "b": "x\ny"}));
        check(
            HostFrame::Initialize { package: "acme.x", version: "1.0.0" },
            r#"{"protocolVersion":"spark-tool-process-v1","type":"initialize","requestId":"r-2","sequence":1,"packageId":"acme.x","packageVersion":"1.0.0","capabilityProtocolVersion":1}"#,
        );
        check(
            HostFrame::Invoke { invocation: "i-1", tool: "add", input: &input, context: &json!({}) },
            r#"{"protocolVersion":"spark-tool-process-v1","type":"invoke","requestId":"r-2","sequence":1,"invocationId":"i-1","toolName":"add","input":{"a":1,"b":"x\ny"},"context":{}}"#,
        );
        check(
            HostFrame::Cancel { invocation: "i-1" },
            r#"{"protocolVersion":"spark-tool-process-v1","type":"cancel","requestId":"r-2","sequence":1,"invocationId":"i-1"}"#,
        );
        check(
            HostFrame::CapabilityError { invocation: "i-1", code: "C", message: "m" },
            r#"{"protocolVersion":"spark-tool-process-v1","type":"capability.error","requestId":"r-2","sequence":1,"invocationId":"i-1","code":"C","message":"m"}"#,
        );
        check(HostFrame::Shutdown, r#"{"protocolVersion":"spark-tool-process-v1","type":"shutdown","requestId":"r-2","sequence":1}"#);
    }

    // H: P-2
    #[test]
    fn an_input_fills_a_frame_to_its_last_byte_and_not_further() {
        let size = |text: String| {
            let input = raw(&json!(text));
            HostFrame::Invoke { invocation: "i", tool: "t", input: &input, context: &json!({}) }.to_line("r", 0).map(|line| line.len())
        };
        let around = size(String::new()).expect("short");
        assert_eq!(size("x".repeat(FRAME_BYTES + 1 - around)), Ok(FRAME_BYTES + 1));
        assert_eq!(size("x".repeat(FRAME_BYTES + 2 - around)), Err(InputTooLarge { limit: FRAME_BYTES }));
    }

    #[test]
    fn every_type_of_frame_is_read() {
        let check = |kind: &str, rest: &str, expected: &str| {
            let frame = ChildFrame::parse(frame(kind, rest).as_bytes()).expect(kind);
            assert_eq!(format!("{frame:?}"), expected);
        };
        check("ready", r#","unknown":{"a":[1]}"#, r#"Ready { request_id: "r", invocation_id: None }"#);
        check(
            "result",
            r#","invocationId":"i","result":{"sum":3.10}"#,
            r#"Result { request_id: "r", invocation_id: "i", result: RawValue({"sum":3.10}) }"#,
        );
        check(
            "result",
            r#","invocationId":"i","result":null"#,
            r#"Result { request_id: "r", invocation_id: "i", result: RawValue(null) }"#,
        );
        check("error", r#","code":"C","message":"m""#, r#"Error { request_id: "r", invocation_id: None, code: "C", message: "m" }"#);
        check("log", r#","level":"warn","message":"""#, r#"Log { invocation_id: None, level: Warn, message: "" }"#);
        check(
            "progress",
            r#","invocationId":"i","progress":0.5"#,
            r#"Progress { invocation_id: "i", progress: Some(0.5), message: None }"#,
        );
        check(
            "capability.request",
            r#","invocationId":"i","capability":"files.read","input":[1e400]"#,
            r#"CapabilityRequest { request_id: "r", invocation_id: "i", capability: "files.read" }"#,
        );
    }

    #[test]
    fn whole_numbers_count_as_integers_however_they_are_written() {
        for (sequence, is_good) in [
            ("0", true),
            ("1.0", true),
            ("1e3", true),
            ("-0", true),
            ("9007199254740991", true),
            ("9007199254740992", false),
            ("-1", false),
            ("1.5", false),
            ("1e400", false),
            ("\"1\"", false),
            ("null", false),
            ("true", false),
        ] {
            let line = READY.replace("\"sequence\":0", &format!("\"sequence\":{sequence}"));
            assert_eq!(ChildFrame::parse(line.as_bytes()).is_ok(), is_good, "{sequence}");
        }
    }

    #[test]
    fn lengths_are_counted_in_utf16_units_to_the_last_one() {
        let message = |text: &str| frame("error", &format!(r#","code":"C","message":"{text}""#));
        assert!(ChildFrame::parse(message(&"👩".repeat(2_000)).as_bytes()).is_ok());
        assert!(ChildFrame::parse(message(&"👩".repeat(2_001)).as_bytes()).is_err());
        assert!(ChildFrame::parse(message("").as_bytes()).is_err());
        let log = |count: usize| frame("log", &format!(r#","level":"info","message":"{}""#, "x".repeat(count)));
        assert!(ChildFrame::parse(log(32_000).as_bytes()).is_ok());
        assert!(ChildFrame::parse(log(32_001).as_bytes()).is_err());
        let id = |count: usize| READY.replace("\"r\"", &format!("\"{}\"", "x".repeat(count)));
        assert!(ChildFrame::parse(id(160).as_bytes()).is_ok());
        assert!(ChildFrame::parse(id(161).as_bytes()).is_err());
        assert!(ChildFrame::parse(id(0).as_bytes()).is_err());
    }

    // H: P-1
    #[test]
    fn a_line_that_nobody_meant_as_a_frame_is_stray() {
        for line in [
            "Starting up...",
            "[1]",
            "42",
            "\"text\"",
            "{'a': 1}",
            "{\"level\":\"info\",\"msg\":\"x\"}",
            "{}",
            "\u{1b}[2J",
            "50%|#####     |",
        ] {
            assert_eq!(fault(line), FrameFault::Stray, "{line}");
        }
    }

    #[test]
    fn a_broken_frame_says_what_is_wrong_with_it() {
        let check = |line: &str, expected: &str| assert_eq!(fault(line).to_string(), expected, "{line}");
        check(&READY.replace('}', ",\"type\":\"result\"}"), "duplicate key `type`");
        check(&READY.replace('}', ",\"x\":{\"a\":1,\"\\u0061\":2}}"), "duplicate key `a`");
        check(&READY.replace('}', ",\"x\":\"\\ud800\"}"), "half of a surrogate pair in a string");
        check(&READY.replace('}', ",\"x\":NaN}"), "`NaN` is not JSON");
        check(&READY.replace('}', &format!(",\"x\":{}{}}}", "[".repeat(200), "]".repeat(200))), "nested deeper than 128 levels");
        check(&READY.replace("\"r\"", "7"), "`requestId` must be a string");
        check(&READY.replace("-v1", "-v2"), "`protocolVersion` must be `spark-tool-process-v1`, found `spark-tool-process-v2`");
        check(&READY.replace("\"ready\"", "\"pong\""), "unknown `type`: `pong`");
        check(&READY.replace(",\"sequence\":0", ""), "`sequence` is missing");
        check(&READY.replace('}', ",\"invocationId\":null}"), "`invocationId` must be a string");
        check(&frame("result", r#","result":1"#), "`invocationId` is missing");
        check(&frame("result", r#","invocationId":"i""#), "`result` is missing");
        check(&frame("capability.request", r#","invocationId":"i","capability":"a.b""#), "`input` is missing");
        check(&frame("log", r#","level":"trace","message":"""#), "`level` must be `debug`, `info`, `warn` or `error`");
        check(&frame("progress", r#","invocationId":"i","progress":1.01"#), "`progress` must be a number from 0 to 1");
        let not_utf8 = [READY.trim_end_matches('}').as_bytes(), b",\"x\":\"\xff\"}"].concat();
        assert!(matches!(ChildFrame::parse(&not_utf8), Err(FrameFault::Json(_))));
    }
}
