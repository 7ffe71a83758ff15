//! The grammars of strings: what a text has to look like by itself, whatever stands around it.

use std::fmt::Display;

use crate::base::text::{hidden_in, listed, nearest};
use crate::tool::{CapabilityName, IdError, PackageId, ToolName, VariableName, Version};

use super::Code;
use super::collect::{Draft, shown};
use super::{command, template, url};

/// A grammar. Its reading as a check is [`Form::check`], as documentation [`Form::doc`], as JSON Schema
/// [`Form::pattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Text that people and models read.
    Prose,
    /// An argument of a process: any text.
    Argument,
    PackageId,
    Version,
    ToolName,
    /// The key of a map that has to be a tool's name; which ones there are is a rule across fields.
    ToolKey,
    VariableName,
    CapabilityName,
    Url,
    /// A URL of scheme http or https.
    HttpUrl,
    Command,
    RelativePath,
    /// A header of the transport that may be set (manifest §4).
    HeaderName,
    /// A header's value with `${NAME}` (manifest §4).
    HeaderValue,
    UrlTemplate,
    /// A header's value with `{{name}}` (manifest §6).
    HeaderTemplate,
    SecretRef,
    BodyTemplate,
    JsonPath,
    /// A regular expression; compiled where its variable is built.
    Pattern,
}

/// Headers that belong to the connection (manifest §4).
const FORBIDDEN_HEADERS: [&str; 6] = ["host", "content-length", "connection", "transfer-encoding", "keep-alive", "upgrade"];

impl Form {
    /// Says that the grammar has its own words for a text of the wrong length.
    pub(super) const fn judges_length(self) -> bool {
        matches!(self, Self::PackageId | Self::Version | Self::ToolName | Self::VariableName | Self::CapabilityName)
    }

    /// Says that people or models read the text, so that blanks alone say nothing.
    pub(super) const fn is_read(self) -> bool {
        matches!(self, Self::Prose)
    }

    /// Reports everything that is wrong with `text`. `name` is what sentences call it.
    pub(super) fn check(self, text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
        self.check_hidden(text, name, report);
        match self {
            Self::Prose | Self::Argument | Self::ToolKey | Self::Pattern => {}
            Self::PackageId => check_id::<PackageId>(Code::BadPackageId, text, name, report),
            Self::ToolName => check_id::<ToolName>(Code::BadToolName, text, name, report),
            Self::VariableName => check_id::<VariableName>(Code::BadVariableName, text, name, report),
            Self::CapabilityName => check_id::<CapabilityName>(Code::BadCapabilityName, text, name, report),
            Self::Version => check_version(text, name, report),
            Self::Url => {
                if let Err(fault) = url::check(text) {
                    report(
                        Draft::error(Code::BadUrl, format!("{name} is not an absolute URL: {fault}"))
                            .help("write it as `https://host/path`"),
                    );
                }
            }
            Self::HttpUrl => check_http_url(text, name, report),
            Self::Command => command::check(text, name, report),
            Self::RelativePath => command::check_relative_path(text, name, report),
            Self::HeaderName => check_header_name(text, report),
            Self::HeaderValue => {
                check_line_breaks(text, name, report);
                template::check_variables(text, name, report);
            }
            Self::UrlTemplate => {
                check_url_template(text, name, report);
                template::check_parameters(text, name, report);
            }
            Self::HeaderTemplate => {
                check_line_breaks(text, name, report);
                template::check_parameters(text, name, report);
            }
            Self::SecretRef => check_secret_ref(text, name, report),
            Self::BodyTemplate => template::check_body(text, name, report),
            Self::JsonPath => check_json_path(text, name, report),
        }
    }

    /// Hardening D-2: refused in paths, a warning in texts. Names have a grammar that allows none of it.
    fn check_hidden(self, text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
        if self.judges_length() || matches!(self, Self::HeaderName | Self::SecretRef | Self::ToolKey) {
            return;
        }
        let Some(points) = hidden_points(text) else { return };
        let help = "leave them out: what a person can't see, a model or a shell still reads";
        report(match self {
            Self::Command | Self::RelativePath => {
                Draft::error(Code::HiddenInName, format!("{name} holds characters that can't be seen: {points}")).help(help)
            }
            _ => hidden_draft(name, &points).help(help),
        });
    }

