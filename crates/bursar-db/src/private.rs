//! Files and folders that only their owner can access, whatever the umask: bursar writes data about people and money.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Empties an existing file.
pub fn create(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().write(true).create(true).truncate(true), path)
}

pub fn create_new(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().write(true).create_new(true), path)
}

/// Keeps what an existing file holds.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().write(true).create(true).truncate(false), path)
}

/// Also creates the folders above it. An existing folder keeps its permissions.
pub fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Removes everybody's access but the owner's.
pub fn restrict(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(FILE_MODE))
}

fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Set on creation, and again in case an earlier version left the file open to others.
    let file = options.mode(FILE_MODE).open(path)?;
    restrict(&file)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_others_could_read_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        for make in [create, open] {
            let file = folder.path().join("left");
            std::fs::write(&file, "old").unwrap();
            std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
            drop(make(&file).unwrap());
            assert_eq!(mode(&file), 0o600);
        }
        let file = folder.path().join("new");
        drop(create_new(&file).unwrap());
        assert_eq!(mode(&file), 0o600);
        assert_eq!(
            create_new(&file).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        let inner = folder.path().join("a/b");
        create_folder(&inner).unwrap();
        assert_eq!((mode(&inner), mode(&folder.path().join("a"))), (0o700, 0o700));
    }
}
