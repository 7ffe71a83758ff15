//! Cases: where they come from and how their files are written.

use std::path::{Path, PathBuf};

use miette::Diagnostic;
use serde_json::Value;
use thiserror::Error;

use crate::base::failure::{Class, Failing};
use crate::base::files;
use crate::base::json::{Kind, Lines, Member, Node, Span, read_tree};
use crate::base::limits::MANIFEST_BYTES;
use crate::base::text;
use crate::manifest::Manifest;
use crate::runtime::process::Scenario;
use crate::tool::{ToolName, VariableName};

use super::expect::{Demand, Expectation};

/// Where a case was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CaseSource {
    /// `--tool` and `--input`.
    Flags,
    /// A file below `tests/`, and which case of its list.
    File { path: PathBuf, at: usize },
    /// `guidance.examples` of the tool.
    Example,
    /// `--torture`: what a process is put through with the input of another case.
    Torture(Scenario),
}

impl CaseSource {
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::Flags => "flags",
            Self::File { .. } => "file",
            Self::Example => "example",
            Self::Torture(_) => "torture",
        }
    }
}

/// One call with what it should give.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) source: CaseSource,
    pub(crate) tool: ToolName,
    pub(crate) input: Value,
    /// Plain values for this case alone, by declared name; text, as a shell would give it.
    pub(crate) environment: Vec<(VariableName, Value)>,
    pub(crate) expectation: Expectation,
}

