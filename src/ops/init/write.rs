//! Writing a package so that a crash or a full disk leaves nothing half done: staged beside the place, then renamed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::InitError;
use crate::base::{files, id};

/// Where a package goes.
#[derive(Debug)]
pub(super) enum Place {
    /// Nothing is there yet.
    New(PathBuf),
    /// An empty folder; a repository that is only begun counts as one.
    Empty(PathBuf),
}

impl Place {
    /// Looks at `folder`, which people know as `named`.
    pub(super) fn of(folder: &Path, named: &Path) -> Result<Self, InitError> {
        let unwritable = |source| InitError::Unwritable { path: named.to_owned(), source };
        match fs::metadata(folder) {
            // A link that leads nowhere is there all the same.
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(folder).is_err() => {
                Ok(Self::New(folder.to_owned()))
            }
            Err(source) => Err(unwritable(source)),
            Ok(metadata) if !metadata.is_dir() => Err(InitError::NotAFolder { path: named.to_owned() }),
            Ok(_) => {
                for entry in fs::read_dir(folder).map_err(unwritable)? {
                    if entry.map_err(unwritable)?.file_name() != ".git" {
                        return Err(InitError::NotEmpty { path: named.to_owned() });
                    }
                }
                Ok(Self::Empty(folder.to_owned()))
            }
        }
    }
}

/// Writes the files of a package, paths relative with `/`.
pub(super) fn package(place: &Place, files: &[(&str, String)]) -> Result<(), InitError> {
    let (Place::New(folder) | Place::Empty(folder)) = place;
    let unwritable = |source| InitError::Unwritable { path: folder.clone(), source };
    let parent = match place {
        Place::New(folder) => folder.parent().unwrap_or(folder),
        Place::Empty(folder) => folder,
    };
    fs::create_dir_all(parent).map_err(unwritable)?;
    let staging = parent.join(format!(".spark-tool-init-{}", id::random()));
    let written = write_all(&staging, files).and_then(|()| match place {
        Place::New(folder) => fs::rename(&staging, folder),
        Place::Empty(folder) => move_into(&staging, folder),
    });
    if written.is_err() || matches!(place, Place::Empty(_)) {
        // The first error is the one to report.
        let _ignored = files::remove_tree(&staging);
    }
    written.map_err(unwritable)
}

fn write_all(staging: &Path, files: &[(&str, String)]) -> io::Result<()> {
    for (path, content) in files {
        let path = files::join_inside(staging, path).ok_or_else(|| io::Error::other("a template's path leaves its folder"))?;
        fs::create_dir_all(path.parent().unwrap_or(staging))?;
        fs::write(&path, content)?;
        if content.starts_with("#!") {
            make_executable(&path)?;
        }
    }
    Ok(())
}

/// Moves everything in `staging` into `folder`, the manifest last: until it is there, the folder is no package. What
/// was moved is taken back if the rest can't be.
fn move_into(staging: &Path, folder: &Path) -> io::Result<()> {
    let mut names = fs::read_dir(staging)?.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort_by_key(|name| name == crate::package::MANIFEST);
    let mut moved: Vec<PathBuf> = Vec::new();
    for name in &names {
        let target = folder.join(name);
        // Somebody may have been faster; a rename would replace their file.
        let result = match fs::symlink_metadata(&target) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(staging.join(name), &target),
        };
        if let Err(error) = result {
            for target in &moved {
                let _ignored = files::remove_tree(target);
            }
            return Err(error);
        }
        moved.push(target);
    }
    Ok(())
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path)?.permissions().mode();
    // Whoever may read it may run it, as far as the umask let them read.
    fs::set_permissions(path, fs::Permissions::from_mode(mode | ((mode & 0o444) >> 2)))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<(&'static str, String)> {
        vec![("spark-tool.json", "{}".to_owned()), ("bin/run", "#!/bin/sh\n".to_owned()), (".sparkignore", String::new())]
    }

    fn place_of(folder: &Path) -> Result<Place, InitError> {
        Place::of(folder, folder)
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_package_is_written_into_a_new_or_an_empty_folder() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let begun = root.path().join("begun");
        fs::create_dir_all(begun.join(".git")).expect("a folder");
        package(&place_of(&begun).expect("empty"), &files()).expect("written");
        package(&place_of(&root.path().join("a/new")).expect("new"), &files()).expect("written");
        assert_eq!(names(&begun), [".git", ".sparkignore", "bin", "spark-tool.json"]);
        assert_eq!(names(&root.path().join("a")), ["new"]);
        assert!(matches!(place_of(&begun), Err(InitError::NotEmpty { .. })));
        assert!(matches!(place_of(&begun.join("bin/run")), Err(InitError::NotAFolder { .. })));
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(begun.join("bin/run")).expect("it is there").permissions()) & 0o100,
            0o100
        );
    }

    #[test]
    fn what_was_there_first_stays_and_nothing_of_ours_does() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let place = place_of(root.path()).expect("empty");
        fs::write(root.path().join("spark-tool.json"), "theirs").expect("a file");
        assert!(matches!(package(&place, &files()), Err(InitError::Unwritable { .. })));
        assert_eq!(names(root.path()), ["spark-tool.json"]);
        assert_eq!(fs::read_to_string(root.path().join("spark-tool.json")).expect("text"), "theirs");
    }
}
