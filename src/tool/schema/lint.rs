//! What a schema says that is legal and yet rarely meant, or that the original host refuses or reads otherwise
//! (manifest §13).

use serde_json::{Map, Value};

use super::super::number::Decimal;
use super::super::pattern::Pattern;
use super::super::variable::kind_name;
use super::keyword::{Draft, Keyword, Shape, keyword};
use super::survey::{Survey, shown};
use crate::base::json::pointer_token;
use crate::base::text::nearest;

/// One thing to think about, at its place in the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaLint {
    pub(crate) pointer: String,
    pub(crate) kind: LintKind,
    /// Lowercase, no period.
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LintKind {
    /// A construct that the original host refuses.
    Portability,
    /// `required` names a key that `properties` doesn't.
    RequiredUndeclared,
    /// Rules for objects, lists, texts or numbers, and no `type`.
    MissingType,
    /// A pattern that only a backtracking engine can run.
    SlowPattern,
    /// A pattern that means something else than it seems to.
    DoubtfulPattern,
    /// A keyword that no draft has and that looks like one.
    MisspeltKeyword,
    /// A keyword that the schema's draft doesn't have.
    OtherDraftKeyword,
    /// A default that its own schema refuses.
    UnfitDefault,
}

/// Returns the lints of a schema as written, in the order of its places. Of a schema with faults it returns what it
/// can.
pub(crate) fn schema_lints(document: &Value) -> Vec<SchemaLint> {
    let survey = Survey::of(document);
    let mut lints = Vec::new();
    let draft = survey.nodes[0].draft;
    if matches!(draft, Draft::Six | Draft::Y2019) {
        let message = format!("the original host knows draft-04, draft-07 and 2020-12, not {}", draft.name());
        lints.push(SchemaLint { pointer: "/$schema".to_owned(), kind: LintKind::Portability, message, help: None });
    }
    for (at, node) in survey.nodes.iter().enumerate() {
        if let Value::Object(keywords) = node.schema {
            let mut place = Place { survey: &survey, at, draft: node.draft, lints: &mut lints };
            place.lint(keywords);
        }
    }
    lints
}

struct Place<'a> {
    survey: &'a Survey<'a>,
    at: usize,
    draft: Draft,
    lints: &'a mut Vec<SchemaLint>,
}

/// Keywords whose meaning depends on the type, so that the original host ignores them without one.
const NEED_TYPE: [&str; 18] = [
    "additionalProperties",
    "contains",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "required",
    "uniqueItems",
];

/// Keywords that the original host refuses (manifest §13).
const REFUSED: [&str; 7] = ["dependentRequired", "dependentSchemas", "else", "if", "then", "unevaluatedItems", "unevaluatedProperties"];

