//! What `demo` did.

use std::time::Duration;

use serde::Serialize;

use super::{Format, OutputError, Reporter};
use crate::base::text::count;

/// One command of the demo.
#[derive(Debug)]
pub(crate) struct DemoStep {
    pub(crate) command: String,
    pub(crate) exit: u8,
    pub(crate) duration: Duration,
}

#[derive(Serialize)]
struct DemoWire<'a> {
    steps: Vec<StepWire<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StepWire<'a> {
    command: &'a str,
    exit: u8,
    duration_ms: u64,
}

impl<'a> From<&'a DemoStep> for StepWire<'a> {
    fn from(step: &'a DemoStep) -> Self {
        let DemoStep { command, exit, duration } = step;
        Self { command, exit: *exit, duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX) }
    }
}

impl Reporter {
    /// Shows a command before it runs.
    pub(crate) fn demo_command(&self, command: &str) -> Result<(), OutputError> {
        match self.format() {
            Format::Human => self.rendered(&format!("\u{1b}[1m$ {command}\u{1b}[0m\n")),
            Format::Json | Format::Sarif | Format::Github | Format::Junit => Ok(()),
        }
    }

    pub(crate) fn demo(&self, steps: &[DemoStep]) -> Result<(), OutputError> {
        let is_done = steps.iter().all(|step| step.exit == 0);
        let data = DemoWire { steps: steps.iter().map(StepWire::from).collect() };
        self.answer(is_done, &data, |_| {
            let commands = count(steps.len() as u64, "command");
            if is_done { format!("{commands}, all done; nothing is left behind\n") } else { format!("ended after {commands}\n") }
        })
    }
}
