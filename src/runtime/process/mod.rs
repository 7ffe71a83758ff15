//! The `process` adapter: a child a call, or one child for many (process-protocol).
//!
//! A child has one task that moves its bytes; what they mean is `protocol::Session`'s to say. A caller writes its own
//! frame when the pipe has room and is woken by the child's task: no other task is in between. Everything that waits has
//! a deadline, everything that grows a limit, and a child is never left: it is stopped with its tree before a per-call
//! answer is given out.

mod driver;
mod error;
mod host;
mod keep;
mod launch;
mod tail;
mod torture;

#[cfg(test)]
mod bench;
#[cfg(test)]
mod keep_tests;
#[cfg(test)]
mod tests;

pub(crate) use error::ProcessError;
pub(crate) use host::ProcessHost;
pub(crate) use launch::{Inherited, Invocation, Launch};
pub(crate) use torture::{Ordeal, Sample, Scenario};
