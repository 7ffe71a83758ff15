//! The command line: clap, settings, one command a file, exit codes.
//!
//! A command file parses, calls one function of `ops`, hands the value to `report` and returns an [`exit::Outcome`].
//! Nothing here prints, and only `entry.rs` ends.

mod call;
mod candidates;
mod commands;
mod context;
mod duration;
mod enable;
mod entry;
mod env;
mod exit;
mod globals;
mod interrupt;
mod packages;
mod panic;
mod permissions;
mod settings;
mod usage;

mod completions;
mod demo;
mod help;
mod init;
mod install;
mod man;
mod sample;
mod test;
mod trace;
mod validate;

pub use entry::main;
