//! A tool process of our own, for machines that have no language a template is written in: `demo` runs there too.
//!
//! It speaks `spark-tool-process-v1` as any tool would, and is the smallest example of it in Rust.

use std::io::{self, BufRead};

use serde_json::{Value, json};

/// Answers frames until the input ends or a `shutdown` comes. `answer` gets one frame a call, its line end included.
pub(crate) fn serve(input: impl BufRead, mut answer: impl FnMut(&str) -> io::Result<()>) -> io::Result<()> {
    let mut sequence = 0_u64;
    for line in input.lines() {
        let Ok(frame) = serde_json::from_str::<Value>(&line?) else { continue };
        let mut reply = match frame["type"].as_str() {
            Some("initialize") => json!({ "type": "ready" }),
            Some("invoke") => invoke(&frame),
            Some("shutdown") => return Ok(()),
            _ => continue,
        };
        reply["protocolVersion"] = "spark-tool-process-v1".into();
        reply["requestId"] = frame["requestId"].clone();
        reply["sequence"] = sequence.into();
        sequence += 1;
        answer(&format!("{reply}\n"))?;
    }
    Ok(())
}

fn invoke(frame: &Value) -> Value {
    let name = frame["input"]["name"].as_str().unwrap_or_default();
    let outcome = if name.trim().is_empty() {
        json!({ "type": "error", "code": "BLANK_NAME", "message": "the name has no visible character" })
    } else {
        json!({ "type": "result", "result": { "greeting": format!("Hello, {name}!") } })
    };
    with_invocation(outcome, frame)
}

fn with_invocation(mut reply: Value, frame: &Value) -> Value {
    reply["invocationId"] = frame["invocationId"].clone();
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_answers_what_a_host_sends() {
        let input = [
            r#"{"protocolVersion":"spark-tool-process-v1","type":"initialize","requestId":"a","sequence":0,"packageId":"x.y","packageVersion":"1.0.0","capabilityProtocolVersion":1}"#,
            r#"{"protocolVersion":"spark-tool-process-v1","type":"invoke","requestId":"b","sequence":1,"invocationId":"i","toolName":"greet","input":{"name":"Ada"},"context":{}}"#,
            r#"{"protocolVersion":"spark-tool-process-v1","type":"cancel","requestId":"c","sequence":2,"invocationId":"i"}"#,
            r#"{"protocolVersion":"spark-tool-process-v1","type":"invoke","requestId":"d","sequence":3,"invocationId":"j","toolName":"greet","input":{"name":" "},"context":{}}"#,
            r#"{"protocolVersion":"spark-tool-process-v1","type":"shutdown","requestId":"e","sequence":4}"#,
            r#"{"protocolVersion":"spark-tool-process-v1","type":"invoke","requestId":"f","sequence":5,"invocationId":"k","toolName":"greet","input":{"name":"Ada"},"context":{}}"#,
        ];
        let mut answers = Vec::new();
        serve(input.join("\n").as_bytes(), |answer| {
            answers.push(serde_json::from_str::<Value>(answer).expect("JSON"));
            Ok(())
        })
        .expect("read to the shutdown");
        let short: Vec<_> =
            answers.iter().map(|answer| (answer["requestId"].as_str(), answer["type"].as_str(), answer["sequence"].as_u64())).collect();
        assert_eq!(short, [(Some("a"), Some("ready"), Some(0)), (Some("b"), Some("result"), Some(1)), (Some("d"), Some("error"), Some(2))]);
        assert_eq!(answers[1]["result"], json!({ "greeting": "Hello, Ada!" }));
    }
}
