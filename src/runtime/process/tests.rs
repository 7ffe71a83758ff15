//! A child a call, against the real child of `tests/tools/fake_tool.rs`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bench::{Bench, Failed, Recorder};

fn ms(duration: Duration) -> u128 {
    duration.as_millis()
}

/// A call in `mode` fails with `code`; nothing of the child is left.
async fn fails(mode: &str, code: &str) -> Failed {
    let bench = Bench::new(mode).limit(10_000);
    let failed = bench.failure(json!({})).await;
    assert_eq!(failed.code, format!("spark::process::{code}"), "{mode}: {failed:?}");
    assert_eq!(failed.details["tool"], "acme.fake/work");
    assert_eq!(bench.alive(), [0; 0], "{mode}");
    failed
}

#[tokio::test]
async fn a_call_is_answered_and_its_child_is_gone() {
    let bench = Bench::new("ok");
    let recorder = Recorder::default();
    let input = json!({"echo": {"n": 1}, "log": "hello", "progress": 0.5, "stderr": "on stderr"});
    let answer = bench.call_hearing(input, &recorder).await.expect("an answer");
    let result: Value = serde_json::from_str(answer.result.get()).expect("JSON");
    assert_eq!(result["echo"], json!({"n": 1}));
    assert_eq!(recorder.heard(), ["info hello", "Some(0.5) Some(\"working\")"]);
    assert_eq!(answer.stderr_tail, "on stderr\n");
    assert_eq!(bench.alive(), [0; 0]);
}

#[tokio::test]
async fn a_tools_own_error_is_an_answer() {
    let failed = Bench::new("ok").failure(json!({"error": "NO_SUCH_CITY", "stderr": "why"})).await;
    assert_eq!((failed.code.as_str(), failed.message.as_str()), ("spark::process::tool_error", "NO_SUCH_CITY: as asked"));
    assert_eq!(failed.details["stderrTail"], "why\n");
}

#[tokio::test]
async fn more_logs_than_are_kept_are_counted() {
    let bench = Bench::new("writes-first 20000000");
    let recorder = Recorder::default();
    bench.call_hearing(json!({}), &recorder).await.expect("an answer");
    let (heard, lost) = (recorder.heard(), recorder.lost.into_inner());
    assert!(lost > 0, "{} heard", heard.len());
}

// H: P-1
#[tokio::test]
async fn noise_on_stdout_is_shown_and_named() {
    for (kind, shown) in [
        ("banner", "Welcome to Fake Tool 1.0"),
        ("log", "2026-11-30 12:00:00 INFO started"),
        ("bar", "50%|█████     |\\r100%|██████████|"),
        ("escape", "\\u{1b}[2J\\u{1b}[31mred\\u{1b}[0m"),
        ("json", "{\"level\":\"info\",\"msg\":\"x\"}"),
        ("dict", "{'a': 1}"),
        ("array", "[1, 2]"),
        ("bytes", "\u{fffd}\u{fffd}\\u{0}binary"),
    ] {
        let failed = fails(&format!("noise {kind}"), "stray_output").await;
        assert_eq!(failed.details["line"], shown, "{kind}");
        assert!(failed.message.contains("acme.fake/work") && failed.message.contains(shown), "{}", failed.message);
    }
    let failed = fails("noise banner start", "stray_output").await;
    assert_eq!((failed.details["phase"].as_str(), failed.details["exitCode"].as_i64()), (Some("start"), None));
    let failed = fails("noise long", "stray_output").await;
    assert_eq!(failed.details["line"], format!("{}…", "z".repeat(200)));
}

// H: P-1
#[tokio::test]
async fn blank_lines_and_a_byte_order_mark_are_no_noise() {
    assert_eq!(Bench::new("blank").result(json!({})).await, 1);
}

