//! One environment variable (manifest §11).

use super::super::form::Form;
use super::{Field, Object, Shape, Unknown};
use crate::tool::VariableKind;

pub(super) static VARIABLE: Object = Object {
    title: "`environment[]`",
    doc: "One environment variable that the user of the package sets and its tools are given.",
    unknown: Unknown::Tolerated,
    one_of: &[],
    fields: &[
        Field::required(
            "name",
            Shape::of(1, 128, Form::VariableName),
            "What it is called. Names that would take over the process (`PATH`, `LD_…`, `NODE_OPTIONS`, …) are refused.",
        ),
        Field::required("title", Shape::text(1, 160), "The name people read."),
        Field::optional("description", Shape::text(0, 2_000), "What it is for and where to get a value."),
        Field::required(
            "type",
            Shape::Words(VariableKind::WORDS),
            "The type of its values. The process gets a string as it is, anything else as compact JSON.",
        ),
        Field::with_default("required", "false", Shape::Flag, "Whether the package can't be enabled without a value."),
        Field::with_default(
            "secret",
            "false",
            Shape::Flag,
            "Whether the value is kept in the keychain and masked everywhere. Only for strings.",
        ),
        Field::optional("default", Shape::Any, "The value if the user sets none. A secret has none."),
        Field::optional("enum", Shape::List { min: 0, max: 200, item: &Shape::Scalar }, "The values that are allowed."),
        Field::optional(
            "pattern",
            Shape::of(0, 500, Form::Pattern),
            "A regular expression (ECMAScript) that a value has to contain a match of. Only for strings.",
        ),
        Field::with_default("agentConfigurable", "false", Shape::Flag, "Whether an agent may set it."),
    ],
};
