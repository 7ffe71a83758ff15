//! Which files a folder's package has: in the same order on every system, links followed inside it, everything that
//! can't be in a package named at once (design §4, manifest §14).

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use super::error::{PackageError, TreeFault, TreeFaultKind};
use super::ignore::Ignored;
use super::path::PathRules;
use crate::base::limits::{FINDINGS, PACKAGE_BYTES, PACKAGE_FILES};

/// One file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SelectedFile {
    /// From the root, `/` between components.
    pub(crate) path: String,
    /// Where its content is: the path itself, or what the links on the way lead to.
    pub(crate) source: PathBuf,
    pub(crate) size: u64,
}

/// The files of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// In order of the bytes of their paths.
    pub(crate) files: Vec<SelectedFile>,
    pub(crate) bytes: u64,
}

impl Selection {
    pub(crate) fn find(&self, path: &str) -> Option<&SelectedFile> {
        self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok().map(|at| &self.files[at])
    }
}

/// Walks the folder `root`, which is canonical. Nothing is opened but `.sparkignore`.
pub(crate) fn select(root: &Path) -> Result<Selection, PackageError> {
    let mut walk = Walk { root, ignored: None, files: Vec::new(), bytes: 0, folders: 0, faults: Vec::new(), more: 0, is_over: false };
    let mut faults = Vec::new();
    walk.ignored = Some(Ignored::read(root, &mut faults));
    walk.faults = faults;
    walk.folder(root, "", &mut vec![root.to_path_buf()]);
    walk.finish()
}

struct Walk<'a> {
    root: &'a Path,
    ignored: Option<Ignored>,
    files: Vec<SelectedFile>,
    bytes: u64,
    folders: u64,
    faults: Vec<TreeFault>,
    more: u64,
    /// A limit was passed: there is no end to be waited for.
    is_over: bool,
}

