//! Repairs that have one right answer: text edits that leave everything else as it was.
//!
//! Repaired are a byte order mark, a missing `$schema`, a key that is surely a misspelling, and entries of a permission
//! list that stand there again. Of a file that isn't JSON only the byte order mark is taken away.

use crate::base::json::{FaultKind, Kind, Member, Node, Span, read_tree};
use crate::base::limits::{FINDINGS, MANIFEST_BYTES};
use crate::base::text::misspelt;

use super::SCHEMA_URL;
use super::collect::shown;
use super::rules::{LISTS, repeated};
use super::shape::{Object, Unknown};
use super::walk::{accepts_type, for_each_object};

/// A repaired file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fixed {
    pub(crate) bytes: Vec<u8>,
    /// What was done, a sentence each. May hold text from the file: not yet made visible.
    pub(crate) applied: Vec<String>,
}

/// A repaired key can bring a key inside it to light; more rounds than the table is deep find nothing new.
const ROUNDS: usize = 8;

/// Repairs what has one right answer; `None` if there is nothing of the kind.
pub(crate) fn fix(bytes: &[u8]) -> Option<Fixed> {
    if bytes.len() as u64 > MANIFEST_BYTES {
        return None;
    }
    let mut fixed = Fixed { bytes: bytes.to_vec(), applied: Vec::new() };
    for _ in 0..ROUNDS {
        let edits = plan_edits(&fixed.bytes);
        if edits.is_empty() {
            break;
        }
        fixed.bytes = apply(&fixed.bytes, &edits);
        fixed.applied.extend(edits.into_iter().map(|edit| edit.what));
    }
    (!fixed.applied.is_empty()).then_some(fixed)
}

/// `span` of the text becomes `text`.
struct Edit {
    span: Span,
    text: String,
    what: String,
}

/// Returns edits that don't overlap, in the order of the text.
fn plan_edits(bytes: &[u8]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let (root, faults) = read_tree(bytes);
    if faults.iter().any(|fault| fault.kind == FaultKind::ByteOrderMark) {
        edits.push(Edit { span: Span::new(0, 3), text: String::new(), what: "removed the byte order mark".to_owned() });
    }
    let is_json = faults.iter().all(|fault| fault.kind == FaultKind::ByteOrderMark);
    if let (Some(root), true) = (&root, is_json) {
        let renamed_before = edits.len();
        for_each_object(root, &mut |object, node| plan_renames(object, node, &mut edits));
        let has_schema = root.get("$schema").is_some() || edits[renamed_before..].iter().any(|edit| edit.text == "\"$schema\"");
        if !has_schema {
            edits.extend(plan_schema_key(root, bytes));
        }
        if let Some(permissions) = root.get("permissions") {
            plan_removals(&permissions.value, &mut edits);
        }
    }
    edits.sort_by_key(|edit| edit.span.start);
    edits
}

fn apply(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 128);
    let mut from = 0;
    for edit in edits {
        out.extend_from_slice(&bytes[from..edit.span.start]);
        out.extend_from_slice(edit.text.as_bytes());
        from = edit.span.end;
    }
    out.extend_from_slice(&bytes[from..]);
    out
}

