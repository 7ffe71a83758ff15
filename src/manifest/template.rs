//! Placeholders in texts of a manifest: `${NAME}` of `remote-http` headers (manifest §4), and what is reported of
//! `{{name}}` in HTTP specs (manifest §6).

use std::fmt::Display;

use crate::http::{body_fault, stray_placeholder};

use super::Code;
use super::collect::{Draft, shown};

/// Returns the names in well-formed `${NAME}`, in order.
pub(super) fn variables(text: &str) -> impl Iterator<Item = &str> {
    split(text).into_iter().filter_map(|(_, name)| name)
}

/// Returns the text in pieces: plain text, and the placeholder behind it.
fn split(mut text: &str) -> Vec<(&str, Option<&str>)> {
    let mut pieces = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("${").map(|at| at + from) {
        if let Some(name) = name_at(&text[at + 2..]) {
            pieces.push((&text[..at], Some(name)));
            text = &text[at + 2 + name.len() + 1..];
            from = 0;
        } else {
            from = at + 2;
        }
    }
    pieces.push((text, None));
    pieces
}

fn name_at(inside: &str) -> Option<&str> {
    let name = &inside[..inside.bytes().take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_').count()];
    let is_name = !name.is_empty() && !name.as_bytes()[0].is_ascii_digit() && name.len() <= 128;
    (is_name && inside[name.len()..].starts_with('}')).then_some(name)
}

/// Outside well-formed placeholders there may be neither `${` nor `}` (manifest §4).
pub(super) fn check_variables(text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    let rest: String = split(text).into_iter().map(|(plain, _)| plain).collect();
    if let Some(at) = rest.find("${").or_else(|| rest.find('}')) {
        report(
            Draft::error(Code::BadPlaceholder, format!("{name} has `{}`, which is no placeholder", shown(&rest[at..])))
                .help("a placeholder is `${NAME}` with a name of A-Z, 0-9 and `_`; no other `${` or `}` may stand in the value"),
        );
    }
}

/// Warns of a `{{` that starts no placeholder: it is sent as it stands.
pub(super) fn check_parameters(text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    if let Some(stray) = stray_placeholder(text) {
        report(
            Draft::warning(
                Code::BadPlaceholder,
                format!("{name} has `{}`, which is no placeholder and is sent as it stands", shown(stray)),
            )
            .help("a placeholder is `{{name}}` with a name of letters, digits and `_`, the first no digit"),
        );
    }
}

/// A body is JSON once a value stands for each placeholder. `{{` and `}}` are ordinary brackets in it.
pub(super) fn check_body(text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    if let Some(fault) = body_fault(text) {
        report(
            Draft::error(Code::BadBodyTemplate, format!("{name} is not JSON: {fault}"))
                .help("outside quotes write `{{name}}` where a whole value belongs; inside quotes it becomes text"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Manifest §4.
    #[test]
    fn a_header_value_has_no_other_bracket_than_its_placeholders() {
        for (text, is_good) in [
            ("Bearer ${TOKEN}", true),
            ("${A}${B}", true),
            ("a { b $ c", true),
            ("${token}", false),
            ("${TOKEN", false),
            ("a}", false),
            ("${1A}", false),
            ("${A}}", false),
            ("${${A}", false),
        ] {
            let mut found = 0;
            check_variables(text, &"`it`", &mut |_| found += 1);
            assert_eq!(found == 0, is_good, "{text}");
        }
        assert_eq!(variables("Bearer ${A_1} ${b} ${C}${").collect::<Vec<_>>(), ["A_1", "C"]);
    }
}
