//! Reading the record of calls.

use miette::Diagnostic;
use thiserror::Error;

use super::Settings;
use crate::base::failure::{Class, Failing, Failure};
use crate::base::text::visible;
use crate::store::{Access, Store};
pub(crate) use crate::store::{PAGE_DEFAULT, PAGE_MAX, Trace, TraceFilter, TracePage};

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum TraceError {
    #[error("there is no trace `{id}`")]
    #[diagnostic(code(spark::trace::unknown), help("`spark-tool trace list` shows the newest ones"))]
    Unknown { id: String },
}

impl Failing for TraceError {
    fn class(&self) -> Class {
        match self {
            Self::Unknown { .. } => Class::Unusable,
        }
    }
}

/// Returns a page of calls, newest first.
pub(crate) fn list(settings: &Settings, filter: &TraceFilter, limit: u32, offset: u64) -> Result<TracePage, Failure> {
    Ok(open(settings)?.traces(filter, limit, offset)?)
}

/// Returns one call.
pub(crate) fn show(settings: &Settings, id: &str) -> Result<Trace, Failure> {
    let trace = open(settings)?.trace(id)?;
    Ok(trace.ok_or_else(|| TraceError::Unknown { id: visible(id).into_owned() })?)
}

fn open(settings: &Settings) -> Result<Store, Failure> {
    let home = settings.home()?;
    Ok(Store::open(home, Access::Read)?)
}
