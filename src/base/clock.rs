//! The one door to the wall clock. Deadlines use `std::time::Instant`, which this file has nothing to do with.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Timestamp(i64);

impl Timestamp {
    pub(crate) const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub(crate) const fn as_millis(self) -> i64 {
        self.0
    }
}

/// RFC 3339, UTC, milliseconds: `2026-11-30T17:13:52.001Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(out, "{time:.3}"),
            Err(_) => write!(out, "{}ms", self.0),
        }
    }
}

/// Where the time comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    System,
    /// Always the same instant, for tests.
    #[cfg(test)]
    Fixed(Timestamp),
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the door to the wall clock")]
    pub(crate) fn now(self) -> Timestamp {
        match self {
            Self::System => {
                let millis = match SystemTime::now().duration_since(UNIX_EPOCH) {
                    Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
                    Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
                };
                Timestamp(millis)
            }
            #[cfg(test)]
            Self::Fixed(at) => at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_utc_with_milliseconds() {
        assert_eq!(Timestamp::from_millis(1_796_058_832_001).to_string(), "2026-11-30T17:13:52.001Z");
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
    }
}
