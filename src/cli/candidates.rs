//! What a shell is offered where a command takes the name of something installed: ids, tools, permissions, variables.
//!
//! Which argument takes what is read off the definition of the commands, so that they need not know. A store that
//! can't be read offers nothing: a shell in the middle of a line is no place for an error.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};

use super::commands::Cli;
use crate::base::text::{cut, visible};
use crate::ops::packages::{self, Package, PackageDetail};
use crate::ops::{Settings, init};
use crate::tool::PackageId;

/// Characters of a description that a shell shows beside a candidate (ours: one line of most terminals).
const HELP: usize = 60;

/// Settings and the words so far, for all candidates of one question.
struct Asked {
    settings: Settings,
    words: Vec<OsString>,
}

/// Returns the definition of the commands, with live candidates.
pub(super) fn definition(settings: Settings, words: Vec<OsString>) -> Command {
    with_candidates(Cli::command(), &Arc::new(Asked { settings, words }))
}

fn with_candidates(command: Command, asked: &Arc<Asked>) -> Command {
    let command = command.mut_args(|arg| attach(arg, asked));
    command.mut_subcommands(|inner| with_candidates(inner, asked))
}

fn attach(arg: Arg, asked: &Arc<Asked>) -> Arg {
    let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string).unwrap_or_default();
    let asked = Arc::clone(asked);
    match (arg.get_id().as_str(), name.as_str()) {
        ("package", _) => arg.add(ArgValueCandidates::new(move || asked.ids())),
        ("target", _) => arg.add(ArgValueCompleter::new(move |current: &OsStr| {
            let mut candidates = PathCompleter::dir().complete(current);
            candidates.extend(asked.ids().into_iter().filter(|candidate| starts_with(candidate, current)));
            candidates
        })),
        (_, "PACKAGE/TOOL") => arg.add(ArgValueCandidates::new(move || asked.tools())),
        (_, "PERMISSION") => arg.add(ArgValueCandidates::new(move || asked.permissions())),
        ("assignments", _) => arg.add(ArgValueCandidates::new(move || asked.variables("="))),
        ("names", "NAME") => arg.add(ArgValueCandidates::new(move || asked.variables(""))),
        ("template", _) => arg.add(ArgValueCandidates::new(|| {
            init::offered().map(|template| candidate(template.name.to_owned(), template.description)).collect()
        })),
        _ => arg,
    }
}

impl Asked {
    fn installed(&self) -> Vec<Package> {
        packages::list(&self.settings).unwrap_or_default().into_iter().flatten().collect()
    }

    fn ids(&self) -> Vec<CompletionCandidate> {
        self.installed().into_iter().map(|package| candidate(package.id.into(), &package.name)).collect()
    }

    fn tools(&self) -> Vec<CompletionCandidate> {
        let details = self.installed().into_iter().filter_map(|package| self.detail(&package.id));
        let tools = details.filter_map(|detail| Some((detail.package.id, detail.content.ok()?.tools)));
        tools
            .flat_map(|(id, tools)| tools.into_iter().map(move |(tool, _)| candidate(format!("{id}/{}", tool.name), &tool.title)))
            .collect()
    }

    fn permissions(&self) -> Vec<CompletionCandidate> {
        let permissions = self.package_of_the_line().map(|detail| detail.permissions).unwrap_or_default();
        permissions.into_iter().map(|permission| candidate(permission.name, permission.state.as_str())).collect()
    }

    /// Returns the declared variables, `end` behind each name.
    fn variables(&self, end: &str) -> Vec<CompletionCandidate> {
        let content = self.package_of_the_line().and_then(|detail| detail.content.ok());
        let plain = content.map(|content| content.environment).unwrap_or_default().into_iter().filter(|variable| !variable.secret);
        plain.map(|variable| candidate(format!("{}{end}", variable.name), variable.kind)).collect()
    }

    /// Returns the first word of the line that names an installed package.
    fn package_of_the_line(&self) -> Option<PackageDetail> {
        self.words.iter().find_map(|word| {
            let id = word.to_str()?.split('@').next()?.parse::<PackageId>().ok()?;
            self.detail(&id)
        })
    }

    fn detail(&self, id: &PackageId) -> Option<PackageDetail> {
        packages::show(&self.settings, id, None).ok()
    }
}

fn candidate(value: String, help: &str) -> CompletionCandidate {
    let help = visible(help);
    CompletionCandidate::new(value).help(Some(cut(&help, HELP).into_owned().into()))
}

fn starts_with(candidate: &CompletionCandidate, current: &OsStr) -> bool {
    candidate.get_value().as_encoded_bytes().starts_with(current.as_encoded_bytes())
}
