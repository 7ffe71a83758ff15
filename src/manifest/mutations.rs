//! Tests with files that nobody would write: a hundred thousand mutations of good manifests (hardening rule 1, J-1).

use serde_json::{Value, json};

use crate::base::limits::FINDINGS;

use super::{Client, Code, Severity, cases, fix, read, read_for};

/// A small generator with a fixed start: the same files in each run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        // Xorshift64*, good enough to pick places.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count.max(1) as u64).unwrap_or(0)
    }

    fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// What holds for any bytes.
fn check(bytes: &[u8]) {
    let reading = read(bytes);
    let has_errors = reading.findings.iter().any(|finding| finding.severity == Severity::Error);
    let shown = || String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(reading.manifest.is_none(), has_errors, "{}", shown());
    assert!(reading.findings.len() <= FINDINGS + 1);
    for finding in &reading.findings {
        let span = finding.span.unwrap_or_default();
        assert!(span.start <= span.end && span.end <= bytes.len(), "{finding:?}\n{}", shown());
        assert!(finding.pointer.is_empty() || finding.pointer.starts_with('/'), "{finding:?}");
        assert!(finding.place.is_some() || finding.code == Code::TooManyFindings, "{finding:?}");
        assert!(!finding.message.is_empty() && !finding.message.ends_with('.'), "{finding:?}");
    }
    assert!(reading.findings.is_sorted_by_key(|finding| finding.span.map_or(usize::MAX, |span| span.start)));
}

/// Bytes that mean something in JSON, in templates or to a terminal.
const BYTES: &[u8] = b"{}[]\":,\\/0-9.eE+ntfu \t\r\n\x00\x1b\x7f\x80\xc3\xff$x_'#";

fn mutate_bytes(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.below(bytes.len());
    let end = (at + dice.below(20)).min(bytes.len());
    match dice.below(6) {
        0 => bytes[at] = *dice.one_of(BYTES),
        1 => bytes.insert(at, *dice.one_of(BYTES)),
        2 => drop(bytes.remove(at)),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let piece = bytes[at..end].to_vec();
            let to = dice.below(bytes.len());
            bytes.splice(to..to, piece);
        }
        _ => bytes.truncate(at),
    }
}

/// Values of every type, at the edges of what keys take.
fn edges() -> Vec<Value> {
    let number = |text: &str| crate::base::json::parse(text.as_bytes()).expect("a number");
    vec![
        Value::Null,
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        number("-0"),
        number("1.0"),
        number("1e400"),
        number("9223372036854775808"),
        number("1e-400"),
        json!(""),
        json!(" "),
        json!("."),
        json!("./"),
        json!("../x"),
        json!("/x"),
        json!("a\u{0}b"),
        json!("a\u{202e}b"),
        json!("${X}{{y}}"),
        json!("{{words}}"),
        json!("http://"),
        json!("object"),
        json!("read"),
        json!("^(a+)+$"),
        json!("(?=a)"),
        json!("("),
        json!("👩".repeat(9_000)),
        json!([]),
        json!([[]]),
        json!(["a", "a"]),
        json!({}),
        json!({"": {}}),
        json!({"$ref": "#"}),
        json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["b"]}),
        json!({"type": "object", "allOf": [{"$ref": "#/allOf/0"}]}),
        json!({"a/b~c": 1, "x-y": 2, "name": 3}),
    ]
}

/// Every value of a tree, as pointers.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| pointers(item, &format!("{at}/{index}"), all)),
        Value::Object(members) => {
            for (key, member) in members {
                pointers(member, &(at.to_owned() + &crate::base::json::pointer_token(key)), all);
            }
        }
        _ => {}
    }
}

