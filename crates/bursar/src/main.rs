//! bursar: an organization's money and people, one binary.

mod ambient;
mod cli;
mod demo;
mod doctor;
mod sync;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
