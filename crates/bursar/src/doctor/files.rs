//! Who may read and write the files: what is in them is about people and money.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::disk::folder_of;
use super::{Finding, Setup};

const CHECK: &str = "permissions";

pub(super) fn check(setup: &Setup<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(file) = setup.database_file() {
        let folder = folder_of(&file);
        findings.extend(folder_takes_files(&folder, "the database"));
        findings.extend(private(&file, "600"));
        // SQLite gives them the rights of the file, but another user may have made them.
        for end in ["-wal", "-shm"] {
            let mut name = file.clone().into_os_string();
            name.push(end);
            findings.extend(usable(&PathBuf::from(name)));
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
            }
        }
    }
    // The folder of the database and of the outbox is one by default.
    findings.dedup();
    if findings.is_empty() {
        findings.push(Finding::ok(
            CHECK,
            "files can be written, and only those who should can read them",
        ));
    }
    findings
}

/// Files are made beside others all the time: the log of the database, a message.
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

/// A file that exists must be ours to read and write.
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

/// And not everybody's to read. A folder above that is closed to others is as good.
fn private(path: &Path, mode: &str) -> Option<Finding> {
    let found = std::fs::metadata(path).ok()?;
    if let Some(unusable) = usable(path) {
        return Some(unusable);
    }
    let others = found.permissions().mode() & 0o007;
    let is_open_above =
        std::fs::metadata(folder_of(path)).map_or(0, |folder| folder.permissions().mode()) & 0o001 != 0;
    (others != 0 && is_open_above).then(|| {
        let may = if others & 0o002 == 0 { "read" } else { "write" };
        Finding::warning(
            CHECK,
            format!("every user of this machine can {may} {}", path.display()),
            format!("chmod {mode} {}", path.display()),
        )
    })
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
