//! `docs/json.md` is true: every answer that a test asks for as JSON has exactly the fields that the page says.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::world::{World, repository};

/// Fields of an object, in order, with what each holds.
type Fields = Vec<(String, Shape)>;

#[derive(Clone, Debug)]
enum Shape {
    /// A value that the page doesn't look into.
    Any,
    Object(Fields),
    List(Box<Shape>),
}

/// What the page says.
struct Page {
    shapes: BTreeMap<String, Fields>,
    /// A command may have several rows, one for each way of calling it.
    commands: BTreeMap<String, Vec<Fields>>,
}

impl Page {
    fn read() -> Self {
        let text = fs::read_to_string(repository().join("docs/json.md")).expect("the page");
        let rows: Vec<(String, String)> = text
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
            .map(|(left, right)| (left.to_owned(), right.trim_matches('`').to_owned()))
            .collect();
        let named = |left: &str| left.split_once(", ").filter(|(name, _)| name.len() == 1).map(|(name, _)| name.to_owned());
        let mut page = Self { shapes: BTreeMap::new(), commands: BTreeMap::new() };
        for (left, right) in &rows {
            if let Some(name) = named(left) {
                page.shapes.insert(name, fields(&mut words(right).into_iter().peekable(), &BTreeMap::new()));
            }
        }
        for (left, right) in rows.iter().filter(|(left, _)| left.starts_with('`')) {
            for command in left.split('`').filter(|part| !part.trim().is_empty()) {
                let fields = fields(&mut words(right).into_iter().peekable(), &page.shapes);
                let name = command.split(" --").next().expect("a name").to_owned();
                page.commands.entry(name).or_default().push(fields);
            }
        }
        page
    }
}

fn words(text: &str) -> Vec<String> {
    text.replace('{', " { ").replace('}', " } ").split_whitespace().map(str::to_owned).collect()
}

/// Reads `name name[] {…} name T …` up to the end or a closing brace.
fn fields(words: &mut std::iter::Peekable<std::vec::IntoIter<String>>, shapes: &BTreeMap<String, Fields>) -> Fields {
    let mut fields = Fields::new();
    while let Some(word) = words.next() {
        if word == "}" {
            break;
        }
        let next = words.peek().cloned().unwrap_or_default();
        let inner = if next == "{" {
            words.next();
            Shape::Object(self::fields(words, shapes))
        } else if next.len() == 1 && next.chars().all(char::is_uppercase) {
            words.next();
            Shape::Object(shapes.get(&next).unwrap_or_else(|| panic!("the page has no shape {next}")).clone())
        } else {
            Shape::Any
        };
        match word.strip_suffix("[]") {
            Some(name) => fields.push((name.to_owned(), Shape::List(Box::new(inner)))),
            None => fields.push((word, inner)),
        }
    }
    fields
}

/// Says where `value` isn't what the page says.
fn problems(value: &Value, fields: &Fields, place: &str, found: &mut Vec<String>) {
    let Some(object) = value.as_object() else {
        found.push(format!("{place}: no object"));
        return;
    };
    let names: Vec<&str> = object.keys().map(String::as_str).collect();
    let said: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    if names != said {
        found.push(format!("{place}: has {names:?}, the page says {said:?}"));
        return;
    }
    for (name, shape) in fields {
        shape_problems(&object[name], shape, &format!("{place}.{name}"), found);
    }
}

fn shape_problems(value: &Value, shape: &Shape, place: &str, found: &mut Vec<String>) {
    match shape {
        Shape::Object(fields) if !value.is_null() => problems(value, fields, place, found),
        Shape::Any | Shape::Object(_) => {}
        Shape::List(inner) => match value.as_array() {
            Some(items) => items.iter().for_each(|item| shape_problems(item, inner, &format!("{place}[]"), found)),
            None => found.push(format!("{place}: no list")),
        },
    }
}

/// Checks an answer against the page. Commands of tests alone are not on it.
pub(crate) fn check_answer(answer: &Value) {
    let object = answer.as_object().expect("an object");
    let keys: Vec<&str> = object.keys().map(String::as_str).collect();
    assert_eq!((&keys[..3], &answer["format"]), (&["format", "command", "ok"][..], &Value::from(1)));
    let command = answer["command"].as_str().expect("a text");
    if let Some(error) = object.get("error") {
        let keys: Vec<&str> = error.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!((keys, object.len(), &answer["ok"]), (vec!["code", "message", "help", "details"], 4, &Value::from(false)));
        return;
    }
    let data = object.get("data").expect("data or error");
    let page = Page::read();
    let rows = page.commands.get(command).unwrap_or_else(|| panic!("docs/json.md doesn't say what `{command}` gives"));
    let misses: Vec<Vec<String>> = rows
        .iter()
        .map(|fields| {
            let mut found = Vec::new();
            problems(data, fields, "data", &mut found);
            found
        })
        .collect();
    assert!(misses.iter().any(Vec::is_empty), "`{command}` is not what docs/json.md says: {misses:#?}");
}

#[test]
fn the_page_can_be_read_and_wrong_answers_are_noticed() {
    let page = Page::read();
    assert!(page.commands.len() >= 25 && page.shapes.len() == 6, "{:?}", page.commands.keys());
    let wrong = serde_json::json!({"manifests": [{"path": ""}], "summary": null});
    let mut found = Vec::new();
    problems(&wrong, &page.commands["validate"][0], "data", &mut found);
    assert_eq!(found.len(), 1);
}

#[test]
fn help_is_text_or_one_object() {
    let world = World::new();
    for words in [
        &["help", "json"][..],
        &["help", "validate"],
        &["help", "exit-codes"],
        &["help", "codes"],
        &["help", "environment"],
        &["validate", "--help"],
        &["help"],
    ] {
        let shown = world.output(words);
        assert!(shown.status.success(), "{words:?}");
        let answer = world.json(words.iter().chain(&["--json"]));
        assert_eq!(answer["data"]["text"].as_str(), Some(&*String::from_utf8_lossy(&shown.stdout)), "{words:?}");
    }
    assert_eq!(world.json(["help", "nothing", "--json"])["error"]["code"], "spark::usage");
}