#[tokio::test]
async fn a_frame_that_breaks_the_protocol_says_how() {
    for (kind, words) in [
        ("duplicate", "duplicate key `result`"),
        ("version", "`protocolVersion` must be"),
        ("type", "unknown `type`: `pong`"),
        ("invocation", "the `invocationId` of the answer"),
        ("ready", "a `ready` frame can't answer `invoke`"),
        ("surrogate", "half of a surrogate pair"),
        ("utf8", "not UTF-8"),
    ] {
        let failed = fails(&format!("broken {kind}"), "bad_frame").await;
        assert!(failed.message.contains(words), "{kind}: {}", failed.message);
        assert!(failed.details["line"].as_str().is_some_and(|line| line.starts_with("{\"")), "{failed:?}");
    }
}

#[tokio::test]
async fn an_answer_nobody_asked_for_is_ignored() {
    assert_eq!(Bench::new("unknown-id").result(json!({"echo": 7})).await["echo"], 7);
}

// H: P-2
#[tokio::test]
async fn a_line_without_end_and_a_frame_too_large_stop_at_the_limit() {
    let failed = fails("endless", "frame_too_large").await;
    assert!(failed.message.contains("allowed are 4194304"), "{}", failed.message);
    let failed = fails("big 4194305", "frame_too_large").await;
    assert!(failed.message.contains("4194305 bytes read, allowed are 4194304"), "{}", failed.message);
    assert_eq!(failed.details["limit"], 4_194_304);
    assert!(peak_megabytes() < 64, "{}", peak_megabytes());
}

// H: P-2
#[tokio::test]
async fn a_frame_of_exactly_the_limit_works_in_bounded_memory() {
    let bench = Bench::new("big 4194304");
    for _ in 0..3 {
        let answer = bench.call(json!({})).await.expect("an answer");
        assert!(answer.result.get().len() > 4_194_000);
    }
    assert!(peak_megabytes() < 45, "{}", peak_megabytes());
}

/// The most memory that this process ever had.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("a peak");
    line.split_ascii_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).expect("a number") / 1_024
}

// H: P-3
#[tokio::test]
async fn two_full_pipes_are_no_deadlock() {
    let bench = Bench::new("writes-first 8388608");
    let started = Instant::now();
    let big = "x".repeat(4_000_000);
    let result = bench.result(json!({"echo": "done", "big": big})).await;
    assert_eq!(result["echo"], "done");
    assert!(started.elapsed() < bench.limit, "{:?}", started.elapsed());
}

// H: P-3
#[tokio::test]
async fn a_child_that_never_reads_ends_at_the_deadline() {
    let bench = Bench::new("silent").limit(700);
    let failed = bench.failure(json!({"big": "x".repeat(3_000_000)})).await;
    assert_eq!((failed.code.as_str(), failed.details["phase"].as_str()), ("spark::process::timed_out", Some("start")));
    assert_eq!(failed.details["limit"].as_u64().map(|limit| limit > 600 && limit <= 700), Some(true));
}

// H: P-4
#[tokio::test]
async fn a_flood_on_stderr_is_drained_and_its_end_kept() {
    let bench = Bench::new("flood 1000000000").limit(60_000);
    let answer = bench.call(json!({"echo": 1})).await.expect("an answer");
    assert!(answer.stderr_tail.ends_with("the last line\n"));
    assert!(answer.stderr_tail.len() <= 64 * 1024);
    assert!(peak_megabytes() < 64, "{}", peak_megabytes());
}

// H: P-5
#[tokio::test]
async fn a_child_that_ignores_sigterm_is_killed_in_time() {
    let bench = Bench::new("hang-ignore-term").limit(500);
    let started = Instant::now();
    let failed = bench.failure(json!({})).await;
    let took = started.elapsed();
    assert_eq!((failed.code.as_str(), failed.details["phase"].as_str()), ("spark::process::timed_out", Some("call")));
    assert!(failed.message.contains("did not answer within"), "{}", failed.message);
    assert!((2_400..3_500).contains(&ms(took)), "timeout, 2 s of grace, a little: {took:?}");
    assert_eq!(bench.alive(), [0; 0]);
}

