//! `trace list` and `trace show`.

use clap::{Args, Subcommand};

use super::context::Context;
use super::exit::Outcome;
use crate::base::failure::Failure;
use crate::ops::traces::{self, PAGE_DEFAULT, PAGE_MAX, TraceFilter};

/// Read the record of calls
///
/// Every call leaves one row, denials included: when, what, how it ended, how long it took; never what went in or came
/// out, of which there are a hash and a size.
#[derive(Debug, Args)]
pub(super) struct TraceArgs {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, Subcommand)]
enum TraceCommand {
    List(ListArgs),
    Show(ShowArgs),
}

/// List calls, the newest first
#[derive(Debug, Args)]
#[command(visible_alias = "ls")]
struct ListArgs {
    /// Only calls of this package
    #[arg(long, value_name = "ID")]
    package: Option<String>,

    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,

    /// Only calls that ended like this
    #[arg(long, value_name = "STATUS", value_parser = ["running", "ok", "error", "timeout", "denied", "cancelled"])]
    status: Option<String>,

    /// How many to show
    #[arg(long, value_name = "NUMBER", default_value_t = PAGE_DEFAULT, value_parser = clap::value_parser!(u32).range(1..=i64::from(PAGE_MAX)))]
    limit: u32,

    /// How many of the newest to leave out
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    offset: u64,
}

/// Show one call
#[derive(Debug, Args)]
struct ShowArgs {
    /// The call's id, as `call --json` and `trace list` give it
    #[arg(value_name = "ID")]
    id: String,
}

pub(super) fn run(args: &TraceArgs, context: &Context) -> Result<Outcome, Failure> {
    match &args.command {
        TraceCommand::List(args) => {
            let filter = TraceFilter {
                package_id: args.package.clone(),
                tool_name: args.tool.clone(),
                status: args.status.clone(),
                ..TraceFilter::default()
            };
            let page = traces::list(&context.settings, &filter, args.limit, args.offset)?;
            context.report.traces(&page, args.limit, args.offset)?;
        }
        TraceCommand::Show(args) => context.report.trace(&traces::show(&context.settings, &args.id)?)?,
    }
    Ok(Outcome::Yes)
}
