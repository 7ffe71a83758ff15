//! Which formats are enforced: those of manifest §13, in every draft. The others that the crate knows are ignored, as
//! the original ignores them.

use jsonschema::ValidationOptions;

/// Known to the crate, and not in the list of manifest §13.
const IGNORED: [&str; 8] =
    ["iri", "iri-reference", "idn-email", "idn-hostname", "json-pointer", "relative-json-pointer", "regex", "uri-template"];

pub(super) fn add(options: ValidationOptions<'static>) -> ValidationOptions<'static> {
    let options = IGNORED.into_iter().fold(options, |options, name| options.with_format(name, |_: &str| true));
    // The crate has these two from draft 2019-09 on, and wants an offset where the original takes a local time too.
    options.with_format("uuid", is_uuid).with_format("duration", is_duration).with_format("time", is_time)
}

/// Says whether a text is 32 hex digits in groups of 8, 4, 4, 4 and 12.
fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Says whether a text is a duration of RFC 3339, appendix A; a fraction of a second is allowed.
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    if let Some(weeks) = rest.strip_suffix('W') {
        return is_number(weeks);
    }
    let (date, time) = rest.split_once('T').map_or((rest, None), |(date, time)| (date, Some(time)));
    let has_date = in_order(date, "YMD");
    let has_time = time.map(|time| in_order(time, "HMS"));
    match (has_date, has_time) {
        (Some(date), None) => date > 0,
        (Some(_), Some(Some(time))) => time > 0,
        _ => false,
    }
}

/// Returns how many numbers `text` has, each followed by one of `units`, those in their order.
fn in_order(text: &str, units: &str) -> Option<usize> {
    let mut units = units.chars();
    let mut count = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let unit = rest[end..].chars().next()?;
        units.find(|known| *known == unit)?;
        let number = &rest[..end];
        let whole = if unit == 'S' { number.strip_suffix('.').map_or(number, |_| "").replacen('.', "", 1) } else { number.to_owned() };
        if !is_number(&whole) || number.starts_with('.') {
            return None;
        }
        rest = &rest[end + unit.len_utf8()..];
        count += 1;
    }
    Some(count)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Says whether a text is a time of RFC 3339, or a local one: `14:30`, `14:30:00`, `14:30:00.5`.
fn is_time(text: &str) -> bool {
    let (clock, offset) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let is_clock = |text: &str, below: [u32; 2]| {
        let parts: Vec<&str> = text.split(':').collect();
        let number = |at: usize| parts.get(at).filter(|part| part.len() == 2 && is_number(part)).and_then(|part| part.parse::<u32>().ok());
        parts.len() == 2 && number(0).is_some_and(|hours| hours < below[0]) && number(1).is_some_and(|minutes| minutes < below[1])
    };
    let fits_offset = matches!(offset, "" | "Z" | "z") || is_clock(&offset[1..], [24, 60]);
    let Some((hours_minutes, seconds)) = clock.rsplit_once(':').filter(|(before, _)| before.contains(':')) else {
        return offset.is_empty() && is_clock(clock, [24, 60]);
    };
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let is_second = whole.len() == 2 && is_number(whole) && whole.parse::<u32>().is_ok_and(|whole| whole <= 60);
    // A leap second ends a day in UTC; in a local time nothing says so.
    let is_leap_ok = whole != "60" || is_leap(hours_minutes, offset);
    is_clock(hours_minutes, [24, 60]) && is_second && is_number(fraction) && is_leap_ok && fits_offset
}

fn is_leap(hours_minutes: &str, offset: &str) -> bool {
    let minutes = |text: &str| {
        let (hours, minutes) = text.split_once(':')?;
        Some(hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?)
    };
    let shift = match offset.chars().next() {
        Some('+') => minutes(&offset[1..]),
        Some('-') => minutes(&offset[1..]).map(|minutes| -minutes),
        Some(_) => Some(0),
        None => None,
    };
    matches!((minutes(hours_minutes), shift), (Some(time), Some(shift)) if (time - shift).rem_euclid(1440) == 1439)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(is(text), "{text}");
        }
        for text in bad {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn times_have_an_offset_or_are_local() {
        check(
            is_time,
            &[
                "14:30:00Z",
                "14:30:00z",
                "14:30:00+02:00",
                "14:30:00.123-08:00",
                "14:30",
                "14:30:00",
                "14:30:00.5",
                "23:59:60Z",
                "15:59:60-08:00",
            ],
            &[
                "",
                "14",
                "24:00:00Z",
                "14:60:00Z",
                "14:30:61Z",
                "1:30:00Z",
                "14:30:00.Z",
                "14:30Z",
                "14:30:00+2:00",
                "14:30:00+24:00",
                "12:00:60Z",
                "14:30:60",
                "١٤:30:00Z",
                "14:30:00Zx",
                "a:b:c",
            ],
        );
    }

    #[test]
    fn durations_are_numbers_with_units_in_order() {
        check(
            is_duration,
            &["P1D", "P1Y2M3D", "PT5M", "P1DT12H", "PT0.5S", "P3W", "P0D"],
            &["", "P", "PT", "1D", "P1", "P1D2Y", "P1W2D", "PT1D", "P1H", "P1DT", "P-1D", "P1.5D", "PT.5S", "PT5.S", "PD", "P٣D"],
        );
    }

    #[test]
    fn a_uuid_has_five_groups_of_hex_digits() {
        check(
            is_uuid,
            &["123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000000", "123E4567-E89B-12D3-A456-426614174000"],
            &["", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g", "{123e4567-e89b-12d3-a456-426614174000}"],
        );
    }
}
