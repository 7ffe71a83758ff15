//! Use cases, one a file: what a command, an MCP operation or a test asks for, without a face.
//!
//! A use case takes values and the [`Settings`] of the run, and returns a value or one typed error. It never prints,
//! exits or reads the environment. Where a person has to be asked it is handed an [`Ask`].

mod ask;
pub(crate) mod call;
pub(crate) mod enable;
pub(crate) mod form;
pub(crate) mod gates;
mod input;
pub(crate) mod inspect;
pub(crate) mod install;
mod interrupt;
mod lookup;
pub(crate) mod packages;
pub(crate) mod permissions;
pub(crate) mod remove;
mod screen;
mod settings;
mod stdin;
mod target;
pub(crate) mod test;
mod tidy;
pub(crate) mod traces;
mod values;
pub(crate) mod variables;
mod verify;

pub(crate) mod demo;
pub(crate) mod init;
pub(crate) mod sample;
pub(crate) mod validate;
pub(crate) mod watch;

pub(crate) use ask::{Ask, AskError, AskOnce, Choice, Consent, Field, How, NoAsking, Question};
pub(crate) use input::{InputArgs, assemble};
pub(crate) use interrupt::{Interrupt, Interrupted};
pub(crate) use settings::{Environment, Home, Settings, SettingsError};
pub(crate) use target::{Target, TargetError, folder_or_installed, installed};
pub(crate) use tidy::tidy;
