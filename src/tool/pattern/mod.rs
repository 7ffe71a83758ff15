//! Regular expressions from manifests and schemas: ECMAScript without the `u` flag, in linear time where the pattern
//! allows it, and within a number of steps where not (design §4, hardening J-6).

mod linear;
mod step;
mod syntax;

use std::fmt;
use std::sync::{Arc, OnceLock};

use thiserror::Error;

use crate::base::limits::PATTERN_STEPS;
use step::Program;
use syntax::{Syntax, Units};

/// A pattern. Searches are unanchored, as in ECMAScript's `test`. The engines are built when a match needs them.
#[derive(Clone)]
pub(crate) struct Pattern {
    inner: Arc<Inner>,
}

struct Inner {
    text: String,
    syntax: Syntax,
    linear: OnceLock<Option<linear::Engine>>,
    program: OnceLock<Program>,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("is not a regular expression: {message}")]
pub(crate) struct PatternFault {
    pub(crate) message: String,
}

/// A match was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{}", Self::TEXT)]
pub(crate) struct StepLimit;

impl StepLimit {
    pub(super) const TEXT: &'static str = "pattern needs too many steps";
}

impl Pattern {
    pub(crate) fn compile(text: &str) -> Result<Self, PatternFault> {
        let syntax = syntax::read(text, Units::Utf16)?;
        let inner = Inner { text: text.to_owned(), syntax, linear: OnceLock::new(), program: OnceLock::new() };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Says whether the pattern is found in `text`, within the steps that one match may take.
    pub(crate) fn is_match(&self, text: &str) -> Result<bool, StepLimit> {
        self.is_match_within(text, &mut PATTERN_STEPS.clone())
    }

    /// As [`Self::is_match`], with the steps that are left for this and further matches.
    pub(super) fn is_match_within(&self, text: &str, steps: &mut u64) -> Result<bool, StepLimit> {
        let suiting = || linear::Engine::suits(&self.inner.syntax).then(|| linear::Engine::build(&self.inner.syntax)).flatten();
        if let Some(engine) = self.inner.linear.get_or_init(suiting)
            && let Ok(found) = engine.is_match(text)
        {
            return Ok(found);
        }
        let units: Vec<u16> = text.encode_utf16().collect();
        self.inner.program.get_or_init(|| Program::of(&self.inner.syntax)).is_match(&units, steps)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.inner.text
    }

    /// Returns the construct that keeps the pattern from being linear.
    pub(crate) fn non_linear_construct(&self) -> Option<&'static str> {
        self.inner.syntax.non_linear
    }

