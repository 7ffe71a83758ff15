//! What is found in a manifest: coded, located, with advice.

use crate::base::json::{Place, Span};

use super::Code;

/// How much a finding weighs. `--strict` counts warnings as errors, never advice (design §6, `validate`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Severity {
    Advice,
    Warning,
    Error,
}

impl Severity {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Advice => "advice",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One thing to say about a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) code: Code,
    pub(crate) severity: Severity,
    /// Lowercase, values in backticks, no period. May hold text from the file: not yet made visible.
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// RFC 6901; `""` is the document.
    pub(crate) pointer: String,
    /// Bytes of the file; `None` for what stands in no file (a missing manifest, a folder's fault).
    pub(crate) span: Option<Span>,
    pub(crate) place: Option<Place>,
}
