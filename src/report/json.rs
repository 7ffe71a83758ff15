//! The envelope of design §6.1: one object, exactly one of `data` and `error`, nothing in it that a terminal obeys.

use std::io::{self, Write};

use serde::{Serialize, Serializer, ser::SerializeStruct as _};
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter};

use crate::base::failure::Failure;
use crate::base::text::is_hidden;

/// The shape of everything that goes to stdout as JSON. Raised when a field changes its meaning, never for a new one.
const FORMAT: u32 = 1;

/// What an envelope carries.
pub(super) enum Body<'a, T> {
    /// A result to show; `ok` says whether the answer is yes.
    Data {
        ok: bool,
        data: &'a T,
    },
    Error(&'a ErrorWire),
}

pub(super) struct Envelope<'a, T> {
    pub(super) command: &'a str,
    pub(super) body: Body<'a, T>,
}

impl<T: Serialize> Serialize for Envelope<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut envelope = serializer.serialize_struct("Envelope", 4)?;
        envelope.serialize_field("format", &FORMAT)?;
        envelope.serialize_field("command", self.command)?;
        match &self.body {
            Body::Data { ok, data } => {
                envelope.serialize_field("ok", ok)?;
                envelope.serialize_field("data", data)?;
            }
            Body::Error(error) => {
                envelope.serialize_field("ok", &false)?;
                envelope.serialize_field("error", error)?;
            }
        }
        envelope.end()
    }
}

/// The `error` of an envelope.
#[derive(Debug, Serialize)]
pub(super) struct ErrorWire {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) help: Option<String>,
    pub(super) details: Value,
}

impl From<&Failure> for ErrorWire {
    fn from(failure: &Failure) -> Self {
        Self { code: failure.code(), message: message_with_causes(failure), help: failure.help(), details: failure.details() }
    }
}

/// Returns `message: cause: cause of that`; a cause that the message already ends with isn't said twice.
fn message_with_causes(failure: &Failure) -> String {
    let mut message = failure.to_string();
    let mut cause = std::error::Error::source(failure.diagnostic());
    while let Some(error) = cause {
        let text = error.to_string();
        if !message.ends_with(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
        cause = error.source();
    }
    message
}

/// Returns `value` as one line of JSON, its line end included.
pub(super) fn line(value: &impl Serialize) -> String {
    let mut bytes = Vec::with_capacity(256);
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, SafeFormatter(CompactFormatter));
    if let Err(error) = value.serialize(&mut serializer) {
        // Only a wire struct of ours with a key that is no string could do this.
        unreachable!("a wire struct is not JSON: {error}");
    }
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("serde_json writes UTF-8")
}

/// Returns `value` as JSON that a person reads.
pub(super) fn indented(value: &Value) -> String {
    escaped(&format!("{value:#}"))
}

/// Returns JSON with every hidden character in its strings written as JSON's own escape.
pub(super) fn escaped(json: &str) -> String {
    let mut bytes = Vec::with_capacity(json.len());
    write_escaped(&mut bytes, json).expect("a Vec takes any bytes");
    String::from_utf8(bytes).expect("only whole characters are replaced")
}

/// Compact JSON in which DEL, C1, bidi controls, tags and other characters that can't be seen are `\uXXXX`.
struct SafeFormatter(CompactFormatter);

impl Formatter for SafeFormatter {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_escaped(writer, fragment)
    }

    /// Raw JSON has such characters in strings alone, where an escape means the same.
    fn write_raw_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_escaped(writer, fragment)
    }
}

fn write_escaped<W: ?Sized + Write>(writer: &mut W, text: &str) -> io::Result<()> {
    // Ours to escape are DEL and what isn't ASCII; serde_json does the controls of C0.
    if text.is_ascii() && !text.contains('\u{7f}') {
        return writer.write_all(text.as_bytes());
    }
    let mut written = 0;
    for (at, c) in text.char_indices() {
        if !c.is_ascii_control() && is_hidden(c) || c == '\u{7f}' {
            writer.write_all(&text.as_bytes()[written..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            written = at + c.len_utf8();
        }
    }
    writer.write_all(&text.as_bytes()[written..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;

    fn check(value: &impl Serialize, expected: &str) {
        assert_eq!(line(value).trim_end_matches('\n'), expected);
    }

    // H: D-1, D-2, D-3
    #[test]
    fn nothing_that_a_terminal_obeys_is_in_json() {
        check(
            &"\u{1b}[2J\r\u{7f}\u{9b}\u{202e}\u{2066}\u{e0041}\u{200b}é👩\u{200d}🔬",
            r#""\u001b[2J\r\u007f\u009b\u202e\u2066\udb40\udc41\u200bé👩‍🔬""#,
        );
        let raw = RawValue::from_string("{\"k\u{202e}\":\"\u{7f}\"}".to_owned()).expect("JSON");
        check(&raw, r#"{"k\u202e":"\u007f"}"#);
        check(&json!({"\u{202e}": 1}), r#"{"\u202e":1}"#);
    }

    #[test]
    fn an_escaped_text_reads_as_it_was() {
        let text = "\u{0}a\"\\\u{7f}\u{85}\u{202e}\u{e0061}\u{10ffff}";
        assert_eq!(serde_json::from_str::<String>(&line(&text)).expect("JSON"), text);
    }

    #[test]
    fn an_envelope_has_exactly_one_of_data_and_error() {
        let data = json!({"n": 1});
        check(
            &Envelope { command: "trace list", body: Body::Data { ok: true, data: &data } },
            r#"{"format":1,"command":"trace list","ok":true,"data":{"n":1}}"#,
        );
        let error = ErrorWire { code: "spark::usage".into(), message: "no".into(), help: None, details: json!({}) };
        check(
            &Envelope::<Value> { command: "list", body: Body::Error(&error) },
            r#"{"format":1,"command":"list","ok":false,"error":{"code":"spark::usage","message":"no","help":null,"details":{}}}"#,
        );
    }

    // H: J-3
    #[test]
    fn numbers_go_out_as_they_came() {
        let value: Value = serde_json::from_str("[1e400,1.0,-0,9007199254740993]").expect("JSON");
        check(&value, "[1e+400,1.0,-0,9007199254740993]");
    }
}