fn mutate_tree(value: &mut Value, edges: &[Value], dice: &mut Dice) {
    let mut all = Vec::new();
    pointers(value, "", &mut all);
    let other = value.pointer(dice.one_of(&all).as_str()).cloned().unwrap_or_default();
    let Some(node) = value.pointer_mut(dice.one_of(&all).as_str()) else { return };
    match (dice.below(5), node) {
        (1, node) => *node = other,
        (2, Value::Object(members)) if !members.is_empty() => {
            let key = members.keys().nth(dice.below(members.len())).cloned().unwrap_or_default();
            let taken = members.remove(&key).unwrap_or_default();
            if dice.below(2) == 0 {
                let place = dice.below(key.chars().count() + 1);
                let misspelt: String = key.chars().enumerate().filter(|(at, _)| *at != place).map(|(_, c)| c).collect();
                members.insert(misspelt, taken);
            }
        }
        (3, Value::Array(items)) if !items.is_empty() => {
            let item = dice.one_of(items).clone();
            items.push(item);
        }
        (_, node) => *node = dice.one_of(edges).clone(),
    }
}

/// The smallest manifest with each runtime, so that a hundred thousand of them are read in seconds.
fn seeds() -> Vec<Value> {
    let minimal: Value = serde_json::from_str(cases::MINIMAL).expect("JSON");
    let seed = |runtime: Value, key: &str, value: Value| {
        let mut seed = minimal.clone();
        seed["runtime"] = runtime;
        seed[key] = value;
        seed
    };
    let secret = json!([{"name": "KEY", "title": "Key", "type": "string", "secret": true}]);
    let protocol = "spark-tool-process-v1";
    let headers = json!([{"name": "Authorization", "secretRef": "KEY"}]);
    let request = json!({"method": "POST", "urlTemplate": "https://a.example/{{who}}", "headers": headers, "body": {"mode": "json", "jsonTemplate": "{\"a\":{{who}}}"}});
    let spec = json!({"request": request, "response": {"format": "json", "extract": [{"label": "a", "jsonPath": "$.a[0]"}]}});
    vec![
        seed(minimal["runtime"].clone(), "permissions", json!({"declaredOsEffects": ["network"], "requiredSparkCapabilities": ["a.b"]})),
        seed(
            json!({"adapter": "process", "protocol": protocol, "command": "node", "args": ["a"], "workingDirectory": "src"}),
            "environment",
            json!([{"name": "A", "title": "A", "type": "string", "enum": ["a", "b"], "default": "a", "pattern": "^a"}]),
        ),
        seed(
            json!({"adapter": "remote-http", "protocol": protocol, "baseUrl": "https://a.example", "headers": {"X": "a ${KEY}"}, "timeoutMs": 2000}),
            "environment",
            secret.clone(),
        ),
        seed(json!({"adapter": "declarative-http", "tools": {"say_hello": spec}}), "environment", secret),
        seed(
            json!({"adapter": "mcp-import", "serverId": "s", "toolNameOverrides": {"say_hello": "x"}}),
            "guidance",
            json!({"overview": "o"}),
        ),
        seed(json!({"adapter": "legacy-custom-tool", "toolId": "t"}), "development", json!({"buildCommand": "make"})),
    ]
}

#[test]
fn no_mutation_of_bytes_makes_the_reader_panic() {
    let mut dice = Dice(0x005e_ed00_0000_0001);
    let mut seeds: Vec<String> = seeds().iter().map(Value::to_string).collect();
    seeds.push(cases::MINIMAL.to_owned());
    for _ in 0..90_000 {
        let mut bytes = dice.one_of(&seeds).clone().into_bytes();
        for _ in 0..=dice.below(4) {
            if !bytes.is_empty() {
                mutate_bytes(&mut bytes, &mut dice);
            }
        }
        check(&bytes);
    }
}

#[test]
fn no_mutation_of_values_makes_the_reader_panic() {
    let mut dice = Dice(0x005e_ed00_0000_0002);
    let seeds = seeds();
    let edges = edges();
    for _ in 0..10_000 {
        let mut value = dice.one_of(&seeds).clone();
        for _ in 0..=dice.below(3) {
            mutate_tree(&mut value, &edges, &mut dice);
        }
        check(value.to_string().as_bytes());
    }
}

