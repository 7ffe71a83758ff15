//! The table as a page for authors: `docs/manifest.md`.

use std::fmt::Write as _;

use super::SCHEMA_URL;
use super::shape::{NO_MAX, Object, Presence, Shape, Text, Unknown};
use super::shapes::MANIFEST;

const INTRODUCTION: &str = r#"# `spark-tool.json`

Made from the source by `UPDATE=1 scripts/test`: the checker reads the same table, so this page can't differ from it.

A package is a folder with this file at its root. `spark-tool validate` checks it and says what is wrong, where, and
what would be right; `spark-tool validate --fix` repairs what has one right answer. The smallest one:

```json
{
  "$schema": "SCHEMA_URL",
  "schemaVersion": 1,
  "id": "demo.hello",
  "version": "0.1.0",
  "name": "Hello",
  "description": "Greets somebody",
  "runtime": { "adapter": "process", "protocol": "spark-tool-process-v1", "command": "./bin/hello" },
  "tools": [
    {
      "name": "say_hello",
      "title": "Say hello",
      "description": "Return a greeting",
      "inputSchema": { "type": "object", "properties": { "who": { "type": "string" } } },
      "risk": "read",
      "effect": "read",
      "idempotency": "safe"
    }
  ]
}
```

## The file

- UTF-8, one JSON object, at most 4 MiB, nested at most 128 deep. No comments, no trailing commas, no key twice.
- Lengths count UTF-16 units: most characters are one, an emoji is two or more.
- **Strict** objects refuse unknown keys. **Loose** ones warn of them and ignore them; keys that start with `x-` are
  yours there, for whatever you like.
