//! The JSON Schemas of a tool, and its examples held against them (manifest §9, §13; design §4, JSON Schema).

use serde_json::Value;

use super::{Context, Tool, items};
use crate::base::json::{Kind, Node};
use crate::manifest::Code;
use crate::manifest::collect::{Draft, Found, Path, shown};
use crate::manifest::walk::{opening, with_article};
use crate::tool::{LintKind, Problem, Schema, schema_lints};

pub(super) fn check(context: &Context<'_>, tool: &Tool<'_>, path: &Path<'_>, found: &mut Found) {
    let input = tool.node.get("inputSchema").zip(tool.input_schema).and_then(|(member, schema)| {
        let path = path.key("inputSchema");
        check_is_object(&member.value, &path, found);
        check_schema(schema, &member.value, &path, found)
    });
    let output = tool.node.get("outputSchema").zip(tool.output_schema).and_then(|(member, schema)| {
        let path = path.key("outputSchema");
        check_schema(schema, &member.value, &path, found)
    });
    // The other adapters wrap what the tool gives (manifest §13).
    let output = output.filter(|_| matches!(context.adapter, Some("process" | "remote-http")));
    check_examples(tool, input.as_ref(), output.as_ref(), path, found);
}

/// An input is an object, and the schema says so itself (manifest §9).
fn check_is_object(schema: &Node, path: &Path<'_>, found: &mut Found) {
    let path = path.key("type");
    match schema.get("type").map(|member| &member.value) {
        Some(Node { kind: Kind::String(word), .. }) if word == "object" => {}
        Some(node) => {
            let given = match &node.kind {
                Kind::String(word) => format!("`{}`", shown(word)),
                _ => with_article(node).to_owned(),
            };
            let draft =
                Draft::error(Code::InputNotObject, format!("the `type` of `inputSchema` must be the string `object`, found {given}"));
            found.at(&path, node, draft.help("the input of a tool is always one object; put other values into its properties"));
        }
        None => {
            let draft = Draft::error(Code::InputNotObject, "`inputSchema` must have `\"type\": \"object\"` itself");
            found.add(
                &path,
                opening(schema),
                draft.help("without a type it accepts anything, and `properties` means nothing to some hosts"),
            );
        }
    }
}

fn check_schema(schema: &Value, node: &Node, path: &Path<'_>, found: &mut Found) -> Option<Schema> {
    let mut add = |pointer: &str, draft: Draft| {
        let span = nearest_node(node, pointer).span;
        found.add_at_pointer(path.pointer() + pointer, span, draft);
    };
    let compiled = match Schema::compile(schema) {
        Ok(compiled) => Some(compiled),
        Err(faults) => {
            for fault in faults {
                add(&fault.pointer, Draft::error(Code::BadSchema, fault.message).help_if(fault.help));
            }
            None
        }
    };
    for lint in schema_lints(schema) {
        let code = match lint.kind {
            LintKind::Portability => Code::Portability,
            LintKind::RequiredUndeclared => Code::RequiredUndeclared,
            LintKind::MissingType => Code::MissingType,
            LintKind::SlowPattern => Code::SlowPattern,
            LintKind::DoubtfulPattern => Code::DoubtfulPattern,
            LintKind::MisspeltKeyword => Code::MisspeltKeyword,
            LintKind::OtherDraftKeyword => Code::OtherDraftKeyword,
            LintKind::UnfitDefault => Code::UnfitDefault,
        };
        // The missing type of an input schema is an error of its own.
        if lint.pointer.is_empty() && lint.kind == LintKind::MissingType && matches!(path, Path::Key(_, "inputSchema")) {
            continue;
        }
        add(&lint.pointer, Draft::warning(code, lint.message).help_if(lint.help));
    }
    compiled
}

/// Returns the node at a pointer, or the last one on the way to it.
fn nearest_node<'a>(node: &'a Node, pointer: &str) -> &'a Node {
    let mut pointer = pointer;
    loop {
        if let Some(node) = node.at(pointer) {
            return node;
        }
        match pointer.rfind('/') {
            Some(at) => pointer = &pointer[..at],
            None => return node,
        }
    }
}

fn check_examples(tool: &Tool<'_>, input: Option<&Schema>, output: Option<&Schema>, path: &Path<'_>, found: &mut Found) {
    let Some(guidance) = tool.node.get("guidance").map(|member| &member.value) else { return };
    let path = path.key("guidance");
    let path = path.key("examples");
    for (index, example) in items(guidance, "examples") {
        let path = path.index(index);
        for (key, schema) in [("input", input), ("output", output)] {
            let (Some(schema), Some(member)) = (schema, example.get(key)) else { continue };
            let value = member.value.to_value();
            let problems = if key == "input" { schema.accept(value).err() } else { schema.check(&value).err() };
            for Problem { pointer, message } in problems.into_iter().flatten() {
                let span = nearest_node(&member.value, &pointer).span;
                let pointer = path.key(key).pointer() + &pointer;
                let draft = Draft::warning(Code::ExampleInvalid, format!("the example breaks the tool's own {key} schema: {message}"));
                found.add_at_pointer(pointer, span, draft.help("`test` runs the examples, and people copy them"));
            }
        }
    }
}
