//! One child for many calls, against the real child of `tests/tools/fake_tool.rs`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::bench::{Bench, Failed};

/// Calls that run at the same time, in a set.
async fn at_once(bench: &Arc<Bench>, inputs: impl IntoIterator<Item = Value>) -> Vec<Result<Value, Failed>> {
    let mut calls = JoinSet::new();
    for input in inputs {
        let bench = Arc::clone(bench);
        calls.spawn(async move {
            let answer = bench.call(input).await.map_err(Failed::from)?;
            Ok(serde_json::from_str(answer.result.get()).expect("a result is JSON"))
        });
    }
    calls.join_all().await
}

#[tokio::test]
async fn calls_share_one_child_until_the_host_is_closed() {
    let bench = Arc::new(Bench::persistent("ok"));
    let answers = at_once(&bench, (0..40).map(|number| json!({"echo": number}))).await;
    let mut pids: Vec<_> = answers.iter().map(|answer| answer.as_ref().expect("an answer")["pid"].clone()).collect();
    pids.dedup();
    assert_eq!(pids.len(), 1, "one start for all");
    assert_eq!(bench.result(json!({})).await["pid"], pids[0]);
    assert_eq!(bench.alive().len(), 1);
    bench.host.close().await;
    assert_eq!(bench.alive(), [0; 0]);
}

#[tokio::test]
async fn another_environment_is_another_child() {
    let mut bench = Bench::persistent("ok");
    let first = bench.result(json!({})).await["pid"].clone();
    bench.launch.variables.push(("REGION".parse().expect("a name"), crate::base::redacted::Redacted::new("eu".to_owned())));
    assert_ne!(bench.result(json!({})).await["pid"], first);
    bench.host.close().await;
}

#[tokio::test]
async fn answers_come_in_any_order_and_find_their_calls() {
    let bench = Arc::new(Bench::persistent("ok"));
    let inputs = (0..200_u64).map(|number| json!({"echo": number, "sleepMs": (200 - number) % 7}));
    let mut echoed: Vec<_> = at_once(&bench, inputs).await.into_iter().map(|answer| answer.expect("an answer")["echo"].as_u64()).collect();
    echoed.sort_unstable();
    assert_eq!(echoed, (0..200).map(Some).collect::<Vec<_>>());
    bench.host.close().await;
}

#[tokio::test]
async fn a_time_out_costs_nobody_else_a_call() {
    let bench = Arc::new(Bench::persistent("ok").limit(1_500));
    let inputs = (0..100).map(|number| if number == 7 { json!({"hang": true}) } else { json!({"echo": number, "sleepMs": 20}) });
    let answers = at_once(&bench, inputs).await;
    let failed: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().err()).collect();
    assert_eq!(failed.iter().map(|failed| failed.code.as_str()).collect::<Vec<_>>(), ["spark::process::timed_out"]);
    let pid = answers.iter().find_map(|answer| answer.as_ref().ok()).expect("an answer")["pid"].clone();
    assert_eq!(bench.result(json!({})).await["pid"], pid, "the child was kept");
    bench.host.close().await;
}

// H: P-5
#[tokio::test]
async fn a_child_that_stays_silent_after_a_time_out_is_stopped_and_replaced() {
    let bench = Arc::new(Bench::persistent("ok").limit(400));
    let pid = bench.result(json!({})).await["pid"].clone();
    let started = Instant::now();
    let patient = async {
        let mut invocation = bench.invocation(&json!({"echo": "patient", "sleepMs": 60_000}));
        invocation.deadline = Instant::now() + Duration::from_secs(30);
        let events = crate::runtime::Silent;
        bench.host.call(&bench.launch, invocation, &events, std::future::pending()).await.map(|answer| answer.result)
    };
    let (patient, hasty) = tokio::join!(patient, async {
        let hasty = bench.failure(json!({"busy": true})).await;
        assert!(started.elapsed() < Duration::from_millis(900), "a time-out is told at once: {:?}", started.elapsed());
        hasty
    });
    assert_eq!(hasty.code, "spark::process::timed_out");
    assert_eq!(Failed::from(patient.expect_err("its child was stopped")).code, "spark::process::unresponsive");
    let took = started.elapsed();
    assert!((5_300..8_800).contains(&took.as_millis()), "0.4 s, 5 s of silence, 2 s of stop: {took:?}");
    assert_eq!(bench.alive(), [0; 0]);
    assert_ne!(bench.result(json!({})).await["pid"], pid);
    bench.host.close().await;
}

// H: P-1
#[tokio::test]
async fn the_call_after_noise_works() {
    let bench = Bench::persistent("noise banner");
    for _ in 0..2 {
        let failed = bench.failure(json!({})).await;
        assert_eq!(failed.code, "spark::process::stray_output");
        assert_eq!(bench.alive(), [0; 0]);
    }
}

