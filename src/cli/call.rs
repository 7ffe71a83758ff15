//! `call`.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::context::Context;
use super::duration::parse_duration;
use super::entry;
use super::exit::Outcome;
use crate::base::failure::{Class, Failure};
use crate::base::limits::CALL_WAIT;
use crate::ops::InputArgs;
use crate::ops::call::{self, CallFailure, CallOutcome, EachFrom, EachRequest, OneRequest};
use crate::report::{LiveCall, OutputError};

/// Call a tool of an enabled package
///
/// The input comes as key=value (read by the property's type), key:=JSON, key=@FILE, or whole with --input. A tool that
/// only reads runs at once; any other asks first. Every call leaves a trace.
#[derive(Debug, Args)]
pub(super) struct CallArgs {
    /// The tool, as in `acme.hello/say_hello`
    #[arg(value_name = "PACKAGE/TOOL")]
    tool: String,

    /// Its input: key=value, key:=JSON, key=@FILE
    #[arg(value_name = "ARGUMENT")]
    arguments: Vec<String>,

    /// The input as a JSON object, @FILE, or - for standard input
    #[arg(long, value_name = "JSON")]
    input: Option<String>,

    /// How long the call may take, as in 30s, 500ms or 5m (default: 2m)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    timeout: Option<Duration>,

    /// Show what would be called, with what and how, and call nothing
    #[arg(long, conflicts_with = "each")]
    plan: bool,

    /// Call it once for each line of this file (- for standard input), a JSON object a line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["input", "arguments"])]
    each: Option<PathBuf>,

    /// How many calls of --each may run at once
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "each", value_parser = clap::value_parser!(u16).range(1..=1024))]
    parallel: u16,
}

pub(super) fn run(args: &CallArgs, context: &Context) -> Result<Outcome, Failure> {
    let timeout = args.timeout.unwrap_or(CALL_WAIT);
    if let Some(from) = &args.each {
        return run_each(args, from, timeout, context);
    }
    let request = OneRequest { tool: &args.tool, input: InputArgs { whole: args.input.as_deref(), arguments: &args.arguments }, timeout };
    if args.plan {
        let planned = call::plan_one(&context.settings, &request)?;
        context.report.planned(&planned)?;
        return Ok(Outcome::from_ok(planned.input.is_ok()));
    }
    let live = LiveCall::new(&context.report, &args.tool);
    let (outcome, problem) = entry::block_on(call::call_one(&context.settings, &context.ask, &request, &live))??;
    drop(live);
    context.warn_untraced(problem);
    if let Err(error) = &outcome.result
        && error.class != Class::AnswerNo
    {
        return Err(CallFailure(error.clone()).into());
    }
    context.report.call(&outcome)?;
    Ok(Outcome::from_ok(outcome.result.is_ok()))
}

fn run_each(args: &CallArgs, from: &std::path::Path, timeout: Duration, context: &Context) -> Result<Outcome, Failure> {
    let from = if from == std::path::Path::new("-") { EachFrom::Stdin } else { EachFrom::File(from.to_owned()) };
    let request = EachRequest { tool: &args.tool, from, timeout, parallel: usize::from(args.parallel) };
    context.report.begin_stream();
    let mut worst = Outcome::Yes;
    let done = |outcomes: Vec<CallOutcome>| {
        worst = outcomes.iter().map(judged).fold(worst, Outcome::max);
        context.report.calls_of_many(&outcomes)?;
        Ok::<_, OutputError>(if context.report.is_closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let problem = entry::block_on(call::call_each(&context.settings, &context.ask, &request, done))??;
    context.warn_untraced(problem);
    Ok(worst)
}

fn judged(outcome: &CallOutcome) -> Outcome {
    match outcome.result.as_ref().map_err(|error| error.class) {
        Ok(_) => Outcome::Yes,
        Err(Class::ToolBroke) => Outcome::Broke,
        Err(_) => Outcome::No,
    }
}