impl Place<'_> {
    fn push(&mut self, below: &str, kind: LintKind, message: String, help: Option<String>) {
        let pointer = format!("{}{below}", self.survey.pointer(self.at));
        self.lints.push(SchemaLint { pointer, kind, message, help });
    }

    fn lint(&mut self, keywords: &Map<String, Value>) {
        for (name, value) in keywords {
            match keyword(self.draft, name) {
                None => self.lint_unknown(name),
                Some(known) => self.lint_known(known, value),
            }
        }
        let has = |name: &str| keywords.contains_key(name);
        let needs_type = NEED_TYPE.into_iter().filter(|name| has(name)).collect::<Vec<_>>();
        if let Some(first) = needs_type.first()
            && !["type", "enum", "const", "$ref"].into_iter().any(has)
        {
            let message = format!("`{first}` without a `type` beside it");
            let help = "it holds for values of its type and lets all others through; the original host ignores it".to_owned();
            self.push("", LintKind::MissingType, message, Some(help));
        } else {
            self.lint_required(keywords);
        }
        if let Some(default) = keywords.get("default") {
            self.lint_default(keywords, default);
        }
    }

    fn lint_unknown(&mut self, name: &str) {
        if name.starts_with("x-") {
            return;
        }
        if Keyword::is_any(name) {
            if !Keyword::is_annotation(name) {
                let message = format!("`{name}` means nothing in {}", self.draft.name());
                let help = Keyword::drafts(name).map(|drafts| format!("it is a keyword of {drafts}"));
                self.push(&pointer_token(name), LintKind::OtherDraftKeyword, message, help);
            }
            return;
        }
        // Shorter words are near to too many.
        if let Some(near) = nearest(name, Keyword::names(self.draft)).filter(|_| name.chars().count() >= 4) {
            let message = format!("unknown keyword `{}`, did you mean `{near}`?", shown(name));
            let help = "unknown keywords are ignored; start the name with `x-` if it is meant".to_owned();
            self.push(&pointer_token(name), LintKind::MisspeltKeyword, message, Some(help));
        }
    }

    fn lint_known(&mut self, known: &Keyword, value: &Value) {
        let name = known.name;
        if REFUSED.contains(&name) {
            self.push(&format!("/{name}"), LintKind::Portability, format!("the original host refuses `{name}`"), None);
        }
        match (known.shape, value) {
            (Shape::Schema, Value::Object(keywords)) if name == "not" && !keywords.is_empty() => {
                self.push("/not", LintKind::Portability, "the original host refuses `not` unless it is `{}`".to_owned(), None);
            }
            (Shape::Reference, Value::String(text)) => self.lint_reference(name, text),
            (Shape::Pattern, Value::String(text)) => self.lint_pattern("/pattern", text),
            (Shape::ByPattern, Value::Object(members)) => {
                for key in members.keys() {
                    self.lint_pattern(&format!("/{name}{}", pointer_token(key)), key);
                }
            }
            _ => {}
        }
    }

    fn lint_reference(&mut self, name: &str, text: &str) {
        let definitions = if self.draft == Draft::Y2020 { "#/$defs/" } else { "#/definitions/" };
        if name == "$ref" && (text == "#" || text.starts_with(definitions)) {
            return;
        }
        let message = format!("the original host can't follow the {} `{}`", if name == "$ref" { "reference" } else { name }, shown(text));
        self.push(
            &format!("/{name}"),
            LintKind::Portability,
            message,
            Some(format!("in {} it knows `#` and `{definitions}…`", self.draft.name())),
        );
    }

    fn lint_pattern(&mut self, below: &str, text: &str) {
        let Ok(pattern) = Pattern::compile(text) else { return };
        if let Some(construct) = pattern.non_linear_construct() {
            let message = format!("the pattern has {construct}, so its time may grow without bound");
            let help = "it runs under a step limit; a text that needs more steps is refused".to_owned();
            self.push(below, LintKind::SlowPattern, message, Some(help));
        }
        if text.contains("\\p{") || text.contains("\\P{") {
            let message = "without the `u` flag `\\p{…}` stands for the letter p and braces".to_owned();
            let help = "patterns follow ECMAScript without flags: write the ranges, such as `[a-zA-Z\\u00c0-\\u024f]`".to_owned();
            self.push(below, LintKind::DoubtfulPattern, message, Some(help));
        }
    }

    fn lint_required(&mut self, keywords: &Map<String, Value>) {
        let properties = keywords.get("properties").and_then(Value::as_object);
        let required = keywords.get("required").and_then(Value::as_array);
        for (index, name) in required.into_iter().flatten().enumerate() {
            let Some(name) = name.as_str() else { continue };
            if properties.is_some_and(|properties| properties.contains_key(name)) {
                continue;
            }
            let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
            let help = nearest(name, known).map_or_else(
                || "every call must give it all the same; the original host doesn't insist".to_owned(),
                |near| format!("did you mean `{}`?", shown(near)),
            );
            let message = format!("`required` names `{}`, which `properties` doesn't", shown(name));
            self.push(&format!("/required/{index}"), LintKind::RequiredUndeclared, message, Some(help));
        }
    }

    /// Looks at `type`, `enum` and `const` only: what a default is most often wrong about.
    fn lint_default(&mut self, keywords: &Map<String, Value>, default: &Value) {
        let words: Vec<&str> = match keywords.get("type") {
            Some(Value::String(word)) => vec![word],
            Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let message = if !words.is_empty() && !words.iter().any(|word| is_of_type(default, word)) {
            format!("the default is {}, and its schema wants {}", kind_name(default), words.join(" or "))
        } else if keywords.get("enum").and_then(Value::as_array).is_some_and(|members| !members.contains(default)) {
            "the default is none of the values of `enum`".to_owned()
        } else if keywords.get("const").is_some_and(|only| only != default) {
            "the default is not the value of `const`".to_owned()
        } else {
            return;
        };
        let help = "a call that leaves the value out would be refused".to_owned();
        self.push("/default", LintKind::UnfitDefault, message, Some(help));
    }
}

