//! What `init` writes works as it is, in every language, with any text that a call can bring.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::world::World;

/// Texts that a careless reader or writer of JSON, or a shell, gets wrong.
fn hostile_texts() -> Vec<String> {
    let controls: String = ('\u{1}'..='\u{1f}').collect();
    [
        r#"quote " backslash \ slash / "#,
        r"\\ \n \u0041 \ud83d %s %d \",
        "line\nline\r\n\ttab\n\n",
        &controls,
        "\u{7f}\u{80}\u{9f}\u{2028}\u{2029}\u{feff}\u{ffff}\u{10ffff}",
        "é李🐙👩‍👩‍👧 Łódź",
        "$(touch pwned) `touch pwned` $HOME ${HOME} ; touch pwned & | < > ( ) { } [ ] * ? ~ ! # ' x",
        "-n",
        "-e \\c",
        "  a  b  ",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(["\"".repeat(2_000), "\\".repeat(2_001), "x\n".repeat(2_000), "🐙".repeat(10_000)])
    .collect()
}

/// Greets each text, and notes it: what comes back is what was sent.
fn hostile_cases() -> Value {
    let cases = hostile_texts().into_iter().flat_map(|text| {
        let text = text.chars().take(200).collect::<String>();
        let greeting = format!("こんにちは, {text}!");
        [
            json!({"tool": "greet", "input": {"name": text, "language": "ja"}, "expect": {"equals": {"greeting": greeting}}}),
            json!({"tool": "add_note", "input": {"text": text}, "expect": {"includes": {"text": text}}}),
        ]
    });
    let long = hostile_texts().into_iter().map(|text| {
        let text = text.chars().take(4_000).collect::<String>();
        json!({"tool": "add_note", "input": {"text": text}, "expect": {"includes": {"text": text}}})
    });
    cases.chain(long).collect()
}

/// Scaffolds a package, runs its cases as it is, then by `command` as a process that is kept for all of ours.
fn check(template: &str, command: &[&str]) {
    let world = World::new();
    let made = world.json(["init", "made", "--template", template, "--id", "acme.made", "--name", "\"Made\" \\", "--json"]);
    assert_eq!(made["ok"], true, "{made}");
    assert_eq!(passed(&world), 6, "{template}");
    let folder = world.folder().join("made");
    fs::write(folder.join("tests/hostile.case.json"), hostile_cases().to_string()).expect("written");
    run_by(&folder.join("spark-tool.json"), command);
    assert_eq!(passed(&world), 6 + 3 * hostile_texts().len(), "{template} {command:?}");
    assert!(!folder.join("pwned").exists());
    check_torture(&world, template);
}

/// Whatever a host may do, the process stands it. A greeting takes no name of 1 MiB.
fn check_torture(world: &World, template: &str) {
    let answer = world.json(["test", "made", "--torture", "--tool", "greet", "--input", r#"{"name":"Ada"}"#, "--yes", "--json"]);
    let cases = answer["data"]["cases"].as_array().cloned().unwrap_or_default();
    assert_eq!((answer["ok"] == true, cases.len()), (true, 8), "{template}: {answer}");
    for case in cases {
        let expected = if case["name"] == "1 MiB input" { "skipped" } else { "passed" };
        assert_eq!((&case["status"], &case["source"]), (&json!(expected), &json!("torture")), "{template}: {case}");
    }
}

/// Returns how many cases there are, all of which pass.
fn passed(world: &World) -> usize {
    let answer = world.json(["test", "made", "--yes", "--json"]);
    let cases = answer["data"]["cases"].as_array().cloned().unwrap_or_default();
    let failed: Vec<_> = cases.iter().filter(|case| case["status"] != "passed").collect();
    assert!(answer["ok"] == true && failed.is_empty(), "{failed:?} {}", answer["error"]);
    cases.len()
}

fn run_by(manifest: &Path, command: &[&str]) {
    let mut document: Value = serde_json::from_slice(&fs::read(manifest).expect("a manifest")).expect("JSON");
    let runtime = &mut document["runtime"];
    runtime["lifecycle"] = "persistent".into();
    if let Some((program, arguments)) = command.split_first() {
        let script = runtime["args"].as_array().expect("a list").clone();
        runtime["command"] = (*program).into();
        runtime["args"] = arguments.iter().map(|argument| Value::from(*argument)).chain(script).collect();
    }
    fs::write(manifest, document.to_string()).expect("written");
}

#[test]
fn the_python_template_works() {
    check("python", &[]);
}

#[test]
fn the_node_template_works() {
    check("node", &[]);
}

#[cfg(unix)]
#[test]
fn the_shell_template_works_in_every_shell() {
    for command in [&["dash"][..], &["bash"], &["busybox", "sh"]] {
        check("shell", command);
    }
}
