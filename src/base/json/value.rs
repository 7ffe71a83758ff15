//! Strict readings: a check that keeps nothing, and a value that keeps every number as written.

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde_json::{Map, Number, Value};

use super::fault::Fault;
use super::place::Span;
use super::scan::{Bracket, Scalar, Sink, scan};

/// Says whether `bytes` is one strict JSON text; the first fault if not. Allocates only for keys of open objects.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Fault> {
    let mut check = Check { fault: None };
    let _outcome = scan(bytes, &mut check);
    check.fault.map_or(Ok(()), Err)
}

/// Returns the value of one strict JSON text, or the first fault.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, Fault> {
    let mut builder = Builder { check: Check { fault: None }, root: Value::Null, open: Vec::new(), key: None };
    let _outcome = scan(bytes, &mut builder);
    match builder.check.fault {
        Some(fault) => Err(fault),
        None => Ok(builder.root),
    }
}

/// Returns one step of an RFC 6901 pointer, its slash included.
pub(crate) fn pointer_token(token: &str) -> String {
    format!("/{}", token.replace('~', "~0").replace('/', "~1"))
}

/// A number that keeps its text. `text` is a JSON number by the scanner's check.
pub(super) fn number(text: &str) -> Number {
    // `Number::from_str` would rewrite the exponent: `1e4` as `1e+4`.
    Number::from_string_unchecked(text.to_owned())
}

struct Check {
    fault: Option<Fault>,
}

impl<'a> Sink<'a> for Check {
    fn open(&mut self, _bracket: Bracket, _at: usize) {}
    fn key(&mut self, _key: Cow<'a, str>, _span: Span) {}
    fn scalar(&mut self, _scalar: Scalar<'a>, _span: Span) {}
    fn close(&mut self, _at: usize) {}

    fn fault(&mut self, fault: Fault) -> ControlFlow<()> {
        self.fault.get_or_insert(fault);
        ControlFlow::Break(())
    }
}

struct Builder {
    check: Check,
    root: Value,
    open: Vec<(Value, Option<String>)>,
    key: Option<String>,
}

impl Builder {
    fn place(&mut self, value: Value, key: Option<String>) {
        match (self.open.last_mut().map(|(parent, _)| parent), key) {
            (Some(Value::Array(items)), _) => items.push(value),
            (Some(Value::Object(members)), Some(key)) => drop(members.insert(key, value)),
            _ => self.root = value,
        }
    }
}

impl<'a> Sink<'a> for Builder {
    fn open(&mut self, bracket: Bracket, _at: usize) {
        let empty = match bracket {
            Bracket::Object => Value::Object(Map::new()),
            Bracket::Array => Value::Array(Vec::new()),
        };
        self.open.push((empty, self.key.take()));
    }

    fn key(&mut self, key: Cow<'a, str>, _span: Span) {
        self.key = Some(key.into_owned());
    }

    fn scalar(&mut self, scalar: Scalar<'a>, _span: Span) {
        let value = match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(bool) => Value::Bool(bool),
            Scalar::Number(text) => Value::Number(number(text)),
            Scalar::String(text) => Value::String(text.into_owned()),
        };
        let key = self.key.take();
        self.place(value, key);
    }

    fn close(&mut self, _at: usize) {
        if let Some((value, key)) = self.open.pop() {
            self.place(value, key);
        }
    }

    fn fault(&mut self, fault: Fault) -> ControlFlow<()> {
        self.check.fault(fault)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::FaultKind;
    use super::*;
    use crate::base::limits::JSON_DEPTH;

    // H: J-1
    #[test]
    fn depth_ends_at_its_limit_without_touching_the_stack() {
        let nested = |depth: usize| [b"[".repeat(depth), b"]".repeat(depth)].concat();
        assert_eq!(check(&nested(JSON_DEPTH)), Ok(()));
        assert_eq!(check(&nested(JSON_DEPTH + 1)).map_err(|fault| fault.kind), Err(FaultKind::TooDeep));
        for bomb in [b"[".repeat(100_000), b"{\"a\":".repeat(100_000)] {
            assert_eq!(check(&bomb).map_err(|fault| fault.kind), Err(FaultKind::TooDeep));
        }
    }

    // H: J-3
    #[test]
    fn every_number_keeps_its_text() {
        let long = "1".repeat(100_000);
        for text in ["-0", "1.0", "1e400", "9223372036854775808", "18446744073709551616", "9007199254740993", "0.10", &long] {
            let value = parse(text.as_bytes()).expect("a number");
            assert_eq!(serde_json::to_string(&value).expect("written"), text);
        }
    }

    // H: J-4
    #[test]
    fn malformed_utf8_is_named_with_its_offset() {
        for bad in [
            &b"\xff"[..],
            b"\xc0\xaf",
            b"\xe2\x82",
            b"\x80",
            b"\xed\xa0\x80",
            b"\xf4\x90\x80\x80",
            b"\xf8\x88\x80\x80\x80",
            b"\xc3",
            b"\xe0\x80\xaf",
            b"\xf0\x80\x80\xaf",
            b"\xfe",
            b"\xc3\x28",
        ] {
            let text = [b"{\"a\":\"", bad, b"\"}"].concat();
            let fault = check(&text).expect_err("refused");
            assert_eq!((fault.kind, fault.span.start), (FaultKind::InvalidUtf8, 6), "{bad:x?}");
        }
    }

    // H: J-5
    #[test]
    fn only_one_plain_document_is_json() {
        for good in ["{}", " {}\r\n", "[1]\n\n", "null"] {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good}");
        }
        for bad in [
            "",
            " ",
            "{} {}",
            "{}x",
            "[1,]",
            "{\"a\":1,}",
            "// x\n{}",
            "{} /* x */",
            "[1 2]",
            "{a:1}",
            "['a']",
            "[01]",
            "[+1]",
            "[1.]",
            "[.5]",
            "[1e]",
            "[NaN]",
            "[tru]",
            "\"a\nb\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\ud800\"",
            "\"\\udc00\\ud800\"",
            "[1",
            "{\"a\"",
            "\u{feff}{}",
            "{\"a\":1,\"\\u0061\":2}",
        ] {
            assert!(check(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_what_serde_json_accepts(text in "[\\[\\]{}\",:0-9a-e.\\\\ntrufls+ -]{0,40}") {
            let ours = parse(text.as_bytes());
            if let Ok(value) = &ours {
                let again: Value = serde_json::from_str(&value.to_string()).expect("ours is JSON");
                prop_assert_eq!(again, serde_json::from_str::<Value>(&text).expect("serde_json accepts it too"));
            } else if let Ok(value) = serde_json::from_str::<Value>(&text) {
                // Only what readers differ on is refused by us alone.
                let kind = ours.expect_err("it is a fault").kind;
                prop_assert!(matches!(kind, FaultKind::DuplicateKey { .. }), "{kind:?} {value}");
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _checked = check(&bytes);
            let _tree = super::super::read_tree(&bytes);
        }
    }
}
