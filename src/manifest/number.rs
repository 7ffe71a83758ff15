//! Integers by their exact value: `3e4` and `1.0` are integers, `1.0000000000000000001` is not (hardening J-3).

/// Returns the integer that a JSON number is; one beyond any bound of the format comes back as `i128::MIN` or `MAX`.
pub(super) fn integer(text: &str) -> Option<i128> {
    let (is_negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_number = !whole.is_empty() && [whole, fraction].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_number {
        return None;
    }
    let exponent = exponent_of(exponent)?;
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let power = exponent.saturating_sub(i64::try_from(fraction.len()).ok()?).saturating_add(zeros);
    if power < 0 {
        return None;
    }
    let size = if power > 30 || significant.len() > 30 {
        i128::MAX
    } else {
        let power = u32::try_from(power).ok()?;
        significant.parse::<i128>().ok().and_then(|value| value.checked_mul(10_i128.pow(power))).unwrap_or(i128::MAX)
    };
    Some(if is_negative { -size } else { size })
}

/// An exponent that doesn't fit is as good as one at the edge.
fn exponent_of(text: &str) -> Option<i64> {
    let digits = text.trim_start_matches(['+', '-']);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = digits.parse::<i64>().unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
    Some(if text.starts_with('-') { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    // H: J-3
    #[test]
    fn an_integer_is_judged_by_its_exact_value() {
        let long = "9".repeat(100_000);
        for (text, expected) in [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("1.0", Some(1)),
            ("3e4", Some(30_000)),
            ("30000.000", Some(30_000)),
            ("1500e-2", Some(15)),
            ("-2", Some(-2)),
            ("1.5", None),
            ("1e-1", None),
            ("1.0000000000000000001", None),
            ("9223372036854775808", Some(9_223_372_036_854_775_808)),
            ("1e400", Some(i128::MAX)),
            ("-1e400", Some(-i128::MAX)),
            ("1e99999999999999999999", Some(i128::MAX)),
            ("1e-99999999999999999999", None),
            ("0e99999999999999999999", Some(0)),
            (&long, Some(i128::MAX)),
            ("abc", None),
            ("", None),
            ("1e", None),
        ] {
            assert_eq!(integer(text), expected, "{}", &text[..text.len().min(30)]);
        }
    }
}
