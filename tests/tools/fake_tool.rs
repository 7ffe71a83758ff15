//! A tool process that misbehaves on request. Speaks `spark-tool-process-v1` by itself, so that a fault in the host's
//! own frames is not shared by its test.
//!
//! `fake-tool MODE [ARGUMENT…]`. Whatever the mode, the input of a call steers it too:
//! `{"echo": any}` answers `{"echo": any, "pid": N}`; `"sleepMs": n` answers later, others meanwhile; `"error": CODE`
//! answers an error; `"log": text`, `"stderr": text`, `"progress": 0.5` come before the answer; `"capability": name` asks
//! for it and answers what came back; `"exit": n` ends the process; `"hang": true` never answers; `"busy": true` stops
//! reading for good.
//!
//! | mode | does |
//! | --- | --- |
//! | `ok` | nothing bad |
//! | `noise KIND [start]` | prints a line that is no frame before its answer, or before `ready` |
//! | `blank` | blank lines, CRLF and a byte order mark around its frames |
//! | `endless` | answers a line that never ends |
//! | `big N` | answers a frame of exactly N bytes |
//! | `silent` | never says `ready` |
//! | `refuse` | answers `initialize` with an error |
//! | `exit-start N`, `signal-start N` | ends before `ready`, two lines on stderr |
//! | `exit-call N`, `signal-call N` | ends in mid-call, two lines on stderr |
//! | `answer-and-exit N` | answers and ends at once |
//! | `ignore-shutdown` | answers, then stays whatever it reads |
//! | `ignore-term` | the same, SIGTERM and SIGINT too |
//! | `hang`, `hang-ignore-term` | never answers, stays whatever it reads |
//! | `grandchild HOW` | leaves a process that holds the pipes: `plain`, `setsid`, `wiped` (setsid, no environment) |
//! | `orphan` | leaves a process whose parent has ended, and that ends by itself soon after |
//! | `close-stdout` | closes its stdout in mid-call and lives on |
//! | `close-stdin` | closes its stdin, says `ready` and lives on |
//! | `trickle` | one byte a second instead of an answer |
//! | `flood N` | writes N bytes to stderr, then answers |
//! | `writes-first N` | writes N bytes of log frames before it reads its call |
//! | `argv`, `env`, `fds`, `blocked` | answers its arguments, its environment, its descriptors, its mask of signals in hex |
//! | `write-here` | tries to write `./x`, answers `written` or the error |
//! | `secret NAME` | shows the variable NAME in log, stderr, progress and error |
//! | `broken KIND` | answers a frame that breaks the protocol: `duplicate`, `version`, `type`, `invocation`, `ready`, `surrogate`, `utf8` |
//! | `unknown-id` | answers an id that nobody asked for, then rightly |
//! | `sleep N` | no tool: sleeps N seconds (`setsid-sleep` in a session of its own; `leave-sleep` in a child that it leaves) |

#![cfg_attr(not(unix), expect(unused, reason = "half of the modes are about signals"))]

use std::io::{self, BufRead as _, Write as _};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

const VERSION: &str = "spark-tool-process-v1";
static SEQUENCE: AtomicU64 = AtomicU64::new(0);

struct Tool {
    mode: String,
    arguments: Vec<String>,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_else(|| "ok".to_owned());
    let tool = Tool { mode, arguments: arguments.collect() };
    match tool.mode.as_str() {
        "sleep" => forever_or(tool.number()),
        "setsid-sleep" => {
            #[cfg(unix)]
            nix::unistd::setsid().expect("not a leader yet");
            forever_or(tool.number())
        }
        "leave-sleep" => {
            leave(&["sleep", tool.argument()]);
            ExitCode::SUCCESS
        }
        _ => tool.run(),
    }
}

fn forever_or(seconds: u64) -> ExitCode {
    thread::sleep(Duration::from_secs(seconds));
    ExitCode::SUCCESS
}

fn text(bytes: &[u8]) {
    // The host may be gone: then there is nobody to tell.
    #[expect(clippy::disallowed_methods, reason = "a tool answers on stdout")]
    let mut out = io::stdout().lock();
    let _gone = out.write_all(bytes).and_then(|()| out.flush());
}

fn errors(bytes: &[u8]) {
    #[expect(clippy::disallowed_methods, reason = "a tool's logs go to stderr")]
    let _gone = io::stderr().lock().write_all(bytes);
}

