//! Traces on their way to the store. What begins and ends in one turn of the loop shares a transaction; a row is
//! written as `running` before its call has an effect.
//!
//! A trace that can't be written never breaks a call: the first error is kept for a warning (hardening Q-4).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::clock::Timestamp;
use crate::manifest::Manifest;
use crate::ops::{Consent, How};
use crate::store::{ConsentRecord, Means, Reply, Store, StoreError, TraceOp};

/// How long an end may wait for company. A crash within it shows a call that had ended as one that was cut off.
const END_WAIT: Duration = Duration::from_millis(2);

/// Writes trace rows. Clones share it.
#[derive(Clone)]
pub(crate) struct Recorder(Arc<Shared>);

struct Shared {
    store: Mutex<Store>,
    waiting: Mutex<Vec<TraceOp>>,
    /// How many batches were written: whoever waits sees by it that somebody else wrote for him.
    batches: AtomicU64,
    has_flusher: AtomicBool,
    problem: Mutex<Option<StoreError>>,
}

impl Recorder {
    pub(crate) fn new(store: Store) -> Self {
        Self(Arc::new(Shared {
            store: Mutex::new(store),
            waiting: Mutex::default(),
            batches: AtomicU64::new(0),
            has_flusher: AtomicBool::new(false),
            problem: Mutex::default(),
        }))
    }

    /// Returns when the row is written, or can't be.
    pub(crate) async fn begin(&self, begin: TraceOp) {
        locked(&self.0.waiting).push(begin);
        let batches = self.0.batches.load(Ordering::Acquire);
        // Calls that start in this turn of the loop get into the same transaction.
        tokio::task::yield_now().await;
        if self.0.batches.load(Ordering::Acquire) == batches {
            self.0.flush();
        }
    }

    /// Takes note of an end; it is written within 2 ms, or by [`Recorder::flush`].
    pub(crate) fn end(&self, end: TraceOp) {
        locked(&self.0.waiting).push(end);
        if !self.0.has_flusher.swap(true, Ordering::AcqRel) {
            let shared = Arc::clone(&self.0);
            tokio::spawn(async move {
                tokio::time::sleep(END_WAIT).await;
                shared.has_flusher.store(false, Ordering::Release);
                shared.flush();
            });
        }
    }

    /// Writes one row at once.
    pub(crate) fn record(&self, row: TraceOp) {
        locked(&self.0.waiting).push(row);
        self.0.flush();
    }

    /// Writes what waits, now.
    pub(crate) fn flush(&self) {
        self.0.flush();
    }

    /// Keeps an answer that a person gave.
    pub(crate) fn remember(&self, record: &ConsentRecord) {
        if let Err(error) = locked(&self.0.store).record_consent(record) {
            locked(&self.0.problem).get_or_insert(error);
        }
    }

    /// Takes the first error, to be shown as one warning.
    pub(crate) fn take_problem(&self) -> Option<StoreError> {
        locked(&self.0.problem).take()
    }
}

/// Returns the record of a yes to something about a package.
pub(crate) fn consent_record(command: &str, subject: &str, manifest: &Manifest, consent: &Consent, at: Timestamp) -> ConsentRecord {
    ConsentRecord {
        command: command.to_owned(),
        subject: subject.to_owned(),
        package: Some(manifest.id.clone()),
        version: Some(manifest.version.clone()),
        reply: Reply::Yes,
        means: match consent.how() {
            How::Terminal => Means::Terminal,
            How::Flag => Means::Flag,
        },
        shown_sha256: consent.shown().to_owned(),
        at,
    }
}

impl Shared {
    fn flush(&self) {
        let batch = std::mem::take(&mut *locked(&self.waiting));
        if batch.is_empty() {
            return;
        }
        let mut store = locked(&self.store);
        let written = store.write_traces(&batch);
        self.batches.fetch_add(1, Ordering::AcqRel);
        if let Err(error) = written {
            // One wait is enough: the next call shall not be held up by it too.
            store.stop_waiting();
            locked(&self.problem).get_or_insert(error);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while it was held is reported on its own; rows are values, not half-done work.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
