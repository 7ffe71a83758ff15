//! One declarative HTTP request; every object is strict (manifest §6).

use crate::http::{Method, ResponseFormat};

use super::super::form::Form;
use super::{Field, Object, Shape, Unknown};

pub(super) static HTTP_SPEC: Object = Object {
    title: "`runtime.tools.*`",
    doc: "One HTTP request, and what becomes of its answer. The result for the model is `{ \"text\": …, \"meta\": { durationMs, bytes, truncated } }`.",
    unknown: Unknown::Refused,
    one_of: &[],
    fields: &[
        Field::required("request", Shape::Object(&REQUEST), "What is sent."),
        Field::required("response", Shape::Object(&RESPONSE), "What is made of the answer."),
        Field::optional(
            "allowPrivateNetwork",
            Shape::Flag,
            "Whether the request may go to this machine or a private network. Left out, the user is asked once for each host; `false` refuses.",
        ),
    ],
};

static REQUEST: Object = Object {
    title: "`runtime.tools.*.request`",
    doc: "`{{name}}` in a template stands for a parameter of the tool's input schema, which has to be required or have a default.",
    unknown: Unknown::Refused,
    one_of: &[],
    fields: &[
        Field::required("method", Shape::Words(Method::WORDS), "The HTTP method."),
        Field::required(
            "urlTemplate",
            Shape::of(1, 2_000, Form::UrlTemplate),
            "The URL. Values are percent-encoded. No user name or password in it, and no credential in its query.",
        ),
        Field::optional("headers", Shape::List { min: 0, max: 32, item: &Shape::Object(&HEADER) }, "Headers of the request."),
        Field::optional("body", Shape::Object(&BODY), "The body. `GET` and `DELETE` send none."),
    ],
};

static HEADER: Object = Object {
    title: "`runtime.tools.*.request.headers[]`",
    doc: "One header. A header that carries a credential (`Authorization`, `X-Api-Key`, …) takes `secretRef`.",
    unknown: Unknown::Refused,
    one_of: &["valueTemplate", "secretRef"],
    fields: &[
        Field::required("name", Shape::text(1, 128), "The header's name."),
        Field::optional("valueTemplate", Shape::of(0, 2_000, Form::HeaderTemplate), "Its value."),
        Field::optional("secretRef", Shape::of(1, 64, Form::SecretRef), "The name of the declared secret variable that is its value."),
    ],
};

static BODY: Object = Object {
    title: "`runtime.tools.*.request.body`",
    doc: "A JSON body.",
    unknown: Unknown::Refused,
    one_of: &[],
    fields: &[
        Field::required("mode", Shape::Literal("json"), "The only kind of body."),
        Field::required(
            "jsonTemplate",
            Shape::of(1, 100_000, Form::BodyTemplate),
            "JSON with placeholders. `{{name}}` outside quotes becomes the value with its type, inside quotes its text.",
        ),
    ],
};

static RESPONSE: Object = Object {
    title: "`runtime.tools.*.response`",
    doc: "How the answer becomes text.",
    unknown: Unknown::Refused,
    one_of: &[],
    fields: &[
        Field::required("format", Shape::Words(ResponseFormat::WORDS), "How the answer is written for the model."),
        Field::optional(
            "extract",
            Shape::List { min: 0, max: 32, item: &Shape::Object(&EXTRACT) },
            "Columns of a Markdown table that is made from a JSON answer.",
        ),
        Field::with_default(
            "maxSizeBytes",
            "262144",
            Shape::Integer { min: 1, max: 1_048_576 },
            "How much of the answer is read; the rest is cut and `truncated` is set.",
        ),
    ],
};

static EXTRACT: Object = Object {
    title: "`runtime.tools.*.response.extract[]`",
    doc: "One column.",
    unknown: Unknown::Refused,
    one_of: &[],
    fields: &[
        Field::required("label", Shape::text(1, 120), "The column's heading."),
        Field::required("jsonPath", Shape::of(1, 500, Form::JsonPath), "Where in the answer the column's values are."),
    ],
};