impl Case {
    /// Returns what the process is put through, if the case is that.
    pub(super) fn scenario(&self) -> Option<Scenario> {
        match self.source {
            CaseSource::Torture(scenario) => Some(scenario),
            CaseSource::Flags | CaseSource::File { .. } | CaseSource::Example => None,
        }
    }
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum CaseError {
    #[error("{file}:{line}:{column}: {message}")]
    #[diagnostic(code(spark::test::bad_case))]
    Bad {
        file: String,
        line: usize,
        column: usize,
        message: String,
        #[help]
        help: Option<String>,
    },
    #[error("can't read the case file `{file}`")]
    #[diagnostic(code(spark::test::unreadable_case), help("check the path and that you may read it"))]
    Unreadable { file: String, source: std::io::Error },
    #[error("can't update the case file `{file}`")]
    #[diagnostic(code(spark::test::unwritable_case), help("nothing in it was changed; check that you may write to its folder"))]
    Unwritable { file: String, source: std::io::Error },
}

impl Failing for CaseError {
    fn class(&self) -> Class {
        match self {
            Self::Bad { .. } | Self::Unreadable { .. } => Class::Unusable,
            Self::Unwritable { .. } => Class::Machine,
        }
    }
}

/// Returns the cases of `tests/*.case.json` in order of file name, or, where there are none, those of the tools'
/// examples that have an input.
pub(crate) fn collect(root: &Path, manifest: &Manifest) -> Result<Vec<Case>, CaseError> {
    let mut cases = Vec::new();
    for path in case_files(root)? {
        let bytes = read_file(&path)?;
        cases.extend(read_cases(&path, &bytes)?);
    }
    if cases.is_empty() { Ok(from_examples(manifest)) } else { Ok(cases) }
}

/// Says whether `name` fits `pattern`, in which `*` stands for any characters and `?` for one.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where to go on when a star has to take one more character.
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match retry {
                Some((star, taken)) => {
                    retry = Some((star, taken + 1));
                    p = star + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

fn case_files(root: &Path) -> Result<Vec<PathBuf>, CaseError> {
    let folder = root.join("tests");
    let unreadable = |source| CaseError::Unreadable { file: text::visible(&folder.to_string_lossy()).into_owned(), source };
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(".case.json")) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read_file(path: &Path) -> Result<Vec<u8>, CaseError> {
    let unreadable = |source| CaseError::Unreadable { file: text::visible(&path.to_string_lossy()).into_owned(), source };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MANIFEST_BYTES {
        let error = std::io::Error::new(std::io::ErrorKind::FileTooLarge, format!("it has {size} bytes, the limit is {MANIFEST_BYTES}"));
        return Err(unreadable(error));
    }
    files::read_regular(path).map_err(unreadable)
}

fn from_examples(manifest: &Manifest) -> Vec<Case> {
    let examples = manifest.tools.iter().flat_map(|tool| {
        let examples = tool.guidance.iter().flat_map(|guidance| &guidance.examples);
        examples.filter_map(move |example| {
            let input = example.input.clone()?;
            Some(Case {
                name: format!("{}: {}", tool.name, example.title),
                source: CaseSource::Example,
                tool: tool.name.clone(),
                input,
                environment: Vec::new(),
                expectation: Expectation { demand: example.output.clone().map(Demand::Includes), max_bytes: None },
            })
        })
    });
    examples.collect()
}

/// Reads a case file: one object or a list of them, `{name?, tool, input, env?, expect?}`.
pub(crate) fn read_cases(path: &Path, bytes: &[u8]) -> Result<Vec<Case>, CaseError> {
    let reader = Reader { path, lines: Lines::new(bytes) };
    let (tree, faults) = read_tree(bytes);
    if let Some(fault) = faults.first() {
        return Err(reader.bad(fault.span, fault.message(), fault.help()));
    }
    let Some(tree) = tree else { return Ok(Vec::new()) };
    match &tree.kind {
        Kind::Array(items) => items.iter().enumerate().map(|(at, item)| reader.case(item, at, items.len())).collect(),
        _ => Ok(vec![reader.case(&tree, 0, 1)?]),
    }
}

struct Reader<'a> {
    path: &'a Path,
    lines: Lines<'a>,
}

const CASE_KEYS: &[&str] = &["name", "tool", "input", "env", "expect"];
const EXPECT_KEYS: &[&str] = &["equals", "includes", "schema", "error", "maxBytes"];

impl Reader<'_> {
    fn bad(&self, span: Span, message: String, help: Option<String>) -> CaseError {
        let place = self.lines.place(span);
        let file = text::visible(&self.path.to_string_lossy()).into_owned();
        CaseError::Bad { file, line: place.line, column: place.column, message, help }
    }

    fn case(&self, node: &Node, at: usize, of: usize) -> Result<Case, CaseError> {
        self.known_keys(node, CASE_KEYS, "a case")?;
        let tool = self.required(node, "tool")?;
        let tool_name = self.string(&tool.value)?;
        let tool = tool_name
            .parse()
            .map_err(|error| self.bad(tool.value.span, format!("the tool name `{}` {error}", text::visible(tool_name)), None))?;
        let stem = self.path.file_name().and_then(|name| name.to_str()).unwrap_or("case").trim_end_matches(".case.json");
        let name = match node.get("name") {
            Some(name) => self.string(&name.value)?.to_owned(),
            None if of > 1 => format!("{stem}#{}", at + 1),
            None => stem.to_owned(),
        };
        Ok(Case {
            name,
            source: CaseSource::File { path: self.path.to_owned(), at },
            tool,
            input: node.get("input").map_or_else(|| Value::Object(serde_json::Map::new()), |input| input.value.to_value()),
            environment: node.get("env").map_or(Ok(Vec::new()), |env| self.environment(&env.value))?,
            expectation: node
                .get("expect")
                .map_or(Ok(Expectation { demand: None, max_bytes: None }), |expect| self.expectation(&expect.value))?,
        })
    }

    fn environment(&self, node: &Node) -> Result<Vec<(VariableName, Value)>, CaseError> {
        let Kind::Object(members) = &node.kind else {
            return Err(self.bad(node.span, format!("`env` must be an object, this is {}", node.kind_name()), None));
        };
        members
            .iter()
            .map(|member| {
                let name = member.key.parse().map_err(|error| {
                    self.bad(member.key_span, format!("the variable name `{}` {error}", text::visible(&member.key)), None)
                })?;
                Ok((name, member.value.to_value()))
            })
            .collect()
    }

    fn expectation(&self, node: &Node) -> Result<Expectation, CaseError> {
        self.known_keys(node, EXPECT_KEYS, "`expect`")?;
        let mut demands: Vec<(&Member, Demand)> = Vec::new();
        for key in ["equals", "includes", "schema", "error"] {
            let Some(member) = node.get(key) else { continue };
            let value = || member.value.to_value();
            demands.push((
                member,
                match key {
                    "equals" => Demand::Equals(value()),
                    "includes" => Demand::Includes(value()),
                    "schema" => Demand::Schema(value()),
                    _ => Demand::Error(self.string(&member.value)?.to_owned()),
                },
            ));
        }
        if let [_, (second, _), ..] = demands.as_slice() {
            let help = "write one of `equals`, `includes`, `schema` and `error`; split the case to demand more".to_owned();
            return Err(self.bad(second.key_span, "a case has one expectation".to_owned(), Some(help)));
        }
        if let Some((member, Demand::Schema(schema))) = demands.first()
            && let Err(faults) = crate::tool::Schema::compile(schema)
        {
            let reason = faults.first().map_or_else(String::new, |fault| format!(" at `{}`: {}", fault.pointer, fault.message));
            return Err(self.bad(member.value.span, format!("the schema can't be used{reason}"), None));
        }
        let max_bytes = match node.get("maxBytes") {
            None => None,
            Some(member) => match &member.value.kind {
                Kind::Number(number) => {
                    Some(number.parse().map_err(|_| self.bad(member.value.span, "`maxBytes` must be a whole number".to_owned(), None))?)
                }
                _ => return Err(self.bad(member.value.span, "`maxBytes` must be a whole number".to_owned(), None)),
            },
        };
        Ok(Expectation { demand: demands.pop().map(|(_, demand)| demand), max_bytes })
    }

    fn known_keys(&self, node: &Node, known: &[&str], what: &str) -> Result<(), CaseError> {
        let Kind::Object(members) = &node.kind else {
            return Err(self.bad(node.span, format!("{what} must be an object, this is {}", node.kind_name()), None));
        };
        match members.iter().find(|member| !known.contains(&member.key.as_str()) && !member.key.starts_with("x-")) {
            None => Ok(()),
            Some(member) => {
                let help = match text::nearest(&member.key, known.iter().copied()) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => format!("{what} has the keys {}", text::listed(known.iter().copied())),
                };
                Err(self.bad(member.key_span, format!("unknown key `{}`", text::visible(&member.key)), Some(help)))
            }
        }
    }

