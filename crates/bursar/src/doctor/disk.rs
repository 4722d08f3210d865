//! Free space for the database and the outbox, and the size of the write-ahead log.

use std::path::{Path, PathBuf};

use super::{Finding, Setup, bytes};

/// Below this a write may fail at any moment.
const FREE_MIN: u64 = 64 << 20;
/// Below this an operator should act.
const FREE_LOW: u64 = 1 << 30;
/// The log is truncated at a quarter of this; if it is longer, something prevents that.
const LOG_MAX: u64 = 256 << 20;

pub(super) fn check(setup: &Setup<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let file = setup.database_file();
    if let Some(file) = &file {
        findings.extend(space(folder_of(file)));
        findings.extend(log(file));
    }
    let outbox = setup.outbox();
    let shares_disk = file.is_some_and(|file| folder_of(&file) == folder_of(&outbox));
    if setup.uses_outbox() && !shares_disk {
        findings.extend(space(folder_of(&outbox)));
    }
    findings
}

pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn space(folder: PathBuf) -> Option<Finding> {
    // A missing folder is reported with the permissions.
    let disk = rustix::fs::statvfs(&folder).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    Some(judge(&folder, free, disk.f_favail, disk.f_files))
}

fn judge(folder: &Path, free: u64, files_free: u64, files: u64) -> Finding {
    let found = format!("{} free in {}", bytes(free), folder.display());
    if free < FREE_MIN {
        return Finding::problem("disk", found, "free some space: a full disk refuses every change");
    }
    // Some file systems do not count files.
    if files > 0 && files_free < 1_000 {
        let found = format!("room for {files_free} more files in {}", folder.display());
        return Finding::warning(
            "disk",
            found,
            "remove files, or move to a file system with more inodes",
        );
    }
    if free < FREE_LOW {
        return Finding::warning(
            "disk",
            found,
            "free some space before it is full; a backup takes as much as the database",
        );
    }
    Finding::ok("disk", found)
}

fn log(file: &Path) -> Option<Finding> {
    let mut name = file.as_os_str().to_owned();
    name.push("-wal");
    let size = std::fs::metadata(&name).ok()?.len();
    (size > LOG_MAX).then(|| {
        Finding::warning(
            "write-ahead log",
            format!("{} in {}", bytes(size), PathBuf::from(name).display()),
            "something holds it: end long reads by other programs, then restart the server",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    #[test]
    fn a_log_that_nothing_cuts_is_told() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("bursar.db");
        assert_eq!(log(&file), None);
        let wal = std::fs::File::create(place.path().join("bursar.db-wal")).unwrap();
        for (size, is_told) in [(LOG_MAX, false), (LOG_MAX + 1, true)] {
            // A sparse file takes no space.
            wal.set_len(size).unwrap();
            assert_eq!(log(&file).is_some(), is_told, "{size}");
        }
    }

    #[test]
    fn space_is_judged() {
        let status = |free, files_free, files| judge(Path::new("/x"), free, files_free, files).status;
        assert_eq!(status(1 << 40, 0, 0), Status::Ok);
        assert_eq!(status(1 << 40, 999, 10_000), Status::Warning);
        assert_eq!(status((1 << 30) - 1, 9_999, 10_000), Status::Warning);
        assert_eq!(status(1 << 20, 9_999, 10_000), Status::Problem);
    }
}
