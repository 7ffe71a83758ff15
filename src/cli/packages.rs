//! `list` and `show`.

use clap::Args;

use super::context::Context;
use super::exit::Outcome;
use crate::base::failure::Failure;
use crate::ops::{installed, packages};

/// List what is installed
#[derive(Debug, Args)]
#[command(visible_alias = "ls")]
pub(super) struct ListArgs {}

pub(super) fn list(_args: &ListArgs, context: &Context) -> Result<Outcome, Failure> {
    context.report.packages(&packages::list(&context.settings)?)?;
    Ok(Outcome::Yes)
}

/// Show a package: what it asks for, what it has, what keeps it from being enabled
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The package, as ID or ID@VERSION (default: the enabled version, else the newest)
    #[arg(value_name = "ID[@VERSION]")]
    package: String,
}

pub(super) fn show(args: &ShowArgs, context: &Context) -> Result<Outcome, Failure> {
    let (id, version) = installed(&args.package)?;
    context.report.package(&packages::show(&context.settings, &id, version.as_ref())?)?;
    Ok(Outcome::Yes)
}
