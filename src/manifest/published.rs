//! The table as a JSON Schema, for editors and other validators: `docs/spark-tool.schema.json`.
//!
//! It is never stricter than the checker: what only the checker can say (rules across keys, warnings) isn't in it.
//! Draft 7, because editors know it best.

use serde_json::{Map, Value, json};

use super::SCHEMA_URL;
use super::shape::{NO_MAX, Object, Presence, Shape, Text, Unknown, Variant};
use super::shapes::MANIFEST;

/// Returns the whole schema as the committed text.
fn schema() -> String {
    let mut definitions = Map::new();
    let mut root = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_URL,
        "title": "spark-tool.json",
    });
    merge(&mut root, object(&MANIFEST, &mut definitions));
    root["definitions"] = Value::Object(definitions);
    format!("{root:#}\n")
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

fn object(object: &'static Object, definitions: &mut Map<String, Value>) -> Value {
    let properties: Map<String, Value> = object
        .fields
        .iter()
        .map(|field| {
            let mut schema = shape(&field.shape, definitions);
            let note = json!({"description": field.doc});
            // Beside `$ref` draft 7 reads nothing else.
            if schema.get("$ref").is_some() {
                schema = json!({"allOf": [schema]});
            }
            merge(&mut schema, note);
            if let Presence::Default(default) = field.presence {
                schema["default"] = serde_json::from_str(default).expect("the table's defaults are JSON");
            }
            (field.key.to_owned(), schema)
        })
        .collect();
    let required: Vec<&str> = object.fields.iter().filter(|field| field.presence == Presence::Required).map(|field| field.key).collect();
    let mut schema = json!({"type": "object", "description": object.doc, "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if object.unknown == Unknown::Refused {
        schema["additionalProperties"] = json!(false);
    }
    if !object.one_of.is_empty() {
        schema["oneOf"] = object.one_of.iter().map(|key| json!({"required": [key]})).collect();
    }
    schema
}

fn shape(shape: &'static Shape, definitions: &mut Map<String, Value>) -> Value {
    match shape {
        Shape::Text(text) => string(*text),
        Shape::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Shape::SchemaVersion => json!({"const": 1}),
        Shape::Literal(word) => json!({"const": word}),
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Words(words) => json!({"enum": words}),
        Shape::Scalar => json!({"type": ["string", "number", "boolean"]}),
        Shape::List { min, max, item } => {
            let mut schema = json!({"type": "array", "items": self::shape(item, definitions)});
            bound(&mut schema, "minItems", "maxItems", *min, *max);
            schema
        }
        Shape::Map { max, key, value } => {
            let mut names = string(*key);
            names.as_object_mut().expect("an object").remove("type");
            let mut schema = json!({"type": "object", "additionalProperties": self::shape(value, definitions)});
            if names != json!({}) {
                schema["propertyNames"] = names;
            }
            bound(&mut schema, "minProperties", "maxProperties", 0, *max);
            schema
        }
        Shape::Object(object) => reference(object, definitions),
        Shape::Tagged { tag, variants } => tagged(tag, variants, definitions),
        Shape::InputSchema => json!({"type": "object", "properties": {"type": {"const": "object"}}, "required": ["type"]}),
        Shape::OutputSchema | Shape::AnyObject => json!({"type": "object"}),
        Shape::Any => json!({}),
    }
}

fn string(text: Text) -> Value {
    let mut schema = json!({"type": "string"});
    bound(&mut schema, "minLength", "maxLength", text.min, text.max);
    if let Some(pattern) = text.form.pattern() {
        schema["pattern"] = json!(pattern);
    }
    schema
}

fn bound(schema: &mut Value, lower: &str, upper: &str, min: usize, max: usize) {
    if min > 0 {
        schema[lower] = json!(min);
    }
    if max != NO_MAX {
        schema[upper] = json!(max);
    }
}

/// Puts the object among the definitions and refers to it there.
fn reference(item: &'static Object, definitions: &mut Map<String, Value>) -> Value {
    let name = definition_name(item.title);
    if !definitions.contains_key(&name) {
        definitions.insert(name.clone(), Value::Null);
        let schema = object(item, definitions);
        definitions.insert(name.clone(), schema);
    }
    json!({"$ref": format!("#/definitions/{name}")})
}

/// A condition for each variant: of the one that is meant, and of no other, an editor then tells the faults.
fn tagged(tag: &str, variants: &'static [Variant], definitions: &mut Map<String, Value>) -> Value {
    let words: Vec<&str> = variants.iter().map(|variant| variant.word).collect();
    let branches: Vec<Value> = variants
        .iter()
        .map(|variant| {
            let then = reference(variant.object, definitions);
            json!({"if": {"properties": {tag: {"const": variant.word}}, "required": [tag]}, "then": then})
        })
        .collect();
    json!({"type": "object", "properties": {tag: {"enum": words}}, "required": [tag], "allOf": branches})
}

/// Returns the words of a heading, joined: `runtime.tools.*.request` is `runtime-tools-request`.
fn definition_name(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !matches!(*word, "" | "with" | "adapter"));
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::manifest::page::page;
    use crate::manifest::{Code, Severity, cases, read};
    use crate::tool::Schema;

    fn compiled() -> Schema {
        Schema::compile(&serde_json::from_str(&schema()).expect("JSON")).expect("a schema")
    }

    #[test]
    fn the_committed_documents_are_the_tables() {
        #[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the tests")]
        let may_update = std::env::var_os("UPDATE").is_some_and(|value| value == "1");
        for (path, expected) in [("docs/spark-tool.schema.json", schema()), ("docs/manifest.md", page())] {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
            let found = fs::read_to_string(&file).unwrap_or_default();
            if found != expected {
                assert!(may_update, "{path} is not what the table makes; run the tests with UPDATE=1 and commit it");
                fs::write(file, expected).expect("written");
            }
        }
    }

    /// Says whether the schema takes a file; a file that is no JSON isn't asked.
    fn accepts(schema: &Schema, bytes: &[u8]) -> Option<bool> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        Some(schema.check(&value).is_ok())
    }

    #[test]
    fn the_schema_takes_good_manifests() {
        let schema = compiled();
        for text in cases::good() {
            let problems = schema.check(&serde_json::from_str(&text).expect("JSON"));
            assert_eq!(problems, Ok(()), "{text}");
        }
        assert_eq!(accepts(&schema, cases::MINIMAL.as_bytes()), Some(true));
    }

    #[test]
    fn the_schema_refuses_what_the_table_refuses_and_nothing_else() {
        let schema = compiled();
        // Lengths are counted in UTF-16 units here and in characters there; a newer version is refused by both.
        let in_both = [
            Code::MissingKey,
            Code::WrongType,
            Code::UnknownWord,
            Code::TooShort,
            Code::TooFewItems,
            Code::TooManyItems,
            Code::NotAnInteger,
            Code::OutOfRange,
            Code::ConflictingKeys,
            Code::NewerSchemaVersion,
            Code::BadToolName,
            Code::BadVariableName,
            Code::BadVersion,
            Code::BadHeaderName,
            Code::BadHeaderValue,
            Code::BadSecretRef,
            Code::InputNotObject,
        ];
        for (code, bytes, _) in cases::one_of_each() {
            let findings = read(&bytes).findings;
            let Some(is_taken) = accepts(&schema, &bytes) else { continue };
            let has_errors = findings.iter().any(|finding| finding.severity == Severity::Error);
            assert!(is_taken || has_errors, "{code:?} is refused by the schema alone");
            assert!(!is_taken || !in_both.contains(&code), "{code:?} is taken by the schema");
        }
    }
}