    #[cfg_attr(not(test), expect(dead_code, reason = "the published schema is written from it"))]
    /// Returns an ECMAScript pattern for the published schema: never stricter than [`Form::check`].
    pub(super) const fn pattern(self) -> Option<&'static str> {
        Some(match self {
            Self::PackageId => r"^[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*$",
            Self::Version => r"^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.-]*[0-9A-Za-z-])?$",
            Self::ToolName => r"^[a-z][a-z0-9_-]+$",
            Self::VariableName => r"^[A-Z_][A-Z0-9_]*$",
            Self::CapabilityName => r"^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)+$",
            Self::Url => r"^[A-Za-z][A-Za-z0-9+.-]*:",
            Self::HttpUrl | Self::UrlTemplate => r"^[Hh][Tt][Tt][Pp][Ss]?://",
            Self::RelativePath => r"^[^/\\][^\\]*$",
            Self::HeaderName => r"^[A-Za-z0-9!#$%&'*+.^_|~-]+$",
            Self::HeaderValue | Self::HeaderTemplate => r"^[^\r\n]*$",
            Self::SecretRef => r"^[A-Za-z0-9_-]+$",
            Self::Prose | Self::Argument | Self::ToolKey | Self::Command | Self::BodyTemplate | Self::JsonPath | Self::Pattern => {
                return None;
            }
        })
    }

    /// Returns what the documentation says of the grammar.
    #[cfg_attr(not(test), expect(dead_code, reason = "docs/manifest.md is written from it"))]
    pub(super) const fn doc(self) -> Option<&'static str> {
        Some(match self {
            Self::PackageId => "`a-z`, `0-9`, `.`, `_`, `-`; the first a letter or digit",
            Self::Version => "like `1.2.3`, `1.2.3-beta.1` or `1.2.3+build`",
            Self::ToolName => "`a-z`, `0-9`, `_`, `-`; the first a letter",
            Self::VariableName => "`A-Z`, `0-9`, `_`; the first no digit",
            Self::CapabilityName => "lower-case words joined by dots, like `storage.kv.get`",
            Self::Url => "an absolute URL",
            Self::HttpUrl => "an absolute http or https URL",
            Self::Command => "`./file`, or a bare program name; an absolute path is a warning",
            Self::RelativePath => "relative, with `/`; not `.`, no `..`, no `\\`",
            Self::HeaderName => "an HTTP token; not `host`, `content-length`, `connection`, `transfer-encoding`, `keep-alive` or `upgrade`",
            Self::HeaderValue => "one line; `${NAME}` is a placeholder",
            Self::UrlTemplate => "begins `http://` or `https://`; `{{name}}` is a placeholder",
            Self::HeaderTemplate => "one line; `{{name}}` is a placeholder",
            Self::SecretRef => "`A-Z`, `a-z`, `0-9`, `_`, `-`",
            Self::BodyTemplate => "JSON; `{{name}}` is a placeholder",
            Self::JsonPath => "`$`, then `.name`, `[0]`, `[*]`",
            Self::Pattern => "an ECMAScript regular expression",
            Self::ToolKey => "a tool's name",
            Self::Prose | Self::Argument => return None,
        })
    }
}

/// Returns the hidden characters of `text` as `U+202E, U+200B`.
pub(super) fn hidden_points(text: &str) -> Option<String> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')) {
        return None;
    }
    let hidden = hidden_in(text);
    if hidden.is_empty() {
        return None;
    }
    let points: Vec<String> = hidden.iter().take(12).map(|c| format!("U+{:04X}", u32::from(*c))).collect();
    let more = if hidden.len() > points.len() { " and more" } else { "" };
    Some(format!("{}{more}", points.join(", ")))
}

pub(super) fn hidden_draft(name: &dyn Display, points: &str) -> Draft {
    Draft::warning(Code::HiddenCharacters, format!("{name} holds characters that can't be seen: {points}"))
}

