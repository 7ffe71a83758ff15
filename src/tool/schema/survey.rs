//! A schema gone through once: each subschema with its place, what is wrong with its shape, where its references lead.
//!
//! This is the check against the meta-schema (a test compares the two) and the check that evaluation ends: references
//! stay in the document and never lead back to themselves for the same value.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::super::number::Decimal;
use super::super::pattern::Pattern;
use super::super::variable::kind_name;
use super::SchemaFault;
use super::keyword::{Draft, Keyword, Reach, Shape, TYPES, keyword};
use super::reference::References;
use crate::base::json::pointer_token;
use crate::base::limits::FINDINGS;
use crate::base::text::{cut, listed, nearest, visible};

/// All subschemas of a document, the document itself first.
pub(super) struct Survey<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) faults: Vec<SchemaFault>,
    /// It uses what only building it can judge: bases, anchors, numbers of unusual size.
    pub(super) is_unusual: bool,
    /// References by the place of the schema they stand in.
    pub(super) references: Vec<Reference<'a>>,
    pub(super) names: Vec<Name<'a>>,
}

/// One subschema.
pub(super) struct Node<'a> {
    pub(super) schema: &'a Value,
    pub(super) draft: Draft,
    /// The node whose `$id` is the base here; 0 without any.
    pub(super) resource: usize,
    /// The schemas that apply where this one does.
    pub(super) edges: Vec<(usize, Reach)>,
    /// What a `$ref` here leads to; among the edges, too.
    pub(super) referenced: Option<usize>,
    pub(super) step: Step<'a>,
    parent: usize,
}

/// How a schema is reached from the one around it.
pub(super) enum Step<'a> {
    Root,
    Keyword(&'static str),
    Item(&'static str, usize),
    Name(&'static str, &'a str),
    /// Reached by reference only, in a place where no schema is expected.
    Pointer(String),
}

pub(super) struct Reference<'a> {
    pub(super) node: usize,
    pub(super) keyword: &'static str,
    pub(super) text: &'a str,
}

/// Something that a reference can name.
pub(super) struct Name<'a> {
    pub(super) node: usize,
    pub(super) keyword: &'static str,
    pub(super) text: &'a str,
}

impl<'a> Survey<'a> {
    pub(super) fn of(document: &'a Value) -> Self {
        let mut survey = Self { nodes: Vec::new(), faults: Vec::new(), is_unusual: false, references: Vec::new(), names: Vec::new() };
        let draft = survey.draft_of(document);
        survey.node(document, draft, 0, 0, Step::Root);
        survey.go_on(0);
        if !survey.references.is_empty() {
            References::resolve(&mut survey);
        }
        survey
    }

    /// Visits nodes from `first` until none is left.
    fn go_on(&mut self, first: usize) {
        let mut at = first;
        while at < self.nodes.len() && self.faults.len() < FINDINGS {
            self.visit(at);
            at += 1;
        }
    }

    /// Adds a schema that only a reference leads to.
    pub(super) fn add_referenced(&mut self, schema: &'a Value, resource: usize, pointer: &str) -> usize {
        let draft = self.nodes[resource].draft;
        let at = self.node(schema, draft, resource, resource, Step::Pointer(pointer.to_owned()));
        self.go_on(at);
        at
    }

    fn node(&mut self, schema: &'a Value, draft: Draft, resource: usize, parent: usize, step: Step<'a>) -> usize {
        self.nodes.push(Node { schema, draft, resource, edges: Vec::new(), referenced: None, parent, step });
        self.nodes.len() - 1
    }

    fn draft_of(&mut self, document: &Value) -> Draft {
        let Some(uri) = document.get("$schema") else { return Draft::Y2020 };
        // What is no string is a fault of its own.
        let Some(uri) = uri.as_str() else { return Draft::Y2020 };
        Draft::named(uri).unwrap_or_else(|| {
            self.faults.push(SchemaFault {
                pointer: "/$schema".to_owned(),
                message: format!("unknown dialect `{}`", shown(uri)),
                help: Some(format!("known are {}; without `$schema` it is 2020-12", Draft::NAMES)),
            });
            Draft::Y2020
        })
    }