// H: P-5
#[tokio::test]
async fn an_answer_stands_whatever_the_child_does_afterwards() {
    for (mode, least) in [("ignore-shutdown", 900), ("ignore-term", 1_900)] {
        let bench = Bench::new(mode);
        let started = Instant::now();
        assert_eq!(bench.result(json!({"echo": 5})).await["echo"], 5);
        assert!((least..least + 900).contains(&ms(started.elapsed())), "{mode}: {:?}", started.elapsed());
        assert_eq!(bench.alive(), [0; 0], "{mode}");
    }
}

// H: P-6
#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_holds_nothing_up() {
    for how in ["plain", "setsid", "wiped"] {
        let bench = Bench::new(&format!("grandchild {how}"));
        let started = Instant::now();
        assert_eq!(bench.result(json!({"echo": how})).await["echo"], how);
        assert!(ms(started.elapsed()) < 1_000, "{how}: {:?}", started.elapsed());
        assert_eq!(bench.alive(), [0; 0], "{how}");
    }
}

// H: P-6
#[tokio::test]
async fn an_answer_written_just_before_the_end_is_read() {
    for code in [0, 3] {
        let bench = Bench::new(&format!("answer-and-exit {code}"));
        assert_eq!(bench.result(json!({"echo": code})).await["echo"], code);
    }
}

// H: P-9
#[tokio::test]
async fn a_closed_output_is_an_error_at_once() {
    let started = Instant::now();
    let failed = fails("close-stdout", "closed_output").await;
    assert!(ms(started.elapsed()) < 1_000, "{:?}", started.elapsed());
    assert!(failed.message.contains("closed its output"), "{}", failed.message);
    let started = Instant::now();
    fails("close-stdin", "closed_output").await;
    assert!(ms(started.elapsed()) < 1_000, "{:?}", started.elapsed());
}

// H: P-10
#[tokio::test]
async fn a_trickle_does_not_move_the_deadline() {
    let bench = Bench::new("trickle").limit(3_000);
    let started = Instant::now();
    assert_eq!(bench.failure(json!({})).await.code, "spark::process::timed_out");
    assert!((2_900..5_700).contains(&ms(started.elapsed())), "{:?}", started.elapsed());
}

// H: P-12
#[tokio::test]
async fn arguments_are_data() {
    let hostile = [
        "",
        " ",
        "  two  blanks ",
        "a b",
        "\"",
        "'",
        "\\",
        "\\\\",
        "`id`",
        "$(id)",
        "$HOME",
        "${HOME}",
        "%PATH%",
        "!x!",
        ";",
        "a;b",
        "&",
        "&&",
        "|",
        ">x",
        "<x",
        "*",
        "?",
        "[a]",
        "{a,b}",
        "~",
        "#",
        "\n",
        "a\nb",
        "\r\n",
        "\t",
        "-",
        "--",
        "-rf",
        "--help",
        "=",
        "a=b",
        "é",
        "日本",
        "\u{1b}[2J",
    ];
    let mut bench = Bench::new("argv");
    bench.launch.args.extend(hostile.map(str::to_owned));
    assert_eq!(bench.result(json!({})).await, json!(hostile.to_vec()));
}

// H: P-13
#[tokio::test]
async fn a_child_has_three_descriptors() {
    // One that a careless parent left open for us, without close-on-exec.
    let leaked = nix::unistd::dup(std::fs::File::open("/dev/null").expect("it is there")).expect("a second one");
    nix::fcntl::fcntl(&leaked, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).expect("its flags are ours");
    let benches: Vec<Bench> = (0..20).map(|_| Bench::new("fds")).collect();
    let mut calls = tokio::task::JoinSet::new();
    for bench in benches {
        calls.spawn(async move { bench.result(json!({})).await });
    }
    for open in calls.join_all().await {
        assert_eq!(open, json!(["0", "1", "2"]));
    }
}

