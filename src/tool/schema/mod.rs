//! JSON Schema as manifests use it: which schemas are accepted, a value checked with all its problems, defaults filled
//! (design §4, manifest §13).
//!
//! Nothing is fetched: a reference that leaves the document is a fault. No message holds a value of the instance, which
//! may be a secret; keys and what the schema itself says are named.

mod effort;
mod engine;
mod fill;
mod format;
mod keyword;
mod lint;
mod problem;
mod reference;
mod survey;

use std::fmt;
use std::sync::OnceLock;

use serde_json::Value;

use engine::Engine;
pub(crate) use lint::{LintKind, schema_lints};
pub(crate) use problem::Problem;
use survey::Survey;

/// A schema that can be used. What checks values is built when the first one comes.
pub(crate) struct Schema {
    document: Value,
    draft: keyword::Draft,
    /// What its references are resolved against.
    base: String,
    changes: Vec<engine::Change>,
    engine: OnceLock<Result<Engine, String>>,
    fill: Option<fill::Plan>,
    effort: effort::Effort,
}

/// Why a schema can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaFault {
    /// Into the schema.
    pub(crate) pointer: String,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

/// Prepares what every check of a value needs, which takes a while, so that it can be done beside other work.
pub(crate) fn prepare_schemas() {
    if let Ok(schema) = Schema::compile(&Value::Object(serde_json::Map::new())) {
        let _built = schema.engine();
    }
}

impl Schema {
    /// Compiles a schema, or returns all that is wrong with it.
    pub(crate) fn compile(document: &Value) -> Result<Self, Vec<SchemaFault>> {
        let survey = Survey::of(document);
        if !survey.faults.is_empty() {
            return Err(survey.faults);
        }
        let schema = Self {
            document: document.clone(),
            draft: survey.nodes[0].draft,
            base: reference::base_of(&survey),
            changes: engine::changes(&survey),
            engine: OnceLock::new(),
            fill: fill::Plan::of(&survey),
            effort: effort::Effort::of(&survey),
        };
        if survey.is_unusual
            && let Err(message) = schema.engine()
        {
            return Err(vec![SchemaFault { pointer: String::new(), message: message.clone(), help: None }]);
        }
        Ok(schema)
    }

    fn engine(&self) -> Result<&Engine, &String> {
        let build = || {
            if self.changes.is_empty() && self.document.get("$schema").is_none() {
                Engine::build(&self.document, self.draft, &self.base)
            } else {
                Engine::build(&engine::adapted(&self.document, &self.changes), self.draft, &self.base)
            }
        };
        self.engine.get_or_init(build).as_ref()
    }

    /// Says whether [`Schema::accept`] may add to a value.
    pub(crate) fn fills_defaults(&self) -> bool {
        self.fill.is_some()
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
        match self.engine() {
            Ok(engine) => engine.check(value, || self.effort.is_bearable(value)),
            Err(message) => {
                let message = format!("can't be checked: the schema is refused: {}", survey::shown(message));
                Err(vec![Problem { pointer: String::new(), message }])
            }
        }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Schema({})", self.document)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parsed(text: &str) -> Value {
        crate::base::json::parse(text.as_bytes()).expect("JSON")
    }

    fn compiled(schema: &Value) -> Schema {
        Schema::compile(schema).unwrap_or_else(|faults| panic!("{schema}: {faults:?}"))
    }

    /// The problems of `value`, each as `pointer message`.
    fn problems(schema: &Value, value: &Value) -> Vec<String> {
        let problems = compiled(schema).check(value).err().unwrap_or_default();
        let mut told: Vec<String> = problems.into_iter().map(|problem| format!("{} {}", problem.pointer, problem.message)).collect();
        told.sort();
        told
    }

