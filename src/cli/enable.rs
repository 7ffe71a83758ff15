//! `enable` and `disable`.

use clap::Args;

use super::context::Context;
use super::exit::Outcome;
use crate::base::failure::Failure;
use crate::ops::{enable, installed};

/// Put a package to use
///
/// Every gate is asked first: what it requires must be granted and set. All closed ones are told at once, each with the
/// command that opens it.
#[derive(Debug, Args)]
pub(super) struct EnableArgs {
    /// The package, as ID or ID@VERSION (default: the newest version)
    #[arg(value_name = "ID[@VERSION]")]
    package: String,
}

pub(super) fn enable(args: &EnableArgs, context: &Context) -> Result<Outcome, Failure> {
    let (id, version) = installed(&args.package)?;
    context.report.enabled(&enable::enable(&context.settings, &context.ask, &id, version.as_ref())?)?;
    Ok(Outcome::Yes)
}

/// Take a package out of use
///
/// Its versions, values and decisions stay.
#[derive(Debug, Args)]
pub(super) struct DisableArgs {
    /// The package
    #[arg(value_name = "ID")]
    package: String,
}

pub(super) fn disable(args: &DisableArgs, context: &Context) -> Result<Outcome, Failure> {
    let (id, _) = installed(&args.package)?;
    let was_enabled = enable::disable(&context.settings, &id)?;
    context.report.disabled(&id, was_enabled)?;
    Ok(Outcome::Yes)
}
