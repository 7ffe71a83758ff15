//! The table of bars: figure, base, ratio, what it must reach, what it aims at.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fmt::Write as _;

/// One row of design §8.
pub(crate) struct Row {
    pub(crate) number: u32,
    pub(crate) what: String,
    pub(crate) figure: String,
    pub(crate) base: String,
    pub(crate) ratio: Option<f64>,
    pub(crate) must: Bar,
    pub(crate) aim: Bar,
}

/// A bound on a ratio, or on a figure in its own unit.
#[derive(Clone, Copy)]
pub(crate) enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

impl Bar {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(bound) => value <= bound,
            Self::AtLeast(bound) => value >= bound,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(bound) => format!("≤ {bound}"),
            Self::AtLeast(bound) => format!("≥ {bound}"),
        }
    }
}

/// Prints the rows; says whether each reached what it must.
pub(crate) fn print(rows: &[Row]) -> bool {
    let mut out = String::from("| # | figure | measured | base | ratio | must | aim | |\n|---|---|---|---|---|---|---|---|\n");
    let mut all_reached = true;
    for row in rows {
        let value = row.ratio.unwrap_or(f64::NAN);
        let verdict = if row.aim.holds(value) {
            "aim"
        } else if row.must.holds(value) {
            "must"
        } else {
            all_reached = false;
            "MISSED"
        };
        let _written = writeln!(
            out,
            "| {} | {} | {} | {} | {:.2} | {} | {} | {verdict} |",
            row.number,
            row.what,
            row.figure,
            row.base,
            value,
            row.must.text(),
            row.aim.text()
        );
    }
    println!("{out}");
    all_reached
}
