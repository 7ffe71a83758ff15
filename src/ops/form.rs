//! A tool's input asked for field by field, from its schema.

use serde_json::Value;

use super::input::{by_type, property};
use super::{Ask, AskError, Field};
use crate::base::text::{cut, visible};
use crate::tool::Schema;

/// Asks for each property of `schema` and returns the input as JSON. An empty answer leaves a property out; one that
/// is required is asked for again.
pub(crate) fn fill(ask: &dyn Ask, schema: &Value) -> Result<String, AskError> {
    let no_properties = serde_json::Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&no_properties);
    let required: Vec<&str> = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut input = serde_json::Map::new();
    for name in properties.keys() {
        let Some(property) = property(schema, name) else { continue };
        let is_required = required.contains(&name.as_str()) && property.get("default").is_none();
        let check = |text: &str| check(text, property, is_required);
        let field = Field { label: label(name, property, is_required), help: None, default: Some(String::new()), check: &check };
        let text = ask.text(&field)?;
        if !text.is_empty() {
            input.insert(name.clone(), by_type(text, Some(property)));
        }
    }
    Ok(Value::Object(input).to_string())
}

fn label(name: &str, property: &Value, is_required: bool) -> String {
    let kind = match property.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        _ => "any".to_owned(),
    };
    let words = property.get("enum").and_then(Value::as_array);
    let kind = words.map_or(kind, |words| {
        words.iter().map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned)).collect::<Vec<_>>().join("|")
    });
    let need = match property.get("default") {
        Some(default) => format!("default {default}"),
        None if is_required => "required".to_owned(),
        None => "may be empty".to_owned(),
    };
    let about = property.get("description").and_then(Value::as_str).map_or(String::new(), |text| format!(" – {}", cut(text, 120)));
    visible(&format!("{name} ({kind}, {need}){about}")).into_owned()
}

/// Says what is wrong with one answer.
fn check(text: &str, property: &Value, is_required: bool) -> Result<(), String> {
    if text.is_empty() {
        return if is_required { Err("it is required".to_owned()) } else { Ok(()) };
    }
    // A property that refers to its root's definitions can't be compiled alone: then the whole input is checked later.
    let Ok(schema) = Schema::compile(property) else { return Ok(()) };
    match schema.check(&by_type(text.to_owned(), Some(property))) {
        Ok(()) => Ok(()),
        Err(problems) => Err(problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; ")),
    }
}
