//! A JSON text as a tree that remembers where everything stands.

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde_json::Value;

use super::fault::Fault;
use super::place::Span;
use super::scan::{Bracket, Scalar, Sink, scan};
use super::value::number;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    String(String),
    Array(Vec<Node>),
    Object(Vec<Member>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: Node,
}

impl Node {
    /// Returns the member `key` of an object; the first, if it stands there twice.
    pub(crate) fn get(&self, key: &str) -> Option<&Member> {
        match &self.kind {
            Kind::Object(members) => members.iter().find(|member| member.key == key),
            _ => None,
        }
    }

    /// Returns the node at an RFC 6901 pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Self> {
        let mut node = self;
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            node = match &node.kind {
                Kind::Object(_) => &node.get(&token)?.value,
                Kind::Array(items) => items.get(token.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }

    /// Returns `object`, `array`, `string` and so on.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "boolean",
            Kind::Number(_) => "number",
            Kind::String(_) => "string",
            Kind::Array(_) => "array",
            Kind::Object(_) => "object",
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(bool) => Value::Bool(*bool),
            Kind::Number(text) => Value::Number(number(text)),
            Kind::String(text) => Value::String(text.clone()),
            Kind::Array(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Kind::Object(members) => Value::Object(members.iter().map(|member| (member.key.clone(), member.value.to_value())).collect()),
        }
    }
}

/// Reads a text tolerantly: the tree if the text could be read to its end, and everything that is wrong with it. A
/// text with a fault may still have a tree, in which what was faulty is `null`, `0` or U+FFFD.
pub(crate) fn read_tree(bytes: &[u8]) -> (Option<Node>, Vec<Fault>) {
    let mut builder = Builder { root: None, open: Vec::new(), key: None, faults: Vec::new() };
    let whole = scan(bytes, &mut builder).is_continue();
    (builder.root.filter(|_| whole), builder.faults)
}

struct Builder {
    root: Option<Node>,
    open: Vec<(Node, Option<(String, Span)>)>,
    key: Option<(String, Span)>,
    faults: Vec<Fault>,
}

impl Builder {
    fn place(&mut self, node: Node, key: Option<(String, Span)>) {
        match (self.open.last_mut().map(|(parent, _)| &mut parent.kind), key) {
            (Some(Kind::Array(items)), _) => items.push(node),
            (Some(Kind::Object(members)), Some((key, key_span))) => members.push(Member { key, key_span, value: node }),
            _ => self.root = Some(node),
        }
    }
}

impl<'a> Sink<'a> for Builder {
    fn open(&mut self, bracket: Bracket, at: usize) {
        let kind = match bracket {
            Bracket::Object => Kind::Object(Vec::new()),
            Bracket::Array => Kind::Array(Vec::new()),
        };
        self.open.push((Node { span: Span::new(at, at + 1), kind }, self.key.take()));
    }

    fn key(&mut self, key: Cow<'a, str>, span: Span) {
        self.key = Some((key.into_owned(), span));
    }

    fn scalar(&mut self, scalar: Scalar<'a>, span: Span) {
        let kind = match scalar {
            Scalar::Null => Kind::Null,
            Scalar::Bool(bool) => Kind::Bool(bool),
            Scalar::Number(text) => Kind::Number(text.to_owned()),
            Scalar::String(text) => Kind::String(text.into_owned()),
        };
        let key = self.key.take();
        self.place(Node { span, kind }, key);
    }

    fn close(&mut self, at: usize) {
        if let Some((mut node, key)) = self.open.pop() {
            node.span.end = at;
            self.place(node, key);
        }
    }

    fn fault(&mut self, fault: Fault) -> ControlFlow<()> {
        let goes_on = fault.is_passable() && self.faults.len() < crate::base::limits::FINDINGS;
        self.faults.push(fault);
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::FaultKind;
    use super::*;

    #[test]
    fn keys_and_values_keep_their_places() {
        let text = r#"{"a": [1, {"b": "x"}]}"#;
        let (tree, faults) = read_tree(text.as_bytes());
        assert_eq!(faults, []);
        let tree = tree.expect("a tree");
        let value = tree.at("/a/1/b").expect("it is there");
        assert_eq!(&text[value.span.start..value.span.end], "\"x\"");
        let key = tree.get("a").expect("it is there").key_span;
        assert_eq!(&text[key.start..key.end], "\"a\"");
        assert_eq!(tree.to_value(), serde_json::json!({"a": [1, {"b": "x"}]}));
    }

    #[test]
    fn everything_that_can_be_read_past_is_reported_at_once() {
        let text = "\u{feff}// note\n{\"a\": 01, 'b': True, \"a\": \"\\ud800\" \"c\": [1,],}";
        let (tree, faults) = read_tree(text.as_bytes());
        assert!(tree.is_some());
        let kinds: Vec<&str> = faults.iter().map(|fault| name(&fault.kind)).collect();
        assert_eq!(kinds, ["bom", "comment", "number", "quotes", "word", "duplicate", "surrogate", "comma", "trailing", "trailing"]);
    }

    fn name(kind: &FaultKind) -> &'static str {
        match kind {
            FaultKind::ByteOrderMark => "bom",
            FaultKind::Comment => "comment",
            FaultKind::BadNumber => "number",
            FaultKind::SingleQuotes => "quotes",
            FaultKind::BadWord(_) => "word",
            FaultKind::DuplicateKey { .. } => "duplicate",
            FaultKind::LoneSurrogate => "surrogate",
            FaultKind::ExpectedComma => "comma",
            FaultKind::TrailingComma => "trailing",
            _ => "other",
        }
    }
}
