//! The exchange of `docs/protocol.md`, replayed: what the page shows is what a session writes and reads.

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use serde_json::Value;

    use crate::protocol::session::{Call, Event, Session};

    const PAGE: &str = include_str!("../../docs/protocol.md");

    /// Returns `(is from the host, frame)` for each line.
    fn transcript() -> Vec<(bool, String)> {
        let (_, rest) = PAGE.split_once("```transcript\n").expect("a transcript");
        let (block, _) = rest.split_once("```").expect("its end");
        block
            .lines()
            .map(|line| match (line.strip_prefix("→ "), line.strip_prefix("← ")) {
                (Some(frame), _) => (true, frame.to_owned()),
                (_, Some(frame)) => (false, frame.to_owned()),
                (None, None) => panic!("not a line of a transcript: {line}"),
            })
            .collect()
    }

    /// Says to `session` what makes it write a frame such as `frame`; returns what it wrote.
    fn written(session: &mut Session, frame: &Value, now: Instant) -> Value {
        let text = |key: &str| frame[key].as_str().expect("a string");
        let line = match text("type") {
            "initialize" => {
                session.start(&text("packageId").parse().expect("an id"), &text("packageVersion").parse().expect("a version"), now)
            }
            "invoke" => {
                let tool = text("toolName").parse().expect("a name");
                let granted: Arc<BTreeSet<_>> = Arc::default();
                let deadline = now + Duration::from_mins(2);
                let (input, context) = (serde_json::value::to_raw_value(&frame["input"]).expect("JSON"), &frame["context"]);
                let call = Call { invocation: text("invocationId"), tool: &tool, input: &input, context, deadline, granted };
                session.invoke(call).expect("it fits")
            }
            "cancel" => session.cancel(text("invocationId"), now).expect("it is open"),
            "shutdown" => session.shut_down(),
            other => panic!("the host writes no `{other}` here"),
        };
        serde_json::from_slice(&line).expect("one frame")
    }

    #[test]
    fn the_exchange_in_the_docs_is_what_happens() {
        let now = Instant::now();
        let mut session = Session::new(Arc::default());
        let mut events = Vec::new();
        // The page's ids of host frames, and those that the session made up.
        let mut ids = BTreeMap::new();
        for (is_from_host, line) in transcript() {
            let mut frame: Value = serde_json::from_str(&line).expect("a frame is JSON");
            let shown = frame["requestId"].clone();
            if is_from_host {
                let frame_written = written(&mut session, &frame, now);
                ids.insert(shown.to_string(), frame_written["requestId"].clone());
                frame["requestId"] = frame_written["requestId"].clone();
                assert_eq!(frame_written, frame);
            } else {
                frame["requestId"] = ids.get(&shown.to_string()).cloned().unwrap_or(shown);
                let event = session.receive(frame.to_string().as_bytes(), now).expect("a frame that is in order");
                events.push(match event {
                    Event::Ready => "ready".to_owned(),
                    Event::Answered { answer: Ok(result), .. } => format!("result {result}"),
                    Event::Answered { answer: Err(error), .. } => format!("error {}", error.code),
                    Event::EndedLate { invocation } => format!("late {invocation}"),
                    Event::Log { line, .. } => format!("log {} {}", line.level.as_str(), line.message),
                    Event::Progress { progress, .. } => format!("progress {:?} {:?}", progress.fraction, progress.message),
                    other => panic!("unexpected: {other:?}"),
                });
            }
        }
        let expected = [
            "ready",
            "log info adding 1 and 2.5",
            r#"progress Some(0.5) Some("half of it")"#,
            r#"result {"sum":3.5}"#,
            "error TOO_LARGE",
            "late i-3",
        ];
        assert_eq!(events, expected);
    }
}
