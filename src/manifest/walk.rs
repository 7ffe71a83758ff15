//! The checker: the tree of a file held against the table, every difference reported. It knows no key by name.

use crate::base::json::{Kind, Member, Node, Span};
use crate::base::text::{count, listed, nearest, utf16_len};

use super::collect::{Draft, Found, Path, shown};
use super::form::{help_for_word, hidden_draft, hidden_points};
use super::number;
use super::shape::{Field, NO_MAX, Object, Presence, Shape, Text, Unknown, Variant};
use super::shapes::MANIFEST;
use super::{Code, Severity};

/// Reports everything in which `root` differs from the table.
pub(super) fn check(root: &Node, found: &mut Found) {
    check_object(&MANIFEST, root, &Path::Root, found);
}

fn check_shape(shape: &'static Shape, node: &Node, path: &Path<'_>, found: &mut Found) {
    match (shape, &node.kind) {
        (Shape::Text(text), Kind::String(string)) => check_text(*text, string, node.span, path, found),
        (Shape::Literal(word), Kind::String(string)) => check_word(&[word], string, node, path, found),
        (Shape::Words(words), Kind::String(string)) => check_word(words, string, node, path, found),
        (Shape::Integer { min, max }, Kind::Number(number)) => check_integer(*min, *max, number, node, path, found),
        (Shape::SchemaVersion, Kind::Number(number)) => check_schema_version(number, node, path, found),
        (Shape::Flag, Kind::Bool(_)) | (Shape::Scalar, Kind::Bool(_) | Kind::Number(_)) => {}
        (Shape::List { min, max, item }, Kind::Array(items)) => {
            check_size(*min, *max, items.len(), "item", node, path, found);
            for (index, node) in items.iter().enumerate() {
                check_shape(item, node, &path.index(index), found);
            }
        }
        (Shape::Map { max, key, value }, Kind::Object(members)) => {
            check_size(0, *max, members.len(), "entry", node, path, found);
            for member in members {
                let path = path.key(&member.key);
                check_text(*key, &member.key, member.key_span, &path, found);
                check_shape(value, &member.value, &path, found);
            }
        }
        (Shape::Object(object), Kind::Object(_)) => check_object(object, node, path, found),
        (Shape::Tagged { tag, variants }, Kind::Object(members)) => check_tagged(tag, variants, node, members, path, found),
        (Shape::InputSchema | Shape::OutputSchema | Shape::AnyObject, Kind::Object(_))
        | (Shape::Any, _)
        | (Shape::Scalar, Kind::String(_)) => {
            check_hidden_below(node, path, found);
        }
        _ => check_wrong_type(shape, node, path, found),
    }
}

fn check_wrong_type(shape: &Shape, node: &Node, path: &Path<'_>, found: &mut Found) {
    let draft = Draft::error(Code::WrongType, format!("{} must be {}, found {}", path, shape.wanted(), with_article(node)));
    found.at(path, node, draft.help_if(help_for_type(shape, node)));
}

pub(super) fn with_article(node: &Node) -> &'static str {
    match node.kind {
        Kind::Null => "null",
        Kind::Bool(true) => "`true`",
        Kind::Bool(false) => "`false`",
        Kind::Number(_) => "a number",
        Kind::String(_) => "a string",
        Kind::Array(_) => "an array",
        Kind::Object(_) => "an object",
    }
}

fn help_for_type(shape: &Shape, node: &Node) -> Option<String> {
    match (shape, &node.kind) {
        (_, Kind::Null) => Some("leave the key out if there is nothing to say; `null` is a value of its own".to_owned()),
        (Shape::Text(_) | Shape::Words(_) | Shape::Literal(_), Kind::Number(number)) => {
            Some(format!("write it in quotes: `\"{}\"`", shown(number)))
        }
        (Shape::Integer { .. } | Shape::SchemaVersion, Kind::String(text)) if number::integer(text).is_some() => {
            Some(format!("write it without quotes: `{}`", shown(text)))
        }
        (Shape::Flag, Kind::String(text)) if matches!(text.as_str(), "true" | "false") => {
            Some(format!("write it without quotes: `{text}`"))
        }
        (Shape::List { item: Shape::Text(_) | Shape::Words(_), .. }, Kind::String(_)) => {
            Some("put it into square brackets, even if it is the only one".to_owned())
        }
        (Shape::List { item: Shape::Object(_), .. }, Kind::Object(_)) => {
            Some("it is a list, even if there is only one: put it into square brackets".to_owned())
        }
        (Shape::InputSchema, Kind::Bool(_)) => Some("write `{\"type\": \"object\"}` for an input that is any object".to_owned()),
        _ => None,
    }
}

