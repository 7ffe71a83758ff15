//! `test`.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::context::Context;
use super::duration::parse_duration;
use super::entry;
use super::exit::Outcome;
use super::usage::UsageError;
use crate::base::failure::{Class, Failure};
use crate::ops::test::{self, RunOptions, TestRequest, Verdict, Watch};
use crate::ops::watch::Watch as Changes;
use crate::ops::{Ask, AskOnce, InputArgs, Target, folder_or_installed, form};
use crate::report::{Format, WatchCases};
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

    /// Run again after every change of the folder, until Ctrl-C
    ///
    /// It asks again only when what would run has changed.
    #[arg(long, conflicts_with_all = ["list", "update", "torture"])]
    watch: bool,
}

pub(super) fn run(args: &TestArgs, context: &Context) -> Result<Outcome, Failure> {
    let target = folder_or_installed(&args.target, &context.settings.folder)?;
    if args.watch { watch(args, &target, context) } else { once(args, &target, &context.ask, &mut None, context) }
}

/// Runs the cases now and after every change of the folder, until it is interrupted.
fn watch(args: &TestArgs, target: &Target, context: &Context) -> Result<Outcome, Failure> {
    if !matches!(context.report.format(), Format::Human | Format::Json) {
        return Err(UsageError::new("--watch writes text or JSON alone", "leave out --watch or --format").into());
    }
    if args.input.as_deref() == Some("-") {
        return Err(UsageError::new("stdin can be read only once", "--watch takes an input from a file: --input @FILE").into());
    }
    let Target::Folder(folder) = target else {
        return Err(UsageError::new("an installed package never changes", "--watch takes a package folder").into());
    };
    let changes = Changes::on(std::slice::from_ref(folder))?;
    let ask = AskOnce::new(&context.ask);
    let mut typed = None;
    context.report.begin_stream();
    while !context.report.is_closed() {
        match once(args, target, &ask, &mut typed, context) {
            Ok(_) => {}
            Err(failure) if ends_the_watch(&failure) => return Err(failure),
            // A file may be half written: the next change may bring the rest.
            Err(failure) => context.report.failure(&failure)?,
        }
        context.report.hint("tested; waiting for changes, Ctrl-C ends");
        changes.wait(&context.settings.interrupt)?;
    }
    Ok(Outcome::Yes)
}

/// No change of a file brings the consent that is missing, or undoes a signal.
fn ends_the_watch(failure: &Failure) -> bool {
    matches!(failure.class(), Class::Interrupted(_) | Class::Usage) || failure.code().starts_with("spark::consent::")
}

/// Runs the cases once. `typed` is the input that a person typed, if it was asked for before.
fn once(
    args: &TestArgs,
    target: &Target,
    ask: &(impl Ask + Sync),
    typed: &mut Option<String>,
    context: &Context,
) -> Result<Outcome, Failure> {
    let settings = &context.settings;
    let mut request = TestRequest {
        target,
        tool: args.tool.as_ref(),
        input: InputArgs { whole: args.input.as_deref(), arguments: &args.arguments },
        pattern: args.case.as_deref(),
        timeout: args.timeout,
        variables: &args.variables,
        torture: args.torture,
        lists: args.list,
    };
    if let Some(tool) = &args.tool
        && typed.is_none()
        && request.input.is_empty()
        && ask.unable().is_none()
    {
        *typed = Some(form::fill(ask, &test::input_schema(settings, &request, tool)?)?);
    }
    request.input.whole = typed.as_deref().or(request.input.whole);
    let plan = test::plan(settings, &request)?;
    if args.list {
        context.report.listed_cases(&plan)?;
        return Ok(Outcome::Yes);
    }
    let number = plan.cases.len();
    let options = RunOptions { jobs: usize::from(args.jobs), fail_fast: args.fail_fast, update: args.update };
    let watch = || -> Arc<dyn Watch> { Arc::new(WatchCases::new(&context.report, number)) };
    let mut report = entry::block_on(test::run(settings, ask, plan, options, watch))??;
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
