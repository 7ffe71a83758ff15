//! The table: every object of a manifest, key by key (manifest §2 to §12).
//!
//! Limits are the format's own and stand here only.

mod environment;
mod http;
mod root;
mod runtime;
mod tools;

pub(super) use root::MANIFEST;

use super::shape::{Field, NO_MAX, Object, Shape, Text, Unknown, Variant};
