//! What the tools of a manifest meet in a client that they are served to: `validate --client`.
//!
//! The limits are the clients' own, taken from what they document, from their source, or from the errors that people
//! report; each entry of [`CLIENTS`] says which. They are warnings: a client may lift them any day.

use crate::base::json::{Kind, Member, Node};
use crate::base::text::utf16_len;
use crate::tool::plain_served_name;

use super::Code;
use super::collect::{Draft, Found, Path, shown};
use super::rules::{Context, Tool, text};

/// The name under which `connect` enters `serve` in a client's configuration; clients put it before a tool's name.
const SERVER: &str = "spark-tool";

/// A client that tools can be checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    Claude,
    Codex,
    Cursor,
    Vscode,
    Gemini,
}

/// What one client takes.
struct Limits {
    client: Client,
    word: &'static str,
    /// Put before the served name of a tool.
    prefix: &'static str,
    name_max: usize,
    tools_max: Option<usize>,
    /// UTF-16 units of a description that reach the model.
    description_max: Option<usize>,
    schema: &'static [SchemaRule],
}

/// What a client asks of an input schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemaRule {
    /// No `oneOf`, `anyOf` or `allOf` beside the schema's own `type`.
    NoChoiceAtTheTop,
    /// Keys of the top-level `properties` are 1 to 64 of `a-z`, `A-Z`, `0-9`, `_`, `.`, `-`.
    PlainKeys,
    /// Every array says what its items are.
    ItemsOfArrays,
    /// Every property says its type; one that doesn't is taken for a string.
    TypeOfProperties,
    /// No `propertyNames`, and `additionalProperties` only as `true` or `false`.
    NoOpenMaps,
}

const CLIENTS: &[Limits] = &[
    Limits {
        client: Client::Claude,
        word: "claude",
        // anthropics/claude-code#2412: `mcp__<server>__<tool>`, refused over 64 characters.
        prefix: "mcp__spark-tool__",
        name_max: 64,
        tools_max: None,
        // code.claude.com/docs, MCP, for server authors: cut at 2 KB; anthropics/claude-code#41593: 2 048 characters.
        description_max: Some(2_048),
        // anthropics/claude-code#5319 and twilio-labs/mcp#58: the whole request is refused.
        schema: &[SchemaRule::NoChoiceAtTheTop, SchemaRule::PlainKeys],
    },
    Limits {
        client: Client::Codex,
        word: "codex",
        // openai/codex, mcp_connection_manager.rs: `mcp__<server>__<tool>`, cut with a hash over 64 characters.
        prefix: "mcp__spark-tool__",
        name_max: 64,
        // The API's own limit, met in microsoft/vscode-copilot-release#9375 too.
        tools_max: Some(128),
        description_max: None,
        // openai/codex, tools/spec.rs, sanitize_json_schema: a schema without a type becomes a string.
        schema: &[SchemaRule::TypeOfProperties],
    },
    Limits {
        client: Client::Cursor,
        word: "cursor",
        // ComposioHQ/composio#2788: server and tool name are left out at 60 characters together.
        prefix: "spark-tool",
        name_max: 59,
        // Snowflake-Labs/mcp#77: warned of over 80 tools of all servers (40 in earlier releases).
        tools_max: Some(80),
        description_max: None,
        schema: &[],
    },
    Limits {
        client: Client::Vscode,
        word: "vscode",
        // microsoft/vscode#284536: `mcp_<server>_<tool>`; 64 is what the models behind it take.
        prefix: "mcp_spark-tool_",
        name_max: 64,
        // microsoft/vscode-copilot-release#11653: refused over 128 in one request.
        tools_max: Some(128),
        description_max: None,
        // microsoft/vscode#246119: "tool parameters array type must have items".
        schema: &[SchemaRule::ItemsOfArrays],
    },
    Limits {
        client: Client::Gemini,
        word: "gemini",
        // google-gemini/gemini-cli#2966 and #602: `mcp_<server>_<tool>`, cut in the middle over 63 characters.
        prefix: "mcp_spark-tool_",
        name_max: 63,
        tools_max: None,
        description_max: None,
        // cline/cline#7339 and asbis/shapeitup v1.6.2: the subset of OpenAPI 3.0 that function declarations take.
        schema: &[SchemaRule::ItemsOfArrays, SchemaRule::NoOpenMaps],
    },
];

impl Client {
    /// All of them.
    #[cfg(test)]
    pub(super) const ALL: [Self; 5] = [Self::Claude, Self::Codex, Self::Cursor, Self::Vscode, Self::Gemini];

    fn limits(self) -> Option<&'static Limits> {
        CLIENTS.iter().find(|limits| limits.client == self)
    }
}

