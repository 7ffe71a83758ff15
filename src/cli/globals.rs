//! Flags that every command takes, before or after its name.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

use crate::report::Format;

const GLOBAL: &str = "Global options";

#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(next_help_heading = GLOBAL)]
pub(super) struct GlobalArgs {
    /// Work in this folder
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(super) working_folder: Option<PathBuf>,

    /// Keep packages and their data in this folder (default: `SPARK_TOOL_HOME`, else the system's data folder)
    #[arg(long, value_name = "DIR", global = true)]
    pub(super) home: Option<PathBuf>,

    /// How to write the answer
    #[arg(long, value_name = "FORMAT", global = true, conflicts_with = "json")]
    pub(super) format: Option<FormatArg>,

    /// Short for --format json: one object on stdout, failures included
    #[arg(long, global = true)]
    pub(super) json: bool,

    /// When to use colors
    #[arg(long, value_name = "WHEN", global = true)]
    pub(super) color: Option<ColorArg>,

    /// Say nothing but the answer and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,

    /// Say more about what happens
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,

    /// Append what happens to this file
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) log: Option<PathBuf>,

    /// Agree to this command's questions; grants no permission and opens no gate
    #[arg(short, long, global = true)]
    pub(super) yes: bool,

    /// Never ask, fail instead
    #[arg(long, global = true)]
    pub(super) no_input: bool,

    /// Print help
    #[arg(short, long, global = true, action = ArgAction::Help)]
    pub(super) help: Option<bool>,

    /// Print version
    #[arg(short = 'V', long, global = true, action = ArgAction::Version)]
    pub(super) version: Option<bool>,
}

impl GlobalArgs {
    pub(super) fn format(&self) -> Format {
        match self.format {
            _ if self.json => Format::Json,
            None | Some(FormatArg::Human) => Format::Human,
            Some(FormatArg::Json) => Format::Json,
            Some(FormatArg::Sarif) => Format::Sarif,
            Some(FormatArg::Github) => Format::Github,
            Some(FormatArg::Junit) => Format::Junit,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatArg {
    /// Text for people
    Human,
    /// One JSON object
    Json,
    /// SARIF 2.1.0 (validate)
    Sarif,
    /// Annotations of GitHub Actions (validate)
    Github,
    /// `JUnit` XML (validate, test)
    Junit,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorArg {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    Always,
    Never,
}
