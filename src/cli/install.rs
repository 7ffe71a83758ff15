//! `inspect`, `install`, `remove` and `uninstall`.

use std::path::PathBuf;

use clap::Args;

use super::context::Context;
use super::exit::Outcome;
use crate::base::failure::Failure;
use crate::ops::install::{InstallRequest, InstalledPackage};
use crate::ops::permissions::{Decision, DecisionRequest};
use crate::ops::{Ask as _, TargetError, enable, folder_or_installed, inspect, install, installed, permissions, remove};
use crate::report::{Format, InstallProgress};
use crate::tool::Digest;

/// Show what a package is and what it would run, without running anything
#[derive(Debug, Args)]
pub(super) struct InspectArgs {
    /// A package folder, or an installed package as ID or ID@VERSION (default: this folder)
    #[arg(value_name = "PATH|ID[@VERSION]", default_value = ".", hide_default_value = true)]
    target: String,

    /// Read every installed file and compare it with what was installed
    #[arg(long)]
    verify: bool,
}

pub(super) fn inspect(args: &InspectArgs, context: &Context) -> Result<Outcome, Failure> {
    let target = folder_or_installed(&args.target, &context.settings.folder)?;
    context.report.inspected(&inspect::inspect(&context.settings, &target, args.verify)?)?;
    Ok(Outcome::Yes)
}

/// Install a package folder as a version that never changes
///
/// It shows what the package would run and may do, and asks first. Nothing of the package is run, and it ends disabled
/// unless --enable is given and every gate is open. In a terminal it offers to grant what is asked for and to enable it.
#[derive(Debug, Args)]
pub(super) struct InstallArgs {
    /// The package folder
    #[arg(value_name = "SOURCE")]
    source: PathBuf,

    /// Install nothing unless the content has this digest
    #[arg(long, value_name = "DIGEST")]
    digest: Option<Digest>,

    /// Enable it too, if every gate is open
    #[arg(long)]
    enable: bool,
}

pub(super) fn install(args: &InstallArgs, context: &Context) -> Result<Outcome, Failure> {
    let settings = &context.settings;
    let source = settings.resolve(&args.source);
    let request = InstallRequest { source: &source, digest: args.digest };
    let mut progress = InstallProgress::new(&context.report);
    let mut done = install::install(settings, &context.ask, request, &mut progress)?;
    drop(progress);
    let may_offer = context.report.format() == Format::Human && context.ask.unable().is_none() && !context.ask.agrees;
    if args.enable {
        enable::enable(settings, &context.ask, &done.package.id, Some(&done.version.version))?;
        done.package.enabled = Some(done.version.version.clone());
        done.next.clear();
    }
    context.report.installed(&done)?;
    if may_offer && done.package.enabled.as_ref() != Some(&done.version.version) {
        offer(&done, context)?;
    }
    Ok(Outcome::Yes)
}

/// Offers to grant what the package asks for and to put it to use. A no is an answer like any other.
fn offer(done: &InstalledPackage, context: &Context) -> Result<(), Failure> {
    let (id, version) = (&done.package.id, &done.version.version);
    let granted = done.pending().next().is_none() || {
        let request = DecisionRequest { id, version: Some(version), names: &[], all_declared: true };
        match permissions::decide(&context.settings, &context.ask, Decision::Grant, request) {
            Ok(_) => true,
            Err(failure) => declined(failure)?,
        }
    };
    if !granted {
        return Ok(());
    }
    match enable::enable(&context.settings, &context.ask, id, Some(version)) {
        Ok(enabled) => context.report.hint(&format!("enabled: {}", enabled.served_names.join(", "))),
        Err(failure) if failure.code() == "spark::gate::closed" => {
            context.report.hint(&failure.to_string());
            if let Some(help) = failure.help() {
                context.report.hint(&help);
            }
        }
        Err(failure) => drop(declined(failure)?),
    }
    Ok(())
}

/// Returns `false` for a no.
fn declined(failure: Failure) -> Result<bool, Failure> {
    if matches!(failure.code().as_str(), "spark::consent::declined" | "spark::consent::no_answer") { Ok(false) } else { Err(failure) }
}

/// Delete one installed version
///
/// The enabled version and the last one stay: see disable and uninstall.
#[derive(Debug, Args)]
pub(super) struct RemoveArgs {
    /// The version, as ID@VERSION
    #[arg(value_name = "ID@VERSION")]
    package: String,
}

pub(super) fn remove(args: &RemoveArgs, context: &Context) -> Result<Outcome, Failure> {
    let (id, version) = installed(&args.package)?;
    let version = version.ok_or_else(|| TargetError::NoVersion { id: id.clone() })?;
    remove::remove(&context.settings, &context.ask, &id, &version, || context.report.hint(WAITING))?;
    context.report.removed(&id, &version)?;
    Ok(Outcome::Yes)
}

/// Uninstall a package: all its versions, values and data
///
/// It must be disabled first. Its traces and consent records stay.
#[derive(Debug, Args)]
pub(super) struct UninstallArgs {
    /// The package
    #[arg(value_name = "ID")]
    package: String,
}

pub(super) fn uninstall(args: &UninstallArgs, context: &Context) -> Result<Outcome, Failure> {
    let (id, _) = installed(&args.package)?;
    let done = remove::uninstall(&context.settings, &context.ask, &id, || context.report.hint(WAITING))?;
    context.report.uninstalled(&done)?;
    Ok(Outcome::Yes)
}

const WAITING: &str = "another spark-tool is changing installed packages; waiting for it";
