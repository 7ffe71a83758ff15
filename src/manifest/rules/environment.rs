//! Environment variables: names that are safe to hand to a process, and the rules inside one (manifest §11, §12.1 rule 2).

use serde_json::Value;

use super::{Context, Declared, Hijack, ITEMS_LOOKED_AT, flag, text};
use crate::base::json::{Kind, Node};
use crate::manifest::Code;
use crate::manifest::collect::{Draft, Found, Path, shown};
use crate::tool::{Pattern, ValueFault, Variable, VariableKind, VariableName};

/// Returns the compiled pattern of each variable, in order.
pub(super) fn check(context: &Context<'_>, document: &Value, found: &mut Found) -> Vec<Option<Pattern>> {
    let mut patterns = Vec::with_capacity(context.variables.len());
    let list = Path::Root.key("environment");
    for declared in &context.variables {
        let path = list.index(declared.index);
        if let Some((name, node)) = declared.name {
            let path = path.key("name");
            if let Some(first) = context.variable(name).filter(|first| first.index != declared.index) {
                let draft = Draft::error(Code::DuplicateVariable, format!("the variable `{}` is declared twice", shown(name)));
                found.at(&path, node, draft.help(format!("item {} of `environment` has the same name", first.index + 1)));
            }
            if let Some(hijack) = Hijack::of(name) {
                found.at(&path, node, hijack_draft(hijack, name, flag(declared.node, "agentConfigurable")));
            }
        }
        let value = document.get("environment").and_then(|list| list.get(declared.index));
        let is_looked_at = declared.index < ITEMS_LOOKED_AT;
        patterns.push(if is_looked_at { check_one(declared, value, &path, found) } else { None });
    }
    patterns
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

fn check_one(declared: &Declared<'_>, value: Option<&Value>, path: &Path<'_>, found: &mut Found) -> Option<Pattern> {
    let node = declared.node;
    let pattern = check_pattern(node, path, found);
    let kind = text(node, "type").and_then(|(word, node)| Some((VariableKind::from_word(word)?, node)));
    if let Some((kind, node)) = kind
        && kind != VariableKind::String
    {
        check_only_for_strings(declared, kind, node, path, found);
    }
    if let Some(member) = node.get("enum")
        && member.value.kind == Kind::Array(Vec::new())
    {
        let draft = Draft::warning(Code::TooFewItems, "`enum` is empty, so it allows nothing or everything, depending on the host");
        found.at(&path.key("enum"), &member.value, draft.help("list the values that are allowed, or leave the key out"));
    }
    if let Some(default) = node.get("default") {
        let path = path.key("default");
        if declared.is_secret {
            let draft = Draft::error(Code::SecretWithDefault, "a secret can't have a default");
            found.at(&path, &default.value, draft.help("everybody who has the package could read it; remove the key"));
        } else if let (Some((kind, _)), Some(value)) = (kind, value)
            && let Some(fault) = default_fault(value, kind, pattern.as_ref())
        {
            let draft = Draft::error(Code::BadDefault, format!("`default` {fault}"));
            found.at(&path, &default.value, draft.help("a default follows the rules of its own variable"));
        }
    }
    pattern
}

fn check_pattern(variable: &Node, path: &Path<'_>, found: &mut Found) -> Option<Pattern> {
    let (text, node) = text(variable, "pattern")?;
    let path = path.key("pattern");
    match Pattern::compile(text) {
        Ok(pattern) => {
            if let Some(construct) = pattern.non_linear_construct() {
                let draft = Draft::warning(Code::SlowPattern, format!("`pattern` uses {construct}, which can take very long"));
                found.at(&path, node, draft.help("a match is given up at a step limit; most checks can be written without it"));
            }
            Some(pattern)
        }
        Err(fault) => {
            found.at(&path, node, Draft::error(Code::BadPattern, format!("`pattern` {fault}")));
            None
        }
    }
}

fn check_only_for_strings(declared: &Declared<'_>, kind: VariableKind, node: &Node, path: &Path<'_>, found: &mut Found) {
    if declared.is_secret {
        let draft = Draft::error(Code::SecretNotString, format!("a secret must be of type `string`, found `{kind}`"));
        found.at(&path.key("type"), node, draft.help("keychains keep text: write `string` and read the text in the tool"));
    }
    if let Some(pattern) = declared.node.get("pattern") {
        let draft = Draft::error(Code::PatternNotString, format!("only strings have a pattern, the variable is of type `{kind}`"));
        found.at(&path.key("pattern"), &pattern.value, draft.help("use `enum`, or the type `string`"));
    }
}

/// Returns why the default of a plain variable isn't one of its values.
fn default_fault(variable: &Value, kind: VariableKind, pattern: Option<&Pattern>) -> Option<ValueFault> {
    let default = variable.get("default")?;
    let rules = Variable {
        name: any_name(),
        title: String::new(),
        description: None,
        kind,
        required: false,
        secret: false,
        default: None,
        allowed: variable.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
        pattern: pattern.filter(|_| kind == VariableKind::String).cloned(),
        agent_configurable: false,
    };
    rules.check(default).err()
}

/// The check of a value doesn't look at the name, which may be wrong itself.
fn any_name() -> VariableName {
    "NAME".parse().expect("it is in the grammar")
}
