//! Defaults: which a schema fills in, and filling them (design §4: in `properties` and `items`, through `$ref` and
//! `allOf`, not inside `anyOf` and `oneOf`).
//!
//! A default goes in as it is written: what stands in it is not filled further, so a recursive schema ends.

use serde_json::{Map, Value};

use super::keyword::Reach;
use super::survey::{Node, Step, Survey};

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
    /// The part itself, then what applies with it by `allOf` and `$ref`; each once.
    all: Vec<usize>,
}

impl Plan {
    /// Returns the plan of a schema, or nothing if it has no default that would ever be filled in.
    pub(super) fn of(survey: &Survey<'_>) -> Option<Self> {
        if !survey.nodes.iter().any(|node| node.schema.get("default").is_some()) {
            return None;
        }
        let mut parts: Vec<Part> = survey.nodes.iter().map(|node| part(survey, node)).collect();
        if !parts.iter().any(|part| part.properties.iter().any(|(_, default, _)| default.is_some())) {
            return None;
        }
        for (at, part) in parts.iter_mut().enumerate() {
            part.all.push(at);
            let mut next = 0;
            while let Some(with) = part.all.get(next).copied() {
                next += 1;
                for also in applied_with(survey, &survey.nodes[with]) {
                    if !part.all.contains(&also) {
                        part.all.push(also);
                    }
                }
            }
        }
        Some(Self { parts })
    }

    pub(super) fn fill(&self, value: &mut Value) {
        self.fill_all(&self.parts[0].all, value);
    }

    /// Fills by all parts that apply to a value at once: one after the other, parts that lead to the same ones again
    /// would double the work at each level.
    fn fill_all(&self, parts: &[usize], value: &mut Value) {
        match value {
            Value::Object(members) => self.fill_members(parts, members),
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    let below = |part: &usize| self.parts[*part].leading.get(at).copied().or(self.parts[*part].rest);
                    self.go_below(parts.iter().filter_map(below), item);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn fill_members(&self, parts: &[usize], members: &mut Map<String, Value>) {
        let mut defaults: Vec<(&str, &Value)> = Vec::new();
        for (order, part) in parts.iter().enumerate() {
            for (name, default, _) in &self.parts[*part].properties {
                let Some(member) = members.get_mut(name) else {
                    if let Some(default) = default
                        && !defaults.iter().any(|(known, _)| known == name)
                    {
                        defaults.push((name, default));
                    }
                    continue;
                };
                let by_name =
                    |part: &usize| self.parts[*part].properties.iter().find(|(known, ..)| known == name).map(|(_, _, below)| *below);
                // The first part that names a member goes below for all.
                if parts[..order].iter().find_map(by_name).is_none() {
                    self.go_below(parts[order..].iter().filter_map(by_name), member);
                }
            }
        }
        for (name, default) in defaults {
            members.insert(name.to_owned(), default.clone());
        }
    }

    fn go_below(&self, mut parts: impl Iterator<Item = usize>, value: &mut Value) {
        let Some(first) = parts.next() else { return };
        let mut more = parts.peekable();
        if more.peek().is_none() {
            return self.fill_all(&self.parts[first].all, value);
        }
        let mut all = self.parts[first].all.clone();
        for part in more {
            for also in &self.parts[part].all {
                if !all.contains(also) {
                    all.push(*also);
                }
            }
        }
        self.fill_all(&all, value);
    }
}

fn part(survey: &Survey<'_>, node: &Node<'_>) -> Part {
    let mut part = Part::default();
    for (to, reach) in &node.edges {
        let below = &survey.nodes[*to];
        match &below.step {
            Step::Name("properties", name) if *reach == Reach::Part => {
                part.properties.push(((*name).to_owned(), default_of(survey, below).cloned(), *to));
            }
            Step::Item("prefixItems" | "items", _) if *reach == Reach::Part => part.leading.push(*to),
            Step::Keyword("items") if *reach == Reach::Part => part.rest = Some(*to),
            _ => {}
        }
    }
    part
}

/// Returns what a schema has applied to the same value, come what may.
fn applied_with<'a>(survey: &'a Survey<'_>, node: &'a Node<'_>) -> impl Iterator<Item = usize> + 'a {
    let all_of = node.edges.iter().filter(|(to, _)| matches!(survey.nodes[*to].step, Step::Item("allOf", _))).map(|(to, _)| *to);
    all_of.chain(node.referenced)
}

/// Returns the schema's own default, else one that it has by `$ref` or `allOf`. Those never lead in a circle.
fn default_of<'a>(survey: &Survey<'a>, node: &Node<'a>) -> Option<&'a Value> {
    let own = node.schema.get("default");
    own.or_else(|| applied_with(survey, node).find_map(|to| default_of(survey, &survey.nodes[to])))
}
