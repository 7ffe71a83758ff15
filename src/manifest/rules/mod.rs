//! Rules that need more than one value: across the keys of an object, across objects (manifest §11, §12.1, design §4).
//!
//! They run on any tree, also one that differs from the table: what isn't there or is of another type is passed over,
//! because the checker has reported it.

mod environment;
mod hijack;
mod permissions;
mod runtime;
mod schemas;
mod tools;

use std::collections::HashMap;

use serde_json::Value;

use crate::base::json::{Kind, Node};
use crate::tool::Pattern;

use super::Code;
use super::collect::{Draft, Found, Path};
use super::portability::{self, Client};

pub(crate) use hijack::Hijack;
pub(super) use permissions::{LISTS, repeated};

/// Reports every rule that `root` breaks. `document` is the same tree as a value.
/// For `clients` also what they would refuse, cut or misread.
///
/// Returns the compiled pattern of each variable, in order.
pub(super) fn check(root: &Node, document: &Value, clients: &[Client], found: &mut Found) -> Vec<Option<Pattern>> {
    if !matches!(root.kind, Kind::Object(_)) {
        return Vec::new();
    }
    if root.get("$schema").is_none() {
        let draft = Draft::advice(Code::MissingSchemaKey, "`$schema` is missing, so editors can't check this file while you type");
        let help = format!("add `\"$schema\": \"{}\"`, or let `validate --fix` do it", super::SCHEMA_URL);
        found.add(&Path::Root.key("$schema"), super::walk::opening(root), draft.help(help));
    }
    let context = Context::of(root, document);
    tools::check(&context, found);
    let patterns = environment::check(&context, document, found);
    permissions::check(root, found);
    runtime::check(&context, found);
    for client in clients {
        portability::check(*client, &context, found);
    }
    patterns
}

/// What several rules look at.
pub(super) struct Context<'a> {
    pub(super) root: &'a Node,
    pub(super) package: Option<&'a str>,
    adapter: Option<&'a str>,
    pub(super) tools: Vec<Tool<'a>>,
    variables: Vec<Declared<'a>>,
    /// Positions by name, the first of each.
    tools_by_name: HashMap<&'a str, usize>,
    variables_by_name: HashMap<&'a str, usize>,
}

/// Of longer lists than the table allows (manifest §2) only so many items are compiled and compared one by one: a file
/// of 4 MiB has room for a hundred thousand of them.
pub(super) const ITEMS_LOOKED_AT: usize = 200;

/// One tool, as far as it can be read.
pub(super) struct Tool<'a> {
    pub(super) index: usize,
    pub(super) node: &'a Node,
    pub(super) name: Option<(&'a str, &'a Node)>,
    input_schema: Option<&'a Value>,
    output_schema: Option<&'a Value>,
}

/// One declared variable, as far as it can be read.
struct Declared<'a> {
    index: usize,
    node: &'a Node,
    name: Option<(&'a str, &'a Node)>,
    is_secret: bool,
}

impl<'a> Context<'a> {
    fn of(root: &'a Node, document: &'a Value) -> Self {
        let tools = items(root, "tools").map(|(index, node)| {
            let schema = |key: &str| document.get("tools")?.get(index)?.get(key).filter(|schema| schema.is_object());
            Tool { index, node, name: text(node, "name"), input_schema: schema("inputSchema"), output_schema: schema("outputSchema") }
        });
        let variables = items(root, "environment").map(|(index, node)| Declared {
            index,
            node,
            name: text(node, "name"),
            is_secret: flag(node, "secret"),
        });
        let (tools, variables): (Vec<Tool<'a>>, Vec<Declared<'a>>) = (tools.collect(), variables.collect());
        Self {
            root,
            package: text(root, "id").map(|(id, _)| id),
            adapter: root.get("runtime").and_then(|runtime| text(&runtime.value, "adapter")).map(|(adapter, _)| adapter),
            tools_by_name: first_by_name(tools.iter().map(|tool| tool.name)),
            variables_by_name: first_by_name(variables.iter().map(|variable| variable.name)),
            tools,
            variables,
        }
    }

    fn variable(&self, name: &str) -> Option<&Declared<'a>> {
        self.variables_by_name.get(name).map(|index| &self.variables[*index])
    }

    fn variable_names(&self) -> impl Iterator<Item = &'a str> {
        self.variables.iter().take(ITEMS_LOOKED_AT).filter_map(|variable| variable.name.map(|(name, _)| name))
    }

    fn tool(&self, name: &str) -> Option<&Tool<'a>> {
        self.tools_by_name.get(name).map(|index| &self.tools[*index])
    }

    fn tool_names(&self) -> impl Iterator<Item = &'a str> {
        self.tools.iter().take(ITEMS_LOOKED_AT).filter_map(|tool| tool.name.map(|(name, _)| name))
    }
}

fn first_by_name<'a>(names: impl Iterator<Item = Option<(&'a str, &'a Node)>>) -> HashMap<&'a str, usize> {
    let mut first = HashMap::new();
    for (index, name) in names.enumerate() {
        if let Some((name, _)) = name {
            first.entry(name).or_insert(index);
        }
    }
    first
}

/// Returns the items of the list under `key`, with their positions.
fn items<'a>(node: &'a Node, key: &str) -> impl Iterator<Item = (usize, &'a Node)> + use<'a> {
    let items = match node.get(key).map(|member| &member.value.kind) {
        Some(Kind::Array(items)) => items.as_slice(),
        _ => &[],
    };
    items.iter().enumerate()
}

/// Returns the string under `key`, and its node.
pub(super) fn text<'a>(node: &'a Node, key: &str) -> Option<(&'a str, &'a Node)> {
    let value = &node.get(key)?.value;
    match &value.kind {
        Kind::String(text) => Some((text, value)),
        _ => None,
    }
}

fn flag(node: &Node, key: &str) -> bool {
    node.get(key).is_some_and(|member| member.value.kind == Kind::Bool(true))
}
