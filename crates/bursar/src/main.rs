//! bursar: an organization's money and people, one binary.

use std::process::ExitCode;

/// What one thread allocates another often frees: the C library's allocator takes a lock for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    bursar::run()
}