fn plan_renames(object: &'static Object, node: &Node, edits: &mut Vec<Edit>) {
    let Kind::Object(members) = &node.kind else { return };
    let free: Vec<&'static str> = object.keys().filter(|key| node.get(key).is_none()).collect();
    let meant = |member: &Member| {
        let is_ours = object.unknown == Unknown::Tolerated && member.key.starts_with("x-");
        if is_ours { None } else { misspelt(&member.key, free.iter().copied()) }
    };
    // Of a file that isn't a manifest at all nobody wants every key renamed.
    let unknown = members.iter().filter(|member| object.field(&member.key).is_none()).take(FINDINGS);
    let renames: Vec<(&Member, &'static str)> = unknown.filter_map(|member| Some((member, meant(member)?))).collect();
    for (member, key) in &renames {
        let is_alone = renames.iter().filter(|(_, other)| other == key).count() == 1;
        let fits = object.field(key).is_some_and(|field| accepts_type(&field.shape, &member.value));
        if is_alone && fits {
            edits.push(Edit {
                span: member.key_span,
                text: format!("\"{key}\""),
                what: format!("renamed `{}` to `{key}`", shown(&member.key)),
            });
        }
    }
}

/// Puts `$schema` first, spaced as the file spaces its first key.
fn plan_schema_key(root: &Node, bytes: &[u8]) -> Option<Edit> {
    let Kind::Object(members) = &root.kind else { return None };
    let at = root.span.start + 1;
    let text = match members.first() {
        Some(first) => {
            let before = std::str::from_utf8(&bytes[at..first.key_span.start]).ok()?;
            let between = std::str::from_utf8(&bytes[first.key_span.end..first.value.span.start]).ok()?;
            format!("{before}\"$schema\"{between}\"{SCHEMA_URL}\",")
        }
        None => format!("\"$schema\": \"{SCHEMA_URL}\""),
    };
    Some(Edit { span: Span::new(at, at), text, what: "added `$schema`".to_owned() })
}

/// Takes out what stands in a list again, with the comma before it.
fn plan_removals(permissions: &Node, edits: &mut Vec<Edit>) {
    for key in LISTS {
        let Some(Kind::Array(items)) = permissions.get(key).map(|member| &member.value.kind) else { continue };
        for (index, node) in repeated(permissions, key) {
            if let (Some(before), Kind::String(word)) = (index.checked_sub(1).and_then(|index| items.get(index)), &node.kind) {
                edits.push(Edit {
                    span: Span::new(before.span.end, node.span.end),
                    text: String::new(),
                    what: format!("removed the repeated `{}` from `{key}`", shown(word)),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::manifest::{Code, cases, read};

    fn fixed(text: &str) -> Option<(String, Vec<String>)> {
        let Fixed { bytes, applied } = fix(text.as_bytes())?;
        Some((String::from_utf8(bytes).expect("text"), applied))
    }

    #[test]
    fn a_repair_keeps_the_files_own_manner() {
        let text = "\u{feff}{\r\n\t\"schemaVersion\" : 1,\r\n\t\"premissions\": {\"declaredOsEffects\": [\"network\",\r\n\t\t\"network\", \"browser\",\"network\"]}\r\n}\r\n";
        let (after, applied) = fixed(text).expect("something to do");
        assert_eq!(
            after,
            format!(
                "{{\r\n\t\"$schema\" : \"{SCHEMA_URL}\",\r\n\t\"schemaVersion\" : 1,\r\n\t\"permissions\": {{\"declaredOsEffects\": [\"network\", \"browser\"]}}\r\n}}\r\n"
            )
        );
        assert_eq!(
            applied,
            [
                "removed the byte order mark",
                "added `$schema`",
                "renamed `premissions` to `permissions`",
                "removed the repeated `network` from `declaredOsEffects`",
                "removed the repeated `network` from `declaredOsEffects`",
            ]
        );
        assert_eq!(fixed(&after), None);
    }

    #[test]
    fn what_has_more_than_one_answer_is_left() {
        for text in [
            // Two keys that mean one.
            r#"{"$schema":"https://x","tool":[],"toolz":[]}"#,
            // The right one is there.
            r#"{"$schema":"https://x","tools":[],"toolz":[]}"#,
            // The value would not do.
            r#"{"$schema":"https://x","toolz":"a"}"#,
            // Their own.
            r#"{"$schema":"https://x","x-tools":[]}"#,
            // Not JSON.
            r#"{"toolz":[],}"#,
            "[]",
            "",
        ] {
            assert_eq!(fixed(text), None, "{text}");
        }
        assert_eq!(fixed("{}").map(|(text, _)| text), Some(format!("{{\"$schema\": \"{SCHEMA_URL}\"}}")));
        assert_eq!(fixed(r#"{"schema":"https://x"}"#).map(|(text, _)| text), Some(r#"{"$schema":"https://x"}"#.to_owned()));
    }

    /// Ways in which people lay JSON out.
    fn laid_out(value: &Value, manner: usize) -> String {
        match manner {
            0 => value.to_string(),
            1 => format!("{value:#}\n"),
            2 => format!("{value:#}").replace("  ", "\t").replace('\n', "\r\n"),
            _ => format!(" {} \n", value.to_string().replace("\":", "\" : ").replace(",\"", " , \"")),
        }
    }

    /// Every key of the table that a good manifest has, with its place in the text.
    fn keys_of(text: &str) -> Vec<(Span, String)> {
        let (root, _) = read_tree(text.as_bytes());
        let mut keys = Vec::new();
        for_each_object(&root.expect("JSON"), &mut |object, node| {
            let Kind::Object(members) = &node.kind else { return };
            keys.extend(
                members.iter().filter(|member| object.field(&member.key).is_some()).map(|member| (member.key_span, member.key.clone())),
            );
        });
        keys
    }

    /// A slip of the pen: a letter left out, doubled, or two swapped.
    fn slip(key: &str, at: usize, kind: usize) -> String {
        let mut letters: Vec<char> = key.chars().collect();
        let at = at % letters.len();
        match kind {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, letters[at]),
            _ => letters.swap(at, (at + 1) % key.len()),
        }
        letters.into_iter().collect()
    }

    proptest! {
        #[test]
        fn a_repaired_file_is_the_file_before_the_slip(which in 0_usize..5, manner in 0_usize..4, at in any::<prop::sample::Index>(), letter in 0_usize..20, kind in 0_usize..3, with_mark in any::<bool>()) {
            let good = cases::good();
            let value: Value = serde_json::from_str(&good[which]).expect("JSON");
            let text = laid_out(&value, manner);
            let keys = keys_of(&text);
            let (span, key) = at.get(&keys);
            let misspelt = slip(key, letter, kind);
            let mark = if with_mark { "\u{feff}" } else { "" };
            let broken = format!("{mark}{}\"{misspelt}\"{}", &text[..span.start], &text[span.end..]);
            let is_sole = misspelt != *key && !read(broken.as_bytes()).findings.iter().any(|finding| finding.code == Code::JsonDuplicateKey);
            match fixed(&broken) {
                // One that was put right is put right everywhere and changes nothing else.
                Some((after, applied)) if applied.iter().any(|what| what.starts_with("renamed")) => prop_assert_eq!(after, text),
                // `$schema` itself was misspelt beyond repair.
                Some((after, applied)) if applied.contains(&"added `$schema`".to_owned()) => {
                    prop_assert_eq!(key, "$schema");
                    prop_assert!(after.ends_with(&broken[broken.find('"').expect("a key")..]));
                }
                Some((after, _)) => prop_assert_eq!(&broken[mark.len()..], after),
                // A key of four letters or fewer may be meant otherwise, and `x-…` is free.
                None => prop_assert!(!with_mark && (key.len() <= 5 || !is_sole || kind == 2), "{} {}", key, misspelt),
            }
        }

        #[test]
        fn no_text_makes_it_panic_or_run_on(text in "[{}\\[\\]\":, a-z$\u{feff}]{0,60}") {
            if let Some(Fixed { bytes, .. }) = fix(text.as_bytes()) {
                prop_assert_eq!(fix(&bytes), None);
            }
        }
    }
}
