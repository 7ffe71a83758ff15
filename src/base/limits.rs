//! Every limit that is a choice, with the place it comes from. An error that a limit causes names it.

use std::time::Duration;

/// Bytes of a `spark-tool.json` (manifest §1).
pub(crate) const MANIFEST_BYTES: u64 = 4 * 1024 * 1024;
/// Nested arrays and objects in any JSON that is read: manifests, frames, inputs, case files (hardening rule 5).
pub(crate) const JSON_DEPTH: usize = 128;
/// Findings reported for one file; one more says how many were left out (design §6, `validate`).
pub(crate) const FINDINGS: usize = 1_000;

/// Bytes of JSON in one frame, newline excluded, either direction (process-protocol §1).
pub(crate) const FRAME_BYTES: usize = 4 * 1024 * 1024;
/// UTF-16 units of ids, tool names and codes in frames (process-protocol §2 to §4).
pub(crate) const FRAME_NAME_UNITS: usize = 160;
/// UTF-16 units of an error's message in a frame (process-protocol §4).
pub(crate) const FRAME_MESSAGE_UNITS: usize = 4_000;
/// UTF-16 units of a log message in a frame (process-protocol §4).
pub(crate) const FRAME_LOG_UNITS: usize = 32_000;
/// Log frames kept for the person who runs a call; later ones are counted only (ours: a screen, not an archive).
pub(crate) const LOGS_KEPT: usize = 200;
/// Bytes of the log and progress messages of a call that are kept, or wait for a listener (ours: 200 lines of 5 KiB).
pub(crate) const LOG_BYTES_KEPT: usize = 1024 * 1024;
/// Bytes of answers to a child's own requests that wait for it to read; until then it isn't read either (ours).
pub(crate) const REPLIES_QUEUED: usize = 1024 * 1024;

/// Bytes of a child's stderr that are kept, the newest ones (hardening rule 5).
pub(crate) const STDERR_KEPT: usize = 64 * 1024;
/// Bytes of an offending line that an error shows (hardening P-1).
pub(crate) const LINE_SHOWN: usize = 200;

/// How long a child may take to answer `initialize` (process-protocol §6).
pub(crate) const READY_WAIT: Duration = Duration::from_secs(15);
/// How long a call to a process may take unless the caller says otherwise (process-protocol §6).
pub(crate) const CALL_WAIT: Duration = Duration::from_mins(2);
/// The longest deadline a caller may ask for (ours: a day; beyond it a typing error is likelier than a wish).
pub(crate) const CALL_WAIT_MAX: Duration = Duration::from_hours(24);
/// From the polite request to SIGTERM (design §4, stop).
pub(crate) const STOP_TERM: Duration = Duration::from_secs(1);
/// From the polite request to SIGKILL (design §4, stop).
pub(crate) const STOP_KILL: Duration = Duration::from_secs(2);
/// From the polite request to the last reap (design §4, stop).
pub(crate) const STOP_REAP: Duration = Duration::from_millis(2_500);
/// How long a persistent child that let a call time out may stay silent before it is stopped (design §4, stop).
pub(crate) const SILENT_AFTER_CANCEL: Duration = Duration::from_secs(5);
/// Calls one child works on at a time; further ones wait their turn (process-protocol §6).
pub(crate) const PENDING_CALLS: usize = 16;
/// Calls that wait for one persistent child; one more is refused (ours: bounded memory, far above any fan-out seen).
pub(crate) const QUEUED_CALLS: usize = 1_024;
/// How long a child that closed its output may take to end before that counts as a fault of its own (ours: the kernel
/// closes descriptors a moment before it reports the end).
pub(crate) const CLOSED_GRACE: Duration = Duration::from_millis(200);
/// How long output that a dead child left in its pipes is read for, should somebody hold them open (ours).
pub(crate) const DRAIN_WAIT: Duration = Duration::from_millis(250);
/// The first pause before a persistent child that keeps ending without an answer is started again; it doubles (ours).
pub(crate) const BACK_OFF: Duration = Duration::from_millis(250);
/// The longest such pause (ours).
pub(crate) const BACK_OFF_MAX: Duration = Duration::from_secs(30);
/// A persistent child without a call for this long is stopped (ours).
pub(crate) const IDLE_EVICTION: Duration = Duration::from_mins(5);

/// Files of a package (manifest §14).
pub(crate) const PACKAGE_FILES: u64 = 50_000;
/// Bytes of all files of a package (manifest §14).
pub(crate) const PACKAGE_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// Bytes of one path component (hardening rule 5).
pub(crate) const NAME_BYTES: usize = 255;
/// Bytes of a path inside a package (hardening rule 5).
pub(crate) const PATH_BYTES: usize = 1_024;

/// How long a command waits for another that holds a lock or the database (ours: longer than any install step).
pub(crate) const BUSY_WAIT: Duration = Duration::from_secs(30);

/// Secrets shorter than this can't be masked without making text unreadable (design §4, redaction).
pub(crate) const MASKED_SECRET_CHARS: usize = 6;

/// Steps of one match of a pattern that isn't linear (hardening J-6: under 50 ms).
pub(crate) const PATTERN_STEPS: u64 = 200_000;
