//! What is installed, as it is read.

use rusqlite::{OptionalExtension as _, Row};

use super::convert::{column, count, optional};
use super::{Store, StoreError};
use crate::base::clock::Timestamp;
use crate::base::stamp::{Stamp, StampedFile};
use crate::tool::{Digest, Origin, PackageId, Permission, Source, ToolName, Trust, Version};

/// A package: one or more installed versions, at most one of them enabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) id: PackageId,
    pub(crate) name: String,
    pub(crate) description: String,
    /// Of the newest install, like name and description.
    pub(crate) source: Source,
    pub(crate) trust: Trust,
    pub(crate) enabled: Option<Version>,
    /// Newest first, by precedence. Never empty.
    pub(crate) versions: Vec<Version>,
    /// Of the enabled version, else of the newest.
    pub(crate) tool_count: u64,
    pub(crate) updated_at: Timestamp,
}

impl Package {
    pub(crate) fn newest(&self) -> &Version {
        &self.versions[0]
    }

    /// Returns the version that is used where a command names none and runs something: the enabled one, else the newest.
    pub(crate) fn current(&self) -> &Version {
        self.enabled.as_ref().unwrap_or_else(|| self.newest())
    }

    /// Returns `enabled` or `installed-disabled` (lifecycle §2).
    pub(crate) fn state(&self) -> &'static str {
        if self.enabled.is_some() { "enabled" } else { "installed-disabled" }
    }
}

/// A package whose rows can't be read. The others can (design §3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrokenPackage {
    /// As stored; may be anything.
    pub(crate) id: String,
    pub(crate) problem: String,
}

/// Where a version came from, in the terms of its source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Provenance {
    /// The folder or archive on this machine.
    pub(crate) path: Option<String>,
    /// Without credentials.
    pub(crate) url: Option<String>,
    pub(crate) reference: Option<String>,
    pub(crate) commit: Option<String>,
    pub(crate) subdirectory: Option<String>,
}

/// One immutable version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstalledVersion {
    pub(crate) package: PackageId,
    pub(crate) version: Version,
    pub(crate) digest: Digest,
    pub(crate) adapter: String,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) source: Source,
    pub(crate) origin: Origin,
    pub(crate) provenance: Provenance,
    pub(crate) installed_at: Timestamp,
    /// The text of `spark-tool.json`. To be read again by `manifest::read`: this release may be stricter.
    pub(crate) manifest: String,
}

const PACKAGE: &str = "SELECT id, name, description, source, trust, enabled_version, updated_at FROM tool_packages";
const VERSION: &str = "SELECT package_id, version, digest, adapter, file_count, byte_count, source, origin, source_path, source_url, \
    source_ref, source_commit, source_subdirectory, installed_at, manifest FROM tool_package_versions";

