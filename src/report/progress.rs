//! How far a long piece of work is: a bar on stderr, on a terminal alone, once it takes more than half a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Reporter;

/// What is faster than this needs no bar (design §6).
const SHOWN_AFTER: Duration = Duration::from_millis(500);

/// A bar from its first step to its drop, which clears it.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
    may_show: bool,
}

impl Progress {
    /// Begins a piece of work of `total` steps; `None` if nobody knows how many.
    pub(crate) fn begin(reporter: &Reporter, what: &str, total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let template = if total.is_some() { "{msg} {wide_bar} {pos}/{len}" } else { "{spinner} {msg} {elapsed}" };
        bar.set_style(ProgressStyle::with_template(template).expect("the templates above are valid"));
        bar.set_message(crate::base::text::visible(what).into_owned());
        reporter.set_bar(&bar);
        Self { bar, begun: Instant::now(), may_show: reporter.may_animate() }
    }

    /// Says what is being worked on.
    pub(crate) fn say(&mut self, what: &str) {
        let done = self.bar.position();
        self.set(done, Some(what));
    }

    /// Moves the bar by one step.
    pub(crate) fn step(&mut self) {
        let done = self.bar.position();
        self.set(done + 1, None);
    }

    /// Moves the bar. `what` replaces the words beside it.
    pub(crate) fn set(&mut self, done: u64, what: Option<&str>) {
        if let Some(what) = what {
            self.bar.set_message(crate::base::text::visible(what).into_owned());
        }
        self.bar.set_position(done);
        if self.may_show && self.begun.elapsed() >= SHOWN_AFTER {
            self.may_show = false;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
