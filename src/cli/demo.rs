//! `demo`.

use std::time::Instant;

use clap::{Args, Parser as _};

use super::commands::Cli;
use super::context::Context;
use super::entry;
use super::exit::{self, Outcome};
use crate::base::failure::Failure;
use crate::ops::demo::{self, Room};
use crate::ops::{NoAsking, Settings};
use crate::report::{DemoStep, TerminalAsk};

/// Show the whole life of a sample tool, in a temporary folder
///
/// Each command is printed before it runs. Nothing is left behind.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {}

pub(super) fn run(_args: &DemoArgs, context: &Context) -> Result<Outcome, Failure> {
    let room = Room::new()?;
    let settings = room.settings(&context.settings);
    let mut steps = Vec::new();
    for words in demo::commands(&settings) {
        let step = run_step(&words, &settings, context)?;
        let exit = step.exit;
        steps.push(step);
        if exit != 0 {
            break;
        }
    }
    if let Err(error) = room.close() {
        context.report.warn(&format!("the temporary folder could not be removed: {error}"));
    }
    context.report.demo(&steps)?;
    Ok(steps.iter().map(|step| exit::outcome_of(step.exit)).max().unwrap_or(Outcome::Yes))
}

/// Runs one command as if it had been typed.
fn run_step(words: &[&'static str], settings: &Settings, context: &Context) -> Result<DemoStep, Failure> {
    let name = words.first().copied().unwrap_or_default();
    let command = std::iter::once("spark-tool").chain(words.iter().copied()).collect::<Vec<_>>().join(" ");
    context.report.demo_command(&command)?;
    let cli = Cli::try_parse_from(std::iter::once("spark-tool").chain(words.iter().copied()))
        .expect("the demo's commands are constants, and a test runs them all");
    let report = context.report.for_step(name);
    let ask = TerminalAsk {
        reporter: report.clone(),
        interrupt: settings.interrupt.clone(),
        agrees: cli.globals.yes,
        unable: Some(NoAsking::NoInput),
    };
    let begun = Instant::now();
    let result = cli.command.run(&Context { settings: settings.clone(), report: report.clone(), ask });
    settings.interrupt.check()?;
    let exit = entry::finish(&report, result);
    Ok(DemoStep { command, exit, duration: begun.elapsed() })
}