    fn required<'n>(&self, node: &'n Node, key: &str) -> Result<&'n Member, CaseError> {
        node.get(key).ok_or_else(|| {
            let help = "a case is {\"tool\": …, \"input\": …} with \"name\", \"env\" and \"expect\" if you like".to_owned();
            self.bad(Span::new(node.span.start, node.span.start + 1), format!("the case has no `{key}`"), Some(help))
        })
    }

    fn string<'n>(&self, node: &'n Node) -> Result<&'n str, CaseError> {
        match &node.kind {
            Kind::String(text) => Ok(text),
            _ => Err(self.bad(node.span, format!("expected a string, this is {}", node.kind_name()), None)),
        }
    }
}

/// Returns the text of a case file in which the case at `at` demands `demand`, everything else as it was written.
pub(crate) fn with_demand(bytes: &[u8], at: usize, demand: &Demand) -> Option<String> {
    let source = std::str::from_utf8(bytes).ok()?;
    let (tree, _) = read_tree(bytes);
    let tree = tree?;
    let case = match &tree.kind {
        Kind::Array(items) => items.get(at)?,
        _ => &tree,
    };
    let Kind::Object(members) = &case.kind else { return None };
    let (key, value) = match demand {
        Demand::Equals(value) => ("equals", value.clone()),
        Demand::Includes(value) => ("includes", value.clone()),
        Demand::Schema(value) => ("schema", value.clone()),
        Demand::Error(code) => ("error", Value::String(code.clone())),
    };
    let indent = indent_of(source, members.first()?.key_span.start);
    if let Some(expect) = case.get("expect") {
        let mut kept = expect.value.to_value();
        let object = kept.as_object_mut()?;
        for key in ["equals", "includes", "schema", "error"] {
            object.shift_remove(key);
        }
        object.shift_insert(0, key.to_owned(), value);
        let written = pretty(&kept, &indent)?;
        return Some(spliced(source, expect.value.span, &written));
    }
    let last = members.last()?;
    let written = pretty(&serde_json::json!({ key: value }), &indent)?;
    let own_line = source[..last.key_span.start].rsplit('\n').next().is_some_and(|before| before.trim().is_empty());
    let separator = if own_line { format!(",\n{indent}") } else { ", ".to_owned() };
    let end = last.value.span.end;
    Some(spliced(source, Span::new(end, end), &format!("{separator}\"expect\": {written}")))
}

