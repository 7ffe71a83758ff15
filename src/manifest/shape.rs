//! The vocabulary of the table that says what a manifest looks like.
//!
//! One static table ([`super::shapes`]) is written in it. The checker, the published JSON Schema and the documentation
//! are three readings of that table, so they can't differ.

use super::form::Form;

/// An object with known keys.
#[derive(Debug)]
pub(super) struct Object {
    /// Its heading in the documentation.
    pub(super) title: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "docs/manifest.md and the published schema are written from it"))]
    pub(super) doc: &'static str,
    pub(super) unknown: Unknown,
    pub(super) fields: &'static [Field],
    /// Exactly one of these keys must be given; empty if there is no such rule.
    pub(super) one_of: &'static [&'static str],
}

/// What an unknown key is (manifest §2, strictness).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// An error, whatever it starts with.
    Refused,
    /// A warning, unless it starts with `x-`.
    Tolerated,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) presence: Presence,
    pub(super) shape: Shape,
    /// One or two sentences for an author.
    pub(super) doc: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
    /// May be left out; the JSON text of what it then is.
    Default(&'static str),
}

#[derive(Debug)]
pub(super) enum Shape {
    Text(Text),
    Integer {
        min: i64,
        max: i64,
    },
    /// The number 1; a larger integer is a manifest of a later release.
    SchemaVersion,
    /// One string and no other.
    Literal(&'static str),
    Flag,
    Words(&'static [&'static str]),
    /// A string, number or boolean.
    Scalar,
    List {
        min: usize,
        max: usize,
        item: &'static Self,
    },
    Map {
        max: usize,
        key: Text,
        value: &'static Self,
    },
    Object(&'static Object),
    /// An object whose other keys depend on the word under `tag`.
    Tagged {
        tag: &'static str,
        variants: &'static [Variant],
    },
    /// A JSON Schema for the input of a tool.
    InputSchema,
    /// A JSON Schema for the result of a tool.
    OutputSchema,
    AnyObject,
    Any,
}

#[derive(Debug)]
pub(super) struct Variant {
    pub(super) word: &'static str,
    pub(super) object: &'static Object,
}

/// The upper bound of what has none.
pub(super) const NO_MAX: usize = usize::MAX;

/// A string. Its length is counted in UTF-16 units, as the format always counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) min: usize,
    pub(super) max: usize,
    pub(super) form: Form,
}

impl Text {
    pub(super) const fn new(min: usize, max: usize, form: Form) -> Self {
        Self { min, max, form }
    }
}

impl Object {
    pub(super) fn field(&self, key: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.key)
    }
}

impl Field {
    pub(super) const fn required(key: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { key, presence: Presence::Required, shape, doc }
    }

    pub(super) const fn optional(key: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { key, presence: Presence::Optional, shape, doc }
    }

    pub(super) const fn with_default(key: &'static str, default: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { key, presence: Presence::Default(default), shape, doc }
    }
}

impl Shape {
    /// A string of `min` to `max` units without further grammar.
    pub(super) const fn text(min: usize, max: usize) -> Self {
        Self::Text(Text::new(min, max, Form::Prose))
    }

    pub(super) const fn of(min: usize, max: usize, form: Form) -> Self {
        Self::Text(Text::new(min, max, form))
    }

    /// Says which JSON type the shape needs, with its article.
    pub(super) const fn wanted(&self) -> &'static str {
        match self {
            Self::Text(_) | Self::Literal(_) | Self::Words(_) => "a string",
            Self::Integer { .. } | Self::SchemaVersion => "an integer",
            Self::Flag => "`true` or `false`",
            Self::Scalar => "a string, a number or a boolean",
            Self::List { .. } => "an array",
            Self::Map { .. } | Self::Object(_) | Self::Tagged { .. } | Self::AnyObject => "an object",
            Self::InputSchema | Self::OutputSchema => "a JSON Schema object",
            Self::Any => "any value",
        }
    }
}