fn check_id<T: std::str::FromStr<Err = IdError>>(code: Code, text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    let Err(error) = text.parse::<T>() else { return };
    // How many characters there are is no news about a text that doesn't look like a name at all.
    let error = match error {
        IdError::Length { found, min, .. } if found < min && code == Code::BadCapabilityName => IdError::NoDot,
        error => error,
    };
    let message = match error {
        IdError::DeviceName { .. } => format!("{name} can't be used: {error}"),
        _ => format!("{name} {error}"),
    };
    let suggested = suggest::<T>(text, code == Code::BadVariableName);
    report(Draft::error(code, message).help_if(suggested.map(|text| format!("write `{text}`"))));
}

/// Returns the text in the grammar's letters, if that makes it a name.
fn suggest<T: std::str::FromStr<Err = IdError>>(text: &str, is_upper: bool) -> Option<String> {
    if !text.is_ascii() || text.len() > 200 {
        return None;
    }
    let folded: String = text
        .trim()
        .chars()
        .map(|c| if is_upper { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
        .map(|c| match c {
            ' ' | '/' | ':' | '\\' | '@' => {
                if is_upper {
                    '_'
                } else {
                    '-'
                }
            }
            '-' | '.' if is_upper => '_',
            c => c,
        })
        .collect();
    let folded = folded.trim_matches(['-', '.']);
    (folded != text && folded.parse::<T>().is_ok()).then(|| folded.to_owned())
}

fn check_version(text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    match text.parse::<Version>() {
        Err(error) => {
            let help = suggest_version(text)
                .map_or_else(|| "a version looks like `1.2.3` or `1.2.3-beta.1`".to_owned(), |text| format!("write `{text}`"));
            let error = match error {
                IdError::Length { found, min, .. } if found < min => IdError::Version,
                error => error,
            };
            report(Draft::error(Code::BadVersion, format!("{name} {error}")).help(help));
        }
        Ok(version) if !version.is_semver() => {
            report(
                Draft::warning(Code::NotSemver, format!("{name} `{}` is not a SemVer 2 version", shown(text)))
                    .help("registries and other tools refuse it: no leading zeros, no empty parts between the dots"),
            );
        }
        Ok(_) => {}
    }
}

fn suggest_version(text: &str) -> Option<String> {
    let bare = text.trim().trim_start_matches(['v', 'V', '=']);
    let dots = bare.matches('.').count();
    let candidate = match dots {
        0 => format!("{bare}.0.0"),
        1 => format!("{bare}.0"),
        _ => bare.split('+').next().unwrap_or(bare).to_owned(),
    };
    (candidate != text && candidate.len() < 60 && candidate.parse::<Version>().is_ok()).then_some(candidate)
}

fn check_http_url(text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    let draft = match url::check(text) {
        Err(fault) => Draft::error(Code::BadUrl, format!("{name} is not an absolute URL: {fault}")).help("write it as `https://host/path`"),
        Ok(scheme) if matches!(scheme.as_str(), "http" | "https") => return,
        Ok(scheme) => Draft::error(Code::BadUrlScheme, format!("{name} is of the scheme `{}`", shown(&scheme)))
            .help("only `http` and `https` can be called"),
    };
    report(draft);
}

fn check_url_template(text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    let has_prefix = |prefix: &str| text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    if !has_prefix("http://") && !has_prefix("https://") {
        report(
            Draft::error(Code::BadUrlScheme, format!("{name} doesn't begin with `http://` or `https://`"))
                .help("write scheme and host out, as in `https://api.example.com/items/{{id}}`"),
        );
    }
}

fn check_line_breaks(text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    if text.contains(['\r', '\n', '\0']) {
        report(
            Draft::error(Code::BadHeaderValue, format!("{name} holds a line break or NUL"))
                .help("a header is one line; whatever follows a line break would be another header"),
        );
    }
}

fn check_header_name(text: &str, report: &mut dyn FnMut(Draft)) {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+.^_|~-".contains(c);
    if let Some(c) = text.chars().find(|c| !is_token(*c)) {
        report(
            Draft::error(
                Code::BadHeaderName,
                format!("a header can't be called `{}`: `{}` is not allowed in it", shown(text), shown(&c.to_string())),
            )
            .help("letters, digits and any of !#$%&'*+.^_|~-"),
        );
    } else if FORBIDDEN_HEADERS.iter().any(|name| name.eq_ignore_ascii_case(text)) {
        report(
            Draft::error(Code::ForbiddenHeader, format!("the header `{text}` can't be set"))
                .help(format!("{} belong to the connection; remove it", listed(FORBIDDEN_HEADERS))),
        );
    }
}

fn check_secret_ref(text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    if let Some(c) = text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))) {
        report(
            Draft::error(Code::BadSecretRef, format!("{name} may not contain `{}`", shown(&c.to_string())))
                .help("write the name of a variable under `environment`, nothing else"),
        );
    }
}

