//! Committed snapshots, which show in a review what a change does.

use std::fs;
use std::path::Path;

use crate::variable;

/// Compares a text with a file in the calling crate's tests; `UPDATE_SNAPSHOTS=1` updates it.
#[macro_export]
macro_rules! snapshot {
    ($file:expr, $text:expr) => {
        $crate::compare(
            &std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/it")
                .join($file),
            $text,
        )
    };
}

/// Compares a text with a file; `UPDATE_SNAPSHOTS=1` updates it.
#[track_caller]
pub fn compare(file: &Path, text: &str) {
    if variable("UPDATE_SNAPSHOTS").is_some() {
        fs::write(file, text).unwrap();
        return;
    }
    let kept = fs::read_to_string(file).unwrap_or_default();
    if kept == text {
        return;
    }
    let line = kept
        .lines()
        .zip(text.lines())
        .take_while(|(kept, now)| kept == now)
        .count();
    panic!(
        "{} is not as committed, from line {}:\n  committed: {}\n  now:       {}\n\
         If that is meant, run the test with UPDATE_SNAPSHOTS=1 and commit the file.",
        file.display(),
        line + 1,
        kept.lines().nth(line).unwrap_or("(the end)"),
        text.lines().nth(line).unwrap_or("(the end)"),
    );
}
