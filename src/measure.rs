//! The benchmark's door to what no command shows by itself. Not part of the program: behind the feature `test-tools`.

use std::path::Path;
use std::time::Duration;

/// What traces cost.
#[derive(Debug)]
pub struct Traces {
    /// Bare SQLite: one row, one commit.
    pub one_commit: Duration,
    /// The rows of one call.
    pub per_call: Duration,
    /// Calls recorded a second, 32 at a time.
    pub rows_per_second: f64,
}

/// Measures in `folder`, which is made.
#[must_use]
pub fn traces(folder: &Path) -> Traces {
    let crate::store::TraceCosts { one_commit, per_call, rows_per_second } = crate::store::traces_measured(folder);
    Traces { one_commit, per_call, rows_per_second }
}
