//! Is an installed tree still what was installed? Quickly by what its files look like, or by reading all of it
//! (design §4, digest; hardening P-18).
//!
//! Nothing is left out and no link is followed: whatever is in the tree and was not installed is a change.

use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::digest::{FeedError, TreeHash};
use super::error::{Change, ChangeKind, PackageError};
use crate::base::files;
use crate::base::stamp::{Stamp, StampedFile};
use crate::tool::Digest;

/// What a full look found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verified {
    /// Empty: the content is what was installed.
    pub(crate) changes: Vec<Change>,
    /// How the files look now, to be recorded if nothing changed.
    pub(crate) files: Vec<StampedFile>,
}

/// Returns what differs from how the files looked when they were installed. [`ChangeKind::Touched`] and
/// [`ChangeKind::Mode`] alone may be a copy or a backup that was put back: [`verify_full`] tells.
pub(crate) fn verify_quick(tree: &Path, recorded: &[StampedFile]) -> Result<Vec<Change>, PackageError> {
    Ok(compare(recorded, &look(tree)?))
}

/// Reads the whole tree and compares it with its digest. `command` is the path that the manifest's `./…` names.
pub(crate) fn verify_full(tree: &Path, recorded: &[StampedFile], digest: Digest, command: Option<&str>) -> Result<Verified, PackageError> {
    let found = look(tree)?;
    let mut changes = compare(recorded, &found);
    let is_readable = changes.iter().all(|change| matches!(change.kind, ChangeKind::Touched | ChangeKind::Mode));
    if is_readable && hash(tree, &found, command)? == digest {
        changes.retain(|change| change.kind == ChangeKind::Mode);
    } else {
        name_edits(tree, recorded, &found, &mut changes)?;
    }
    let files = recorded.iter().zip(&found).map(|(recorded, found)| StampedFile { stamp: found.stamp, ..recorded.clone() });
    Ok(Verified { files: if changes.is_empty() { files.collect() } else { Vec::new() }, changes })
}

/// Something in the tree that is no folder.
struct Found {
    path: String,
    stamp: Stamp,
    is_file: bool,
}

/// Returns everything in the tree, in the order of the digest.
fn look(tree: &Path) -> Result<Vec<Found>, PackageError> {
    let mut found = Vec::new();
    let mut folders = vec![(tree.to_path_buf(), String::new())];
    while let Some((folder, path)) = folders.pop() {
        let unreadable = |error| PackageError::io("read", &folder, error);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            // All its files are missing then.
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_empty() => break,
            Err(error) => return Err(unreadable(error)),
        };
        for entry in entries {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name();
            let path = if path.is_empty() { name.to_string_lossy().into_owned() } else { format!("{path}/{}", name.to_string_lossy()) };
            let metadata = entry.metadata().map_err(unreadable)?;
            if metadata.is_dir() {
                folders.push((entry.path(), path));
            } else {
                found.push(Found { path, stamp: Stamp::of(&metadata), is_file: metadata.is_file() });
            }
        }
    }
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Walks two sorted lists side by side.
fn compare(recorded: &[StampedFile], found: &[Found]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut report = |path: &str, kind| changes.push(Change { path: path.to_owned(), kind });
    let mut found = found.iter().peekable();
    for file in recorded {
        while let Some(added) = found.next_if(|found| found.path < file.path) {
            report(&added.path, ChangeKind::Added);
        }
        match found.next_if(|found| found.path == file.path) {
            None => report(&file.path, ChangeKind::Removed),
            Some(found) if !found.is_file => report(&file.path, ChangeKind::Replaced),
            Some(found) if found.stamp.mode != file.stamp.mode => report(&file.path, ChangeKind::Mode),
            Some(found) if found.stamp != file.stamp => report(&file.path, ChangeKind::Touched),
            Some(_) => {}
        }
    }
    found.for_each(|added| report(&added.path, ChangeKind::Added));
    changes
}

fn hash(tree: &Path, found: &[Found], command: Option<&str>) -> Result<Digest, PackageError> {
    let mut hash = TreeHash::new();
    for Found { path, stamp, .. } in found {
        let place = tree.join(path);
        let mut file = files::open_regular(&place).map_err(|error| PackageError::io("read", &place, error))?;
        hash.feed(path, stamp.size, command == Some(path), &mut file, |_, _| Ok(())).map_err(|error| match error {
            FeedError::Read(error) | FeedError::Pass(error) => PackageError::io("read", &place, error),
            FeedError::Changed => PackageError::ChangedMeanwhile { path: place.clone() },
        })?;
    }
    Ok(hash.finish())
}