#[tokio::test]
async fn a_crash_fails_the_open_calls_and_the_next_one_starts_anew() {
    let bench = Arc::new(Bench::persistent("ok"));
    let pid = bench.result(json!({})).await["pid"].clone();
    let inputs = [json!({"hang": true}), json!({"hang": true}), json!({"exit": 9})];
    for answer in at_once(&bench, inputs).await {
        let failed = answer.expect_err("the child is gone");
        assert_eq!((failed.code.as_str(), failed.details["exitCode"].as_i64()), ("spark::process::exited", Some(9)));
        assert_eq!(failed.details["stderrTail"], "told to exit\n");
    }
    assert_ne!(bench.result(json!({})).await["pid"], pid);
    bench.host.close().await;
}

#[tokio::test]
async fn a_call_that_waits_for_its_turn_survives_the_crash_of_a_neighbour() {
    let bench = Arc::new(Bench::persistent("ok"));
    // 15 that hang and the one that crashes fill all slots; what is behind them was never sent.
    let mut inputs = vec![json!({"hang": true}); 15];
    inputs.push(json!({"exit": 1, "sleepMs": 50}));
    inputs.extend((0..10).map(|number| json!({"echo": number})));
    let answers = at_once(&bench, inputs).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 16);
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 10);
    bench.host.close().await;
}

#[tokio::test]
async fn a_child_that_keeps_ending_is_started_less_and_less_often() {
    let bench = Bench::persistent("exit-start 5");
    let started = Instant::now();
    let mut codes = Vec::new();
    for _ in 0..6 {
        codes.push(bench.failure(json!({})).await.code);
    }
    // Pauses of 0, 250, 500 and 1000 ms are sat out or told; the one of 2 s is told.
    assert_eq!(codes.last().map(String::as_str), Some("spark::process::backing_off"), "{codes:?}");
    assert_eq!(codes[..4], ["spark::process::exited"; 4]);
    assert!(started.elapsed() >= Duration::from_millis(750), "{:?}", started.elapsed());
    let failed = bench.failure(json!({})).await;
    assert!(failed.message.contains("exited with code 5"), "{}", failed.message);
    assert_eq!(failed.details["stderrTail"], "cannot find its configuration\nsecond line\n");
}

#[tokio::test]
async fn a_child_without_calls_goes_and_comes_back() {
    let mut bench = Bench::persistent("ok");
    bench.host.idle_after = Duration::from_millis(200);
    let pid = bench.result(json!({})).await["pid"].clone();
    let until = Instant::now() + Duration::from_secs(10);
    while !bench.alive().is_empty() {
        assert!(Instant::now() < until, "it stays");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_ne!(bench.result(json!({})).await["pid"], pid);
    bench.host.close().await;
}

#[tokio::test]
async fn an_invalidated_package_loses_its_children_and_their_calls() {
    let bench = Arc::new(Bench::persistent("ok"));
    let pid = bench.result(json!({})).await["pid"].clone();
    let (failed, ()) = tokio::join!(bench.failure(json!({"hang": true})), async {
        tokio::task::yield_now().await;
        bench.host.invalidate(&bench.launch.package).await;
    });
    assert_eq!((failed.code.as_str(), failed.details["phase"].as_str()), ("spark::process::stopped", Some("stop")));
    assert_eq!(bench.alive(), [0; 0]);
    assert_ne!(bench.result(json!({})).await["pid"], pid);
    bench.host.close().await;
}

#[tokio::test]
async fn a_cancelled_call_leaves_the_child_as_it_is() {
    let bench = Bench::persistent("ok");
    let pid = bench.result(json!({})).await["pid"].clone();
    let events = crate::runtime::Silent;
    let cancelled = tokio::time::sleep(Duration::from_millis(100));
    let call = bench.host.call(&bench.launch, bench.invocation(&json!({"hang": true})), &events, cancelled);
    let error = call.await.map(|answer| answer.result).expect_err("cancelled");
    assert_eq!(Failed::from(error).code, "spark::process::cancelled");
    assert_eq!(bench.result(json!({})).await["pid"], pid);
    bench.host.close().await;
}

// H: P-4
#[tokio::test]
async fn a_call_gets_its_own_part_of_stderr() {
    let bench = Bench::persistent("ok");
    for words in ["first", "second"] {
        let answer = bench.call(json!({"stderr": words, "sleepMs": 50})).await.expect("an answer");
        assert_eq!(answer.stderr_tail, format!("{words}\n"));
    }
    bench.host.close().await;
}

/// What a leak would show in: descriptors, threads, children, kilobytes.
fn counts() -> (usize, usize, usize, u64) {
    let count = |folder: &str| std::fs::read_dir(folder).expect("Linux").count();
    let children: usize = std::fs::read_dir("/proc/self/task")
        .expect("Linux")
        .flatten()
        .map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default().split_ascii_whitespace().count())
        .sum();
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("memory");
    let kilobytes = resident.split_ascii_whitespace().next().and_then(|number| number.parse().ok()).expect("a number");
    (count("/proc/self/fd"), count("/proc/self/task"), children, kilobytes)
}

