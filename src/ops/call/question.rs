//! The question before a call that may change something.

use serde_json::Value;

use super::prepare::{Prepared, PreparedTool};
use crate::base::text::{cut, visible};
use crate::ops::Question;
use crate::ops::screen::{Powers, row, tool_line};

/// Characters of the input that the screen shows.
const INPUT_SHOWN: usize = 2_000;

/// Asks whether `tool` may be called with `input`.
pub(crate) fn call_question(package: &Prepared, tool: &PreparedTool, input: &Value) -> Question {
    let mut lines = Powers { manifest: &package.manifest, program: package.program.as_deref(), root: &package.root }.lines();
    lines.push(tool_line(&tool.definition));
    lines.push(row("input", &cut(&visible(&input.to_string()), INPUT_SHOWN)));
    let name = format!("{}/{}", package.manifest.id, tool.definition.name);
    Question {
        screen: lines.join("\n"),
        prompt: format!("Call {name}, which may {}?", effect_words(&tool.definition)),
        subject: format!("the call of {name}"),
        flag: "--yes",
    }
}

/// Asks once for the calls of a whole list of inputs.
pub(crate) fn calls_question(package: &Prepared, tool: &PreparedTool) -> Question {
    let mut lines = Powers { manifest: &package.manifest, program: package.program.as_deref(), root: &package.root }.lines();
    lines.push(tool_line(&tool.definition));
    let name = format!("{}/{}", package.manifest.id, tool.definition.name);
    Question {
        screen: lines.join("\n"),
        prompt: format!("Call {name}, which may {}, once for every input?", effect_words(&tool.definition)),
        subject: format!("the calls of {name}"),
        flag: "--yes",
    }
}

fn effect_words(tool: &crate::tool::ToolDefinition) -> &'static str {
    use crate::tool::{Effect, Risk};
    match (tool.safety.risk, tool.safety.effect) {
        (Risk::Destructive, _) => "destroy things for good",
        (_, Effect::Read) => "read",
        (_, Effect::Create) => "create things",
        (_, Effect::Update) => "change things",
        (_, Effect::Delete) => "delete things",
        (_, Effect::Send) => "send things to others",
        (_, Effect::Publish) => "publish things",
    }
}
