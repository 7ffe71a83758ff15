//! Where things lie in a home (design §5). Paths only; who makes and checks them is said at each.

use std::path::{Path, PathBuf};

/// A home folder, and everything in it by name.
///
/// Ids and versions are taken as text because names live a room above; callers pass checked ones, each of which is one
/// plain path component (hardening A-11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    home: PathBuf,
}

impl Layout {
    pub(crate) fn new(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into() }
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.home.join("spark-tool.db")
    }

    /// Installed trees, read-only.
    pub(crate) fn packages(&self) -> PathBuf {
        self.home.join("packages")
    }

    pub(crate) fn package(&self, id: &str) -> PathBuf {
        self.packages().join(id)
    }

    pub(crate) fn version(&self, id: &str, version: &str) -> PathBuf {
        self.package(id).join(version)
    }

    /// A package's own writable folder.
    pub(crate) fn data(&self, id: &str) -> PathBuf {
        self.home.join("data").join(id)
    }

    /// Half-done work, swept at the start of a command.
    pub(crate) fn staging(&self) -> PathBuf {
        self.home.join("staging")
    }

    /// Sockets, locks, the ledger of children.
    pub(crate) fn run(&self) -> PathBuf {
        self.home.join("run")
    }

    /// Held by whoever changes installed trees.
    pub(crate) fn install_lock(&self) -> PathBuf {
        self.run().join("install.lock")
    }

    /// Held by whoever makes the database.
    pub(crate) fn store_lock(&self) -> PathBuf {
        self.run().join("store.lock")
    }

    /// The ledger of children: a page a host.
    pub(crate) fn children(&self) -> PathBuf {
        self.run().join("children")
    }

    /// One lock file for each process that writes traces; whose lock is free is dead.
    pub(crate) fn hosts(&self) -> PathBuf {
        self.run().join("hosts")
    }
}
