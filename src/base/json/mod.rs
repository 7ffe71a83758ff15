//! Strict JSON with places: one scanner for manifests, frames, inputs and case files, so that what is checked is what
//! is used.
//!
//! It refuses what readers differ on: duplicate keys, lone surrogates, invalid UTF-8, comments, trailing commas, more
//! than one document, nesting deeper than 128. A tolerant reading goes on after what can be read past, to report all
//! of it.

mod fault;
mod place;
mod scan;
mod tree;
mod value;

pub(crate) use fault::{Fault, FaultKind};
pub(crate) use place::{Lines, Place, Span};
pub(crate) use tree::{Kind, Member, Node, read_tree};
pub(crate) use value::{check, parse, pointer_token};
