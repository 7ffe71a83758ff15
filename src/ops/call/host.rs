//! Opening the road: the store, the processes, the locale.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::recorder::Recorder;
use super::road::Road;
use super::turn::Turns;
use crate::child::Ledger;
use crate::ops::Settings;
use crate::runtime::process::{Inherited, ProcessHost};
use crate::store::{Access, Store, StoreError};

/// How long a call waits for a process that holds the database (ours: longer than any transaction but that of an install
/// of many thousand files; a trace never breaks a call, hardening Q-4).
const TRACE_WAIT: Duration = Duration::from_secs(2);

/// Opens the store for calls. On a home that can't be written it is read, and calls leave no trace (hardening I-8).
pub(crate) fn open_store(home: &Path) -> Result<Store, StoreError> {
    match Store::open_waiting(home, Access::Write, TRACE_WAIT) {
        Err(StoreError::ReadOnly { .. }) => Store::open(home, Access::Read),
        opened => opened,
    }
}

/// Opens the road. What a run that was killed left open is closed already (`ops::tidy`).
pub(crate) fn open_road(settings: &Settings, store: Store) -> Road {
    let ledger = Ledger::new(store.layout().children());
    let environment = settings.environment.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let inherited = Inherited::from_environment(environment.collect::<Vec<(OsString, OsString)>>());
    let recorder = Recorder::new(store);
    Road {
        host: ProcessHost::new(Arc::new(ledger), inherited),
        recorder,
        turns: Turns::default(),
        clock: settings.clock,
        interrupt: settings.interrupt.clone(),
        locale: locale(settings),
    }
}

/// Returns the language of the caller as a BCP 47 tag: `de-DE` of `LANG=de_DE.UTF-8`.
fn locale(settings: &Settings) -> Option<String> {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
    let value = names.iter().find_map(|name| settings.environment.filled(name))?.to_str()?;
    let tag = value.split(['.', '@']).next().unwrap_or_default().replace('_', "-");
    (!tag.is_empty() && tag != "C" && tag != "POSIX").then_some(tag)
}
