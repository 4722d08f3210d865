//! bursar: an organization's money and people, one binary.

mod ambient;
mod cli;
mod demo;
mod doctor;
mod open_files;
mod sync;

use std::process::ExitCode;

/// What one thread allocates another often frees: the C library's allocator takes a lock for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
