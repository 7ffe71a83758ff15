//! The one road of every call (design §3): resolve, parse, schema, authorize, execute, check output, redact, trace.
//!
//! Nothing else calls a runtime adapter, but `test --torture`, whose calls are none of a caller's. Each stage stops with its own code, and every exit leaves one trace row.

mod each;
mod host;
mod lines;
mod open;
mod outcome;
mod prepare;
mod question;
mod recorder;
mod road;
mod run;
mod turn;

pub(crate) use crate::runtime::EventSink;
pub(crate) use crate::store::StoreError;
pub(crate) use host::{open_road, open_store};
pub(crate) use open::{
    Gate, Installed, OpenError, OpenTool, config_layers, find_tool, find_tool_in, launch_of, make_data_folder, open_package, program_of,
};
pub(crate) use outcome::{CallError, CallFailure, CallOutcome, Stage, Status};
pub(crate) use prepare::{Prepared, PreparedTool};
pub(crate) use recorder::consent_record;
pub(crate) use road::{Authority, CallRequest, Caller, Road};
pub(crate) use run::{EachFrom, EachRequest, OneRequest, Planned, call_each, call_one, plan_one};
