//! The one door to stdout and stderr.
//!
//! stdout is the answer; hints, warnings, questions and progress are stderr, silent under `--quiet`. Human text is
//! written with styles, and the stream takes them off where they aren't wanted. A closed stdout is a quiet end
//! (hardening E-1): what comes after is dropped, and [`Reporter::is_closed`] tells the exit code.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, WeakProgressBar};
use miette::Diagnostic;
use serde::Serialize;
use thiserror::Error;

use super::json::{Body, Envelope, ErrorWire};
use super::{Log, json};
use crate::base::failure::{Class, Failing, Failure};
use crate::base::text::visible;

/// How answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Human,
    Json,
    Sarif,
    Github,
    Junit,
}

/// What a stream's reader can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) color: bool,
    pub(crate) unicode: bool,
    /// In columns.
    pub(crate) width: usize,
    pub(crate) is_terminal: bool,
}

#[derive(Debug)]
pub(crate) struct ReporterSetup {
    /// The command's name in the envelope: `validate`, `trace list`.
    pub(crate) command: String,
    pub(crate) format: Format,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) stdout: Look,
    pub(crate) stderr: Look,
    pub(crate) log: Option<Log>,
}

/// A handle on the streams; clones share them.
#[derive(Clone)]
pub(crate) struct Reporter(Arc<Shared>);

struct Shared {
    setup: ReporterSetup,
    /// Held while bytes go out, so that two threads never mix theirs.
    streams: Mutex<Streams>,
    is_answered: AtomicBool,
    is_stream: AtomicBool,
    is_closed: AtomicBool,
    /// Nothing goes out: somebody else's answer speaks of what is done here.
    is_muted: bool,
}

