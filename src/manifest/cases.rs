//! Tests of the room as a whole: good manifests of every adapter, every code, places, any bytes at all.

use serde_json::{Value, json};

use crate::base::json::Place;

use super::{Code, Finding, Reading, SCHEMA_URL, Severity, read};

/// The smallest manifest there is (manifest §1).
pub(super) const MINIMAL: &str = r#"{ "schemaVersion": 1, "id": "demo.hello", "version": "0.1.0",
  "name": "Hello", "description": "Greets somebody",
  "runtime": { "adapter": "process", "protocol": "spark-tool-process-v1", "command": "./bin/hello" },
  "tools": [ { "name": "say_hello", "title": "Say hello", "description": "Return a greeting",
    "inputSchema": { "type": "object", "properties": { "who": { "type": "string" } } },
    "risk": "read", "effect": "read", "idempotency": "safe" } ] }"#;

/// A manifest with every key that there is beside the runtime.
pub(super) fn full() -> Value {
    json!({
        "$schema": SCHEMA_URL,
        "schemaVersion": 1,
        "id": "acme.notes",
        "version": "1.2.3-beta.1",
        "name": "Notes",
        "description": "Keeps notes in a folder.",
        "author": {"name": "Acme", "url": "https://acme.example/"},
        "runtime": {
            "adapter": "process", "protocol": "spark-tool-process-v1", "command": "python3", "args": ["-S", "main.py", ""],
            "lifecycle": "persistent", "workingDirectory": "src"
        },
        "development": {"installCommand": "uv sync", "buildCommand": "make"},
        "guidance": {"overview": "Notes are files.", "sharedInstructions": "Say the title.", "prerequisites": ["A folder."]},
        "tools": [
            {
                "name": "find_note", "title": "Find a note", "description": "Find notes whose text holds the words.",
                "inputSchema": {
                    "type": "object", "properties": {"words": {"type": "string"}, "limit": {"type": "integer", "default": 10}},
                    "required": ["words"], "additionalProperties": false
                },
                "outputSchema": {"type": "array", "items": {"type": "string"}},
                "risk": "read", "effect": "read", "idempotency": "safe",
                "guidance": {
                    "whenToUse": ["To find one."], "whenNotToUse": ["To read one."], "instructions": "Give a word.",
                    "examples": [{"title": "One word", "description": "", "input": {"words": "milk"}, "output": ["shopping"]}],
                    "resultSemantics": "Titles."
                }
            },
            {
                "name": "drop_note", "title": "Drop a note", "description": "Delete a note for good.",
                "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
                "risk": "destructive", "effect": "delete", "idempotency": "unsafe"
            }
        ],
        "environment": [
            {"name": "NOTES_DIR", "title": "Folder", "description": "", "type": "string", "default": "notes", "pattern": "^[a-z]+$", "agentConfigurable": true},
            {"name": "NOTES_KEY", "title": "Key", "type": "string", "required": true, "secret": true},
            {"name": "NOTES_SORT", "title": "Order", "type": "string", "enum": ["name", "date"], "default": "date"},
            {"name": "NOTES_MAX", "title": "Most", "type": "integer", "default": 10},
            {"name": "NOTES_MORE", "title": "More", "type": "json", "default": {"a": [1.50]}}
        ],
        "permissions": {
            "declaredOsEffects": ["filesystem.read", "filesystem.write"],
            "requiredSparkCapabilities": ["storage.kv.get"],
            "optionalSparkCapabilities": ["http.fetch"]
        }
    })
}

/// [`full`] with another runtime.
fn with_runtime(runtime: Value) -> Value {
    let mut manifest = full();
    manifest["runtime"] = runtime;
    manifest
}

fn http_spec(method: &str, url: &str) -> Value {
    json!({
        "request": {
            "method": method, "urlTemplate": url,
            "headers": [{"name": "Accept", "valueTemplate": "text/plain"}, {"name": "Authorization", "secretRef": "NOTES_KEY"}]
        },
        "response": {"format": "json", "extract": [{"label": "Title", "jsonPath": "$[*].title"}], "maxSizeBytes": 1000}
    })
}

pub(super) fn remote() -> Value {
    with_runtime(json!({
        "adapter": "remote-http", "protocol": "spark-tool-process-v1", "baseUrl": "https://tools.acme.example/v1",
        "headers": {"Authorization": "Bearer ${NOTES_KEY}", "X-Folder": "${NOTES_DIR}"}, "timeoutMs": 3e4
    }))
}

