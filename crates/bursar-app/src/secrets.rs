//! The key for secrets that must be read back: a file that the operator names, or one beside the SQLite database.
//!
//! It is no part of a backup or a copy: whoever has the data alone cannot read the secrets.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use bursar_db::{DatabaseUrl, private};
use bursar_domain::sealed::{KEY_BYTES, SecretKey};

const MAKE_ONE: &str =
    "make one with `head -c 32 /dev/urandom | base64 > FILE` and give it to every server and worker";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyFile {
    /// `--secret-key-file`: it must be there.
    Named(PathBuf),
    /// Beside the SQLite database: made when it is first needed.
    Beside(PathBuf),
    /// PostgreSQL, and the operator named none.
    None,
}

impl KeyFile {
    pub fn of(url: &DatabaseUrl, named: Option<&Path>) -> Self {
        match (named, url) {
            (Some(path), _) => Self::Named(path.to_owned()),
            (None, DatabaseUrl::Sqlite(path)) => {
                let mut name = path.file_name().unwrap_or_default().to_owned();
                name.push(".secret-key");
                Self::Beside(path.with_file_name(name))
            }
            (None, DatabaseUrl::Postgres(_)) => Self::None,
        }
    }

    /// The message says what to do.
    pub fn read(&self) -> Result<SecretKey, String> {
        match self {
            Self::Named(path) => read(path)?
                .ok_or_else(|| format!("--secret-key-file {} does not exist; {MAKE_ONE}", path.display())),
            Self::Beside(path) => read(path)?.ok_or_else(|| {
                format!(
                    "the key {0} is missing, and without it the secrets in the database cannot be read. Restore the file. If \
                     it is lost, create another with `head -c 32 /dev/urandom | base64 > {0}` and rotate every \
                     webhook endpoint with `bursar webhook rotate ID --overlap-hours 0` and set every payment provider with \
                     `bursar provider set`",
                    path.display()
                )
            }),
            Self::None => Err(format!(
                "secrets need --secret-key-file, the base64 of 32 random bytes; {MAKE_ONE}"
            )),
        }
    }

    /// For a new secret. `random` becomes the key if there is none beside the database. Without it the key must be there:
    /// another one could not read what is in the database.
    pub fn read_or_make(&self, random: Option<[u8; KEY_BYTES]>) -> Result<SecretKey, String> {
        match (self, random) {
            (Self::Beside(path), Some(random)) => match read(path)? {
                Some(key) => Ok(key),
                None => make(path, &SecretKey::new(random)),
            },
            _ => self.read(),
        }
    }
}

fn read(path: &Path) -> Result<Option<SecretKey>, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
    };
    let wrong = || {
        format!(
            "{} must have the base64 of 32 bytes and nothing else",
            path.display()
        )
    };
    SecretKey::parse(&text).map(Some).ok_or_else(wrong)
}

/// Appears whole or not at all. If another process was faster, its key counts.
fn make(path: &Path, key: &SecretKey) -> Result<SecretKey, String> {
    let temporary = path.with_extension(format!("part-{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut file = private::create(&temporary)?;
        file.write_all(key.text().as_bytes())?;
        file.sync_all()?;
        match fs::hard_link(&temporary, path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    };
    let written = write();
    let _ = fs::remove_file(&temporary);
    written.map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    let gone = || format!("{} was removed", path.display());
    read(path)?.ok_or_else(gone)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_beside_the_database_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let url: DatabaseUrl = format!("sqlite:{}", folder.path().join("bursar.db").display())
            .parse()
            .unwrap();
        let file = KeyFile::of(&url, None);
        assert!(
            file.read()
                .unwrap_err()
                .contains("bursar.db.secret-key is missing")
        );
        let lost = file.read_or_make(None).unwrap_err();
        assert!(lost.contains("Restore the file"), "{lost}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let key = file.read_or_make(Some([1; 32])).unwrap();
        assert_eq!(key, SecretKey::new([1; 32]));
        assert_eq!(file.read_or_make(Some([2; 32])), Ok(key.clone()));
        assert_eq!(file.read(), Ok(key));
        let path = folder.path().join("bursar.db.secret-key");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_named_key_must_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let url: DatabaseUrl = "postgres://localhost/x".parse().unwrap();
        let file = KeyFile::of(&url, Some(&path));
        assert!(
            file.read_or_make(Some([1; 32]))
                .unwrap_err()
                .contains("does not exist")
        );
        fs::write(&path, "AAAA\n").unwrap();
        assert!(file.read().unwrap_err().contains("base64 of 32 bytes"));
        fs::write(&path, SecretKey::new([3; 32]).text()).unwrap();
        assert_eq!(file.read_or_make(Some([1; 32])), Ok(SecretKey::new([3; 32])));
        let none = KeyFile::of(&url, None);
        assert!(
            none.read_or_make(Some([1; 32]))
                .unwrap_err()
                .contains("--secret-key-file")
        );
    }
}
