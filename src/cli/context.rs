//! What a command is handed beside its arguments.

use crate::ops::Settings;
use crate::report::{Reporter, TerminalAsk};

pub(super) struct Context {
    pub(super) settings: Settings,
    pub(super) report: Reporter,
    pub(super) ask: TerminalAsk,
}
