//! File permissions: the files hold personal and financial data.

use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::disk::folder_of;
use super::{Finding, Setup};

const CHECK: &str = "permissions";
/// Files checked in one folder.
const ENTRIES_MAX: usize = 10_000;

pub(super) fn check(setup: &Setup<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(file) = setup.database_file() {
        let folder = folder_of(&file);
        findings.extend(folder_takes_files(&folder, "the database"));
        // SQLite gives its log the permissions of the file, but another user may have created it.
        // The key of stored secrets is beside it, unless the operator keeps one elsewhere.
        for end in ["", "-wal", "-shm", ".secret-key"] {
            let mut name = file.clone().into_os_string();
            name.push(end);
            findings.extend(private(&PathBuf::from(name), "600"));
        }
    }
    if setup.uses_outbox() {
        let outbox = setup.outbox();
        match std::fs::metadata(&outbox) {
            Err(_) => findings.extend(folder_takes_files(&folder_of(&outbox), "outbox/")),
            Ok(found) if !found.is_dir() => findings.push(Finding::problem(
                CHECK,
                format!(
                    "{} is not a folder, and messages go there as files",
                    outbox.display()
                ),
                "move it away, or name a mail server with --smtp-url",
            )),
            Ok(_) => {
                findings.extend(folder_takes_files(&outbox, "messages"));
                findings.extend(private(&outbox, "700"));
                findings.extend(open_files(&outbox, "message", |path| {
                    path.extension().is_some_and(|end| end == "eml" || end == "sms")
                }));
            }
        }
    }
    findings.extend(left_about(setup));
    // The folders of the database and the outbox are the same by default.
    findings.dedup();
    if findings.is_empty() {
        findings.push(Finding::ok(
            CHECK,
            "files are writable, and not readable by other users",
        ));
    }
    findings
}

/// New files are created in it all the time: the database's log, messages.
fn folder_takes_files(folder: &Path, what: &str) -> Option<Finding> {
    match std::fs::metadata(folder) {
        Err(error) => Some(Finding::problem(
            CHECK,
            format!("{} cannot be used for {what}: {error}", folder.display()),
            format!("mkdir -p {}", folder.display()),
        )),
        Ok(found) => access(folder, Access::WRITE_OK | Access::EXEC_OK).err().map(|_| {
            Finding::problem(
                CHECK,
                format!(
                    "{} may not be written by this user, {what} is to be there",
                    folder.display()
                ),
                owner_advice(folder, &found),
            )
        }),
    }
}

/// A file that exists must be readable and writable for us.
fn usable(path: &Path) -> Option<Finding> {
    let found = std::fs::metadata(path).ok()?;
    access(path, Access::READ_OK | Access::WRITE_OK).err().map(|_| {
        Finding::problem(
            CHECK,
            format!("{} may not be read and written by this user", path.display()),
            owner_advice(path, &found),
        )
    })
}

/// Files that commands leave in the working directory or beside the database: backups, exports, undo files and mirrors.
fn left_about(setup: &Setup<'_>) -> Vec<Finding> {
    let database = setup.database_file();
    let mut folders = vec![PathBuf::from(".")];
    if let Some(folder) = database.as_deref().map(folder_of)
        && folder.canonicalize().ok() != Path::new(".").canonicalize().ok()
    {
        folders.push(folder);
    }
    // Opening and closing the database file would release the locks that this process holds on it.
    let place = |path: &Path| {
        std::fs::metadata(path)
            .ok()
            .map(|found| (found.dev(), found.ino()))
    };
    let database = database.as_deref().and_then(place);
    let mut findings = Vec::new();
    for folder in folders {
        let is_other = |path: &Path| place(path) != database;
        findings.extend(open_files(&folder, "backup", |path| {
            is_other(path) && is_backup(path)
        }));
        findings.extend(open_files(&folder, "export", |path| {
            is_other(path) && is_export(path)
        }));
        findings.extend(open_files(&folder, "undo file", is_undo_file));
        for mirror in entries(&folder).filter(|path| path.join(".bursar-sync").is_dir()) {
            findings.extend(open_files(&mirror, "mirrored list", |path| {
                path.extension().is_some_and(|end| end == "ndjson")
            }));
        }
    }
    findings
}

/// A copy of a bursar database, by its first bytes.
fn is_backup(path: &Path) -> bool {
    let start = start_of(path);
    start.starts_with(b"SQLite format 3\0") && start.get(68..72) == Some(b"burs")
}

/// A bundle starts with an organization.
fn is_export(path: &Path) -> bool {
    start_of(path).starts_with(b"{\"type\":\"organization\",")
}

fn is_undo_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.contains(".undo-blk_") && name.ends_with(".json")
}

fn start_of(path: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    // Opening a pipe or a device would block.
    if path.is_file()
        && let Ok(file) = File::open(path)
    {
        let _ = file.take(100).read_to_end(&mut start);
    }
    start
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(ENTRIES_MAX);
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}

/// One finding for all files of a kind that everybody can read.
fn open_files(folder: &Path, noun: &str, is_meant: impl Fn(&Path) -> bool) -> Option<Finding> {
    let open = entries(folder).filter(|path| everybody_can(path).is_some() && is_meant(path));
    let mut open: Vec<PathBuf> = open.collect();
    open.sort();
    let first = open.first()?;
    let more = open.len() - 1;
    let (found, others) = match more {
        0 => (format!("the {noun} {}", first.display()), String::new()),
        _ => (
            format!(
                "{} of {noun}s, such as {}",
                crate::cli::output::many(more as u64 + 1, "file"),
                first.display()
            ),
            " and the others".to_owned(),
        ),
    };
    Some(Finding::warning(
        CHECK,
        format!("every user of this machine can read {found}"),
        format!("chmod 600 {}{others}", first.display()),
    ))
}

/// Usable, and not readable by everybody. A closed folder above it is enough.
fn private(path: &Path, mode: &str) -> Option<Finding> {
    if let Some(unusable) = usable(path) {
        return Some(unusable);
    }
    everybody_can(path).map(|may| {
        Finding::warning(
            CHECK,
            format!("every user of this machine can {may} {}", path.display()),
            format!("chmod {mode} {}", path.display()),
        )
    })
}

fn everybody_can(path: &Path) -> Option<&'static str> {
    let mode = |path: &Path| {
        std::fs::metadata(path)
            .ok()
            .map(|found| found.permissions().mode())
    };
    let others = mode(path)? & 0o007;
    let is_open_above = mode(&folder_of(path)).unwrap_or(0) & 0o001 != 0;
    (others != 0 && is_open_above).then_some(if others & 0o002 == 0 { "read" } else { "write" })
}

fn owner_advice(path: &Path, found: &Metadata) -> String {
    let user = rustix::process::geteuid().as_raw();
    match found.uid() == user {
        true => format!("chmod u+rwX {}", path.display()),
        false => format!(
            "run it as user {}, or: chown {user} {}",
            found.uid(),
            path.display()
        ),
    }
}
