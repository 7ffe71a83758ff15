//! `{{name}}` in URLs, headers and bodies (manifest §6, custom-tools §6).

use crate::base::json::{FaultKind, read_tree};

/// A piece of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    /// The name in a well-formed placeholder.
    Parameter(&'a str),
}

/// Returns the names in well-formed placeholders, in order.
pub(crate) fn parameters(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Parameter(name) => Some(name),
        Piece::Text(_) => None,
    })
}

/// Returns the text from the first `{{` on that starts no placeholder.
pub(crate) fn stray_placeholder(text: &str) -> Option<&str> {
    pieces(text).find_map(|piece| match piece {
        Piece::Text(text) => text.find("{{").map(|at| &text[at..]),
        Piece::Parameter(_) => None,
    })
}

/// Returns why a body template is not JSON once a value stands for each placeholder.
pub(crate) fn body_fault(text: &str) -> Option<String> {
    if text.contains('\u{fffc}') {
        return Some("it holds U+FFFC, which stands for a value while a body is made".to_owned());
    }
    let (_, faults) = read_tree(filled(text).as_bytes());
    // JSON.parse, by which the format means "valid", takes these two.
    let fault = faults.into_iter().find(|fault| !matches!(fault.kind, FaultKind::DuplicateKey { .. } | FaultKind::LoneSurrogate))?;
    Some(fault.message())
}

/// Returns the template with `null` for a placeholder in value position and nothing for one inside a string.
fn filled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_inside = false;
    for piece in pieces(text) {
        match piece {
            Piece::Parameter(_) if is_inside => {}
            Piece::Parameter(_) => out.push_str("null"),
            Piece::Text(text) => {
                let mut is_escaped = false;
                for c in text.chars() {
                    match c {
                        _ if is_escaped => is_escaped = false,
                        '\\' if is_inside => is_escaped = true,
                        '"' => is_inside = !is_inside,
                        _ => {}
                    }
                }
                out.push_str(text);
            }
        }
    }
    out
}

fn pieces(text: &str) -> Pieces<'_> {
    Pieces { rest: text }
}

struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let mut from = 0;
        while let Some(at) = self.rest[from..].find("{{").map(|at| at + from) {
            if let Some((name, length)) = parameter_at(&self.rest[at + 2..]) {
                if at > 0 {
                    let text = &self.rest[..at];
                    self.rest = &self.rest[at..];
                    return Some(Piece::Text(text));
                }
                self.rest = &self.rest[2 + length..];
                return Some(Piece::Parameter(name));
            }
            // One further, not two: `{{{name}}` has its placeholder at the second bracket.
            from = at + 1;
        }
        Some(Piece::Text(std::mem::take(&mut self.rest)))
    }
}

/// Reads a placeholder behind its opening brackets: its name, and the bytes up to behind its closing ones.
fn parameter_at(inside: &str) -> Option<(&str, usize)> {
    let rest = inside.trim_start();
    let name = &rest[..rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()];
    if name.is_empty() || name.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    let behind = rest[name.len()..].trim_start().strip_prefix("}}")?;
    Some((name, inside.len() - behind.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_a_placeholder_is_well_formed() {
        assert_eq!(parameters("a{{ b }}c{{d}}{{1e}}{{f g}}{{{h}}").collect::<Vec<_>>(), ["b", "d", "h"]);
        assert_eq!(stray_placeholder("a{{b}}c{{d e}}f"), Some("{{d e}}f"));
        assert_eq!(stray_placeholder("a{{b}} }} {"), None);
    }

    // Manifest §6, custom-tools §6.
    #[test]
    fn a_body_is_json_once_it_is_filled() {
        for (text, is_good) in [
            (r#"{"a": {{a}}, "b": "x {{b}} y", "c": {"d": {}}}"#, true),
            (r#"{"a":{"b":1}}"#, true),
            ("{{a}}", true),
            (r#"{"a\"{{b}}": 1, "a\"{{b}}": 2}"#, true),
            (r#"{"a": {{a}} {{b}}}"#, false),
            (r#"{"a": {{a}},}"#, false),
            (r#"{"a": 1"#, false),
            (r"{{{a}}: 1}", false),
            ("{\"a\": \"\u{fffc}\"}", false),
            ("", false),
        ] {
            assert_eq!(body_fault(text).is_none(), is_good, "{text}");
        }
    }
}
