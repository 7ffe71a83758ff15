//! Environment variables that a package declares, and which values they take (manifest §11).

use serde_json::Value;
use thiserror::Error;

use crate::base::{json, text};

use super::number::Decimal;
use super::pattern::{Pattern, StepLimit};
use super::{VariableName, risk::words};

/// What a value has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum VariableKind {
    String,
    /// Finite as a double.
    Number,
    /// Finite and integral; `1.0` is.
    Integer,
    Boolean,
    Json,
}

words!(VariableKind { String => "string", Number => "number", Integer => "integer", Boolean => "boolean", Json => "json" });

/// One declared variable, checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    pub(crate) name: VariableName,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) kind: VariableKind,
    pub(crate) required: bool,
    pub(crate) secret: bool,
    pub(crate) default: Option<Value>,
    /// The manifest's `enum`; empty allows everything.
    pub(crate) allowed: Vec<Value>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) agent_configurable: bool,
}

/// Why a value is not one of the variable. Never tells the value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum ValueFault {
    #[error("must be {}, found {found}", with_article(*.expected))]
    Kind { expected: VariableKind, found: &'static str },
    #[error("must be a finite number")]
    NotFinite,
    #[error("must be a whole number")]
    NotIntegral,
    #[error("is none of the allowed values{}", .allowed.as_deref().map(|allowed| format!(": {allowed}")).unwrap_or_default())]
    NotAllowed { allowed: Option<String> },
    #[error("does not match the pattern `{pattern}`")]
    Pattern { pattern: String },
    #[error("can't be checked: the {0}")]
    Steps(StepLimit),
    #[error("holds a NUL character, which no environment variable can")]
    Nul,
    #[error("is not JSON{}", .fault.as_deref().map(|fault| format!(": {fault}")).unwrap_or_default())]
    NotJson { fault: Option<String> },
}

fn with_article(kind: VariableKind) -> &'static str {
    match kind {
        VariableKind::String => "a string",
        VariableKind::Number => "a number",
        VariableKind::Integer => "a whole number",
        VariableKind::Boolean => "true or false",
        VariableKind::Json => "JSON",
    }
}

impl Variable {
    /// Checks type, then `enum`, then `pattern` (manifest §11, value rule).
    pub(crate) fn check(&self, value: &Value) -> Result<(), ValueFault> {
        self.check_kind(value)?;
        if !self.allowed.is_empty() && !self.allowed.iter().any(|member| is_same(member, value)) {
            return Err(ValueFault::NotAllowed { allowed: (!self.secret).then(|| self.allowed_text()) });
        }
        match (&self.pattern, value) {
            (Some(pattern), Value::String(text)) => match pattern.is_match(text) {
                Ok(true) => Ok(()),
                Ok(false) => Err(ValueFault::Pattern { pattern: text::visible(&text::cut(pattern.as_str(), 200)).into_owned() }),
                Err(limit) => Err(ValueFault::Steps(limit)),
            },
            _ => Ok(()),
        }
    }

    fn check_kind(&self, value: &Value) -> Result<(), ValueFault> {
        match (self.kind, value) {
            (VariableKind::String, Value::String(text)) => {
                if text.contains('\0') {
                    return Err(ValueFault::Nul);
                }
            }
            (VariableKind::Number | VariableKind::Integer, Value::Number(number)) => {
                let text = number.as_str();
                if !text.parse::<f64>().is_ok_and(f64::is_finite) {
                    return Err(ValueFault::NotFinite);
                }
                if self.kind == VariableKind::Integer && !Decimal::read(text).is_integral() {
                    return Err(ValueFault::NotIntegral);
                }
            }
            (VariableKind::Boolean, Value::Bool(_)) | (VariableKind::Json, _) => {}
            (expected, found) => return Err(ValueFault::Kind { expected, found: kind_name(found) }),
        }
        Ok(())
    }

    fn allowed_text(&self) -> String {
        let words: Vec<String> =
            self.allowed.iter().take(20).map(|value| text::visible(&text::cut(&value.to_string(), 80)).into_owned()).collect();
        let more = if self.allowed.len() > words.len() { ", …" } else { "" };
        format!("{}{more}", words.join(", "))
    }

    /// Returns the checked value that `text` from a command line means: a string as it is, anything else as JSON.
    pub(crate) fn parse_text(&self, text: &str) -> Result<Value, ValueFault> {
        let value = match self.kind {
            VariableKind::String => Value::String(text.to_owned()),
            VariableKind::Number | VariableKind::Integer | VariableKind::Boolean | VariableKind::Json => json::parse(text.as_bytes())
                .map_err(|fault| match self.kind {
                    VariableKind::Json => ValueFault::NotJson { fault: (!self.secret).then(|| fault.message()) },
                    expected => ValueFault::Kind { expected, found: "other text" },
                })?,
        };
        self.check(&value)?;
        Ok(value)
    }

    /// Returns what a child's environment holds for a checked value: a string as it is, numbers as ECMAScript prints
    /// them unless that would round, else compact JSON (manifest §11).
    #[expect(clippy::unused_self, reason = "the rule belongs to the variable; a kind may get its own form")]
    pub(crate) fn to_environment(&self, value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => Decimal::ecmascript_text(number.as_str()).unwrap_or_else(|| number.as_str().to_owned()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
        }
    }
}

/// Same-value comparison with numbers by exact value: `1` is `1.0`, `0` is not `-0` (manifest §11). Members are
/// strings, numbers and booleans.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Decimal::read(a.as_str()) == Decimal::read(b.as_str()),
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        _ => false,
    }
}