#[derive(Debug, Error, Diagnostic)]
#[error("cannot write the answer to stdout")]
#[diagnostic(code(spark::report::output), help("is the disk full that stdout goes to?"))]
pub(crate) struct OutputError(#[source] io::Error);

impl Failing for OutputError {
    fn class(&self) -> Class {
        Class::Machine
    }
}

impl Reporter {
    pub(crate) fn new(setup: ReporterSetup) -> Self {
        let (is_answered, is_stream, is_closed) = Default::default();
        Self(Arc::new(Shared { setup, streams: Mutex::default(), is_answered, is_stream, is_closed, is_muted: false }))
    }

    /// Returns a handle for a command that runs as a part of this one: text for people, and none at all where this
    /// one's answer is for programs.
    pub(crate) fn for_step(&self, command: &str) -> Self {
        let ReporterSetup { format, quiet, verbose, stdout, stderr, .. } = self.0.setup;
        let setup = ReporterSetup { command: command.to_owned(), format: Format::Human, quiet, verbose, stdout, stderr, log: None };
        let (is_answered, is_stream, is_closed) = Default::default();
        let is_muted = format != Format::Human;
        Self(Arc::new(Shared { setup, streams: Mutex::default(), is_answered, is_stream, is_closed, is_muted }))
    }

    pub(crate) fn format(&self) -> Format {
        self.0.setup.format
    }

    /// Returns the columns to write for.
    pub(crate) fn width(&self) -> usize {
        self.0.setup.stdout.width
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.0.setup.quiet
    }

    /// Says whether the reader of stdout went away. Streams stop then.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.is_closed.load(Ordering::Relaxed)
    }

    /// Makes of every answer that follows, failures included, one line of a stream.
    pub(crate) fn begin_stream(&self) {
        self.0.is_stream.store(true, Ordering::Relaxed);
    }

    /// Gives the command's one answer: `data` for programs, `human` for people. `ok` says whether it is yes.
    pub(crate) fn answer<T: Serialize>(&self, ok: bool, data: &T, human: impl FnOnce(Look) -> String) -> Result<(), OutputError> {
        self.rendered(&self.answer_text(ok, data, human))
    }

    /// Returns the text of an answer, without giving it.
    pub(super) fn answer_text<T: Serialize>(&self, ok: bool, data: &T, human: impl FnOnce(Look) -> String) -> String {
        match self.0.setup.format {
            Format::Json => self.envelope(Body::Data { ok, data }),
            Format::Human | Format::Sarif | Format::Github | Format::Junit => human(self.0.setup.stdout),
        }
    }

    /// Writes the answer in a format that is rendered already.
    pub(crate) fn rendered(&self, text: &str) -> Result<(), OutputError> {
        self.0.is_answered.store(true, Ordering::Relaxed);
        self.out(text)
    }

    /// Says why there is no answer. If one was given already, stdout keeps that one object alone.
    pub(crate) fn failure(&self, failure: &Failure) -> Result<(), OutputError> {
        match self.failure_text(failure) {
            (Stream::Out, text) => self.out(&text),
            (Stream::Err, text) => {
                self.err(&text);
                Ok(())
            }
        }
    }

    fn failure_text(&self, failure: &Failure) -> (Stream, String) {
        self.log("error", &format!("{} {failure}", failure.code()));
        let is_first = !self.0.is_answered.swap(true, Ordering::Relaxed);
        if self.0.setup.format == Format::Json && (is_first || self.0.is_stream.load(Ordering::Relaxed)) {
            (Stream::Out, self.envelope::<()>(Body::Error(&ErrorWire::from(failure))))
        } else {
            (Stream::Err, super::failure::report(failure, self.0.setup.stderr))
        }
    }

    /// As [`Self::failure`], from another thread while the command may hold the streams for good: then nothing is
    /// written.
    pub(crate) fn failure_if_free(&self, failure: &Failure) {
        let Some(streams) = self.0.streams.try_lock().ok() else { return };
        let (stream, text) = self.failure_text(failure);
        // There is nobody left to tell that it can't be told.
        drop(streams.write(stream, self.color(stream), &text));
    }

    /// Tells what to do next.
    pub(crate) fn hint(&self, text: &str) {
        self.say("hint", text, !self.is_quiet());
    }

    pub(crate) fn warn(&self, text: &str) {
        self.say("warning", text, !self.is_quiet());
    }

    /// Tells what only `-v` wants to know.
    pub(crate) fn detail(&self, text: &str) {
        self.say("detail", text, self.0.setup.verbose);
    }

    fn say(&self, level: &str, text: &str, is_shown: bool) {
        self.log(level, text);
        if is_shown {
            let style = if level == "warning" { "33" } else { "36" };
            self.err(&format!("\u{1b}[{style}m{level}:\u{1b}[0m {}\n", visible(text)));
        }
    }

    /// Adds a line to the log file alone.
    pub(crate) fn log(&self, level: &str, text: &str) {
        if let Some(log) = &self.0.setup.log {
            log.add(level, text);
        }
    }

    /// Writes to stderr as it is. The caller made it safe. A stderr that can't be written stops no command.
    pub(crate) fn err(&self, text: &str) {
        drop(self.write(Stream::Err, text));
    }

    fn out(&self, text: &str) -> Result<(), OutputError> {
        if self.is_closed() {
            return Ok(());
        }
        match self.write(Stream::Out, text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.0.is_closed.store(true, Ordering::Relaxed);
                Ok(())
            }
            result => result.map_err(OutputError),
        }
    }

    fn write(&self, stream: Stream, text: &str) -> io::Result<()> {
        if self.0.is_muted {
            return Ok(());
        }
        // A panic elsewhere leaves nothing half done in here.
        let streams = self.0.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.write(stream, self.color(stream), text)
    }

    fn color(&self, stream: Stream) -> ColorChoice {
        let Look { color, .. } = match stream {
            Stream::Out => self.0.setup.stdout,
            Stream::Err => self.0.setup.stderr,
        };
        match (stream, self.0.setup.format) {
            // JSON of ours holds no escape: 4 MiB of it aren't searched for one.
            (Stream::Out, Format::Json) => ColorChoice::AlwaysAnsi,
            _ if color => ColorChoice::Always,
            _ => ColorChoice::Never,
        }
    }

    fn envelope<T: Serialize>(&self, body: Body<'_, T>) -> String {
        json::line(&Envelope { command: &self.0.setup.command, body })
    }

    pub(super) fn set_bar(&self, bar: &ProgressBar) {
        self.0.streams.lock().unwrap_or_else(PoisonError::into_inner).bar = Some(bar.downgrade());
    }

    pub(super) fn may_animate(&self) -> bool {
        self.0.setup.stderr.is_terminal && !self.is_quiet()
    }
}

#[derive(Clone, Copy)]
enum Stream {
    Out,
    Err,
}

/// The two streams, and what is drawn on the terminal meanwhile.
#[derive(Default)]
struct Streams {
    bar: Option<WeakProgressBar>,
}

impl Streams {
    fn write(&self, stream: Stream, color: ColorChoice, text: &str) -> io::Result<()> {
        let write = || write_now(stream, color, text);
        match self.bar.as_ref().and_then(WeakProgressBar::upgrade) {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the door to stdout and stderr")]
fn write_now(stream: Stream, color: ColorChoice, text: &str) -> io::Result<()> {
    match stream {
        Stream::Out => write_all(AutoStream::new(io::stdout(), color), text),
        Stream::Err => write_all(AutoStream::new(io::stderr(), color), text),
    }
}

fn write_all(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}