// H: P-16
#[tokio::test]
async fn the_environment_is_what_the_protocol_says() {
    let bench = Bench::new("env").secret("API_KEY", "correct-horse");
    let Value::Object(mut environment) = bench.result(json!({})).await else { panic!("an object") };
    let data = bench.launch.data_directory.display().to_string();
    let marker = environment.remove("SPARK_TOOL_CHILD").expect("the marker");
    assert_eq!(marker.as_str().map(str::len), Some(38), "a random id and a number: {marker}");
    assert_eq!(
        Value::Object(environment),
        json!({
            "API_KEY": "correct-horse",
            "LANG": "C",
            "PATH": "/usr/bin:/bin",
            "PYTHONPYCACHEPREFIX": format!("{data}/pycache"),
            "SPARK_TOOL_DATA_DIR": data,
            "SPARK_TOOL_PACKAGE_ID": "acme.fake",
            "SPARK_TOOL_PACKAGE_VERSION": "1.0.0",
            "SPARK_TOOL_PROCESS_PROTOCOL": "spark-tool-process-v1",
        })
    );
}

// H: P-17
#[tokio::test]
async fn a_child_works_in_the_folder_it_is_given() {
    let bench = Bench::new("write-here");
    assert_eq!(bench.result(json!({})).await, "written");
    assert!(bench.launch.working_directory.join("x").exists());
}

#[tokio::test]
async fn a_child_that_ends_too_early_says_how_and_why() {
    let failed = fails("exit-start 3", "exited").await;
    assert_eq!(
        failed.details,
        json!({
            "tool": "acme.fake/work", "phase": "start", "exitCode": 3, "signal": null, "line": null,
            "stderrTail": "cannot find its configuration\nsecond line\n", "limit": null,
        })
    );
    let failed = fails("exit-call 0", "exited").await;
    assert_eq!((failed.details["phase"].as_str(), failed.details["exitCode"].as_i64()), (Some("call"), Some(0)));
    assert_eq!(failed.details["stderrTail"], "Traceback: it broke\nKeyError: 'x'\n");
    let failed = fails("signal-call 6", "killed").await;
    assert_eq!((failed.details["signal"].as_i64(), failed.message.contains("SIGABRT")), (Some(6), true));
    assert_eq!(fails("signal-start 9", "killed").await.details["phase"], "start");
    let failed = fails("refuse", "refused").await;
    assert!(failed.message.ends_with("NO_LICENCE: there is no licence"), "{}", failed.message);
}

#[tokio::test]
async fn a_child_that_is_never_ready_is_stopped_after_15_s() {
    let bench = Bench::new("silent");
    let failed = bench.failure(json!({})).await;
    assert_eq!((failed.code.as_str(), failed.details["limit"].as_u64()), ("spark::process::not_ready", Some(15_000)));
    assert_eq!(bench.alive(), [0; 0]);
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let check = async |change: &dyn Fn(&mut Bench), words: &str| {
        let mut bench = Bench::new("ok");
        change(&mut bench);
        let failed = bench.failure(json!({})).await;
        assert_eq!((failed.code.as_str(), failed.details["phase"].as_str()), ("spark::process::start_failed", Some("start")));
        assert!(failed.message.contains(words), "{}", failed.message);
    };
    let script = |bench: &Bench, text: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = bench.home.path().join("script");
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("set");
        path
    };
    check(&|bench| bench.launch.program = "/nowhere/tool".into(), "does not exist").await;
    check(&|bench| bench.launch.program = "python3".into(), "not an absolute path").await;
    check(&|bench| bench.launch.working_directory = "/nowhere".into(), "the working folder `/nowhere`").await;
    check(&|bench| bench.launch.program = script(bench, "#!/bin/sh\n", 0o644), "may not be executed").await;
    check(&|bench| bench.launch.program = script(bench, "#!/no/such\n", 0o755), "the interpreter").await;
    check(&|bench| bench.launch.args.push("a\0b".to_owned()), "NUL").await;
    check(&|bench| bench.launch.args.push("x".repeat(20_000_000)), "larger than the system allows").await;
}

