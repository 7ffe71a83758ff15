//! What is wrong with a value, in words that tell nothing of it.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use crate::base::text::{count, cut, listed, visible};

use super::super::pattern::StepLimit;
use super::super::variable::kind_name;

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Into the value.
    pub(crate) pointer: String,
    /// Lowercase, no period; never a value.
    pub(crate) message: String,
}

/// Characters of a key or of a word from the schema that a message shows.
const SHOWN: usize = 80;
/// Members of an `enum` or keys that a message lists.
const LISTED: usize = 12;

/// Appends what `error` says of a part of `value`. A missing key is a problem of its own.
pub(super) fn push(value: &Value, error: &ValidationError<'_>, problems: &mut Vec<Problem>) {
    let pointer = error.instance_path().as_str();
    let message = match error.kind() {
        // Without `properties` the engine says of the object that it isn't allowed at all.
        ValidationErrorKind::FalseSchema if error.schema_path().as_str().ends_with("/additionalProperties") => {
            let names = value.pointer(pointer).and_then(Value::as_object).into_iter().flat_map(|members| members.keys().cloned());
            unexpected(&names.collect::<Vec<_>>())
        }
        _ => message(error, 0),
    };
    let problem = Problem { pointer: pointer.to_owned(), message };
    if !problems.contains(&problem) {
        problems.push(problem);
    }
}

fn message(error: &ValidationError<'_>, depth: usize) -> String {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Required { property } => format!("missing required key {}", key(property.as_str().unwrap_or_default())),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => self::unexpected(unexpected),
        Kind::Type { kind } => format!("expected {}, found {}", types(kind), kind_name(error.instance())),
        Kind::Enum { options } => format!("must be one of {}", options.as_array().map_or_else(String::new, |members| values(members))),
        Kind::Constant { expected_value } => format!("must be {}", shown(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {}", shown(limit)),
        Kind::Maximum { limit } => format!("must be at most {}", shown(limit)),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {}", shown(limit)),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {}", shown(limit)),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {}", shown(multiple_of)),
        Kind::MinLength { limit } => format!("must have at least {}", count(*limit, "character")),
        Kind::MaxLength { limit } => format!("must have at most {}", count(*limit, "character")),
        Kind::MinItems { limit } => format!("must have at least {}", count(*limit, "item")),
        Kind::MaxItems { limit } => format!("must have at most {}", count(*limit, "item")),
        Kind::MinProperties { limit } => format!("must have at least {}", count(*limit, "key")),
        Kind::MaxProperties { limit } => format!("must have at most {}", count(*limit, "key")),
        Kind::AdditionalItems { limit } => format!("must have at most {}", count(*limit as u64, "item")),
        Kind::UnevaluatedItems { .. } => "has items that no part of the schema allows".into(),
        Kind::Pattern { pattern } => no_match(pattern),
        Kind::Format { format } => format!("is not a valid {}", visible(&cut(format, SHOWN))),
        Kind::UniqueItems => "has equal items, each may stand there once".into(),
        Kind::Contains => "has not the items that it must contain".into(),
        Kind::FalseSchema => "is not allowed here".into(),
        Kind::Not { .. } => "fits what the schema excludes".into(),
        Kind::PropertyNames { error } => {
            let name = error.instance().as_str().unwrap_or_default();
            format!("the key {} {}", key(name), message(error, depth + 1))
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => alternatives(context, error, depth),
        Kind::OneOfMultipleValid { .. } => "fits more than one alternative, and must fit exactly one".into(),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => format!("can't be checked: the {}", StepLimit::TEXT),
        Kind::ContentEncoding { content_encoding } => format!("is not {}", visible(&cut(content_encoding, SHOWN))),
        Kind::ContentMediaType { content_media_type } => format!("is not {}", visible(&cut(content_media_type, SHOWN))),
        Kind::FromUtf8 { .. } => "is not UTF-8 once decoded".into(),
        Kind::Custom { message, .. } => message.clone(),
        Kind::Referencing(_) => "can't be checked: a reference of the schema leads nowhere".into(),
    }
}

pub(super) fn no_match(pattern: &str) -> String {
    format!("does not match the pattern `{}`", visible(&cut(pattern, SHOWN)))
}

/// Names the alternative that fits best: the one with the fewest problems, where one that fails at the value itself
/// (its type, its tag) is farther than one that fails below.
fn alternatives(context: &[Vec<ValidationError<'static>>], error: &ValidationError<'_>, depth: usize) -> String {
    let none = format!("fits none of the {}", count(context.len() as u64, "alternative"));
    let at = error.instance_path().as_str();
    let nearest = context.iter().enumerate().min_by_key(|(_, errors)| {
        let farness = |error: &ValidationError<'_>| match error.kind() {
            ValidationErrorKind::Type { .. } if error.instance_path().as_str() == at => 100,
            ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. } => 10,
            _ => 1,
        };
        errors.iter().map(farness).sum::<usize>()
    });
    match nearest {
        Some((index, errors)) if depth < 2 && !errors.is_empty() => {
            let reasons: Vec<String> = errors
                .iter()
                .take(3)
                .map(|error| {
                    let below = error.instance_path().as_str().strip_prefix(at).unwrap_or_default();
                    let place = if below.is_empty() { String::new() } else { format!("`{}` ", visible(&cut(below, SHOWN))) };
                    format!("{place}{}", message(error, depth + 1))
                })
                .collect();
            let more = if errors.len() > 3 { "; …" } else { "" };
            format!("{none}; number {} is nearest: {}{more}", index + 1, reasons.join("; "))
        }
        _ => none,
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or "),
    }
}

fn key(name: &str) -> String {
    format!("`{}`", visible(&cut(name, SHOWN)))
}

fn unexpected(names: &[String]) -> String {
    let noun = if names.len() == 1 { "key" } else { "keys" };
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| visible(&cut(name, SHOWN)).into_owned()).collect();
    let more = if names.len() > LISTED { format!(" and {} more", names.len() - LISTED) } else { String::new() };
    format!("unexpected {noun} {}{more}", listed(shown.iter().map(String::as_str)))
}

fn values(members: &[Value]) -> String {
    let words: Vec<String> = members.iter().take(LISTED).map(shown).collect();
    let more = if members.len() > LISTED { ", …" } else { "" };
    format!("{}{more}", words.join(", "))
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    visible(&cut(&text, SHOWN)).into_owned()
}
