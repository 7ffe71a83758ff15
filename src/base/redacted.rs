//! Secrets: a wrapper that never prints its text, and the mask that keeps that text out of everything else.

use std::borrow::Cow;
use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};
use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};

use super::limits::MASKED_SECRET_CHARS;

/// What stands where a secret stood.
pub(crate) const MASK: &str = "[REDACTED]";

/// A value that is shown to nobody. `Debug` and `Display` print `[REDACTED]`; there is no `Serialize`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Redacted<T>(T);

impl<T> Redacted<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value itself; the one way to it.
    pub(crate) const fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Redacted<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(MASK)
    }
}

impl<T> fmt::Display for Redacted<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(MASK)
    }
}

/// Replaces every form of a set of secrets: as it is, URL-encoded, base64 (in each of the three alignments, both
/// alphabets), JSON-escaped. A secret of fewer than 6 characters is not masked (design §4, redaction).
#[derive(Clone, Debug, Default)]
pub(crate) struct Redactor {
    forms: Option<AhoCorasick>,
    longest: usize,
}

impl Redactor {
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a Redacted<String>>) -> Self {
        let mut forms: Vec<String> = Vec::new();
        for secret in secrets {
            let secret = secret.expose();
            if secret.chars().count() >= MASKED_SECRET_CHARS {
                forms.extend(forms_of(secret));
            }
        }
        forms.sort_unstable();
        forms.dedup();
        let longest = forms.iter().map(String::len).max().unwrap_or(0);
        if forms.is_empty() {
            return Self::default();
        }
        let forms = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&forms)
            .expect("a handful of short patterns is far below the automaton's size limit");
        Self { forms: Some(forms), longest }
    }

    /// Says that no text would be changed.
    pub(crate) fn is_idle(&self) -> bool {
        self.forms.is_none()
    }

    pub(crate) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.forms {
            Some(forms) if forms.is_match(text) => Cow::Owned(forms.replace_all(text, &vec![MASK; forms.patterns_len()])),
            _ => Cow::Borrowed(text),
        }
    }

    /// Returns how many bytes at the end of a stream's text must wait for what comes next, so that a secret that is
    /// split over two chunks is still found.
    pub(crate) fn held_back(&self) -> usize {
        self.longest.saturating_sub(1)
    }
}

fn forms_of(secret: &str) -> Vec<String> {
    let json = serde_json::to_string(secret).unwrap_or_default();
    let mut forms = vec![
        secret.to_owned(),
        json.trim_matches('"').to_owned(),
        json.trim_matches('"').replace('/', "\\/"),
        percent_encoded(secret, '\0'),
        percent_encoded(secret, '\0').replace("%20", "+"),
        percent_encoded(secret, '/'),
    ];
    for skipped in 0..3_usize {
        // Text in front of the secret shifts the alignment; the first and last groups mix with their neighbours.
        let padded = [vec![0_u8; skipped], secret.as_bytes().to_vec()].concat();
        for encoded in [BASE64_NOPAD.encode(&padded), BASE64URL_NOPAD.encode(&padded)] {
            let start = [0, 2, 3][skipped];
            let end = encoded.len() - usize::from(padded.len() % 3 != 0);
            if end > start + MASKED_SECRET_CHARS {
                forms.push(encoded[start..end].to_owned());
            }
        }
    }
    forms.retain(|form| form.len() >= MASKED_SECRET_CHARS);
    forms
}

fn percent_encoded(text: &str, kept: char) -> String {
    let mut out = String::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~') || c == kept {
            out.push(c);
        } else {
            out.push('%');
            out.push(char::from(b"0123456789ABCDEF"[usize::from(byte >> 4)]));
            out.push(char::from(b"0123456789ABCDEF"[usize::from(byte & 15)]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "p@ss \"w/ord\"+1";

    fn redactor() -> Redactor {
        Redactor::new([&Redacted::new(SECRET.to_owned())])
    }

    #[test]
    fn no_form_of_a_secret_comes_through() {
        let redactor = redactor();
        for text in [
            SECRET.to_owned(),
            serde_json::to_string(SECRET).expect("a string is always JSON"),
            "p%40ss%20%22w%2Ford%22%2B1".to_owned(),
            "p%40ss+%22w%2Ford%22%2B1".to_owned(),
            BASE64_NOPAD.encode(SECRET.as_bytes()),
        ] {
            let shown = redactor.redact(&format!("before {text} after")).into_owned();
            assert!(shown.contains(MASK), "{shown}");
            assert!(!shown.contains("ss \"w"), "{shown}");
        }
        for prefix in ["user:", "u:", "me:"] {
            let header = BASE64_NOPAD.encode(format!("{prefix}{SECRET}").as_bytes());
            assert!(redactor.redact(&header).contains(MASK), "{header}");
        }
    }

    #[test]
    fn other_text_is_left_as_it_is() {
        assert!(matches!(redactor().redact("nothing here"), Cow::Borrowed("nothing here")));
        assert!(Redactor::new([&Redacted::new("short".to_owned())]).is_idle());
    }

    #[test]
    fn a_secret_prints_as_a_mask() {
        let secret = Redacted::new("hunter2-hunter2".to_owned());
        assert_eq!(format!("{secret} {secret:?}"), "[REDACTED] [REDACTED]");
    }
}