pub(super) fn declarative() -> Value {
    let mut drop = http_spec("DELETE", "https://acme.example/notes/{{ id }}");
    drop["allowPrivateNetwork"] = json!(false);
    let mut find = http_spec("POST", "HTTPS://acme.example/notes?limit={{limit}}");
    find["request"]["body"] = json!({"mode": "json", "jsonTemplate": "{\"words\":{{words}},\"x\":{\"y\":1}}"});
    let mut manifest = with_runtime(json!({
        "adapter": "declarative-http", "tools": {"find_note": find, "drop_note": drop}, "timeoutMs": 1000
    }));
    manifest["tools"][0]["risk"] = json!("low-write");
    manifest["tools"][0]["effect"] = json!("create");
    manifest
}

pub(super) fn imported() -> Value {
    with_runtime(json!({"adapter": "mcp-import", "serverId": "notes", "toolNameOverrides": {"find_note": "findNote"}}))
}

pub(super) fn legacy() -> Value {
    with_runtime(json!({"adapter": "legacy-custom-tool", "toolId": "notes"}))
}

/// One good manifest of each adapter, as text.
pub(super) fn good() -> Vec<String> {
    [full(), remote(), declarative(), imported(), legacy()].iter().map(|value| format!("{value:#}")).collect()
}

fn summary(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{} {} {:?}", finding.severity.as_str(), finding.code.as_str(), finding)).collect()
}

#[test]
fn good_manifests_of_every_adapter_have_no_findings() {
    for text in good() {
        let reading = read(text.as_bytes());
        assert_eq!(summary(&reading.findings), Vec::<String>::new(), "{text}");
        let manifest = reading.manifest.expect("a manifest");
        assert_eq!(manifest.tools.len(), 2);
        assert_eq!(manifest.document, serde_json::from_str::<Value>(&text).expect("JSON"));
    }
}

#[test]
fn the_minimal_manifest_has_one_advice() {
    let Reading { manifest, findings, id, version } = read(MINIMAL.as_bytes());
    assert!(manifest.is_some());
    assert_eq!((id.as_deref(), version.as_deref()), (Some("demo.hello"), Some("0.1.0")));
    let codes: Vec<(Code, Severity)> = findings.iter().map(|finding| (finding.code, finding.severity)).collect();
    assert_eq!(codes, [(Code::MissingSchemaKey, Severity::Advice)]);
}

fn place(line: usize, column: usize, end_line: usize, end_column: usize) -> Place {
    Place { line, column, end_line, end_column }
}

#[test]
fn ten_mistakes_are_ten_findings_each_at_its_place() {
    let text = r#"{
  "$schema": "https://spark-tool.dev/schema/spark-tool-v1.schema.json",
  "schemaVersion": 1,
  "id": "Acme Tools",
  "version": "1.0",
  "name": "",
  "runtime": {
    "adapter": "process", "protocol": "spark-tool-process-v1",
    "command": "node main.js",
    "lifeCycle": "persistent"
  },
  "tools": [
    {
      "name": "say", "title": "Say", "description": "Says it aloud",
      "inputSchema": { "type": "array" },
      "risk": "high", "effect": "read", "idempotency": "safe"
    }
  ],
  "environment": [
    { "name": "PATH", "title": "é", "type": "string", "secret": true, "default": "x" }
  ]
}"#;
    let found: Vec<_> = read(text.as_bytes())
        .findings
        .into_iter()
        .map(|finding| (finding.code, finding.severity, finding.pointer, finding.place.expect("a place")))
        .collect();
    let error = |code, pointer: &str, place| (code, Severity::Error, pointer.to_owned(), place);
    assert_eq!(
        found,
        [
            error(Code::MissingKey, "/description", place(1, 1, 1, 2)),
            error(Code::BadPackageId, "/id", place(4, 9, 4, 21)),
            error(Code::BadVersion, "/version", place(5, 14, 5, 19)),
            error(Code::TooShort, "/name", place(6, 11, 6, 13)),
            error(Code::CommandWithBlanks, "/runtime/command", place(9, 16, 9, 30)),
            (Code::UnknownKey, Severity::Warning, "/runtime/lifeCycle".to_owned(), place(10, 5, 10, 16)),
            error(Code::InputNotObject, "/tools/0/inputSchema/type", place(15, 32, 15, 39)),
            error(Code::UnknownWord, "/tools/0/risk", place(16, 15, 16, 21)),
            error(Code::HijackingVariable, "/environment/0/name", place(20, 15, 20, 21)),
            error(Code::SecretWithDefault, "/environment/0/default", place(20, 82, 20, 85)),
        ]
    );
}
