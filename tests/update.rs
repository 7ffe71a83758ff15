//! `test --update` from outside: what is written, what never is.

use std::fs;

use serde_json::{Value, json};

use crate::fake::{folder, manifest, run};

/// Runs one case with `--update` and returns the exit code and what its file expects then.
fn updated(input: &Value, expect: &Value) -> (i32, Value) {
    let case = json!({"tool": "work", "input": input, "expect": expect});
    let world = folder(&manifest(&["ok"])).file("fake/tests/a.case.json", case.to_string());
    let (exit, _) = run(&world, &["test", "fake", "--yes", "--update"]);
    let written = fs::read(world.folder().join("fake/tests/a.case.json")).expect("the case");
    (exit, serde_json::from_slice::<Value>(&written).expect("JSON")["expect"].clone())
}

#[test]
fn an_updated_case_passes_and_keeps_the_kind_of_its_expectation() {
    for (input, before, after) in [
        (json!({"echo": 1}), json!({"includes": {"echo": 2}}), json!({"includes": {"echo": 1}})),
        (json!({"error": "NEW"}), json!({"error": "OLD"}), json!({"error": "NEW"})),
    ] {
        assert_eq!(updated(&input, &before), (0, after));
    }
}

#[test]
fn no_update_writes_an_error_of_ours_or_another_kind() {
    for (input, expect) in [
        (json!({"count": 0}), json!({})),
        (json!({"count": 0}), json!({"error": "OLD"})),
        (json!({"echo": 1}), json!({"schema": {"type": "string"}})),
        (json!({"echo": 1}), json!({"error": "OLD"})),
        (json!({"error": "NEW"}), json!({"equals": 1})),
        (json!({"echo": 1}), json!({"includes": {"echo": 2}, "maxBytes": 1})),
    ] {
        assert_eq!(updated(&input, &expect), (1, expect));
    }
}
