//! What a bug of ours looks like from outside: one clear message, exit 70, nothing of the values in play.

use std::panic::PanicHookInfo;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use miette::Diagnostic;
use thiserror::Error;

use crate::base::failure::{Class, Failing};
use crate::report::Reporter;

/// Says whether a thread of this process panicked.
#[derive(Clone, Debug, Default)]
pub(super) struct Panicked(Arc<AtomicBool>);

impl Panicked {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Error, Diagnostic)]
#[error("this is a bug in spark-tool {}, at {place}{what}", env!("CARGO_PKG_VERSION"))]
#[diagnostic(code(spark::bug), help("please report this message and the command that led to it"))]
struct Bug {
    place: String,
    what: String,
}

impl Failing for Bug {
    fn class(&self) -> Class {
        Class::Bug
    }
}

/// Replaces the standard hook, which would print the panic's text and so, perhaps, a secret (hardening K-5).
pub(super) fn report_panics_to(reporter: Reporter) -> Panicked {
    let panicked = Panicked::default();
    let set = panicked.clone();
    std::panic::set_hook(Box::new(move |info| {
        // A second panic, maybe in the report of the first, adds nothing.
        if !set.0.swap(true, Ordering::Relaxed) {
            reporter.failure_if_free(&bug(info).into());
        }
    }));
    panicked
}

fn bug(info: &PanicHookInfo<'_>) -> Bug {
    let place =
        info.location().map_or_else(|| "an unknown place".to_owned(), |location| format!("{}:{}", location.file(), location.line()));
    // A literal is ours. A formatted text may hold anything and is left out.
    let what = info.payload().downcast_ref::<&'static str>().map_or_else(String::new, |text| format!(": {text}"));
    Bug { place, what }
}
