//! `call` from outside: what is refused and why, how an input is given, many calls at once, the trace of each.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::fake::{code, enabled, fed, folder, manifest, run};
use crate::world::World;

const WORK: &str = "acme.fake/work";

fn persistent() -> World {
    let mut manifest = manifest(&["ok"]);
    manifest["runtime"]["lifecycle"] = json!("persistent");
    enabled(&manifest)
}

/// The status and the code of every trace row, the oldest first.
fn traces(world: &World) -> Vec<(String, Value)> {
    let (_, answer) = run(world, &["trace", "list"]);
    let rows = answer["data"]["traces"].as_array().expect("a list").iter().rev();
    rows.map(|row| (row["status"].as_str().expect("a word").to_owned(), row["errorCode"].clone())).collect()
}

#[test]
fn what_cannot_be_called_says_why_and_what_is_near() {
    let world = folder(&manifest(&["ok"]));
    assert_eq!(run(&world, &["install", "fake", "--yes"]).0, 0);
    let check = |name: &str, exit: i32, expected: &str, help: &str| {
        let (found, answer) = run(&world, &["call", name]);
        assert_eq!((found, code(&answer)), (exit, expected), "{name}");
        assert!(answer["error"]["help"].as_str().is_some_and(|text| text.contains(help)), "{answer}");
    };
    check(WORK, 3, "spark::call::not_enabled", "spark-tool enable acme.fake");
    assert_eq!(run(&world, &["enable", "acme.fake", "--yes"]).0, 0);
    check("acme.fakee/work", 4, "spark::package::not_installed", "`acme.fake`");
    check("acme.fake/wrk", 4, "spark::call::unknown_tool", "`work`");
    check("work", 2, "spark::call::bad_name", "PACKAGE/TOOL");
}

