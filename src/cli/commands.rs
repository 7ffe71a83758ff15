//! The list of commands, and what each needs known before it runs.

use clap::{Parser, Subcommand};

use super::context::Context;
#[cfg(feature = "test-tools")]
use super::entry;
use super::exit::Outcome;
use super::globals::GlobalArgs;
use super::{call, completions, demo, enable, env, help, init, install, man, packages, permissions, sample, test, trace, validate};
use crate::base::failure::Failure;
use crate::report::Format;

/// The toolchain for agent tools
///
/// Write, check, test, install, allow, call and trace the tools that agents use, under the control of the person
/// whose machine they run on.
#[derive(Debug, Parser)]
#[command(
    name = "spark-tool",
    version,
    propagate_version = true,
    disable_help_flag = true,
    disable_version_flag = true,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Pages: spark-tool help exit-codes | environment | json | codes",
    subcommand_value_name = "COMMAND",
    subcommand_help_heading = "Commands"
)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) globals: GlobalArgs,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Init(init::InitArgs),
    Validate(validate::ValidateArgs),
    Test(test::TestArgs),
    Inspect(install::InspectArgs),
    Install(install::InstallArgs),
    Permissions(permissions::PermissionsArgs),
    Grant(permissions::GrantArgs),
    Deny(permissions::DenyArgs),
    Revoke(permissions::RevokeArgs),
    Env(env::EnvArgs),
    Enable(enable::EnableArgs),
    Disable(enable::DisableArgs),
    List(packages::ListArgs),
    Show(packages::ShowArgs),
    Remove(install::RemoveArgs),
    #[command(visible_alias = "rm")]
    Uninstall(install::UninstallArgs),
    Call(call::CallArgs),
    Trace(trace::TraceArgs),
    Demo(demo::DemoArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Help(help::HelpArgs),
    /// Speaks the protocol of a tool process
    #[command(name = "__sample", hide = true)]
    Sample,
    /// Panics with a text that may not be shown
    #[cfg(feature = "test-tools")]
    #[command(name = "__panic", hide = true)]
    Panic,
    /// Waits for a signal: with children to stop, or without looking
    #[cfg(feature = "test-tools")]
    #[command(name = "__wait", hide = true)]
    Wait {
        #[arg(long)]
        politely: bool,
    },
}

impl Command {
    /// Returns the formats it writes beside `human` and `json`, which all do.
    pub(super) const fn more_formats(&self) -> &'static [Format] {
        match self {
            Self::Validate(_) => &[Format::Sarif, Format::Github, Format::Junit],
            Self::Test(_) => &[Format::Junit],
            Self::Init(_)
            | Self::Inspect(_)
            | Self::Install(_)
            | Self::Remove(_)
            | Self::Uninstall(_)
            | Self::Permissions(_)
            | Self::Grant(_)
            | Self::Deny(_)
            | Self::Revoke(_)
            | Self::Env(_)
            | Self::Enable(_)
            | Self::Disable(_)
            | Self::List(_)
            | Self::Show(_)
            | Self::Call(_)
            | Self::Trace(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Help(_)
            | Self::Demo(_)
            | Self::Sample => &[],
            #[cfg(feature = "test-tools")]
            Self::Panic | Self::Wait { .. } => &[],
        }
    }

    pub(super) fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        match self {
            Self::Init(args) => init::run(args, context),
            Self::Validate(args) => validate::run(args, context),
            Self::Test(args) => test::run(args, context),
            Self::Inspect(args) => install::inspect(args, context),
            Self::Install(args) => install::install(args, context),
            Self::Remove(args) => install::remove(args, context),
            Self::Uninstall(args) => install::uninstall(args, context),
            Self::Permissions(args) => permissions::list(args, context),
            Self::Grant(args) => permissions::grant(args, context),
            Self::Deny(args) => permissions::deny(args, context),
            Self::Revoke(args) => permissions::revoke(args, context),
            Self::Env(args) => env::run(args, context),
            Self::Enable(args) => enable::enable(args, context),
            Self::Disable(args) => enable::disable(args, context),
            Self::List(args) => packages::list(args, context),
            Self::Show(args) => packages::show(args, context),
            Self::Call(args) => call::run(args, context),
            Self::Trace(args) => trace::run(args, context),
            Self::Demo(args) => demo::run(args, context),
            Self::Sample => sample::run(context),
            Self::Completions(args) => completions::run(args, context),
            Self::Man(args) => man::run(args, context),
            Self::Help(args) => help::run(args, context),
            #[cfg(feature = "test-tools")]
            Self::Panic => panic!("{:?} is a secret", context.settings.environment.get("CANARY")),
            #[cfg(feature = "test-tools")]
            Self::Wait { politely } => wait(*politely, context),
        }
    }
}

#[cfg(feature = "test-tools")]
fn wait(politely: bool, context: &Context) -> Result<Outcome, Failure> {
    context.report.err("waiting\n");
    if politely {
        return Err(entry::block_on(context.settings.interrupt.raised())?.into());
    }
    loop {
        std::thread::park();
    }
}