- Findings are *errors* (the package can't be installed), *warnings* (it can; `--strict` refuses it) or *advice*. Their
  codes are in [codes.md](codes.md).
"#;

const RULES: &str = r"
## Rules across keys

- Tool names are unique, and so are the names of variables. Names that differ only in `-` and `_` are a warning.
- With `declarative-http`, `runtime.tools` has exactly the tools of `tools`.
- Risk `read` goes with effect `read`; risk `destructive` goes with idempotency `unsafe`.
- A capability is either required or optional.
- A secret is a string and has no default. A pattern is for strings. A default follows the rules of its own variable:
  first its type, then `enum`, then `pattern` (found anywhere in the value).
- `${NAME}` and `secretRef` name a declared variable, `{{name}}` a property of the tool's `inputSchema`.
- A relative `command` starts with `./` and stays in the package; it holds no blanks, because arguments go into `args`.
- These variables would take over a process and are refused: `PATH`, `LD_*`, `DYLD_*`, `NODE_OPTIONS`,
  `PYTHONSTARTUP`, `PYTHONPATH`, `BASH_ENV`, `ENV`, `IFS`, `SPARK_TOOL_*`. Others that change an interpreter, a loader
  or a connection (`*_OPTIONS`, `*LIB`, `GIT_*`, `*_PROXY`, `SSL_CERT_FILE`, …) are a warning.
- Characters that can't be seen, or that turn the reading direction, are refused in names and paths and a warning in
  texts.

## JSON Schema

`inputSchema` and `outputSchema` are JSON Schema 2020-12, or draft 4, 6 or 7 where `$schema` says so. References stay
inside the schema. Defaults in `properties` and `items` are filled in before the tool sees its input. `pattern` is an
ECMAScript regular expression. Whatever another host may refuse or read differently is a warning.
";

/// Returns the whole page as the committed text.
pub(super) fn page() -> String {
    let mut page = INTRODUCTION.replace("SCHEMA_URL", SCHEMA_URL);
    let mut sections: Vec<&'static Object> = Vec::new();
    collect(&MANIFEST, &mut sections);
    for object in sections {
        section(object, &mut page);
    }
    page.push_str(RULES);
    page
}

fn collect(object: &'static Object, sections: &mut Vec<&'static Object>) {
    if sections.iter().any(|known| known.title == object.title) {
        return;
    }
    sections.push(object);
    for field in object.fields {
        collect_below(&field.shape, sections);
    }
}

fn collect_below(shape: &'static Shape, sections: &mut Vec<&'static Object>) {
    match shape {
        Shape::Object(object) => collect(object, sections),
        Shape::List { item, .. } => collect_below(item, sections),
        Shape::Map { value, .. } => collect_below(value, sections),
        Shape::Tagged { variants, .. } => variants.iter().for_each(|variant| collect(variant.object, sections)),
        _ => {}
    }
}

fn section(object: &'static Object, page: &mut String) {
    let strictness = match object.unknown {
        Unknown::Refused => "Strict.",
        Unknown::Tolerated => "Loose.",
    };
    let one_of = match object.one_of {
        [] => String::new(),
        keys => format!(" Exactly one of {} is given.", keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ")),
    };
    write!(page, "\n## {}\n\n{} {strictness}{one_of}\n\n", object.title, object.doc).expect("a String takes it");
    page.push_str("| key | | value | |\n| --- | --- | --- | --- |\n");
    for field in object.fields {
        let presence = match field.presence {
            Presence::Required => "required".to_owned(),
            Presence::Optional => "optional".to_owned(),
            Presence::Default(default) => format!("default `{default}`"),
        };
        let value = value_of(&field.shape).replace('|', "\\|");
        writeln!(page, "| `{}` | {presence} | {value} | {} |", field.key, field.doc.replace('|', "\\|")).expect("a String takes it");
    }
}

fn value_of(shape: &Shape) -> String {
    match shape {
        Shape::Text(text) => text_of(*text),
        Shape::Integer { min, max } => format!("integer, {} to {}", grouped(*min), grouped(*max)),
        Shape::SchemaVersion => "`1`".to_owned(),
        Shape::Literal(word) => format!("`\"{word}\"`"),
        Shape::Flag => "`true` or `false`".to_owned(),
        Shape::Words(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Shape::Scalar => "string, number or boolean".to_owned(),
        Shape::List { min, max, item } => format!("list of {}: {}", bounds(*min, *max), value_of(item)),
        Shape::Map { max, key, value } => {
            let count = if *max == NO_MAX { String::new() } else { format!(" of {}", bounds(0, *max)) };
            format!("map{count}, {} → {}", text_of(*key), value_of(value))
        }
        Shape::Object(object) => format!("[object](#{})", anchor(object.title)),
        Shape::Tagged { variants, .. } => {
            let links = variants.iter().map(|variant| format!("[`{}`](#{})", variant.word, anchor(variant.object.title)));
            format!("object, one of {}", links.collect::<Vec<_>>().join(", "))
        }
        Shape::InputSchema | Shape::OutputSchema => "[JSON Schema](#json-schema)".to_owned(),
        Shape::AnyObject => "object".to_owned(),
        Shape::Any => "any value".to_owned(),
    }
}

fn text_of(text: Text) -> String {
    let length = match (text.min, text.max) {
        (0 | 1, NO_MAX) => None,
        (min, max) => Some(format!("{} characters", bounds(min, max))),
    };
    let parts: Vec<String> = length.into_iter().chain(text.form.doc().map(str::to_owned)).collect();
    if parts.is_empty() { "string".to_owned() } else { parts.join("; ") }
}

fn bounds(min: usize, max: usize) -> String {
    let max = grouped(i64::try_from(max).unwrap_or(i64::MAX));
    if min == 0 { format!("at most {max}") } else { format!("{min} to {max}") }
}

/// Returns `8 000` for 8000.
fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Returns the anchor that GitHub gives a heading.
fn anchor(title: &str) -> String {
    title
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_link_of_the_page_has_its_heading() {
        let page = page();
        let headings: BTreeSet<String> = page.lines().filter_map(|line| line.strip_prefix("## ")).map(anchor).collect();
        for link in page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(headings.contains(link), "{link}");
        }
    }

    #[test]
    fn the_example_of_the_page_has_no_findings() {
        let page = page();
        let example = page.split("```").nth(1).and_then(|block| block.strip_prefix("json")).expect("an example");
        assert_eq!(crate::manifest::read(example.as_bytes()).findings, []);
    }
}
