//! What an adapter's part says about tools and variables of the manifest (manifest §4 to §7, §12.1 rule 3).

use std::collections::HashSet;

use serde_json::Value;

use super::{Context, ITEMS_LOOKED_AT, Tool, items, text};
use crate::base::json::{Kind, Member, Node};
use crate::base::text::{listed, nearest};
use crate::http::{Method, has_literal_secret, is_sensitive_name, parameters};
use crate::manifest::collect::{Draft, Found, Path, shown};
use crate::manifest::template::variables;
use crate::manifest::walk::opening;
use crate::manifest::{Code, Severity};
use crate::tool::Risk;

pub(super) fn check(context: &Context<'_>, found: &mut Found) {
    let Some(runtime) = context.root.get("runtime").map(|member| &member.value) else { return };
    let path = Path::Root.key("runtime");
    match context.adapter {
        Some("remote-http") => check_remote_headers(context, runtime, &path, found),
        Some("declarative-http") => check_specs(context, runtime, &path, found),
        Some("mcp-import") => check_overrides(context, runtime, &path, found),
        _ => {}
    }
}

fn members<'a>(node: &'a Node, key: &str) -> &'a [Member] {
    match node.get(key).map(|member| &member.value.kind) {
        Some(Kind::Object(members)) => members,
        _ => &[],
    }
}

fn check_remote_headers(context: &Context<'_>, runtime: &Node, path: &Path<'_>, found: &mut Found) {
    let path = path.key("headers");
    for member in members(runtime, "headers") {
        let path = path.key(&member.key);
        let Kind::String(value) = &member.value.kind else { continue };
        let mut names = variables(value).peekable();
        if (names.peek().is_none() && is_sensitive_name(&member.key)) || has_literal_secret(value) {
            found.at(
                &path,
                &member.value,
                Draft::warning(Code::SecretInFile, format!("the header `{}` has its credential in the file", shown(&member.key)))
                    .help("declare a secret under `environment` and write `${NAME}` here"),
            );
        }
        for name in names {
            if context.variable(name).is_none() {
                let draft = || undeclared_variable(context, name, &format!("${{{name}}}"));
                found.add_with(Severity::Error, &path, member.value.span, draft);
            }
        }
    }
}

fn undeclared_variable(context: &Context<'_>, name: &str, written: &str) -> Draft {
    let help = match nearest(name, context.variable_names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("declare `{}` under `environment`", shown(name)),
    };
    Draft::error(Code::UndeclaredVariable, format!("`{}` names no variable of this manifest", shown(written))).help(help)
}

/// Rule 3: neither a tool without its spec nor a spec without its tool.
fn check_specs(context: &Context<'_>, runtime: &Node, path: &Path<'_>, found: &mut Found) {
    let Some(map) = runtime.get("tools").map(|member| &member.value) else { return };
    if !matches!(map.kind, Kind::Object(_)) {
        return;
    }
    let path = path.key("tools");
    for member in members(runtime, "tools") {
        let path = path.key(&member.key);
        let tool = context.tool(&member.key);
        if tool.is_none() {
            let message = || format!("there is a request for `{}`, but no such tool", shown(&member.key));
            let draft = || Draft::error(Code::UnknownTool, message()).help(help_for_tool(context, &member.key));
            found.add_with(Severity::Error, &path, member.key_span, draft);
        }
        check_spec(context, tool, &member.value, &path, found);
    }
    let given: HashSet<&str> = members(runtime, "tools").iter().map(|member| member.key.as_str()).collect();
    for tool in &context.tools {
        if let Some((name, _)) = tool.name
            && !given.contains(name)
        {
            let draft = Draft::error(Code::MissingHttpSpec, format!("the tool `{}` has no request in `runtime.tools`", shown(name)));
            found.add(
                &path.key(name),
                opening(map),
                draft.help(format!("add `\"{}\": {{ \"request\": …, \"response\": … }}`", shown(name))),
            );
        }
    }
}

fn help_for_tool(context: &Context<'_>, name: &str) -> String {
    match nearest(name, context.tool_names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the tools are {}", listed(context.tool_names().take(20))),
    }
}

fn check_spec(context: &Context<'_>, tool: Option<&Tool<'_>>, spec: &Node, path: &Path<'_>, found: &mut Found) {
    let Some(request) = spec.get("request").map(|member| &member.value) else { return };
    let path = path.key("request");
    let method = text(request, "method").and_then(|(word, _)| Method::from_word(word));
    if let (Some(method), Some(tool)) = (method, tool) {
        check_risk(method, tool, found);
    }
    if let Some((url, node)) = text(request, "urlTemplate") {
        let path = path.key("urlTemplate");
        check_url(url, node, &path, found);
        check_template(tool, url, node, &path, found);
    }
    for (index, header) in items(request, "headers") {
        check_header(context, tool, header, &path.key("headers").index(index), found);
    }
    if let Some(body) = request.get("body") {
        let path = path.key("body");
        if method.is_some_and(|method| !method.sends_body()) {
            let word = method.map_or("", Method::as_str);
            let draft = Draft::warning(Code::UnsentBody, format!("`{word}` sends no body, so this one is left out"));
            found.add(&path, body.key_span, draft.help("remove it, or use `POST`, `PUT` or `PATCH`"));
        }
        if let Some((template, node)) = text(&body.value, "jsonTemplate") {
            check_template(tool, template, node, &path.key("jsonTemplate"), found);
        }
    }
}

