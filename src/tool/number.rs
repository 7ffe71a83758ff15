//! The exact value of a JSON number, however it is written. Comparing `1`, `1.0` and `10e-1` through a double would
//! round what a double can't hold.

/// `digits` × 10^`exponent`; zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Reads a JSON number; `text` is one by the scanner's or `serde_json`'s check.
    pub(super) fn read(text: &str) -> Self {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = rest.split_once(['e', 'E']).map_or((rest, 0), |(mantissa, power)| (mantissa, saturated(power)));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        let digits = all.trim_start_matches('0').trim_end_matches('0');
        if digits.is_empty() {
            return Self { negative, digits: String::new(), exponent: 0 };
        }
        let zeros = all.len() - all.trim_end_matches('0').len();
        let shift = i64::try_from(zeros).unwrap_or(i64::MAX).saturating_sub(i64::try_from(fraction.len()).unwrap_or(i64::MAX));
        Self { negative, digits: digits.to_owned(), exponent: exponent.saturating_add(shift) }
    }

    pub(super) const fn is_integral(&self) -> bool {
        self.exponent >= 0
    }

    /// Says whether it is more than zero.
    pub(super) const fn is_positive(&self) -> bool {
        !self.negative && !self.digits.is_empty()
    }

    /// Says whether it is a whole number from zero.
    pub(super) fn is_count(&self) -> bool {
        self.is_integral() && (!self.negative || self.digits.is_empty())
    }

    /// Returns the text that ECMAScript's `String(number)` gives, if `text` is exactly a double's shortest text.
    pub(super) fn ecmascript_text(text: &str) -> Option<String> {
        let double: f64 = text.parse().ok()?;
        let exact = Self::read(text);
        (double.is_finite() && Self::read(&format!("{double:e}")) == exact).then(|| exact.shown())
    }

    fn shown(&self) -> String {
        if self.digits.is_empty() {
            return "0".to_owned();
        }
        let sign = if self.negative { "-" } else { "" };
        let count = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        // Where the point stands, counted from the first digit: ECMA-262, Number::toString.
        let point = count.saturating_add(self.exponent);
        let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
        if count <= point && point <= 21 {
            return format!("{sign}{}{}", self.digits, zeros(self.exponent));
        }
        if 0 < point && point <= 21 {
            let (whole, fraction) = self.digits.split_at(usize::try_from(point).unwrap_or(0));
            return format!("{sign}{whole}.{fraction}");
        }
        if -6 < point && point <= 0 {
            return format!("{sign}0.{}{}", zeros(-point), self.digits);
        }
        let (first, rest) = self.digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        let power = point - 1;
        let plus = if power < 0 { "" } else { "+" };
        format!("{sign}{first}{dot}{rest}e{plus}{power}")
    }
}

/// An exponent beyond 64 bits is as good as an infinite one.
fn saturated(power: &str) -> i64 {
    power.parse().unwrap_or(if power.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_equal_however_they_are_written() {
        for (a, b) in [("1", "1.0"), ("1", "10e-1"), ("100", "1e2"), ("1.50", "15E-1"), ("0", "0.000e5"), ("-0", "-0.0")] {
            assert_eq!(Decimal::read(a), Decimal::read(b), "{a} {b}");
        }
        for (a, b) in [("1", "-1"), ("0", "-0"), ("9007199254740993", "9007199254740992"), ("1", "1.0000000000000000000001")] {
            assert_ne!(Decimal::read(a), Decimal::read(b), "{a} {b}");
        }
    }

    #[test]
    fn integral_is_a_matter_of_value() {
        for text in ["1", "1.0", "1e3", "150e-1", "-0", "0.0"] {
            assert!(Decimal::read(text).is_integral(), "{text}");
        }
        for text in ["1.5", "15e-1", "1e-400", "0.1"] {
            assert!(!Decimal::read(text).is_integral(), "{text}");
        }
    }

    // H: J-3
    #[test]
    fn numbers_of_any_size_are_read() {
        let long = "7".repeat(100_000);
        assert!(Decimal::read(&long).is_integral());
        assert!(Decimal::read(&format!("1e{long}")).is_integral());
        assert!(!Decimal::read(&format!("1e-{long}")).is_integral());
        assert_eq!(Decimal::ecmascript_text(&long), None);
    }

    #[test]
    fn text_is_as_ecmascript_prints_it() {
        for (text, shown) in [
            ("5", Some("5")),
            ("-0", Some("0")),
            ("1.0", Some("1")),
            ("0.10", Some("0.1")),
            ("1e3", Some("1000")),
            ("1e21", Some("1e+21")),
            ("123456789012345680000", Some("123456789012345680000")),
            ("1.5e-7", Some("1.5e-7")),
            ("0.000001", Some("0.000001")),
            ("-2.50", Some("-2.5")),
            ("9007199254740993", None),
            ("1e400", None),
            ("0.1000000000000000055", None),
        ] {
            assert_eq!(Decimal::ecmascript_text(text).as_deref(), shown, "{text}");
        }
    }
}