impl Walk<'_> {
    /// Walks one folder. `inside` are the real places of it and of those it is in; a link back to one is a loop.
    fn folder(&mut self, place: &Path, path: &str, inside: &mut Vec<PathBuf>) {
        self.folders += 1;
        if self.folders > PACKAGE_FILES {
            return self.stop(path, TreeFaultKind::TooManyFolders);
        }
        let entries = match fs::read_dir(place) {
            Ok(entries) => entries,
            Err(error) => return self.fault(path, TreeFaultKind::Unreadable(error)),
        };
        for entry in entries {
            if self.is_over {
                return;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return self.fault(path, TreeFaultKind::Unreadable(error)),
            };
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                self.fault(&join(path, &name.to_string_lossy()), TreeFaultKind::NotUtf8);
                continue;
            };
            let path = join(path, name);
            match entry.metadata() {
                Ok(metadata) => self.entry(entry.path(), path, &metadata, inside),
                Err(error) => self.fault(&path, TreeFaultKind::Unreadable(error)),
            }
        }
    }

    fn entry(&mut self, place: PathBuf, path: String, metadata: &Metadata, inside: &mut Vec<PathBuf>) {
        if metadata.is_symlink() {
            self.link(&place, path, inside);
        } else if self.leaves_out(&path, metadata.is_dir()) {
            // It isn't the package's, whatever it is.
        } else if metadata.is_dir() {
            inside.push(place.clone());
            self.folder(&place, &path, inside);
            inside.pop();
        } else if metadata.is_file() {
            self.file(place, path, metadata.len());
        } else {
            self.fault(&path, TreeFaultKind::Special { kind: special(metadata) });
        }
    }

    fn link(&mut self, place: &Path, path: String, inside: &mut Vec<PathBuf>) {
        // A pattern for a folder alone matches a link to one too.
        if self.leaves_out(&path, true) || self.leaves_out(&path, false) {
            return;
        }
        let Ok((target, metadata)) = fs::canonicalize(place).and_then(|target| fs::metadata(&target).map(|metadata| (target, metadata)))
        else {
            // A loop of links alone resolves to nothing either.
            return self.fault(&path, TreeFaultKind::LinkDangles);
        };
        let Ok(within) = target.strip_prefix(self.root) else {
            return self.fault(&path, TreeFaultKind::LinkLeaves { target: target.to_string_lossy().into_owned() });
        };
        if inside.contains(&target) {
            return self.fault(&path, TreeFaultKind::LinkLoops);
        }
        let Some(within) = portable(within) else {
            return self.fault(&path, TreeFaultKind::NotUtf8);
        };
        if self.leaves_out_at(&within, metadata.is_dir()) {
            return self.fault(&path, TreeFaultKind::LinkToLeftOut { target: within });
        }
        if metadata.is_dir() {
            inside.push(target.clone());
            self.folder(&target, &path, inside);
            inside.pop();
        } else if metadata.is_file() {
            self.file(target, path, metadata.len());
        } else {
            self.fault(&path, TreeFaultKind::Special { kind: special(&metadata) });
        }
    }

    fn file(&mut self, source: PathBuf, path: String, size: u64) {
        self.bytes = self.bytes.saturating_add(size);
        if self.files.len() as u64 >= PACKAGE_FILES {
            return self.stop(&path, TreeFaultKind::TooManyFiles);
        }
        if self.bytes > PACKAGE_BYTES {
            return self.stop(&path, TreeFaultKind::TooManyBytes);
        }
        self.files.push(SelectedFile { path, source, size });
    }

    fn leaves_out(&self, path: &str, is_folder: bool) -> bool {
        self.ignored.as_ref().is_some_and(|ignored| ignored.leaves_out(path, is_folder))
    }

    fn leaves_out_at(&self, path: &str, is_folder: bool) -> bool {
        let Some(ignored) = &self.ignored else { return false };
        if is_folder { ignored.leaves_out(path, true) || ignored.leaves_out_file(path) } else { ignored.leaves_out_file(path) }
    }

    fn fault(&mut self, path: &str, kind: TreeFaultKind) {
        if self.faults.len() < FINDINGS {
            self.faults.push(TreeFault { path: if path.is_empty() { ".".into() } else { path.into() }, kind });
        } else {
            self.more += 1;
        }
    }

    fn stop(&mut self, path: &str, kind: TreeFaultKind) {
        self.is_over = true;
        self.fault(path, kind);
    }

    fn finish(mut self) -> Result<Selection, PackageError> {
        let mut files = std::mem::take(&mut self.files);
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut rules = PathRules::default();
        for file in &files {
            for fault in rules.add(&file.path) {
                self.fault(&file.path, TreeFaultKind::Path(fault));
            }
        }
        if self.faults.is_empty() {
            return Ok(Selection { files, bytes: self.bytes });
        }
        self.faults.sort_by(|a, b| a.path.cmp(&b.path));
        Err(PackageError::Refused { path: self.root.into(), faults: self.faults, more: self.more })
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// Returns a path below the root with `/` between its components.
fn portable(path: &Path) -> Option<String> {
    let components: Option<Vec<&str>> = path.components().map(|component| component.as_os_str().to_str()).collect();
    components.map(|components| components.join("/"))
}

#[cfg(unix)]
fn special(metadata: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;

    let kind = metadata.file_type();
    match () {
        () if kind.is_fifo() => "pipe",
        () if kind.is_socket() => "socket",
        () if kind.is_block_device() || kind.is_char_device() => "device",
        () => "special file",
    }
}

#[cfg(not(unix))]
fn special(_metadata: &Metadata) -> &'static str {
    "special file"
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn folder(files: &[(&str, &str)], links: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary folder");
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("it is below the root")).expect("made");
            fs::write(path, content).expect("written");
        }
        for (path, target) in links {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("it is below the root")).expect("made");
            symlink(target, path).expect("linked");
        }
        root
    }

    fn selected(root: &tempfile::TempDir) -> Result<Vec<String>, Vec<String>> {
        let root = fs::canonicalize(root.path()).expect("it is there");
        match select(&root) {
            Ok(selection) => Ok(selection.files.into_iter().map(|file| file.path).collect()),
            Err(PackageError::Refused { faults, .. }) => Err(faults.iter().map(ToString::to_string).collect()),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn files_come_in_the_order_of_their_bytes() {
        let root = folder(&[("b", ""), ("B", ""), ("a/x", ""), ("a-b", ""), ("a.b", ""), ("_", ""), ("é", "")], &[]);
        let refused = selected(&root).expect_err("b and B are one name on some systems");
        assert_eq!(refused, ["b: `B` is the same name on some systems"]);
        fs::remove_file(root.path().join("B")).expect("removed");
        assert_eq!(selected(&root).expect("selected"), ["_", "a-b", "a.b", "a/x", "b", "é"]);
    }

    // H: A-9
    #[test]
    fn what_is_never_part_of_a_package_is_left_out_anywhere() {
        let root = folder(
            &[
                ("keep/.gitignore", ""),
                (".git/config", ""),
                ("sub/.git", ""),
                ("sub/.DS_Store", ""),
                ("__MACOSX/x", ""),
                ("sub/__pycache__/x.pyc", ""),
                (".spark-installed", ""),
                ("node_modules/a/index.js", ""),
                ("secret/key", ""),
                ("a.log", ""),
                ("keep.log", ""),
                ("build/out", ""),
                ("sub/build", ""),
                (".sparkignore", "\u{feff}# what stays at home\nsecret/\n*.log\n!keep.log\n/build\n"),
            ],
            &[],
        );
        let kept = [".sparkignore", "keep.log", "keep/.gitignore", "node_modules/a/index.js", "sub/build"];
        assert_eq!(selected(&root).expect("selected"), kept);
    }

    #[test]
    fn links_inside_the_package_are_followed() {
        let root = folder(
            &[("lib/a.js", "a"), ("bin/tool", "t")],
            &[("tool", "bin/tool"), ("copy", "lib"), ("lib/up", "../bin"), ("absolute", "bin/../lib/a.js")],
        );
        let files = ["absolute", "bin/tool", "copy/a.js", "copy/up/tool", "lib/a.js", "lib/up/tool", "tool"];
        assert_eq!(selected(&root).expect("selected"), files);
    }

    // H
    #[test]
    fn everything_that_cannot_be_in_a_package_is_named_at_once() {
        let root = folder(
            &[("a/file", ""), ("con.txt", ""), ("secret/key", ""), (".git/config", ""), (".sparkignore", "secret\n[z-a]\n")],
            &[
                ("out", "/etc/hostname"),
                ("climbs", "../no-such-file"),
                ("gone", "nowhere"),
                ("self", "self"),
                ("a/back", "../a"),
                ("a/top", ".."),
                ("to-git", ".git/config"),
                ("to-secret", "secret/key"),
            ],
        );
        nix::unistd::mkfifo(&root.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("made");
        let refused = selected(&root).expect_err("refused");
        let reasons = [
            ".sparkignore: line 2 is no pattern: ",
            "a/back: the link leads back to a folder that it is in",
            "a/top: the link leads back to a folder that it is in",
            "climbs: the link leads to nothing",
            "con.txt: `con.txt` is a device on Windows, so no file or folder can be called that",
            "gone: the link leads to nothing",
            "out: the link leads out of the package, to `/etc/hostname`",
            "pipe: it is a pipe, not a file or folder",
            "self: the link leads to nothing",
            "to-git: the link leads to `.git/config`, which doesn't belong to the package",
            "to-secret: the link leads to `secret/key`, which doesn't belong to the package",
        ];
        assert_eq!(refused.len(), reasons.len(), "{refused:#?}");
        for (found, expected) in refused.iter().zip(reasons) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn folders_that_multiply_through_links_end_at_a_limit() {
        let root = folder(&[], &[]);
        for level in 0..20 {
            let folder = root.path().join(format!("l{level}"));
            fs::create_dir(&folder).expect("made");
            for twin in ["a", "b"] {
                symlink(format!("../l{}", level + 1), folder.join(twin)).expect("linked");
            }
        }
        fs::create_dir(root.path().join("l20")).expect("made");
        let refused = selected(&root).expect_err("two to the twentieth folders");
        assert!(refused.iter().any(|fault| fault.ends_with("more than 50000 folders")), "{refused:?}");
    }
}
