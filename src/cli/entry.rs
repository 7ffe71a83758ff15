//! From argv to an exit code: parse, dispatch, report.

use std::ffi::OsString;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use miette::Diagnostic;
use serde::Serialize;
use thiserror::Error;

use super::commands::Cli;
use super::context::Context;
use super::exit::{self, Outcome};
use super::help::HelpWire;
use super::settings::{COMPLETE, Surroundings, open_log};
use super::usage::{self, Parsed, UsageError};
use super::{completions, interrupt, panic};
use crate::base::failure::{Class, Failing, Failure};
use crate::ops::{self, Interrupt};
use crate::report::{Format, Reporter, TerminalAsk};

/// Runs the command of this process's arguments.
pub fn main() -> ExitCode {
    let surroundings = Surroundings::read();
    if surroundings.environment.filled(COMPLETE).is_some() {
        completions::answer_shell(&surroundings);
        return exit::code(0);
    }
    let args = usage::arguments();
    let _until_the_command_is_known = panic::report_panics_to(Reporter::new(surroundings.reporter("", &usage::globals_of(&args), None)));
    let parsed = usage::parse(&args, surroundings.width(), |color| surroundings.looks(color).0.color);
    let number = match parsed {
        Parsed::Command { name, cli } => run(&surroundings, &name, &cli),
        Parsed::Help(help) => text_answer(&surroundings, &args, "help", &HelpWire { text: &help.to_string() }, &help.ansi().to_string()),
        Parsed::Version => {
            let version = env!("CARGO_PKG_VERSION");
            text_answer(&surroundings, &args, "version", &VersionWire { version }, &format!("spark-tool {version}\n"))
        }
        Parsed::Missing { name, globals, error, help } => {
            let reporter = Reporter::new(surroundings.reporter(&name, &globals, None));
            if reporter.format() == Format::Json {
                finish(&reporter, Err(error.into()))
            } else {
                reporter.err(&help.ansi().to_string());
                exit::of_class(error.class())
            }
        }
        Parsed::Wrong { name, globals, error } => {
            let reporter = Reporter::new(surroundings.reporter(&name, &globals, None));
            finish(&reporter, Err(error.into()))
        }
    };
    exit::code(number)
}

#[derive(Serialize)]
struct VersionWire<'a> {
    version: &'a str,
}

/// Answers what needs no command: help and version.
fn text_answer<T: Serialize>(surroundings: &Surroundings, args: &[OsString], name: &str, data: &T, text: &str) -> u8 {
    let reporter = Reporter::new(surroundings.reporter(name, &usage::globals_of(args), None));
    let answered = reporter.answer(true, data, |_| text.to_owned());
    finish(&reporter, answered.map(|()| Outcome::Yes).map_err(Failure::from))
}

fn run(surroundings: &Surroundings, name: &str, cli: &Cli) -> u8 {
    let interrupt = Interrupt::new();
    let settings = surroundings.settings(&cli.globals, interrupt.clone());
    let log = open_log(&cli.globals);
    let (log, no_log) = log.map_or_else(|error| (None, Some(error)), |log| (log, None));
    let reporter = Reporter::new(surroundings.reporter(name, &cli.globals, log));
    let panicked = panic::report_panics_to(reporter.clone());
    interrupt::listen(interrupt.clone(), reporter.clone());
    reporter.log("start", name);

    let result = catch_unwind(AssertUnwindSafe(|| {
        if let Some(error) = no_log {
            return Err(error.into());
        }
        let settings = settings?;
        check_format(&reporter, name, cli)?;
        let ask = TerminalAsk {
            reporter: reporter.clone(),
            interrupt,
            agrees: cli.globals.yes,
            unable: surroundings.unable_to_ask(cli.globals.no_input),
        };
        ops::tidy(&settings);
        cli.command.run(&Context { settings, report: reporter.clone(), ask })
    }));
    let number = match result {
        Ok(result) => finish(&reporter, result),
        // The hook has said so.
        Err(_) => exit::of_class(Class::Bug),
    };
    // Another thread's panic is as much a bug as one of this thread.
    let number = if panicked.is_set() { exit::of_class(Class::Bug) } else { number };
    reporter.log("end", &format!("exit {number}"));
    number
}

/// Reports a failure, if it is one, and returns the exit code. A reader that went away has seen what it wanted.
pub(super) fn finish(reporter: &Reporter, result: Result<Outcome, Failure>) -> u8 {
    let number = match result {
        Ok(outcome) => exit::of_outcome(outcome),
        Err(failure) => {
            let number = exit::of_class(failure.class());
            match reporter.failure(&failure) {
                Ok(()) => number,
                Err(_) => exit::of_class(Class::Machine),
            }
        }
    };
    if reporter.is_closed() { 0 } else { number }
}

fn check_format(reporter: &Reporter, name: &str, cli: &Cli) -> Result<(), UsageError> {
    let format = reporter.format();
    let is_known = matches!(format, Format::Human | Format::Json) || cli.command.more_formats().contains(&format);
    if is_known {
        return Ok(());
    }
    Err(UsageError::new(format!("`{name}` can't write this format"), "sarif and github are for validate, junit is for validate and test"))
}

#[derive(Debug, Error, Diagnostic)]
#[error("this process can't wait for other processes")]
#[diagnostic(code(spark::cli::no_runtime), help("are there too many open files? `ulimit -n` tells the limit"))]
struct NoRuntime(#[source] std::io::Error);

impl Failing for NoRuntime {
    fn class(&self) -> Class {
        Class::Machine
    }
}

/// Runs `work` on the one async runtime, which is made now: most commands never need it. A signal leaves it the time
/// to end its children politely.
pub(super) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    interrupt::allow_time_to_stop();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(NoRuntime)?;
    Ok(runtime.block_on(work))
}