fn frame(kind: &str, request: &str, more: Value) -> Vec<u8> {
    let sequence = SEQUENCE.fetch_add(1, Ordering::Relaxed);
    let mut frame = json!({"protocolVersion": VERSION, "type": kind, "requestId": request, "sequence": sequence});
    if let (Value::Object(frame), Value::Object(more)) = (&mut frame, more) {
        frame.extend(more);
    }
    let mut line = frame.to_string().into_bytes();
    line.push(b'\n');
    line
}

fn send(kind: &str, request: &str, more: Value) {
    text(&frame(kind, request, more));
}

fn end(code: u64) -> ! {
    #[expect(clippy::disallowed_methods, clippy::exit, reason = "ending is what it is told to do")]
    std::process::exit(i32::try_from(code).unwrap_or(1))
}

#[cfg(unix)]
fn signal_self(number: u64) -> ! {
    use nix::sys::signal::{Signal, kill};
    let signal = Signal::try_from(i32::try_from(number).expect("a small number")).expect("a signal");
    kill(nix::unistd::getpid(), signal).expect("it is ours");
    thread::sleep(Duration::from_mins(1));
    end(1)
}

#[cfg(not(unix))]
fn signal_self(_number: u64) -> ! {
    end(1)
}

fn str_of<'a>(frame: &'a Value, key: &str) -> &'a str {
    frame[key].as_str().unwrap_or_default()
}

impl Tool {
    fn number(&self) -> u64 {
        self.arguments.first().and_then(|number| number.parse().ok()).unwrap_or(1)
    }

    fn argument(&self) -> &str {
        self.arguments.first().map_or("", String::as_str)
    }

    fn is(&self, modes: &[&str]) -> bool {
        modes.contains(&self.mode.as_str())
    }