/// The path language of custom-tools §8.
fn check_json_path(text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    if !is_json_path(text) {
        report(
            Draft::warning(Code::BadJsonPath, format!("{name} `{}` is outside the path language", shown(text)))
                .help("the column stays empty: write `$`, then any of `.name`, `[0]` and `[*]`"),
        );
    }
}

fn is_json_path(text: &str) -> bool {
    let Some(mut rest) = text.strip_prefix('$') else { return false };
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let length = after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')).count();
            if length == 0 || after.as_bytes()[0].is_ascii_digit() {
                return false;
            }
            rest = &after[length..];
        } else if let Some(after) = rest.strip_prefix("[*]") {
            rest = after;
        } else {
            let Some((index, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else { return false };
            if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
                return false;
            }
            rest = after;
        }
    }
    true
}

/// Returns the help for a word that isn't one of `words`.
pub(super) fn help_for_word(word: &str, words: &[&'static str]) -> Option<String> {
    nearest(word, words.iter().copied()).map(|word| format!("did you mean `{word}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(form: Form, text: &str) -> Vec<Code> {
        let mut codes = Vec::new();
        form.check(text, &"`it`", &mut |draft| codes.push(draft.code));
        codes
    }

    fn help(form: Form, text: &str) -> Option<String> {
        let mut help = None;
        form.check(text, &"`it`", &mut |draft| help = draft.help);
        help
    }

    #[test]
    fn a_name_out_of_its_grammar_comes_with_the_name_that_was_meant() {
        assert_eq!(help(Form::PackageId, "Acme Tools").as_deref(), Some("write `acme-tools`"));
        assert_eq!(help(Form::ToolName, "Say Hello").as_deref(), Some("write `say-hello`"));
        assert_eq!(help(Form::VariableName, "api-key").as_deref(), Some("write `API_KEY`"));
        assert_eq!(help(Form::Version, "v1.2").as_deref(), Some("write `1.2.0`"));
        assert_eq!(help(Form::PackageId, "p\u{430}ypal"), None);
    }

    // Manifest §4.
    #[test]
    fn headers_of_the_connection_are_refused_in_any_case() {
        for name in ["Host", "content-length", "CONNECTION", "Transfer-Encoding", "keep-alive", "Upgrade"] {
            assert_eq!(codes(Form::HeaderName, name), [Code::ForbiddenHeader], "{name}");
        }
        for name in ["X Y", "X:Y", "X`", "\u{e9}", "a\nb"] {
            assert_eq!(codes(Form::HeaderName, name), [Code::BadHeaderName], "{name}");
        }
        assert_eq!(codes(Form::HeaderName, "X-Api.Key"), []);
    }

    // Custom-tools §8.
    #[test]
    fn a_path_of_the_extract_language_has_three_kinds_of_steps() {
        for (path, is_one) in [
            ("$", true),
            ("$.a.b_c[0][*]", true),
            ("$[12].x", true),
            ("a.b", false),
            ("$..a", false),
            ("$.a-b", false),
            ("$['a']", false),
            ("$[-1]", false),
            ("$.1a", false),
            ("$[", false),
        ] {
            assert_eq!(is_json_path(path), is_one, "{path}");
        }
    }

    // H: D-2
    #[test]
    fn hidden_characters_are_listed_and_refused_in_paths() {
        for c in ['\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}'] {
            let point = format!("U+{:04X}", u32::from(c));
            let text = format!("ab{c}c");
            assert_eq!(hidden_points(&text).as_deref(), Some(point.as_str()));
            assert_eq!(codes(Form::Prose, &text), [Code::HiddenCharacters]);
            assert_eq!(codes(Form::RelativePath, &text), [Code::HiddenInName]);
            assert_eq!(codes(Form::Command, &format!("./{text}")), [Code::HiddenInName]);
            assert_eq!(codes(Form::ToolName, &text), [Code::BadToolName]);
        }
    }
}
