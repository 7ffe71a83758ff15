//! `validate`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::context::Context;
use super::exit::Outcome;
use super::usage::UsageError;
use crate::base::failure::Failure;
use crate::manifest::Client;
use crate::ops::validate::{self, ValidateError, ValidateRequest};
use crate::ops::watch::Watch;
use crate::report::Format;

/// Check packages and manifests without installing them
///
/// Nothing of a package runs. Every mistake is found in one go, with its place. Exit 1 says that something was found.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct ValidateArgs {
    /// Folders, manifests, or - for a manifest on stdin (default: this folder)
    #[arg(value_name = "PATH", default_value = ".", hide_default_value = true)]
    paths: Vec<PathBuf>,

    /// Check every package below the folders
    #[arg(short, long)]
    recursive: bool,

    /// Count warnings as errors
    #[arg(long)]
    strict: bool,

    /// Repair what has one right answer, then check; all else in the file stays as it is
    #[arg(long)]
    fix: bool,

    /// Warn of what this client would refuse, cut or misread, too; may be given more than once
    #[arg(long, value_name = "CLIENT", value_enum, value_delimiter = ',')]
    client: Vec<ClientName>,

    /// Check again whenever something changes, until Ctrl-C
    #[arg(short, long)]
    watch: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ClientName {
    Claude,
    Codex,
    Cursor,
    Vscode,
    Gemini,
}

impl From<ClientName> for Client {
    fn from(name: ClientName) -> Self {
        match name {
            ClientName::Claude => Self::Claude,
            ClientName::Codex => Self::Codex,
            ClientName::Cursor => Self::Cursor,
            ClientName::Vscode => Self::Vscode,
            ClientName::Gemini => Self::Gemini,
        }
    }
}

pub(super) fn run(args: &ValidateArgs, context: &Context) -> Result<Outcome, Failure> {
    let request = ValidateRequest {
        paths: args.paths.clone(),
        strict: args.strict,
        recursive: args.recursive,
        fix: args.fix,
        clients: args.client.iter().copied().map(Client::from).collect(),
    };
    if args.watch {
        return watch(&request, context);
    }
    let validated = validate::validate(&context.settings, &request)?;
    context.report.validated(&validated)?;
    Ok(Outcome::from_ok(validated.is_valid()))
}

fn watch(request: &ValidateRequest, context: &Context) -> Result<Outcome, Failure> {
    if !matches!(context.report.format(), Format::Human | Format::Json) {
        return Err(UsageError::new("--watch writes text or JSON alone", "leave out --watch or --format").into());
    }
    if request.paths.iter().any(|path| path == Path::new("-")) {
        return Err(UsageError::new("stdin can't be watched", "--watch takes files and folders").into());
    }
    let paths: Vec<PathBuf> = request.paths.iter().map(|path| context.settings.resolve(path)).collect();
    let watch = Watch::on(&paths)?;
    context.report.begin_stream();
    while !context.report.is_closed() {
        match validate::validate(&context.settings, request) {
            Ok(validated) => context.report.validated(&validated)?,
            Err(ValidateError::Interrupted(interrupted)) => return Err(interrupted.into()),
            // A file may be away while an editor saves it.
            Err(error) => context.report.failure(&error.into())?,
        }
        context.report.hint("checked; waiting for changes, Ctrl-C ends");
        watch.wait(&context.settings.interrupt)?;
    }
    Ok(Outcome::Yes)
}
