//! What is remembered: packages and their versions, decisions, values, answers, traces. One SQLite database a home.
//!
//! Nothing here decides anything; it keeps rows true to each other and says what they are. Trees of files lie beside it
//! and are the business of `package`. A damaged or newer database is never written to.

mod change;
mod config;
mod consents;
mod convert;
mod create;
mod error;
mod home;
mod host;
#[cfg(feature = "test-tools")]
mod measure;
mod open;
mod packages;
mod record;
mod traces;

pub(crate) use change::{Removed, Uninstalled};
pub(crate) use config::{ConfigEntry, Setting, Target};
pub(crate) use consents::{ConsentRecord, Means, Reply};
pub(crate) use error::StoreError;
#[cfg(feature = "test-tools")]
pub(crate) use measure::{TraceCosts, traces as traces_measured};
pub(crate) use open::{Access, Store};
pub(crate) use packages::{BrokenPackage, InstalledVersion, Package, Provenance};
pub(crate) use record::{DeclaredPermission, NewVersion, Recorded};
pub(crate) use traces::{
    InvocationSource, PAGE_DEFAULT, PAGE_MAX, Trace, TraceEnd, TraceFilter, TraceKind, TraceOp, TraceOutcome, TracePage, TraceStart,
};
