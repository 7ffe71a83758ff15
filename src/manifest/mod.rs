//! `spark-tool.json`: bytes in, a checked manifest and findings out (manifest, design §4).
//!
//! One table says what a manifest looks like ([`shapes`], in the words of [`shape`]). [`walk`] checks a file against
//! it, [`rules`] checks what needs more than one value; all findings come out of one run. Nothing here opens a file,
//! so what needs the package's files (does `./bin/tool` exist?) is `package`'s.

mod build;
mod code;
mod collect;
mod command;
mod finding;
mod fix;
mod form;
mod model;
mod number;
mod portability;
mod read;
mod rules;
mod shape;
mod shapes;
mod template;
mod url;
mod walk;

// Readings of the table that only the tests of the committed files need.
#[cfg(test)]
mod page;
#[cfg(test)]
mod published;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod mutations;

pub(crate) use code::Code;
pub(crate) use finding::{Finding, Severity};
pub(crate) use fix::fix;
pub(crate) use model::{Lifecycle, Manifest, Runtime};
pub(crate) use portability::Client;
pub(crate) use read::{Reading, read, read_for};
pub(crate) use rules::Hijack;

/// Where the JSON Schema of a manifest is published: what `--fix` adds as `$schema`, and the schema's own `$id`.
pub(crate) const SCHEMA_URL: &str = "https://spark-tool.dev/schema/spark-tool-v1.schema.json";
