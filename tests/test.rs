//! `test` from outside: verdicts, exit codes, consent, variables, golden results.

use std::fs;

use serde_json::{Value, json};

use crate::fake::{code, folder, manifest, run};
use crate::world::World;

/// A world whose package is in the mode of `words`, with one file of cases.
fn world(words: &[&str], cases: &Value) -> World {
    folder(&manifest(words)).file("fake/tests/all.case.json", cases.to_string())
}

/// One case that passes, one that gets something else, one that isn't reached by `--fail-fast`.
fn three() -> Value {
    json!([
        {"name": "right", "tool": "work", "input": {"echo": 1}, "expect": {"includes": {"echo": 1}}},
        {"name": "wrong", "tool": "work", "input": {"echo": 1}, "expect": {"includes": {"echo": 2}}},
        {"name": "last", "tool": "work", "input": {"error": "NOPE"}, "expect": {"error": "NOPE"}},
    ])
}

fn statuses(answer: &Value) -> Vec<(&str, &str)> {
    let cases = answer["data"]["cases"].as_array().expect("cases");
    cases.iter().map(|case| (case["name"].as_str().expect("a name"), case["status"].as_str().expect("a word"))).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn cases_from_files_pass_or_fail_with_their_problems() {
    let world = world(&["ok"], &three());
    let (exit, answer) = run(&world, &["test", "fake", "--yes"]);
    assert_eq!((exit, &answer["ok"]), (1, &json!(false)));
    assert_eq!(statuses(&answer), [("right", "passed"), ("wrong", "failed"), ("last", "passed")]);
    let data = &answer["data"];
    assert_eq!(data["cases"][1]["problems"][0]["pointer"], "/echo");
    assert_eq!(data["summary"], json!({"passed": 2, "failed": 1, "broke": 0, "skipped": 0}));
    assert_eq!((keys(data), keys(&data["package"])), (vec!["package", "cases", "summary"], vec!["id", "version", "path"]));
    let expected = "name source tool status input result error problems logs logsDropped stderrTail durationMs";
    assert_eq!(keys(&data["cases"][0]).join(" "), expected);
    let (exit, answer) = run(&world, &["test", "fake", "--yes", "--case", "r*"]);
    assert_eq!((exit, statuses(&answer)), (0, vec![("right", "passed")]));
    let (exit, answer) = run(&world, &["test", "fake", "--yes", "--case", "x*"]);
    assert_eq!((exit, code(&answer)), (2, "spark::test::no_such_case"));
}

#[test]
fn the_first_that_does_not_pass_ends_the_run_if_asked() {
    let (exit, answer) = run(&world(&["ok"], &three()), &["test", "fake", "--yes", "--fail-fast"]);
    assert_eq!((exit, statuses(&answer)), (1, vec![("right", "passed"), ("wrong", "failed"), ("last", "skipped")]));
}

#[test]
fn a_list_starts_nothing_and_asks_nothing() {
    let (exit, answer) = run(&world(&["exit-start", "3"], &three()), &["test", "fake", "--list"]);
    assert_eq!((exit, answer["data"]["cases"].as_array().map(Vec::len)), (0, Some(3)));
}

#[test]
fn one_call_of_the_flags_shows_what_the_tool_said() {
    let input = r#"{"echo": [1], "log": "a log", "stderr": "an error line"}"#;
    let (exit, answer) = run(&folder(&manifest(&["ok"])), &["test", "fake", "--yes", "--tool", "work", "--input", input]);
    let case = &answer["data"]["cases"][0];
    assert_eq!((exit, &case["source"], &case["result"]["echo"]), (0, &json!("flags"), &json!([1])));
    assert_eq!((&case["logs"], &case["stderrTail"]), (&json!([{"level": "info", "message": "a log"}]), &json!("an error line\n")));
}

/// Each fault of a child has its own code, comes with what the child wrote last, and is exit 6.
#[test]
fn a_tool_that_breaks_is_exit_6_with_its_own_code() {
    let too_large = (4 * 1024 * 1024 + 1).to_string();
    for (words, expected, tail) in [
        (&["noise", "banner"][..], "stray_output", "said\n"),
        (&["big", &too_large], "frame_too_large", "said\n"),
        (&["hang"], "timed_out", "said\n"),
        (&["silent"], "timed_out", ""),
        (&["exit-start", "3"], "exited", "cannot find its configuration\nsecond line\n"),
        (&["exit-call", "3"], "exited", "said\nTraceback: it broke\nKeyError: 'x'\n"),
        #[cfg(unix)]
        (&["signal-call", "9"], "killed", "said\nabout to crash\nnow\n"),
    ] {
        let world = world(words, &json!({"tool": "work", "input": {"stderr": "said"}}));
        // Those that never answer are not waited for as long as the others may take on a busy machine.
        let timeout = if expected == "timed_out" { "1s" } else { "1m" };
        let (exit, answer) = run(&world, &["test", "fake", "--yes", "--timeout", timeout]);
        let case = &answer["data"]["cases"][0];
        assert_eq!((exit, &case["status"]), (6, &json!("broke")), "{words:?}");
        assert_eq!(case["error"]["code"], format!("spark::process::{expected}"), "{words:?}");
        assert_eq!(case["stderrTail"], tail, "{words:?}");
    }
}

#[test]
fn nothing_to_test_is_usage_and_nobody_to_ask_is_exit_3() {
    let (exit, answer) = run(&folder(&manifest(&["ok"])), &["test", "fake", "--yes"]);
    assert_eq!((exit, code(&answer)), (2, "spark::test::no_cases"));
    let (exit, answer) = run(&world(&["ok"], &three()), &["test", "fake"]);
    assert_eq!((exit, code(&answer)), (3, "spark::consent::required"));
}

#[test]
fn a_required_variable_comes_from_the_caller_by_name_only() {
    let mut manifest = manifest(&["env"]);
    manifest["environment"] = json!([{"name": "API_TOKEN", "title": "Token", "type": "string", "required": true, "secret": true}]);
    let world = folder(&manifest).file("fake/tests/a.case.json", r#"{"tool": "work"}"#).with("API_TOKEN", "hush-hush-hush");
    let (exit, answer) = run(&world, &["test", "fake", "--yes"]);
    assert_eq!((exit, code(&answer)), (3, "spark::env::missing"));
    let (exit, answer) = run(&world, &["test", "fake", "--yes", "-e", "API_TOKEN"]);
    let given = &answer["data"]["cases"][0]["result"]["API_TOKEN"];
    assert!(exit == 0 && given.is_string() && given != "hush-hush-hush", "given and masked: {answer}");
}

#[test]
fn an_update_writes_what_came_and_then_it_passes() {
    let cases = json!([
        {"name": "kept", "tool": "work", "input": {"echo": 1}, "expect": {"includes": {"echo": 1}}},
        {"name": "new", "tool": "work", "input": {"echo": 1, "error": "NOPE"}, "expect": {"error": "OTHER"}},
    ]);
    let world = world(&["ok"], &cases);
    assert_eq!(run(&world, &["test", "fake", "--yes"]).0, 1);
    run(&world, &["test", "fake", "--yes", "--update"]);
    let text = fs::read_to_string(world.folder().join("fake/tests/all.case.json")).expect("the file");
    let mut expected = cases;
    expected[1]["expect"]["error"] = json!("NOPE");
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), expected);
    assert_eq!(run(&world, &["test", "fake", "--yes"]).0, 0);
}

