//! What of a folder does not belong to the package: what `.sparkignore` says, and a fixed list (design §4).

use std::io::{self, Read as _};
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::error::{TreeFault, TreeFaultKind};
use crate::base::files;

pub(super) const IGNORE_FILE: &str = ".sparkignore";
/// Never part of a package, wherever they are.
const ALWAYS: &[&str] = &[".git", ".DS_Store", "__MACOSX", "__pycache__", ".spark-installed"];
/// Bytes of an ignore file (ours: far above any that a person wrote).
const IGNORE_BYTES: u64 = 1024 * 1024;

/// The rules of one package.
#[derive(Debug)]
pub(super) struct Ignored {
    patterns: Gitignore,
}

impl Ignored {
    /// Reads the rules of the package at `root`; none are fine.
    pub(super) fn read(root: &Path, faults: &mut Vec<TreeFault>) -> Self {
        let mut builder = GitignoreBuilder::new("");
        let mut fault = |kind| faults.push(TreeFault { path: IGNORE_FILE.into(), kind });
        match text(&root.join(IGNORE_FILE)) {
            Ok(text) => {
                for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
                    if let Err(error) = builder.add_line(None, line) {
                        fault(TreeFaultKind::Pattern { line: at + 1, reason: error.to_string() });
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => fault(TreeFaultKind::Unreadable(error)),
        }
        let patterns = builder.build().unwrap_or_else(|error| {
            fault(TreeFaultKind::Pattern { line: 0, reason: error.to_string() });
            Gitignore::empty()
        });
        Self { patterns }
    }

    /// Says whether an entry is left out, given that the folders it is in are not.
    pub(super) fn leaves_out(&self, path: &str, is_folder: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        ALWAYS.contains(&name) || matches!(self.patterns.matched(Path::new(path), is_folder), Match::Ignore(_))
    }

    /// Says whether a file is left out, by itself or by a folder it is in.
    pub(super) fn leaves_out_file(&self, path: &str) -> bool {
        path.match_indices('/').any(|(at, _)| self.leaves_out(&path[..at], true)) || self.leaves_out(path, false)
    }
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = files::open_regular(path)?.take(IGNORE_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > IGNORE_BYTES { Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has more than 1 MiB")) } else { Ok(text) }
}
