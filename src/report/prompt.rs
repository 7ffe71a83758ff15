//! Questions on stderr, answers from the terminal on stdin. The only reader of what a person types.
//!
//! Nothing is changed about the terminal: lines are typed and edited as anywhere else, so there is nothing to restore
//! when a signal ends the question.

use std::fmt::Write as _;
use std::io::{self, Read as _};

use super::{Format, Reporter};
use crate::base::text::{visible, visible_lines};
use crate::ops::{Ask, AskError, Choice, Consent, Field, How, Interrupt, NoAsking, Question};

/// Bytes of one typed line (ours; a terminal's own line buffer is 4 096).
const LINE_BYTES: usize = 64 * 1024;

/// Asks the person at the terminal.
pub(crate) struct TerminalAsk {
    pub(crate) reporter: Reporter,
    pub(crate) interrupt: Interrupt,
    /// `--yes`: agrees to this command's questions.
    pub(crate) agrees: bool,
    pub(crate) unable: Option<NoAsking>,
}

impl Ask for TerminalAsk {
    fn confirm(&self, question: &Question) -> Result<Consent, AskError> {
        if !self.agrees
            && let Some(why) = self.unable
        {
            return Err(AskError::Required { subject: question.subject.clone(), why, flag: question.flag });
        }
        // A program that agrees by flag and reads JSON has read no screen; a person's log has it.
        if !self.agrees || !(self.reporter.is_quiet() || self.reporter.format() == Format::Json) {
            self.reporter.err(&format!("{}\n", visible_lines(question.screen.trim_end())));
        }
        if self.agrees {
            return Ok(Consent::to(question, How::Flag));
        }
        self.reporter.err(&format!("{} [y/N] ", visible(&question.prompt)));
        let answer = self.line()?.unwrap_or_default();
        if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            Ok(Consent::to(question, How::Terminal))
        } else {
            Err(AskError::Declined { subject: question.subject.clone() })
        }
    }

    fn unable(&self) -> Option<NoAsking> {
        self.unable
    }

    fn choose(&self, label: &str, choices: &[Choice]) -> Result<usize, AskError> {
        self.must_be_able(label)?;
        let width = choices.iter().map(|choice| choice.name.len()).max().unwrap_or(0);
        let mut menu = format!("{}\n", visible(label));
        for (index, choice) in choices.iter().enumerate() {
            let (number, name) = (index + 1, visible(&choice.name));
            writeln!(menu, "  {number} {name:<width$}  {}", visible(&choice.description)).expect("a String takes any text");
        }
        self.reporter.err(&menu);
        loop {
            self.reporter.err(&format!("1-{}: ", choices.len()));
            let answer = self.line()?.ok_or(AskError::NoAnswer)?;
            let answer = answer.trim();
            let by_number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1)).filter(|index| *index < choices.len());
            if let Some(index) = by_number.or_else(|| choices.iter().position(|choice| choice.name == answer)) {
                return Ok(index);
            }
        }
    }

    fn text(&self, field: &Field<'_>) -> Result<String, AskError> {
        self.must_be_able(&field.label)?;
        if let Some(help) = &field.help {
            self.reporter.err(&format!("{}\n", visible_lines(help)));
        }
        let default = field.default.as_ref().map_or_else(String::new, |default| format!(" [{}]", visible(default)));
        loop {
            self.reporter.err(&format!("{}{default}: ", visible(&field.label)));
            let answer = self.line()?.ok_or(AskError::NoAnswer)?;
            let text = match (&field.default, answer.is_empty()) {
                (Some(default), true) => default.clone(),
                (None, true) => continue,
                (_, false) => answer,
            };
            match (field.check)(&text) {
                Ok(()) => return Ok(text),
                Err(problem) => self.reporter.err(&format!("  {}\n", visible(&problem))),
            }
        }
    }
}

impl TerminalAsk {
    fn must_be_able(&self, label: &str) -> Result<(), AskError> {
        match self.unable {
            Some(why) => Err(AskError::Nobody { label: label.to_owned(), why }),
            None => Ok(()),
        }
    }

    /// Returns the next line without its end; `None` at the end of input. Reads byte by byte, so that nothing behind
    /// the line is taken from whoever reads next.
    fn line(&self) -> Result<Option<String>, AskError> {
        let mut stdin = unbuffered_stdin().map_err(AskError::Terminal)?;
        let mut line = Vec::new();
        loop {
            #[cfg(unix)]
            if let Err(interrupted) = self.interrupt.wait_readable(std::os::fd::AsFd::as_fd(&stdin)).map_err(AskError::Terminal)? {
                // The person's next line starts on a line of its own.
                self.reporter.err("\n");
                return Err(interrupted.into());
            }
            let mut byte = [0];
            match stdin.read(&mut byte) {
                Ok(0) if line.is_empty() => {
                    self.reporter.err("\n");
                    return Ok(None);
                }
                Ok(0) => break,
                Ok(_) if byte[0] == b'\n' => break,
                Ok(_) if line.len() < LINE_BYTES => line.push(byte[0]),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(AskError::Terminal(error)),
            }
        }
        let line = String::from_utf8_lossy(&line);
        Ok(Some(line.trim_end_matches('\r').to_owned()))
    }
}

/// A handle on stdin that reads no further than it is asked to.
#[cfg(unix)]
fn unbuffered_stdin() -> io::Result<std::fs::File> {
    use std::os::fd::AsFd as _;
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

#[cfg(not(unix))]
fn unbuffered_stdin() -> io::Result<io::Stdin> {
    Ok(io::stdin())
}