fn is_of_type(value: &Value, word: &str) -> bool {
    match (value, word) {
        (Value::Number(number), "integer") => Decimal::read(number.as_str()).is_integral(),
        (value, word) => kind_name(value) == word,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The lints of `schema`, each as `pointer kind message`.
    fn check(schema: &Value, expected: &[&str]) {
        let lints: Vec<String> =
            schema_lints(schema).into_iter().map(|lint| format!("{} {:?} {}", lint.pointer, lint.kind, lint.message)).collect();
        assert_eq!(lints, expected, "{schema}");
    }

    #[test]
    fn an_ordinary_schema_has_none() {
        check(
            &json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "d", "minLength": 1, "pattern": "^[a-z]+$"},
                    "any": {"description": "anything"},
                    "mode": {"enum": ["a", "b"], "default": "a"},
                    "count": {"type": "integer", "default": 1, "minimum": 0},
                    "size": {"type": ["number", "null"], "default": null},
                    "next": {"$ref": "#/$defs/next"}
                },
                "required": ["path"],
                "$defs": {"next": {"type": "object", "properties": {"x": {"$ref": "#"}}}},
                "x-note": "propertys"
            }),
            &[],
        );
    }

    // Every construct of manifest §13 that the original host refuses or doesn't enforce.
    #[test]
    fn what_the_original_host_refuses_is_named() {
        check(
            &json!({"type": "object", "not": {"type": "string"}, "if": {}, "then": {}, "else": {}, "properties": {"a": {"not": {}}}}),
            &[
                "/not Portability the original host refuses `not` unless it is `{}`",
                "/if Portability the original host refuses `if`",
                "/then Portability the original host refuses `then`",
                "/else Portability the original host refuses `else`",
            ],
        );
        check(
            &json!({"type": "object", "dependentRequired": {}, "dependentSchemas": {}, "unevaluatedProperties": false, "unevaluatedItems": false}),
            &[
                "/dependentRequired Portability the original host refuses `dependentRequired`",
                "/dependentSchemas Portability the original host refuses `dependentSchemas`",
                "/unevaluatedProperties Portability the original host refuses `unevaluatedProperties`",
                "/unevaluatedItems Portability the original host refuses `unevaluatedItems`",
            ],
        );
        let definitions = json!({"properties": {"a": {"$ref": "#/definitions/a"}}, "type": "object", "definitions": {"a": {}}});
        check(&definitions, &["/properties/a/$ref Portability the original host can't follow the reference `#/definitions/a`"]);
        let mut draft_07 = definitions;
        draft_07["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        check(&draft_07, &[]);
        check(
            &json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "type": "object"}),
            &["/$schema Portability the original host knows draft-04, draft-07 and 2020-12, not 2019-09"],
        );
    }

    #[test]
    fn what_is_rarely_meant_is_named() {
        check(&json!({"properties": {"a": {}}, "required": ["b"]}), &[" MissingType `properties` without a `type` beside it"]);
        check(
            &json!({"type": "object", "properties": {"a": {"minLength": 3}}}),
            &["/properties/a MissingType `minLength` without a `type` beside it"],
        );
        check(
            &json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path", "paht", "zebra"]}),
            &[
                "/required/1 RequiredUndeclared `required` names `paht`, which `properties` doesn't",
                "/required/2 RequiredUndeclared `required` names `zebra`, which `properties` doesn't",
            ],
        );
        check(
            &json!({"type": "object", "propertys": {}, "requried": [], "additionalproperties": false, "zebra": 1, "$comment": "x"}),
            &[
                "/propertys MisspeltKeyword unknown keyword `propertys`, did you mean `properties`?",
                "/requried MisspeltKeyword unknown keyword `requried`, did you mean `required`?",
                "/additionalproperties MisspeltKeyword unknown keyword `additionalproperties`, did you mean `additionalProperties`?",
            ],
        );
        check(
            &json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "prefixItems": [], "$defs": {}}),
            &["/prefixItems OtherDraftKeyword `prefixItems` means nothing in draft-07"],
        );
        check(
            &json!({"type": "string", "pattern": "^(?=a)b", "x": {"pattern": "(?=a)"}}),
            &["/pattern SlowPattern the pattern has look-ahead, so its time may grow without bound"],
        );
        check(
            &json!({"type": "object", "patternProperties": {"(a)\\1": {}, "\\p{L}": {}}}),
            &[
                "/patternProperties/(a)\\1 SlowPattern the pattern has a back-reference, so its time may grow without bound",
                "/patternProperties/\\p{L} DoubtfulPattern without the `u` flag `\\p{…}` stands for the letter p and braces",
            ],
        );
        check(
            &json!({"type": "object", "properties": {
                "a": {"type": "string", "default": 1}, "b": {"type": "integer", "default": 1.5}, "c": {"enum": [1], "default": 2},
                "d": {"const": "x", "default": "y"}, "e": {"type": ["string", "null"], "default": null}, "f": {"type": "integer", "default": 2.0}
            }}),
            &[
                "/properties/a/default UnfitDefault the default is number, and its schema wants string",
                "/properties/b/default UnfitDefault the default is number, and its schema wants integer",
                "/properties/c/default UnfitDefault the default is none of the values of `enum`",
                "/properties/d/default UnfitDefault the default is not the value of `const`",
            ],
        );
    }

    #[test]
    fn a_schema_with_faults_is_linted_as_far_as_it_goes() {
        check(
            &json!({"type": "object", "properties": {"a": 5, "b": {"minimum": 1}}}),
            &["/properties/b MissingType `minimum` without a `type` beside it"],
        );
        check(&json!(5), &[]);
    }
}