fn check_text(text: Text, string: &str, span: Span, path: &Path<'_>, found: &mut Found) {
    let Text { min, max, form } = text;
    // The bytes are never fewer than the units: most texts need no counting.
    let is_too_long = string.len() > max && utf16_len(string) > max;
    if !form.judges_length() && string.is_empty() && min > 0 {
        found.add(
            path,
            span,
            Draft::error(Code::TooShort, format!("{path} is empty"))
                .help("write at least one character, or leave the key out if it is optional"),
        );
        return;
    }
    if !form.judges_length() && is_too_long {
        let length = utf16_len(string);
        let draft = Draft::error(Code::TooLong, format!("{path} has {length} characters, allowed are at most {max}"));
        found.add(path, span, draft.help(format!("shorten it by {}", count((length - max) as u64, "character"))));
    }
    if form.is_read() && min > 0 && string.trim().is_empty() {
        found.add(
            path,
            span,
            Draft::warning(Code::BlankText, format!("{path} has nothing but blanks")).help("people and models choose by this text"),
        );
    }
    form.check(string, path, &mut |draft| found.add(path, span, draft));
}

fn check_word(words: &[&'static str], string: &str, node: &Node, path: &Path<'_>, found: &mut Found) {
    if words.contains(&string) {
        return;
    }
    let message = match words {
        [word] => format!("{} must be `{word}`, found `{}`", path, shown(string)),
        _ => format!("{} can't be `{}`; allowed are {}", path, shown(string), listed(words.iter().copied())),
    };
    found.at(path, node, Draft::error(Code::UnknownWord, message).help_if(help_for_word(string, words)));
}

fn check_integer(min: i64, max: i64, number: &str, node: &Node, path: &Path<'_>, found: &mut Found) {
    let name = path;
    match number::integer(number) {
        None => {
            let draft = Draft::error(Code::NotAnInteger, format!("{name} must be an integer, found `{}`", shown(number)));
            found.at(path, node, draft.help(format!("{min} to {max}, without a fraction")));
        }
        Some(value) if (i128::from(min)..=i128::from(max)).contains(&value) => {}
        Some(value) => {
            let bound = if value < i128::from(min) { format!("at least {min}") } else { format!("at most {max}") };
            let draft = Draft::error(Code::OutOfRange, format!("{name} is {}, allowed is {bound}", shown(number)));
            found.at(path, node, draft.help(format!("{min} to {max}")));
        }
    }
}

fn check_schema_version(number: &str, node: &Node, path: &Path<'_>, found: &mut Found) {
    match number::integer(number) {
        Some(1) => {}
        Some(value) if value > 1 => found.at(
            path,
            node,
            Draft::error(
                Code::NewerSchemaVersion,
                format!("the manifest is of schema version {}, this release reads version 1", shown(number)),
            )
            .help("update spark-tool; what follows is checked by the rules of version 1"),
        ),
        _ => found.at(
            path,
            node,
            Draft::error(Code::OutOfRange, format!("{} must be 1, found {}", path, shown(number)))
                .help("there is no other version yet: write `1`"),
        ),
    }
}

fn check_size(min: usize, max: usize, size: usize, unit: &str, node: &Node, path: &Path<'_>, found: &mut Found) {
    let name = path;
    if size < min {
        found.at(
            path,
            node,
            Draft::error(Code::TooFewItems, format!("{name} is empty")).help(format!("write at least {}", count(min as u64, unit))),
        );
    } else if size > max && max != NO_MAX {
        let units = if unit == "entry" { "entries" } else { "items" };
        let draft = Draft::error(Code::TooManyItems, format!("{name} has {size} {units}, allowed are at most {max}"));
        found.at(path, node, draft.help(format!("remove {}", size - max)));
    }
}

fn check_object(object: &'static Object, node: &Node, path: &Path<'_>, found: &mut Found) {
    let Kind::Object(members) = &node.kind else {
        let shape = Shape::Object(object);
        return check_wrong_type(&shape, node, path, found);
    };
    check_members(object, None, node, members, path, found);
    check_one_of(object, node, path, found);
}

/// Checks the keys of an object but for `judged`, about which everything was said.
fn check_members(object: &'static Object, judged: Option<&str>, node: &Node, members: &[Member], path: &Path<'_>, found: &mut Found) {
    for (index, member) in members.iter().enumerate() {
        let is_judged = judged == Some(member.key.as_str());
        match object.field(&member.key) {
            // A key that stands twice was reported with the JSON; the first is the one that is checked.
            Some(_) if is_judged || members[..index].iter().any(|before| before.key == member.key) => {}
            Some(field) => check_shape(&field.shape, &member.value, &path.key(&member.key), found),
            None => check_unknown(object, member, members, path, found),
        }
    }
    for field in object.fields {
        if field.presence == Presence::Required && judged != Some(field.key) && node.get(field.key).is_none() {
            report_missing(object, field, node, members, path, found);
        }
    }
}

pub(super) fn opening(node: &Node) -> Span {
    Span::new(node.span.start, node.span.start + 1)
}

fn report_missing(object: &Object, field: &Field, node: &Node, members: &[Member], path: &Path<'_>, found: &mut Found) {
    found.add_with(Severity::Error, &path.key(field.key), opening(node), || {
        let owner = match path {
            Path::Root => String::new(),
            _ => format!(" in {path}"),
        };
        let is_meant = |member: &&Member| object.field(&member.key).is_none() && nearest(&member.key, object.keys()) == Some(field.key);
        let help = match members.iter().take(50).find(is_meant) {
            Some(member) => format!("`{}` looks like it", shown(&member.key)),
            None => format!("it has to be {}. {}", wanted_in_full(&field.shape), field.doc),
        };
        Draft::error(Code::MissingKey, format!("`{}` is missing{owner}", field.key)).help(help)
    });
}

fn wanted_in_full(shape: &Shape) -> String {
    match shape {
        Shape::Literal(word) => format!("`\"{word}\"`"),
        Shape::SchemaVersion => "`1`".to_owned(),
        Shape::Words(words) => format!("one of {}", listed(words.iter().copied())),
        _ => shape.wanted().to_owned(),
    }
}

fn check_one_of(object: &Object, node: &Node, path: &Path<'_>, found: &mut Found) {
    if object.one_of.is_empty() {
        return;
    }
    let given: Vec<&Member> = object.one_of.iter().filter_map(|key| node.get(key)).collect();
    let keys: Vec<String> = object.one_of.iter().map(|key| format!("`{key}`")).collect();
    let either = keys.join(" or ");
    match given.as_slice() {
        [_] => {}
        [] => found.add(path, opening(node), Draft::error(Code::ConflictingKeys, format!("{path} needs either {either}"))),
        [.., last] => found.add(
            &path.key(&last.key),
            last.key_span,
            Draft::error(Code::ConflictingKeys, format!("{path} has {either}, only one of which may be given")).help("remove the other"),
        ),
    }
}

fn check_unknown(object: &'static Object, member: &Member, members: &[Member], path: &Path<'_>, found: &mut Found) {
    if object.unknown == Unknown::Tolerated && member.key.starts_with("x-") {
        return;
    }
    let severity = if object.unknown == Unknown::Refused { Severity::Error } else { Severity::Warning };
    found.add_with(severity, &path.key(&member.key), member.key_span, || {
        let message = match path {
            Path::Root => format!("unknown key `{}`", shown(&member.key)),
            _ => format!("unknown key `{}` in {path}", shown(&member.key)),
        };
        Draft::error(Code::UnknownKey, message).help(help_for_key(object, member, members))
    });
}

fn help_for_key(object: &'static Object, member: &Member, members: &[Member]) -> String {
    if let Some(key) = nearest(&member.key, object.keys()) {
        return if members.iter().any(|member| member.key == key) {
            format!("`{key}` is there already; remove one of the two")
        } else {
            format!("did you mean `{key}`?")
        };
    }
    if let Some(home) = home_of(&member.key, object) {
        return format!("`{}` belongs into {home}", member.key);
    }
    let keys = listed(object.keys());
    match object.unknown {
        Unknown::Refused => format!("the keys here are {keys}"),
        Unknown::Tolerated => format!("it is ignored; the keys here are {keys}, and keys of your own start with `x-`"),
    }
}

/// Returns the heading of the one object that has `key`.
fn home_of(key: &str, not: &'static Object) -> Option<&'static str> {
    fn visit(object: &'static Object, key: &str, not: &'static Object, homes: &mut Vec<&'static str>) {
        if object.field(key).is_some() && object.title != not.title {
            homes.push(object.title);
        }
        for field in object.fields {
            visit_shape(&field.shape, key, not, homes);
        }
    }
    fn visit_shape(shape: &'static Shape, key: &str, not: &'static Object, homes: &mut Vec<&'static str>) {
        match shape {
            Shape::Object(object) => visit(object, key, not, homes),
            Shape::List { item, .. } => visit_shape(item, key, not, homes),
            Shape::Map { value, .. } => visit_shape(value, key, not, homes),
            Shape::Tagged { variants, .. } => variants.iter().for_each(|variant| visit(variant.object, key, not, homes)),
            _ => {}
        }
    }
    let mut homes = Vec::new();
    visit(&MANIFEST, key, not, &mut homes);
    homes.dedup();
    match homes.as_slice() {
        [home] => Some(home),
        _ => None,
    }
}

fn check_tagged(tag: &'static str, variants: &'static [Variant], node: &Node, members: &[Member], path: &Path<'_>, found: &mut Found) {
    let words: Vec<&'static str> = variants.iter().map(|variant| variant.word).collect();
    let key = path.key(tag);
    match node.get(tag).map(|member| (&member.value, &member.value.kind)) {
        Some((value, Kind::String(word))) => {
            if let Some(variant) = variants.iter().find(|variant| variant.word == word) {
                return check_object(variant.object, node, path, found);
            }
            check_word(&words, word, value, &key, found);
        }
        Some((value, _)) => {
            let draft = Draft::error(Code::WrongType, format!("`{tag}` must be a string, found {}", with_article(value)));
            found.at(&key, value, draft.help(format!("one of {}", listed(words))));
        }
        None => {
            let draft = Draft::error(Code::MissingKey, format!("`{tag}` is missing in {path}"));
            found.add(&key, opening(node), draft.help(format!("it has to be one of {}", listed(words))));
        }
    }
    // The other keys are checked against what was most likely meant, so that nothing waits for a second run.
    if let Some(variant) = meant_variant(tag, variants, node) {
        check_members(variant.object, Some(tag), node, members, path, found);
    }
}

/// Returns the variant of the tag's word, of a word near it, or the one that more of the keys belong to than to any
/// other.
fn meant_variant(tag: &str, variants: &'static [Variant], node: &Node) -> Option<&'static Variant> {
    let by_word = |word: &str| variants.iter().find(|variant| variant.word == word);
    if let Some(Kind::String(word)) = node.get(tag).map(|member| &member.value.kind)
        && let Some(variant) = by_word(word).or_else(|| by_word(nearest(word, variants.iter().map(|variant| variant.word))?))
    {
        return Some(variant);
    }
    let Kind::Object(members) = &node.kind else { return None };
    let score = |variant: &Variant| members.iter().filter(|member| variant.object.field(&member.key).is_some()).count();
    let best = variants.iter().max_by_key(|variant| score(variant))?;
    let is_alone = variants.iter().filter(|variant| score(variant) == score(best)).count() == 1;
    (is_alone && score(best) > 0).then_some(best)
}

/// Calls `visit` for each object of the tree that the table has an object for.
pub(super) fn for_each_object(root: &Node, visit: &mut dyn FnMut(&'static Object, &Node)) {
    visit_object(&MANIFEST, root, visit);
}

fn visit_object(object: &'static Object, node: &Node, visit: &mut dyn FnMut(&'static Object, &Node)) {
    let Kind::Object(members) = &node.kind else { return };
    visit(object, node);
    for member in members {
        if let Some(field) = object.field(&member.key) {
            visit_shape(&field.shape, &member.value, visit);
        }
    }
}

fn visit_shape(shape: &'static Shape, node: &Node, visit: &mut dyn FnMut(&'static Object, &Node)) {
    match (shape, &node.kind) {
        (Shape::Object(object), _) => visit_object(object, node, visit),
        (Shape::List { item, .. }, Kind::Array(items)) => items.iter().for_each(|node| visit_shape(item, node, visit)),
        (Shape::Map { value, .. }, Kind::Object(members)) => members.iter().for_each(|member| visit_shape(value, &member.value, visit)),
        (Shape::Tagged { tag, variants, .. }, _) => {
            if let Some(variant) = meant_variant(tag, variants, node) {
                visit_object(variant.object, node, visit);
            }
        }
        _ => {}
    }
}

/// Says whether the value is at least of the JSON type that the shape needs.
pub(super) fn accepts_type(shape: &Shape, node: &Node) -> bool {
    matches!(
        (shape, &node.kind),
        (Shape::Any, _)
            | (Shape::Text(_) | Shape::Literal(_) | Shape::Words(_) | Shape::Scalar, Kind::String(_))
            | (Shape::Integer { .. } | Shape::SchemaVersion | Shape::Scalar, Kind::Number(_))
            | (Shape::Flag | Shape::Scalar, Kind::Bool(_))
            | (Shape::List { .. }, Kind::Array(_))
            | (
                Shape::Map { .. } | Shape::Object(_) | Shape::Tagged { .. } | Shape::InputSchema | Shape::OutputSchema | Shape::AnyObject,
                Kind::Object(_)
            )
    )
}

/// Looks at every string of a free value (hardening D-2: schema texts).
fn check_hidden_below(node: &Node, path: &Path<'_>, found: &mut Found) {
    match &node.kind {
        Kind::String(text) => {
            if let Some(points) = hidden_points(text) {
                found.at(path, node, hidden_draft(path, &points));
            }
        }
        Kind::Array(items) => items.iter().enumerate().for_each(|(index, item)| check_hidden_below(item, &path.index(index), found)),
        Kind::Object(members) => {
            for member in members {
                let path = path.key(&member.key);
                if let Some(points) = hidden_points(&member.key) {
                    found.add(&path, member.key_span, hidden_draft(&"the key", &points));
                }
                check_hidden_below(&member.value, &path, found);
            }
        }
        Kind::Null | Kind::Bool(_) | Kind::Number(_) => {}
    }
}