fn spliced(source: &str, span: Span, new: &str) -> String {
    format!("{}{new}{}", &source[..span.start], &source[span.end..])
}

fn indent_of(source: &str, offset: usize) -> String {
    let line = source[..offset].rsplit('\n').next().unwrap_or_default();
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
}

fn pretty(value: &Value, indent: &str) -> Option<String> {
    let text = serde_json::to_string_pretty(value).ok()?;
    Some(text.replace('\n', &format!("\n{indent}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Vec<Case>, String> {
        read_cases(Path::new("tests/greet.case.json"), text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_holds_one_case_or_a_list() {
        let one = read(r#"{"tool": "say_hello", "input": {"who": "Ada"}}"#).expect("a case");
        assert_eq!(one.len(), 1);
        assert_eq!((one[0].name.as_str(), one[0].input.clone()), ("greet", json!({"who": "Ada"})));
        let two = read(r#"[{"tool": "say_hello", "expect": {"equals": 1.50, "maxBytes": 9}}, {"name": "b", "tool": "say_hello", "env": {"LANGUAGE": "en"}}]"#).expect("two cases");
        assert_eq!((two[0].name.as_str(), two[1].name.as_str()), ("greet#1", "b"));
        assert_eq!(two[0].expectation.max_bytes, Some(9));
        assert_eq!(two[1].environment[0].1, json!("en"));
    }

    #[test]
    fn a_pattern_picks_cases_by_name() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("greet*", "greet#1", true),
            ("*#?", "greet#1", true),
            ("*a*b", "xaxbxb", true),
            ("a?c", "ac", false),
            ("abc", "abcd", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_broken_case_is_located() {
        for (text, expected) in [
            ("{", "tests/greet.case.json:1:2: the text ends before the JSON is complete"),
            ("{}", "tests/greet.case.json:1:1: the case has no `tool`"),
            ("[\n {\"tol\": 1}]", "tests/greet.case.json:2:3: unknown key `tol`"),
            ("{\"tool\": \"X\"}", "tests/greet.case.json:1:10: the tool name `X` has 1 characters, allowed are 2 to 96"),
            ("{\"tool\": \"ab\", \"expect\": {\"equals\": 1, \"error\": \"X\"}}", "tests/greet.case.json:1:40: a case has one expectation"),
            (
                "{\"tool\": \"ab\", \"env\": {\"a\": 1}}",
                "tests/greet.case.json:1:24: the variable name `a` may not contain `a`, allowed are A-Z, 0-9 and `_`",
            ),
            ("{\"tool\": \"ab\", \"expect\": {\"maxBytes\": -1}}", "tests/greet.case.json:1:39: `maxBytes` must be a whole number"),
            ("3", "tests/greet.case.json:1:1: a case must be an object, this is number"),
        ] {
            assert_eq!(read(text).expect_err("refused"), expected);
        }
    }

    #[test]
    fn an_update_changes_the_expectation_and_nothing_else() {
        let file = "[\n  {\n    \"tool\": \"ab\",\n    \"input\": { \"n\": 1.0 }\n  },\n  { \"tool\": \"cd\", \"expect\": {\"includes\": 1, \"maxBytes\": 9} }\n]\n";
        let first = with_demand(file.as_bytes(), 0, &Demand::Equals(json!({"x": 1}))).expect("updated");
        assert_eq!(
            first,
            "[\n  {\n    \"tool\": \"ab\",\n    \"input\": { \"n\": 1.0 },\n    \"expect\": {\n      \"equals\": {\n        \"x\": 1\n      }\n    }\n  },\n  { \"tool\": \"cd\", \"expect\": {\"includes\": 1, \"maxBytes\": 9} }\n]\n"
        );
        let second = with_demand(file.as_bytes(), 1, &Demand::Error("NOPE".into())).expect("updated");
        let cases = read(&second).expect("still cases");
        assert_eq!(cases[1].expectation, Expectation { demand: Some(Demand::Error("NOPE".into())), max_bytes: Some(9) });
    }
}
