//! Tests of the room as a whole: good manifests of every adapter, every code, places, any bytes at all.

use serde_json::{Value, json};

use crate::base::json::Place;

use super::{Client, Code, Finding, Reading, SCHEMA_URL, Severity, read, read_for};

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

/// `manifest` with the value at `pointer` put in, replaced or, with `None`, taken out.
fn edited(mut manifest: Value, pointer: &str, value: Option<Value>) -> Vec<u8> {
    let (parent, key) = pointer.rsplit_once('/').expect("not the root");
    let parent = manifest.pointer_mut(parent).expect("the parent is there");
    match (parent, value) {
        (Value::Object(members), Some(value)) => drop(members.insert(key.replace("~1", "/"), value)),
        (Value::Object(members), None) => drop(members.remove(key)),
        (Value::Array(items), Some(value)) => match key.parse::<usize>() {
            Ok(index) if index < items.len() => items[index] = value,
            _ => items.push(value),
        },
        (parent, value) => panic!("{parent} takes no {value:?}"),
    }
    manifest.to_string().into_bytes()
}

fn text(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// For each code a file that has it, and where.
#[expect(clippy::too_many_lines, reason = "a table: one line a code")]
pub(super) fn one_of_each() -> Vec<(Code, Vec<u8>, &'static str)> {
    let full_with = |pointer: &str, value: Value| edited(full(), pointer, Some(value));
    let tool = |key: &str, value: Value| full_with(&format!("/tools/0/{key}"), value);
    let variable = |value: Value| full_with("/environment/-", value);
    let remote_with = |pointer: &str, value: Value| edited(remote(), &format!("/runtime/{pointer}"), Some(value));
    let request = |pointer: &str, value: Value| edited(declarative(), &format!("/runtime/tools/find_note/request/{pointer}"), Some(value));
    let mut too_large = MINIMAL.as_bytes().to_vec();
    too_large.resize(4 * 1024 * 1024 + 1, b' ');
    let many: serde_json::Map<String, Value> = (0..1_100).map(|index| (format!("zzzzzzz{index}"), Value::Null)).collect();
    let mut crowded = full();
    crowded.as_object_mut().expect("an object").extend(many);
    let mut no_http = declarative();
    no_http["runtime"]["tools"].as_object_mut().expect("an object").remove("drop_note");
    let mut sensitive = declarative();
    sensitive["runtime"]["tools"]["find_note"]["request"]["headers"] = json!([{"name": "X-Api-Key", "valueTemplate": "x"}]);
    let words = |schema: Value| tool("inputSchema/properties/words", schema);
    let mut optional = declarative();
    optional["tools"][0]["inputSchema"]["required"] = json!([]);
    let mut reader = declarative();
    reader["tools"][0]["risk"] = json!("read");
    reader["tools"][0]["effect"] = json!("read");
    let mut similar = full();
    similar["tools"][1]["name"] = json!("find-note");
    let mut twice = full();
    twice["tools"][1]["name"] = json!("find_note");
    let mut both = full();
    both["permissions"]["optionalSparkCapabilities"] = json!(["storage.kv.get"]);
    vec![
        (Code::JsonEmpty, text(" "), ""),
        (Code::JsonByteOrderMark, text(&format!("\u{feff}{MINIMAL}")), ""),
        (Code::JsonNotUtf8, b"{\"a\": \"\xff\"}".to_vec(), ""),
        (Code::JsonTooDeep, b"[".repeat(100_000), ""),
        (Code::JsonUnexpectedEnd, text("{\"a\": 1"), ""),
        (Code::JsonUnexpected, text("{\"a\": ?}"), ""),
        (Code::JsonExpectedKey, text("{a: 1}"), ""),
        (Code::JsonExpectedColon, text("{\"a\" 1}"), ""),
        (Code::JsonExpectedComma, text("{\"tools\": [1 2]}"), "/tools/1"),
        (Code::JsonTrailingComma, text("{\"tools\": [1,]}"), "/tools"),
        (Code::JsonComment, text("{\"tools\": [ // x\n1]}"), "/tools"),
        (Code::JsonDuplicateKey, text("{\"id\": 1, \"id\": 2}"), "/id"),
        (Code::JsonLoneSurrogate, text("{\"id\": \"\\ud800\"}"), "/id"),
        (Code::JsonControlCharacter, text("{\"id\": \"a\tb\"}"), "/id"),
        (Code::JsonBadEscape, text("{\"id\": \"\\x\"}"), "/id"),
        (Code::JsonBadNumber, text("{\"schemaVersion\": 01}"), "/schemaVersion"),
        (Code::JsonUnterminatedString, text("{\"id\": \"a\n}"), ""),
        (Code::JsonSingleQuotes, text("{\"id\": 'a'}"), "/id"),
        (Code::JsonBadWord, text("{\"id\": True}"), "/id"),
        (Code::JsonTrailingData, text("{} {}"), ""),
        (Code::FileTooLarge, too_large, ""),
        (Code::TooManyFindings, crowded.to_string().into_bytes(), ""),
        (Code::MissingKey, edited(full(), "/id", None), "/id"),
        (Code::UnknownKey, full_with("/premissions", json!({})), "/premissions"),
        (Code::WrongType, full_with("/name", json!(5)), "/name"),
        (Code::UnknownWord, tool("effect", json!("write")), "/tools/0/effect"),
        (Code::TooShort, full_with("/name", json!("")), "/name"),
        (Code::TooLong, full_with("/name", json!("👩".repeat(81))), "/name"),
        (Code::TooFewItems, full_with("/tools", json!([])), "/tools"),
        (Code::TooManyItems, full_with("/runtime/args", json!(vec!["a"; 129])), "/runtime/args"),
        (Code::NotAnInteger, remote_with("timeoutMs", json!(1000.5)), "/runtime/timeoutMs"),
        (Code::OutOfRange, remote_with("timeoutMs", json!(999)), "/runtime/timeoutMs"),
        (Code::ConflictingKeys, request("headers", json!([{"name": "Accept"}])), "/runtime/tools/find_note/request/headers/0"),
        (Code::NewerSchemaVersion, full_with("/schemaVersion", json!(2)), "/schemaVersion"),
        (Code::MissingSchemaKey, edited(full(), "/$schema", None), "/$schema"),
        (Code::BadPackageId, full_with("/id", json!("con.tools")), "/id"),
        (Code::BadVersion, full_with("/version", json!("1.2")), "/version"),
        (Code::NotSemver, full_with("/version", json!("01.2.3")), "/version"),
        (Code::BadToolName, tool("name", json!("Find")), "/tools/0/name"),
        (Code::BadVariableName, variable(json!({"name": "a-b", "title": "x", "type": "string"})), "/environment/5/name"),
        (
            Code::BadCapabilityName,
            full_with("/permissions/requiredSparkCapabilities", json!(["kv"])),
            "/permissions/requiredSparkCapabilities/0",
        ),
        (Code::BadUrl, full_with("/author/url", json!("acme.example")), "/author/url"),
        (Code::BadUrlScheme, remote_with("baseUrl", json!("file:///etc")), "/runtime/baseUrl"),
        (Code::BadPath, full_with("/runtime/workingDirectory", json!(".")), "/runtime/workingDirectory"),
        (Code::BadHeaderName, remote_with("headers/A B", json!("x")), "/runtime/headers/A B"),
        (Code::ForbiddenHeader, remote_with("headers/Host", json!("x")), "/runtime/headers/Host"),
        (Code::BadHeaderValue, remote_with("headers/X", json!("a\r\nb")), "/runtime/headers/X"),
        (Code::BadPlaceholder, remote_with("headers/X", json!("${x}")), "/runtime/headers/X"),
        (Code::BadSecretRef, request("headers/1/secretRef", json!("a b")), "/runtime/tools/find_note/request/headers/1/secretRef"),
        (Code::BadPattern, variable(json!({"name": "A", "title": "x", "type": "string", "pattern": "("})), "/environment/5/pattern"),
        (
            Code::BadJsonPath,
            edited(declarative(), "/runtime/tools/find_note/response/extract/0/jsonPath", Some(json!("$..a"))),
            "/runtime/tools/find_note/response/extract/0/jsonPath",
        ),
        (Code::BadBodyTemplate, request("body/jsonTemplate", json!("{{words}} x")), "/runtime/tools/find_note/request/body/jsonTemplate"),
        (Code::HiddenInName, full_with("/runtime/command", json!("./a\u{202e}b")), "/runtime/command"),
        (Code::HiddenCharacters, full_with("/description", json!("a\u{e0041}b")), "/description"),
        (Code::BlankText, tool("title", json!(" ")), "/tools/0/title"),
        (Code::ThinDescription, tool("description", json!("Find a note.")), "/tools/0/description"),
        (Code::CommandNotInPackage, full_with("/runtime/command", json!("bin/x")), "/runtime/command"),
        (Code::CommandWithBlanks, full_with("/runtime/command", json!("node x")), "/runtime/command"),
        (Code::CommandUnusable, full_with("/runtime/command", json!("./")), "/runtime/command"),
        (Code::CommandNotPortable, full_with("/runtime/command", json!("/bin/sh")), "/runtime/command"),
        (Code::DuplicateTool, twice.to_string().into_bytes(), "/tools/1/name"),
        (Code::SimilarTools, similar.to_string().into_bytes(), "/tools/1/name"),
        (Code::LongServedName, tool("name", json!("a".repeat(60))), "/tools/0/name"),
        (Code::ReadToolWrites, tool("effect", json!("create")), "/tools/0/effect"),
        (Code::DestructiveToolRepeats, full_with("/tools/1/idempotency", json!("safe")), "/tools/1/idempotency"),
        (Code::DuplicateVariable, variable(json!({"name": "NOTES_DIR", "title": "x", "type": "string"})), "/environment/5/name"),
        (Code::HijackingVariable, variable(json!({"name": "LD_PRELOAD", "title": "x", "type": "string"})), "/environment/5/name"),
        (Code::RiskyVariable, variable(json!({"name": "RUBYOPT", "title": "x", "type": "string"})), "/environment/5/name"),
        (Code::SecretWithDefault, full_with("/environment/1/default", json!("x")), "/environment/1/default"),
        (Code::SecretNotString, full_with("/environment/1/type", json!("json")), "/environment/1/type"),
        (Code::PatternNotString, full_with("/environment/3/pattern", json!("1")), "/environment/3/pattern"),
        (Code::BadDefault, full_with("/environment/2/default", json!("size")), "/environment/2/default"),
        (Code::MissingHttpSpec, no_http.to_string().into_bytes(), "/runtime/tools/drop_note"),
        (Code::UnknownTool, edited(imported(), "/runtime/toolNameOverrides/find", Some(json!("x"))), "/runtime/toolNameOverrides/find"),
        (Code::UndeclaredVariable, remote_with("headers/X", json!("${NOTES}")), "/runtime/headers/X"),
        (Code::SecretInPlain, request("headers/1/secretRef", json!("NOTES_DIR")), "/runtime/tools/find_note/request/headers/1/secretRef"),
        (Code::UndeclaredParameter, request("urlTemplate", json!("https://x/{{word}}")), "/runtime/tools/find_note/request/urlTemplate"),
        (Code::OptionalParameter, optional.to_string().into_bytes(), "/runtime/tools/find_note/request/body/jsonTemplate"),
        (Code::SensitiveHeader, sensitive.to_string().into_bytes(), "/runtime/tools/find_note/request/headers/0/valueTemplate"),
        (Code::SecretInFile, remote_with("headers/Authorization", json!("Basic eA==")), "/runtime/headers/Authorization"),
        (
            Code::UnsentBody,
            edited(declarative(), "/runtime/tools/drop_note/request/body", Some(json!({"mode": "json", "jsonTemplate": "{}"}))),
            "/runtime/tools/drop_note/request/body",
        ),
        (Code::RiskTooLow, reader.to_string().into_bytes(), "/tools/0/risk"),
        (
            Code::RepeatedEntry,
            full_with("/permissions/declaredOsEffects", json!(["network", "browser", "network"])),
            "/permissions/declaredOsEffects/2",
        ),
        (Code::RequiredAndOptional, both.to_string().into_bytes(), "/permissions/optionalSparkCapabilities/0"),
        (Code::InputNotObject, tool("inputSchema", json!({"properties": {}})), "/tools/0/inputSchema/type"),
        (Code::BadSchema, tool("outputSchema", json!({"type": "strnig"})), "/tools/0/outputSchema/type"),
        (Code::RequiredUndeclared, tool("inputSchema/required", json!(["words", "word"])), "/tools/0/inputSchema/required/1"),
        (Code::Portability, words(json!({"type": "string", "not": {"const": "x"}})), "/tools/0/inputSchema/properties/words/not"),
        (Code::MissingType, words(json!({"minLength": 1})), "/tools/0/inputSchema/properties/words"),
        (Code::SlowPattern, words(json!({"type": "string", "pattern": "a(?=b)"})), "/tools/0/inputSchema/properties/words/pattern"),
        (Code::DoubtfulPattern, words(json!({"type": "string", "pattern": "\\p{L}"})), "/tools/0/inputSchema/properties/words/pattern"),
        (Code::MisspeltKeyword, words(json!({"type": "string", "minLenght": 1})), "/tools/0/inputSchema/properties/words/minLenght"),
        (
            Code::OtherDraftKeyword,
            words(json!({"type": "array", "additionalItems": false})),
            "/tools/0/inputSchema/properties/words/additionalItems",
        ),
        (Code::UnfitDefault, words(json!({"type": "string", "default": 1})), "/tools/0/inputSchema/properties/words/default"),
        (Code::ClientLimit, tool("name", json!("a".repeat(50))), "/tools/0/name"),
        (Code::ExampleInvalid, tool("guidance/examples/0/input", json!({"words": 5})), "/tools/0/guidance/examples/0/input/words"),
    ]
}

/// What is found in a folder, not in a manifest.
const FOUND_ELSEWHERE: [Code; 4] = [Code::MissingFile, Code::CommandMissing, Code::ProgramNotFound, Code::WorkingDirectoryMissing];

#[test]
fn every_code_has_a_file_that_produces_it_at_its_place() {
    let mut produced = std::collections::BTreeSet::new();
    for (code, bytes, pointer) in one_of_each() {
        let findings = read_for(&bytes, &[Client::Claude]).findings;
        let given: Vec<_> = findings.iter().map(|finding| (finding.code, finding.pointer.as_str())).collect();
        assert!(given.contains(&(code, pointer)), "{code:?} at {pointer:?}: {given:?}");
        produced.insert(code);
    }
    let missing: Vec<Code> = Code::ALL.iter().copied().filter(|code| !produced.contains(code) && !FOUND_ELSEWHERE.contains(code)).collect();
    assert_eq!(missing, []);
}
