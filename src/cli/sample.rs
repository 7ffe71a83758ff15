//! `__sample`: the process of the package that `demo` makes on a machine without Python and Node.js.

use std::io;

use super::context::Context;
use super::exit::Outcome;
use crate::base::failure::Failure;
use crate::ops::sample;

pub(super) fn run(context: &Context) -> Result<Outcome, Failure> {
    let mut output = Ok(());
    let served = sample::serve(io::stdin().lock(), |frame| {
        output = context.report.rendered(frame);
        if output.is_ok() { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    });
    output?;
    // An input that can't be read is one that ended.
    Ok(Outcome::from_ok(served.is_ok()))
}
