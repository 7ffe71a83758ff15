//! `tree-v1`: the identity of a package's content (design §4, digest).
//!
//! SHA-256 over `tree-v1` NUL, then for each file in order of the bytes of its path: path, NUL, `x` or `-`, NUL, length
//! in decimal, NUL, content. The `x` comes from the content alone, so it is the same on every system.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use super::error::{PackageError, TreeFault, TreeFaultKind};
use super::select::{SelectedFile, Selection};
use crate::base::files;
use crate::tool::Digest;

/// Bytes read at a time: large enough that calls don't count, small enough for the cache.
const CHUNK: usize = 128 * 1024;

/// The hash of a tree whose files come one after the other.
pub(super) struct TreeHash {
    hash: Sha256,
    chunk: Vec<u8>,
}

/// Why a file could not be fed.
pub(super) enum FeedError {
    Read(io::Error),
    /// It has another length than it had.
    Changed,
    /// From whoever gets the chunks.
    Pass(io::Error),
}

impl TreeHash {
    pub(super) fn new() -> Self {
        let mut hash = Sha256::new();
        hash.update(b"tree-v1\0");
        Self { hash, chunk: vec![0; CHUNK] }
    }

    /// Feeds one file and hands its content on: `pass` gets every chunk, and whether the file is a program. Returns
    /// whether it is.
    pub(super) fn feed(
        &mut self,
        path: &str,
        length: u64,
        is_command: bool,
        content: &mut impl Read,
        mut pass: impl FnMut(&[u8], bool) -> io::Result<()>,
    ) -> Result<bool, FeedError> {
        let mut filled = self.fill(content)?;
        let is_program = is_command || is_program(&self.chunk[..filled]);
        self.hash.update(path.as_bytes());
        self.hash.update(if is_program { b"\0x\0" } else { b"\0-\0" });
        self.hash.update(length.to_string().as_bytes());
        self.hash.update(b"\0");
        let mut fed = 0;
        loop {
            fed += filled as u64;
            if fed > length {
                return Err(FeedError::Changed);
            }
            self.hash.update(&self.chunk[..filled]);
            pass(&self.chunk[..filled], is_program).map_err(FeedError::Pass)?;
            // The length is known, so a short chunk is the last one and needs no read to tell.
            if filled < self.chunk.len() {
                break;
            }
            filled = self.fill(content)?;
        }
        if fed == length { Ok(is_program) } else { Err(FeedError::Changed) }
    }