    /// Returns a pattern in the grammar of the `regex` crates, for an engine that sees whole characters.
    pub(super) fn for_whole_characters(text: &str) -> Result<String, PatternFault> {
        syntax::read(text, Units::Whole).map(|syntax| linear::written(&syntax, Units::Whole))
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Pattern({:?})", self.inner.text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.inner.text == other.inner.text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Both engines answer as V8 does; the answers were taken from it.
    #[test]
    fn patterns_are_those_of_ecmascript() {
        for (pattern, text, found) in [
            ("b", "abc", true),
            ("^b", "abc", false),
            ("^abc$", "abc\u{a}", false),
            ("a.c", "a\u{a}c", false),
            ("a.c", "a\u{2028}c", false),
            ("^.$", "😀", false),
            ("^..$", "😀", true),
            ("^.{2}$", "éé", true),
            (r"\d", "٣", false),
            (r"^\d+$", "0123", true),
            (r"\w", "é", false),
            (r"^\w+$", "aZ_9", true),
            (r"\W", "é", true),
            (r"^\s$", "\u{a0}", true),
            (r"^\s$", "\u{feff}", true),
            (r"^\s$", "\u{200b}", false),
            (r"\S", "\u{2003}", false),
            (r"\bé", "é", false),
            (r"\bb", "éb", true),
            (r"\Bb", "ab", true),
            (r"[\b]", "\u{8}", true),
            ("[^]", "\u{a}", true),
            ("[]", "a", false),
            ("[a-]", "-", true),
            (r"[\w-z]", "-", true),
            ("[&&]", "&", true),
            ("[a&&b]", "b", true),
            ("[[a]", "[", true),
            ("[+--]", ",", true),
            ("a{", "a{", true),
            ("a{,3}", "a{,3}", true),
            ("^{a}$", "{a}", true),
            ("x{2}", "xx", true),
            ("x{2,}?", "x", false),
            ("^x{0,2}$", "xxx", false),
            (r"\u0061", "a", true),
            (r"\u{61}", &"u".repeat(61), true),
            (r"^\ud83d\ude00$", "😀", true),
            (r"^\ud83d", "😀", true),
            (r"[\ud800-\udfff]", "😀", true),
            ("^[😀]$", "😀", false),
            ("^[😀]{2}$", "😀", true),
            (r"\x41", "A", true),
            (r"\x4", "x4", true),
            (r"\101", "A", true),
            (r"\0", "\u{0}", true),
            (r"\8", "8", true),
            (r"\cA", "\u{1}", true),
            (r"\c", "\\c", true),
            (r"[\c1]", "\u{11}", true),
            (r"\p{L}", "p{L}", true),
            (r"\p{L}", "é", false),
            (r"\_\@\/", "_@/", true),
            (r"\a", "a", true),
            (r"(?<n>a)\k<n>", "aa", true),
            (r"\k<n>", "k<n>", true),
            (r"(a)\1", "aa", true),
            (r"\1(a)", "a", true),
            (r"(?:(a)|b)*\1$", "ab", true),
            ("(z)((a+)?(b+)?(c))*", "zaacbbbcac", true),
            (r"^(?:(a)|(b))+\1$", "ab", true),
            ("(?=a)b", "ab", false),
            (r"^(?=.*\d)(?=.*[a-z]).{4,}$", "abc1", true),
            ("(?=a)*b", "b", true),
            (r"(?<=\$)\d", "$5", true),
            (r"(?<!\$)\d", "$5", false),
            ("(?<=a+)b", "aab", true),
            (r"(?<=(\d+)(\d+))$", "1053", true),
            (r"^(?!\s*$).+", "  x", true),
            (r"^(?!\s*$).+", "   ", false),
            ("(?:)", "", true),
        ] {
            let compiled = Pattern::compile(pattern).expect(pattern);
            assert_eq!(compiled.is_match(text), Ok(found), "{pattern} in {text:?}");
            let units: Vec<u16> = text.encode_utf16().collect();
            let stepped = Program::of(&compiled.inner.syntax).is_match(&units, &mut PATTERN_STEPS.clone());
            assert_eq!(stepped, Ok(found), "{pattern} in {text:?}, by steps");
        }
    }

    #[test]
    fn what_ecmascript_refuses_is_refused() {
        for pattern in [
            "(",
            "a)",
            "[",
            "a**",
            "*a",
            "+",
            "?",
            "{1}",
            "a{2,1}",
            "(?<n>a)(?<n>b)",
            r"\",
            "(?P<n>a)",
            "(?a)",
            "^*",
            "(?<=a)*",
            "[b-a]",
            "(?<1>a)",
            r"(?<n>a)\k<m>",
            r"(?<n>a)\k",
            "x{1}{2}",
            "(?#c)",
            "(?i)a",
        ] {
            assert!(Pattern::compile(pattern).is_err(), "{pattern}");
        }
        assert!(Pattern::compile(&"(".repeat(100_000)).is_err());
        assert!(Pattern::compile(&format!("{}a{}", "(".repeat(61), ")".repeat(61))).is_err());
    }

    #[test]
    fn modifiers_hold_for_their_group() {
        for (pattern, text, found) in [
            ("^(?i:straße)$", "STRAßE", true),
            ("^(?i:a)b$", "AB", false),
            ("^(?i:[a-c]+)$", "aBC", true),
            ("^(?s:.)$", "\n", true),
            ("^(?s-i:.)$", "\n", true),
            ("(?m:^b$)", "a\r\nb\u{2028}c", true),
            ("(?i:(a)\\1)", "Aa", false),
        ] {
            assert_eq!(Pattern::compile(pattern).expect(pattern).is_match(text), Ok(found), "{pattern} in {text:?}");
        }
    }

    #[test]
    fn the_construct_that_needs_steps_is_named() {
        for (pattern, construct) in [
            ("^[a-z]+$", None),
            (r"\((?:a|\\1)\)[(?=]", None),
            ("a(?=b)", Some("look-ahead")),
            ("a(?!b)", Some("look-ahead")),
            ("(?<=a)b", Some("look-behind")),
            (r"(a)\1", Some("a back-reference")),
            (r"(?<n>a)\k<n>", Some("a back-reference")),
            (r"\1", None),
        ] {
            let pattern = Pattern::compile(pattern).expect(pattern);
            assert_eq!(pattern.non_linear_construct(), construct, "{pattern:?}");
        }
    }

    /// Patterns from published attacks and textbooks, with what they choke on; then whether only steps can run them.
    const CATASTROPHIC: [(&str, &str, bool); 28] = [
        ("^(a+)+$", "a", false),
        ("^(a|a)*$", "a", false),
        ("^(a|aa)+$", "a", false),
        ("^(a*)*b$", "a", false),
        ("(x+x+)+y", "x", false),
        ("^(([a-z])+.)+[A-Z]([a-z])+$", "a", false),
        (r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$", "a", false),
        ("^(.*?,){11}P", "1,", false),
        ("(.*)*(.*)*(.*)*=", "x", false),
        (r"^(\w+\s?)*$", "a ", false),
        ("^((ab)*)+$", "ab", false),
        ("(a?){30}a{30}", "a", false),
        (r"^(\d+)*[^\d]$", "1", false),
        (r"\s+$", " ", false),
        (r"^[\s\u200c]+|[\s\u200c]+$", "\u{200c}", false),
        (r#""(?:[^"\\]|\\\\)*""#, "\"", false),
        (r"<(\w+)[^>]*>.*<", "<a", false),
        ("[ab]*a[ab]{300}", "ab", false),
        ("(.{0,100}){0,100}#", "a", false),
        ("([^x]{1,200}x?){1,200}!", "a", false),
        ("^(a+)+(?=b)$", "a", true),
        ("^(?=(a+)+$)", "a", true),
        (r"(a+)+\1b", "a", true),
        ("^(a|a)*(?<!b)c", "a", true),
        ("(?=.*x)y", "a", true),
        ("((a*)*)*(?!a)b", "a", true),
        (r"^(\w+)\s\1\1\1$", "a ", true),
        (r"(?:(?=(a+))a+){30}\1x", "a", true),
    ];

    // H: J-6
    #[test]
    fn no_pattern_holds_the_processor() {
        for (pattern, unit, needs_steps) in CATASTROPHIC {
            let compiled = Pattern::compile(pattern).expect(pattern);
            assert_eq!(compiled.non_linear_construct().is_some(), needs_steps, "{pattern}");
            for length in [30, 10_000] {
                let input = format!("{}\n!", unit.repeat(length / unit.len()));
                let mut steps = PATTERN_STEPS;
                let answer = compiled.is_match_within(&input, &mut steps);
                assert_eq!(answer.is_err(), steps == 0 && answer != Ok(true) && answer != Ok(false), "{pattern}");
            }
        }
    }

    // H: J-6
    #[test]
    fn nested_quantifiers_are_answered_in_linear_time() {
        for (pattern, unit, _) in &CATASTROPHIC[..15] {
            let input = format!("{}!", unit.repeat(10_000 / unit.len()));
            let mut no_steps = 0;
            assert!(Pattern::compile(pattern).expect(pattern).is_match_within(&input, &mut no_steps).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn long_texts_and_high_counts_are_within_the_steps() {
        let text = "Word 1 ".repeat(1_400);
        for pattern in ["^.{0,65535}$", r"^(?!\s*$).+", r"^(?=.*[A-Z])(?=.*\d)(?=.*[^\w]).{8,}$", r"^(?:\w+ ?){1,5000}$", "^(?!.*<script)"]
        {
            assert_eq!(Pattern::compile(pattern).expect(pattern).is_match(&text), Ok(true), "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_a_pattern_panic(pattern in r"[ab1.|()?*+{},\\\[\]^$=!<>:kdDwWsSbBuxc-]{0,24}", text in "[ab1 é😀-]{0,12}") {
            if let Ok(pattern) = Pattern::compile(&pattern) {
                let stepped = Program::of(&pattern.inner.syntax).is_match(&text.encode_utf16().collect::<Vec<_>>(), &mut PATTERN_STEPS.clone());
                let answer = pattern.is_match(&text);
                prop_assert!(answer == stepped || stepped.is_err(), "{pattern:?} in {text:?}: {answer:?} {stepped:?}");
                // What schema keys are matched with builds, too.
                prop_assert!(is_usable_for_keys(pattern.as_str()), "{pattern:?}");
            }
        }
    }

    #[test]
    fn a_group_that_names_itself_matches_nothing_more() {
        for pattern in [r"^(\1)$", r"^(a(?:\1))$", r"^(a)\1?$", r"^((a)\1\2)$", r"^((a)\2?)$", r"^((a)\1\2?)$"] {
            assert!(is_usable_for_keys(pattern), "{pattern}");
        }
        assert_eq!(Pattern::compile(r"^(a\1)$").expect("a pattern").is_match("a"), Ok(true));
    }

    /// Says whether a schema with the pattern among its keys can be used.
    fn is_usable_for_keys(pattern: &str) -> bool {
        let schema = serde_json::json!({ "type": "object", "patternProperties": { pattern: {} } });
        let schema = crate::tool::Schema::compile(&schema).expect("a schema");
        schema.check(&serde_json::json!({ "aa": 1 })).is_ok()
    }
}
