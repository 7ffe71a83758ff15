//! One tool and what is said about it (manifest §9, §10).

use crate::tool::{Effect, Idempotency, Risk};

use super::super::form::Form;
use super::{Field, Object, Shape, Unknown};

pub(super) static TOOL: Object = Object {
    title: "`tools[]`",
    doc: "One tool.",
    unknown: Unknown::Tolerated,
    one_of: &[],
    fields: &[
        Field::required("name", Shape::of(2, 96, Form::ToolName), "What the tool is called. Models see it together with the package's id."),
        Field::required("title", Shape::text(1, 160), "The name people read."),
        Field::required("description", Shape::text(1, 4_000), "What the tool does, for the model that has to choose it."),
        Field::required("inputSchema", Shape::InputSchema, "JSON Schema of the input. Its own `type` is `object`."),
        Field::optional("outputSchema", Shape::OutputSchema, "JSON Schema of the result, checked after each call."),
        Field::required(
            "risk",
            Shape::Words(Risk::WORDS),
            "How much a person should think before a call. Only `read` runs without being asked about.",
        ),
        Field::required("effect", Shape::Words(Effect::WORDS), "What a call does. With risk `read` it is `read`."),
        Field::required(
            "idempotency",
            Shape::Words(Idempotency::WORDS),
            "Whether a call may be repeated: `safe` always, `keyed` with the same key, `unsafe` never. With risk `destructive` it is `unsafe`.",
        ),
        Field::optional("guidance", Shape::Object(&GUIDANCE), "More about when and how to use it."),
    ],
};

static GUIDANCE: Object = Object {
    title: "`tools[].guidance`",
    doc: "Text about one tool. All but the examples is sent to models with the description, at most 3 500 characters in all.",
    unknown: Unknown::Refused,
    one_of: &[],
    fields: &[
        Field::optional("whenToUse", Shape::List { min: 0, max: 20, item: &Shape::text(1, 1_000) }, "When this tool is the right one."),
        Field::optional("whenNotToUse", Shape::List { min: 0, max: 20, item: &Shape::text(1, 1_000) }, "When another one is."),
        Field::optional("instructions", Shape::text(1, 8_000), "How to call it."),
        Field::optional(
            "examples",
            Shape::List { min: 0, max: 20, item: &Shape::Object(&EXAMPLE) },
            "Calls that show it. `test` runs them if there are no case files.",
        ),
        Field::optional("resultSemantics", Shape::text(1, 4_000), "What the result means."),
    ],
};

static EXAMPLE: Object = Object {
    title: "`tools[].guidance.examples[]`",
    doc: "One call.",
    unknown: Unknown::Refused,
    one_of: &[],
    fields: &[
        Field::required("title", Shape::text(1, 160), "What it shows."),
        Field::optional("description", Shape::text(0, 2_000), "More about it."),
        Field::optional("input", Shape::AnyObject, "The input."),
        Field::optional("output", Shape::Any, "The result."),
    ],
};
