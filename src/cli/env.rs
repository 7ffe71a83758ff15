//! `env list`, `env set` and `env unset`.

use clap::{Args, Subcommand};

use super::context::Context;
use super::exit::Outcome;
use crate::base::failure::Failure;
use crate::ops::{installed, variables};
use crate::tool::{ToolName, VariableName};

/// Give a package's variables their values
///
/// Plain values only: a secret is refused. A value may be for the whole package or for one tool, which then wins.
#[derive(Debug, Args)]
pub(super) struct EnvArgs {
    #[command(subcommand)]
    command: EnvCommand,
}

#[derive(Debug, Subcommand)]
enum EnvCommand {
    List(ListArgs),
    Set(SetArgs),
    Unset(UnsetArgs),
}

/// List the variables a package declares, and where each value comes from
#[derive(Debug, Args)]
#[command(visible_alias = "ls")]
struct ListArgs {
    /// The package, as ID or ID@VERSION (default: the enabled version, else the newest)
    #[arg(value_name = "ID[@VERSION]")]
    package: String,

    /// As calls of this tool find them
    #[arg(long, value_name = "NAME")]
    tool: Option<ToolName>,
}

/// Set variables, all or none
#[derive(Debug, Args)]
struct SetArgs {
    /// The package, as ID or ID@VERSION (default: the enabled version, else the newest that declares the variables)
    #[arg(value_name = "ID[@VERSION]")]
    package: String,

    /// NAME=VALUE, read by the variable's type, or NAME:=JSON
    #[arg(value_name = "ASSIGNMENT", required = true)]
    assignments: Vec<String>,

    /// For calls of this tool only
    #[arg(long, value_name = "NAME")]
    tool: Option<ToolName>,
}

/// Unset variables
#[derive(Debug, Args)]
struct UnsetArgs {
    /// The package, as ID or ID@VERSION (default: the enabled version, else the newest that declares the variables)
    #[arg(value_name = "ID[@VERSION]")]
    package: String,

    /// The variables
    #[arg(value_name = "NAME", required = true)]
    names: Vec<VariableName>,

    /// What was set for calls of this tool only
    #[arg(long, value_name = "NAME")]
    tool: Option<ToolName>,
}

pub(super) fn run(args: &EnvArgs, context: &Context) -> Result<Outcome, Failure> {
    let settings = &context.settings;
    match &args.command {
        EnvCommand::List(args) => {
            let (id, version) = installed(&args.package)?;
            context.report.environment(&variables::list(settings, &id, version.as_ref(), args.tool.as_ref())?)?;
        }
        EnvCommand::Set(args) => {
            let (id, version) = installed(&args.package)?;
            context
                .report
                .changed_variables(&variables::set(settings, &id, version.as_ref(), args.tool.as_ref(), &args.assignments)?, "set")?;
        }
        EnvCommand::Unset(args) => {
            let (id, version) = installed(&args.package)?;
            context
                .report
                .changed_variables(&variables::unset(settings, &id, version.as_ref(), args.tool.as_ref(), &args.names)?, "unset")?;
        }
    }
    Ok(Outcome::Yes)
}
