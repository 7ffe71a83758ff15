//! A package around the test child of `tools/fake_tool.rs`, and how the commands that run it are asked.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::World;

/// Returns the manifest of `acme.fake`, whose child is the test child in the mode that `words` name. Its tools: `work`,
/// which only reads, and `change`, which asks first.
pub(crate) fn manifest(words: &[&str]) -> Value {
    let tool = |name: &str, risk: &str, effect: &str| {
        json!({
            "name": name, "title": name, "description": "Do what the input says",
            "inputSchema": {"type": "object", "properties": {
                "echo": {"description": "What comes back"},
                "count": {"type": "integer", "minimum": 1, "description": "How many"},
                "text": {"type": "string", "description": "What to say"},
            }},
            "risk": risk, "effect": effect, "idempotency": "safe",
        })
    };
    json!({
        "$schema": "https://spark-tool.dev/schema/spark-tool-v1.schema.json",
        "schemaVersion": 1, "id": "acme.fake", "version": "1.0.0", "name": "Fake", "description": "Does what it is told",
        "runtime": {
            "adapter": "process", "protocol": "spark-tool-process-v1", "command": env!("CARGO_BIN_EXE_fake-tool"), "args": words,
        },
        "tools": [tool("work", "read", "read"), tool("change", "low-write", "update")],
    })
}

/// Returns a world with that package as the folder `fake`.
pub(crate) fn folder(manifest: &Value) -> World {
    World::new().file("fake/spark-tool.json", manifest.to_string())
}

/// Returns a world in which that package is installed and enabled.
pub(crate) fn enabled(manifest: &Value) -> World {
    let world = folder(manifest);
    for words in [["install", "fake", "--yes"], ["enable", "acme.fake", "--yes"]] {
        let (exit, answer) = run(&world, &words);
        assert_eq!(exit, 0, "{answer}");
    }
    world
}

/// The exit code and the answer of a command, its shape checked.
pub(crate) fn run(world: &World, words: &[&str]) -> (i32, Value) {
    let (exit, mut answers) = fed(world, words, "");
    assert_eq!(answers.len(), 1, "one object: {words:?}");
    (exit, answers.remove(0))
}

/// As [`run`], for a command that reads `input` and answers with one object a line.
pub(crate) fn fed(world: &World, words: &[&str], input: &str) -> (i32, Vec<Value>) {
    let mut command = world.command(words.iter().chain(&["--json"]));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    // A program that doesn't read to the end closes the pipe, which is its right.
    drop(stdin.write_all(input.as_bytes()));
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    answers.iter().for_each(crate::json::check_answer);
    (output.status.code().expect("it ended by itself"), answers)
}

/// The code of a command that failed.
pub(crate) fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or_default()
}
