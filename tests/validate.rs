//! `validate` from outside: what people and programs see, and the exit codes.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::world::World;

const GOOD: &str = r#"{
  "$schema": "https://spark-tool.dev/schema/spark-tool-v1.schema.json",
  "schemaVersion": 1,
  "id": "demo.hello",
  "version": "0.1.0",
  "name": "Hello",
  "description": "Greets somebody",
  "runtime": { "adapter": "process", "protocol": "spark-tool-process-v1", "command": "python3", "args": ["hello.py"] },
  "tools": [
    {
      "name": "say_hello",
      "title": "Say hello",
      "description": "Return a greeting",
      "inputSchema": { "type": "object", "properties": { "who": { "type": "string" } } },
      "risk": "read",
      "effect": "read",
      "idempotency": "safe"
    }
  ]
}
"#;

#[test]
fn a_good_manifest_is_valid_however_it_is_named() {
    let world = World::new().file("hello/spark-tool.json", GOOD);
    assert_snapshot!(world.spark(["validate", "hello"]), @"
    hello/spark-tool.json (demo.hello 0.1.0): valid
    [exit 0]
    ");
    assert_snapshot!(world.spark(["validate", "hello/spark-tool.json", "--strict", "--json"]), @r#"
    {"format":1,"command":"validate","ok":true,"data":{"manifests":[{"path":"hello/spark-tool.json","id":"demo.hello","version":"0.1.0","valid":true,"findings":[],"fixed":[]}],"summary":{"manifests":1,"valid":1,"errors":0,"warnings":0,"advice":0}}}
    [exit 0]
    "#);
    assert_snapshot!(world.spark(["-C", "hello", "validate"]), @"
    spark-tool.json (demo.hello 0.1.0): valid
    [exit 0]
    ");
    assert_snapshot!(world.spark_fed(["validate", "-"], GOOD.as_bytes()), @"
    - (demo.hello 0.1.0): valid
    [exit 0]
    ");
}

#[test]
fn every_finding_comes_with_its_lines() {
    let text = GOOD.replace(r#""args""#, r#""lifeCycle": "persistent", "args""#).replace(r#""risk": "read""#, r#""risk": "raed""#);
    let world = World::new().file("hello/spark-tool.json", text);
    assert_snapshot!(world.spark(["validate", "hello"]), @r#"
    spark::manifest::unknown_key

      ⚠ unknown key `lifeCycle` in `runtime`
       ╭─[hello/spark-tool.json:8:97]
     7 │   "description": "Greets somebody",
     8 │ … "protocol": "spark-tool-process-v1", "command": "python3", "lifeCycle": "persistent", "args": ["hello.py"] },
       ·                                                              ───────────
     9 │   "tools": [
       ╰────
      help: did you mean `lifecycle`?

    spark::manifest::unknown_word

      × `risk` can't be `raed`; allowed are `read`, `low-write`, `high-write` and `destructive`
        ╭─[hello/spark-tool.json:15:15]
     14 │       "inputSchema": { "type": "object", "properties": { "who": { "type": "string" } } },
     15 │       "risk": "raed",
        ·               ──────
     16 │       "effect": "read",
        ╰────
      help: did you mean `read`?

    hello/spark-tool.json (demo.hello 0.1.0): not valid
    1 error, 1 warning, 0 advice
    [exit 1]
    "#);
}

#[test]
fn a_warning_fails_the_strict_check_alone() {
    let world = World::new().file("hello/spark-tool.json", GOOD.replace("0.1.0", "00.1.0"));
    assert_eq!(world.output(["validate", "hello"]).status.code(), Some(0));
    assert_eq!(world.output(["validate", "hello", "--strict"]).status.code(), Some(1));
    let answer = world.json(["validate", "hello", "--strict", "--json"]);
    assert_eq!((&answer["ok"], &answer["data"]["manifests"][0]["valid"]), (&json!(false), &json!(false)));
    assert_eq!(answer["data"]["summary"], json!({"manifests": 1, "valid": 0, "errors": 0, "warnings": 1, "advice": 0}));
}

// H: J-1, J-2, J-4, J-5
#[test]
fn broken_text_is_a_finding_with_its_place() {
    let deep = "[".repeat(100_000);
    for (text, code, line, column) in [
        (b"{\n  \"id\": \"a\",\n}".as_slice(), "json_trailing_comma", 2, 12),
        (b"{ // x\n}", "json_comment", 1, 3),
        (b"{\"id\": 1, \"id\": 2}", "json_duplicate_key", 1, 11),
        (b"{\"id\": \"\xff\"}", "json_bad_encoding", 1, 9),
        (b"{} {}", "json_trailing_data", 1, 4),
        (b"", "json_empty", 1, 1),
        (b"[]", "wrong_type", 1, 1),
        (deep.as_bytes(), "json_too_deep", 1, 129),
    ] {
        let world = World::new().file("m.json", text);
        let output = world.output(["validate", "m.json", "--json"]);
        assert_eq!(output.status.code(), Some(1), "{code}");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let findings = answer["data"]["manifests"][0]["findings"].as_array().expect("a list");
        let found = findings.iter().find(|finding| finding["code"] == format!("spark::manifest::{code}"));
        let place = found.map(|finding| (&finding["line"], &finding["column"]));
        assert_eq!(place, Some((&json!(line), &json!(column))), "{code}");
    }
}

#[test]
fn a_path_that_is_not_there_is_exit_4_and_a_folder_without_manifest_is_a_finding() {
    let world = World::new().file("empty/readme", "").file("hello/spark-tool.json", GOOD);
    assert_snapshot!(world.spark(["validate", "hello", "nowhere", "no/where"]), @"
    -- stderr --
    spark::validate::unreadable

      × cannot read `nowhere` (No such file or directory (os error 2)), `no/where` (No such file or
      │ directory (os error 2))
      help: `validate` takes folders that hold a spark-tool.json, such files, and - for stdin
    [exit 4]
    ");
    assert_snapshot!(world.spark(["validate", "nowhere", "--json"]), @r#"
    {"format":1,"command":"validate","ok":false,"error":{"code":"spark::validate::unreadable","message":"cannot read `nowhere` (No such file or directory (os error 2))","help":"`validate` takes folders that hold a spark-tool.json, such files, and - for stdin","details":{"paths":[{"path":"nowhere","why":"No such file or directory (os error 2)"}]}}}
    [exit 4]
    "#);
    assert_snapshot!(world.spark(["validate", "empty", "hello"]), @"
    spark::manifest::missing_file

      × empty/spark-tool.json: the folder has no spark-tool.json
      help: `spark-tool init` writes a package; `validate --recursive` looks for packages in folders

    empty/spark-tool.json: not valid
    hello/spark-tool.json (demo.hello 0.1.0): valid
    2 manifests, 1 valid: 1 error, 0 warnings, 0 advice
    [exit 1]
    ");
}

// H: D-1, D-2
#[test]
fn no_text_of_a_manifest_reaches_a_terminal_as_it_is() {
    let text = GOOD.replace("demo.hello", r"demo\u001b[2J\u202e\u0007").replace(r#""read""#, "\"\u{202e}\u{9b}31m\"");
    let world = World::new().file("hello/spark-tool.json", text);
    for args in [&["validate", "hello"][..], &["validate", "hello", "--json"], &["validate", "hello", "--color", "always"]] {
        let shown = String::from_utf8(world.output(args).stdout).expect("text");
        let bad: Vec<char> = shown.chars().filter(|c| matches!(c, '\u{7}' | '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}')).collect();
        assert_eq!((bad, shown.contains("\u{1b}[2J")), (vec![], false), "{args:?}");
    }
}

#[test]
fn a_manifest_of_more_than_4_mib_is_a_finding() {
    let world = World::new().file("m.json", vec![b' '; 4 * 1024 * 1024 + 1]);
    let answer = world.json(["validate", "m.json", "--json"]);
    assert_eq!(answer["data"]["manifests"][0]["findings"][0]["code"], "spark::manifest::file_too_large");
}

/// Ten mistakes of ten kinds, and where each stands.
const TEN: &str = r#"{
  "$schema": "https://spark-tool.dev/schema/spark-tool-v1.schema.json",
  "schemaVersion": 1,
  "id": "Demo",
  "version": "1.0",
  "description": 7,
  "runtime": { "adapter": "process", "protocol": "spark-tool-process-v1", "command": "bin/run", "lifecycle": "forever" },
  "environment": [{ "name": "PATH", "title": "Path", "type": "string" }],
  "tools": [
    {
      "name": "Say",
      "title": "",
      "description": "x",
      "inputSchema": { "type": "object" },
      "risk": "read",
      "effect": "raed",
      "idempotency": "safe"
    }
  ]
}
"#;

const TEN_PLACES: [(&str, u64, u64); 10] = [
    ("missing_key", 1, 1),
    ("bad_package_id", 4, 9),
    ("bad_version", 5, 14),
    ("wrong_type", 6, 18),
    ("command_not_in_package", 7, 86),
    ("unknown_word", 7, 110),
    ("hijacking_variable", 8, 29),
    ("bad_tool_name", 11, 15),
    ("too_short", 12, 16),
    ("unknown_word", 16, 17),
];

#[test]
fn ten_mistakes_are_ten_findings_each_at_its_place() {
    let world = World::new().file("ten/spark-tool.json", TEN);
    let output = world.output(["validate", "ten", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let errors: Vec<_> = answer["data"]["manifests"][0]["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|finding| {
            let code = finding["code"].as_str().expect("a code").trim_start_matches("spark::manifest::").to_owned();
            (code, finding["line"].as_u64().expect("a line"), finding["column"].as_u64().expect("a column"))
        })
        .collect();
    let expected: Vec<_> = TEN_PLACES.iter().map(|(code, line, column)| ((*code).to_owned(), *line, *column)).collect();
    assert_eq!(errors, expected);
}

#[test]
fn the_same_findings_are_valid_sarif() {
    let world = World::new().file("ten/spark-tool.json", TEN);
    let output = world.output(["validate", "ten", "--format", "sarif"]);
    assert_eq!(output.status.code(), Some(1));
    let sarif: serde_sarif::sarif::Sarif = serde_json::from_slice(&output.stdout).expect("SARIF");
    let run = &sarif.runs[0];
    let rules = run.tool.driver.rules.as_ref().expect("rules");
    let places: Vec<_> = run
        .results
        .as_ref()
        .expect("results")
        .iter()
        .map(|result| {
            let index = usize::try_from(result.rule_index.expect("an index")).expect("small");
            assert_eq!(Some(&rules[index].id), result.rule_id.as_ref());
            let place = result.locations.as_ref().expect("a place")[0].physical_location.as_ref().expect("a file");
            assert_eq!(place.artifact_location.as_ref().expect("a file").uri.as_deref(), Some("ten/spark-tool.json"));
            let region = place.region.as_ref().expect("a region");
            (region.start_line.expect("a line"), region.start_column.expect("a column"))
        })
        .collect();
    assert_eq!(places, TEN_PLACES.map(|(_, line, column)| (i64::try_from(line).expect("small"), i64::try_from(column).expect("small"))));
}

#[test]
fn ci_systems_get_findings_in_their_own_words() {
    let text = GOOD.replace(r#""risk": "read""#, r#""risk": "100%,raed""#).replace("0.1.0", "00.1.0");
    let world = World::new().file("a,b/spark-tool.json", text).file("good/spark-tool.json", GOOD);
    assert_snapshot!(world.spark(["validate", "a,b", "good", "--format", "github"]), @"
    ::warning file=a%2Cb/spark-tool.json,line=5,endLine=5,col=14,endColumn=22,title=spark%3A%3Amanifest%3A%3Anot_semver::`version` `00.1.0` is not a SemVer 2 version%0Aregistries and other tools refuse it: no leading zeros, no empty parts between the dots
    ::error file=a%2Cb/spark-tool.json,line=15,endLine=15,col=15,endColumn=26,title=spark%3A%3Amanifest%3A%3Aunknown_word::`risk` can't be `100%25,raed`; allowed are `read`, `low-write`, `high-write` and `destructive`
    2 manifests, 1 valid: 1 error, 1 warning, 0 advice
    [exit 1]
    ");
    assert_snapshot!(world.spark(["validate", "a,b", "good", "--format", "junit"]), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites tests="2" failures="1" errors="0" skipped="0" time="0.000">
      <testsuite name="validate" tests="2" failures="1" errors="0" skipped="0" time="0.000">
        <testcase classname="validate" name="a,b/spark-tool.json" time="0.000"><failure type="findings" message="1 error, 1 warning">a,b/spark-tool.json:5:14: warning: `version` `00.1.0` is not a SemVer 2 version [spark::manifest::not_semver]
    a,b/spark-tool.json:15:15: error: `risk` can't be `100%,raed`; allowed are `read`, `low-write`, `high-write` and `destructive` [spark::manifest::unknown_word]</failure></testcase>
        <testcase classname="validate" name="good/spark-tool.json" time="0.000"></testcase>
      </testsuite>
    </testsuites>
    [exit 1]
    "#);
}

#[test]
fn a_whole_repository_is_checked_without_the_packages_of_others() {
    let world = World::new()
        .file("spark-tool.json", GOOD)
        .file("tools/b/spark-tool.json", GOOD)
        .file("tools/a/spark-tool.json", "{}")
        .file("tools/a/node_modules/x/spark-tool.json", "{}")
        .file(".git/spark-tool.json", "{}")
        .file("docs/readme", "");
    let answer = world.json(["validate", "-r", "--json"]);
    let paths: Vec<_> = answer["data"]["manifests"].as_array().expect("a list").iter().map(|manifest| manifest["path"].clone()).collect();
    assert_eq!(paths, ["spark-tool.json", "tools/a/spark-tool.json", "tools/b/spark-tool.json"]);
    assert_snapshot!(world.spark(["validate", "--recursive", "docs"]), @"
    spark::manifest::missing_file

      × docs: there is no package below the folder
      help: `spark-tool init` writes a package; `validate --recursive` looks for packages in folders

    docs: not valid
    1 error, 0 warnings, 0 advice
    [exit 1]
    ");
}

#[test]
fn fix_repairs_the_file_and_tells_what_it_did() {
    let text = format!("\u{feff}{}", GOOD.replace(r#""args""#, r#""lifeCycle": "persistent", "args""#));
    let world = World::new().file("hello/spark-tool.json", text);
    assert_snapshot!(world.spark(["validate", "hello", "--fix"]), @"
    hello/spark-tool.json: removed the byte order mark
    hello/spark-tool.json: renamed `lifeCycle` to `lifecycle`
    hello/spark-tool.json (demo.hello 0.1.0): valid
    [exit 0]
    ");
    let fixed = std::fs::read_to_string(world.folder().join("hello/spark-tool.json")).expect("text");
    assert_eq!(fixed, GOOD.replace(r#""args""#, r#""lifecycle": "persistent", "args""#));
    assert_eq!(world.json(["validate", "hello", "--fix", "--json"])["data"]["manifests"][0]["fixed"], json!([]));
    assert_snapshot!(world.spark(["validate", "-", "--fix", "--json"]), @r#"
    {"format":1,"command":"validate","ok":false,"error":{"code":"spark::validate::fix_stdin","message":"what comes on stdin can't be repaired","help":"--fix takes files and folders","details":{}}}
    [exit 2]
    "#);
}

#[test]
fn a_client_is_asked_what_it_would_make_of_the_tools() {
    let long = "say_hello_to_everybody_who_is_here_today_and_then_";
    let world = World::new().file("hello/spark-tool.json", GOOD.replace("say_hello", long));
    assert_eq!(world.output(["validate", "hello", "--strict"]).status.code(), Some(0));
    assert_eq!(world.output(["validate", "hello", "--client", "claude", "--strict"]).status.code(), Some(1));
    let answer = world.json(["validate", "hello", "--client", "claude,gemini", "--json"]);
    let findings = answer["data"]["manifests"][0]["findings"].as_array().expect("a list");
    let told: Vec<_> = findings.iter().map(|finding| (&finding["code"], &finding["pointer"])).collect();
    let limit = (&json!("spark::manifest::client_limit"), &json!("/tools/0/name"));
    assert_eq!(told, [limit, limit]);
}

#[cfg(unix)]
#[test]
fn watch_checks_again_at_every_change_until_it_is_interrupted() {
    let world = World::new().file("hello/spark-tool.json", GOOD);
    let mut child = world.command(["validate", "hello", "--watch", "--json"]).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("JSON") };
    assert_eq!(next()["ok"], true);
    let _world = world.file("hello/spark-tool.json", "{}");
    assert_eq!(next()["ok"], false);
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("sent");
    assert_eq!(next()["error"]["code"], "spark::interrupted");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

// H: A-12
#[test]
fn what_a_manifest_names_is_looked_for_in_its_package() {
    let manifest = r#"{ "$schema": "https://spark-tool.dev/schema/spark-tool-v1.schema.json", "schemaVersion": 1,
  "id": "demo.hello", "version": "0.1.0", "name": "Hello", "description": "Greets whoever is named",
  "runtime": { "adapter": "process", "protocol": "spark-tool-process-v1",
    "command": "./bin/hello", "workingDirectory": "bin" },
  "tools": [ { "name": "say_hello", "title": "Say hello", "description": "Return a greeting for a person",
    "inputSchema": { "type": "object" }, "risk": "read", "effect": "read", "idempotency": "safe" } ] }"#;
    let world = World::new().file("hello/spark-tool.json", manifest).file("draft.json", manifest);
    let codes = |path: &str| -> Vec<String> {
        let answer = world.json(["validate", path, "--json"]);
        let findings = answer["data"]["manifests"][0]["findings"].as_array().expect("findings").clone();
        findings.iter().map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
    };
    let missing = ["spark::manifest::command_missing", "spark::manifest::working_directory_missing"];
    assert_eq!(codes("hello"), missing);
    assert_eq!(codes("hello/spark-tool.json"), missing);
    assert_eq!(codes("draft.json"), [""; 0]);
}
