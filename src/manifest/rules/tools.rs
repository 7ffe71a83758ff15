//! Tools among each other, and the safety of each (manifest §9, §12.1 rules 1, 5, 6).

use std::collections::HashMap;

use super::{Context, ITEMS_LOOKED_AT, Tool, schemas, text};
use crate::manifest::Code;
use crate::manifest::collect::{Draft, Found, Path, shown};
use crate::tool::{Effect, Idempotency, Risk, SERVED_NAME_MAX, ToolName, plain_served_name};

pub(super) fn check(context: &Context<'_>, found: &mut Found) {
    let list = Path::Root.key("tools");
    let mut folded: HashMap<String, &str> = HashMap::new();
    for tool in &context.tools {
        let path = list.index(tool.index);
        if let Some((name, node)) = tool.name {
            let path = path.key("name");
            if let Some(first) = context.tool(name).filter(|first| first.index != tool.index) {
                let draft = Draft::error(Code::DuplicateTool, format!("the tool `{}` is there twice", shown(name)));
                found.at(&path, node, draft.help(format!("item {} of `tools` has the same name", first.index + 1)));
            } else {
                check_lookalike(name, node, &mut folded, &path, found);
            }
            check_served_name(context.package, name, node, &path, found);
        }
        check_safety(tool, &path, found);
        check_description(tool, &path, found);
        if tool.index < ITEMS_LOOKED_AT {
            schemas::check(context, tool, &path, found);
        }
    }
}

// H: D-4
fn check_lookalike<'a>(
    name: &'a str,
    node: &crate::base::json::Node,
    folded: &mut HashMap<String, &'a str>,
    path: &Path<'_>,
    found: &mut Found,
) {
    let Ok(parsed) = name.parse::<ToolName>() else { return };
    if let Some(other) = folded.insert(parsed.folded(), name) {
        found.at(
            path,
            node,
            Draft::warning(Code::SimilarTools, format!("the tools `{name}` and `{other}` differ only in `-` and `_`"))
                .help("a model or a person takes one for the other; call one of them something else"),
        );
    }
}

fn check_served_name(package: Option<&str>, name: &str, node: &crate::base::json::Node, path: &Path<'_>, found: &mut Found) {
    let Some(package) = package else { return };
    let (served, fits) = plain_served_name(package, name);
    if !fits {
        let over = served.len() - SERVED_NAME_MAX;
        found.at(
            path,
            node,
            Draft::warning(
                Code::LongServedName,
                format!("models see `{}` cut to {SERVED_NAME_MAX} characters with a hash", shown(&served)),
            )
            .help(format!("package id and tool name together are {over} too long; shorten either")),
        );
    }
}

fn check_safety(tool: &Tool<'_>, path: &Path<'_>, found: &mut Found) {
    let Some((risk, _)) = text(tool.node, "risk") else { return };
    let of = tool.name.map_or_else(|| "the tool".to_owned(), |(name, _)| format!("`{}`", shown(name)));
    if risk == Risk::Read.as_str()
        && let Some((effect, node)) = text(tool.node, "effect")
        && effect != Effect::Read.as_str()
        && Effect::WORDS.contains(&effect)
    {
        found.at(
            &path.key("effect"),
            node,
            Draft::error(Code::ReadToolWrites, format!("{of} has risk `read` but effect `{effect}`"))
                .help("a tool that only reads has effect `read`; one that does more has at least risk `low-write`"),
        );
    }
    if risk == Risk::Destructive.as_str()
        && let Some((idempotency, node)) = text(tool.node, "idempotency")
        && idempotency != Idempotency::Unsafe.as_str()
        && Idempotency::WORDS.contains(&idempotency)
    {
        found.at(
            &path.key("idempotency"),
            node,
            Draft::error(Code::DestructiveToolRepeats, format!("{of} has risk `destructive` but idempotency `{idempotency}`"))
                .help("a destructive call is never repeated by the host: write `unsafe`"),
        );
    }
}

/// A model chooses by the description; one that repeats the name gives it nothing to choose by.
fn check_description(tool: &Tool<'_>, path: &Path<'_>, found: &mut Found) {
    let Some((description, node)) = text(tool.node, "description") else { return };
    let folded = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    if description.len() > 200 || description.trim().is_empty() {
        return;
    }
    let says = folded(description);
    let title = text(tool.node, "title").map(|(title, _)| folded(title));
    let name = tool.name.map(|(name, _)| folded(name));
    if says.is_empty() || Some(&says) == title.as_ref() || Some(&says) == name.as_ref() {
        found.at(
            &path.key("description"),
            node,
            Draft::warning(Code::ThinDescription, "`description` says no more than the tool's name")
                .help("say what the tool does, with what, and what comes back: models choose by it"),
        );
    }
}