// H: P-14
#[tokio::test]
async fn ten_thousand_calls_leave_nothing_behind() {
    let bench = Bench::persistent("ok");
    let call = async |number: u32| {
        let failing = number.is_multiple_of(10);
        let input = if failing { json!({"error": "NO", "stderr": "no"}) } else { json!({"echo": number}) };
        assert_eq!(bench.call(input).await.is_err(), failing);
    };
    for number in 0..500 {
        call(number).await;
    }
    let before = counts();
    for number in 0..10_000 {
        call(number).await;
    }
    let after = counts();
    assert_eq!((after.0, after.1, after.2), (before.0, before.1, before.2));
    assert!(after.3 < before.3 + 5_000, "{} kB before, {} kB after", before.3, after.3);
    bench.host.close().await;
}

// H: P-14
#[tokio::test]
async fn a_child_a_call_leaves_nothing_behind() {
    let good = Bench::new("ok");
    let bad = Bench::new("exit-call 1");
    for _ in 0..5 {
        good.result(json!({})).await;
        bad.failure(json!({})).await;
    }
    let before = counts();
    for number in 0..100 {
        if number % 10 == 0 {
            bad.failure(json!({})).await;
        } else {
            good.result(json!({})).await;
        }
    }
    let after = counts();
    assert_eq!((after.0, after.1, after.2), (before.0, before.1, before.2));
    assert!(after.3 < before.3 + 5_000, "{} kB before, {} kB after", before.3, after.3);
}

// H: P-14
#[tokio::test]
async fn orphans_that_end_by_themselves_are_reaped_while_their_tool_lives() {
    let bench = Bench::persistent("orphan");
    for number in 0..10 {
        assert_eq!(bench.result(json!({"echo": number})).await["echo"], number);
    }
    let patience = Instant::now() + Duration::from_secs(10);
    while counts().2 > 1 {
        assert!(Instant::now() < patience, "{} children", counts().2);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    bench.host.close().await;
    while counts().2 > 0 {
        assert!(Instant::now() < patience, "{} children", counts().2);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// No test by itself: started by the next one as a process of its own, with `home=FOLDER` as an argument, it is a host
/// that is killed.
#[tokio::test]
async fn a_host_that_another_test_kills() {
    let Some(home) = std::env::args().find_map(|argument| argument.strip_prefix("home=").map(str::to_owned)) else { return };
    let mut once = Bench::new("hang-ignore-term");
    let mut kept = Bench::persistent("grandchild setsid");
    for bench in [&mut once, &mut kept] {
        bench.launch.working_directory = home.clone().into();
        let ledger = Arc::new(crate::child::Ledger::new(std::path::Path::new(&home).join("children")));
        bench.host = super::ProcessHost::new(ledger, super::Inherited::default());
    }
    let hang = json!({"hang": true});
    let _never = tokio::join!(once.call(hang.clone()), kept.call(hang));
}

// H: P-7
#[tokio::test]
async fn a_killed_host_leaves_nothing_alive_after_the_next_start() {
    let home = tempfile::tempdir().expect("a folder");
    let alive = || super::bench::alive_below(home.path());
    #[expect(clippy::disallowed_methods, reason = "a host to be killed, not a tool")]
    let mut host = std::process::Command::new(std::env::current_exe().expect("a test has a path"))
        .args(["--exact", "runtime::process::keep_tests::a_host_that_another_test_kills", &format!("home={}", home.path().display())])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let patience = Instant::now() + Duration::from_secs(20);
    while alive().len() < 3 {
        assert!(Instant::now() < patience, "two tools and a grandchild: {:?}", alive());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let ledger = crate::child::Ledger::new(home.path().join("children"));
    assert_eq!(ledger.sweep().expect("swept"), 0, "its host lives");
    host.kill().expect("killed");
    host.wait().expect("reaped");
    let until = Instant::now() + Duration::from_secs(5);
    while alive().len() > 1 {
        assert!(Instant::now() < until, "the tools themselves go with their host: {:?}", alive());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(ledger.sweep().expect("swept"), 1, "the grandchild in a session of its own");
    assert_eq!(alive(), [0; 0]);
    assert_eq!(std::fs::read_dir(home.path().join("children")).expect("a folder").count(), 0);
}
