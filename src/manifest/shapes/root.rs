//! The top of a manifest: what it is called, and its smaller parts (manifest §2, §8, §10, §12).

use crate::tool::OsEffect;

use super::super::form::Form;
use super::environment::VARIABLE;
use super::runtime::VARIANTS;
use super::tools::TOOL;
use super::{Field, NO_MAX, Object, Shape, Text, Unknown};

pub(in crate::manifest) static MANIFEST: Object = Object {
    title: "The manifest",
    doc: "One JSON object in `spark-tool.json` at the root of the package.",
    unknown: Unknown::Tolerated,
    one_of: &[],
    fields: &[
        Field::optional(
            "$schema",
            Shape::of(1, NO_MAX, Form::Url),
            "Where the JSON Schema of this file is. Editors use it to check and complete while you type.",
        ),
        Field::required("schemaVersion", Shape::SchemaVersion, "The version of this format."),
        Field::required(
            "id",
            Shape::of(3, 96, Form::PackageId),
            "What the package is called everywhere. It becomes a folder name, so no device name of Windows, no final dot and no two dots in a row.",
        ),
        Field::required(
            "version",
            Shape::of(5, 160, Form::Version),
            "`MAJOR.MINOR.PATCH`, then at most one suffix, `-pre.release` or `+build`. An installed version never changes: a new content needs a new version.",
        ),
        Field::required("name", Shape::text(1, 160), "The name people read."),
        Field::required("description", Shape::text(1, 8_000), "What the package is for."),
        Field::optional("author", Shape::Object(&AUTHOR), "Who wrote it. Shown, never trusted."),
        Field::required("runtime", Shape::Tagged { tag: "adapter", variants: VARIANTS }, "How the tools are run."),
        Field::optional("development", Shape::Object(&DEVELOPMENT), "How the package is built from its sources."),
        Field::optional("guidance", Shape::Object(&GUIDANCE), "Text for models and people about the package as a whole."),
        Field::required("tools", Shape::List { min: 1, max: 200, item: &Shape::Object(&TOOL) }, "The tools."),
        Field::with_default(
            "environment",
            "[]",
            Shape::List { min: 0, max: 200, item: &Shape::Object(&VARIABLE) },
            "The environment variables that the tools are given: configuration and secrets.",
        ),
        Field::with_default("permissions", "{}", Shape::Object(&PERMISSIONS), "What the package asks its user to allow."),
    ],
};

static AUTHOR: Object = Object {
    title: "`author`",
    doc: "Who wrote the package.",
    unknown: Unknown::Tolerated,
    one_of: &[],
    fields: &[
        Field::required("name", Shape::text(1, 160), "A person or organisation."),
        Field::optional("url", Shape::of(1, NO_MAX, Form::Url), "A page about them."),
    ],
};

static DEVELOPMENT: Object = Object {
    title: "`development`",
    doc: "Commands for whoever works on the package. They run only when asked for, and are shown before.",
    unknown: Unknown::Refused,
    one_of: &[],
    fields: &[
        Field::optional("installCommand", Shape::text(1, 500), "A shell command line that fetches what the build needs."),
        Field::optional("buildCommand", Shape::text(1, 500), "A shell command line that makes what the package runs."),
    ],
};

static GUIDANCE: Object = Object {
    title: "`guidance`",
    doc: "Text about the package as a whole.",
    unknown: Unknown::Refused,
    one_of: &[],
    fields: &[
        Field::optional(
            "overview",
            Shape::text(1, 8_000),
            "What the tools have to do with each other. Shown by help, not sent to models with every tool.",
        ),
        Field::optional("sharedInstructions", Shape::text(1, 8_000), "How to use any of the tools. Shown by help."),
        Field::optional(
            "prerequisites",
            Shape::List { min: 0, max: 40, item: &Shape::text(1, 1_000) },
            "What must be true before a call. Part of what models read of each tool.",
        ),
    ],
};

static PERMISSIONS: Object = Object {
    title: "`permissions`",
    doc: "What the package asks its user to allow. Nothing is allowed before the user says so.",
    unknown: Unknown::Tolerated,
    one_of: &[],
    fields: &[
        Field::with_default(
            "declaredOsEffects",
            "[]",
            Shape::List { min: 0, max: 32, item: &Shape::Words(OsEffect::WORDS) },
            "What the processes of the package do to the machine.",
        ),
        Field::with_default(
            "requiredSparkCapabilities",
            "[]",
            Shape::List { min: 0, max: 64, item: &CAPABILITY },
            "Capabilities of the host without which the package can't be enabled.",
        ),
        Field::with_default(
            "optionalSparkCapabilities",
            "[]",
            Shape::List { min: 0, max: 64, item: &CAPABILITY },
            "Capabilities of the host that the package uses where it is allowed to.",
        ),
    ],
};

const CAPABILITY: Shape = Shape::Text(Text::new(3, 160, Form::CapabilityName));