#[test]
fn no_mutation_makes_a_repair_or_a_client_check_panic() {
    let mut dice = Dice(0x005e_ed00_0000_0003);
    let good: Vec<Value> = cases::good().iter().map(|text| serde_json::from_str(text).expect("JSON")).collect();
    let edges = edges();
    for _ in 0..500 {
        let mut value = dice.one_of(&good).clone();
        mutate_tree(&mut value, &edges, &mut dice);
        let mut bytes = value.to_string().into_bytes();
        read_for(&bytes, &Client::ALL);
        if dice.below(4) == 0 {
            mutate_bytes(&mut bytes, &mut dice);
        }
        if let Some(fixed) = fix(&bytes) {
            assert_eq!(fix(&fixed.bytes), None, "{}", String::from_utf8_lossy(&bytes));
            check(&fixed.bytes);
        }
    }
}

// H: J-1
#[test]
fn deep_nesting_is_one_finding() {
    for bomb in ["[".repeat(100_000), "{\"a\":".repeat(100_000)] {
        let findings = read(bomb.as_bytes()).findings;
        let codes: Vec<_> = findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [Code::JsonTooDeep]);
        assert!(findings[0].message.contains("128"), "{}", findings[0].message);
    }
}

// H: J-2
#[test]
fn a_key_given_twice_is_refused_with_both_places() {
    for key in ["command", "adapter", "lifecycle"] {
        let text = cases::MINIMAL.replace("\"adapter\"", &format!("\"{key}\": \"x\",\n\"{key}\": \"y\", \"adapter\""));
        let reading = read(text.as_bytes());
        assert!(reading.manifest.is_none());
        let finding = reading.findings.iter().find(|finding| finding.code == Code::JsonDuplicateKey).expect("found");
        assert_eq!(finding.pointer, format!("/runtime/{key}"));
        assert_eq!(finding.place.map(|place| (place.line, place.column)), Some((4, 1)));
        assert!(finding.message.ends_with("first given at 3:16"), "{}", finding.message);
    }
    let twice = cases::MINIMAL.replace("\"tools\"", "\"permissions\": {}, \"permissions\": {\"declaredOsEffects\": []}, \"tools\"");
    assert!(read(twice.as_bytes()).manifest.is_none());
}

// H: J-5
#[test]
fn one_document_alone_is_read_with_or_without_a_mark() {
    for (text, is_read) in [
        (cases::MINIMAL.to_owned(), true),
        (format!("\u{feff}{}", cases::MINIMAL), true),
        (cases::MINIMAL.replace('\n', "\r\n"), true),
        (format!("\n\t {}\n\n", cases::MINIMAL), true),
        (format!("{}{{}}", cases::MINIMAL), false),
        (format!("{}x", cases::MINIMAL), false),
        (format!("// note\n{}", cases::MINIMAL), false),
        (format!("{}/* note */", cases::MINIMAL), false),
        (cases::MINIMAL.replace("\"safe\" }", "\"safe\", }"), false),
        (format!("{}\u{feff}", cases::MINIMAL), false),
    ] {
        assert_eq!(read(text.as_bytes()).manifest.is_some(), is_read, "{text}");
    }
}

// H: J-8
#[test]
fn each_misspelt_key_is_found_with_the_one_that_was_meant() {
    let manifest = cases::full();
    let mut all = Vec::new();
    pointers(&manifest, "", &mut all);
    let mut checked = 0;
    for pointer in &all {
        let Some((parent, key)) = pointer.rsplit_once('/') else { continue };
        if key.len() < 4 || pointer.contains("Schema/") || pointer.contains("/examples/0/") || pointer.contains("default/") || key == "-" {
            continue;
        }
        let mut broken = manifest.clone();
        let Some(Value::Object(members)) = broken.pointer_mut(parent) else { continue };
        let value = members.remove(key).expect("it is there");
        let misspelt = format!("{}{}", &key[..key.len() - 2], &key[key.len() - 1..]);
        members.insert(misspelt.clone(), value);
        let findings = read(broken.to_string().as_bytes()).findings;
        let finding = findings.iter().find(|finding| finding.code == Code::UnknownKey).expect("found");
        assert_eq!(finding.pointer, format!("{parent}/{misspelt}"));
        assert_eq!(finding.help.as_deref(), Some(format!("did you mean `{key}`?").as_str()));
        checked += 1;
    }
    assert!(checked > 60, "{checked}");
}

