//! `validate` from outside: what people and programs see, and the exit codes.

use insta::assert_snapshot;
use serde_json::json;

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
    {"format":1,"command":"validate","ok":true,"data":{"manifests":[{"path":"hello/spark-tool.json","id":"demo.hello","version":"0.1.0","valid":true,"findings":[]}],"summary":{"manifests":1,"valid":1,"errors":0,"warnings":0,"advice":0}}}
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
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
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