/// Custom-tools §2: what a method does at least.
fn check_risk(method: Method, tool: &Tool<'_>, found: &mut Found) {
    let Some((word, node)) = text(tool.node, "risk") else { return };
    let rank = |word: &str| Risk::WORDS.iter().position(|known| *known == word);
    let floor = method.risk_floor().as_str();
    if rank(word).is_some_and(|given| Some(given) < rank(floor)) {
        let list = Path::Root.key("tools");
        found.at(
            &list.index(tool.index).key("risk"),
            node,
            Draft::warning(Code::RiskTooLow, format!("risk `{word}` is lower than a `{}` request suggests", method.as_str()))
                .help(format!("write `{floor}` unless the server is known to do less")),
        );
    }
}

fn check_url(url: &str, node: &Node, path: &Path<'_>, found: &mut Found) {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    if authority.contains('@') {
        let draft = Draft::warning(Code::SecretInFile, "the URL has a user name or password in it, which is refused when it is called");
        found.at(path, node, draft.help("send it in a header with `secretRef`"));
    }
    let query = url.split_once('?').map_or("", |(_, query)| query);
    for name in query.split('&').filter_map(|pair| pair.split('=').next()).filter(|name| is_sensitive_name(name)) {
        let draft = Draft::warning(
            Code::SecretInFile,
            format!("the URL's parameter `{}` carries a credential, which is refused when it is called", shown(name)),
        );
        found.at(path, node, draft.help("URLs end up in logs; send it in a header with `secretRef`"));
    }
}

fn check_header(context: &Context<'_>, tool: Option<&Tool<'_>>, header: &Node, path: &Path<'_>, found: &mut Found) {
    let name = text(header, "name").map_or("", |(name, _)| name);
    if let Some((template, node)) = text(header, "valueTemplate") {
        let path = path.key("valueTemplate");
        if is_sensitive_name(name) {
            let draft = Draft::error(Code::SensitiveHeader, format!("`{}` carries a credential and needs `secretRef`", shown(name)));
            found.at(&path, node, draft.help("declare a secret under `environment` and write its name as `secretRef` instead"));
        }
        check_template(tool, template, node, &path, found);
    }
    if let Some((reference, node)) = text(header, "secretRef") {
        let path = path.key("secretRef");
        match context.variable(reference) {
            // One that breaks the grammar was reported for that.
            None if !is_reference(reference) => {}
            None => found.add_with(Severity::Error, &path, node.span, || undeclared_variable(context, reference, reference)),
            Some(variable) if !variable.is_secret => {
                let draft = Draft::warning(Code::SecretInPlain, format!("`{}` is not declared as a secret", shown(reference)));
                found.at(&path, node, draft.help("add `\"secret\": true` to the variable, so that its value is kept and masked as one"));
            }
            Some(_) => {}
        }
    }
}

fn is_reference(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Every placeholder is a parameter that always has a value (design §4, custom-tools §6).
fn check_template(tool: Option<&Tool<'_>>, template: &str, node: &Node, path: &Path<'_>, found: &mut Found) {
    if has_literal_secret(template) {
        let draft = Draft::warning(Code::SecretInFile, format!("{path} holds what looks like a credential"));
        found.at(path, node, draft.help("declare a secret under `environment` and send it in a header with `secretRef`"));
    }
    let Some(schema) = tool.and_then(|tool| tool.input_schema) else { return };
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut seen = HashSet::new();
    for name in parameters(template).filter(|name| seen.insert(*name)).take(ITEMS_LOOKED_AT) {
        let names = || properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str).take(ITEMS_LOOKED_AT));
        match properties.and_then(|properties| properties.get(name)) {
            None => {
                let help = match nearest(name, names()) {
                    Some(near) => format!("did you mean `{{{{{near}}}}}`?"),
                    None => format!("add `{}` to the `properties` of the tool's `inputSchema`", shown(name)),
                };
                let draft = Draft::error(Code::UndeclaredParameter, format!("`{{{{{}}}}}` names no parameter of the tool", shown(name)));
                found.at(path, node, draft.help(help));
            }
            Some(property) => {
                let required = schema.get("required").and_then(Value::as_array);
                let is_required = required.is_some_and(|required| required.iter().any(|known| known.as_str() == Some(name)));
                if !is_required && property.get("default").is_none() {
                    let draft = Draft::warning(
                        Code::OptionalParameter,
                        format!("`{{{{{name}}}}}` may be left out by a caller, and the call then fails"),
                    );
                    found.at(path, node, draft.help(format!("add `{name}` to `required`, or give it a `default`")));
                }
            }
        }
    }
}

fn check_overrides(context: &Context<'_>, runtime: &Node, path: &Path<'_>, found: &mut Found) {
    let path = path.key("toolNameOverrides");
    for member in members(runtime, "toolNameOverrides") {
        if context.tool(&member.key).is_none() {
            let message = || format!("there is a name for `{}`, but no such tool", shown(&member.key));
            let draft = || Draft::warning(Code::UnknownTool, message()).help(help_for_tool(context, &member.key));
            found.add_with(Severity::Warning, &path.key(&member.key), member.key_span, draft);
        }
    }
}
