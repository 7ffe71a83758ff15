//! Which file a program's name means.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Returns the program that `name` means: the first executable file of that name in the absolute folders of
/// `path_value` (the text of `PATH`). A relative or empty entry is passed over, so that nothing planted in the working
/// folder is ever found (hardening P-11). A name with a slash is a path and found nowhere.
pub(crate) fn resolve(name: &str, path_value: &OsStr) -> Option<PathBuf> {
    if name.is_empty() || name.contains(['/', '\\', '\0']) {
        return None;
    }
    std::env::split_paths(path_value)
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| candidates(&folder, name))
        .find(|candidate| is_program(candidate))
}

#[cfg(not(windows))]
fn candidates(folder: &Path, name: &str) -> Vec<PathBuf> {
    vec![folder.join(name)]
}

/// Batch files are no candidates: their arguments go through a shell (hardening P-12).
#[cfg(windows)]
fn candidates(folder: &Path, name: &str) -> Vec<PathBuf> {
    [".exe", ".com"].iter().map(|extension| folder.join(format!("{}{extension}", name.trim_end_matches(extension)))).collect()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use nix::unistd::{AccessFlags, access};
    path.is_file() && access(path, AccessFlags::X_OK).is_ok()
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn plant(folder: &Path, name: &str, mode: u32) {
        fs::create_dir_all(folder).expect("a folder");
        fs::write(folder.join(name), "#!/bin/sh\n").expect("a file");
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).expect("its mode");
    }

    // H: P-11
    #[test]
    fn programs_are_found_in_absolute_entries_only() {
        let root = tempfile::tempdir().expect("a folder");
        let (first, second) = (root.path().join("first"), root.path().join("second"));
        plant(&first, "only-data", 0o644);
        plant(&second, "only-data", 0o755);
        plant(&first, "python9", 0o755);
        plant(&second, "python9", 0o755);
        fs::create_dir(first.join("node9")).expect("a folder that is called like a program");
        let here = std::env::current_dir().expect("a working folder");
        let relative = pathdiff(&here, &second);
        let check =
            |name: &str, path: &str, expected: Option<PathBuf>| assert_eq!(resolve(name, OsStr::new(path)), expected, "{name} in {path}");

        let (first_text, second_text) = (first.display().to_string(), second.display().to_string());
        check("python9", &format!("{first_text}:{second_text}"), Some(first.join("python9")));
        check("only-data", &format!("{first_text}:{second_text}"), Some(second.join("only-data")));
        check("node9", &first_text, None);
        check("python9", &relative, None);
        check("python9", &format!(":.:{relative}:"), None);
        check("Cargo.toml", ":", None);
        check("../second/python9", &first_text, None);
        check("", &first_text, None);
    }

    /// The path of `to` as seen from `from`; both absolute.
    fn pathdiff(from: &Path, to: &Path) -> String {
        let up = "../".repeat(from.components().count() - 1);
        format!("{up}{}", to.display().to_string().trim_start_matches('/'))
    }
}
