//! What a tool is: its names, its safety, its schemas, the variables it is given. Values only; nothing runs here.

mod definition;
mod id;
mod risk;

pub(crate) use definition::{Example, Guidance, SERVED_NAME_MAX, ToolDefinition, plain_served_name};
pub(crate) use id::{CapabilityName, IdError, PackageId, ToolName, ToolRef, VariableName, Version, is_device_name};
pub(crate) use risk::{Concurrency, Effect, Idempotency, Risk, Safety};
