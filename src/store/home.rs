//! The home folder itself: ours, closed to others, made when something is first written into it.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use super::StoreError;
use crate::base::files;
use crate::base::layout::Layout;

/// Says whether there is a home, having refused one that is a link, another user's or no folder (design §5).
pub(super) fn check(layout: &Layout) -> Result<bool, StoreError> {
    let path = layout.home();
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StoreError::io("look at the home", path, error)),
    };
    if metadata.is_symlink() {
        return Err(StoreError::HomeIsLink { path: path.into() });
    }
    if !metadata.is_dir() {
        return Err(StoreError::HomeNotFolder { path: path.into() });
    }
    if !is_ours(&metadata) {
        return Err(StoreError::HomeNotOurs { path: path.into() });
    }
    Ok(true)
}

/// Makes the home where there is none, and closes one that is open to others. A folder full of other things is left
/// as it is, and refused if others may write to it.
pub(super) fn prepare(layout: &Layout, exists: bool) -> Result<(), StoreError> {
    let path = layout.home();
    if !exists {
        make_private_folder(path)?;
        // Another process may have made it, and not for us.
        return check(layout).and_then(|_| close(layout));
    }
    close(layout)
}

/// Makes a folder of mode 0700 and its parents; one that is there already is fine.
pub(super) fn make_private_folder(path: &Path) -> Result<(), StoreError> {
    files::make_private_folder(path).map_err(|error| StoreError::io("make the folder", path, error))
}

#[cfg(unix)]
fn is_ours(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(metadata) == nix::unistd::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_ours(_metadata: &Metadata) -> bool {
    // The profile folder of a user is closed to others by its own access list.
    true
}

#[cfg(unix)]
fn close(layout: &Layout) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt as _;

    let path = layout.home();
    let failed = |error| StoreError::io("look at the home", path, error);
    let mode = fs::metadata(path).map_err(failed)?.permissions().mode();
    if mode & 0o777 == mode & 0o700 {
        return Ok(());
    }
    let is_a_home = layout.database().exists() || fs::read_dir(path).map_err(failed)?.next().is_none();
    if is_a_home {
        return fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(|error| StoreError::io("close the home", path, error));
    }
    if mode & 0o022 == 0 { Ok(()) } else { Err(StoreError::HomeNotPrivate { path: path.into() }) }
}

#[cfg(not(unix))]
fn close(_layout: &Layout) -> Result<(), StoreError> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::PathBuf;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    fn folder(root: &Path, name: &str, mode: u32) -> PathBuf {
        let path = root.join(name);
        fs::create_dir(&path).expect("made");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
        path
    }

    #[test]
    fn a_home_is_made_private_and_an_open_one_is_closed() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let new = Layout::new(root.path().join("a/b"));
        assert!(!check(&new).expect("looked"));
        prepare(&new, false).expect("made");
        assert_eq!(mode(new.home()), 0o700);

        let open = Layout::new(folder(root.path(), "open", 0o777));
        prepare(&open, check(&open).expect("ours")).expect("closed");
        assert_eq!(mode(open.home()), 0o700);
    }

    #[test]
    fn a_folder_of_other_things_is_never_changed() {
        let root = tempfile::tempdir().expect("a temporary folder");
        for (name, bits, accepted) in [("readable", 0o755, true), ("writable", 0o775, false)] {
            let layout = Layout::new(folder(root.path(), name, bits));
            fs::write(layout.home().join("notes"), "").expect("written");
            assert_eq!(prepare(&layout, true).is_ok(), accepted, "{name}");
            assert_eq!(mode(layout.home()), bits);
        }
    }

    #[test]
    fn a_link_or_a_file_is_no_home() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let real = folder(root.path(), "real", 0o700);
        symlink(&real, root.path().join("link")).expect("linked");
        fs::write(root.path().join("file"), "").expect("written");
        let check = |name: &str| check(&Layout::new(root.path().join(name)));
        assert!(matches!(check("link"), Err(StoreError::HomeIsLink { .. })));
        assert!(matches!(check("file"), Err(StoreError::HomeNotFolder { .. })));
    }
}
