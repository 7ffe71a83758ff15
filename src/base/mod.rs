//! The floor every room stands on: values without a world behind them, and the doors to clock, ids and files.
//!
//! Nothing here knows what a package or a tool is.

pub(crate) mod clock;
pub(crate) mod failure;
pub(crate) mod files;
pub(crate) mod id;
pub(crate) mod json;
pub(crate) mod layout;
pub(crate) mod limits;
pub(crate) mod redacted;
pub(crate) mod stamp;
pub(crate) mod text;
