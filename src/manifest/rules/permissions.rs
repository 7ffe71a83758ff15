//! The lists under `permissions` (manifest §12, §12.1 rule 4).

use std::collections::HashSet;

use crate::base::json::{Kind, Node};

use super::items;
use crate::manifest::Code;
use crate::manifest::collect::{Draft, Found, Path, shown};

/// The lists in which an entry counts once.
pub(in crate::manifest) const LISTS: [&str; 3] = ["declaredOsEffects", REQUIRED, OPTIONAL];
const REQUIRED: &str = "requiredSparkCapabilities";
const OPTIONAL: &str = "optionalSparkCapabilities";

pub(super) fn check(root: &Node, found: &mut Found) {
    let Some(permissions) = root.get("permissions").map(|member| &member.value) else { return };
    let path = Path::Root.key("permissions");
    for key in LISTS {
        for (index, node) in repeated(permissions, key) {
            let name = string(node).unwrap_or_default();
            found.at(
                &path.key(key).index(index),
                node,
                Draft::warning(Code::RepeatedEntry, format!("`{}` is listed twice in `{key}`", shown(name)))
                    .help("once is enough; `validate --fix` removes it"),
            );
        }
    }
    let required: HashSet<&str> = items(permissions, REQUIRED).filter_map(|(_, node)| string(node)).collect();
    for (index, node) in items(permissions, OPTIONAL) {
        let Some(name) = string(node) else { continue };
        if required.contains(name) {
            found.at(
                &path.key(OPTIONAL).index(index),
                node,
                Draft::error(Code::RequiredAndOptional, format!("`{}` is both required and optional", shown(name)))
                    .help("remove it from one of the two lists"),
            );
        }
    }
}

/// Returns the entries that stand in the list before.
pub(in crate::manifest) fn repeated<'a>(permissions: &'a Node, key: &str) -> Vec<(usize, &'a Node)> {
    let mut seen = HashSet::new();
    items(permissions, key).filter(|(_, node)| string(node).is_some_and(|name| !seen.insert(name))).collect()
}

fn string(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::String(text) => Some(text),
        _ => None,
    }
}
