//! What a person reads before agreeing: everything that a package would start and may do, line by line, with nothing
//! in it that a terminal obeys (design §6, consent).

use std::path::Path;

use crate::base::text::visible;
use crate::manifest::{Hijack, Manifest, Runtime};
use crate::tool::{ToolDefinition, VariableName};

/// What a package runs, where, with which variables and which powers.
pub(crate) struct Powers<'a> {
    pub(crate) manifest: &'a Manifest,
    /// What the command stands for on this machine.
    pub(crate) program: Option<&'a Path>,
    /// The tree it runs in.
    pub(crate) root: &'a Path,
}

impl Powers<'_> {
    pub(crate) fn lines(&self) -> Vec<String> {
        let manifest = self.manifest;
        let mut lines = vec![format!("{} {} ({})", manifest.id, manifest.version, visible(&manifest.name))];
        if let Runtime::Process(process) = &manifest.runtime {
            let words = std::iter::once(process.command.as_str()).chain(process.args.iter().map(String::as_str));
            lines.push(row("runs", &words.map(quoted).collect::<Vec<_>>().join(" ")));
            let program =
                self.program.map_or_else(|| "not found on this machine".to_owned(), |path| visible(&path.to_string_lossy()).into_owned());
            lines.push(row("program", &program));
            let folder = process.working_directory.as_ref().map_or_else(|| self.root.to_owned(), |folder| self.root.join(folder));
            lines.push(row("in", &visible(&folder.to_string_lossy())));
        } else {
            lines.push(row("adapter", manifest.runtime.adapter()));
        }
        let variables: Vec<String> = manifest
            .environment
            .iter()
            .map(|variable| if variable.secret { format!("{} (secret)", variable.name) } else { variable.name.to_string() })
            .collect();
        lines.push(row("variables", &or_none(&variables)));
        let declared = manifest.environment.iter().map(|variable| &variable.name);
        let risky: Vec<String> = declared.filter(|name| Hijack::of(name.as_str()).is_some()).map(ToString::to_string).collect();
        if !risky.is_empty() {
            lines.push(row("careful", &format!("{} can make the program load other code or trust other servers", risky.join(", "))));
        }
        let effects: Vec<String> = manifest.permissions.os_effects.iter().map(ToString::to_string).collect();
        lines.push(row("declares", &or_none(&effects)));
        let required = manifest.permissions.required_capabilities.iter().map(ToString::to_string);
        let optional = manifest.permissions.optional_capabilities.iter().map(|name| format!("{name} (optional)"));
        lines.push(row("may ask for", &or_none(&required.chain(optional).collect::<Vec<_>>())));
        if matches!(manifest.runtime, Runtime::Process(_)) {
            lines.push("  It runs with your rights: what it declares is a promise, not a wall.".to_owned());
        }
        lines
    }
}

/// One tool and how much a call of it may change.
pub(crate) fn tool_line(tool: &ToolDefinition) -> String {
    let safety = tool.safety;
    format!("  {:<24} risk {}, effect {}, {}", tool.name.as_str(), safety.risk, safety.effect, visible(&tool.title))
}

/// The names of variables, or `none`.
pub(crate) fn names(names: &[VariableName]) -> String {
    or_none(&names.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// A labelled line of a screen. `value` is already visible.
pub(crate) fn row(label: &str, value: &str) -> String {
    format!("  {:<13}{value}", format!("{label}:"))
}

/// One element of an argv as a shell would have to be given it, so that its borders show.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", visible(word).replace('\'', "'\\''")) }
}

fn or_none(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    // H: D-1, P-12
    #[test]
    fn an_argument_shows_its_borders_and_nothing_a_terminal_obeys() {
        for (word, shown) in [
            ("main.py", "main.py"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("\u{1b}[2J", "'\\u{1b}[2J'"),
            ("$(x)", "'$(x)'"),
            ("--k=v", "--k=v"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }
}
