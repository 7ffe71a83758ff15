//! What a tool is: its names, its safety, its schemas, the variables it is given. Values only; nothing runs here.

mod definition;
mod digest;
mod id;
mod lifecycle;
mod number;
mod os_effect;
mod pattern;
mod risk;
mod schema;
mod variable;

pub(crate) use definition::{Example, Guidance, SERVED_NAME_MAX, ToolDefinition, hashed_served_name, plain_served_name};
pub(crate) use digest::Digest;
pub(crate) use id::{CapabilityName, IdError, PackageId, ToolName, ToolRef, VariableName, Version, is_device_name};
pub(crate) use lifecycle::{Origin, Permission, PermissionKind, PermissionState, Scope, Source, Trust, UnknownWord, word_set};
pub(crate) use os_effect::OsEffect;
pub(crate) use pattern::Pattern;
pub(crate) use risk::{Concurrency, Effect, Idempotency, Risk, Safety};
pub(crate) use schema::{LintKind, Problem, Schema, prepare_schemas, schema_lints};
pub(crate) use variable::{ValueFault, Variable, VariableKind};