    /// The faults of `schema`, each as `pointer message`.
    fn faults(schema: &Value) -> Vec<String> {
        let faults = Schema::compile(schema).err().unwrap_or_default();
        faults.into_iter().map(|fault| format!("{} {}", fault.pointer, fault.message)).collect()
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
        assert_eq!(
            problems(&schema, &value),
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
    fn no_keyword_tells_the_value() {
        let secret = "hunter2-hunter2";
        let number = parsed("8675309.5");
        for schema in [
            json!({"const": 1}),
            json!({"enum": [1, 2]}),
            json!({"type": ["null", "boolean"]}),
            json!({"type": "string", "maxLength": 3}),
            json!({"type": "string", "minLength": 30}),
            json!({"type": "string", "pattern": "^x$"}),
            json!({"type": "string", "format": "email"}),
            json!({"type": "array", "items": {"type": "integer"}}),
            json!({"type": "array", "contains": {"type": "integer"}}),
            json!({"type": "array", "maxItems": 1}),
            json!({"type": "array", "minItems": 3}),
            json!({"type": "array", "uniqueItems": true}),
            json!({"type": "array", "prefixItems": [true], "items": false}),
            json!({"type": "array", "prefixItems": [true], "unevaluatedItems": false}),
            json!({"type": "object", "maxProperties": 0}),
            json!({"type": "object", "minProperties": 3}),
            json!({"type": "object", "patternProperties": {"^k": {"type": "integer"}}}),
            json!({"type": "object", "propertyNames": {"maxLength": 0}}),
            json!({"type": "object", "dependentRequired": {"k": ["m"]}}),
            json!({"type": "object", "unevaluatedProperties": false}),
            json!({"type": "number", "multipleOf": 2}),
            json!({"type": "number", "maximum": 1}),
            json!({"type": "number", "exclusiveMaximum": 1}),
            json!({"type": "number", "minimum": 9_999_999}),
            json!({"type": "number", "exclusiveMinimum": 9_999_999}),
            json!({"anyOf": [{"const": 1}, {"type": "boolean"}]}),
            json!({"oneOf": [true, true]}),
            json!({"oneOf": [{"const": 1}, {"maxLength": 2, "maxItems": 1, "maxProperties": 0, "maximum": 1}]}),
            json!({"not": {}}),
            json!({"if": true, "then": {"const": 1}}),
            json!(false),
        ] {
            let schema = compiled(&schema);
            for value in [json!(secret), number.clone(), json!([secret, secret]), json!({"k": secret})] {
                for problem in schema.check(&value).err().unwrap_or_default() {
                    assert!(!problem.message.contains("hunter2") && !problem.message.contains("8675309"), "{schema:?} {problem:?}");
                    assert!(!problem.message.is_empty());
                }
            }
        }
    }

    #[test]
    fn alternatives_name_the_nearest_one() {
        let schema = json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
            {"type": "object", "properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]},
            {"type": "string"}
        ]});
        assert_eq!(
            problems(&schema, &json!({"kind": "square"})),
            [" fits none of the 3 alternatives; number 2 is nearest: missing required key `side`"]
        );
        assert_eq!(
            problems(&schema, &json!({"kind": "circle", "radius": "x"})),
            [" fits none of the 3 alternatives; number 1 is nearest: `/radius` expected number, found string"]
        );
        let schema = json!({"oneOf": [{"type": "integer"}, {"type": "number"}]});
        assert_eq!(problems(&schema, &json!(1)), [" fits more than one alternative, and must fit exactly one"]);
    }