/// Tells by each file's own hash which of the files that may have changed did. The tree's digest can't name one.
fn name_edits(tree: &Path, recorded: &[StampedFile], found: &[Found], changes: &mut Vec<Change>) -> Result<(), PackageError> {
    changes.retain(|change| change.kind != ChangeKind::Touched);
    for file in recorded {
        let is_file = found.binary_search_by(|found| found.path.cmp(&file.path)).is_ok_and(|at| found[at].is_file);
        if !is_file {
            continue;
        }
        let place = tree.join(&file.path);
        let mut hash = Sha256::new();
        let mut content = files::open_regular(&place).map_err(|error| PackageError::io("read", &place, error))?;
        io::copy(&mut content, &mut HashWriter(&mut hash)).map_err(|error| PackageError::io("read", &place, error))?;
        if <[u8; 32]>::from(hash.finalize()) != file.sha256 {
            changes.retain(|change| change.path != file.path);
            changes.push(Change { path: file.path.clone(), kind: ChangeKind::Edited });
        }
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}

struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::ops::ControlFlow;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::PathBuf;
    use std::time::Duration;

    use super::super::inspect::tests::sample;
    use super::super::{TreeLock, inspect, install};
    use super::*;
    use crate::base::layout::Layout;

    struct Installed {
        _root: tempfile::TempDir,
        tree: PathBuf,
        files: Vec<StampedFile>,
        digest: Digest,
    }

    fn installed() -> Installed {
        let root = tempfile::tempdir().expect("a folder");
        let source = root.path().join("source");
        sample(&source, "1.0.0", &[]);
        let layout = Layout::new(root.path().join("home"));
        let lock = TreeLock::take(&layout, Duration::ZERO, || {}).expect("free");
        let inspection = inspect(&source, OsStr::new("")).expect("sound");
        let placed = install(&lock, &inspection, false, &mut |_| ControlFlow::Continue(())).expect("installed");
        let files = placed.files.clone();
        placed.finish(&mut |_| ControlFlow::Continue(())).expect("finished");
        Installed { _root: root, tree: layout.version("demo.hello", "1.0.0"), files, digest: inspection.digest }
    }

    impl Installed {
        fn full(&self) -> Vec<(String, ChangeKind)> {
            let verified = verify_full(&self.tree, &self.files, self.digest, Some("bin/hello")).expect("read");
            verified.changes.into_iter().map(|change| (change.path, change.kind)).collect()
        }

        fn quick(&self) -> Vec<(String, ChangeKind)> {
            verify_quick(&self.tree, &self.files).expect("read").into_iter().map(|change| (change.path, change.kind)).collect()
        }

        fn open(&self, path: &str) -> PathBuf {
            let path = self.tree.join(path);
            fs::set_permissions(path.parent().expect("a folder"), fs::Permissions::from_mode(0o755)).expect("opened");
            path
        }

        /// Writes without touching mode or length.
        fn edit(&self, path: &str, content: &str) {
            let path = self.open(path);
            let mode = fs::metadata(&path).expect("there").permissions();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("opened");
            fs::write(&path, content).expect("written");
            fs::set_permissions(&path, mode).expect("closed");
        }
    }

    #[test]
    fn an_untouched_tree_is_what_was_installed() {
        let installed = installed();
        assert_eq!((installed.quick(), installed.full()), (vec![], vec![]));
        for (path, mode) in
            [("", 0o40_555), ("bin", 0o40_555), ("bin/hello", 0o100_555), ("lib/data.txt", 0o100_444), ("work/deep", 0o40_555)]
        {
            assert_eq!(fs::metadata(installed.tree.join(path)).expect(path).permissions().mode(), mode, "{path}");
        }
    }

    // H: P-18
    #[test]
    fn each_kind_of_change_is_named() {
        type Case<'a> = (&'a str, fn(&Installed), &'a [(&'a str, ChangeKind)]);
        let changes: [Case; 7] = [
            ("edited", |it| it.edit("lib/data.txt", "DATA"), &[("lib/data.txt", ChangeKind::Edited)]),
            ("edited and grown", |it| it.edit("bin/hello", "longer than before"), &[("bin/hello", ChangeKind::Edited)]),
            ("added", |it| fs::write(it.open("bin/more"), "").expect("written"), &[("bin/more", ChangeKind::Added)]),
            ("removed", |it| fs::remove_file(it.open("lib/data.txt")).expect("removed"), &[("lib/data.txt", ChangeKind::Removed)]),
            (
                "made executable",
                |it| fs::set_permissions(it.open("lib/data.txt"), fs::Permissions::from_mode(0o555)).expect("set"),
                &[("lib/data.txt", ChangeKind::Mode)],
            ),
            (
                "replaced by a link",
                |it| {
                    let path = it.open("lib/data.txt");
                    fs::remove_file(&path).expect("removed");
                    symlink("../bin/hello", &path).expect("linked");
                },
                &[("lib/data.txt", ChangeKind::Replaced)],
            ),
            (
                "several",
                |it| {
                    it.edit("spark-tool.json", "{}");
                    fs::write(it.open("zzz"), "").expect("written");
                },
                &[("spark-tool.json", ChangeKind::Edited), ("zzz", ChangeKind::Added)],
            ),
        ];
        for (name, change, expected) in changes {
            let installed = installed();
            change(&installed);
            let expected: Vec<(String, ChangeKind)> = expected.iter().map(|(path, kind)| ((*path).to_owned(), *kind)).collect();
            assert_eq!(installed.full(), expected, "{name}");
            let quick: Vec<String> = installed.quick().into_iter().map(|(path, _)| path).collect();
            assert_eq!(quick, expected.into_iter().map(|(path, _)| path).collect::<Vec<_>>(), "{name}");
        }
    }

    #[test]
    fn a_tree_that_was_only_copied_is_told_from_a_changed_one() {
        let mut installed = installed();
        installed.edit("lib/data.txt", "data");
        assert_eq!(installed.quick(), [("lib/data.txt".to_owned(), ChangeKind::Touched)]);
        let verified = verify_full(&installed.tree, &installed.files, installed.digest, Some("bin/hello")).expect("read");
        assert_eq!(verified.changes, []);
        installed.files = verified.files;
        assert_eq!(installed.quick(), []);
    }

    #[test]
    fn a_tree_that_is_gone_lacks_every_file() {
        let installed = installed();
        crate::base::files::remove_tree(&installed.tree).expect("removed");
        assert_eq!(installed.quick().len(), 3);
        assert!(installed.full().iter().all(|(_, kind)| *kind == ChangeKind::Removed));
    }
}
