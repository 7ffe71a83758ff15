//! The child that is called: it does what the protocol asks of a tool and as little else as possible, so that what is
//! measured is the host. It finds what it needs in the host's frames by their text, and copies the input back.

use std::io::{self, BufRead as _, BufReader, Write as _};

const START: &[u8] = b"{\"protocolVersion\":\"spark-tool-process-v1\",\"requestId\":";

/// Answers until the host says goodbye or closes the pipe.
pub(crate) fn serve() {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin());
    let (mut line, mut answer) = (Vec::new(), Vec::new());
    let mut sequence = 0_u64;
    while input.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        answer.clear();
        answer.extend_from_slice(START);
        let request = value_of(&line, b"\"requestId\":");
        answer.extend_from_slice(request);
        answer.extend_from_slice(format!(",\"sequence\":{sequence},").as_bytes());
        sequence += 1;
        match value_of(&line, b"\"type\":") {
            b"\"initialize\"" => answer.extend_from_slice(b"\"type\":\"ready\"}\n"),
            b"\"invoke\"" => {
                let input = input_of(&line);
                answer.extend_from_slice(b"\"invocationId\":");
                answer.extend_from_slice(value_of(&line, b"\"invocationId\":"));
                if input.starts_with(b"{\"error\"") {
                    answer.extend_from_slice(b",\"type\":\"error\",\"code\":\"NO\",\"message\":\"as asked\"}\n");
                } else {
                    answer.extend_from_slice(b",\"type\":\"result\",\"result\":");
                    answer.extend_from_slice(input);
                    answer.extend_from_slice(b"}\n");
                }
            }
            _ => return,
        }
        if io::stdout().write_all(&answer).is_err() {
            return;
        }
        line.clear();
    }
}

/// The value behind a key, which stands before any text of the caller's.
fn value_of<'a>(line: &'a [u8], key: &[u8]) -> &'a [u8] {
    let start = line.windows(key.len()).position(|window| window == key).expect("the host writes it") + key.len();
    let length = line[start..].iter().position(|byte| matches!(byte, b',' | b'}')).expect("more follows");
    &line[start..start + length]
}

/// The input, between its own key and that of the context, which is the last.
fn input_of(line: &[u8]) -> &[u8] {
    const KEY: &[u8] = b"\"input\":";
    const NEXT: &[u8] = b",\"context\":";
    let start = line.windows(KEY.len()).position(|window| window == KEY).expect("the host writes it") + KEY.len();
    let end = line.windows(NEXT.len()).rposition(|window| window == NEXT).expect("the host writes it");
    &line[start..end]
}
