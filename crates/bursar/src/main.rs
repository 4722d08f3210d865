use std::process::ExitCode;

/// Memory is often freed by another thread than the one that allocated it; the C library's allocator takes a lock for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    bursar::run()
}
