//! One tool, many inputs, one host: outcomes in the order of the inputs.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;

use super::lines::LineSource;
use super::open::OpenTool;
use super::outcome::CallOutcome;
use super::road::{Authority, CallRequest, Caller, Road};
use crate::base::json;
use crate::ops::Consent;
use crate::runtime::Silent;

/// How many outcomes may wait for an earlier one, for each call in flight.
const AHEAD: usize = 8;

/// What the calls of a list share.
#[derive(Clone)]
pub(crate) struct EachCall {
    pub(crate) tool: Arc<OpenTool>,
    /// Given once for the whole list; `None` for a tool that runs unasked.
    pub(crate) consent: Option<Consent>,
    pub(crate) timeout: Duration,
    pub(crate) parallel: usize,
}

/// Calls the tool once for each line and hands the outcomes to `give`, in the order of the lines, until it has enough.
/// Reads no further ahead than it can work on. A line that is no JSON has an outcome too.
pub(crate) async fn each<E>(
    road: &Arc<Road>,
    call: &EachCall,
    lines: &mut LineSource,
    mut give: impl FnMut(Vec<CallOutcome>) -> Result<ControlFlow<()>, E>,
) -> io::Result<Result<(), E>> {
    let mut running = JoinSet::new();
    let mut early: BTreeMap<u64, CallOutcome> = BTreeMap::new();
    let (mut begun, mut given) = (0_u64, 0_u64);
    let mut is_at_end = false;
    loop {
        let has_room = running.len() < call.parallel && early.len() < call.parallel.saturating_mul(AHEAD);
        let reads = has_room && !is_at_end && road.interrupt.signal().is_none();
        if !reads && running.is_empty() {
            break;
        }
        tokio::select! {
            biased;
            Some(first) = running.join_next(), if !running.is_empty() => {
                let mut next = Some(first);
                while let Some(task) = next {
                    let (number, outcome) = task.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
                    early.insert(number, outcome);
                    next = running.try_join_next();
                }
                // All that are ready go out in one piece.
                let mut batch = Vec::new();
                while let Some(outcome) = early.remove(&given) {
                    given += 1;
                    batch.push(outcome);
                }
                match give(batch) {
                    Ok(ControlFlow::Continue(())) => {}
                    // Nobody wants to hear more: no call is begun any more, those that run come to their end.
                    Ok(ControlFlow::Break(())) => is_at_end = true,
                    Err(error) => return Ok(Err(error)),
                }
            }
            line = lines.next(), if reads => match line? {
                None => is_at_end = true,
                Some(line) => {
                    let (road, call, number) = (Arc::clone(road), call.clone(), begun);
                    begun += 1;
                    running.spawn(async move { (number, one(&road, &call, line).await) });
                }
            },
            _interrupted = road.interrupt.raised(), if reads => {}
        }
    }
    Ok(Ok(()))
}

async fn one(road: &Road, call: &EachCall, line: Vec<u8>) -> CallOutcome {
    let request = |input: Value| CallRequest {
        package: &call.tool.package,
        tool: Arc::clone(&call.tool.tool),
        launch: Arc::clone(&call.tool.launch),
        input,
        caller: Caller::Terminal,
        authority: call.consent.as_ref().map_or(Authority::Unasked, Authority::Given),
        timeout: call.timeout,
    };
    let input = json::parse(&line);
    // It may have 4 MiB, and the call may take long.
    drop(line);
    match input {
        Ok(input) => road.call(request(input), &Silent).await,
        Err(fault) => road.refuse(&request(Value::Null), &fault),
    }
}
