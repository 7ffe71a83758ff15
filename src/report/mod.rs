//! What comes out: answers on stdout, everything else on stderr, for people or for programs; and the questions to
//! people, which come in here too. The only room that touches a terminal.
//!
//! Callers hand over domain values. JSON has wire structs of its own, so that a renamed field in the domain changes
//! no output. Text from outside is made visible before a terminal sees it.

mod call;
mod demo;
mod excerpt;
mod failure;
mod finding;
mod init;
mod install;
mod json;
mod junit;
mod log;
mod packages;
mod progress;
mod prompt;
mod reporter;
mod sarif;
mod test;
mod trace;
mod validate;

pub(crate) use call::LiveCall;
pub(crate) use demo::DemoStep;
pub(crate) use install::InstallProgress;
pub(crate) use log::Log;
pub(crate) use progress::Progress;
pub(crate) use prompt::TerminalAsk;
pub(crate) use reporter::{Format, Look, OutputError, Reporter, ReporterSetup};
pub(crate) use test::WatchCases;
