//! Environment variables: names that are safe to hand to a process, and the rules inside one (manifest §11, §12.1 rule 2).

use std::collections::HashMap;

use serde_json::Value;

use super::{Context, Declared, Hijack, flag, text};
use crate::base::json::Kind;
use crate::manifest::Code;
use crate::manifest::collect::{Draft, Found, Path, shown};
use crate::tool::{Pattern, Variable, VariableKind, VariableName};

pub(super) fn check(context: &Context<'_>, document: &Value, found: &mut Found) {
    let list = Path::Root.key("environment");
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for declared in &context.variables {
        let path = list.index(declared.index);
        if let Some((name, node)) = declared.name {
            let path = path.key("name");
            if let Some(first) = seen.get(name) {
                let draft = Draft::error(Code::DuplicateVariable, format!("the variable `{}` is declared twice", shown(name)));
                found.at(&path, node, draft.help(format!("item {} of `environment` has the same name", first + 1)));
            } else {
                seen.insert(name, declared.index);
            }
            if let Some(hijack) = Hijack::of(name) {
                found.at(&path, node, hijack_draft(hijack, name, flag(declared.node, "agentConfigurable")));
            }
        }
        let value = document.get("environment").and_then(|list| list.get(declared.index));
        check_one(declared, value, &path, found);
    }
}

fn hijack_draft(hijack: Hijack, name: &str, is_for_agents: bool) -> Draft {
    let name = shown(name);
    match hijack {
        Hijack::Refused => {
            Draft::error(Code::HijackingVariable, format!("a package can't declare `{name}`: it decides what the process is"))
                .help("choose a name of your own, such as one with your package's name in front")
        }
        Hijack::Risky => {
            let agents = if is_for_agents { ", and no agent may set it although `agentConfigurable` says so" } else { "" };
            Draft::warning(Code::RiskyVariable, format!("`{name}` changes what an interpreter, a loader or a connection does")).help(
                format!(
                    "the user is warned of it when allowing the package{agents}; choose a name of your own if it is only configuration"
                ),
            )
        }
    }
}

fn check_one(declared: &Declared<'_>, value: Option<&Value>, path: &Path<'_>, found: &mut Found) {
    let node = declared.node;
    let kind = text(node, "type").and_then(|(word, node)| Some((VariableKind::from_word(word)?, node)));
    let pattern = text(node, "pattern").and_then(|(text, node)| match Pattern::compile(text) {
        Ok(pattern) => {
            if let Some(construct) = pattern.non_linear_construct() {
                let draft = Draft::warning(Code::SlowPattern, format!("`pattern` uses {construct}, which can take very long"));
                found.at(
                    &path.key("pattern"),
                    node,
                    draft.help("a match is given up at a step limit; most checks can be written without it"),
                );
            }
            Some(pattern)
        }
        Err(fault) => {
            found.at(&path.key("pattern"), node, Draft::error(Code::BadPattern, format!("`pattern` {fault}")));
            None
        }
    });
    if let Some((kind, node)) = kind
        && kind != VariableKind::String
    {
        if declared.is_secret {
            let draft = Draft::error(Code::SecretNotString, format!("a secret must be of type `string`, found `{kind}`"));
            found.at(&path.key("type"), node, draft.help("keychains keep text: write `string` and read the text in the tool"));
        }
        if let Some(pattern) = declared.node.get("pattern") {
            let draft = Draft::error(Code::PatternNotString, format!("only strings have a pattern, the variable is of type `{kind}`"));
            found.at(&path.key("pattern"), &pattern.value, draft.help("use `enum`, or the type `string`"));
        }
    }
    if let Some(member) = node.get("enum")
        && member.value.kind == Kind::Array(Vec::new())
    {
        let draft = Draft::warning(Code::TooFewItems, "`enum` is empty, so it allows nothing or everything, depending on the host");
        found.at(&path.key("enum"), &member.value, draft.help("list the values that are allowed, or leave the key out"));
    }
    if let (Some(default), Some((kind, _))) = (node.get("default"), kind) {
        check_default(declared, default, value, kind, pattern, path, found);
    } else if let (true, Some(default)) = (declared.is_secret, node.get("default")) {
        found.at(&path.key("default"), &default.value, secret_default());
    }
}

fn secret_default() -> Draft {
    Draft::error(Code::SecretWithDefault, "a secret can't have a default")
        .help("everybody who has the package could read it; remove the key")
}

fn check_default(
    declared: &Declared<'_>,
    default: &crate::base::json::Member,
    value: Option<&Value>,
    kind: VariableKind,
    pattern: Option<Pattern>,
    path: &Path<'_>,
    found: &mut Found,
) {
    let path = path.key("default");
    if declared.is_secret {
        return found.at(&path, &default.value, secret_default());
    }
    let Some(value) = value else { return };
    let Some(default_value) = value.get("default") else { return };
    let variable = Variable {
        name: any_name(),
        title: String::new(),
        description: None,
        kind,
        required: false,
        secret: false,
        default: None,
        allowed: value.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
        pattern: pattern.filter(|_| kind == VariableKind::String),
        agent_configurable: false,
    };
    if let Err(fault) = variable.check(default_value) {
        found.at(
            &path,
            &default.value,
            Draft::error(Code::BadDefault, format!("`default` {fault}")).help("a default follows the rules of its own variable"),
        );
    }
}

/// The check of a value doesn't look at the name, which may be wrong itself.
fn any_name() -> VariableName {
    "NAME".parse().expect("it is in the grammar")
}
