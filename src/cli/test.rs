//! `test`.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::context::Context;
use super::duration::parse_duration;
use super::entry;
use super::exit::Outcome;
use crate::base::failure::Failure;
use crate::ops::test::{self, RunOptions, TestRequest, Verdict, Watch};
use crate::ops::{Ask as _, InputArgs, folder_or_installed, form};
use crate::report::WatchCases;
use crate::tool::ToolName;

/// Run a package's tools and compare what they give
///
/// The cases are those of tests/*.case.json, else the examples in the manifest; or one call with --tool and --input. It
/// shows what will run and asks first. Exit 1: a case gave something else; exit 6: the tool broke.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct TestArgs {
    /// A package folder, or an installed package as ID or ID@VERSION
    #[arg(value_name = "PATH|ID[@VERSION]", default_value = ".", hide_default_value = true)]
    target: String,

    /// With --tool, its input: key=value, key:=JSON, key=@FILE
    #[arg(value_name = "ARGUMENT", requires = "tool")]
    arguments: Vec<String>,

    /// Run one call of this tool instead of the cases
    #[arg(long, value_name = "NAME")]
    tool: Option<ToolName>,

    /// With --tool, its input as a JSON object, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,

    /// Only the cases whose name fits; * stands for any characters
    #[arg(long, value_name = "PATTERN", conflicts_with = "tool")]
    case: Option<String>,

    /// List the cases and run none
    #[arg(long)]
    list: bool,

    /// Stop at the first case that doesn't pass
    #[arg(long)]
    fail_fast: bool,

    /// How many cases may run at once
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,

    /// How long one case may take, as in 30s, 500ms or 5m (default: 2m)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    timeout: Option<Duration>,

    /// Hand over this declared variable, secret or not, from your own environment
    #[arg(short = 'e', value_name = "NAME")]
    variables: Vec<String>,

    /// Write what the cases give into their files as what they expect
    #[arg(long, conflicts_with = "tool")]
    update: bool,

    /// Put the process through what a host may do and seldom does, with the input of the first case
    ///
    /// Frames in pieces, several in one write, calls in parallel, cancel and shutdown in the middle of a call, unknown
    /// keys, an input of 1 MiB, a closed stdin. The tool is called several times.
    #[arg(long, conflicts_with = "update")]
    torture: bool,
}

pub(super) fn run(args: &TestArgs, context: &Context) -> Result<Outcome, Failure> {
    let settings = &context.settings;
    let target = folder_or_installed(&args.target, &settings.folder)?;
    let mut request = TestRequest {
        target: &target,
        tool: args.tool.as_ref(),
        input: InputArgs { whole: args.input.as_deref(), arguments: &args.arguments },
        pattern: args.case.as_deref(),
        timeout: args.timeout,
        variables: &args.variables,
        torture: args.torture,
        lists: args.list,
    };
    let asked = match &args.tool {
        Some(tool) if request.input.is_empty() && context.ask.unable().is_none() => {
            Some(form::fill(&context.ask, &test::input_schema(settings, &request, tool)?)?)
        }
        _ => None,
    };
    request.input.whole = asked.as_deref().or(request.input.whole);
    let plan = test::plan(settings, &request)?;
    if args.list {
        context.report.listed_cases(&plan)?;
        return Ok(Outcome::Yes);
    }
    let number = plan.cases.len();
    let options = RunOptions { jobs: usize::from(args.jobs), fail_fast: args.fail_fast, update: args.update };
    let watch = || -> Arc<dyn Watch> { Arc::new(WatchCases::new(&context.report, number)) };
    let mut report = entry::block_on(test::run(settings, &context.ask, plan, options, watch))??;
    context.warn_untraced(report.untraced.take());
    for path in &report.updated {
        context.report.hint(&format!("updated {}", path.display()));
    }
    context.report.tests(&report)?;
    Ok(match report.worst() {
        Verdict::Broke => Outcome::Broke,
        Verdict::Failed => Outcome::No,
        Verdict::Passed | Verdict::Skipped => Outcome::Yes,
    })
}
