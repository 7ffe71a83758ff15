//! What a file looked like from outside when it was written, so that a later look tells whether it may have changed.

use std::fs::Metadata;

/// Everything about a file that a change of its content or its name is bound to show in (design §4, digest).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Type and permission bits as the system keeps them.
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) modified_ns: i64,
    /// Of the inode on Unix, which nobody can set back; of the file's making elsewhere.
    pub(crate) changed_ns: i64,
    pub(crate) inode: u64,
}

impl Stamp {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;

        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Self {
            mode: metadata.mode(),
            size: metadata.len(),
            modified_ns: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanos(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::time::UNIX_EPOCH;

        let nanos = |time: std::io::Result<std::time::SystemTime>| {
            time.ok()
                .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
                .map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
        };
        Self {
            mode: u32::from(metadata.permissions().readonly()) | u32::from(metadata.is_dir()) << 1 | u32::from(metadata.is_symlink()) << 2,
            size: metadata.len(),
            modified_ns: nanos(metadata.modified()),
            changed_ns: nanos(metadata.created()),
            inode: 0,
        }
    }
}

/// A file of an installed tree, as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StampedFile {
    /// Below the tree's root, `/` between components.
    pub(crate) path: String,
    /// SHA-256 of the content.
    pub(crate) sha256: [u8; 32],
    pub(crate) stamp: Stamp,
}
