//! Where references lead: to a schema of the same document, and never back to the same value (hardening J-7).

use std::collections::HashMap;

use serde_json::Value;

use super::keyword::Reach;
use super::survey::{Survey, shown};

/// Schemas that one value may have to be held against because references double them (ours: no written schema comes
/// near; thirty doublings would take a minute).
const SAME_VALUE: usize = 100_000;
/// Schemas in a row for the same value (ours: bounds the stack).
const IN_A_ROW: usize = 64;

/// The base of a document without `$id`. Nothing is ever fetched from it.
const BASE: &str = "spark-schema:///root";

/// Returns what the references of the document are resolved against.
pub(super) fn base_of(survey: &Survey<'_>) -> String {
    let id = survey.names.iter().find(|name| name.node == 0 && matches!(name.keyword, "$id" | "id") && !name.text.starts_with('#'));
    let base = id.map_or_else(|| BASE.to_owned(), |id| resolved(BASE, id.text));
    base.split('#').next().unwrap_or(BASE).to_owned()
}

pub(super) struct References {
    /// Absolute, by the node of the resource's root.
    bases: HashMap<usize, String>,
    by_base: HashMap<String, usize>,
    anchors: HashMap<(usize, String), usize>,
}

impl References {
    /// Turns every reference of the survey into an edge or a fault, then looks for circles.
    pub(super) fn resolve(survey: &mut Survey<'_>) {
        let mut names = Self::of(survey);
        let mut by_address = survey.by_address();
        let mut at = 0;
        while at < survey.references.len() {
            let (node, keyword, text) = (survey.references[at].node, survey.references[at].keyword, survey.references[at].text);
            at += 1;
            let known = survey.nodes.len();
            match names.target(survey, node, text, &by_address) {
                Ok(Target::Node(target)) => names.connect(survey, node, keyword, text, target),
                Ok(Target::New { schema, resource, pointer }) => {
                    let target = survey.add_referenced(schema, resource, &pointer);
                    names.connect(survey, node, keyword, text, target);
                }
                Err((message, help)) => survey.fault(node, &format!("/{keyword}"), message, help),
            }
            if survey.nodes.len() > known {
                by_address = survey.by_address();
                names = Self::of(survey);
            }
        }
        if survey.faults.is_empty() {
            check_circles(survey);
        }
    }

    fn of(survey: &Survey<'_>) -> Self {
        let mut names = Self { bases: HashMap::from([(0, BASE.to_owned())]), by_base: HashMap::new(), anchors: HashMap::new() };
        // Outer nodes come before inner ones, so a base is there before it is needed.
        for name in survey.names.iter().filter(|name| matches!(name.keyword, "$id" | "id")) {
            let outer = survey.nodes[name.node].resource;
            if let Some(anchor) = name.text.strip_prefix('#') {
                names.anchors.insert((outer, anchor.to_owned()), name.node);
            } else {
                let above = names.bases.get(&survey.outer_resource(name.node)).cloned().unwrap_or_else(|| BASE.to_owned());
                let base = resolved(&above, name.text);
                names.bases.insert(name.node, base.split('#').next().unwrap_or_default().to_owned());
            }
        }
        names.by_base = names.bases.iter().map(|(node, base)| (base.clone(), *node)).collect();
        for name in survey.names.iter().filter(|name| !matches!(name.keyword, "$id" | "id")) {
            names.anchors.insert((survey.nodes[name.node].resource, name.text.to_owned()), name.node);
        }
        names
    }

    fn target<'a>(
        &self,
        survey: &Survey<'a>,
        node: usize,
        text: &str,
        by_address: &HashMap<*const Value, usize>,
    ) -> Result<Target<'a>, (String, Option<String>)> {
        let (uri, fragment) = text.split_once('#').unwrap_or((text, ""));
        let resource = if uri.is_empty() {
            survey.nodes[node].resource
        } else {
            let base = self.bases.get(&survey.nodes[node].resource).map_or(BASE, String::as_str);
            *self.by_base.get(&resolved(base, uri)).ok_or_else(|| {
                let help = "copy the schema into `$defs` and refer to it as `#/$defs/…`; nothing is ever fetched";
                (format!("the reference `{}` leads out of the document", shown(text)), Some(help.to_owned()))
            })?
        };
        let nowhere = || (format!("the reference `{}` leads nowhere", shown(text)), None);
        let fragment = percent_decoded(fragment).ok_or_else(nowhere)?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.anchors.get(&(resource, fragment)).map(|node| Target::Node(*node)).ok_or_else(nowhere);
        }
        let schema = survey.nodes[resource].schema.pointer(&fragment).ok_or_else(nowhere)?;
        match by_address.get(&std::ptr::from_ref(schema)) {
            Some(target) => Ok(Target::Node(*target)),
            None if schema.is_object() || schema.is_boolean() => Ok(Target::New { schema, resource, pointer: fragment }),
            None => Err((format!("the reference `{}` leads to something that is no schema", shown(text)), None)),
        }
    }

    /// A dynamic reference may lead to every schema that has the same dynamic name.
    fn connect(&self, survey: &mut Survey<'_>, node: usize, keyword: &str, text: &str, target: usize) {
        let mut targets = vec![target];
        let anchor = text.split_once('#').map_or("", |(_, fragment)| fragment);
        match keyword {
            "$dynamicRef" => {
                targets.extend(
                    survey.names.iter().filter(|name| name.keyword == "$dynamicAnchor" && name.text == anchor).map(|name| name.node),
                );
            }
            "$recursiveRef" => {
                let is_target = |node: &usize| survey.nodes[*node].schema.get("$recursiveAnchor") == Some(&Value::Bool(true));
                targets.extend(self.bases.keys().copied().filter(is_target));
            }
            _ => {}
        }
        targets.sort_unstable();
        targets.dedup();
        if keyword == "$ref" {
            survey.nodes[node].referenced = Some(target);
        }
        survey.nodes[node].edges.extend(targets.into_iter().map(|target| (target, Reach::Same)));
    }
}

