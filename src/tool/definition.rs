//! A tool as its package defines it.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{Safety, ToolName};

/// What a manifest says of one tool (manifest §9). The schemas are as written; `tool::Schema` compiles them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolDefinition {
    pub(crate) name: ToolName,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) input_schema: Value,
    pub(crate) output_schema: Option<Value>,
    pub(crate) safety: Safety,
    pub(crate) guidance: Option<Guidance>,
}

/// Text for models (manifest §10). Untrusted, like all text from a package.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Guidance {
    pub(crate) when_to_use: Vec<String>,
    pub(crate) when_not_to_use: Vec<String>,
    pub(crate) instructions: Option<String>,
    pub(crate) examples: Vec<Example>,
    pub(crate) result_semantics: Option<String>,
}

/// A call that a tool's author shows (manifest §10).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Example {
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) description: Option<String>,
    #[serde(default)]
    pub(crate) input: Option<Value>,
    #[serde(default)]
    pub(crate) output: Option<Value>,
}

/// The length of a name as models see it (design §6).
pub(crate) const SERVED_NAME_MAX: usize = 64;

/// Returns `<package>_<tool>` with everything outside `[a-zA-Z0-9_-]` turned to `_`, and whether it is within 64
/// characters as it is (design §6).
pub(crate) fn plain_served_name(package: &str, tool: &str) -> (String, bool) {
    let name: String =
        format!("{package}_{tool}").chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect();
    let fits = name.len() <= SERVED_NAME_MAX;
    (name, fits)
}

/// Returns the name of a tool whose plain one is too long or taken: its start, `_`, ten hex digits of SHA-256 over
/// `package/tool`. At most 64 characters.
pub(crate) fn hashed_served_name(package: &str, tool: &str) -> String {
    const HASH_DIGITS: usize = 10;
    let hash = HEXLOWER.encode(&Sha256::digest(format!("{package}/{tool}")));
    let (plain, _fits) = plain_served_name(package, tool);
    let start: String = plain.chars().take(SERVED_NAME_MAX - HASH_DIGITS - 1).collect();
    format!("{start}_{}", &hash[..HASH_DIGITS])
}
