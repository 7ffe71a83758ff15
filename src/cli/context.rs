//! What a command is handed beside its arguments.

use crate::ops::Settings;
use crate::ops::call::StoreError;
use crate::report::{Reporter, TerminalAsk};

pub(super) struct Context {
    pub(super) settings: Settings,
    pub(super) report: Reporter,
    pub(super) ask: TerminalAsk,
}

impl Context {
    /// Warns, once, that calls left no trace (hardening Q-4).
    pub(super) fn warn_untraced(&self, problem: Option<StoreError>) {
        if let Some(problem) = problem {
            self.report.warn(&format!("no trace was kept: {problem}"));
        }
    }
}
