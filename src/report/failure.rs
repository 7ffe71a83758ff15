//! A failure as a person reads it: miette's report, every text of it made visible first.

use std::error::Error;
use std::fmt::{self, Write as _};

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, ThemeCharacters, ThemeStyles};

use serde_json::Value;

use super::Look;
use crate::base::failure::{Class, Failure};
use crate::base::text::{visible, visible_lines};

/// Lines of a tool's stderr that a report shows (ours: an exception with its traceback).
const STDERR_LINES: usize = 20;

/// Returns the report of `failure`, styled; the stream takes the styles off where they aren't wanted.
pub(super) fn report(failure: &Failure, look: Look) -> String {
    match failure.class() {
        Class::Interrupted(_) => "interrupted\n".to_owned(),
        Class::AnswerNo
        | Class::Usage
        | Class::NotAllowed
        | Class::Unusable
        | Class::Conflict
        | Class::ToolBroke
        | Class::Machine
        | Class::Bug => rendered(&Shown::from(failure), look) + &told_by_the_tool(&failure.details()),
    }
}

/// What else is known of a tool that broke: the line that broke the protocol, what its result breaks, the end of its
/// stderr.
fn told_by_the_tool(details: &Value) -> String {
    let mut text = String::new();
    let problems = details["problems"].as_array().into_iter().flatten();
    for problem in problems {
        let [pointer, message] = ["pointer", "message"].map(|key| problem[key].as_str().unwrap_or_default());
        let place = if pointer.is_empty() { "the value itself" } else { pointer };
        writeln!(text, "  {}: {}", visible(place), visible(message)).expect("a String takes any text");
    }
    if let Some(line) = details["line"].as_str() {
        writeln!(text, "  its line: {}", visible(line)).expect("a String takes any text");
    }
    let tail = details["stderrTail"].as_str().unwrap_or_default();
    text + &stderr_lines(tail)
}

/// Returns the last lines of what a tool wrote to stderr, under a heading; nothing if there are none.
pub(super) fn stderr_lines(tail: &str) -> String {
    let tail = tail.trim_end();
    if tail.is_empty() {
        return String::new();
    }
    let start = tail.rmatch_indices('\n').nth(STDERR_LINES - 1).map_or(0, |(at, _)| at + 1);
    let lines = visible_lines(&tail[start..]);
    lines.lines().fold("  stderr:\n".to_owned(), |text, line| text + "    " + line + "\n")
}

/// Returns miette's rendering of any diagnostic, whose texts are visible already.
pub(super) fn rendered(diagnostic: &dyn Diagnostic, look: Look) -> String {
    let characters = if look.unicode { ThemeCharacters::unicode() } else { ThemeCharacters::ascii() };
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme { characters, styles: ThemeStyles::ansi() })
        .with_width(look.width)
        .with_links(false)
        .with_context_lines(1);
    let mut out = String::new();
    match handler.render_report(&mut out, diagnostic) {
        Ok(()) => out,
        // It fails on labels outside their source alone. A plain line is better than none.
        Err(fmt::Error) => format!("{diagnostic}\n"),
    }
}

/// A failure's texts, safe for a terminal.
#[derive(Debug)]
struct Shown {
    message: String,
    code: Option<String>,
    help: Option<String>,
    cause: Option<Box<Shown>>,
    /// Every reason of a failure that has several.
    related: Vec<Shown>,
}

impl From<&Failure> for Shown {
    fn from(failure: &Failure) -> Self {
        Self {
            message: visible(&failure.to_string()).into_owned(),
            code: Some(failure.code()),
            help: failure.help().map(|help| visible_lines(&help).into_owned()),
            cause: failure.diagnostic().source().map(|cause| Box::new(Self::cause(cause))),
            related: failure.diagnostic().related().into_iter().flatten().map(Self::reason).collect(),
        }
    }
}

impl Shown {
    fn reason(reason: &dyn Diagnostic) -> Self {
        Self { message: visible(&reason.to_string()).into_owned(), code: None, help: None, cause: None, related: Vec::new() }
    }

    fn cause(error: &(dyn Error + 'static)) -> Self {
        Self {
            message: visible(&error.to_string()).into_owned(),
            code: None,
            help: None,
            cause: error.source().map(|cause| Box::new(Self::cause(cause))),
            related: Vec::new(),
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl Error for Shown {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}

impl Diagnostic for Shown {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.related.is_empty() { None } else { Some(Box::new(self.related.iter().map(|reason| reason as &dyn Diagnostic))) }
    }

    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.as_ref().map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
}