enum Target<'a> {
    Node(usize),
    New { schema: &'a Value, resource: usize, pointer: String },
}

/// Goes along all edges that stay with the same value, each node once.
fn check_circles(survey: &mut Survey<'_>) {
    // How many schemas a node makes of one value, and how many in a row; nothing while it is being counted.
    let mut counted: Vec<Option<(usize, usize)>> = vec![None; survey.nodes.len()];
    let mut is_open = vec![false; survey.nodes.len()];
    for start in 0..survey.nodes.len() {
        if counted[start].is_some() {
            continue;
        }
        let mut path = vec![(start, 0)];
        is_open[start] = true;
        while let Some((node, edge)) = path.last_mut() {
            let here = *node;
            let next = survey.nodes[here].edges[*edge..].iter().position(|(_, reach)| *reach == Reach::Same);
            if let Some(skipped) = next {
                let (target, _) = survey.nodes[here].edges[*edge + skipped];
                *edge += skipped + 1;
                if is_open[target] {
                    return report_circle(survey, &path, target);
                }
                if counted[target].is_none() {
                    is_open[target] = true;
                    path.push((target, 0));
                }
            } else {
                let same = survey.nodes[here].edges.iter().filter(|(_, reach)| *reach == Reach::Same);
                let (schemas, row) = same
                    .filter_map(|(target, _)| counted[*target])
                    .fold((1_usize, 0), |(sum, longest), (schemas, row)| (sum.saturating_add(schemas), longest.max(row)));
                if schemas > SAME_VALUE || row >= IN_A_ROW {
                    let message = if row >= IN_A_ROW {
                        format!("more than {IN_A_ROW} schemas follow one another for the same value")
                    } else {
                        format!("references make more than {SAME_VALUE} schemas of this one, all for the same value")
                    };
                    return survey.fault(here, "", message, Some("refer to each part once".to_owned()));
                }
                counted[here] = Some((schemas, row + 1));
                is_open[here] = false;
                path.pop();
            }
        }
    }
}

fn report_circle(survey: &mut Survey<'_>, path: &[(usize, usize)], target: usize) {
    let circle = path.iter().map(|(node, _)| *node).skip_while(|node| *node != target);
    let with_reference = |node: &usize| survey.references.iter().find(|reference| reference.node == *node);
    let places: Vec<(usize, &'static str, String)> =
        circle.filter_map(|node| with_reference(&node).map(|reference| (node, reference.keyword, shown(reference.text)))).collect();
    let texts: Vec<String> = places.iter().take(6).map(|(_, _, text)| format!("`{text}`")).collect();
    let message = format!("references lead in a circle for the same value: {}", texts.join(", "));
    let help = Some("a schema may refer to itself only below `properties`, `items` or another part".to_owned());
    match places.first() {
        Some((node, keyword, _)) => survey.fault(*node, &format!("/{keyword}"), message, help),
        None => survey.fault(target, "", message, help),
    }
}

/// Resolves a reference without fragment against an absolute base (RFC 3986 §5.2, as far as schemas use it).
fn resolved(base: &str, reference: &str) -> String {
    let has_scheme = reference.find(':').is_some_and(|colon| {
        reference[..colon].starts_with(|c: char| c.is_ascii_alphabetic())
            && reference[..colon].chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    if has_scheme {
        return reference.to_owned();
    }
    let Some((scheme, rest)) = base.split_once(':') else { return reference.to_owned() };
    if reference.starts_with("//") {
        return format!("{scheme}:{reference}");
    }
    let (authority, path) = rest.strip_prefix("//").map_or(("", rest), |rest| {
        let end = rest.find('/').unwrap_or(rest.len());
        (&rest[..end], &rest[end..])
    });
    let slashes = if rest.starts_with("//") { "//" } else { "" };
    let joined = if reference.starts_with('/') {
        reference.to_owned()
    } else {
        format!("{}/{reference}", path.rsplit_once('/').map_or("", |(folder, _)| folder))
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("{scheme}:{slashes}{authority}/{}", parts.join("/"))
}

fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let value = digit(rest.next())? * 16 + digit(rest.next())?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

impl Survey<'_> {
    /// Returns the resource that the schema around `node` belongs to.
    fn outer_resource(&self, node: usize) -> usize {
        if node == 0 { usize::MAX } else { self.nodes[self.parent(node)].resource }
    }
}
