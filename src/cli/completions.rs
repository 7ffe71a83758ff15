//! Shell completion. The shell's code asks this program for candidates, so that they can be live ids and names.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use clap_complete::env::{Bash, CompleteEnv, Elvish, EnvCompleter, Fish, Powershell, Zsh};
use serde::Serialize;

use super::context::Context;
use super::exit::Outcome;
use super::globals::GlobalArgs;
use super::settings::{COMPLETE, Surroundings};
use super::{candidates, usage};
use crate::base::failure::Failure;
use crate::ops::Interrupt;

const PROGRAM: &str = "spark-tool";

/// Print shell code that completes commands, flags and names
///
/// Add it to the shell's start file, as in: spark-tool completions bash >> ~/.bashrc
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    #[value(name = "powershell")]
    Power,
    Elvish,
}

#[derive(Serialize)]
struct CompletionsWire<'a> {
    shell: &'a str,
    script: &'a str,
}

pub(super) fn run(args: &CompletionsArgs, context: &Context) -> Result<Outcome, Failure> {
    let completer: &dyn EnvCompleter = match args.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
        Shell::Power => &Powershell,
        Shell::Elvish => &Elvish,
    };
    let mut script = Vec::new();
    completer.write_registration(COMPLETE, PROGRAM, PROGRAM, PROGRAM, &mut script).expect("writing to memory doesn't fail");
    let script = String::from_utf8(script).expect("the code of every shell is text");
    let data = CompletionsWire { shell: completer.name(), script: &script };
    context.report.answer(true, &data, |_| script.clone())?;
    Ok(Outcome::Yes)
}

/// Answers a shell that asks for candidates. It writes to stdout itself; a shell that went away is none of its
/// worries.
pub(super) fn answer_shell(surroundings: &Surroundings) {
    let args: Vec<OsString> = std::env::args_os().collect();
    // The line that is being typed stands behind `--`, the program's name first.
    let words: Vec<OsString> = args.iter().skip_while(|arg| *arg != "--").skip(1).cloned().collect();
    let globals = GlobalArgs { home: usage::home_in(&words), ..GlobalArgs::default() };
    let Ok(settings) = surroundings.settings(&globals, Interrupt::new()) else { return };
    let folder = settings.folder.clone();
    let engine = CompleteEnv::with_factory(|| candidates::definition(settings.clone(), words.clone()));
    drop(engine.try_complete(args, Some(&folder)));
}
