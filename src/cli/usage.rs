//! From argv to a parsed command; what clap says instead, made one of ours.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::error::ErrorKind;
use clap::{ArgMatches, ColorChoice, CommandFactory as _, FromArgMatches as _};
use miette::Diagnostic;
use thiserror::Error;

use super::commands::Cli;
use super::globals::{ColorArg, FormatArg, GlobalArgs};
use super::help;
use crate::base::failure::{Class, Failing};

/// What argv came to.
pub(super) enum Parsed {
    Command {
        /// `validate`, `trace list`.
        name: String,
        cli: Box<Cli>,
    },
    Help(StyledStr),
    Version,
    /// No command, or a command of commands without one of them. A person gets the help.
    Missing {
        name: String,
        globals: GlobalArgs,
        error: UsageError,
        help: StyledStr,
    },
    Wrong {
        /// As far as it can be known.
        name: String,
        globals: GlobalArgs,
        error: UsageError,
    },
}

/// The command line says something that can't be meant.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}")]
#[diagnostic(code(spark::usage))]
pub(super) struct UsageError {
    message: String,
    #[help]
    help: Option<String>,
}

impl UsageError {
    pub(super) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: Some(help.into()) }
    }
}

impl Failing for UsageError {
    fn class(&self) -> Class {
        Class::Usage
    }
}

pub(super) fn parse(args: &[OsString], width: usize, is_colored: impl Fn(ColorArg) -> bool) -> Parsed {
    let globals = globals_of(args);
    let color = if is_colored(globals.color.unwrap_or_default()) { ColorChoice::Always } else { ColorChoice::Never };
    // Never freed: that takes as long as parsing, and it lives as long as the process anyway.
    let definition = Box::leak(Box::new(Cli::command().color(color).term_width(width)));
    let parsed = definition.try_get_matches_from_mut(args).and_then(|matches| {
        let name = name_of(&matches);
        Cli::from_arg_matches(&matches).map(|cli| Parsed::Command { name, cli: Box::new(cli) })
    });
    parsed.unwrap_or_else(|error| match error.kind() {
        ErrorKind::DisplayHelp => Parsed::Help(error.render()),
        ErrorKind::DisplayVersion => Parsed::Version,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            let name = name_in(args);
            let missing = UsageError::new("a command is missing", "`spark-tool help` lists the commands");
            let help = help::of_command(definition.clone(), &name).unwrap_or_else(|| error.render());
            Parsed::Missing { name, globals, error: missing, help }
        }
        _ => Parsed::Wrong { name: name_in(args), globals, error: in_our_words(&error) },
    })
}

/// clap says `error: WHAT`, an empty line, tips and usage.
fn in_our_words(error: &clap::Error) -> UsageError {
    let text = error.render().to_string();
    let text = text.trim();
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let (message, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest: Vec<&str> = rest.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    UsageError { message, help: (!rest.is_empty()).then(|| rest.join("\n")) }
}

fn name_of(matches: &ArgMatches) -> String {
    let mut names = Vec::new();
    let mut inner = matches.subcommand();
    while let Some((name, matches)) = inner {
        names.push(name);
        inner = matches.subcommand();
    }
    names.join(" ")
}

/// Returns the command's name as far as argv tells, for the envelope of an error that came before it was parsed.
fn name_in(args: &[OsString]) -> String {
    let definition = Cli::command();
    let mut command = &definition;
    let mut names = Vec::new();
    for word in args.iter().skip(1).filter_map(|arg| arg.to_str()) {
        if let Some(found) = command.find_subcommand(word) {
            command = found;
            names.push(found.get_name());
        }
    }
    names.join(" ")
}

/// Returns the flags that decide how an error looks, read without clap, which has just refused argv.
pub(super) fn globals_of(args: &[OsString]) -> GlobalArgs {
    let mut globals = GlobalArgs::default();
    let mut args = args.iter().skip(1).map(|arg| arg.to_str().unwrap_or_default()).take_while(|arg| *arg != "--").peekable();
    while let Some(arg) = args.next() {
        let mut value = |name: &str| match arg.strip_prefix(name)? {
            "" => args.peek().map(|next| (*next).to_owned()),
            rest => rest.strip_prefix('=').map(str::to_owned),
        };
        if arg == "--json" || value("--format").as_deref() == Some("json") {
            globals.format = Some(FormatArg::Json);
        }
        match value("--color").as_deref() {
            Some("always") => globals.color = Some(ColorArg::Always),
            Some("never") => globals.color = Some(ColorArg::Never),
            _ => {}
        }
    }
    globals
}

/// Returns the home that an unfinished line names.
pub(super) fn home_in(words: &[OsString]) -> Option<PathBuf> {
    let mut words = words.iter().filter_map(|word| word.to_str()).peekable();
    while let Some(word) = words.next() {
        match word.strip_prefix("--home") {
            Some("") => return words.peek().map(PathBuf::from),
            Some(rest) => return rest.strip_prefix('=').map(PathBuf::from),
            None => {}
        }
    }
    None
}

/// The name of the program as it was called doesn't matter; its arguments do.
pub(super) fn arguments() -> Vec<OsString> {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    if let Some(program) = args.first_mut() {
        *program = OsString::from("spark-tool");
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Parsed {
        let args: Vec<OsString> = std::iter::once("spark-tool").chain(words.iter().copied()).map(OsString::from).collect();
        parse(&args, 100, |_| false)
    }

    #[test]
    fn the_definition_of_the_commands_is_sound() {
        Cli::command().debug_assert();
    }

    /// clap takes a command's own argument for the global one of the same name, and says nothing.
    #[test]
    fn no_command_has_an_argument_of_a_global_one_s_name() {
        let definition = Cli::command();
        let globals: Vec<_> = definition.get_arguments().filter(|arg| arg.is_global_set()).map(|arg| arg.get_id().clone()).collect();
        let mut commands: Vec<&clap::Command> = definition.get_subcommands().collect();
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands());
            for arg in command.get_arguments() {
                assert!(!globals.contains(arg.get_id()), "{} {}", command.get_name(), arg.get_id());
            }
        }
        assert!(globals.len() >= 11);
    }

    #[test]
    fn global_flags_stand_before_or_after_the_command() {
        for words in [
            &["-q", "--json", "completions", "bash"][..],
            &["completions", "bash", "--json", "-q"],
            &["completions", "--format", "json", "bash", "-q"],
        ] {
            let Parsed::Command { name, cli } = parsed(words) else { panic!("{words:?}") };
            assert_eq!((name.as_str(), cli.globals.format(), cli.globals.quiet), ("completions", crate::report::Format::Json, true));
        }
    }

    #[test]
    fn an_missingof_the_command_line_is_in_our_words() {
        let Parsed::Wrong { name, error, globals } = parsed(&["completions", "--format=json", "tcsh"]) else { panic!("it is wrong") };
        assert_eq!((name.as_str(), globals.format), ("completions", Some(FormatArg::Json)));
        assert_eq!(error.message, "invalid value 'tcsh' for '<SHELL>' [possible values: bash, zsh, fish, powershell, elvish]");
    }
}
