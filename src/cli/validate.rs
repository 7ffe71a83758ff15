//! `validate`.

use std::path::PathBuf;

use clap::Args;

use super::context::Context;
use super::exit::Outcome;
use crate::base::failure::Failure;
use crate::ops::validate::{self, ValidateRequest};

/// Check packages and manifests without installing them
///
/// Nothing of a package runs. Every mistake is found in one go, with its place. Exit 1 says that something was found.
#[derive(Debug, Args)]
pub(super) struct ValidateArgs {
    /// Folders, manifests, or - for a manifest on stdin (default: this folder)
    #[arg(value_name = "PATH", default_value = ".", hide_default_value = true)]
    paths: Vec<PathBuf>,

    /// Check every package below the folders
    #[arg(short, long)]
    recursive: bool,

    /// Count warnings as errors
    #[arg(long)]
    strict: bool,

    /// Repair what has one right answer, then check; all else in the file stays as it is
    #[arg(long)]
    fix: bool,
}

pub(super) fn run(args: &ValidateArgs, context: &Context) -> Result<Outcome, Failure> {
    let request = ValidateRequest { paths: args.paths.clone(), strict: args.strict, recursive: args.recursive, fix: args.fix };
    let validated = validate::validate(&context.settings, &request)?;
    context.report.validated(&validated)?;
    Ok(Outcome::from_ok(validated.is_valid()))
}
