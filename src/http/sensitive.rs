//! Which names carry credentials, and which texts are some (custom-tools §5).

/// The words of a sensitive name; a blank stands for `_`, `-` or nothing.
const WORDS: [&str; 10] =
    ["access token", "refresh token", "token", "secret", "password", "authorization", "cookie", "credential", "api key", "private key"];

/// Says whether a header or query parameter of this name carries a credential: one of the words, from the start or
/// after `_` or `-`, to the end or before `_` or `-`.
pub(crate) fn is_sensitive_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let starts = std::iter::once(0).chain(name.match_indices(['_', '-']).map(|(at, _)| at + 1));
    starts.into_iter().any(|start| WORDS.iter().any(|word| stands_at(&name[start..], word)))
}

fn stands_at(text: &str, word: &str) -> bool {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['_', '-']);
    match word.split_once(' ') {
        None => text.strip_prefix(word).is_some_and(ends),
        Some((first, second)) => text
            .strip_prefix(first)
            .map(|rest| rest.strip_prefix(['_', '-']).unwrap_or(rest))
            .and_then(|rest| rest.strip_prefix(second))
            .is_some_and(ends),
    }
}

/// How a kind of credential begins, what follows it, and how much of that.
struct Shape {
    prefix: &'static str,
    follows: fn(char) -> bool,
    at_least: usize,
    at_most: usize,
}

const fn shape(prefix: &'static str, follows: fn(char) -> bool, at_least: usize, at_most: usize) -> Shape {
    Shape { prefix, follows, at_least, at_most }
}

const SHAPES: [Shape; 9] = [
    shape("sk-", |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'), 16, usize::MAX),
    shape("AKIA", |c| c.is_ascii_uppercase() || c.is_ascii_digit(), 16, 16),
    shape("ghp_", |c| c.is_ascii_alphanumeric(), 20, usize::MAX),
    shape("gho_", |c| c.is_ascii_alphanumeric(), 20, usize::MAX),
    shape("xoxb-", |c| c.is_ascii_alphanumeric() || c == '-', 10, usize::MAX),
    shape("xoxa-", |c| c.is_ascii_alphanumeric() || c == '-', 10, usize::MAX),
    shape("xoxp-", |c| c.is_ascii_alphanumeric() || c == '-', 10, usize::MAX),
    shape("xoxr-", |c| c.is_ascii_alphanumeric() || c == '-', 10, usize::MAX),
    shape("xoxs-", |c| c.is_ascii_alphanumeric() || c == '-', 10, usize::MAX),
];

/// Says whether a text holds what looks like a credential (custom-tools §5, literal secret).
pub(crate) fn has_literal_secret(text: &str) -> bool {
    SHAPES.iter().any(|shape| has_shape(text, shape)) || has_bearer(text) || has_private_key(text)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn has_shape(text: &str, shape: &Shape) -> bool {
    text.match_indices(shape.prefix).any(|(at, _)| {
        let rest = &text[at + shape.prefix.len()..];
        // Longer than any bound; a text of nothing but prefixes stays linear.
        let length = rest.chars().take(64).take_while(|c| (shape.follows)(*c)).count();
        let begins_word = !text[..at].chars().next_back().is_some_and(is_word);
        let ends_word = shape.at_most == usize::MAX || !rest.chars().nth(length).is_some_and(is_word);
        begins_word && ends_word && (shape.at_least..=shape.at_most).contains(&length)
    })
}

fn has_bearer(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.match_indices("bearer").any(|(at, word)| {
        let rest = &text[at + word.len()..];
        let value = rest.trim_start();
        let length = value.chars().take(20).take_while(|c| c.is_ascii_alphanumeric() || "._~+/-".contains(*c)).count();
        value.len() < rest.len() && length == 20
    })
}

fn has_private_key(text: &str) -> bool {
    text.match_indices("-----BEGIN ").any(|(at, opening)| {
        let rest = &text[at + opening.len()..];
        rest.find("-----").is_some_and(|end| end < 60 && rest[..end].ends_with("PRIVATE KEY"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Custom-tools §5, the measured hits and misses.
    #[test]
    fn names_are_sensitive_as_measured() {
        for name in
            ["Authorization", "X-Api-Key", "Set-Cookie", "X-CSRF-Token", "accessToken", "client_secret", "apikey", "private_key", "token-x"]
        {
            assert!(is_sensitive_name(name), "{name}");
        }
        for name in ["apiToken", "credentials", "tokens", "passwd", "X-Auth", "session_id", "sig", "", "é-x"] {
            assert!(!is_sensitive_name(name), "{name}");
        }
    }

    // Custom-tools §5.
    #[test]
    fn literal_secrets_are_known_by_their_shape() {
        let run = "a1B2c3D4e5F6g7H8i9J0";
        for text in [
            format!("x sk-{run}"),
            "key=AKIAABCDEFGHIJKLMNOP&".to_owned(),
            format!("ghp_{run}"),
            format!("gho_{run}"),
            "xoxb-1234567890".to_owned(),
            format!("BEARER  {run}=="),
            "-----BEGIN RSA PRIVATE KEY-----".to_owned(),
            "-----BEGIN PRIVATE KEY-----".to_owned(),
        ] {
            assert!(has_literal_secret(&text), "{text}");
        }
        for text in [
            "sk-short",
            "desk-a1B2c3D4e5F6g7H8i9J0",
            "AKIAABCDEFGHIJKLMNOPQ",
            "ghp_short",
            "Bearer ${TOKEN}",
            "Bearer {{token}}",
            "-----BEGIN PUBLIC KEY-----",
            "",
        ] {
            assert!(!has_literal_secret(text), "{text}");
        }
    }
}
