//! JSON Schema as manifests use it: which schemas are accepted, a value checked with all its problems, defaults filled
//! (design §4, manifest §13).
//!
//! Nothing is fetched: a reference that leaves the document is a fault. No message holds a value of the instance, which
//! may be a secret; keys and what the schema itself says are named.

mod fill;
mod lint;
mod problem;

use std::fmt;
use std::sync::LazyLock;

use jsonschema::{PatternOptions, ValidationOptions, Validator};
use serde_json::Value;

use crate::base::limits::{FINDINGS, PATTERN_STEPS};

pub(crate) use lint::{LintKind, SchemaLint, schema_lints};
pub(crate) use problem::Problem;

/// A compiled schema.
pub(crate) struct Schema {
    document: Value,
    validator: Validator,
    fill: Option<fill::Plan>,
}

/// Why a schema can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaFault {
    /// Into the schema.
    pub(crate) pointer: String,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

static OPTIONS: LazyLock<ValidationOptions<'static>> = LazyLock::new(|| {
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(PATTERN_STEPS))
});

impl Schema {
    /// Compiles a schema, or returns all that is wrong with it.
    pub(crate) fn compile(document: &Value) -> Result<Self, Vec<SchemaFault>> {
        let validator = OPTIONS.build(document).map_err(|error| {
            vec![SchemaFault { pointer: error.instance_path().as_str().to_owned(), message: error.to_string(), help: None }]
        })?;
        Ok(Self { document: document.clone(), validator, fill: fill::Plan::of(document) })
    }

    /// Returns `value` with the schema's defaults filled in, if it then conforms; else all its problems.
    pub(crate) fn accept(&self, mut value: Value) -> Result<Value, Vec<Problem>> {
        if let Some(plan) = &self.fill {
            plan.fill(&mut value);
        }
        self.check(&value)?;
        Ok(value)
    }

    /// Says whether `value` conforms as it is; else all its problems, at most a thousand.
    pub(crate) fn check(&self, value: &Value) -> Result<(), Vec<Problem>> {
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let mut problems = Vec::new();
        for error in self.validator.iter_errors(value).take(FINDINGS) {
            problem::push(&error, &mut problems);
        }
        Err(problems)
    }

    /// Returns the schema as written.
    pub(crate) const fn document(&self) -> &Value {
        &self.document
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Schema({})", self.document)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(text: &str) -> Value {
        crate::base::json::parse(text.as_bytes()).expect("JSON")
    }

    /// The problems of `value`, each as `pointer message`.
    fn problems(schema: &Value, value: &Value) -> Vec<String> {
        let schema = Schema::compile(schema).expect("a schema");
        let problems = schema.check(value).err().unwrap_or_default();
        problems.into_iter().map(|problem| format!("{} {}", problem.pointer, problem.message)).collect()
    }

    #[test]
    fn every_problem_is_told_with_its_place_and_without_the_value() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "string", "minLength": 20}, "b/c": {"type": "integer"}, "d": {"enum": ["x", 1]}},
            "required": ["a", "e", "f"],
            "additionalProperties": false
        });
        let value = json!({"a": "secret-word", "b/c": "secret-word", "d": "secret-word", "g": "secret-word"});
        let told = problems(&schema, &value);
        assert!(!told.join("\n").contains("secret-word"), "{told:#?}");
        let mut told = told;
        told.sort();
        assert_eq!(
            told,
            [
                " missing required key `e`",
                " missing required key `f`",
                " unexpected key `g`",
                "/a must have at least 20 characters",
                "/b~1c expected integer, found string",
                "/d must be one of \"x\", 1",
            ]
        );
    }

    #[test]
    fn defaults_are_filled_where_the_design_says() {
        let schema = json!({
            "type": "object",
            "properties": {
                "plain": {"type": "integer", "default": 5},
                "inner": {"type": "object", "properties": {"deep": {"default": null}}},
                "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"default": 1}}}},
                "by_ref": {"$ref": "#/$defs/part"},
                "choice": {"anyOf": [{"properties": {"no": {"default": 1}}}]}
            },
            "allOf": [{"properties": {"all": {"default": "of"}}}],
            "required": ["plain"],
            "$defs": {"part": {"type": "object", "properties": {"p": {"default": []}, "again": {"$ref": "#/$defs/part"}}}}
        });
        let schema = Schema::compile(&schema).expect("a schema");
        let value = json!({"inner": {}, "list": [{}, {"n": 2}], "by_ref": {"again": {}}, "choice": {}});
        assert_eq!(
            schema.accept(value),
            Ok(json!({
                "inner": {"deep": null}, "list": [{"n": 1}, {"n": 2}], "by_ref": {"again": {"p": []}, "p": []}, "choice": {},
                "plain": 5, "all": "of"
            }))
        );
    }

    // H: J-3
    #[test]
    fn numbers_stay_as_written() {
        let schema = Schema::compile(&json!({"type": "object", "properties": {"n": {"type": "number"}}})).expect("a schema");
        let long = "9".repeat(100_000);
        for text in ["-0", "1.0", "1e400", "9007199254740993", "0.10", &long] {
            let value = parsed(&format!("{{\"n\":{text}}}"));
            let accepted = schema.accept(value).expect("a number");
            assert_eq!(accepted.to_string(), format!("{{\"n\":{text}}}"));
        }
    }
}
