//! Defaults: which a schema fills in, and filling them (design §4: in `properties` and `items`, through `$ref` and
//! `allOf`, not inside `anyOf` and `oneOf`).
//!
//! A default goes in as it is written: what stands in it is not filled further, so a recursive schema ends.

use std::collections::HashMap;

use serde_json::Value;

/// The part of a schema that has defaults, or leads to one. Parts refer to each other by their place in the list, so
/// a recursive schema is no problem.
pub(super) struct Plan {
    parts: Vec<Part>,
}

#[derive(Default)]
struct Part {
    properties: Vec<(String, Option<Value>, usize)>,
    /// The first items each by its own schema.
    leading: Vec<usize>,
    rest: Option<usize>,
    /// `allOf` and `$ref`.
    also: Vec<usize>,
}

impl Plan {
    /// Returns the plan of `document`, or nothing if no default of it would ever be filled in.
    pub(super) fn of(document: &Value) -> Option<Self> {
        let mut reader = Reader { document, parts: Vec::new(), places: HashMap::new(), has_default: false };
        reader.part(document);
        reader.has_default.then_some(Self { parts: reader.parts })
    }

    pub(super) fn fill(&self, value: &mut Value) {
        self.fill_part(0, value);
    }

    fn fill_part(&self, part: usize, value: &mut Value) {
        let part = &self.parts[part];
        match value {
            Value::Object(members) => {
                for (name, default, below) in &part.properties {
                    match (members.get_mut(name), default) {
                        (Some(member), _) => self.fill_part(*below, member),
                        (None, Some(default)) => drop(members.insert(name.clone(), default.clone())),
                        (None, None) => {}
                    }
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    if let Some(below) = part.leading.get(at).copied().or(part.rest) {
                        self.fill_part(below, item);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
        }
        for also in &part.also {
            self.fill_part(*also, value);
        }
    }
}

struct Reader<'a> {
    document: &'a Value,
    parts: Vec<Part>,
    /// By the address of the schema object.
    places: HashMap<*const Value, usize>,
    has_default: bool,
}

impl<'a> Reader<'a> {
    fn part(&mut self, schema: &'a Value) -> usize {
        let address = std::ptr::from_ref(schema);
        if let Some(part) = self.places.get(&address) {
            return *part;
        }
        let at = self.parts.len();
        self.parts.push(Part::default());
        self.places.insert(address, at);
        let Value::Object(keywords) = schema else { return at };
        let mut part = Part::default();
        if let Some(Value::Object(properties)) = keywords.get("properties") {
            for (name, schema) in properties {
                let default = schema.get("default").cloned();
                self.has_default |= default.is_some();
                part.properties.push((name.clone(), default, self.part(schema)));
            }
        }
        for keyword in ["prefixItems", "items"] {
            match keywords.get(keyword) {
                Some(Value::Array(schemas)) => part.leading = schemas.iter().map(|schema| self.part(schema)).collect(),
                Some(schema @ Value::Object(_)) if keyword == "items" => part.rest = Some(self.part(schema)),
                _ => {}
            }
        }
        if let Some(Value::Array(schemas)) = keywords.get("allOf") {
            part.also = schemas.iter().map(|schema| self.part(schema)).collect();
        }
        if let Some(target) = keywords.get("$ref").and_then(Value::as_str).and_then(|reference| self.target(reference)) {
            part.also.push(self.part(target));
        }
        self.parts[at] = part;
        at
    }

    fn target(&self, reference: &str) -> Option<&'a Value> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() { Some(self.document) } else { self.document.pointer(fragment) }
    }
}