    /// The rows of manifest §13 as design §4 changes them: a schema, then values that conform and values that don't.
    #[test]
    fn schemas_mean_what_the_manifest_says() {
        let check = |schema: Value, good: &[Value], bad: &[Value]| {
            let compiled = compiled(&schema);
            for value in good {
                assert_eq!(compiled.check(value), Ok(()), "{schema} {value}");
            }
            for value in bad {
                assert!(compiled.check(value).is_err(), "{schema} {value}");
            }
        };
        let object = |rest: Value| {
            let mut schema = json!({"type": "object"});
            schema.as_object_mut().expect("an object").extend(rest.as_object().expect("an object").clone());
            schema
        };
        // Unknown keys pass, are refused, or are checked.
        check(object(json!({"properties": {"a": {}}})), &[json!({"b": 1})], &[]);
        check(object(json!({"properties": {"a": {}}, "additionalProperties": false})), &[json!({"a": 1})], &[json!({"b": 1})]);
        check(object(json!({"additionalProperties": {"type": "string"}})), &[json!({"b": "x"})], &[json!({"b": 1})]);
        // No coercion.
        check(json!({"type": "number"}), &[json!(5)], &[json!("5")]);
        // Without a type each keyword holds for its own type.
        check(
            json!({"properties": {"a": {"type": "string"}}, "required": ["a"]}),
            &[json!(1), json!({"a": "x"})],
            &[json!({}), json!({"a": 1})],
        );
        // `required` counts for undeclared names, too.
        check(object(json!({"required": ["z"]})), &[json!({"z": null})], &[json!({})]);
        check(json!({"type": ["string", "null"]}), &[json!("x"), json!(null)], &[json!(1)]);
        check(
            json!({"type": "integer"}),
            &[parsed("1"), parsed("1.0"), parsed("-0"), parsed("1e3"), parsed("9007199254740993")],
            &[parsed("1.5"), json!("1")],
        );
        check(json!({"enum": [1, "a", null]}), &[parsed("1.0"), json!("a"), json!(null)], &[json!(2), json!("A")]);
        check(json!({"const": {"a": [1]}}), &[parsed("{\"a\":[1.0]}")], &[json!({"a": [2]})]);
        check(json!({"anyOf": [{"type": "string"}, {"minimum": 5}]}), &[json!("x"), json!(5)], &[json!(4)]);
        check(json!({"allOf": [{"minimum": 1}, {"maximum": 3}]}), &[json!(2)], &[json!(0), json!(4)]);
        check(json!({"oneOf": [{"minimum": 1}, {"maximum": 3}]}), &[json!(0), json!(4)], &[json!(2)]);
        check(
            json!({"type": "string", "minLength": 2, "maxLength": 3, "pattern": "b"}),
            &[json!("ab"), json!("éb")],
            &[json!("b"), json!("abcd"), json!("aa")],
        );
        check(
            json!({"type": "number", "minimum": 1, "maximum": 10, "multipleOf": 0.1}),
            &[json!(1), parsed("1.1"), parsed("9.9")],
            &[parsed("0.9"), parsed("10.1"), parsed("1.11")],
        );
        check(json!({"exclusiveMinimum": 1, "exclusiveMaximum": 2}), &[json!(1.5)], &[json!(1), json!(2)]);
        check(
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2}),
            &[json!([1])],
            &[json!([]), json!([1, 2, 3]), json!(["x"])],
        );
        check(
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}),
            &[json!([]), json!(["a"]), json!(["a", 1, null])],
            &[json!([1])],
        );
        check(json!({"type": "array", "uniqueItems": true}), &[json!([1, "1"])], &[parsed("[1, 1.0]")]);
        check(json!({"type": "array", "contains": {"const": 1}}), &[json!([0, 1])], &[json!([0])]);
        check(object(json!({"patternProperties": {r"^\d+$": {"type": "integer"}}})), &[json!({"12": 1, "x": "y"})], &[json!({"12": "x"})]);
        check(object(json!({"propertyNames": {"pattern": "^[a-z]+$"}})), &[json!({"abc": 1})], &[json!({"A": 1})]);
        check(object(json!({"minProperties": 1, "maxProperties": 1})), &[json!({"a": 1})], &[json!({}), json!({"a": 1, "b": 2})]);
        // References, recursive ones included; the place of definitions is free.
        let list = json!({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "additionalProperties": false}}});
        check(list, &[json!({"next": {"next": {}}})], &[json!({"next": {"last": {}}})]);
        check(
            object(json!({"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": {"type": "string"}}})),
            &[json!({"a": "x"})],
            &[json!({"a": 1})],
        );
        check(
            object(json!({"properties": {"a": {"$ref": "#"}}, "additionalProperties": false})),
            &[json!({"a": {}})],
            &[json!({"a": {"b": 1}})],
        );
        // What the original refuses conforms to the standard here.
        check(json!({"not": {"type": "string"}}), &[json!(1)], &[json!("x")]);
        check(
            json!({"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"const": 1}}),
            &[json!("ab"), json!(1)],
            &[json!("a"), json!(2)],
        );
        check(object(json!({"dependentRequired": {"a": ["b"]}})), &[json!({"a": 1, "b": 1}), json!({})], &[json!({"a": 1})]);
        check(object(json!({"dependentSchemas": {"a": {"required": ["b"]}}})), &[json!({"a": 1, "b": 1})], &[json!({"a": 1})]);
        check(
            object(json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false})),
            &[json!({"a": 1})],
            &[json!({"b": 1})],
        );
        check(json!({"prefixItems": [{}], "unevaluatedItems": false}), &[json!([1])], &[json!([1, 2])]);
        // Annotations.
        check(
            json!({"type": "string", "readOnly": true, "title": "t", "description": "d", "examples": [1], "deprecated": true}),
            &[json!("x")],
            &[],
        );
        check(
            object(json!({"properties": {"__proto__": {"type": "string"}}})),
            &[parsed("{\"__proto__\":\"x\"}")],
            &[parsed("{\"__proto__\":1}")],
        );
    }

    #[test]
    fn formats_of_the_manifest_are_enforced_in_every_draft_and_others_ignored() {
        let table: [(&str, &[&str], &[&str]); 11] = [
            ("email", &["a@example.com"], &["a@", "example.com"]),
            ("uri", &["https://example.com/a?b#c", "urn:x:y"], &["example.com", "http://exa mple.com", "/path"]),
            ("uuid", &["123e4567-e89b-12d3-a456-426614174000"], &["123e4567"]),
            ("date", &["2024-02-29"], &["2023-02-29", "2024-2-1", "29.02.2024"]),
            ("time", &["14:30:00Z", "14:30:00"], &["25:00:00Z", "2 pm"]),
            ("date-time", &["2024-02-29T14:30:00Z", "2024-02-29T14:30:00.5+02:00"], &["2024-02-29", "2024-02-29 14:30"]),
            ("duration", &["P1DT12H"], &["1 day"]),
            ("ipv4", &["127.0.0.1"], &["127.0.0.256", "127.1", "::1"]),
            ("ipv6", &["::1"], &["127.0.0.1", ":::"]),
            ("hostname", &["example.com"], &["-a.example", "a b"]),
            ("uri-reference", &["/a/b", "#x"], &["http://exa mple.com"]),
        ];
        let drafts = ["draft-04/schema#", "draft-06/schema#", "draft-07/schema#", "draft/2019-09/schema", "draft/2020-12/schema"];
        for draft in drafts {
            for (format, good, bad) in table {
                if format == "uri-reference" && draft.starts_with("draft-04") {
                    continue;
                }
                let schema = compiled(&json!({"$schema": format!("http://json-schema.org/{draft}"), "type": "string", "format": format}));
                for text in good {
                    assert_eq!(schema.check(&json!(text)), Ok(()), "{draft} {format} {text}");
                }
                for text in bad {
                    assert!(schema.check(&json!(text)).is_err(), "{draft} {format} {text}");
                }
            }
        }
        for format in ["regex", "json-pointer", "uri-template", "iri", "idn-email", "color", "phone", "binary"] {
            assert_eq!(compiled(&json!({"type": "string", "format": format})).check(&json!("(?P<x>\u{1}")), Ok(()), "{format}");
        }
    }

    #[test]
    fn a_dialect_is_chosen_by_schema() {
        let with = |draft: &str, rest: Value| {
            let mut schema = json!({"$schema": format!("http://json-schema.org/{draft}")});
            schema.as_object_mut().expect("an object").extend(rest.as_object().expect("an object").clone());
            schema
        };
        let exclusive = with("draft-04/schema#", json!({"maximum": 5, "exclusiveMaximum": true}));
        assert!(compiled(&exclusive).check(&json!(5)).is_err());
        assert_eq!(
            faults(&with("draft-07/schema#", json!({"maximum": 5, "exclusiveMaximum": true}))),
            ["/exclusiveMaximum `exclusiveMaximum` must be a number, found boolean"]
        );
        // Beside a `$ref` nothing counts before 2019-09.
        let beside = json!({"properties": {"a": {"$ref": "#/definitions/x", "maxLength": 1}}, "definitions": {"x": {"type": "string"}}});
        assert_eq!(compiled(&with("draft-07/schema#", beside.clone())).check(&json!({"a": "xx"})), Ok(()));
        assert!(compiled(&with("draft/2019-09/schema", beside)).check(&json!({"a": "xx"})).is_err());
        let tuple = json!({"items": [{"type": "string"}], "additionalItems": false});
        assert!(compiled(&with("draft-07/schema#", tuple.clone())).check(&json!(["a", 1])).is_err());
        assert_eq!(faults(&with("draft/2020-12/schema", tuple)), ["/items a schema is an object, true or false, found array"]);
        assert_eq!(
            faults(&json!({"$schema": "http://json-schema.org/draft-03/schema#"})),
            ["/$schema unknown dialect `http://json-schema.org/draft-03/schema#`"]
        );
        assert_eq!(faults(&json!({"$schema": 7})), ["/$schema `$schema` must be a string, found number"]);
        assert_eq!(
            faults(&json!({"$defs": {"a": {"$id": "a", "$schema": "http://json-schema.org/draft-07/schema#"}}})),
            ["/$defs/a/$schema another dialect inside a schema: `http://json-schema.org/draft-07/schema#`"]
        );
    }

    #[test]
    fn faults_of_a_schema_are_all_found_with_their_places() {
        let schema = json!({
            "type": "strnig",
            "properties": {"a/b": {"type": ["string", "string"]}, "c": 5, "d": {"pattern": "(", "minLength": -1}},
            "required": ["x", "x"],
            "allOf": [],
            "enum": 1,
            "multipleOf": 0,
            "patternProperties": {"[": true},
            "dependentRequired": {"a": "b"},
            "uniqueItems": "yes"
        });
        let mut found = faults(&schema);
        found.sort();
        assert_eq!(
            found,
            [
                "/allOf `allOf` must be a list of one or more schemas, found array",
                "/dependentRequired/a `dependentRequired` must be a list of strings",
                "/enum `enum` must be a list, found number",
                "/multipleOf `multipleOf` must be a number above 0, found 0",
                "/patternProperties/[ `[` is not a regular expression: a class is not closed",
                "/properties/a~1b/type/1 `string` stands in `type` twice",
                "/properties/c a schema is an object, true or false, found number",
                "/properties/d/minLength `minLength` must be a whole number from 0, found -1",
                "/properties/d/pattern `(` is not a regular expression: a group is not closed",
                "/required/1 `x` stands in `required` twice",
                "/type unknown type `strnig`",
                "/uniqueItems `uniqueItems` must be true or false, found string",
            ]
        );
    }

    // H: J-7
    #[test]
    fn references_stay_in_the_document_and_go_on() {
        let check = |schema: Value, expected: &[&str]| assert_eq!(faults(&schema), expected, "{schema}");
        for text in ["http://127.0.0.1:9/x", "file:///etc/passwd", "https://json-schema.org/draft/2020-12/schema", "other.json", "//host/x"]
        {
            check(
                json!({"properties": {"a": {"$ref": text}}}),
                &[&format!("/properties/a/$ref the reference `{text}` leads out of the document")],
            );
        }
        check(json!({"$ref": "#/$defs/none"}), &["/$ref the reference `#/$defs/none` leads nowhere"]);
        check(json!({"$ref": "#none"}), &["/$ref the reference `#none` leads nowhere"]);
        check(json!({"$ref": "#/%zz"}), &["/$ref the reference `#/%zz` leads nowhere"]);
        check(json!({"title": "t", "$ref": "#/title"}), &["/$ref the reference `#/title` leads to something that is no schema"]);
        check(json!({"$ref": 5}), &["/$ref `$ref` must be a string, found number"]);
        // Itself, two, by anchor, by way of other keywords, dynamic.
        check(json!({"$ref": "#"}), &["/$ref references lead in a circle for the same value: `#`"]);
        check(
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
            &["/$defs/a/$ref references lead in a circle for the same value: `#/$defs/b`, `#/$defs/a`"],
        );
        check(
            json!({"$defs": {"a": {"$anchor": "x", "$ref": "#x"}}}),
            &["/$defs/a/$ref references lead in a circle for the same value: `#x`"],
        );
        check(
            json!({"$defs": {"a": {"anyOf": [true, {"not": {"$ref": "#/$defs/a"}}]}}}),
            &["/$defs/a/anyOf/1/not/$ref references lead in a circle for the same value: `#/$defs/a`"],
        );
        check(json!({"$dynamicAnchor": "x", "$dynamicRef": "#x"}), &["/$dynamicRef references lead in a circle for the same value: `#x`"]);
        check(
            json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": "#"}),
            &["/$recursiveRef references lead in a circle for the same value: `#`"],
        );
        check(
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [{"$ref": "#"}]}),
            &["/allOf/0/$ref references lead in a circle for the same value: `#`"],
        );
        // With progress all is well.
        for schema in [
            json!({"properties": {"a": {"$ref": "#"}}}),
            json!({"items": {"$ref": "#"}}),
            json!({"additionalProperties": {"$ref": "#/additionalProperties/$defs/x", "$defs": {"x": {"items": {"$ref": "#"}}}}}),
            json!({"$id": "https://example.com/tree", "$ref": "tree#/$defs/x", "$defs": {"x": {"$anchor": "y"}, "z": {"items": {"$ref": "#y"}}}}),
            json!({"$id": "https://example.com/a/b", "$defs": {"x": {"$id": "../c", "$defs": {"z": {}}}, "w": {"$ref": "/c#/$defs/z"}}}),
            json!({"$defs": {"item": {"$id": "item", "type": "string"}}, "items": {"$ref": "item"}}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"x": {"$id": "#x"}}, "items": {"$ref": "#x"}}),
            json!({"$dynamicAnchor": "node", "properties": {"next": {"$dynamicRef": "#node"}}}),
            json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true, "properties": {"next": {"$recursiveRef": "#"}}}),
            json!({"x-parts": {"p": {"type": "string"}}, "properties": {"a": {"$ref": "#/x-parts/p"}}}),
            json!({"$defs": {"a b<é>": {"type": "string"}}, "items": {"$ref": "#/$defs/a b<é>"}}),
            json!({"patternProperties": {"^x.": {"type": "string"}}, "properties": {"a": {"$ref": "#/patternProperties/^x."}}}),
            // Where no schema stands a `$ref` is plain data.
            json!({"const": {"$ref": "http://127.0.0.1:9/x"}, "enum": [{"$ref": "#/none"}], "default": {"$ref": 1}, "examples": [{"$ref": "file:///x"}]}),
            json!({"x-note": {"$ref": "http://127.0.0.1:9/x", "$id": "http://127.0.0.1:9/y"}, "properties": {"$ref": {"type": "string"}, "$id": {"type": "string"}}}),
        ] {
            let schema = compiled(&schema);
            assert!(schema.engine().is_ok(), "{schema:?}: {:?}", schema.engine().err());
        }
    }

    #[test]
    fn references_that_multiply_are_refused() {
        let doubled: serde_json::Map<String, Value> = (0..30)
            .map(|at| {
                (format!("d{at}"), json!({"allOf": [{"$ref": format!("#/$defs/d{}", at + 1)}, {"$ref": format!("#/$defs/d{}", at + 1)}]}))
            })
            .chain([("d30".to_owned(), json!({}))])
            .collect();
        let found = faults(&json!({"$ref": "#/$defs/d0", "$defs": doubled}));
        assert!(found.len() == 1 && found[0].contains("more than 100000 schemas"), "{found:?}");
        let row: serde_json::Map<String, Value> = (0..2_000)
            .map(|at| (format!("d{at}"), json!({"$ref": format!("#/$defs/d{}", at + 1)})))
            .chain([("d2000".to_owned(), json!({}))])
            .collect();
        let found = faults(&json!({"$ref": "#/$defs/d0", "$defs": row}));
        assert!(found.len() == 1 && found[0].contains("follow one another"), "{found:?}");
    }

    #[test]
    fn defaults_are_filled_where_the_design_says() {
        let schema = json!({
            "type": "object",
            "properties": {
                "plain": {"type": "integer", "default": 5},
                "inner": {"type": "object", "properties": {"deep": {"default": null}}},
                "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"default": 1}}}},
                "pair": {"type": "array", "prefixItems": [{"type": "object", "properties": {"m": {"default": 2}}}]},
                "by_ref": {"$ref": "#/$defs/part"},
                "from_ref": {"$ref": "#/$defs/five"},
                "from_all": {"allOf": [{"type": "integer"}, {"default": 6}]},
                "own_first": {"$ref": "#/$defs/five", "default": 7},
                "choice": {"anyOf": [{"properties": {"no": {"default": 1}}}]},
                "absent": {"type": "object", "properties": {"no": {"default": 1}}},
                "whole": {"type": "object", "properties": {"no": {"default": 1}}, "default": {}}
            },
            "allOf": [{"properties": {"all": {"default": "of"}}}],
            "oneOf": [{"properties": {"no": {"default": 1}}}],
            "required": ["plain"],
            "$defs": {
                "five": {"type": "integer", "default": 5},
                "part": {"type": "object", "properties": {"p": {"default": []}, "again": {"$ref": "#/$defs/part"}}}
            }
        });
        let schema = compiled(&schema);
        let value = json!({"inner": {}, "list": [{}, {"n": 2}], "pair": [{}, {}], "by_ref": {"again": {}}, "choice": {}});
        let filled = json!({
            "inner": {"deep": null}, "list": [{"n": 1}, {"n": 2}], "pair": [{"m": 2}, {}],
            "by_ref": {"again": {"p": []}, "p": []}, "choice": {},
            "plain": 5, "from_ref": 5, "from_all": 6, "own_first": 7, "whole": {}, "all": "of"
        });
        assert_eq!(schema.accept(value), Ok(filled));
    }

    #[test]
    fn a_recursive_default_ends() {
        let schema = compiled(&json!({"type": "object", "properties": {"child": {"$ref": "#", "default": {}}}}));
        assert_eq!(schema.accept(json!({})), Ok(json!({"child": {}})));
        assert_eq!(schema.accept(json!({"child": {}})), Ok(json!({"child": {"child": {}}})));
    }

    #[test]
    fn a_default_is_checked_like_a_given_value() {
        let schema = compiled(&json!({"type": "object", "properties": {"a": {"type": "string", "default": 1}}}));
        assert!(schema.accept(json!({})).is_err());
    }

    // H: J-3
    #[test]
    fn numbers_stay_as_written() {
        let schema = compiled(&json!({"type": "object", "properties": {"n": {"type": "number"}, "m": {"default": parsed("1.50")}}}));
        let long = "9".repeat(100_000);
        for text in ["-0", "1.0", "1e400", "9007199254740993", "0.10", &long] {
            let value = parsed(&format!("{{\"n\":{text}}}"));
            let accepted = schema.accept(value).expect("a number");
            assert_eq!(accepted.to_string(), format!("{{\"n\":{text},\"m\":1.50}}"));
        }
    }

    // H: J-3
    #[test]
    fn numbers_of_any_size_are_judged() {
        let long = "9".repeat(100_000);
        let tiny = format!("0.{}1", "0".repeat(100_000));
        for schema in [
            r#"{"type":"integer","minimum":-5,"maximum":1e30}"#,
            r#"{"type":"number","multipleOf":0.01}"#,
            r#"{"type":"number","multipleOf":7}"#,
            r#"{"enum":[1,2.5,1e400]}"#,
            r#"{"const":18446744073709551616}"#,
            r#"{"exclusiveMinimum":9223372036854775807}"#,
            r#"{"minimum":1e400}"#,
        ] {
            let schema = compiled(&parsed(schema));
            for value in
                ["1e400", "-1e400", "1e-400", "1e999999999", "1e-999999999", "18446744073709551616", "9223372036854775808", &long, &tiny]
            {
                let _answer = schema.check(&parsed(value));
            }
        }
    }

    // H: J-6
    #[test]
    fn a_pattern_that_needs_too_many_steps_is_a_problem_even_under_not() {
        let hostile = json!({"type": "string", "pattern": "^(?=(a+)+$)"});
        let value = json!(format!("{}!", "a".repeat(10_000)));
        assert_eq!(problems(&hostile, &value), [" can't be checked: the pattern needs too many steps"]);
        assert_eq!(problems(&json!({"not": hostile}), &value), [" can't be checked: a pattern needs too many steps"]);
        let many = json!({"type": "array", "items": hostile});
        let found = problems(&many, &json!(vec![value; 20]));
        assert!(!found.is_empty(), "{found:?}");
        let keys = json!({"patternProperties": {"^(?=(a+)+$)": true}, "additionalProperties": false});
        assert!(!problems(&keys, &json!({"a".repeat(30) + "!": 1})).is_empty());
    }

    #[test]
    fn problems_are_not_looked_for_without_end() {
        let branch = |key: &str| json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": [key]});
        let schema = compiled(&json!({"anyOf": [branch("x"), branch("y"), branch("z")]}));
        let nested = |depth: usize| (0..depth).fold(json!({}), |value, _| json!({ "a": value }));
        let few = schema.check(&nested(2)).expect_err("no key is there");
        assert!(few[0].message.starts_with("fits none of the 3 alternatives; number 1 is nearest:"), "{few:?}");
        let coarse =
            Problem { pointer: String::new(), message: "does not fit the schema, and is nested too deeply to say where".to_owned() };
        assert_eq!(schema.check(&nested(120)), Err(vec![coarse]));
        let twice = json!({"allOf": [{"properties": {"a": {"$ref": "#"}, "d": {"default": 1}}}, {"properties": {"a": {"$ref": "#"}}}]});
        let filled = compiled(&twice).accept(nested(120)).expect("it conforms");
        assert_eq!(filled.to_string().matches("\"d\":1").count(), 121);
        let list = json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true});
        assert_eq!(compiled(&list).check(&Value::Array((0..100_000).map(Value::from).collect())), Ok(()));
    }

    #[test]
    fn deep_values_and_long_rows_fit_the_stack() {
        let row: serde_json::Map<String, Value> = (0..16)
            .map(|at| (format!("d{at}"), json!({"allOf": [{"$ref": format!("#/$defs/d{}", at + 1)}]})))
            .chain([("d16".to_owned(), json!({"properties": {"a": {"$ref": "#"}}}))])
            .collect();
        let schema = compiled(&json!({"$ref": "#/$defs/d0", "$defs": row}));
        let nested = (0..126).fold(json!({}), |value, _| json!({ "a": value }));
        assert_eq!(schema.check(&nested), Ok(()));
    }

    #[test]
    fn texts_from_outside_are_made_safe() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["\u{1b}[2J"]});
        assert_eq!(problems(&schema, &json!({"\u{202e}": 1})), [" missing required key `\\u{1b}[2J`", " unexpected key `\\u{202e}`"]);
        assert_eq!(faults(&json!({"type": "\u{1b}[2J"})), ["/type unknown type `\\u{1b}[2J`"]);
    }

    fn any_schema() -> impl Strategy<Value = Value> {
        let number = prop_oneof![Just("0"), Just("1"), Just("-1"), Just("2.0"), Just("1.5"), Just("1e2"), Just("0.0")].prop_map(parsed);
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Value::Bool),
            number,
            proptest::sample::select(vec!["string", "object", "integer", "a", "date", ""]).prop_map(|text| json!(text)),
            Just(json!({})),
            Just(json!([])),
            Just(json!(["a", "b"])),
            Just(json!(["a", "a"])),
            Just(json!(["string", "null"])),
        ];
        let names: Vec<&str> = keyword::KEYWORDS
            .iter()
            .map(|keyword| keyword.name)
            // What the meta-schemas say of these is a matter of formats; the survey goes beyond it.
            .filter(|name| !name.starts_with('$') && !matches!(*name, "id" | "pattern"))
            .chain(["$defs", "$comment", "other"])
            .collect();
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                proptest::collection::vec((proptest::sample::select(names.clone()), inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn the_survey_says_what_the_meta_schemas_say(schema in any_schema(), draft in 0..5_usize) {
            let drafts = ["draft-04/schema#", "draft-06/schema#", "draft-07/schema#", "draft/2019-09/schema", "draft/2020-12/schema"];
            // Draft-06 has no content keywords; the engine reads them all the same.
            // In draft-04 a whole number is a matter of spelling; the survey takes its value.
            prop_assume!(draft != 0 || !["2.0", "0.0", "1e2"].into_iter().any(|number| schema.to_string().contains(number)));
            prop_assume!(draft != 1 || !schema.to_string().contains("\"content"));
            let mut schema = if schema.is_object() { schema } else { json!({"items": schema}) };
            let scheme = if draft < 3 { "http" } else { "https" };
            schema.as_object_mut().expect("an object").insert("$schema".into(), json!(format!("{scheme}://json-schema.org/{}", drafts[draft])));
            let found = Schema::compile(&schema);
            prop_assert_eq!(found.is_ok(), jsonschema::meta::is_valid(&schema), "{} {:?}", schema, found);
            if let Ok(schema) = found {
                prop_assert!(schema.engine().is_ok(), "{:?}", schema.engine().err());
            }
        }
    }
}