/// Returns `object`, `array`, `string` and so on.
pub(super) fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn variable(kind: VariableKind) -> Variable {
        Variable {
            name: "A_NAME".parse().expect("a name"),
            title: "A title".into(),
            description: None,
            kind,
            required: false,
            secret: false,
            default: None,
            allowed: Vec::new(),
            pattern: None,
            agent_configurable: false,
        }
    }

    fn parsed(text: &str) -> Value {
        json::parse(text.as_bytes()).expect("JSON")
    }

    #[test]
    fn each_kind_takes_its_values_only() {
        use VariableKind::{Boolean, Integer, Json, Number, String};
        let long = format!("1{}", "0".repeat(400));
        for (text, takers) in [
            ("\"x\"", &[String, Json][..]),
            ("\"\"", &[String, Json]),
            ("1", &[Number, Integer, Json]),
            ("1.0", &[Number, Integer, Json]),
            ("-0", &[Number, Integer, Json]),
            ("1e3", &[Number, Integer, Json]),
            ("9007199254740993", &[Number, Integer, Json]),
            ("1.5", &[Number, Json]),
            ("1e-400", &[Number, Json]),
            ("1e400", &[Json]),
            (&long, &[Json]),
            ("true", &[Boolean, Json]),
            ("null", &[Json]),
            ("[1]", &[Json]),
            ("{}", &[Json]),
        ] {
            for kind in [String, Number, Integer, Boolean, Json] {
                let checked = variable(kind).check(&parsed(text));
                assert_eq!(checked.is_ok(), takers.contains(&kind), "{text} as {kind}: {checked:?}");
            }
        }
        assert_eq!(variable(String).check(&json!("a\0b")), Err(ValueFault::Nul));
        assert_eq!(variable(Number).check(&parsed("1e400")), Err(ValueFault::NotFinite));
        assert_eq!(variable(Integer).check(&json!(1.5)), Err(ValueFault::NotIntegral));
    }

    #[test]
    fn an_enum_compares_values_and_not_their_kinds() {
        for (member, value, is_one) in [
            ("1", "1.0", true),
            ("0", "-0", false),
            ("\"1\"", "1", false),
            ("1", "\"1\"", false),
            ("true", "true", true),
            ("\"a\"", "\"a\"", true),
            ("\"a\"", "\"A\"", false),
            ("{}", "{}", false),
        ] {
            let variable = Variable { allowed: vec![parsed(member)], ..variable(VariableKind::Json) };
            assert_eq!(variable.check(&parsed(value)).is_ok(), is_one, "{member} {value}");
        }
    }

    #[test]
    fn type_comes_before_enum_and_enum_before_pattern() {
        let variable = Variable {
            allowed: vec![json!("ab"), json!(5), json!("zz")],
            pattern: Some(Pattern::compile("b").expect("a pattern")),
            ..variable(VariableKind::String)
        };
        assert_eq!(variable.check(&json!("ab")), Ok(()));
        assert_eq!(variable.check(&json!(5)).map_err(|fault| fault.to_string()), Err("must be a string, found number".into()));
        assert_eq!(
            variable.check(&json!("b")).map_err(|fault| fault.to_string()),
            Err("is none of the allowed values: \"ab\", 5, \"zz\"".into())
        );
        assert_eq!(variable.check(&json!("zz")).map_err(|fault| fault.to_string()), Err("does not match the pattern `b`".into()));
    }

    #[test]
    fn a_secrets_fault_tells_nothing_of_it() {
        let variable = Variable { secret: true, allowed: vec![json!("hunter2")], ..variable(VariableKind::String) };
        let fault = variable.check(&json!("swordfish")).expect_err("not allowed").to_string();
        assert_eq!(fault, "is none of the allowed values");
        let variable = Variable { secret: true, kind: VariableKind::Json, ..variable };
        assert_eq!(variable.parse_text("swordfish").expect_err("no JSON").to_string(), "is not JSON");
    }

    #[test]
    fn text_is_read_by_kind() {
        use VariableKind::{Boolean, Integer, Json, Number, String};
        for (kind, text, value) in [
            (String, "true", Some(json!("true"))),
            (String, "", Some(json!(""))),
            (Number, "2.50", Some(parsed("2.50"))),
            (Number, "x", None),
            (Number, "\"1\"", None),
            (Integer, "1.0", Some(parsed("1.0"))),
            (Integer, "1.5", None),
            (Boolean, "true", Some(json!(true))),
            (Boolean, "yes", None),
            (Boolean, "True", None),
            (Json, "{\"a\":[1]}", Some(json!({"a": [1]}))),
            (Json, "{\"a\":1,\"a\":2}", None),
            (Json, "plain", None),
        ] {
            assert_eq!(variable(kind).parse_text(text).ok(), value, "{kind} {text}");
        }
    }

    #[test]
    fn a_childs_environment_gets_the_originals_text() {
        for (text, shown) in [
            ("\"a b\"", "a b"),
            ("1.0", "1"),
            ("0.10", "0.1"),
            ("1e21", "1e+21"),
            ("9007199254740993", "9007199254740993"),
            ("true", "true"),
            ("null", "null"),
            ("{ \"a\": [1.0, \"x\"] }", "{\"a\":[1.0,\"x\"]}"),
        ] {
            assert_eq!(variable(VariableKind::Json).to_environment(&parsed(text)), shown);
        }
    }
}
