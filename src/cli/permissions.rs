//! `permissions`, `grant`, `deny` and `revoke`.

use clap::Args;

use super::context::Context;
use super::exit::Outcome;
use crate::base::failure::Failure;
use crate::ops::installed;
use crate::ops::permissions::{self, Decision, DecisionRequest};

/// List what a package asks for and what was decided
#[derive(Debug, Args)]
pub(super) struct PermissionsArgs {
    /// The package, as ID or ID@VERSION (default: the newest version)
    #[arg(value_name = "ID[@VERSION]")]
    package: String,
}

/// Grant a package what it asks for
///
/// It shows what is granted and asks first. A grant is for one version.
#[derive(Debug, Args)]
pub(super) struct GrantArgs {
    #[command(flatten)]
    which: WhichArgs,
}

/// Deny a package what it asks for
///
/// Denying a permission that the enabled version requires disables it at once.
#[derive(Debug, Args)]
pub(super) struct DenyArgs {
    #[command(flatten)]
    which: WhichArgs,
}

/// Take a decision back: the permission is pending again
///
/// Revoking a permission that the enabled version requires disables it at once.
#[derive(Debug, Args)]
pub(super) struct RevokeArgs {
    #[command(flatten)]
    which: WhichArgs,
}

#[derive(Debug, Args)]
struct WhichArgs {
    /// The package, as ID or ID@VERSION (default: `grant` means the newest version, `deny` and `revoke` all of them)
    #[arg(value_name = "ID[@VERSION]")]
    package: String,

    /// Effects and capabilities, as in network or http.fetch; os: or capability: in front where both exist
    #[arg(value_name = "PERMISSION", required_unless_present = "all_declared")]
    names: Vec<String>,

    /// Everything that the package declares
    #[arg(long, conflicts_with = "names")]
    all_declared: bool,
}

pub(super) fn list(args: &PermissionsArgs, context: &Context) -> Result<Outcome, Failure> {
    let (id, version) = installed(&args.package)?;
    context.report.permissions(&permissions::list(&context.settings, &id, version.as_ref())?)?;
    Ok(Outcome::Yes)
}

pub(super) fn grant(args: &GrantArgs, context: &Context) -> Result<Outcome, Failure> {
    decide(Decision::Grant, &args.which, context)
}

pub(super) fn deny(args: &DenyArgs, context: &Context) -> Result<Outcome, Failure> {
    decide(Decision::Deny, &args.which, context)
}

pub(super) fn revoke(args: &RevokeArgs, context: &Context) -> Result<Outcome, Failure> {
    decide(Decision::Revoke, &args.which, context)
}

fn decide(decision: Decision, args: &WhichArgs, context: &Context) -> Result<Outcome, Failure> {
    let (id, version) = installed(&args.package)?;
    let request = DecisionRequest { id: &id, version: version.as_ref(), names: &args.names, all_declared: args.all_declared };
    context.report.permissions(&permissions::decide(&context.settings, &context.ask, decision, request)?)?;
    Ok(Outcome::Yes)
}
