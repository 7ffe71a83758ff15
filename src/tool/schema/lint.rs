//! What a schema says that is legal and yet rarely meant, or that the original host refuses (manifest §13).

use serde_json::Value;

use crate::base::json::pointer_token;
use crate::base::text::visible;

/// One thing to think about, at its place in the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaLint {
    pub(crate) pointer: String,
    pub(crate) kind: LintKind,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LintKind {
    /// A construct that the original host refuses or reads otherwise.
    Portability,
    /// `required` names a key that `properties` doesn't.
    RequiredUndeclared,
    /// A schema with `properties` and no `type`.
    MissingType,
    /// A pattern whose time is not linear in the text.
    SlowPattern,
    /// A keyword that no draft knows and that looks like one.
    MisspeltKeyword,
    /// A default that its own schema refuses.
    UnfitDefault,
}

/// Returns the lints of a schema as written. Of a schema with faults it returns what it can.
pub(crate) fn schema_lints(document: &Value) -> Vec<SchemaLint> {
    let mut lints = Vec::new();
    lint(document, "", &mut lints);
    lints
}

fn lint(schema: &Value, pointer: &str, lints: &mut Vec<SchemaLint>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if !properties.contains_key(name) {
            lints.push(SchemaLint {
                pointer: format!("{pointer}/required"),
                kind: LintKind::RequiredUndeclared,
                message: format!("`required` names `{}`, which `properties` doesn't", visible(name)),
                help: None,
            });
        }
    }
    for (name, schema) in properties {
        lint(schema, &format!("{pointer}/properties{}", pointer_token(name)), lints);
    }
}
