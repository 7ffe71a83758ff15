//! Secrets: a wrapper that never prints its text, and the mask that keeps that text out of everything else.

use std::borrow::Cow;
use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};
use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};

use super::limits::MASKED_SECRET_CHARS;

/// What stands where a secret stood.
pub(crate) const MASK: &str = "[REDACTED]";

/// `\uXXXX`: the longest that one UTF-16 unit can be spelt.
const ESCAPE_BYTES: usize = 6;
/// How deep JSON in JSON in JSON is looked into.
const LAYERS: usize = 3;
/// `\\\\uXXXX`: the longest that one UTF-16 unit gets where each layer escapes only what it must.
const SPELLING_BYTES: usize = ESCAPE_BYTES - 1 + (1 << (LAYERS - 1));

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
/// alphabets), JSON-escaped in any spelling (`\u0026` for `&` as Go writes it, `\u00e9` for `é` as Python does), also as
/// JSON in JSON. A secret of fewer than 6 characters is not masked (design §4, redaction).
#[derive(Clone, Debug, Default)]
pub(crate) struct Redactor {
    forms: Option<AhoCorasick>,
    longest: usize,
}

impl Redactor {
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a Redacted<String>>) -> Self {
        let mut forms: Vec<String> = Vec::new();
        let mut longest_spelling = 0;
        for secret in secrets {
            let secret = secret.expose();
            if secret.chars().count() >= MASKED_SECRET_CHARS {
                forms.extend(forms_of(secret));
                longest_spelling = longest_spelling.max(secret.encode_utf16().count() * SPELLING_BYTES);
            }
        }
        forms.sort_unstable();
        forms.dedup();
        let longest = forms.iter().map(String::len).max().unwrap_or(0).max(longest_spelling);
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
        let Some(forms) = &self.forms else { return Cow::Borrowed(text) };
        let mut spans: Vec<(usize, usize)> = forms.find_iter(text).map(|found| (found.start(), found.end())).collect();
        // The readings of the text, each with one more layer of escapes taken off, and where they come from.
        let mut layers: Vec<Unescaped> = Vec::new();
        while layers.len() < LAYERS
            && let Some(layer) = Unescaped::of(layers.last().map_or(text, |layer| &layer.text))
        {
            layers.push(layer);
            let origin = |at| layers.iter().rev().fold(at, |at, layer| layer.origin(at));
            let found = forms.find_iter(&layers[layers.len() - 1].text);
            spans.extend(found.map(|found| (origin(found.start()), origin(found.end()))));
        }
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        spans.sort_unstable();
        let mut masked = String::with_capacity(text.len());
        let mut done = 0;
        for (start, end) in spans {
            if start >= done {
                masked.push_str(&text[done..start]);
                masked.push_str(MASK);
            }
            done = done.max(end);
        }
        masked.push_str(&text[done..]);
        Cow::Owned(masked)
    }

    /// Returns how many bytes at the end of a stream's text must wait for what comes next, so that a secret that is
    /// split over two chunks is still found.
    pub(crate) fn held_back(&self) -> usize {
        self.longest.saturating_sub(1)
    }
}

/// A text without one layer of JSON escapes.
struct Unescaped {
    text: String,
    /// Behind each escape: the place in `text`, the place where it came from.
    points: Vec<(usize, usize)>,
}

impl Unescaped {
    /// `None` if there is no escape in it. What is no escape stays as it is: the text may be anything.
    fn of(text: &str) -> Option<Self> {
        let mut out = Self { text: String::new(), points: Vec::new() };
        let mut copied = 0;
        while let Some(found) = text[copied..].find('\\') {
            let at = copied + found;
            out.text.push_str(&text[copied..at]);
            if let Some((c, length)) = escaped_char(&text.as_bytes()[at..]) {
                out.text.push(c);
                copied = at + length;
                out.points.push((out.text.len(), copied));
            } else {
                out.text.push('\\');
                copied = at + 1;
            }
        }
        out.text.push_str(&text[copied..]);
        (!out.points.is_empty()).then_some(out)
    }

