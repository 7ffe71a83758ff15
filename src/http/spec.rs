//! A declarative HTTP request and what becomes of its answer (manifest §6).

use crate::tool::Risk;

/// One checked request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpSpec {
    pub(crate) request: Request,
    pub(crate) response: Response,
    /// `None`: as the host's own rules say (design §4, private networks).
    pub(crate) allow_private_network: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url_template: String,
    pub(crate) headers: Vec<Header>,
    /// A JSON template.
    pub(crate) body: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) content: HeaderContent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HeaderContent {
    Template(String),
    /// The name of a declared variable.
    Secret(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) format: ResponseFormat,
    pub(crate) extract: Vec<Extract>,
    pub(crate) max_size_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extract {
    pub(crate) label: String,
    pub(crate) json_path: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseFormat {
    MarkdownTable,
    Json,
    Text,
}

impl HttpSpec {
    /// Bytes of an answer that are read if the spec doesn't say (manifest §6).
    pub(crate) const MAX_SIZE_DEFAULT: u64 = 262_144;
}

impl Method {
    const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];
    pub(crate) const WORDS: &'static [&'static str] = &["GET", "POST", "PUT", "PATCH", "DELETE"];

    pub(crate) const fn as_str(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == word)
    }

    /// Says whether a body goes with it; the others' bodies are not sent (custom-tools §7).
    pub(crate) const fn sends_body(self) -> bool {
        !matches!(self, Self::Get | Self::Delete)
    }

    /// Returns the risk that a request of this kind has at least (custom-tools §2, risk floors).
    pub(crate) const fn risk_floor(self) -> Risk {
        match self {
            Self::Get => Risk::Read,
            Self::Post | Self::Put | Self::Patch => Risk::LowWrite,
            Self::Delete => Risk::Destructive,
        }
    }
}

impl ResponseFormat {
    const ALL: [Self; 3] = [Self::MarkdownTable, Self::Json, Self::Text];
    pub(crate) const WORDS: &'static [&'static str] = &["markdown-table", "json", "text"];

    pub(crate) const fn as_str(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Custom-tools §2.
    #[test]
    fn a_method_has_its_risk_floor() {
        let floors = Method::ALL.map(|method| (method.as_str(), method.risk_floor().as_str(), method.sends_body()));
        assert_eq!(
            floors,
            [
                ("GET", "read", false),
                ("POST", "low-write", true),
                ("PUT", "low-write", true),
                ("PATCH", "low-write", true),
                ("DELETE", "destructive", false)
            ]
        );
        assert_eq!(ResponseFormat::ALL.map(ResponseFormat::as_str), ["markdown-table", "json", "text"]);
    }
}
