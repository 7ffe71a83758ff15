//! Text from outside made safe to show, and small words about text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns `text` on one line with nothing in it that a terminal obeys or an eye can't see: control characters, bidi
/// controls, tags and zero-width characters come out as `\n`, `\u{1b}` and the like (hardening D-1 to D-3).
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    shown(text, |_| false)
}

/// As [`visible`], but line feeds and tabs stay.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    shown(text, |c| matches!(c, '\n' | '\t'))
}

fn shown(text: &str, keeps: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if keeps(c) || !(is_hidden(c) || is_stray_joiner(c, before, chars.peek().copied())) {
            out.push(c);
        } else {
            match c {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                // Writing to a String can't fail.
                _ => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
            }
        }
        before = Some(c);
    }
    Cow::Owned(out)
}

/// Says whether a person can't see `c`, or a terminal acts on it. Joiners are judged in their place by [`visible`].
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control() || is_bidi_control(c) || is_invisible(c)
}

/// Says whether `c` changes the direction of the text around it.
pub(crate) fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Says whether `c` takes no room: zero-width characters, soft hyphen, tags, variation selectors of the supplement, and
/// the two separators that some terminals take as line ends.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'
        | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A joiner is honest between two letters of a script that needs it, or between two pictures.
fn is_stray_joiner(c: char, before: Option<char>, after: Option<char>) -> bool {
    let joins = |side: Option<char>| side.is_some_and(|c| !c.is_ascii() && !is_hidden(c));
    matches!(c, '\u{200c}' | '\u{200d}') && !(joins(before) && joins(after))
}

/// Returns the code points of `text` that [`visible`] would not show as they are, each once, in order.
pub(crate) fn hidden_in(text: &str) -> Vec<char> {
    let mut found = Vec::new();
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if !matches!(c, '\n' | '\t' | '\r') && (is_hidden(c) || is_stray_joiner(c, before, chars.peek().copied())) && !found.contains(&c) {
            found.push(c);
        }
        before = Some(c);
    }
    found
}

/// Returns the first `limit` characters of `text`, with an ellipsis if some are left out.
pub(crate) fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        None => Cow::Borrowed(text),
        Some((at, _)) => Cow::Owned(format!("{}…", &text[..at])),
    }
}

/// Returns text that a terminal may see from bytes that may be anything: cut to `limit` bytes, made visible.
pub(crate) fn visible_bytes(bytes: &[u8], limit: usize) -> String {
    let shown = &bytes[..bytes.len().min(limit)];
    let text = String::from_utf8_lossy(shown);
    let more = if bytes.len() > limit { "…" } else { "" };
    format!("{}{more}", visible(&text))
}

/// Returns the length in UTF-16 code units, in which the manifest's limits are counted.
pub(crate) fn utf16_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Returns the candidate that a person most likely meant by `name`, if one is near enough.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(name);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&folded, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(name.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the candidate that `name` is surely a misspelling of: one slip away, two in a long name, and no other
/// candidate that near.
pub(crate) fn misspelt<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(name);
    let slips = match folded.chars().count() {
        0..4 => 0,
        4..9 => 1,
        _ => 2,
    };
    let mut near = candidates.into_iter().filter(|candidate| strsim::damerau_levenshtein(&folded, &fold(candidate)) <= slips);
    let found = near.next()?;
    near.next().is_none().then_some(found)
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).take(200).collect()
}

/// Returns `1 file`, `2 files`.
pub(crate) fn count(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// Returns `a`, `a and b`, `a, b and c`; each in backticks.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_stays() {
        for (text, shown) in [
            ("plain", "plain"),
            ("\u{1b}[2J\u{1b}[1;1H", "\\u{1b}[2J\\u{1b}[1;1H"),
            ("a\r\nb\tc\u{8}", "a\\r\\nb\\tc\\u{8}"),
            ("x\u{9b}31m", "x\\u{9b}31m"),
            ("gpj\u{202e}.exe", "gpj\\u{202e}.exe"),
            ("\u{e0041}\u{e0042}", "\\u{e0041}\\u{e0042}"),
            ("a\u{200b}b\u{200d}c", "a\\u{200b}b\\u{200d}c"),
            ("👩\u{200d}🔬 Grüße 日本", "👩\u{200d}🔬 Grüße 日本"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(visible_lines("a\n\tb\u{1b}"), "a\n\tb\\u{1b}");
    }

    #[test]
    fn every_bidi_control_is_named() {
        for c in ['\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}'] {
            assert_eq!(hidden_in(&format!("a{c}b")), [c]);
        }
    }

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        let names = ["lifecycle", "command", "args", "workingDirectory"];
        assert_eq!(nearest("lifeCycle", names), Some("lifecycle"));
        assert_eq!(nearest("comand", names), Some("command"));
        assert_eq!(nearest("working_directory", names), Some("workingDirectory"));
        assert_eq!(nearest("zebra", names), None);
    }

    #[test]
    fn a_misspelling_has_one_right_spelling() {
        let names = ["lifecycle", "command", "args", "risk", "disk"];
        assert_eq!(misspelt("life_cycle", names), Some("lifecycle"));
        assert_eq!(misspelt("lifecylces", names), Some("lifecycle"));
        assert_eq!(misspelt("comand", names), Some("command"));
        assert_eq!(misspelt("tags", names), None);
        assert_eq!(misspelt("fisk", names), None);
        assert_eq!(misspelt("arg", names), None);
    }

    #[test]
    fn lengths_are_counted_in_utf16_units() {
        assert_eq!(utf16_len("aé"), 2);
        assert_eq!(utf16_len("👩"), 2);
    }

    #[test]
    fn lists_read_like_a_sentence() {
        assert_eq!(listed(["a"]), "`a`");
        assert_eq!(listed(["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(count(0, "file"), "0 files");
    }
}
