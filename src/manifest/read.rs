//! From bytes to a checked manifest and everything there is to say about it. No file is opened here.

use crate::base::json::{Fault, FaultKind, Kind, Lines, Node, Span, pointer_token, read_tree};
use crate::base::limits::MANIFEST_BYTES;

use super::collect::{Draft, Found, Path};
use super::model::Manifest;
use super::portability::Client;
use super::{Code, Finding, build, rules, walk};

/// What a file says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    /// Given if and only if no finding is an error.
    pub(crate) manifest: Option<Manifest>,
    /// In the order of the text.
    pub(crate) findings: Vec<Finding>,
    /// As written, even if it breaks its grammar.
    pub(crate) id: Option<String>,
    pub(crate) version: Option<String>,
}

/// Reads a manifest: all findings at once, the model if none is an error.
pub(crate) fn read(bytes: &[u8]) -> Reading {
    read_for(bytes, &[])
}

/// As [`read`], with what each of `clients` would refuse, cut or misread.
pub(crate) fn read_for(bytes: &[u8], clients: &[Client]) -> Reading {
    let mut found = Found::default();
    if bytes.len() as u64 > MANIFEST_BYTES {
        found.add(&Path::Root, Span::new(0, 0), too_large(bytes.len()));
        return Reading { manifest: None, findings: found.finish(bytes), id: None, version: None };
    }
    let (root, faults) = read_tree(bytes);
    report_faults(bytes, root.as_ref(), faults, &mut found);
    let Some(root) = root else {
        return Reading { manifest: None, findings: found.finish(bytes), id: None, version: None };
    };
    let document = root.to_value();
    walk::check(&root, &mut found);
    let patterns = rules::check(&root, &document, clients, &mut found);
    let manifest = if found.has_errors() { None } else { build::manifest(document, patterns) };
    Reading { manifest, id: text(&root, "id"), version: text(&root, "version"), findings: found.finish(bytes) }
}

fn too_large(size: usize) -> Draft {
    Draft::error(Code::FileTooLarge, format!("the file has {size} bytes, a manifest has at most {MANIFEST_BYTES} (4 MiB)"))
        .help("move what isn't needed to describe the tools into files of the package")
}

fn text(root: &Node, key: &str) -> Option<String> {
    match &root.get(key)?.value.kind {
        Kind::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn report_faults(bytes: &[u8], root: Option<&Node>, faults: Vec<Fault>, found: &mut Found) {
    let lines = if faults.is_empty() { None } else { Some(Lines::new(bytes)) };
    for fault in faults {
        let mut message = fault.message();
        if let (FaultKind::DuplicateKey { first, .. }, Some(lines)) = (&fault.kind, &lines) {
            let place = lines.place(*first);
            // H: J-2
            message = format!("{message}, first given at {}:{}", place.line, place.column);
        }
        let code = code_of(&fault.kind);
        let draft = match code {
            Code::JsonByteOrderMark => Draft::advice(code, message),
            _ => Draft::error(code, message),
        };
        let pointer = root.map(|root| pointer_at(root, fault.span.start)).unwrap_or_default();
        found.add_at_pointer(pointer, fault.span, draft.help_if(fault.help()));
    }
}

/// Returns the pointer of the innermost value, or of the member whose key it is, at a place of the text.
fn pointer_at(root: &Node, at: usize) -> String {
    let mut pointer = String::new();
    let mut node = root;
    loop {
        let next = match &node.kind {
            Kind::Object(members) => {
                let behind = members.partition_point(|member| member.key_span.start <= at);
                let member = behind.checked_sub(1).and_then(|index| members.get(index)).filter(|member| at < member.value.span.end);
                member.map(|member| (pointer_token(&member.key), &member.value))
            }
            Kind::Array(items) => {
                let behind = items.partition_point(|item| item.span.start <= at);
                let index = behind.checked_sub(1).filter(|index| at < items[*index].span.end);
                index.map(|index| (format!("/{index}"), &items[index]))
            }
            _ => None,
        };
        let Some((token, inner)) = next else { return pointer };
        pointer += &token;
        node = inner;
    }
}

const fn code_of(kind: &FaultKind) -> Code {
    match kind {
        FaultKind::Empty => Code::JsonEmpty,
        FaultKind::ByteOrderMark => Code::JsonByteOrderMark,
        FaultKind::InvalidUtf8 => Code::JsonNotUtf8,
        FaultKind::TooDeep => Code::JsonTooDeep,
        FaultKind::UnexpectedEnd => Code::JsonUnexpectedEnd,
        FaultKind::Unexpected(_) => Code::JsonUnexpected,
        FaultKind::ExpectedKey => Code::JsonExpectedKey,
        FaultKind::ExpectedColon => Code::JsonExpectedColon,
        FaultKind::ExpectedComma => Code::JsonExpectedComma,
        FaultKind::TrailingComma => Code::JsonTrailingComma,
        FaultKind::Comment => Code::JsonComment,
        FaultKind::DuplicateKey { .. } => Code::JsonDuplicateKey,
        FaultKind::LoneSurrogate => Code::JsonLoneSurrogate,
        FaultKind::RawControl(_) => Code::JsonControlCharacter,
        FaultKind::BadEscape => Code::JsonBadEscape,
        FaultKind::BadNumber => Code::JsonBadNumber,
        FaultKind::UnterminatedString => Code::JsonUnterminatedString,
        FaultKind::SingleQuotes => Code::JsonSingleQuotes,
        FaultKind::BadWord(_) => Code::JsonBadWord,
        FaultKind::TrailingData => Code::JsonTrailingData,
    }
}
