//! What a process that died in the middle of its work left, finished or undone by the next command: a half-done install
//! or removal, processes, traces.

use std::fs;
use std::time::Duration;

use super::Settings;
use crate::base::failure::Failure;
use crate::base::layout::Layout;
use crate::child::Ledger;
use crate::package::{TreeLock, has_leftovers, sweep};
use crate::store::{Access, Store};

/// Sweeps if something was left and nobody is at work. A look at three folders where there is nothing to do.
pub(crate) fn tidy(settings: &Settings) {
    let Ok(home) = settings.home() else { return };
    let layout = Layout::new(home);
    end_dead_hosts(settings, &layout);
    if !has_leftovers(&layout) {
        return;
    }
    // Whoever holds the lock is at work, and sweeps before it begins. A store that can't be opened is told of by the
    // command that needs it.
    let Ok(lock) = TreeLock::take(&layout, Duration::ZERO, || {}) else { return };
    let Ok(store) = Store::open(home, Access::Read) else { return };
    let _next_time = sweep_with(&lock, &store);
}

/// Ends the processes of hosts that were killed, and closes their traces. What can't be done now, the next command does.
fn end_dead_hosts(settings: &Settings, layout: &Layout) {
    let _swept = Ledger::new(layout.children()).sweep();
    let has_hosts = fs::read_dir(layout.hosts()).is_ok_and(|mut hosts| hosts.next().is_some());
    if has_hosts && let Ok(mut store) = Store::open_waiting(layout.home(), Access::Write, Duration::ZERO) {
        let _recovered = store.recover_traces(settings.clock.now());
    }
}

/// As [`tidy`] for whoever holds the lock.
pub(super) fn sweep_with(lock: &TreeLock, store: &Store) -> Result<(), Failure> {
    sweep::<Failure>(lock, |id, version| Ok(store.has_version(id, version)?)).map(|_| ())
}
