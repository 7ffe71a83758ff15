//! SIGINT, SIGTERM and SIGHUP: the first asks the command to stop and waits for it a stated time, the second ends the
//! process at once. Exit codes 130, 143 and 129 either way.
//!
//! A thread waits for the signals, which are blocked in all others, so no code runs inside a handler. Children start
//! with an empty mask (`child/spawn.rs` sees to it) and so don't inherit the block.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::exit;
use crate::base::failure::Class;
use crate::base::limits::STOP_REAP;
use crate::ops::{Interrupt, Interrupted};
use crate::report::Reporter;

/// What a command without children may take to notice (ours: a person's patience is longer than any step between two
/// looks, and a read that never ends shall not hold the process).
const NOTICE: Duration = Duration::from_millis(300);
/// What a command with children may take: their stop, and a second to close its books.
const STOP: Duration = STOP_REAP.saturating_add(Duration::from_secs(1));

/// Set once a command has children to stop.
static MAY_TAKE_TIME: AtomicBool = AtomicBool::new(false);

/// Gives the command that runs now the time to stop its children politely.
pub(super) fn allow_time_to_stop() {
    MAY_TAKE_TIME.store(true, Ordering::Relaxed);
}

/// Begins to listen. Must come before any other thread is started.
pub(super) fn listen(interrupt: Interrupt, reporter: Reporter) {
    system::on_signals(move |signal, is_first| {
        if !is_first {
            end(&reporter, signal);
        }
        interrupt.raise(signal);
        let reporter = reporter.clone();
        std::thread::spawn(move || {
            std::thread::sleep(if MAY_TAKE_TIME.load(Ordering::Relaxed) { STOP } else { NOTICE });
            end(&reporter, signal);
        });
    });
}

/// Ends the process in the middle of whatever it does. What is half done is in `staging/` or a transaction; the next
/// start sweeps it.
#[expect(clippy::disallowed_methods, clippy::exit, reason = "the main thread may never come back to return a code")]
fn end(reporter: &Reporter, signal: i32) -> ! {
    reporter.failure_if_free(&Interrupted { signal }.into());
    std::process::exit(i32::from(exit::of_class(Class::Interrupted(signal))))
}

#[cfg(unix)]
mod system {
    use nix::sys::signal::{SigSet, Signal};

    /// Calls `heard` for each signal on a thread of its own, with whether it is the first.
    pub(super) fn on_signals(heard: impl Fn(i32, bool) + Send + 'static) {
        let mut signals = SigSet::empty();
        let ignored = ignored();
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            if ignored & (1 << (signal as i32 - 1)) == 0 {
                signals.add(signal);
            }
        }
        // Without the block the default action ends the process, with the exit code that a shell expects.
        if signals.thread_block().is_err() {
            return;
        }
        let listener = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let mut is_first = true;
            while let Ok(signal) = signals.wait() {
                heard(signal as i32, is_first);
                is_first = false;
            }
        });
        if listener.is_err() {
            let _unblocked = signals.thread_unblock();
        }
    }

    /// Returns the signals that whoever started us had ignored, as `nohup` and a shell's `&` do, the first in the lowest
    /// bit. A blocked signal would be delivered all the same. Linux tells without an unsafe call; elsewhere none is.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
    }
}

#[cfg(not(unix))]
mod system {
    /// As SIGINT, for a console's Ctrl-C.
    const INTERRUPT: i32 = 2;

    pub(super) fn on_signals(heard: impl Fn(i32, bool) + Send + 'static) {
        drop(std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
            runtime.block_on(async {
                let mut is_first = true;
                while tokio::signal::ctrl_c().await.is_ok() {
                    heard(INTERRUPT, is_first);
                    is_first = false;
                }
            });
        }));
    }
}
