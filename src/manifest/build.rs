//! From a document without errors to the model. Everything was checked before: what doesn't fit here ends in `None`,
//! and a test shows that no document without errors does.

use std::str::FromStr;
use std::time::Duration;

use serde_json::{Map, Value};

use super::model::{
    Author, DeclarativeHttpRuntime, Development, LegacyCustomToolRuntime, Lifecycle, Manifest, McpImportRuntime, PackageGuidance,
    Permissions, ProcessRuntime, RemoteHttpRuntime, Runtime,
};
use super::number;
use crate::http::{Extract, Header, HeaderContent, HttpSpec, Method, Request, Response, ResponseFormat};
use crate::tool::{Effect, Example, Guidance, Idempotency, OsEffect, Pattern, Risk, Safety, ToolDefinition, Variable, VariableKind};

/// How long a call may take if the manifest doesn't say (manifest §4, §5).
const REMOTE_TIMEOUT_MS: u64 = 120_000;
const DECLARATIVE_TIMEOUT_MS: u64 = 30_000;

/// `patterns` are those of the variables, in order.
pub(super) fn manifest(document: Value, patterns: Vec<Option<Pattern>>) -> Option<Manifest> {
    let object = document.as_object()?;
    let built = Manifest {
        id: parsed(object, "id")?,
        version: parsed(object, "version")?,
        name: text(object, "name")?,
        description: text(object, "description")?,
        author: given(object, "author", author).ok()?,
        runtime: runtime(object.get("runtime")?.as_object()?)?,
        development: object.get("development").and_then(Value::as_object).map(development).unwrap_or_default(),
        guidance: object.get("guidance").and_then(Value::as_object).map(package_guidance),
        tools: list(object, "tools").iter().map(tool).collect::<Option<_>>()?,
        environment: list(object, "environment")
            .iter()
            .zip(patterns)
            .map(|(value, pattern)| variable(value, pattern))
            .collect::<Option<_>>()?,
        permissions: given(object, "permissions", permissions).ok()?.unwrap_or_default(),
        document: Value::Null,
    };
    Some(Manifest { document, ..built })
}

/// Reads what may be left out, but not be unusable.
fn given<T>(object: &Map<String, Value>, key: &str, read: impl FnOnce(&Value) -> Option<T>) -> Result<Option<T>, Unfit> {
    object.get(key).map(|value| read(value).ok_or(Unfit)).transpose()
}

/// A value that the checker should have refused.
#[derive(Debug)]
struct Unfit;

fn text(object: &Map<String, Value>, key: &str) -> Option<String> {
    object.get(key)?.as_str().map(str::to_owned)
}

fn parsed<T: FromStr>(object: &Map<String, Value>, key: &str) -> Option<T> {
    object.get(key)?.as_str()?.parse().ok()
}

