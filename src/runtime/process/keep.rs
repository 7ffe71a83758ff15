//! Children that live for many calls: who may use which, and when one that keeps breaking is started again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::driver::{Cause, End, Running};
use super::launch::Launch;
use crate::base::limits::{BACK_OFF, BACK_OFF_MAX};
use crate::tool::PackageId;

/// What two calls have in common that share a child (process-protocol §11): SHA-256 of id, NUL, version, NUL, folder,
/// NUL, the JSON of the variables sorted by name. A secret is in it only so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key([u8; 32]);

impl Key {
    pub(super) fn of(launch: &Launch) -> Self {
        let mut variables: Vec<(&str, &str)> =
            launch.variables.iter().map(|(name, value)| (name.as_str(), value.expose().as_str())).collect();
        variables.sort_unstable();
        let mut hash = Sha256::new();
        for part in [launch.package.as_str().as_bytes(), launch.version.as_str().as_bytes()] {
            hash.update(part);
            hash.update([0]);
        }
        hash.update(launch.working_directory.as_os_str().as_encoded_bytes());
        hash.update([0]);
        // Pairs of strings are always JSON.
        hash.update(serde_json::to_vec(&variables).unwrap_or_default());
        Self(hash.finalize().into())
    }
}

/// The persistent children of a host, and what is remembered of those that ended.
#[derive(Debug, Default)]
pub(super) struct Keep(HashMap<Key, Kept>);

#[derive(Debug)]
struct Kept {
    package: PackageId,
    running: Running,
    /// Ends in a row that no answer came before, as far as they have been noticed.
    crashes: u32,
}

/// A child that keeps ending is not started yet.
#[derive(Debug)]
pub(super) struct BackOff {
    pub(super) crashes: u32,
    pub(super) until: Instant,
    pub(super) last: std::sync::Arc<End>,
}

impl Keep {
    /// Returns the child for `key`: the one there is, be it still starting, else what `start` gives. Concurrent first
    /// calls share one start, since the lock on this is held by whoever starts.
    pub(super) fn get<E>(
        &mut self,
        key: Key,
        package: &PackageId,
        now: Instant,
        start: impl FnOnce() -> Result<Running, E>,
    ) -> Result<Result<Running, BackOff>, E> {
        let mut crashes = 0;
        if let Some(kept) = self.0.get(&key) {
            if kept.running.takes_calls() {
                return Ok(Ok(kept.running.clone()));
            }
            if let Some(end) = kept.running.end() {
                crashes = crashes_after(kept.crashes, &end);
                let until = end.at + pause_after(crashes);
                if until > now {
                    return Ok(Err(BackOff { crashes, until, last: end }));
                }
            }
        }
        let running = start()?;
        // Whoever went quietly, or long ago, has nothing to be remembered for.
        self.0.retain(|_, kept| kept.running.end().is_none_or(|end| now.saturating_duration_since(end.at) < BACK_OFF_MAX));
        self.0.insert(key, Kept { package: package.clone(), running: running.clone(), crashes });
        Ok(Ok(running))
    }

    /// Takes out the children of a package.
    pub(super) fn take(&mut self, package: &PackageId) -> Vec<Running> {
        self.0.extract_if(|_, kept| kept.package == *package).map(|(_, kept)| kept.running).collect()
    }
}

fn crashes_after(before: u32, end: &End) -> u32 {
    match end.cause {
        Cause::Stopped | Cause::Idle => 0,
        _ if end.has_answered => 1,
        _ => before.saturating_add(1),
    }
}

/// One end is an accident; from the second in a row on the pause doubles.
fn pause_after(crashes: u32) -> Duration {
    match crashes.checked_sub(2) {
        None => Duration::ZERO,
        Some(doublings) => BACK_OFF.saturating_mul(1_u32.checked_shl(doublings).unwrap_or(u32::MAX)).min(BACK_OFF_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_doubles_from_the_second_end_in_a_row() {
        for (crashes, millis) in [(0, 0), (1, 0), (2, 250), (3, 500), (4, 1_000), (9, 30_000), (40, 30_000), (u32::MAX, 30_000)] {
            assert_eq!(pause_after(crashes), Duration::from_millis(millis), "{crashes}");
        }
    }

    #[test]
    fn an_answer_makes_an_end_the_first_and_our_own_stops_do_not_count() {
        let end = |cause, has_answered| End { cause, exit: None, errors: String::new(), was_ready: true, has_answered, at: Instant::now() };
        assert_eq!(crashes_after(4, &end(Cause::Exited, false)), 5);
        assert_eq!(crashes_after(4, &end(Cause::Exited, true)), 1);
        assert_eq!(crashes_after(4, &end(Cause::Idle, true)), 0);
        assert_eq!(crashes_after(4, &end(Cause::Stopped, false)), 0);
        assert_eq!(crashes_after(u32::MAX, &end(Cause::NotReady, false)), u32::MAX);
    }
}
