//! A tool's input from what a person types: `key=value` read by the property's type, `key:=json`, `key=@FILE`, and a
//! whole object from text, a file or standard input (design §6, `call`).

use std::io::Read as _;

use miette::Diagnostic;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::base::failure::{Class, Failing};
use crate::base::json::{self, Lines};
use crate::base::limits::FRAME_BYTES;
use crate::base::text;

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum InputError {
    #[error("`{argument}` is not an argument")]
    #[diagnostic(
        code(spark::input::not_an_argument),
        help("write key=value, key:=JSON or key=@FILE; or give the whole object with --input")
    )]
    NotAnArgument { argument: String },
    #[error("the argument `{key}` is given twice")]
    #[diagnostic(code(spark::input::duplicate_argument), help("keep one of the two"))]
    Duplicate { key: String },
    #[error("{origin}:{line}:{column}: {message}")]
    #[diagnostic(code(spark::input::broken_json))]
    Json {
        origin: String,
        line: usize,
        column: usize,
        message: String,
        #[help]
        help: Option<String>,
    },
    #[error("{origin} is not an object, so `{key}` can't be added to it")]
    #[diagnostic(code(spark::input::not_an_object), help("give an object, or leave the key=value arguments out"))]
    NotAnObject { origin: String, key: String },
    #[error("can't read `{path}`")]
    #[diagnostic(code(spark::input::unreadable), help("check the path and that you may read it"))]
    Unreadable { path: String, source: std::io::Error },
    #[error("{origin} has more than {limit} bytes")]
    #[diagnostic(code(spark::input::too_large), help("a call's input must fit one frame of 4 MiB"))]
    TooLarge { origin: String, limit: usize },
    #[error("{origin} is not UTF-8 at byte {offset}")]
    #[diagnostic(code(spark::input::not_text), help("save it as UTF-8, or encode the bytes (base64, say) for the tool"))]
    NotUtf8 { origin: String, offset: usize },
}

impl Failing for InputError {
    fn class(&self) -> Class {
        match self {
            Self::NotAnArgument { .. } | Self::Duplicate { .. } | Self::NotAnObject { .. } => Class::Usage,
            Self::Json { .. } | Self::Unreadable { .. } | Self::TooLarge { .. } | Self::NotUtf8 { .. } => Class::Unusable,
        }
    }
}

/// What stands on the command line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InputArgs<'a> {
    /// `--input`: JSON, `@FILE`, or `-` for standard input.
    pub(crate) whole: Option<&'a str>,
    /// `key=value` and its kin, in order.
    pub(crate) arguments: &'a [String],
}

impl InputArgs<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.whole.is_none() && self.arguments.is_empty()
    }
}

/// Puts an input together. `schema` is the tool's input schema, which decides how `key=value` is read; whether the
/// input fits it is not asked here.
pub(crate) fn assemble(args: InputArgs<'_>, schema: &Value) -> Result<Value, InputError> {
    let (mut input, origin) = match args.whole {
        None => (Value::Object(Map::new()), "the input"),
        Some(whole) => (read_whole(whole)?, "--input"),
    };
    let mut seen: Vec<&str> = Vec::new();
    for argument in args.arguments {
        let (key, value) = read_argument(argument, schema)?;
        if seen.contains(&key) {
            return Err(InputError::Duplicate { key: key.to_owned() });
        }
        seen.push(key);
        match &mut input {
            Value::Object(members) => drop(members.insert(key.to_owned(), value)),
            _ => return Err(InputError::NotAnObject { origin: origin.to_owned(), key: key.to_owned() }),
        }
    }
    Ok(input)
}

/// Reads a JSON text and, if it is broken, says where.
pub(crate) fn parse_json(bytes: &[u8], origin: &str) -> Result<Value, InputError> {
    json::parse(bytes).map_err(|fault| {
        let place = Lines::new(bytes).place(fault.span);
        InputError::Json {
            origin: text::visible(origin).into_owned(),
            line: place.line,
            column: place.column,
            message: fault.message(),
            help: fault.help(),
        }
    })
}

fn read_whole(whole: &str) -> Result<Value, InputError> {
    match whole.strip_prefix('@') {
        _ if whole == "-" => parse_json(&read_capped(std::io::stdin().lock(), "standard input")?, "standard input"),
        Some(path) => parse_json(&read_file(path)?, path),
        None => parse_json(whole.as_bytes(), "--input"),
    }
}

fn read_file(path: &str) -> Result<Vec<u8>, InputError> {
    let file = std::fs::File::open(path).map_err(|source| InputError::Unreadable { path: path.to_owned(), source })?;
    read_capped(file, path)
}

fn read_capped(from: impl std::io::Read, origin: &str) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(FRAME_BYTES).unwrap_or(u64::MAX);
    from.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| InputError::Unreadable { path: text::visible(origin).into_owned(), source })?;
    if bytes.len() > FRAME_BYTES {
        return Err(InputError::TooLarge { origin: text::visible(origin).into_owned(), limit: FRAME_BYTES });
    }
    Ok(bytes)
}

