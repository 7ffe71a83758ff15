//! SARIF 2.1.0, the format in which code scanners of forges and editors take findings.

use serde::Serialize;

use super::json;
use crate::base::json::Place;
use crate::manifest::{Code, Finding, Severity};
use crate::ops::validate::{Checked, Validated};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<ResultWire<'a>>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Text<'static>,
}

#[derive(Serialize)]
struct Text<'a> {
    text: std::borrow::Cow<'a, str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultWire<'a> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text<'a>,
    locations: [Location<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    physical_location: PhysicalLocation,
    logical_locations: [LogicalLocation<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
}

/// The JSON pointer of the value.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'a> {
    fully_qualified_name: &'a str,
}

pub(super) fn validated(validated: &Validated) -> String {
    let mut rules: Vec<Code> = Vec::new();
    let mut results = Vec::new();
    for checked in &validated.manifests {
        for finding in &checked.findings {
            let rule = rules.iter().position(|code| *code == finding.code).unwrap_or_else(|| {
                rules.push(finding.code);
                rules.len() - 1
            });
            results.push(result(checked, finding, rule));
        }
    }
    let rules = rules.into_iter().map(|code| Rule { id: code.as_str(), short_description: Text { text: code.description().into() } });
    json::line(&Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool { driver: Driver { name: "spark-tool", version: env!("CARGO_PKG_VERSION"), rules: rules.collect() } },
            column_kind: "utf16CodeUnits",
            results,
        }],
    })
}

fn result<'a>(checked: &Checked, finding: &'a Finding, rule_index: usize) -> ResultWire<'a> {
    let text = match &finding.help {
        Some(help) => format!("{}\n{help}", finding.message).into(),
        None => finding.message.as_str().into(),
    };
    ResultWire {
        rule_id: finding.code.as_str(),
        rule_index,
        level: match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Advice => "note",
        },
        message: Text { text },
        locations: [Location {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation { uri: uri(&checked.path) },
                region: finding.place.map(|Place { line, column, end_line, end_column }| Region {
                    start_line: line,
                    start_column: column,
                    end_line,
                    end_column,
                }),
            },
            logical_locations: [LogicalLocation { fully_qualified_name: &finding.pointer }],
        }],
    }
}

/// Returns a path as a URI reference: relative ones stay relative, so that a forge finds the file in its repository.
fn uri(path: &str) -> String {
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    let is_absolute = path.starts_with('/') || (cfg!(windows) && path.get(1..2) == Some(":"));
    let mut uri = if !is_absolute {
        String::new()
    } else if path.starts_with('/') {
        "file://".to_owned()
    } else {
        "file:///".to_owned()
    };
    for byte in path.trim_start_matches("./").bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~' | '/') || (c == ':' && is_absolute) {
            uri.push(c);
        } else {
            uri.push('%');
            uri.push(char::from(b"0123456789ABCDEF"[usize::from(byte >> 4)]));
            uri.push(char::from(b"0123456789ABCDEF"[usize::from(byte & 15)]));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_uri_reference() {
        assert_eq!(uri("./a b/100%/é.json"), "a%20b/100%25/%C3%A9.json");
        #[cfg(unix)]
        assert_eq!(uri("/x/a:b"), "file:///x/a:b");
        assert_eq!(uri("a:b"), "a%3Ab");
    }
}
