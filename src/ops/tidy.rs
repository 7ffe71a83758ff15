//! What a process that died in the middle of an install or a removal left, finished or undone by the next command.

use std::time::Duration;

use super::Settings;
use crate::base::failure::Failure;
use crate::base::layout::Layout;
use crate::package::{TreeLock, has_leftovers, sweep};
use crate::store::{Access, Store};

/// Sweeps if something was left and nobody is at work. One look at a folder where there is nothing to do.
pub(crate) fn tidy(settings: &Settings) {
    let Ok(home) = settings.home() else { return };
    let layout = Layout::new(home);
    if !has_leftovers(&layout) {
        return;
    }
    // Whoever holds the lock is at work, and sweeps before it begins. A store that can't be opened is told of by the
    // command that needs it.
    let Ok(lock) = TreeLock::take(&layout, Duration::ZERO, || {}) else { return };
    let Ok(store) = Store::open(home, Access::Read) else { return };
    let _next_time = sweep_with(&lock, &store);
}

/// As [`tidy`] for whoever holds the lock.
pub(super) fn sweep_with(lock: &TreeLock, store: &Store) -> Result<(), Failure> {
    sweep::<Failure>(lock, |id, version| Ok(store.has_version(id, version)?)).map(|_| ())
}
