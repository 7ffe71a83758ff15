//! What carries a call out: one folder an adapter.
//!
//! An adapter gets a checked input and gives back what the tool said, or one typed error. Consent, schemas and traces are
//! the pipeline's (`ops::call`), the only caller.

mod events;
pub(crate) mod process;

pub(crate) use events::{EventSink, Silent};
