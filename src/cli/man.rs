//! Manual pages, made from the definition of the commands.

use std::path::PathBuf;

use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;
use miette::Diagnostic;
use serde::Serialize;
use thiserror::Error;

use super::commands::Cli;
use super::context::Context;
use super::exit::Outcome;
use crate::base::failure::{Class, Failing, Failure};
use crate::base::files::write_atomically;

/// Print a manual page
///
/// Read it with: spark-tool man validate | man -l -
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The command whose page it is (default: the program's)
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,

    /// Write all pages into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct ManWire<'a> {
    pages: &'a [PageWire],
}

#[derive(Serialize)]
struct PageWire {
    name: String,
    text: String,
}

#[derive(Debug, Error, Diagnostic)]
pub(super) enum ManError {
    #[error("there is no command `{name}`")]
    #[diagnostic(code(spark::man::no_page), help("`spark-tool help` lists the commands"))]
    NoPage { name: String },
    #[error("cannot write the pages to `{}`", path.display())]
    #[diagnostic(code(spark::man::unwritable))]
    Unwritable { path: PathBuf, source: std::io::Error },
}

impl Failing for ManError {
    fn class(&self) -> Class {
        match self {
            Self::NoPage { .. } => Class::Usage,
            Self::Unwritable { .. } => Class::Unusable,
        }
    }
}

pub(super) fn run(args: &ManArgs, context: &Context) -> Result<Outcome, Failure> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let pages = match &args.out {
        Some(_) => all_pages(&program),
        None => vec![page(find(&program, &args.command)?)],
    };
    if let Some(folder) = &args.out {
        let unwritable = |source| ManError::Unwritable { path: folder.clone(), source };
        std::fs::create_dir_all(folder).map_err(unwritable)?;
        for page in &pages {
            write_atomically(&folder.join(&page.name), page.text.as_bytes()).map_err(unwritable)?;
        }
    }
    context.report.answer(true, &ManWire { pages: &pages }, |_| match &args.out {
        Some(_) => String::new(),
        None => pages.iter().map(|page| page.text.as_str()).collect(),
    })?;
    Ok(Outcome::Yes)
}

fn find<'a>(program: &'a Command, words: &[String]) -> Result<&'a Command, ManError> {
    let found = words.iter().try_fold(program, |command, word| command.find_subcommand(word));
    found.ok_or_else(|| ManError::NoPage { name: words.join(" ") })
}

fn all_pages(command: &Command) -> Vec<PageWire> {
    let mut pages = vec![page(command)];
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        pages.extend(all_pages(subcommand));
    }
    pages
}

fn page(command: &Command) -> PageWire {
    let source = concat!("spark-tool ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source).manual("Agent tools");
    let mut text = Vec::new();
    man.render(&mut text).expect("writing to memory doesn't fail");
    PageWire { name: man.get_filename(), text: String::from_utf8(text).expect("a page is text") }
}
