//! Files and folders that are their owner's alone, whatever the umask: what bursar writes is about people and money.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// A file to write from its start, made or emptied.
pub fn create(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().write(true).create(true).truncate(true), path)
}

/// A file to write that must not exist yet.
pub fn create_new(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().write(true).create_new(true), path)
}

/// A file to write that keeps what it holds, made if there is none.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().write(true).create(true).truncate(false), path)
}

/// A folder, and those above it, where there is none. One that is there keeps its rights.
pub fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Takes an open file from everybody but its owner.
pub fn restrict(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(FILE_MODE))
}

fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Right from the first moment, and also where an earlier version left the file open to others.
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