fn list<'a>(object: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn texts(object: &Map<String, Value>, key: &str) -> Vec<String> {
    list(object, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn pairs(object: &Map<String, Value>, key: &str) -> Vec<(String, String)> {
    let map = object.get(key).and_then(Value::as_object);
    map.into_iter().flatten().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn flag(object: &Map<String, Value>, key: &str) -> bool {
    object.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// Reads a non-negative integer as the checker does, `3e4` and `1.0` included.
fn unsigned(object: &Map<String, Value>, key: &str, default: u64) -> Option<u64> {
    match object.get(key) {
        None => Some(default),
        Some(Value::Number(value)) => u64::try_from(number::integer(value.as_str())?).ok(),
        Some(_) => None,
    }
}

fn author(value: &Value) -> Option<Author> {
    let object = value.as_object()?;
    Some(Author { name: text(object, "name")?, url: text(object, "url") })
}

fn runtime(object: &Map<String, Value>) -> Option<Runtime> {
    Some(match object.get("adapter")?.as_str()? {
        "process" => Runtime::Process(ProcessRuntime {
            command: text(object, "command")?,
            args: texts(object, "args"),
            lifecycle: match object.get("lifecycle").and_then(Value::as_str) {
                Some("persistent") => Lifecycle::Persistent,
                _ => Lifecycle::PerCall,
            },
            working_directory: text(object, "workingDirectory"),
        }),
        "remote-http" => Runtime::RemoteHttp(RemoteHttpRuntime {
            base_url: text(object, "baseUrl")?,
            headers: pairs(object, "headers"),
            timeout: Duration::from_millis(unsigned(object, "timeoutMs", REMOTE_TIMEOUT_MS)?),
        }),
        "declarative-http" => {
            let tools = object.get("tools")?.as_object()?;
            Runtime::DeclarativeHttp(DeclarativeHttpRuntime {
                tools: tools.iter().map(|(name, spec)| Some((name.parse().ok()?, http_spec(spec)?))).collect::<Option<_>>()?,
                timeout: Duration::from_millis(unsigned(object, "timeoutMs", DECLARATIVE_TIMEOUT_MS)?),
            })
        }
        "mcp-import" => Runtime::McpImport(McpImportRuntime {
            server_id: text(object, "serverId")?,
            tool_name_overrides: pairs(object, "toolNameOverrides"),
        }),
        "legacy-custom-tool" => Runtime::LegacyCustomTool(LegacyCustomToolRuntime { tool_id: text(object, "toolId")? }),
        _ => return None,
    })
}

fn http_spec(value: &Value) -> Option<HttpSpec> {
    let object = value.as_object()?;
    let request = object.get("request")?.as_object()?;
    let response = object.get("response")?.as_object()?;
    Some(HttpSpec {
        request: Request {
            method: Method::from_word(request.get("method")?.as_str()?)?,
            url_template: text(request, "urlTemplate")?,
            headers: list(request, "headers").iter().map(header).collect::<Option<_>>()?,
            body: request.get("body").and_then(|body| Some(body.get("jsonTemplate")?.as_str()?.to_owned())),
        },
        response: Response {
            format: ResponseFormat::from_word(response.get("format")?.as_str()?)?,
            extract: list(response, "extract").iter().map(extract).collect::<Option<_>>()?,
            max_size_bytes: unsigned(response, "maxSizeBytes", HttpSpec::MAX_SIZE_DEFAULT)?,
        },
        allow_private_network: object.get("allowPrivateNetwork").and_then(Value::as_bool),
    })
}

fn header(value: &Value) -> Option<Header> {
    let object = value.as_object()?;
    let content = match (text(object, "valueTemplate"), text(object, "secretRef")) {
        (Some(template), None) => HeaderContent::Template(template),
        (None, Some(name)) => HeaderContent::Secret(name),
        _ => return None,
    };
    Some(Header { name: text(object, "name")?, content })
}

fn extract(value: &Value) -> Option<Extract> {
    let object = value.as_object()?;
    Some(Extract { label: text(object, "label")?, json_path: text(object, "jsonPath")? })
}

fn development(object: &Map<String, Value>) -> Development {
    Development { install_command: text(object, "installCommand"), build_command: text(object, "buildCommand") }
}

fn package_guidance(object: &Map<String, Value>) -> PackageGuidance {
    PackageGuidance {
        overview: text(object, "overview"),
        shared_instructions: text(object, "sharedInstructions"),
        prerequisites: texts(object, "prerequisites"),
    }
}

fn tool(value: &Value) -> Option<ToolDefinition> {
    let object = value.as_object()?;
    let word = |key: &str| object.get(key)?.as_str();
    Some(ToolDefinition {
        name: parsed(object, "name")?,
        title: text(object, "title")?,
        description: text(object, "description")?,
        input_schema: object.get("inputSchema")?.clone(),
        output_schema: object.get("outputSchema").cloned(),
        safety: Safety {
            risk: Risk::from_word(word("risk")?)?,
            effect: Effect::from_word(word("effect")?)?,
            idempotency: Idempotency::from_word(word("idempotency")?)?,
        },
        guidance: given(object, "guidance", tool_guidance).ok()?,
    })
}

fn tool_guidance(value: &Value) -> Option<Guidance> {
    let object = value.as_object()?;
    let example = |value: &Value| {
        let object = value.as_object()?;
        Some(Example {
            title: text(object, "title")?,
            description: text(object, "description"),
            input: object.get("input").cloned(),
            output: object.get("output").cloned(),
        })
    };
    Some(Guidance {
        when_to_use: texts(object, "whenToUse"),
        when_not_to_use: texts(object, "whenNotToUse"),
        instructions: text(object, "instructions"),
        examples: list(object, "examples").iter().map(example).collect::<Option<_>>()?,
        result_semantics: text(object, "resultSemantics"),
    })
}

fn variable(value: &Value, pattern: Option<Pattern>) -> Option<Variable> {
    let object = value.as_object()?;
    Some(Variable {
        name: parsed(object, "name")?,
        title: text(object, "title")?,
        description: text(object, "description"),
        kind: VariableKind::from_word(object.get("type")?.as_str()?)?,
        required: flag(object, "required"),
        secret: flag(object, "secret"),
        default: object.get("default").cloned(),
        allowed: list(object, "enum").to_vec(),
        pattern,
        agent_configurable: flag(object, "agentConfigurable"),
    })
}

fn permissions(value: &Value) -> Option<Permissions> {
    let object = value.as_object()?;
    let words = |key: &str| {
        let mut words: Vec<&str> = Vec::new();
        for word in list(object, key).iter().filter_map(Value::as_str) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words
    };
    Some(Permissions {
        os_effects: words("declaredOsEffects").into_iter().map(OsEffect::from_word).collect::<Option<_>>()?,
        required_capabilities: words("requiredSparkCapabilities").into_iter().map(|name| name.parse().ok()).collect::<Option<_>>()?,
        optional_capabilities: words("optionalSparkCapabilities").into_iter().map(|name| name.parse().ok()).collect::<Option<_>>()?,
    })
}