/// Reports what `client` would refuse, cut or misread.
pub(super) fn check(client: Client, context: &Context<'_>, found: &mut Found) {
    let Some(limits) = client.limits() else { return };
    let list = Path::Root.key("tools");
    if let (Some(max), Some(node)) = (limits.tools_max, context.root.get("tools"))
        && context.tools.len() > max
    {
        let draft = warning(limits, format!("takes {max} tools of all servers together, this package has {}", context.tools.len()));
        found.at(&list, &node.value, draft.help("split the package"));
    }
    for tool in &context.tools {
        let path = list.index(tool.index);
        check_name(limits, context, tool, &path, found);
        check_description(limits, tool, &path, found);
        if let Some(schema) = tool.node.get("inputSchema") {
            let path = path.key("inputSchema");
            check_top(limits, &schema.value, &path, found);
            check_schema(limits, &schema.value, &path, found);
        }
    }
}

fn warning(limits: &Limits, what: impl std::fmt::Display) -> Draft {
    Draft::warning(Code::ClientLimit, format!("{} {what}", limits.word))
}

fn check_name(limits: &Limits, context: &Context<'_>, tool: &Tool<'_>, path: &Path<'_>, found: &mut Found) {
    let (Some(package), Some((name, node))) = (context.package, tool.name) else { return };
    let (served, _) = plain_served_name(package, name);
    let length = limits.prefix.len() + served.len();
    if length > limits.name_max {
        let draft =
            warning(limits, format!("takes names of {} characters, `{}{}` has {length}", limits.name_max, limits.prefix, shown(&served)));
        let help = format!(
            "tools are served from a server named `{SERVER}`; shorten the package's id or the tool's name by {}",
            length - limits.name_max
        );
        found.at(&path.key("name"), node, draft.help(help));
    }
}

fn check_description(limits: &Limits, tool: &Tool<'_>, path: &Path<'_>, found: &mut Found) {
    let (Some(max), Some((description, node))) = (limits.description_max, text(tool.node, "description")) else { return };
    let length = utf16_len(description);
    if length > max {
        let draft = warning(limits, format!("shows its model {max} characters of a description, this one has {length}"));
        found.at(&path.key("description"), node, draft.help("put what decides the choice first; the rest can go into `guidance`"));
    }
}

fn check_top(limits: &Limits, schema: &Node, path: &Path<'_>, found: &mut Found) {
    if limits.schema.contains(&SchemaRule::NoChoiceAtTheTop) {
        for key in ["oneOf", "anyOf", "allOf"] {
            if let Some(member) = schema.get(key) {
                let draft = warning(limits, format!("refuses `{key}` at the top of an input schema, and every other tool with it"));
                found.add(&path.key(key), member.key_span, draft.help("move the choice into a property, or let the tool check it"));
            }
        }
    }
    if limits.schema.contains(&SchemaRule::PlainKeys) {
        let is_plain = |key: &str| {
            (1..=64).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
        };
        let properties = path.key("properties");
        for member in members(schema, "properties").iter().filter(|member| !is_plain(&member.key)) {
            let draft = warning(limits, format!("refuses the parameter name `{}`, and every other tool with it", shown(&member.key)));
            found.add(&properties.key(&member.key), member.key_span, draft.help("1 to 64 of a-z, A-Z, 0-9, `_`, `.` and `-`"));
        }
    }
}

/// Keywords whose value is one schema, and those whose value is a list or a map of them.
const ONE_SCHEMA: [&str; 7] = ["items", "additionalProperties", "contains", "not", "if", "then", "else"];
const LISTS_OF_SCHEMAS: [&str; 4] = ["prefixItems", "oneOf", "anyOf", "allOf"];
const MAPS_OF_SCHEMAS: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

fn check_schema(limits: &Limits, schema: &Node, path: &Path<'_>, found: &mut Found) {
    if limits.schema.is_empty() {
        return;
    }
    let has = |rule: SchemaRule| limits.schema.contains(&rule);
    if has(SchemaRule::ItemsOfArrays) && is_of_type(schema, "array") && schema.get("items").is_none() {
        let draft = warning(limits, "refuses an array whose `items` aren't described");
        found.at(path, schema, draft.help("add `\"items\": { … }`"));
    }
    if has(SchemaRule::NoOpenMaps) {
        let open = schema.get("additionalProperties").filter(|member| matches!(member.value.kind, Kind::Object(_)));
        for member in schema.get("propertyNames").into_iter().chain(open) {
            let draft = warning(limits, format!("refuses a schema under `{}`", member.key));
            found.add(&path.key(&member.key), member.key_span, draft.help("describe the keys in words, or take a list of pairs"));
        }
    }
    if has(SchemaRule::TypeOfProperties) {
        let path = path.key("properties");
        for member in members(schema, "properties").iter().filter(|member| !says_its_type(&member.value)) {
            let draft = warning(limits, format!("takes `{}` for a string, because it has no `type`", shown(&member.key)));
            found.add(&path.key(&member.key), member.key_span, draft.help("add its `type`"));
        }
    }
    for_each_part(schema, path, &mut |part, path| check_schema(limits, part, path, found));
}

