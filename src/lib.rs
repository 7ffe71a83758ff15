//! `spark-tool`: the whole life of an agent tool in one binary.
//!
//! The map, lower rooms first. A room names only rooms above it in this list that `tests/layers.rs` allows it.
//!
//! - [`base`]: clock, ids, limits, failure classes, strict JSON, files, secrets' masks, safe text
//! - [`tool`]: names, safety, schemas, variables, definitions
//! - [`http`]: tools that are one HTTP request
//! - [`manifest`]: `spark-tool.json` from bytes to a checked model and findings
//! - [`protocol`]: `spark-tool-process-v1` as plain values: lines, frames, one child's session
//! - [`child`]: the one door to processes: start, stop with all that they started, remember across a crash
//! - [`package`]: packages as files: inspected, identified, installed, verified
//! - [`store`]: packages, decisions, values, answers and traces in SQLite
//! - [`runtime`]: what carries a call out, a folder an adapter
//! - [`ops`]: one use case a file; what asks a person; the settings of a run
//! - [`report`]: everything that is written for people and programs, and the questions to people
//! - [`cli`]: clap, settings, one command a file, exit codes

mod base;
mod http;
mod manifest;
mod protocol;
mod tool;

mod child;
mod package;
mod runtime;
mod store;

mod ops;

mod report;

pub mod cli;
#[cfg(feature = "test-tools")]
pub mod measure;
