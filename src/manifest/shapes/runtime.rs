//! The five adapters (manifest §3 to §5, §7).

use super::super::form::Form;
use super::http::HTTP_SPEC;
use super::{Field, NO_MAX, Object, Shape, Text, Unknown, Variant};

/// The protocol of `process` and `remote-http`.
const PROTOCOL: Shape = Shape::Literal("spark-tool-process-v1");
const TIMEOUT: Shape = Shape::Integer { min: 1_000, max: 300_000 };

pub(super) static VARIANTS: &[Variant] = &[
    Variant { word: "process", object: &PROCESS },
    Variant { word: "remote-http", object: &REMOTE_HTTP },
    Variant { word: "declarative-http", object: &DECLARATIVE_HTTP },
    Variant { word: "mcp-import", object: &MCP_IMPORT },
    Variant { word: "legacy-custom-tool", object: &LEGACY_CUSTOM_TOOL },
];

static PROCESS: Object = Object {
    title: "`runtime` with `\"adapter\": \"process\"`",
    doc: "The package brings a program that reads calls on stdin and answers on stdout (docs/protocol.md).",
    unknown: Unknown::Tolerated,
    one_of: &[],
    fields: &[
        Field::required("adapter", Shape::Literal("process"), "Names this adapter."),
        Field::required("protocol", PROTOCOL, "The protocol the program speaks."),
        Field::required(
            "command",
            Shape::of(1, 500, Form::Command),
            "One program, without arguments: `./…` is a file of the package, a bare name is looked up in `PATH`. No shell is involved.",
        ),
        Field::with_default(
            "args",
            "[]",
            Shape::List { min: 0, max: 128, item: &Shape::of(0, 2_000, Form::Argument) },
            "The program's arguments, given to it exactly as they stand here.",
        ),
        Field::with_default(
            "lifecycle",
            "\"per-call\"",
            Shape::Words(&["per-call", "persistent"]),
            "`per-call` starts the program for each call, `persistent` keeps it for many.",
        ),
        Field::optional(
            "workingDirectory",
            Shape::of(1, 500, Form::RelativePath),
            "A folder of the package in which the program is started. Without it, that is the package's own folder.",
        ),
    ],
};

static REMOTE_HTTP: Object = Object {
    title: "`runtime` with `\"adapter\": \"remote-http\"`",
    doc: "The tools run on a server that speaks the same protocol over HTTP.",
    unknown: Unknown::Tolerated,
    one_of: &[],
    fields: &[
        Field::required("adapter", Shape::Literal("remote-http"), "Names this adapter."),
        Field::required("protocol", PROTOCOL, "The protocol the server speaks."),
        Field::required("baseUrl", Shape::of(1, 2_000, Form::HttpUrl), "Where the server is."),
        Field::optional(
            "headers",
            Shape::Map { max: 32, key: Text::new(1, 128, Form::HeaderName), value: &Shape::of(1, 2_000, Form::HeaderValue) },
            "Headers of every request. `${NAME}` stands for the declared environment variable `NAME`.",
        ),
        Field::with_default("timeoutMs", "120000", TIMEOUT, "How long one call may take, in milliseconds."),
    ],
};

static DECLARATIVE_HTTP: Object = Object {
    title: "`runtime` with `\"adapter\": \"declarative-http\"`",
    doc: "Each tool is one HTTP request that this file describes. The package needs no program.",
    unknown: Unknown::Tolerated,
    one_of: &[],
    fields: &[
        Field::required("adapter", Shape::Literal("declarative-http"), "Names this adapter."),
        Field::required(
            "tools",
            Shape::Map { max: NO_MAX, key: Text::new(0, NO_MAX, Form::ToolKey), value: &Shape::Object(&HTTP_SPEC) },
            "One request for each tool, under the tool's name: none missing, none too many.",
        ),
        Field::with_default("timeoutMs", "30000", TIMEOUT, "How long one call may take, in milliseconds."),
    ],
};

static MCP_IMPORT: Object = Object {
    title: "`runtime` with `\"adapter\": \"mcp-import\"`",
    doc: "The tools are those of an MCP server that the host knows.",
    unknown: Unknown::Tolerated,
    one_of: &[],
    fields: &[
        Field::required("adapter", Shape::Literal("mcp-import"), "Names this adapter."),
        Field::required("serverId", Shape::text(1, 160), "The host's id of the server."),
        Field::optional(
            "toolNameOverrides",
            Shape::Map { max: 200, key: Text::new(0, NO_MAX, Form::ToolKey), value: &Shape::text(1, 200) },
            "The server's name of a tool, under the tool's name here. A tool that isn't listed has the same name there.",
        ),
    ],
};

static LEGACY_CUSTOM_TOOL: Object = Object {
    title: "`runtime` with `\"adapter\": \"legacy-custom-tool\"`",
    doc: "Every tool of the package is one custom tool of the host.",
    unknown: Unknown::Tolerated,
    one_of: &[],
    fields: &[
        Field::required("adapter", Shape::Literal("legacy-custom-tool"), "Names this adapter."),
        Field::required("toolId", Shape::text(1, 160), "The id of the custom tool."),
    ],
};