    /// Returns the place of a node in the document.
    pub(super) fn pointer(&self, node: usize) -> String {
        let found = &self.nodes[node];
        let above = || self.pointer(found.parent);
        match &found.step {
            Step::Root => String::new(),
            Step::Keyword(keyword) => format!("{}/{keyword}", above()),
            Step::Item(keyword, at) => format!("{}/{keyword}/{at}", above()),
            Step::Name(keyword, name) => format!("{}/{keyword}{}", above(), pointer_token(name)),
            Step::Pointer(pointer) => format!("{}{pointer}", above()),
        }
    }

    pub(super) fn parent(&self, node: usize) -> usize {
        self.nodes[node].parent
    }

    pub(super) fn fault(&mut self, node: usize, below: &str, message: String, help: Option<String>) {
        let pointer = format!("{}{below}", self.pointer(node));
        self.faults.push(SchemaFault { pointer, message, help });
    }

    fn visit(&mut self, at: usize) {
        let schema = self.nodes[at].schema;
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(_) if self.nodes[at].draft > Draft::Four => return,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                let expected = if self.nodes[at].draft > Draft::Four { "an object, true or false" } else { "an object" };
                return self.fault(at, "", format!("a schema is {expected}, found {}", kind_name(schema)), None);
            }
        };
        self.enter_resource(at, keywords);
        let draft = self.nodes[at].draft;
        // Before 2019-09 nothing beside a reference counts.
        let only_reference = !draft.applies_beside_ref() && keywords.contains_key("$ref");
        for (name, value) in keywords {
            if let Some(keyword) = keyword(draft, name) {
                let reach = if only_reference && keyword.name != "$ref" { Reach::Nothing } else { keyword.reach };
                self.check(at, keyword, reach, value);
            }
        }
        if draft == Draft::Four {
            for (flag, bound) in [("exclusiveMaximum", "maximum"), ("exclusiveMinimum", "minimum")] {
                if keywords.contains_key(flag) && !keywords.contains_key(bound) {
                    self.fault(at, &format!("/{flag}"), format!("`{flag}` needs `{bound}` beside it in draft-04"), None);
                }
            }
        }
    }

    /// A subschema with an `$id` is a base for the references in it, and may have its own dialect.
    fn enter_resource(&mut self, at: usize, keywords: &'a Map<String, Value>) {
        let draft = self.nodes[at].draft;
        if at == 0 || (!draft.applies_beside_ref() && keywords.contains_key("$ref")) {
            return;
        }
        let id = keywords.get(draft.id_keyword()).and_then(Value::as_str);
        if id.is_some_and(|id| !id.starts_with('#')) {
            self.nodes[at].resource = at;
        }
        let own = keywords.get("$schema").and_then(Value::as_str);
        if let Some(own) = own.filter(|own| Draft::named(own) != Some(draft)) {
            let message = format!("another dialect inside a schema: `{}`", shown(own));
            self.fault(at, "/$schema", message, Some("write the whole schema in one dialect".to_owned()));
        }
    }

    fn check(&mut self, at: usize, keyword: &'static Keyword, reach: Reach, value: &'a Value) {
        let name = keyword.name;
        match keyword.shape {
            Shape::Anything => {}
            Shape::Text => self.expect(at, name, value, value.is_string(), "a string"),
            Shape::Flag => self.expect(at, name, value, value.is_boolean(), "true or false"),
            Shape::List => self.expect(at, name, value, value.is_array(), "a list"),
            Shape::Number => self.check_number(at, name, value, "a number", |_| true),
            Shape::Factor => self.check_number(at, name, value, "a number above 0", Decimal::is_positive),
            Shape::Count => self.check_number(at, name, value, "a whole number from 0", Decimal::is_count),
            Shape::Words => self.check_words(at, name, "", value, 0),
            Shape::SomeWords => self.check_words(at, name, "", value, 1),
            Shape::Types => self.check_types(at, value),
            Shape::Pattern => match value {
                Value::String(text) => self.check_pattern(at, "/pattern", text),
                _ => self.expect(at, name, value, false, "a string"),
            },
            Shape::Reference | Shape::Anchor | Shape::Id => self.check_name(at, keyword, reach, value),
            Shape::Vocabulary => {
                self.is_unusual = true;
                let fits = value.as_object().is_some_and(|members| members.values().all(Value::is_boolean));
                self.expect(at, name, value, fits, "an object of true and false");
            }
            Shape::SchemaOrFlag if value.is_boolean() => {}
            Shape::Schema | Shape::SchemaOrFlag => self.child(at, value, reach, Step::Keyword(name)),
            Shape::SchemaOrSchemas if !value.is_array() => self.child(at, value, reach, Step::Keyword(name)),
            Shape::Schemas | Shape::SchemaOrSchemas => self.check_schemas(at, name, reach, value),
            Shape::Named | Shape::ByPattern | Shape::Dependencies | Shape::WordsByName => self.check_members(at, keyword, reach, value),
        }
    }

    fn expect(&mut self, at: usize, name: &str, value: &Value, fits: bool, expected: &str) {
        if !fits {
            self.fault(at, &format!("/{name}"), format!("`{name}` must be {expected}, found {}", kind_name(value)), None);
        }
    }

    fn check_number(&mut self, at: usize, name: &str, value: &Value, expected: &str, fits: fn(&Decimal) -> bool) {
        let Value::Number(number) = value else {
            return self.expect(at, name, value, false, expected);
        };
        let text = number.as_str();
        if !fits(&Decimal::read(text)) {
            let message = format!("`{name}` must be {expected}, found {}", cut(text, 40));
            return self.fault(at, &format!("/{name}"), message, None);
        }
        // Sixteen digits are within every integer type.
        self.is_unusual |= text.len() > 16 || text.contains(['e', 'E']) || text.starts_with("-0");
    }

    fn check_words(&mut self, at: usize, name: &str, below: &str, value: &Value, least: usize) {
        let fits = value.as_array().is_some_and(|words| words.len() >= least && words.iter().all(Value::is_string));
        if !fits {
            let some = if least == 0 { "a list of strings" } else { "a list of one or more strings" };
            return self.fault(at, &format!("/{name}{below}"), format!("`{name}` must be {some}"), None);
        }
        self.check_different(at, name, below, value);
    }

    fn check_different(&mut self, at: usize, name: &str, below: &str, value: &Value) {
        let mut seen = std::collections::HashSet::new();
        for (index, word) in value.as_array().into_iter().flatten().filter_map(Value::as_str).enumerate() {
            if !seen.insert(word) {
                self.fault(at, &format!("/{name}{below}/{index}"), format!("`{}` stands in `{name}` twice", shown(word)), None);
            }
        }
    }

    fn check_types(&mut self, at: usize, value: &Value) {
        let is_list = value.is_array();
        let words = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        if words.is_empty() {
            self.fault(at, "/type", "`type` must name at least one type".to_owned(), None);
        }
        for (index, word) in words.iter().enumerate() {
            let place = if is_list { format!("/type/{index}") } else { "/type".to_owned() };
            match word.as_str() {
                Some(word) if TYPES.contains(&word) => {}
                Some(word) => {
                    let help = nearest(word, TYPES).map_or_else(
                        || format!("the types are {}", listed(TYPES)),
                        |near| format!("did you mean `{near}`? The types are {}", listed(TYPES)),
                    );
                    self.fault(at, &place, format!("unknown type `{}`", shown(word)), Some(help));
                }
                None => self.fault(at, &place, format!("a type is a string, found {}", kind_name(word)), None),
            }
        }
        if is_list {
            self.check_different(at, "type", "", value);
        }
    }

    fn check_pattern(&mut self, at: usize, below: &str, text: &str) {
        if let Err(fault) = Pattern::compile(text) {
            self.fault(at, below, format!("`{}` {fault}", shown(text)), Some("patterns are those of ECMAScript, without flags".to_owned()));
        }
    }

    fn check_name(&mut self, at: usize, keyword: &'static Keyword, reach: Reach, value: &'a Value) {
        let Value::String(text) = value else {
            return self.expect(at, keyword.name, value, false, "a string");
        };
        match keyword.shape {
            Shape::Reference if reach == Reach::Same => self.references.push(Reference { node: at, keyword: keyword.name, text }),
            Shape::Anchor => {
                self.is_unusual = true;
                let may_start = |c: char| c.is_ascii_alphabetic() || (c == '_' && self.nodes[at].draft == Draft::Y2020);
                let may_follow = |c: char| {
                    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_') || (c == ':' && self.nodes[at].draft == Draft::Y2019)
                };
                if text.starts_with(may_start) && text.chars().all(may_follow) {
                    self.names.push(Name { node: at, keyword: keyword.name, text });
                } else {
                    let message = format!("`{}` is no name that a reference could use", shown(text));
                    self.fault(
                        at,
                        &format!("/{}", keyword.name),
                        message,
                        Some("letters, digits, `-`, `_` and `.`, the first a letter".to_owned()),
                    );
                }
            }
            Shape::Id => {
                self.is_unusual = true;
                if self.nodes[at].draft.applies_beside_ref() && text.find('#').is_some_and(|hash| hash + 1 < text.len()) {
                    let help = "name a place inside with `$anchor`".to_owned();
                    return self.fault(at, &format!("/{}", keyword.name), format!("`{}` has a fragment", shown(text)), Some(help));
                }
                self.names.push(Name { node: at, keyword: keyword.name, text });
            }
            _ => {}
        }
    }

    fn child(&mut self, at: usize, schema: &'a Value, reach: Reach, step: Step<'a>) {
        let (draft, resource) = (self.nodes[at].draft, self.nodes[at].resource);
        let child = self.node(schema, draft, resource, at, step);
        if reach != Reach::Nothing {
            self.nodes[at].edges.push((child, reach));
        }
    }

    fn check_schemas(&mut self, at: usize, name: &'static str, reach: Reach, value: &'a Value) {
        match value {
            Value::Array(schemas) if !schemas.is_empty() => {
                for (index, schema) in schemas.iter().enumerate() {
                    self.child(at, schema, reach, Step::Item(name, index));
                }
            }
            _ => self.expect(at, name, value, false, "a list of one or more schemas"),
        }
    }

    fn check_members(&mut self, at: usize, keyword: &'static Keyword, reach: Reach, value: &'a Value) {
        let name = keyword.name;
        let Value::Object(members) = value else {
            return self.expect(at, name, value, false, "an object");
        };
        for (member, value) in members {
            let step = Step::Name(name, member);
            match keyword.shape {
                Shape::WordsByName => self.check_words(at, name, &pointer_token(member), value, 0),
                Shape::Dependencies if value.is_array() => {
                    let least = usize::from(self.nodes[at].draft == Draft::Four);
                    self.check_words(at, name, &pointer_token(member), value, least);
                }
                Shape::ByPattern => {
                    self.check_pattern(at, &format!("/{name}{}", pointer_token(member)), member);
                    self.child(at, value, reach, step);
                }
                _ => self.child(at, value, reach, step),
            }
        }
    }

    /// Returns the nodes by the address of their schema.
    pub(super) fn by_address(&self) -> HashMap<*const Value, usize> {
        self.nodes.iter().enumerate().map(|(at, node)| (std::ptr::from_ref(node.schema), at)).collect()
    }
}

pub(super) fn shown(text: &str) -> String {
    visible(&cut(text, 80)).into_owned()
}
