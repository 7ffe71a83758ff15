//! Durations as people type them.

use std::time::Duration;

use crate::base::limits::CALL_WAIT_MAX;

/// Reads `30s`, `500ms`, `5m`, `1h`; a bare number is seconds. At least 1 ms, at most a day.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().map_err(|_| "write a number with a unit, as in 30s, 500ms or 5m".to_owned())?;
    let seconds = match unit {
        "ms" => number / 1e3,
        "" | "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(format!("`{unit}` is no unit: there are ms, s, m and h")),
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if duration < Duration::from_millis(1) => Err("at least 1ms".to_owned()),
        Ok(duration) if duration <= CALL_WAIT_MAX => Ok(duration),
        Ok(_) | Err(_) => Err("at most 24h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_a_unit_is_a_duration() {
        for (text, expected) in [("30s", 30_000), ("500ms", 500), ("1.5m", 90_000), ("2", 2_000), ("24h", 86_400_000)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(expected)), "{text}");
        }
        for text in ["", "s", "0", "0ms", "-1s", "25h", "1d", "1 s", "1e9", "NaN"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