    /// Returns where the character that starts at `at` came from.
    fn origin(&self, at: usize) -> usize {
        match self.points.partition_point(|(place, _)| *place <= at).checked_sub(1) {
            None => at,
            Some(last) => self.points[last].1 + (at - self.points[last].0),
        }
    }
}

/// Reads an escape of JSON and says how long it is.
fn escaped_char(bytes: &[u8]) -> Option<(char, usize)> {
    let plain = |c| Some((c, 2));
    match bytes.get(1)? {
        b'n' => plain('\n'),
        b'r' => plain('\r'),
        b't' => plain('\t'),
        b'b' => plain('\u{8}'),
        b'f' => plain('\u{c}'),
        quoted @ (b'"' | b'\\' | b'/') => plain(char::from(*quoted)),
        b'u' => {
            let unit = |at: usize| {
                let digits = bytes.get(at..at + ESCAPE_BYTES)?.strip_prefix(b"\\u")?;
                digits.iter().all(u8::is_ascii_hexdigit).then(|| u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok())?
            };
            let first = unit(0)?;
            let alone = char::decode_utf16([first]).next()?.ok().map(|c| (c, ESCAPE_BYTES));
            alone.or_else(|| Some((char::decode_utf16([first, unit(ESCAPE_BYTES)?]).next()?.ok()?, 2 * ESCAPE_BYTES)))
        }
        _ => None,
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
        let start = [0, 2, 3][skipped];
        for encoded in [BASE64_NOPAD.encode(&padded), BASE64URL_NOPAD.encode(&padded)] {
            let end = encoded.len() - usize::from(padded.len() % 3 != 0);
            if end > start + MASKED_SECRET_CHARS {
                forms.push(encoded[start..end].to_owned());
                // With nothing behind the secret its last group is its own.
                forms.push(encoded[start..].to_owned());
                forms.push(encoded[start..].to_owned() + ["", "==", "="][padded.len() % 3]);
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

    // H: K-2
    #[test]
    fn no_spelling_of_json_brings_a_secret_through() {
        let secret = "sk/live&abc<é\u{1f600}>\"x";
        let redactor = Redactor::new([&Redacted::new(secret.to_owned())]);
        let spelt = |spell: &dyn Fn(char) -> String| secret.chars().map(spell).collect::<String>();
        let unit = |c: char| {
            let units: Vec<String> = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
            units.concat()
        };
        let quoted = |c: char| if c == '"' { "\\\"".to_owned() } else { c.to_string() };
        let once = serde_json::to_string(secret).expect("JSON");
        let twice = serde_json::to_string(&once).expect("JSON");
        for (name, text) in [
            ("go", spelt(&|c| if "&<>".contains(c) { unit(c) } else { quoted(c) })),
            ("python", spelt(&|c| if c.is_ascii() { quoted(c) } else { unit(c) })),
            ("upper case", spelt(&|c| if c.is_ascii() { quoted(c) } else { unit(c).to_uppercase().replace("\\U", "\\u") })),
            ("php", spelt(&|c| if c == '/' { "\\/".to_owned() } else { quoted(c) })),
            ("all", spelt(&|c| unit(c))),
            ("the first", spelt(&|c| if c == 's' { unit(c) } else { quoted(c) })),
            ("in JSON in JSON", twice.clone()),
            ("and once more", serde_json::to_string(&twice).expect("JSON")),
        ] {
            let shown = redactor.redact(&format!("é\\n {text} \\x \\u12 after")).into_owned();
            assert_eq!(shown.matches(MASK).count(), 1, "{name}: {shown}");
            assert!(shown.starts_with("é\\n ") && shown.ends_with(" \\x \\u12 after") && !shown.contains("live"), "{name}: {shown}");
        }
    }

    #[test]
    fn the_whole_of_a_base64_form_is_masked() {
        for secret in ["hunter2-hunter2", "hunter2-hunter22", "hunter2-hunter222"] {
            let redactor = Redactor::new([&Redacted::new(secret.to_owned())]);
            for encoded in [data_encoding::BASE64.encode(secret.as_bytes()), data_encoding::BASE64URL_NOPAD.encode(secret.as_bytes())] {
                assert_eq!(redactor.redact(&format!("<{encoded}>")), format!("<{MASK}>"), "{encoded}");
            }
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