#[tokio::test]
async fn an_input_too_large_for_a_frame_is_not_sent() {
    let bench = Bench::new("ok");
    let failed = bench.failure(json!({"big": "x".repeat(4_194_304)})).await;
    assert_eq!((failed.code.as_str(), failed.details["limit"].as_u64()), ("spark::process::input_too_large", Some(4_194_304)));
}

#[tokio::test]
async fn no_secret_comes_out_of_a_tools_words() {
    let secret = "correct-horse-battery-staple";
    let bench = Bench::new("secret API_KEY").secret("API_KEY", secret);
    let recorder = Recorder::default();
    let error = bench.call_hearing(json!({}), &recorder).await.map(|answer| answer.result).expect_err("it answers an error");
    let failed = Failed::from(error);
    assert_eq!(failed.message, "E: error [REDACTED] end");
    assert_eq!(failed.details["stderrTail"], "stderr [REDACTED] end\n");
    assert_eq!(recorder.heard(), ["warn log [REDACTED] end", "None Some(\"progress [REDACTED] end\")"]);
    let noise = Bench::new("noise banner").secret("API_KEY", "Fake Tool");
    assert_eq!(noise.failure(json!({})).await.details["line"], "Welcome to [REDACTED] 1.0");
}

#[tokio::test]
async fn a_capability_is_answered_by_its_check() {
    use std::sync::Arc;
    let mut bench = Bench::new("ok");
    let names = |names: &[&str]| Arc::new(names.iter().map(|name| name.parse().expect("a name")).collect());
    bench.launch.declared_capabilities = names(&["http.fetch", "files.read"]);
    bench.launch.granted_capabilities = names(&["files.read"]);
    for (capability, code) in
        [("process.exec", "CAPABILITY_NOT_DECLARED"), ("http.fetch", "CAPABILITY_NOT_AUTHORIZED"), ("files.read", "CAPABILITY_UNAVAILABLE")]
    {
        let back = bench.result(json!({"capability": capability})).await;
        assert_eq!((&back["type"], &back["code"]), (&json!("capability.error"), &json!(code)));
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_politely() {
    let bench = Bench::new("ok");
    let started = Instant::now();
    let cancelled = tokio::time::sleep(Duration::from_millis(300));
    let events = crate::runtime::Silent;
    let invocation = bench.invocation(&json!({"hang": true}));
    let error = bench.host.call(&bench.launch, invocation, &events, cancelled).await.map(|answer| answer.result).expect_err("cancelled");
    let failed = Failed::from(error);
    assert_eq!((failed.code.as_str(), failed.details["exitCode"].as_i64()), ("spark::process::cancelled", Some(0)));
    assert!(ms(started.elapsed()) < 1_000, "it obeyed shutdown: {:?}", started.elapsed());
    assert_eq!(bench.alive(), [0; 0]);
}

#[tokio::test]
async fn a_dropped_call_leaves_nothing_once_the_host_is_closed() {
    let bench = Bench::new("hang-ignore-term");
    let call = bench.call(json!({}));
    assert!(tokio::time::timeout(Duration::from_millis(400), call).await.is_err(), "it hangs");
    assert_ne!(bench.alive(), [0; 0]);
    bench.host.close().await;
    assert_eq!(bench.alive(), [0; 0]);
}

#[test]
fn a_runtime_that_ends_in_the_middle_leaves_nothing() {
    let bench = Bench::new("grandchild setsid");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let call = bench.call(json!({"hang": true}));
        assert!(tokio::time::timeout(Duration::from_millis(500), call).await.is_err(), "it hangs");
    });
    assert_eq!(bench.alive().len(), 2, "the tool and its child");
    drop(runtime);
    assert_eq!(bench.alive(), [0; 0]);
}