fn read_argument<'a>(argument: &'a str, schema: &Value) -> Result<(&'a str, Value), InputError> {
    let not_an_argument = || InputError::NotAnArgument { argument: text::visible(argument).into_owned() };
    let (left, right) = argument.split_once('=').ok_or_else(not_an_argument)?;
    let (key, is_json) = left.strip_suffix(':').map_or((left, false), |key| (key, true));
    if key.is_empty() {
        return Err(not_an_argument());
    }
    let value = if is_json {
        parse_json(right.as_bytes(), key)?
    } else if let Some(path) = right.strip_prefix('@') {
        let bytes = read_file(path)?;
        let file = String::from_utf8(bytes)
            .map_err(|error| InputError::NotUtf8 { origin: text::visible(path).into_owned(), offset: error.utf8_error().valid_up_to() })?;
        by_type(file, property(schema, key))
    } else {
        by_type(right.to_owned(), property(schema, key))
    };
    Ok((key, value))
}

/// Finds the schema of a property, through local references.
pub(super) fn property<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let mut found = schema.get("properties")?.get(key)?;
    for _hop in 0..8 {
        let Some(reference) = found.get("$ref").and_then(Value::as_str) else { break };
        found = schema.pointer(reference.strip_prefix('#')?)?;
    }
    Some(found)
}

/// Reads text as what the property takes. What doesn't read as such stays text, for the schema to refuse by name.
pub(super) fn by_type(text: String, property: Option<&Value>) -> Value {
    let types: Vec<&str> = match property.and_then(|property| property.get("type")) {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let fits = |value: &Value| {
        types.iter().any(|kind| match *kind {
            "number" | "integer" => value.is_number(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => false,
        })
    };
    match json::parse(text.as_bytes()) {
        Ok(value) if fits(&value) => value,
        _ => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(arguments: &[&str], whole: Option<&str>, expected: Result<Value, &str>) {
        let schema = json!({"type": "object", "properties": {
            "text": {"type": "string"}, "n": {"type": "number"}, "i": {"type": "integer"}, "yes": {"type": "boolean"},
            "list": {"type": "array"}, "either": {"type": ["integer", "string"]}, "linked": {"$ref": "#/$defs/n"},
        }, "$defs": {"n": {"type": "number"}}});
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let found = assemble(InputArgs { whole, arguments: &arguments }, &schema);
        match expected {
            Ok(value) => assert_eq!(found.expect("it can be read"), value),
            Err(code) => {
                let error = found.expect_err("it is refused");
                assert_eq!(error.code().expect("every error has a code").to_string(), code);
            }
        }
    }

    #[test]
    fn a_value_is_read_by_its_propertys_type() {
        check(
            &["text=5", "n=5", "i=-3", "yes=true", "list=[1]", "linked=2.50"],
            None,
            Ok(
                json!({"text": "5", "n": 5, "i": -3, "yes": true, "list": [1], "linked": serde_json::from_str::<Value>("2.50").expect("a number")}),
            ),
        );
        check(&["either=5"], None, Ok(json!({"either": 5})));
        check(&["either=five"], None, Ok(json!({"either": "five"})));
        check(&["i=five", "yes=yes", "other=5"], None, Ok(json!({"i": "five", "yes": "yes", "other": "5"})));
        check(&["text:=5", "text2:={\"a\":[null]}"], None, Ok(json!({"text": 5, "text2": {"a": [null]}})));
        check(&["text=a=b:=c"], None, Ok(json!({"text": "a=b:=c"})));
        check(&[], None, Ok(json!({})));
        check(&["n=2"], Some("{\"text\":\"x\"}"), Ok(json!({"text": "x", "n": 2})));
        check(&[], Some("[1]"), Ok(json!([1])));
    }

    #[test]
    fn what_cant_be_meant_is_refused() {
        check(&["text"], None, Err("spark::input::not_an_argument"));
        check(&["=x"], None, Err("spark::input::not_an_argument"));
        check(&["n=1", "n=2"], None, Err("spark::input::duplicate_argument"));
        check(&["n:={"], None, Err("spark::input::broken_json"));
        check(&["n=1"], Some("[1]"), Err("spark::input::not_an_object"));
        check(&[], Some("{\"a\":1,\"a\":2}"), Err("spark::input::broken_json"));
        check(&[], Some("@/no/such/file"), Err("spark::input::unreadable"));
        check(&["text=@/no/such/file"], None, Err("spark::input::unreadable"));
    }

    #[test]
    fn a_file_gives_text_or_json_by_type() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("in.json");
        std::fs::write(&path, "[1, 2]").expect("written");
        let path = path.to_str().expect("it is UTF-8");
        check(&[&format!("text=@{path}"), &format!("list=@{path}")], None, Ok(json!({"text": "[1, 2]", "list": [1, 2]})));
        check(&[], Some(&format!("@{path}")), Ok(json!([1, 2])));
    }
}