fn for_each_part(schema: &Node, path: &Path<'_>, visit: &mut dyn FnMut(&Node, &Path<'_>)) {
    for key in ONE_SCHEMA {
        if let Some(member) = schema.get(key) {
            visit(&member.value, &path.key(key));
        }
    }
    for key in LISTS_OF_SCHEMAS {
        if let Some(Kind::Array(items)) = schema.get(key).map(|member| &member.value.kind) {
            items.iter().enumerate().for_each(|(index, item)| visit(item, &path.key(key).index(index)));
        }
    }
    for key in MAPS_OF_SCHEMAS {
        for member in members(schema, key) {
            visit(&member.value, &path.key(key).key(&member.key));
        }
    }
}

fn members<'a>(node: &'a Node, key: &str) -> &'a [Member] {
    match node.get(key).map(|member| &member.value.kind) {
        Some(Kind::Object(members)) => members,
        _ => &[],
    }
}

fn is_of_type(schema: &Node, word: &str) -> bool {
    let is_word = |node: &Node| matches!(&node.kind, Kind::String(text) if text == word);
    match schema.get("type").map(|member| &member.value) {
        Some(Node { kind: Kind::Array(items), .. }) => items.iter().any(is_word),
        Some(node) => is_word(node),
        None => false,
    }
}

/// A type can also be told by what the keyword is for, or stand in the alternatives.
fn says_its_type(schema: &Node) -> bool {
    let telling = ["type", "properties", "items", "prefixItems", "enum", "const", "$ref", "oneOf", "anyOf", "allOf", "format", "pattern"];
    telling.iter().any(|key| schema.get(key).is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::manifest::{cases, read_for};

    /// The pointers of what `client` has against a manifest.
    fn check(client: Client, manifest: &Value) -> Vec<String> {
        let findings = read_for(manifest.to_string().as_bytes(), &[client]).findings;
        let of_client = findings.into_iter().filter(|finding| finding.code == Code::ClientLimit);
        of_client
            .inspect(|finding| {
                assert!(client.limits().is_some_and(|limits| finding.message.starts_with(limits.word)), "{}", finding.message);
            })
            .map(|finding| finding.pointer)
            .collect()
    }

    #[test]
    fn every_client_has_its_limits() {
        for client in Client::ALL {
            assert!(client.limits().is_some_and(|limits| limits.prefix.contains(SERVER)));
            assert_eq!(check(client, &cases::full()), Vec::<String>::new());
        }
    }

    #[test]
    fn a_name_is_measured_as_the_client_builds_it() {
        let mut manifest = cases::full();
        // `acme_notes_` has 11 characters.
        for (client, fits) in [(Client::Claude, 36), (Client::Codex, 36), (Client::Cursor, 38), (Client::Vscode, 38), (Client::Gemini, 37)]
        {
            manifest["tools"][0]["name"] = json!("a".repeat(fits));
            assert_eq!(check(client, &manifest), Vec::<String>::new(), "{client:?}");
            manifest["tools"][0]["name"] = json!("a".repeat(fits + 1));
            assert_eq!(check(client, &manifest), ["/tools/0/name"], "{client:?}");
        }
    }

    #[test]
    fn tools_are_counted_and_descriptions_measured() {
        let mut manifest = cases::full();
        manifest["tools"][0]["description"] = json!("x ".repeat(1_025));
        assert_eq!(check(Client::Claude, &manifest), ["/tools/0/description"]);
        let tool = manifest["tools"][1].clone();
        let tools = |count: usize| -> Value {
            let name = |index: usize| json!(format!("tool{index}"));
            (0..count)
                .map(|index| {
                    let mut tool = tool.clone();
                    tool["name"] = name(index);
                    tool
                })
                .collect()
        };
        for (client, max) in [(Client::Cursor, 80), (Client::Vscode, 128), (Client::Codex, 128)] {
            manifest["tools"] = tools(max);
            assert_eq!(check(client, &manifest), Vec::<String>::new());
            manifest["tools"] = tools(max + 1);
            assert_eq!(check(client, &manifest), ["/tools"]);
        }
    }

    #[test]
    fn schemas_are_checked_as_deep_as_they_go() {
        let mut manifest = cases::full();
        manifest["tools"][0]["inputSchema"] = json!({
            "type": "object",
            "properties": {
                "a b": {"type": "array"},
                "any": {},
                "deep": {"type": "object", "properties": {"list": {"type": ["array", "null"]}}, "additionalProperties": {"type": "string"}},
            },
            "anyOf": [{"required": ["deep"]}, {"properties": {"x": {"description": "of no type"}}}],
        });
        let at = |below: &str| format!("/tools/0/inputSchema{below}");
        assert_eq!(check(Client::Claude, &manifest), [at("/properties/a b"), at("/anyOf")]);
        assert_eq!(check(Client::Codex, &manifest), [at("/properties/any"), at("/anyOf/1/properties/x")]);
        assert_eq!(check(Client::Vscode, &manifest), [at("/properties/a b"), at("/properties/deep/properties/list")]);
        assert_eq!(
            check(Client::Gemini, &manifest),
            [at("/properties/a b"), at("/properties/deep/properties/list"), at("/properties/deep/additionalProperties")]
        );
        assert_eq!(check(Client::Cursor, &manifest), Vec::<String>::new());
    }
}
