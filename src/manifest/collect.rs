//! Findings as they are made: where in the tree, and no more of them than a report shows.

use std::fmt;

use crate::base::json::{Lines, Node, Span, pointer_token};
use crate::base::limits::FINDINGS;
use crate::base::text::count;

use super::{Code, Finding, Severity};

/// Where in the tree a check stands. It lives on the stack; only a finding writes it out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path<'a> {
    Root,
    Key(&'a Self, &'a str),
    Index(&'a Self, usize),
}

impl<'a> Path<'a> {
    pub(super) const fn key(&'a self, key: &'a str) -> Self {
        Self::Key(self, key)
    }

    pub(super) const fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }

    /// Returns the RFC 6901 pointer.
    pub(super) fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Key(parent, key) => parent.pointer() + &pointer_token(key),
            Self::Index(parent, index) => format!("{}/{index}", parent.pointer()),
        }
    }
}

/// What a sentence calls this place: the key, or the list's key and the position from 1.
impl fmt::Display for Path<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => out.write_str("the manifest"),
            Self::Key(_, key) => write!(out, "`{}`", shown(key)),
            Self::Index(parent, index) => write!(out, "item {} of {parent}", index + 1),
        }
    }
}

/// A finding without its place.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) code: Code,
    pub(super) severity: Severity,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Draft {
    pub(super) fn error(code: Code, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, message: message.into(), help: None }
    }

    pub(super) fn warning(code: Code, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    pub(super) fn advice(code: Code, message: impl Into<String>) -> Self {
        Self { severity: Severity::Advice, ..Self::error(code, message) }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(super) fn help_if(mut self, help: Option<impl Into<String>>) -> Self {
        self.help = help.map(Into::into).or(self.help);
        self
    }
}

/// What was found so far. Memory is bounded: beyond [`FINDINGS`] of a kind they are only counted.
#[derive(Debug, Default)]
pub(super) struct Found {
    errors: Vec<Finding>,
    others: Vec<Finding>,
    errors_left_out: u64,
    others_left_out: u64,
}

impl Found {
    pub(super) fn add(&mut self, path: &Path<'_>, span: Span, draft: Draft) {
        if self.has_room(draft.severity) {
            self.add_at_pointer(path.pointer(), span, draft);
        } else {
            self.leave_out(draft.severity);
        }
    }

    /// As [`Self::add`], for a place that isn't on the way of the checker.
    pub(super) fn add_at_pointer(&mut self, pointer: String, span: Span, draft: Draft) {
        let Draft { code, severity, message, help } = draft;
        if !self.has_room(severity) {
            return self.leave_out(severity);
        }
        let kept = if severity == Severity::Error { &mut self.errors } else { &mut self.others };
        kept.push(Finding { code, severity, message, help, pointer, span: Some(span), place: None });
    }

    /// As [`Self::add`], for a draft that is costly to make: it isn't made if it would only be counted.
    pub(super) fn add_with(&mut self, severity: Severity, path: &Path<'_>, span: Span, draft: impl FnOnce() -> Draft) {
        if self.has_room(severity) {
            self.add_at_pointer(path.pointer(), span, Draft { severity, ..draft() });
        } else {
            self.leave_out(severity);
        }
    }

    fn has_room(&self, severity: Severity) -> bool {
        let kept = if severity == Severity::Error { &self.errors } else { &self.others };
        kept.len() < FINDINGS
    }

    fn leave_out(&mut self, severity: Severity) {
        if severity == Severity::Error {
            self.errors_left_out += 1;
        } else {
            self.others_left_out += 1;
        }
    }

    pub(super) fn at(&mut self, path: &Path<'_>, node: &Node, draft: Draft) {
        self.add(path, node.span, draft);
    }

    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Returns them in the order of the text, with lines and columns; errors are the last to be left out.
    pub(super) fn finish(self, bytes: &[u8]) -> Vec<Finding> {
        let Self { errors: mut findings, others, errors_left_out, others_left_out } = self;
        if findings.is_empty() && others.is_empty() {
            return findings;
        }
        let room = FINDINGS.saturating_sub(findings.len());
        let left_out = errors_left_out + others_left_out + others.len().saturating_sub(room) as u64;
        findings.extend(others.into_iter().take(room));
        findings.sort_by_key(|finding| finding.span.map(|span| (span.start, span.end)));
        let lines = Lines::new(bytes);
        for finding in &mut findings {
            finding.place = finding.span.map(|span| lines.place(span));
        }
        if left_out > 0 {
            let severity = if errors_left_out > 0 { Severity::Error } else { Severity::Warning };
            findings.push(Finding {
                code: Code::TooManyFindings,
                severity,
                message: format!("{} more than the {FINDINGS} shown", count(left_out, "finding")),
                help: Some("mend these and check again".to_owned()),
                pointer: String::new(),
                span: None,
                place: None,
            });
        }
        findings
    }
}

/// Returns the start of a text from the file, as a sentence can hold it. What it must not show is made visible later.
pub(super) fn shown(text: &str) -> std::borrow::Cow<'_, str> {
    crate::base::text::cut(text, 60)
}
