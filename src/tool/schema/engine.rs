//! The one place that knows the `jsonschema` crate: a surveyed schema built for it, a value judged by it.
//!
//! The schema is built as the target of a reference in a small draft-04 schema. The crate checks what it builds
//! against the meta-schema, and preparing the newer ones takes some milliseconds of every process; the survey has
//! done that check already.

use std::cell::Cell;
use std::fmt::Write as _;
use std::sync::LazyLock;

use jsonschema::{Draft as EngineDraft, Keyword, PatternOptions, Registry, ValidationError, ValidationOptions, Validator};
use serde_json::{Map, Value, json};

use super::super::pattern::{Pattern, StepLimit};
use super::format;
use super::keyword::Draft;
use super::problem::{self, Problem};
use super::survey::Survey;
use crate::base::limits::{FINDINGS, PATTERN_STEPS};

/// Steps of all patterns in one check of a value.
const CHECK_STEPS: u64 = 10 * PATTERN_STEPS;

thread_local! {
    /// What is left of them. A check runs on one thread from start to end.
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static GAVE_UP: Cell<bool> = const { Cell::new(false) };
}

static OPTIONS: LazyLock<ValidationOptions<'static>> = LazyLock::new(|| {
    let options = jsonschema::options()
        .offline()
        .with_draft(EngineDraft::Draft4)
        .should_validate_formats(true)
        // For the keys of `patternProperties`; other patterns are ours.
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(10_000))
        .with_keyword("pattern", |_, value, _| {
            let text = value.as_str().unwrap_or_default();
            let pattern = Pattern::compile(text).map_err(|fault| ValidationError::schema(fault.to_string()))?;
            Ok(Box::new(PatternKeyword(pattern)))
        });
    // The older drafts leave it open whether these assert something; the original takes them as notes.
    let options = ["base64", "base64url", "base32", "base32hex", "base16"]
        .into_iter()
        .fold(options, ValidationOptions::without_content_encoding_support);
    format::add(options.without_content_media_type_support("application/json"))
});

pub(super) struct Engine(Validator);

impl Engine {
    /// Builds a schema whose survey found no fault.
    pub(super) fn build(schema: &Value, draft: Draft, base: &str) -> Result<Self, String> {
        let resource = draft.engine().create_resource_ref(schema);
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let registry = Registry::new()
            .draft(draft.engine())
            .add(base, resource)
            .and_then(jsonschema::RegistryBuilder::prepare)
            .map_err(|error| told(&error))?;
        let options = OPTIONS.clone().with_registry(&registry);
        options.build(&json!({ "$ref": base })).map(Self).map_err(|error| told(&error))
    }

    /// Says whether `value` conforms; else all its problems if telling them `is_bearable`, or that it doesn't.
    pub(super) fn check(&self, value: &Value, is_bearable: impl Fn() -> bool) -> Result<(), Vec<Problem>> {
        STEPS.set(CHECK_STEPS);
        GAVE_UP.set(false);
        if self.0.is_valid(value) && !GAVE_UP.get() {
            return Ok(());
        }
        let gave_up = GAVE_UP.get();
        STEPS.set(CHECK_STEPS);
        let mut problems = Vec::new();
        if is_bearable() {
            for error in self.0.iter_errors(value).take(FINDINGS) {
                problem::push(value, &error, &mut problems);
            }
        } else if !gave_up {
            let message = "does not fit the schema, and is nested too deeply to say where";
            problems.push(Problem { pointer: String::new(), message: message.to_owned() });
        }
        // Under a `not`, giving up would make a value valid.
        if gave_up && !problems.iter().any(|problem| problem.message.contains(StepLimit::TEXT)) {
            problems.push(Problem { pointer: String::new(), message: format!("can't be checked: a {}", StepLimit::TEXT) });
        }
        Err(problems)
    }
}

struct PatternKeyword(Pattern);

impl PatternKeyword {
    fn find(&self, text: &str) -> Result<bool, StepLimit> {
        let before = STEPS.get();
        let mut steps = before.min(PATTERN_STEPS);
        let given = steps;
        let found = self.0.is_match_within(text, &mut steps);
        STEPS.set(before - (given - steps));
        if found.is_err() {
            GAVE_UP.set(true);
        }
        found
    }
}

impl<'i> Keyword<'i> for PatternKeyword {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        match value.as_str().map(|text| self.find(text)) {
            None | Some(Ok(true)) => Ok(()),
            Some(Ok(false)) => Err(ValidationError::custom(problem::no_match(self.0.as_str()))),
            Some(Err(limit)) => Err(ValidationError::custom(format!("can't be checked: the {limit}"))),
        }
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        value.as_str().is_none_or(|text| self.find(text).unwrap_or(false))
    }
}

/// What has to be written otherwise for the crate.
pub(super) enum Change {
    /// The patterns among the keys of a schema: in the grammar of the crate's engine.
    Keys { place: String },
    /// A reference with characters that an address can't have.
    Reference { place: String, keyword: &'static str, text: String },
}

/// Returns the changes that a schema needs, the inner ones first: a renamed key changes the place of what is below.
pub(super) fn changes(survey: &Survey<'_>) -> Vec<Change> {
    let references = survey.references.iter().filter_map(|reference| {
        let text = encoded(reference.text);
        (text != reference.text).then(|| Change::Reference { place: survey.pointer(reference.node), keyword: reference.keyword, text })
    });
    // Where a reference goes through such a key it has to stay as it is, and so have all.
    let may_rename = !survey.references.iter().any(|reference| reference.text.contains("/patternProperties/"));
    let needs_renaming = |schema: &Value| {
        let keys = schema.get("patternProperties").and_then(Value::as_object);
        keys.is_some_and(|keys| keys.keys().any(|key| !is_plain(key)))
    };
    let keys = survey.nodes.iter().enumerate().rev().filter(|(_, node)| may_rename && needs_renaming(node.schema));
    references.chain(keys.map(|(at, _)| Change::Keys { place: survey.pointer(at) })).collect()
}

/// Returns the schema as the crate needs it; its dialect is given apart.
pub(super) fn adapted(document: &Value, changes: &[Change]) -> Value {
    let mut adapted = document.clone();
    if let Value::Object(keywords) = &mut adapted {
        keywords.shift_remove("$schema");
    }
    for change in changes {
        match change {
            Change::Reference { place, keyword, text } => {
                if let Some(Value::Object(keywords)) = adapted.pointer_mut(place) {
                    keywords.insert((*keyword).to_owned(), Value::String(text.clone()));
                }
            }
            Change::Keys { place } => {
                if let Some(Value::Object(keys)) = adapted.pointer_mut(&format!("{place}/patternProperties")) {
                    rename(keys);
                }
            }
        }
    }
    adapted
}

fn rename(keys: &mut Map<String, Value>) {
    for (key, value) in std::mem::take(keys) {
        let mut name = key_pattern(&key);
        // Two patterns may mean the same.
        while keys.contains_key(&name) {
            name.push_str("(?:)");
        }
        keys.insert(name, value);
    }
}

/// Percent-encodes what RFC 3986 doesn't allow in a reference.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?#%".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("a String takes all text");
        }
    }
    out
}

/// Plain prefixes mean the same in both grammars, and the crate has a fast way for them.
fn key_pattern(key: &str) -> String {
    if is_plain(key) {
        return key.to_owned();
    }
    Pattern::for_whole_characters(key).unwrap_or_else(|_| key.to_owned())
}

fn is_plain(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'^' | b'$' | b'-' | b'_' | b'/'))
}