#[test]
fn an_input_is_given_in_parts_or_whole() {
    let world = enabled(&manifest(&["ok"])).file("text", "from a file").file("whole.json", r#"{"echo": "whole"}"#);
    for (words, expected) in [
        (&["echo=some text"][..], json!("some text")),
        (&[r#"echo:={"n": [1, null]}"#], json!({"n": [1, null]})),
        (&["echo=@text"], json!("from a file")),
        (&["--input", r#"{"echo": 1.5}"#], json!(1.5)),
        (&["--input", "@whole.json"], json!("whole")),
        (&["--input", "@whole.json", "echo=over"], json!("over")),
    ] {
        let (exit, answer) = run(&world, &[&["call", WORK], words].concat());
        assert_eq!((exit, &answer["data"]["result"]["echo"]), (0, &expected), "{words:?}");
    }
    let (exit, answers) = fed(&world, &["call", WORK, "--input", "-"], r#"{"echo": "fed"}"#);
    assert_eq!((exit, &answers[0]["data"]["result"]["echo"]), (0, &json!("fed")));
}

#[test]
fn an_input_that_breaks_the_schema_never_comes_to_the_tool() {
    let world = enabled(&manifest(&["exit-start", "3"]));
    let (exit, answer) = run(&world, &["call", WORK, "count=0", "text:=1"]);
    let error = &answer["data"]["error"];
    assert_eq!((exit, &error["stage"], &error["code"]), (1, &json!("schema"), &json!("spark::call::invalid_input")));
    let pointers: Vec<_> = error["problems"].as_array().expect("a list").iter().map(|problem| &problem["pointer"]).collect();
    assert_eq!(pointers, ["/count", "/text"]);
}

#[test]
fn a_plan_shows_the_call_and_starts_nothing() {
    let world = enabled(&manifest(&["exit-start", "3"]));
    let (exit, answer) = run(&world, &["call", "acme.fake/change", "count=2", "--plan"]);
    assert_eq!((exit, &answer["data"]["input"], &answer["data"]["asks"]), (0, &json!({"count": 2}), &json!(true)));
    assert_eq!(run(&world, &["call", WORK, "count=0", "--plan"]).0, 1);
    assert_eq!(traces(&world), []);
}

// H: E-1
#[cfg(unix)]
#[test]
fn a_list_of_calls_ends_when_nobody_reads_it_any_more() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;

    let world = persistent();
    let mut command = world.command(["call", WORK, "--each", "-", "--parallel", "8"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let (mut input, output) = (child.stdin.take().expect("it is piped"), child.stdout.take().expect("it is piped"));
    let feeder = std::thread::spawn(move || while input.write_all(b"{\"echo\": 1}\n").is_ok() {});
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).expect("an outcome");
    // The reader is gone now, and the inputs never end.
    let done = child.wait_with_output().expect("it ends by itself");
    feeder.join().expect("no panic");
    assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn a_call_waits_for_no_other_writer_of_its_trace() {
    let world = enabled(&manifest(&["ok"]));
    let blocker = rusqlite::Connection::open(world.home().join("spark-tool.db")).expect("the store");
    blocker.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
    let (exit, answer) = run(&world, &["call", WORK, "echo=x"]);
    assert_eq!((exit, &answer["data"]["result"]["echo"]), (0, &json!("x")));
    // Two seconds for the row, and none for its end.
    assert!(answer["data"]["meta"]["durationMs"].as_u64().is_some_and(|ms| ms < 20_000), "{answer}");
}

// H: P-5
#[cfg(target_os = "linux")]
#[test]
fn a_child_hears_every_signal() {
    let world = enabled(&manifest(&["blocked"]));
    let (exit, answer) = run(&world, &["call", WORK]);
    assert_eq!((exit, &answer["data"]["result"]), (0, &json!("0000000000000000")));
}

#[test]
fn every_call_leaves_a_row_however_it_ended() {
    let world = enabled(&manifest(&["ok"]));
    for (words, exit, status, expected) in [
        (&["call", WORK, "echo=1"][..], 0, "ok", Value::Null),
        (&["call", WORK, "--input", r#"{"error": "NO_MONEY"}"#], 1, "error", json!("NO_MONEY")),
        (&["call", WORK, "count=0"], 1, "error", json!("spark::call::invalid_input")),
        (&["call", WORK, "--input", r#"{"exit": 3}"#], 6, "error", json!("spark::process::exited")),
        (&["call", WORK, "hang:=true", "--timeout", "300ms"], 6, "timeout", json!("spark::process::timed_out")),
        (&["call", "acme.fake/change", "echo=1"], 3, "denied", json!("spark::consent::required")),
        (&["call", "acme.fake/change", "echo=1", "--yes"], 0, "ok", Value::Null),
        (&["call", "acme.fake/nothing"], 4, "error", json!("spark::call::unknown_tool")),
    ] {
        let (found, answer) = run(&world, words);
        assert_eq!(found, exit, "{words:?}: {answer}");
        let told = if exit == 1 { &answer["data"]["error"]["code"] } else { &answer["error"]["code"] };
        assert_eq!(told, &expected, "{words:?}");
        assert_eq!(traces(&world).pop(), Some((status.to_owned(), expected)), "{words:?}");
    }
    assert_eq!(run(&world, &["disable", "acme.fake"]).0, 0);
    assert_eq!(run(&world, &["call", WORK]).0, 3);
    let rows = traces(&world);
    assert_eq!((rows.len(), rows.last()), (9, Some(&("denied".to_owned(), json!("spark::call::not_enabled")))));
}

#[test]
fn a_fault_of_the_child_comes_with_what_it_wrote_last() {
    let (exit, answer) = run(&enabled(&manifest(&["exit-call", "7"])), &["call", WORK]);
    let details = &answer["error"]["details"];
    assert_eq!((exit, &details["exitCode"]), (6, &json!(7)));
    assert_eq!((&details["phase"], &details["stderrTail"]), (&json!("call"), &json!("Traceback: it broke\nKeyError: 'x'\n")));
}

#[test]
fn a_frame_of_exactly_the_limit_works() {
    let limit = 4 * 1024 * 1024;
    let (exit, answer) = run(&enabled(&manifest(&["big", &limit.to_string()])), &["call", WORK]);
    let bytes = answer["data"]["meta"]["bytes"].as_u64().expect("a number");
    assert!(exit == 0 && (limit - 1_000..limit).contains(&bytes), "{exit} {bytes}");
}

/// What a list of calls answered: the echo or the code of each, and the processes that answered.
fn each(world: &World, words: &[&str], inputs: impl Iterator<Item = Value>) -> (i32, Vec<Value>, Vec<Value>) {
    let mut lines = String::new();
    for input in inputs {
        writeln!(lines, "{input}").expect("a String takes any text");
    }
    let (exit, answers) = fed(world, &[&["call", WORK, "--each", "-"], words].concat(), &lines);
    let mut processes: Vec<Value> = Vec::new();
    let echoes = answers.iter().map(|answer| {
        let (result, error) = (&answer["data"]["result"], &answer["data"]["error"]);
        if result.is_null() {
            return error["code"].clone();
        }
        if !processes.contains(&result["pid"]) {
            processes.push(result["pid"].clone());
        }
        result["echo"].clone()
    });
    (exit, echoes.collect(), processes)
}

#[test]
fn two_hundred_at_once_share_one_process_and_each_has_its_own_answer() {
    // Later ones answer earlier.
    let inputs = (0..200).map(|number| json!({"echo": number, "sleepMs": (200 - number) % 50}));
    let (exit, answers, processes) = each(&persistent(), &["--parallel", "200"], inputs);
    assert_eq!((exit, answers, processes.len()), (0, (0..200).map(Value::from).collect(), 1));
}

/// The others are under way when one runs out of time.
#[test]
fn one_that_hangs_takes_no_other_call_with_it() {
    let input = |number: u32| if number == 5 { json!({"hang": true}) } else { json!({"echo": number, "sleepMs": 100}) };
    let (exit, answers, _) = each(&persistent(), &["--parallel", "4", "--timeout", "2s"], (0..100).map(input));
    let expected = (0..100).map(|number| if number == 5 { json!("spark::process::timed_out") } else { json!(number) });
    assert_eq!((exit, answers), (6, expected.collect()));
}

/// Says whether a process works in a folder of `world`, as every child of a package does and what it leaves behind.
#[cfg(target_os = "linux")]
fn is_alive(world: &World) -> bool {
    let home = world.home().canonicalize().expect("it is there");
    let processes = std::fs::read_dir("/proc").expect("a folder").flatten();
    processes.filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok()).any(|folder| folder.starts_with(&home))
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_stands_and_nothing_is_alive_afterwards() {
    for (words, exit) in [
        (&["ignore-term"][..], 0),
        (&["answer-and-exit", "3"], 0),
        (&["grandchild", "plain"], 0),
        (&["grandchild", "setsid"], 0),
        (&["hang-ignore-term"], 6),
        (&["noise", "banner"], 6),
        (&["close-stdout"], 6),
    ] {
        let world = enabled(&manifest(words));
        let timeout = if exit == 0 { "1m" } else { "1s" };
        assert_eq!(run(&world, &["call", WORK, "echo=1", "--timeout", timeout]).0, exit, "{words:?}");
        assert!(!is_alive(&world), "{words:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_host_that_is_killed_takes_its_child_with_it() {
    use std::time::{Duration, Instant};

    let world = enabled(&manifest(&["hang-ignore-term"]));
    let wait_until = |expected: bool| {
        let start = Instant::now();
        while is_alive(&world) != expected {
            assert!(start.elapsed() < crate::world::PATIENCE, "alive is not {expected}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let mut host = world.command(["call", WORK]).stdout(std::process::Stdio::null()).spawn().expect("started");
    wait_until(true);
    host.kill().expect("killed");
    host.wait().expect("ended");
    wait_until(false);
}

// H: P-7
#[cfg(target_os = "linux")]
#[test]
fn the_next_command_of_any_kind_ends_what_a_killed_host_left() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;

    let mut manifest = manifest(&["grandchild", "setsid"]);
    manifest["runtime"]["lifecycle"] = json!("persistent");
    let world = enabled(&manifest);
    for words in [&["list"][..], &["trace", "list"], &["disable", "acme.fake"], &["validate", "fake"]] {
        run(&world, &["enable", "acme.fake", "--yes"]);
        let mut host = world.command(["call", WORK, "--each", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
        host.stdin.as_mut().expect("it is piped").write_all(b"{\"echo\": 1}\n").expect("it reads");
        let mut line = String::new();
        BufReader::new(host.stdout.take().expect("it is piped")).read_line(&mut line).expect("an outcome");
        host.kill().expect("killed");
        host.wait().expect("ended");
        assert!(is_alive(&world), "the grandchild has a session of its own");
        run(&world, words);
        assert!(!is_alive(&world), "{words:?}");
        let (_, answer) = run(&world, &["trace", "list", "--status", "running"]);
        assert_eq!(answer["data"]["total"], 0, "{words:?}");
    }
}

#[test]
fn people_read_why_a_tool_broke_and_errors_are_no_results() {
    let world = enabled(&manifest(&["ok"]));
    let call = |words: &[&str]| {
        let output = world.output([&["call", WORK], words].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (exit, stdout, stderr) = call(&["error=NO_SUCH_CITY"]);
    assert_eq!((exit, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("NO_SUCH_CITY: as asked"), "{stderr}");
    let world = enabled(&manifest(&["exit-call", "3"]));
    let output = world.output(["call", WORK, "stderr=dying now"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(6), &b""[..]), "{stderr}");
    assert!(stderr.contains("  stderr:\n    "), "{stderr}");
}

/// The manifest of `version`, with a plain required variable for each name.
fn versioned(version: &str, names: &[&str]) -> Value {
    let mut manifest = manifest(&["ok"]);
    manifest["version"] = json!(version);
    manifest["environment"] = names.iter().map(|name| json!({"name": name, "title": name, "type": "string", "required": true})).collect();
    manifest["permissions"] = json!({"declaredOsEffects": ["network"]});
    manifest
}

#[test]
fn what_an_update_needs_is_set_before_it_with_the_command_that_is_named() {
    let world = folder(&versioned("1.0.0", &[]));
    for words in [&["install", "fake", "--yes"][..], &["grant", "acme.fake", "--all-declared", "--yes"], &["enable", "acme.fake", "--yes"]]
    {
        assert_eq!(run(&world, words).0, 0, "{words:?}");
    }
    let world = world.file("fake/spark-tool.json", versioned("1.1.0", &["REGION", "CITY"]).to_string());
    assert_eq!(run(&world, &["install", "fake", "--yes"]).0, 0);
    let (exit, answer) = run(&world, &["enable", "acme.fake", "--yes"]);
    let gates = answer["error"]["details"]["gates"].as_array().expect("gates").iter();
    let commands: Vec<&Value> = gates.map(|gate| &gate["command"]).filter(|command| !command.is_null()).collect();
    assert_eq!((exit, commands), (3, vec![&json!("spark-tool env set acme.fake@1.1.0 REGION=… CITY=…")]));
    // For one tool of two it isn't complete.
    assert_eq!(run(&world, &["env", "set", "acme.fake", "REGION=eu", "CITY=x", "--tool", "work"]).0, 0);
    assert_eq!(run(&world, &["enable", "acme.fake", "--yes"]).0, 3);
    assert_eq!(run(&world, &["env", "set", "acme.fake", "REGION=eu", "CITY=x"]).0, 0);
    assert_eq!(code(&run(&world, &["env", "set", "acme.fake@9.9.9", "REGION=eu"]).1), "spark::package::no_such_version");
    assert_eq!(run(&world, &["env", "unset", "acme.fake", "REGOIN"]).0, 4);
    assert_eq!(run(&world, &["enable", "acme.fake", "--yes"]).0, 0);
}

#[test]
fn what_is_taken_away_is_taken_from_what_runs_and_from_every_other_version() {
    let world = folder(&versioned("1.0.0", &[]));
    for words in [&["install", "fake", "--yes"][..], &["grant", "acme.fake", "--all-declared", "--yes"], &["enable", "acme.fake", "--yes"]]
    {
        assert_eq!(run(&world, words).0, 0, "{words:?}");
    }
    let world = world.file("fake/spark-tool.json", versioned("1.1.0", &[]).to_string());
    assert_eq!(run(&world, &["install", "fake", "--yes"]).0, 0);
    let (exit, answer) = run(&world, &["deny", "acme.fake", "network"]);
    assert_eq!((exit, &answer["data"]["version"], &answer["data"]["disabled"]), (0, &json!("1.0.0"), &json!(true)));
    let (_, answer) = run(&world, &["permissions", "acme.fake@1.1.0"]);
    assert_eq!(answer["data"]["permissions"][0]["state"], "denied");
    // What only another version asks for can be taken from it, too.
    let mut newest = versioned("1.2.0", &[]);
    newest["permissions"] = json!({"declaredOsEffects": ["filesystem.read"]});
    let world = world.file("fake/spark-tool.json", newest.to_string());
    assert_eq!(run(&world, &["install", "fake", "--yes"]).0, 0);
    let (exit, answer) = run(&world, &["deny", "acme.fake", "filesystem.read"]);
    assert_eq!((exit, &answer["data"]["version"], &answer["data"]["changed"]), (0, &json!("1.2.0"), &json!(["filesystem.read"])));
    assert_eq!(run(&world, &["deny", "acme.fake", "no.such"]).0, 4);
}

// H: D-2
#[test]
fn what_people_read_of_a_result_is_json_too() {
    let world = enabled(&manifest(&["ok"]));
    let input = json!({"echo": ["\u{1b}[31m\u{202e}\u{9b}", {"\u{e0041}": 1}]});
    for words in [&["--input"][..], &["--plan", "--input"]] {
        let output = world.output([&["call", WORK], words, &[&input.to_string()]].concat());
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\u{e0041}']), "{text:?}");
        if words.len() == 1 {
            assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON")["echo"], input["echo"]);
        }
    }
}
