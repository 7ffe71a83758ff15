//! Files written so that a crash leaves the old or the new, locks that the kernel releases, joins that can't escape.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// Writes `bytes` to `path`: a temporary file beside it, synced, renamed over it, the folder synced.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", super::id::random()));
    let temporary = folder.join(hidden);
    let written = write_synced(&temporary, bytes, path).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to report; the temporary file may not even exist.
        let _ignored = fs::remove_file(&temporary);
    }
    written.and_then(|()| sync_folder(folder))
}

fn write_synced(temporary: &Path, bytes: &[u8], replaced: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(temporary)?;
    if let Ok(metadata) = fs::metadata(replaced) {
        file.set_permissions(metadata.permissions())?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes a folder, and those it is in, for this user alone.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}

/// Says that a disk takes nothing more, or nothing from us: full, read-only, or another user's.
pub(crate) fn is_closed_to_writes(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
}

/// Opens a file that somebody else made, to be read. What isn't a regular file is refused: a named pipe would make its
/// reader wait for a writer that never comes.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nix::fcntl::OFlag::O_NONBLOCK.bits());
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")) }
}

/// As [`open_regular`], and reads it whole.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes the names in `folder` durable. A system that can't sync a folder makes renames durable by itself.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Makes everything below `folder` durable, contents and names, with one call where the system has one: an fsync a file
/// takes several times as long.
#[cfg(target_os = "linux")]
pub(crate) fn sync_tree(folder: &Path) -> io::Result<()> {
    Ok(nix::unistd::syncfs(File::open(folder)?)?)
}

/// Makes everything below `folder` durable, contents and names.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sync_tree(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_tree(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    sync_folder(folder)
}

/// An exclusive lock of the kernel's on a file, held until this is dropped or the process ends (hardening I-5).
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, waiting at most `wait`; `None` if another process holds it that long. `waiting` is called once
    /// when the wait begins.
    pub(crate) fn exclusive(path: &Path, wait: Duration, waiting: impl FnOnce()) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        let until = Instant::now() + wait;
        let mut waiting = Some(waiting);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { _file: file })),
                Err(fs::TryLockError::WouldBlock) => {}
                Err(fs::TryLockError::Error(error)) => return Err(error),
            }
            if Instant::now() >= until {
                return Ok(None);
            }
            if let Some(waiting) = waiting.take() {
                waiting();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Returns `root/relative` if `relative` has only plain components; `None` if it is absolute, empty or climbs.
pub(crate) fn join_inside(root: &Path, relative: &str) -> Option<PathBuf> {
    let relative = Path::new(relative);
    let plain = relative.components().all(|component| matches!(component, Component::Normal(_)));
    (plain && relative.components().next().is_some()).then(|| root.join(relative))
}

/// Removes a file or a whole tree, read-only parts too; what doesn't exist is removed already.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(metadata) if metadata.is_dir() => {
            make_removable(path, &metadata)?;
            for entry in fs::read_dir(path)? {
                remove_tree(&entry?.path())?;
            }
            fs::remove_dir(path)
        }
        Ok(_) => fs::remove_file(path),
    }
}

#[cfg(unix)]
fn make_removable(folder: &Path, metadata: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if metadata.permissions().mode() & 0o700 == 0o700 {
        return Ok(());
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn make_removable(_folder: &Path, _metadata: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.json");
        write_atomically(&path, b"one").expect("written");
        write_atomically(&path, b"two").expect("written again");
        assert_eq!(fs::read(&path).expect("read"), b"two");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
    }

    #[test]
    fn a_join_never_leaves_its_root() {
        let root = Path::new("/r");
        assert_eq!(join_inside(root, "a/b"), Some(PathBuf::from("/r/a/b")));
        for climbing in ["", "/a", "..", "a/../../b", "./a/..", "../a"] {
            assert_eq!(join_inside(root, climbing), None, "{climbing}");
        }
    }

    #[test]
    fn a_lock_that_another_holds_is_waited_for_and_then_given_up() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("lock");
        let held = Lock::exclusive(&path, Duration::ZERO, || {}).expect("no error").expect("free");
        let mut said = false;
        assert!(Lock::exclusive(&path, Duration::from_millis(50), || said = true).expect("no error").is_none());
        assert!(said);
        drop(held);
        assert!(Lock::exclusive(&path, Duration::ZERO, || {}).expect("no error").is_some());
    }
}