impl Store {
    /// Returns all packages in the order of their ids, each for itself: one that can't be read hides no other.
    pub(crate) fn packages(&self) -> Result<Vec<Result<Package, BrokenPackage>>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!("{PACKAGE} ORDER BY id"))?;
            let packages = statement.query_map([], |row| {
                let id: String = row.get("id")?;
                Ok(self.read_package(row).map_err(|error| BrokenPackage { id, problem: error.to_string() }))
            })?;
            packages.collect()
        })
    }

    pub(crate) fn package(&self, id: &PackageId) -> Result<Option<Package>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!("{PACKAGE} WHERE id = ?1"))?;
            statement.query_row([id.as_str()], |row| self.read_package(row)).optional()
        })
    }

    /// Returns an installed package that looks like `id` and isn't (hardening D-4).
    pub(crate) fn look_alike(&self, id: &PackageId) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT id FROM tool_packages WHERE folded_id = ?1 AND id <> ?2")?;
            statement.query_row([&id.folded(), id.as_str()], |row| row.get(0)).optional()
        })
    }

    fn read_package(&self, row: &Row<'_>) -> rusqlite::Result<Package> {
        let id: PackageId = column(row, "id")?;
        let enabled: Option<Version> = optional(row, "enabled_version")?;
        let mut statement =
            self.connection.prepare_cached("SELECT version, tool_count FROM tool_package_versions WHERE package_id = ?1")?;
        let versions = statement.query_map([id.as_str()], |row| Ok((column::<Version>(row, "version")?, count(row, "tool_count")?)))?;
        let mut versions: Vec<(Version, u64)> = versions.collect::<rusqlite::Result<_>>()?;
        versions.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
        let current = enabled.as_ref().or(versions.first().map(|(version, _)| version));
        let tool_count = versions.iter().find(|(version, _)| Some(version) == current).map(|(_, tools)| *tools);
        Ok(Package {
            name: row.get("name")?,
            description: row.get("description")?,
            source: column(row, "source")?,
            trust: column(row, "trust")?,
            tool_count: tool_count.ok_or(rusqlite::Error::QueryReturnedNoRows)?,
            updated_at: Timestamp::from_millis(row.get("updated_at")?),
            versions: versions.into_iter().map(|(version, _)| version).collect(),
            id,
            enabled,
        })
    }

    pub(crate) fn version(&self, id: &PackageId, version: &Version) -> Result<Option<InstalledVersion>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!("{VERSION} WHERE package_id = ?1 AND version = ?2"))?;
            statement.query_row([id.as_str(), version.as_str()], read_version).optional()
        })
    }

    /// Says whether a version is recorded, without reading it.
    pub(crate) fn has_version(&self, id: &str, version: &str) -> Result<bool, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT 1 FROM tool_package_versions WHERE package_id = ?1 AND version = ?2")?;
            statement.exists([id, version])
        })
    }

    /// Returns what the version asks for, OS effects first, as the manifest lists them.
    pub(crate) fn permissions(&self, id: &PackageId, version: &Version) -> Result<Vec<Permission>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT kind, permission, required, state FROM tool_package_permissions WHERE package_id = ?1 AND version = ?2 ORDER BY position",
            )?;
            let permissions = statement.query_map([id.as_str(), version.as_str()], |row| {
                Ok(Permission {
                    kind: column(row, "kind")?,
                    name: row.get("permission")?,
                    required: row.get("required")?,
                    state: column(row, "state")?,
                })
            })?;
            permissions.collect()
        })
    }

    /// Returns the files of the installed tree as they were recorded, in the order of the digest.
    pub(crate) fn files(&self, id: &PackageId, version: &Version) -> Result<Vec<StampedFile>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT path, sha256, mode, size, modified_ns, changed_ns, inode FROM tool_package_files \
                 WHERE version_key = (SELECT version_key FROM tool_package_versions WHERE package_id = ?1 AND version = ?2) ORDER BY path",
            )?;
            let files = statement.query_map([id.as_str(), version.as_str()], |row| {
                Ok(StampedFile {
                    path: row.get(0)?,
                    sha256: row.get(1)?,
                    stamp: Stamp {
                        mode: row.get(2)?,
                        size: count(row, "size")?,
                        modified_ns: row.get(4)?,
                        changed_ns: row.get(5)?,
                        inode: row.get::<_, i64>(6)?.cast_unsigned(),
                    },
                })
            })?;
            files.collect()
        })
    }

    /// Returns the names under which tools of this package are served, by tool.
    pub(crate) fn served_names(&self, id: &PackageId) -> Result<Vec<(ToolName, String)>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT tool_name, name FROM tool_served_names WHERE package_id = ?1")?;
            let names = statement.query_map([id.as_str()], |row| Ok((column(row, "tool_name")?, row.get("name")?)))?;
            names.collect()
        })
    }
}

fn read_version(row: &Row<'_>) -> rusqlite::Result<InstalledVersion> {
    Ok(InstalledVersion {
        package: column(row, "package_id")?,
        version: column(row, "version")?,
        digest: column(row, "digest")?,
        adapter: row.get("adapter")?,
        files: count(row, "file_count")?,
        bytes: count(row, "byte_count")?,
        source: column(row, "source")?,
        origin: Origin::stored(row.get("origin")?),
        provenance: Provenance {
            path: row.get("source_path")?,
            url: row.get("source_url")?,
            reference: row.get("source_ref")?,
            commit: row.get("source_commit")?,
            subdirectory: row.get("source_subdirectory")?,
        },
        installed_at: Timestamp::from_millis(row.get("installed_at")?),
        manifest: row.get("manifest")?,
    })
}