// H: J-8
#[test]
fn a_newer_schema_version_is_one_finding_and_the_check_goes_on() {
    let text = cases::MINIMAL.replace("\"schemaVersion\": 1", "\"schemaVersion\": 2").replace("\"0.1.0\"", "\"0.1\"");
    let codes: Vec<_> = read(text.as_bytes()).findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::MissingSchemaKey, Code::NewerSchemaVersion, Code::BadVersion]);
}

// H: J-6, J-7
#[test]
fn hostile_schemas_end_in_findings() {
    for (schema, code) in [
        (json!({"type": "object", "$ref": "http://127.0.0.1:9/x"}), Code::BadSchema),
        (json!({"type": "object", "$ref": "file:///etc/passwd"}), Code::BadSchema),
        (json!({"type": "object", "properties": {"a": {"pattern": "("}}}), Code::BadSchema),
        (json!({"type": "object", "minProperties": -1}), Code::BadSchema),
    ] {
        let mut manifest = cases::full();
        manifest["tools"][1]["inputSchema"] = schema.clone();
        let findings = read(manifest.to_string().as_bytes()).findings;
        let found = findings.iter().find(|finding| finding.code == code);
        assert!(found.is_some_and(|finding| finding.pointer.starts_with("/tools/1/inputSchema")), "{schema}: {findings:?}");
    }
}

/// Files that make a careless reader compare everything with everything. Nothing is timed: a slip shows as a test that
/// is slow, and in files of 4 MiB as one that doesn't end.
#[test]
fn crowded_files_are_read_in_time() {
    let many = |item: &dyn Fn(usize) -> String| {
        let items: Vec<String> = (0..4_000).map(item).collect();
        items.join(",")
    };
    let capabilities = many(&|index| format!("\"capability.a{index}\""));
    let headers = many(&|index| format!("\"X{index}\":\"${{A{index}}}\""));
    let specs = many(&|index| format!("\"t{index}\":{{}}"));
    let tools = many(&|index| format!("{{\"name\":\"t{index}\",\"inputSchema\":{{\"type\":\"object\"}}}}"));
    let variables = many(&|index| format!("{{\"name\":\"A{index}\",\"type\":\"string\",\"pattern\":\"^a{index}\"}}"));
    for text in [
        format!("{{{}}}", many(&|index| format!("\"tool{index}\":0"))),
        format!("{{{}}}", many(&|index| format!("\"k{index}\":\"\u{e9}\u{202e}\""))),
        format!("{{\"tools\":[{}]}}", many(&|_| "{}".to_owned())),
        format!("{{\"tools\":[{tools}]}}"),
        format!("{{\"environment\":[{variables}]}}"),
        format!("{{\"permissions\":{{\"requiredSparkCapabilities\":[{capabilities}],\"optionalSparkCapabilities\":[{capabilities}]}}}}"),
        format!("{{\"runtime\":{{\"adapter\":\"remote-http\",\"headers\":{{{headers}}}}}}}"),
        format!("{{\"runtime\":{{\"adapter\":\"declarative-http\",\"tools\":{{{specs}}}}},\"tools\":[{tools}]}}"),
        format!("[{}]", many(&|_| "\"\\ud800\"".to_owned())),
    ] {
        let findings = read(text.as_bytes()).findings;
        assert_eq!(findings.len(), FINDINGS + 1, "{}", &text[..60]);
        assert_eq!(findings.last().map(|finding| finding.code), Some(Code::TooManyFindings));
        fix(text.as_bytes());
    }
}
