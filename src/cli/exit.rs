//! The one place with exit codes (design §6).

use std::process::ExitCode;

use crate::base::failure::Class;

/// What a command that ran has to say, best first: the worst of several results counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Done; the answer is yes.
    Yes,
    /// It ran and the answer is no.
    No,
    /// It ran and a tool broke.
    Broke,
}

impl Outcome {
    pub(crate) const fn from_ok(ok: bool) -> Self {
        if ok { Self::Yes } else { Self::No }
    }
}

/// Returns the number of an outcome.
pub(super) const fn of_outcome(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Yes => 0,
        Outcome::No => of_class(Class::AnswerNo),
        Outcome::Broke => of_class(Class::ToolBroke),
    }
}

/// Returns what a number says that another command ended with.
pub(super) const fn outcome_of(number: u8) -> Outcome {
    const BROKE: u8 = of_class(Class::ToolBroke);
    match number {
        0 => Outcome::Yes,
        BROKE => Outcome::Broke,
        _ => Outcome::No,
    }
}

/// Returns the number of a failure's class.
pub(super) const fn of_class(class: Class) -> u8 {
    match class {
        Class::AnswerNo => 1,
        Class::Usage => 2,
        Class::NotAllowed => 3,
        Class::Unusable => 4,
        Class::Conflict => 5,
        Class::ToolBroke => 6,
        Class::Machine => 8,
        Class::Bug => 70,
        Class::Interrupted(signal) => interrupted(signal),
    }
}

/// 128 and the signal's number, as shells count.
#[expect(clippy::cast_sign_loss, reason = "signal numbers are 1 to 64")]
const fn interrupted(signal: i32) -> u8 {
    128 + (signal & 0x3f) as u8
}

pub(super) fn code(number: u8) -> ExitCode {
    ExitCode::from(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_exit_codes_holds() {
        for (class, number) in [
            (Class::AnswerNo, 1),
            (Class::Usage, 2),
            (Class::NotAllowed, 3),
            (Class::Unusable, 4),
            (Class::Conflict, 5),
            (Class::ToolBroke, 6),
            (Class::Machine, 8),
            (Class::Bug, 70),
            (Class::Interrupted(1), 129),
            (Class::Interrupted(2), 130),
            (Class::Interrupted(15), 143),
        ] {
            assert_eq!(of_class(class), number, "{class:?}");
        }
        assert_eq!([Outcome::Yes, Outcome::No, Outcome::Broke].map(of_outcome), [0, 1, 6]);
        assert_eq!([Outcome::No, Outcome::Broke, Outcome::Yes].into_iter().max(), Some(Outcome::Broke));
    }
}