#[test]
fn junit_tells_failed_from_broke() {
    let mut cases = three();
    cases[2] = json!({"name": "<a> & \"b\"", "tool": "work", "input": {"exit": 3}});
    let world = world(&["ok"], &cases);
    let output = world.output(["test", "fake", "--yes", "--format", "junit"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(6));
    assert!(text.starts_with("<?xml") && text.contains(r#"tests="3" failures="1" errors="1""#), "{text}");
    assert!(text.contains("&lt;a&gt; &amp; ") && text.contains("spark::process::exited") && text.contains("told to exit"), "{text}");
    assert_eq!(balance(&text), Vec::<&str>::new(), "{text}");
}

/// Returns the elements of `xml` that are open at its end.
fn balance(xml: &str) -> Vec<&str> {
    let mut open = Vec::new();
    for tag in xml.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        let name = tag.split_whitespace().next().expect("a tag has a name");
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{xml}"),
            None if tag.ends_with(['/', '?']) => {}
            None => open.push(name),
        }
    }
    open
}

#[test]
fn a_list_of_cases_misses_no_value() {
    let mut manifest = manifest(&["ok"]);
    manifest["environment"] = json!([{"name": "REGION", "title": "Region", "type": "string", "required": true}]);
    let world = folder(&manifest).file("fake/tests/one.case.json", r#"{"tool": "work", "input": {}}"#);
    assert_eq!(run(&world, &["test", "fake", "--list"]).0, 0);
    assert_eq!(code(&run(&world, &["test", "fake", "--yes"]).1), "spark::env::missing");
}

#[cfg(unix)]
#[test]
fn watch_runs_again_at_every_change_and_asks_only_about_something_new() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    let case = |expected: u32| format!(r#"{{"tool": "work", "input": {{"echo": 1}}, "expect": {{"includes": {{"echo": {expected}}}}}}}"#);
    let world = folder(&manifest(&["ok"])).file("fake/tests/one.case.json", case(1));
    let mut child = world.command(["test", "fake", "--watch", "--yes", "--json"]).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("JSON") };
    assert_eq!(next()["data"]["summary"]["passed"], 1);
    let world = world.file("fake/tests/one.case.json", case(2));
    assert_eq!(next()["data"]["summary"]["failed"], 1);
    let world = world.file("fake/spark-tool.json", "{");
    assert_eq!(next()["ok"], false);
    let _world = world.file("fake/spark-tool.json", manifest(&["ok"]).to_string());
    assert_eq!(next()["data"]["summary"]["failed"], 1);
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("sent");
    assert_eq!(next()["error"]["code"], "spark::interrupted");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

#[test]
fn what_cannot_be_watched_is_refused_with_its_reason() {
    let world = folder(&manifest(&["ok"])).file("fake/tests/one.case.json", r#"{"tool": "work", "input": {}}"#);
    for words in [&["test", "fake", "--watch", "--update"][..], &["test", "acme.fake", "--watch"], &["test", "fake", "--watch", "--list"]] {
        assert_eq!(run(&world, words).0, 2, "{words:?}");
    }
    assert_eq!(code(&run(&world, &["test", "fake", "--watch"]).1), "spark::consent::required");
}
