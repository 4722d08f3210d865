//! Runs this program under callgrind.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::Outcome;

/// The instructions that this program executes with these arguments. The profile is kept where one is wanted.
pub(crate) fn instructions(words: &[impl AsRef<OsStr>], profile: Option<&Path>) -> Outcome<u64> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let out = profile.map_or_else(|| "/dev/null".to_owned(), |path| path.display().to_string());
    let done = Command::new("valgrind")
        .args(["--tool=callgrind", &format!("--callgrind-out-file={out}")])
        .arg(program)
        .args(words)
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    let collected = said.lines().find_map(|line| line.split("Collected :").nth(1));
    match collected.and_then(|count| count.trim().parse().ok()) {
        Some(count) if done.status.success() => Ok(count),
        _ => Err(format!("callgrind failed:\n{said}")),
    }
}

/// What one of `count` runs costs: a run of `2 count` less a run of `count`, so that the start drops out.
pub(crate) fn of_one(count: u64, run: impl Fn(u64) -> Outcome<u64>) -> Outcome<u64> {
    let once = run(count)?;
    Ok(run(2 * count)?.saturating_sub(once) / count.max(1))
}
