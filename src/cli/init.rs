//! `init`.

use std::path::PathBuf;

use clap::Args;

use super::context::Context;
use super::exit::Outcome;
use crate::base::failure::Failure;
use crate::ops::init::{self, InitRequest};

/// Write a tool package to start from
///
/// The package validates and passes its tests as it is. What isn't given is asked for on a terminal; elsewhere id and
/// name come from the folder's name. A folder that isn't empty is left alone.
#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Where to write it (default: this folder)
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    folder: PathBuf,

    /// The language to start in; --list-templates shows all
    #[arg(short, long, value_name = "NAME")]
    template: Option<String>,

    /// The package's id, such as acme.hello
    #[arg(long)]
    id: Option<String>,

    /// The name that people read
    #[arg(long)]
    name: Option<String>,

    /// List the templates and write nothing
    #[arg(long, conflicts_with_all = ["folder", "template", "id", "name"])]
    list_templates: bool,
}

pub(super) fn run(args: &InitArgs, context: &Context) -> Result<Outcome, Failure> {
    if args.list_templates {
        context.report.templates(&init::offered().collect::<Vec<_>>())?;
        return Ok(Outcome::Yes);
    }
    let request =
        InitRequest { folder: args.folder.clone(), template: args.template.clone(), id: args.id.clone(), name: args.name.clone() };
    let initialized = init::init(&context.settings, &context.ask, &request)?;
    context.report.initialized(&initialized)?;
    Ok(Outcome::Yes)
}
