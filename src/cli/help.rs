//! `help`: a command's help, or a page on what holds for all of them.

use clap::builder::StyledStr;
use clap::{Args, CommandFactory as _};
use serde::Serialize;

use super::commands::Cli;
use super::context::Context;
use super::exit::Outcome;
use super::usage::UsageError;
use crate::base::failure::Failure;

/// Print the help of a command, or a page: cases, codes, environment, exit-codes, json, manifest, protocol
#[derive(Debug, Args)]
pub(super) struct HelpArgs {
    /// A command, of several words if it has several, or a page
    #[arg(value_name = "COMMAND|PAGE")]
    words: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct HelpWire<'a> {
    pub(super) text: &'a str,
}

/// Pages of `docs/` that belong to the program.
const PAGES: &[(&str, &str)] = &[
    ("cases", include_str!("../../docs/cases.md")),
    ("codes", include_str!("../../docs/codes.md")),
    ("environment", include_str!("../../docs/environment.md")),
    ("exit-codes", include_str!("../../docs/exit-codes.md")),
    ("json", include_str!("../../docs/json.md")),
    ("manifest", include_str!("../../docs/manifest.md")),
    ("protocol", include_str!("../../docs/protocol.md")),
];

pub(super) fn run(args: &HelpArgs, context: &Context) -> Result<Outcome, Failure> {
    let name = args.words.join(" ");
    let page = PAGES.iter().find(|(page, _)| *page == name).map(|(_, text)| StyledStr::from(*text));
    let help = page.or_else(|| of_command(Cli::command().term_width(context.report.width()), &name)).ok_or_else(|| unknown(&name))?;
    context.report.answer(true, &HelpWire { text: &help.to_string() }, |_| help.ansi().to_string())?;
    Ok(Outcome::Yes)
}

fn unknown(name: &str) -> UsageError {
    let pages = PAGES.iter().map(|(page, _)| *page).collect::<Vec<_>>().join(", ");
    UsageError::new(format!("there is no help for `{name}`"), format!("`spark-tool help` lists the commands; the pages are {pages}"))
}

/// Returns the help of the command called `name`, all its words included.
pub(super) fn of_command(mut definition: clap::Command, name: &str) -> Option<StyledStr> {
    definition.build();
    let mut command = &mut definition;
    for word in name.split_whitespace() {
        command = command.find_subcommand_mut(word)?;
    }
    Some(command.render_long_help())
}
