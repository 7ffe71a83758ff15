//! `spark-tool-process-v1` as plain values: bytes and times in, frames and events out (process-protocol).
//!
//! No pipes, no clock, no tasks: `runtime::process` moves the bytes. What a broken frame means is decided here: the
//! process is over, since nothing after it can be trusted.

mod frame;
mod lines;
mod session;
#[cfg(test)]
mod transcript;

pub(crate) use frame::{InputTooLarge, PROTOCOL_VERSION};
pub(crate) use lines::{LineCodec, LineTooLong};
pub(crate) use session::{Call, Event, Expired, LogLine, Progress, Session, SessionFault, ToolError};