    /// Reads until the chunk is full or the content ends.
    fn fill(&mut self, content: &mut impl Read) -> Result<usize, FeedError> {
        let mut filled = 0;
        while filled < self.chunk.len() {
            match content.read(&mut self.chunk[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(FeedError::Read(error)),
            }
        }
        Ok(filled)
    }

    pub(super) fn finish(self) -> Digest {
        Digest::tree_v1(self.hash.finalize().into())
    }
}

/// Says whether a content is a program's by how it starts: a script with its interpreter, ELF, Mach-O, PE.
fn is_program(start: &[u8]) -> bool {
    const MACH_O: [[u8; 4]; 4] = [[0xfe, 0xed, 0xfa, 0xce], [0xfe, 0xed, 0xfa, 0xcf], [0xce, 0xfa, 0xed, 0xfe], [0xcf, 0xfa, 0xed, 0xfe]];
    start.starts_with(b"#!")
        || start.starts_with(b"\x7fELF")
        || start.starts_with(b"MZ")
        || MACH_O.iter().any(|magic| start.starts_with(magic))
        || is_universal_binary(start)
}

/// A Mach-O file for several processors starts like a Java class; behind it stands how many, where a class has its
/// version, which is 45 or more.
fn is_universal_binary(start: &[u8]) -> bool {
    const JAVA_1: u32 = 45;
    match start {
        [0xca, 0xfe, 0xba, 0xbe | 0xbf, count @ ..] if count.len() >= 4 => {
            u32::from_be_bytes([count[0], count[1], count[2], count[3]]) < JAVA_1
        }
        _ => false,
    }
}

/// Returns the path that a `./…` command names, component by component; `None` for other commands.
pub(crate) fn command_path(command: &str) -> Option<String> {
    let inside = command.strip_prefix("./")?;
    let components: Vec<&str> = inside.split('/').filter(|component| !matches!(*component, "" | ".")).collect();
    Some(components.join("/"))
}

/// Returns the digest of a selection. `command` is the path that the manifest's `./…` command names. All files that
/// can't be read are named at once.
pub(super) fn digest(
    root: &std::path::Path,
    selection: &Selection,
    command: Option<&str>,
    mut seen: impl FnMut(&str, &[u8]),
) -> Result<Digest, PackageError> {
    let mut hash = TreeHash::new();
    let mut faults = Vec::new();
    for SelectedFile { path, source, size } in &selection.files {
        let mut unreadable = |error| faults.push(TreeFault { path: path.clone(), kind: TreeFaultKind::Unreadable(error) });
        let mut file = match files::open_regular(source) {
            Ok(file) => file,
            Err(error) => {
                unreadable(error);
                continue;
            }
        };
        let fed = hash.feed(path, *size, command == Some(path), &mut file, |chunk, _| {
            seen(path, chunk);
            Ok(())
        });
        match fed {
            Ok(_) => {}
            Err(FeedError::Read(error) | FeedError::Pass(error)) => unreadable(error),
            Err(FeedError::Changed) => return Err(PackageError::ChangedMeanwhile { path: source.clone() }),
        }
    }
    if faults.is_empty() { Ok(hash.finish()) } else { Err(PackageError::Refused { path: root.into(), faults, more: 0 }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest_of(files: &[(&str, &[u8])], command: Option<&str>) -> String {
        let mut hash = TreeHash::new();
        for (path, content) in files {
            let fed = hash.feed(path, content.len() as u64, command == Some(path), &mut &content[..], |_, _| Ok(()));
            assert!(fed.is_ok(), "{path}");
        }
        hash.finish().to_string()
    }

    #[test]
    fn the_digest_is_what_its_definition_says() {
        // Made with Python's hashlib from the definition in design §4.
        let files: [(&str, &[u8]); 3] = [("a-b", b""), ("a/x", b"#!/bin/sh\n"), ("é.txt", b"hi\0there")];
        assert_eq!(digest_of(&files, None), "tree-v1:a37b45794eba52389caee7cc48acb947c5fe9ceba79ecce63e79ed4d28ff8b41");
        assert_eq!(digest_of(&files, Some("a-b")), "tree-v1:5dd6844d60a72583634ae60aa2b9007b7b71261873204857d87c0eaeeca3f78b");
        assert_eq!(digest_of(&[], None), "tree-v1:2a58a09a23c622d41484b1393373a92e4b8ef862db76669ae20436f39fcc385e");
    }

    #[test]
    fn a_program_is_told_by_how_it_starts() {
        for (start, expected) in [
            (&b"#!/usr/bin/env node"[..], true),
            (b"\x7fELF\x02", true),
            (b"MZ\x90", true),
            (b"\xfe\xed\xfa\xcf", true),
            (b"\xcf\xfa\xed\xfe", true),
            (b"\xca\xfe\xba\xbe\0\0\0\x02", true),
            (b"\xca\xfe\xba\xbe\0\0\0\x34", false),
            (b"\xca\xfe\xba\xbe", false),
            (b"# not a script", false),
            (b"#", false),
            (b"", false),
        ] {
            assert_eq!(is_program(start), expected, "{start:?}");
        }
    }

    #[test]
    fn a_file_that_grows_or_shrinks_while_it_is_read_is_told() {
        let content = vec![7; CHUNK + 1];
        for (length, is_same) in [(CHUNK + 1, true), (CHUNK, false), (CHUNK + 2, false), (0, false)] {
            let fed = TreeHash::new().feed("a", length as u64, false, &mut &content[..], |_, _| Ok(()));
            assert_eq!(fed.is_ok(), is_same, "{length}");
        }
        let whole_chunks = vec![7; 2 * CHUNK];
        assert!(TreeHash::new().feed("a", 2 * CHUNK as u64, false, &mut &whole_chunks[..], |_, _| Ok(())).is_ok());
    }

    #[test]
    fn a_command_names_its_file_component_by_component() {
        for (command, path) in [("./bin/x", Some("bin/x")), (".//bin/./x", Some("bin/x")), ("node", None), ("/bin/sh", None)] {
            assert_eq!(command_path(command).as_deref(), path);
        }
    }
}
