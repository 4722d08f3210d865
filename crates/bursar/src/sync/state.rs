//! The folder of a mirror: its lock, and the state file with the progress of each list.
//!
//! Everything that is not a mirrored file is in `.bursar-sync/`. The state is replaced by a rename, so that it is
//! always complete.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use bursar_app::private;
use serde::{Deserialize, Serialize};

/// The version of the state file. A program refuses one newer than its own.
const FORMAT: u32 = 1;
const HIDDEN: &str = ".bursar-sync";

/// A position in the order of change: everything up to it has been seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mark {
    pub(super) updated_at: String,
    pub(super) id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress {
    /// The last row of the last complete walk.
    pub(super) mark: Option<Mark>,
    /// In the file.
    pub(super) rows: u64,
    /// Size of the file; if it differs, somebody else changed the file.
    pub(super) bytes: u64,
    /// The walk under way.
    pub(super) walk: Option<Walk>,
}

/// A walk under way, as recorded on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Walk {
    /// It started at the beginning: rows that it does not return are gone.
    pub(super) is_full: bool,
    /// Where this leg began; `None` is the beginning.
    pub(super) since: Option<Mark>,
    /// Whether the row of `since` was returned, as it must be: nothing is ever deleted.
    pub(super) has_seen_since: bool,
    /// The next page; `None` is the first page of the leg.
    pub(super) cursor: Option<String>,
    /// The last row received.
    pub(super) last: Option<Mark>,
    /// Every page was received, and the journal waits to be merged.
    pub(super) is_complete: bool,
    /// Bytes of the journal that count.
    pub(super) journal_bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    format: u32,
    url: String,
    organization_id: String,
    lists: BTreeMap<String, Progress>,
}

/// Read first, whatever else a newer version may contain.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// Held by this process alone.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    hidden: PathBuf,
    state: State,
    /// The kernel releases it when the process ends.
    _lock: File,
}

impl Folder {
    /// Opens or creates a folder; refuses one that mirrors something else.
    pub(super) fn open(
        path: &Path,
        url: &str,
        organization_id: &str,
        has_moved: bool,
    ) -> Result<Self, String> {
        let hidden = path.join(HIDDEN);
        let cannot = |error| format!("{} cannot be used for the mirror: {error}", path.display());
        private::create_folder(path)
            .and_then(|()| private::create_folder(&hidden))
            .map_err(cannot)?;
        let lock = private::create(&hidden.join("lock")).map_err(cannot)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(format!(
                    "another bursar sync is at work in {}; wait for it, or give --to another folder",
                    path.display()
                ));
            }
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
        let state = match read(&hidden.join("state.json"))? {
            None => State {
                format: FORMAT,
                url: url.to_owned(),
                organization_id: organization_id.to_owned(),
                lists: BTreeMap::new(),
            },
            Some(state) => belongs(state, path, url, organization_id, has_moved)?,
        };
        clear(&hidden).map_err(cannot)?;
        Ok(Self {
            path: path.to_owned(),
            hidden,
            state,
            _lock: lock,
        })
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A file of ours.
    pub(super) fn hidden(&self, name: &str) -> PathBuf {
        self.hidden.join(name)
    }

    pub(super) fn progress(&self, list: &str) -> Progress {
        self.state.lists.get(list).cloned().unwrap_or_default()
    }

    /// On disk when this returns.
    pub(super) fn note(&mut self, list: &str, progress: Progress) -> Result<(), String> {
        self.state.lists.insert(list.to_owned(), progress);
        let file = self.hidden.join("state.json");
        let write = || -> std::io::Result<()> {
            let text = serde_json::to_vec_pretty(&self.state)?;
            let new = self.hidden.join("state.json.new");
            let mut out = private::create(&new)?;
            out.write_all(&text)?;
            out.sync_all()?;
            replace(&new, &file)
        };
        write().map_err(|error| format!("{} cannot be written: {error}", file.display()))
    }
}

/// Renames a file that is on disk over another, and syncs the rename.
pub(super) fn replace(new: &Path, old: &Path) -> std::io::Result<()> {
    fs::rename(new, old)?;
    match old.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Removes what a killed run left behind: everything but the lock, the state and the journals.
fn clear(hidden: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(hidden)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let is_kept =
            name == "lock" || name == "state.json" || path.extension().is_some_and(|e| e == "journal");
        if !is_kept {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<Option<State>, String> {
    let text = match fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{} cannot be read: {error}", file.display())),
    };
    let damaged = |error| {
        format!(
            "{} is damaged ({error}); remove it to mirror from the start",
            file.display()
        )
    };
    let Format { format } = serde_json::from_slice(&text).map_err(damaged)?;
    if format > FORMAT {
        return Err(format!(
            "{} is of a newer bursar (format {format}, this one knows {FORMAT}); use that one, or another folder",
            file.display()
        ));
    }
    serde_json::from_slice(&text).map(Some).map_err(damaged)
}

fn belongs(
    mut state: State,
    path: &Path,
    url: &str,
    organization_id: &str,
    has_moved: bool,
) -> Result<State, String> {
    if state.organization_id != organization_id {
        return Err(format!(
            "{} mirrors organization {}, and the token is of {organization_id}; give --to another folder",
            path.display(),
            state.organization_id
        ));
    }
    if state.url != url && !has_moved {
        return Err(format!(
            "{} mirrors {}, not {url}; give --to another folder, or --moved once if it is the same server at a new address",
            path.display(),
            state.url
        ));
    }
    url.clone_into(&mut state.url);
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://dues.example.org";

    #[test]
    fn what_was_noted_is_there_again() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a/mirror");
        let progress = Progress {
            mark: Some(Mark {
                updated_at: "2026-01-01T00:00:00.000000Z".into(),
                id: "mem_1".into(),
            }),
            walk: Some(Walk {
                cursor: Some("abc".into()),
                journal_bytes: 7,
                ..Walk::default()
            }),
            ..Progress::default()
        };
        let mut folder = Folder::open(&path, URL, "org_1", false).unwrap();
        folder.note("members", progress.clone()).unwrap();
        let busy = Folder::open(&path, URL, "org_1", false).unwrap_err();
        assert!(busy.contains("another bursar sync is at work"), "{busy}");
        drop(folder);
        let folder = Folder::open(&path, URL, "org_1", false).unwrap();
        assert_eq!(folder.progress("members"), progress);
        assert_eq!(folder.progress("cards"), Progress::default());
    }

    #[test]
    fn a_folder_is_of_one_organization_on_one_server_and_of_no_newer_program() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path();
        let open = |url, organization, has_moved| Folder::open(path, url, organization, has_moved).map(drop);
        let mut folder = Folder::open(path, URL, "org_1", false).unwrap();
        folder.note("members", Progress::default()).unwrap();
        drop(folder);
        let told = open(URL, "org_2", true).unwrap_err();
        assert!(told.contains("mirrors organization org_1"), "{told}");
        let told = open("https://other.example.org", "org_1", false).unwrap_err();
        assert!(told.contains("--moved"), "{told}");
        open("https://other.example.org", "org_1", true).unwrap();

        let state = path.join(".bursar-sync/state.json");
        fs::write(&state, r#"{"format":2,"lists":7}"#).unwrap();
        let told = open(URL, "org_1", false).unwrap_err();
        assert!(told.contains("is of a newer bursar"), "{told}");
        fs::write(&state, r#"{"format":1,"ur"#).unwrap();
        let told = open(URL, "org_1", false).unwrap_err();
        assert!(
            told.contains("is damaged") && told.contains("remove it"),
            "{told}"
        );
    }
}
