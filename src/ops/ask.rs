//! Asking a person: one decision with several faces (design §3). The terminal's face is `report::prompt`.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use miette::Diagnostic;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use super::Interrupted;
use crate::base::failure::{Class, Failing};

/// Something a person must agree to before it happens.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Everything that will happen, in lines. Every text of a package in it is already one visible line.
    pub(crate) screen: String,
    /// The question itself, without `[y/N]`.
    pub(crate) prompt: String,
    /// What is refused if nobody agrees: `test`, `the call of demo.hello/send`.
    pub(crate) subject: String,
    /// The flag that would agree.
    pub(crate) flag: &'static str,
}

/// That somebody agreed, to what, and how. A use case with an effect takes one; only an [`Ask`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Consent {
    how: How,
    shown: String,
}

impl Consent {
    /// Makes the record of a yes to `question`.
    pub(crate) fn to(question: &Question, how: How) -> Self {
        let shown = format!("{}\n{}", question.screen, question.prompt);
        Self { how, shown: data_encoding::HEXLOWER.encode(&Sha256::digest(shown.as_bytes())) }
    }

    pub(crate) fn how(&self) -> How {
        self.how
    }

    /// Returns the SHA-256 of what was shown, in hex.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }
}

/// How an answer was given (design §6, consent).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Terminal,
    Flag,
}

/// One of several things to pick.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) name: String,
    pub(crate) description: String,
}

/// A text to type.
pub(crate) struct Field<'a> {
    pub(crate) label: String,
    pub(crate) help: Option<String>,
    /// What an empty line means. Without one the question comes again.
    pub(crate) default: Option<String>,
    /// Says what is wrong with a text; the question then comes again.
    pub(crate) check: &'a dyn Fn(&str) -> Result<(), String>,
}

/// Somebody who can be asked.
pub(crate) trait Ask {
    /// Asks for a yes. Anything else, an empty line and the end of input included, is [`AskError::Declined`].
    fn confirm(&self, question: &Question) -> Result<Consent, AskError>;

    /// Says why nobody can be asked to choose or type, if so. `--yes` has no say here: it agrees, it knows nothing.
    fn unable(&self) -> Option<NoAsking>;

    /// Returns the index of the chosen one.
    fn choose(&self, label: &str, choices: &[Choice]) -> Result<usize, AskError>;

    fn text(&self, field: &Field<'_>) -> Result<String, AskError>;
}

/// Asks again only when something else is shown than last time: for a command that does the same over and over.
pub(crate) struct AskOnce<'a, A> {
    ask: &'a A,
    given: Mutex<Option<Consent>>,
}

impl<'a, A: Ask> AskOnce<'a, A> {
    pub(crate) fn new(ask: &'a A) -> Self {
        Self { ask, given: Mutex::default() }
    }
}

impl<A: Ask> Ask for AskOnce<'_, A> {
    fn confirm(&self, question: &Question) -> Result<Consent, AskError> {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(consent) = given.as_ref()
            && *consent == Consent::to(question, consent.how())
        {
            return Ok(consent.clone());
        }
        let consent = self.ask.confirm(question)?;
        Ok(given.insert(consent).clone())
    }

    fn unable(&self) -> Option<NoAsking> {
        self.ask.unable()
    }

    fn choose(&self, label: &str, choices: &[Choice]) -> Result<usize, AskError> {
        self.ask.choose(label, choices)
    }

    fn text(&self, field: &Field<'_>) -> Result<String, AskError> {
        self.ask.text(field)
    }
}

/// Why there is nobody to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAsking {
    NoTerminal,
    NoInput,
    Ci,
}

impl fmt::Display for NoAsking {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NoTerminal => "there is no terminal to ask on",
            Self::NoInput => "--no-input forbids to ask",
            Self::Ci => "the variable CI says that nobody is there to ask",
        })
    }
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum AskError {
    #[error("{subject} needs your consent, and {why}")]
    #[diagnostic(code(spark::consent::required), help("read what it will do, then pass {flag} to agree"))]
    Required { subject: String, why: NoAsking, flag: &'static str },
    #[error("{subject} was declined")]
    #[diagnostic(code(spark::consent::declined), help("nothing was done; only `y` or `yes` agrees"))]
    Declined { subject: String },
    #[error("nobody answered: the input ended")]
    #[diagnostic(code(spark::consent::no_answer), help("nothing was done; give the value as a flag or an argument"))]
    NoAnswer,
    #[error("cannot ask {label}: {why}")]
    #[diagnostic(code(spark::consent::nobody), help("give the value as a flag or an argument"))]
    Nobody { label: String, why: NoAsking },
    #[error("cannot read the answer from the terminal")]
    #[diagnostic(code(spark::consent::terminal))]
    Terminal(#[source] std::io::Error),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Interrupted(#[from] Interrupted),
}

impl Failing for AskError {
    fn class(&self) -> Class {
        match self {
            Self::Required { .. } | Self::Declined { .. } | Self::NoAnswer => Class::NotAllowed,
            Self::Nobody { .. } => Class::Usage,
            Self::Terminal(_) => Class::Machine,
            Self::Interrupted(interrupted) => interrupted.class(),
        }
    }

    fn details(&self) -> serde_json::Value {
        match self {
            Self::Required { flag, .. } => serde_json::json!({ "flag": flag }),
            Self::Declined { .. } | Self::NoAnswer | Self::Nobody { .. } | Self::Terminal(_) | Self::Interrupted(_) => {
                serde_json::json!({})
            }
        }
    }
}