    fn run(&self) -> ExitCode {
        #[cfg(unix)]
        if self.is(&["ignore-term", "hang-ignore-term"]) {
            use nix::sys::signal::{SigSet, Signal};
            let mut ignored = SigSet::empty();
            ignored.add(Signal::SIGTERM);
            ignored.add(Signal::SIGINT);
            ignored.thread_block().expect("signals can be blocked");
        }
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
                self.leave();
                return ExitCode::SUCCESS;
            }
            let frame: Value = serde_json::from_slice(&line).expect("the host sends JSON");
            match str_of(&frame, "type") {
                "initialize" => {
                    #[cfg(unix)]
                    if self.is(&["close-stdin"]) {
                        nix::unistd::close(0).expect("it was open");
                    }
                    self.hello(str_of(&frame, "requestId"));
                    if self.is(&["close-stdin"]) {
                        forever_or(1_000);
                    }
                    if self.is(&["writes-first"]) {
                        self.write_first();
                    }
                }
                "invoke" if frame["input"]["busy"] == true => {
                    forever_or(1_000);
                }
                "invoke" => self.invoked(&frame),
                "capability.result" | "capability.error" => {
                    let invocation = str_of(&frame, "invocationId");
                    let call = str_of(&frame, "requestId").strip_prefix("capability-of-").unwrap_or_default();
                    let back = json!({"type": frame["type"], "code": frame["code"], "message": frame["message"]});
                    send("result", call, json!({"invocationId": invocation, "result": back}));
                }
                "shutdown" => {
                    self.leave();
                    return ExitCode::SUCCESS;
                }
                _ => {}
            }
        }
    }

    /// What it does when it is told to go.
    fn leave(&self) {
        if self.is(&["ignore-shutdown", "ignore-term", "hang", "hang-ignore-term"]) {
            forever_or(1_000);
        }
    }

    fn hello(&self, request: &str) {
        match self.mode.as_str() {
            "silent" => {
                forever_or(1_000);
            }
            "exit-start" => {
                errors(b"cannot find its configuration\nsecond line\n");
                end(self.number());
            }
            "signal-start" => signal_self(self.number()),
            "refuse" => return send("error", request, json!({"code": "NO_LICENCE", "message": "there is no licence"})),
            "noise" if self.arguments.get(1).is_some_and(|when| when == "start") => text(&noise(self.argument())),
            "blank" => text(b"\n \r\n\xef\xbb\xbf"),
            _ => {}
        }
        send("ready", request, json!({}));
    }

    fn write_first(&self) {
        let log = frame("log", "l", json!({"level": "debug", "message": "x".repeat(30_000)}));
        let mut written = 0;
        while written < self.number() {
            text(&log);
            written += log.len() as u64;
        }
    }

    fn invoked(&self, frame: &Value) {
        let (request, invocation) = (str_of(frame, "requestId").to_owned(), str_of(frame, "invocationId").to_owned());
        let input = frame["input"].clone();
        let answer = move |result: Value| send("result", &request, json!({"invocationId": invocation, "result": result}));
        let (request, invocation) = (str_of(frame, "requestId"), str_of(frame, "invocationId"));
        if let Some(message) = frame["input"]["stderr"].as_str() {
            errors(format!("{message}\n").as_bytes());
        }
        match self.mode.as_str() {
            "noise" => text(&noise(self.argument())),
            "blank" => {
                text(b"\n\t\n\xef\xbb\xbf");
                let line = self::frame("result", request, json!({"invocationId": invocation, "result": 1}));
                text(line.trim_ascii_end());
                return text(b"\r\n\r\n");
            }
            "endless" => loop {
                text(&[b'y'; 8_192]);
            },
            "big" => return big(request, invocation, usize::try_from(self.number()).expect("it fits")),
            "exit-call" => {
                errors(b"Traceback: it broke\nKeyError: 'x'\n");
                end(self.number());
            }
            "signal-call" => {
                errors(b"about to crash\nnow\n");
                signal_self(self.number());
            }
            "answer-and-exit" => {
                answer(json!({"echo": input["echo"]}));
                end(self.number());
            }
            "hang" | "hang-ignore-term" => return,
            "grandchild" => grandchild(self.argument()),
            "orphan" => leave(&["leave-sleep", "0"]),
            #[cfg(unix)]
            "close-stdout" => {
                nix::unistd::close(1).expect("it was open");
                forever_or(1_000);
            }
            "trickle" => loop {
                text(b"{");
                thread::sleep(Duration::from_secs(1));
            },
            "flood" => flood(self.number()),
            "argv" => return answer(json!(self.arguments)),
            "env" => {
                #[expect(clippy::disallowed_methods, reason = "it shows what it was given")]
                let variables: Vec<(String, String)> = std::env::vars().collect();
                return answer(Value::Object(variables.into_iter().map(|(name, value)| (name, Value::from(value))).collect()));
            }
            "fds" => return answer(descriptors()),
            "blocked" => return answer(blocked_signals()),
            "write-here" => return answer(std::fs::write("x", "x").map_or_else(|error| json!(error.to_string()), |()| json!("written"))),
            "secret" => return self.secret(request, invocation),
            "broken" => return text(&broken(self.argument(), request, invocation)),
            "unknown-id" => send("result", "nobody", json!({"invocationId": invocation, "result": "wrong"})),
            _ => {}
        }
        obey(&input, request, invocation, answer);
    }

    fn secret(&self, request: &str, invocation: &str) {
        #[expect(clippy::disallowed_methods, reason = "it shows what it was given")]
        let secret = std::env::var(self.argument()).unwrap_or_default();
        send("log", "l", json!({"invocationId": invocation, "level": "warn", "message": format!("log {secret} end")}));
        send("progress", "p", json!({"invocationId": invocation, "message": format!("progress {secret} end")}));
        // In two pieces, so that it is found across chunks.
        let shown = format!("stderr {secret} end\n");
        let (one, two) = shown.split_at(shown.len() / 2);
        errors(one.as_bytes());
        thread::sleep(Duration::from_millis(20));
        errors(two.as_bytes());
        send("error", request, json!({"invocationId": invocation, "code": "E", "message": format!("error {secret} end")}));
    }
}

/// What the input of a call asks for.
fn obey(input: &Value, request: &str, invocation: &str, answer: impl FnOnce(Value) + Send + 'static) {
    if let Some(message) = input["log"].as_str() {
        send("log", "l", json!({"invocationId": invocation, "level": "info", "message": message}));
    }
    if !input["progress"].is_null() {
        send("progress", "p", json!({"invocationId": invocation, "progress": input["progress"], "message": "working"}));
    }
    if let Some(capability) = input["capability"].as_str() {
        let own = format!("capability-of-{request}");
        return send("capability.request", &own, json!({"invocationId": invocation, "capability": capability, "input": {}}));
    }
    if let Some(code) = input["exit"].as_u64() {
        errors(b"told to exit\n");
        end(code);
    }
    if let Some(code) = input["error"].as_str() {
        return send("error", request, json!({"invocationId": invocation, "code": code, "message": "as asked"}));
    }
    if input["hang"] == true {
        return;
    }
    let result = json!({"echo": input["echo"], "pid": std::process::id()});
    match input["sleepMs"].as_u64() {
        Some(millis) => drop(thread::spawn(move || {
            thread::sleep(Duration::from_millis(millis));
            answer(result);
        })),
        None => answer(result),
    }
}

