//! Starts the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    spark_tool::cli::main()
}
