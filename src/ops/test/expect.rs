//! What a case expects, and whether a result meets it.

use serde_json::Value;

use crate::base::json::pointer_token;
use crate::base::text;
use crate::tool::{Problem, Schema};

/// What a case demands of a call (design §6, `test`). Without one, any result passes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expectation {
    pub(crate) demand: Option<Demand>,
    /// The most bytes that the result's JSON may have.
    pub(crate) max_bytes: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Demand {
    /// The result is this value; keys in any order, numbers by value.
    Equals(Value),
    /// The result has at least this: objects by key, arrays item by item from the start and no longer.
    Includes(Value),
    /// The result fits this JSON Schema.
    Schema(Value),
    /// The call fails with this code.
    Error(String),
}

/// What a call gave, as far as a case may ask about it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given<'a> {
    Result { value: &'a Value, bytes: u64 },
    Error { code: &'a str, message: &'a str },
}

/// Returns everything in which `given` is not what was expected; empty if the case passes.
pub(crate) fn unmet(expectation: &Expectation, given: Given<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    match (&expectation.demand, given) {
        (Some(Demand::Error(expected)), Given::Error { code, .. }) => {
            if expected != code {
                problems.push(problem("", format!("expected the error `{expected}`, got `{}`", text::visible(code))));
            }
        }
        (Some(Demand::Error(expected)), Given::Result { .. }) => {
            problems.push(problem("", format!("expected the error `{expected}`, got a result")));
        }
        (_, Given::Error { code, message }) => {
            problems.push(problem("", format!("the tool answered with the error `{}`: {}", text::visible(code), text::visible(message))));
        }
        (Some(Demand::Equals(expected)), Given::Result { value, .. }) => compare(expected, value, Depth::Whole, "", &mut problems),
        (Some(Demand::Includes(expected)), Given::Result { value, .. }) => compare(expected, value, Depth::Part, "", &mut problems),
        (Some(Demand::Schema(schema)), Given::Result { value, .. }) => match Schema::compile(schema) {
            Ok(schema) => problems.extend(schema.check(value).err().unwrap_or_default()),
            Err(faults) => problems.extend(
                faults
                    .into_iter()
                    .map(|fault| problem("", format!("the expected schema is broken at `{}`: {}", fault.pointer, fault.message))),
            ),
        },
        (None, Given::Result { .. }) => {}
    }
    if let (Some(max_bytes), Given::Result { bytes, .. }) = (expectation.max_bytes, given)
        && bytes > max_bytes
    {
        problems.push(problem("", format!("the result has {bytes} bytes, allowed are {max_bytes}")));
    }
    problems
}

fn problem(pointer: &str, message: String) -> Problem {
    Problem { pointer: pointer.to_owned(), message }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Whole,
    Part,
}

fn compare(expected: &Value, found: &Value, depth: Depth, pointer: &str, problems: &mut Vec<Problem>) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, expected) in expected {
                let pointer = format!("{pointer}{}", pointer_token(key));
                match found.get(key) {
                    Some(found) => compare(expected, found, depth, &pointer, problems),
                    None => problems.push(problem(&pointer, format!("missing, expected {}", shown(expected)))),
                }
            }
            for key in found.keys().filter(|key| depth == Depth::Whole && !expected.contains_key(*key)) {
                problems.push(problem(&format!("{pointer}{}", pointer_token(key)), "not expected".into()));
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            for (at, expected) in expected.iter().enumerate() {
                let pointer = format!("{pointer}/{at}");
                match found.get(at) {
                    Some(found) => compare(expected, found, depth, &pointer, problems),
                    None => problems.push(problem(&pointer, format!("missing, expected {}", shown(expected)))),
                }
            }
            if found.len() > expected.len() && depth == Depth::Whole {
                problems.push(problem(pointer, format!("{} items, expected {}", found.len(), expected.len())));
            }
        }
        _ if same(expected, found) => {}
        _ => problems.push(problem(pointer, format!("expected {}, got {}", shown(expected), shown(found)))),
    }
}

/// Numbers are the same by value: `1`, `1.0` and `1e0` are one number.
fn same(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Number(a), Value::Number(b)) => {
            let is_whole = |text: &str| !text.contains(['.', 'e', 'E']);
            let (a_text, b_text) = (a.as_str(), b.as_str());
            a_text == b_text || (!(is_whole(a_text) && is_whole(b_text)) && a.as_f64().is_some_and(|a| b.as_f64() == Some(a)))
        }
        _ => expected == found,
    }
}

fn shown(value: &Value) -> String {
    format!("`{}`", text::cut(&text::visible(&value.to_string()), 200))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(demand: Option<Demand>, given: &Value, expected: &[&str]) {
        let expectation = Expectation { demand, max_bytes: None };
        let found: Vec<String> = unmet(&expectation, Given::Result { value: given, bytes: 1 })
            .into_iter()
            .map(|problem| format!("{} {}", problem.pointer, problem.message))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn equal_means_the_whole_value_with_numbers_by_value() {
        let given = json!({"a": [1, {"b": 2.0}], "c": "x"});
        check(Some(Demand::Equals(json!({"c": "x", "a": [1.0, {"b": 2}]}))), &given, &[]);
        check(Some(Demand::Equals(json!({"a": [1]}))), &given, &["/a 2 items, expected 1", "/c not expected"]);
        check(
            Some(Demand::Equals(json!({"a": [1, {"b": 3}], "c": null}))),
            &given,
            &["/a/1/b expected `3`, got `2.0`", "/c expected `null`, got `\"x\"`"],
        );
    }

    #[test]
    fn large_integers_that_differ_are_not_the_same_number() {
        let number = |text: &str| serde_json::from_str::<Value>(text).expect("a number");
        check(
            Some(Demand::Equals(number("9007199254740993"))),
            &number("9007199254740992"),
            &[" expected `9007199254740993`, got `9007199254740992`"],
        );
    }

    #[test]
    fn a_part_is_enough_for_includes() {
        let given = json!({"a": [1, {"b": 2, "c": 3}], "d": 4});
        check(Some(Demand::Includes(json!({"a": [1, {"b": 2}]}))), &given, &[]);
        check(
            Some(Demand::Includes(json!({"a": [1, {"x": 2}, 5]}))),
            &given,
            &["/a/1/x missing, expected `2`", "/a/2 missing, expected `5`"],
        );
    }

    #[test]
    fn a_schema_an_error_and_a_size_can_be_demanded() {
        check(Some(Demand::Schema(json!({"type": "string"}))), &json!("x"), &[]);
        check(None, &json!({"anything": true}), &[]);
        let error = Given::Error { code: "NOT_FOUND", message: "no such city" };
        let unmet_by = |demand: Option<Demand>, given| unmet(&Expectation { demand, max_bytes: Some(10) }, given).len();
        assert_eq!(unmet_by(Some(Demand::Error("NOT_FOUND".into())), error), 0);
        assert_eq!(unmet_by(Some(Demand::Error("OTHER".into())), error), 1);
        assert_eq!(unmet_by(None, error), 1);
        let value = json!("x");
        assert_eq!(unmet_by(Some(Demand::Error("OTHER".into())), Given::Result { value: &value, bytes: 3 }), 1);
        assert_eq!(unmet_by(None, Given::Result { value: &value, bytes: 11 }), 1);
    }
}