fn noise(kind: &str) -> Vec<u8> {
    match kind {
        "banner" => b"Welcome to Fake Tool 1.0\n".to_vec(),
        "log" => b"2026-11-30 12:00:00 INFO started\n".to_vec(),
        "bar" => "50%|█████     |\r100%|██████████|\n".as_bytes().to_vec(),
        "escape" => b"\x1b[2J\x1b[31mred\x1b[0m\n".to_vec(),
        "json" => b"{\"level\":\"info\",\"msg\":\"x\"}\n".to_vec(),
        "dict" => b"{'a': 1}\n".to_vec(),
        "array" => b"[1, 2]\n".to_vec(),
        "bytes" => b"\xff\xfe\x00binary\n".to_vec(),
        "long" => [vec![b'z'; 100_000], b"\n".to_vec()].concat(),
        _ => b"noise\n".to_vec(),
    }
}

fn broken(kind: &str, request: &str, invocation: &str) -> Vec<u8> {
    let good = String::from_utf8(frame("result", request, json!({"invocationId": invocation, "result": 1}))).expect("UTF-8");
    match kind {
        "duplicate" => good.replace("\"result\":1", "\"result\":1,\"result\":2").into_bytes(),
        "version" => good.replace(VERSION, "spark-tool-process-v2").into_bytes(),
        "type" => good.replace("\"type\":\"result\"", "\"type\":\"pong\"").into_bytes(),
        "invocation" => good.replace(invocation, "another").into_bytes(),
        "ready" => good.replace("\"type\":\"result\"", "\"type\":\"ready\"").into_bytes(),
        "surrogate" => good.replace("\"result\":1", "\"result\":\"\\ud800\"").into_bytes(),
        "utf8" => {
            let mut bytes = good.into_bytes();
            let at = bytes.len() - 3;
            bytes[at] = 0xff;
            bytes
        }
        _ => b"{}\n".to_vec(),
    }
}

/// Writes its frame by hand: a value of 4 MiB would say nothing about the host's memory, but be slow in a debug build.
fn big(request: &str, invocation: &str, bytes: usize) {
    let empty = frame("result", request, json!({"invocationId": invocation, "result": ""}));
    let line = String::from_utf8(empty).expect("UTF-8");
    let fill = "x".repeat(bytes.saturating_sub(line.len() - 1));
    text(line.replace("\"result\":\"\"", &format!("\"result\":\"{fill}\"")).as_bytes());
}

fn flood(bytes: u64) {
    let chunk = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n".repeat(1_024);
    let mut left = usize::try_from(bytes).expect("it fits");
    while left > 0 {
        let part = left.min(chunk.len());
        errors(&chunk[..part]);
        left -= part;
    }
    errors(b"the last line\n");
}

fn grandchild(how: &str) {
    match how {
        "setsid" => leave(&["setsid-sleep", "1000"]),
        "wiped" => start(own_program().env_clear().args(["setsid-sleep", "1000"])),
        _ => leave(&["sleep", "1000"]),
    }
    // Long enough for a session of its own.
    thread::sleep(Duration::from_millis(50));
}

fn leave(arguments: &[&str]) {
    start(own_program().args(arguments));
}

fn own_program() -> Command {
    #[expect(clippy::disallowed_methods, reason = "a tool may start what it likes")]
    Command::new(std::env::current_exe().expect("its own path"))
}

fn start(command: &mut Command) {
    #[expect(clippy::zombie_processes, reason = "leaving it behind is what this is about")]
    let _runs_on = command.spawn().expect("it starts");
}

fn blocked_signals() -> Value {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    json!(status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap_or_default().trim())
}

fn descriptors() -> Value {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return Value::Null };
    let mut open: Vec<String> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    // The folder that was just read.
    open.retain(|number| std::fs::read_link(format!("/proc/self/fd/{number}")).is_ok_and(|to| !to.ends_with("fd")));
    open.sort_unstable();
    json!(open)
}
