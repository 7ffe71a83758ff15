//! What changes about an installed package: decisions, the enabled version, and its end.

use rusqlite::{OptionalExtension as _, Transaction};

use super::convert::column;
use super::open::Durability;
use super::{Store, StoreError};
use crate::base::clock::Timestamp;
use crate::tool::{PackageId, Permission, PermissionKind, PermissionState, ToolName, Version, hashed_served_name, plain_served_name};

/// What a decision did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reviewed {
    /// Those whose state was another one before.
    pub(crate) changed: Vec<Permission>,
    /// A required permission of the enabled version is no longer granted, so the package was disabled at once.
    pub(crate) disabled: bool,
}

/// A version that was enabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Enabled {
    pub(crate) previous: Option<Version>,
    /// By tool, in the order given.
    pub(crate) served_names: Vec<(ToolName, String)>,
}

/// What became of a version that was to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    Done,
    Missing,
    IsEnabled,
    /// A package without a version would be nothing; uninstalling takes its values too.
    IsLast,
}

/// What became of a package that was to be uninstalled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Uninstalled {
    Done { versions: Vec<Version> },
    Missing,
    IsEnabled { version: Version },
}

impl Store {
    /// Sets decisions of one version. A name that the version doesn't ask for is skipped; callers have checked it.
    pub(crate) fn review(
        &mut self,
        id: &PackageId,
        version: &Version,
        permissions: &[(PermissionKind, String)],
        state: PermissionState,
        at: Timestamp,
    ) -> Result<Reviewed, StoreError> {
        self.write(Durability::Power, |transaction| {
            let mut reviewed = Reviewed::default();
            let mut statement = transaction.prepare_cached(
                "UPDATE tool_package_permissions SET state = ?5, reviewed_at = CASE ?5 WHEN 'pending' THEN NULL ELSE ?6 END \
                 WHERE package_id = ?1 AND version = ?2 AND kind = ?3 AND permission = ?4 AND state <> ?5 RETURNING required",
            )?;
            for (kind, name) in permissions {
                let values = (id.as_str(), version.as_str(), kind.as_str(), name, state.as_str(), at.as_millis());
                if let Some(required) = statement.query_row(values, |row| row.get(0)).optional()? {
                    reviewed.changed.push(Permission { kind: *kind, name: name.clone(), required, state });
                }
            }
            let takes_away = state != PermissionState::Granted && reviewed.changed.iter().any(|permission| permission.required);
            if takes_away {
                reviewed.disabled = transaction.execute(
                    "UPDATE tool_packages SET enabled_version = NULL WHERE id = ?1 AND enabled_version = ?2",
                    [id.as_str(), version.as_str()],
                )? == 1;
            }
            if !reviewed.changed.is_empty() {
                touch(transaction, id, at)?;
            }
            Ok(reviewed)
        })
    }

    /// Enables a version and gives its tools the names they are served under. `None` if since the gates were asked the
    /// version went, the package was blocked or a required permission was taken back.
    pub(crate) fn enable(
        &mut self,
        id: &PackageId,
        version: &Version,
        tools: &[ToolName],
        at: Timestamp,
    ) -> Result<Option<Enabled>, StoreError> {
        self.write(Durability::Power, |transaction| {
            let previous = transaction
                .query_row("SELECT enabled_version FROM tool_packages WHERE id = ?1", [id.as_str()], |row| {
                    super::convert::optional(row, "enabled_version")
                })
                .optional()?
                .flatten();
            let changed = transaction.execute(
                "UPDATE tool_packages SET enabled_version = ?2 WHERE id = ?1 AND trust <> 'blocked' \
                 AND EXISTS (SELECT 1 FROM tool_package_versions WHERE package_id = ?1 AND version = ?2) \
                 AND NOT EXISTS (SELECT 1 FROM tool_package_permissions \
                                 WHERE package_id = ?1 AND version = ?2 AND required = 1 AND state <> 'granted')",
                [id.as_str(), version.as_str()],
            )?;
            if changed == 0 {
                return Ok(None);
            }
            touch(transaction, id, at)?;
            let served_names =
                tools.iter().map(|tool| Ok((tool.clone(), serve(transaction, id, tool)?))).collect::<rusqlite::Result<_>>()?;
            Ok(Some(Enabled { previous, served_names }))
        })
    }

    /// Returns the version that was enabled, if one was.
    pub(crate) fn disable(&mut self, id: &PackageId, at: Timestamp) -> Result<Option<Version>, StoreError> {
        self.write(Durability::Power, |transaction| {
            let enabled = enabled(transaction, id)?;
            if enabled.is_some() {
                transaction.execute("UPDATE tool_packages SET enabled_version = NULL WHERE id = ?1", [id.as_str()])?;
                touch(transaction, id, at)?;
            }
            Ok(enabled)
        })
    }

    /// Says what [`Store::remove_version`] would do.
    pub(crate) fn may_remove(&self, id: &PackageId, version: &Version) -> Result<Removed, StoreError> {
        self.read(|connection| {
            let counts = "SELECT count(*), count(*) FILTER (WHERE version = ?2), (SELECT enabled_version FROM tool_packages WHERE id = ?1) \
                          FROM tool_package_versions WHERE package_id = ?1";
            connection.query_row(counts, [id.as_str(), version.as_str()], |row| {
                let (all, this, enabled): (i64, i64, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(match (this, all) {
                    (0, _) => Removed::Missing,
                    _ if enabled.as_deref() == Some(version.as_str()) => Removed::IsEnabled,
                    (_, 1) => Removed::IsLast,
                    _ => Removed::Done,
                })
            })
        })
    }

    /// Deletes the rows of one version that is neither enabled nor the last. Values stay (lifecycle §5).
    pub(crate) fn remove_version(&mut self, id: &PackageId, version: &Version, at: Timestamp) -> Result<bool, StoreError> {
        self.write(Durability::Power, |transaction| {
            let removed = transaction.execute(
                "DELETE FROM tool_package_versions WHERE package_id = ?1 AND version = ?2 \
                 AND (SELECT count(*) FROM tool_package_versions WHERE package_id = ?1) > 1 \
                 AND NOT EXISTS (SELECT 1 FROM tool_packages WHERE id = ?1 AND enabled_version = ?2)",
                [id.as_str(), version.as_str()],
            )?;
            if removed == 1 {
                touch(transaction, id, at)?;
            }
            Ok(removed == 1)
        })
    }

    /// Deletes every row of a package that is not enabled, but its traces and consents.
    pub(crate) fn uninstall(&mut self, id: &PackageId) -> Result<Uninstalled, StoreError> {
        self.write(Durability::Power, |transaction| {
            if let Some(version) = enabled(transaction, id)? {
                return Ok(Uninstalled::IsEnabled { version });
            }
            let mut statement = transaction.prepare("SELECT version FROM tool_package_versions WHERE package_id = ?1")?;
            let versions = statement.query_map([id.as_str()], |row| column::<Version>(row, "version"))?;
            let mut versions: Vec<Version> = versions.collect::<rusqlite::Result<_>>()?;
            versions.sort();
            let removed = transaction.execute("DELETE FROM tool_packages WHERE id = ?1", [id.as_str()])?;
            Ok(if removed == 0 { Uninstalled::Missing } else { Uninstalled::Done { versions } })
        })
    }
}

fn enabled(transaction: &Transaction<'_>, id: &PackageId) -> rusqlite::Result<Option<Version>> {
    let enabled = transaction
        .query_row("SELECT enabled_version FROM tool_packages WHERE id = ?1", [id.as_str()], |row| {
            super::convert::optional(row, "enabled_version")
        })
        .optional()?;
    Ok(enabled.flatten())
}

fn touch(transaction: &Transaction<'_>, id: &PackageId, at: Timestamp) -> rusqlite::Result<()> {
    transaction.prepare_cached("UPDATE tool_packages SET updated_at = ?2 WHERE id = ?1")?.execute((id.as_str(), at.as_millis()))?;
    Ok(())
}

/// Returns the name a tool is served under: the one it has, else the plain one, else, where that is too long or
/// another tool's, one with a hash (design §6).
fn serve(transaction: &Transaction<'_>, id: &PackageId, tool: &ToolName) -> rusqlite::Result<String> {
    let mut own = transaction.prepare_cached("SELECT name FROM tool_served_names WHERE package_id = ?1 AND tool_name = ?2")?;
    if let Some(name) = own.query_row([id.as_str(), tool.as_str()], |row| row.get(0)).optional()? {
        return Ok(name);
    }
    let mut insert = transaction
        .prepare_cached("INSERT INTO tool_served_names (name, package_id, tool_name) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING")?;
    let (plain, fits) = plain_served_name(id.as_str(), tool.as_str());
    if fits && insert.execute([&plain, id.as_str(), tool.as_str()])? == 1 {
        return Ok(plain);
    }
    // Forty bits of a hash, taken by another tool once in a million million; then the constraint says so.
    let hashed = hashed_served_name(id.as_str(), tool.as_str());
    transaction.execute(
        "INSERT INTO tool_served_names (name, package_id, tool_name) VALUES (?1, ?2, ?3)",
        [&hashed, id.as_str(), tool.as_str()],
    )?;
    Ok(hashed)
}

#[cfg(test)]
mod tests {
    use super::super::Recorded;
    use super::super::record::tests::{Sample, at, id, open, record, version};
    use super::*;

    fn granted(store: &mut Store, package: &str, version: &Version) {
        let network = (PermissionKind::OsEffect, "network".to_owned());
        store.review(&id(package), version, &[network], PermissionState::Granted, at(20)).expect("granted");
    }

    fn names(tools: &[&str]) -> Vec<ToolName> {
        tools.iter().map(|tool| tool.parse().expect("a name")).collect()
    }

    #[test]
    fn taking_back_a_required_permission_of_the_enabled_version_disables_it_at_once() {
        let (_home, mut store) = open();
        let (package, version) = (id("demo.hello"), version("1.0.0"));
        record(&mut store, &Sample::default());
        assert_eq!(store.enable(&package, &version, &[], at(30)).expect("asked"), None);
        granted(&mut store, "demo.hello", &version);
        assert!(store.enable(&package, &version, &[], at(30)).expect("asked").is_some());
        let optional = [(PermissionKind::SparkCapability, "storage.kv.get".to_owned())];
        let reviewed = store.review(&package, &version, &optional, PermissionState::Denied, at(31)).expect("denied");
        assert_eq!((reviewed.changed.len(), reviewed.disabled), (1, false));
        let required = [(PermissionKind::OsEffect, "network".to_owned())];
        let reviewed = store.review(&package, &version, &required, PermissionState::Pending, at(32)).expect("revoked");
        assert_eq!((reviewed.changed.len(), reviewed.disabled), (1, true));
        assert_eq!(store.package(&package).expect("read").expect("there").enabled, None);
        let reviewed = store.review(&package, &version, &required, PermissionState::Pending, at(33)).expect("nothing to do");
        assert_eq!(reviewed, Reviewed::default());
    }

    // H: M-4
    #[test]
    fn a_served_name_stays_with_its_tool_and_the_newcomer_gets_a_suffix() {
        let (_home, mut store) = open();
        let version = version("1.0.0");
        let mut served = |package: &'static str, tool: &str| {
            assert_eq!(record(&mut store, &Sample { id: package, effects: &[], ..Sample::default() }), Recorded::New);
            let enabled = store.enable(&id(package), &version, &names(&[tool]), at(40)).expect("asked").expect("enabled");
            store.enable(&id(package), &version, &names(&[tool]), at(41)).expect("asked").expect("again");
            assert_eq!(store.served_names(&id(package)).expect("read"), enabled.served_names);
            enabled.served_names[0].1.clone()
        };
        assert_eq!(served("abc.d", "e_ff"), "abc_d_e_ff");
        let newcomer = served("abc.d.e", "ff");
        assert!(newcomer.starts_with("abc_d_e_ff_") && newcomer.len() == "abc_d_e_ff_".len() + 10, "{newcomer}");
        let long = served("a-package-with-a-name-that-goes-on-and-on", "and_a_tool_with_another_long_name");
        assert_eq!(long.len(), 64);
    }

    #[test]
    fn the_enabled_version_and_the_last_one_stay() {
        let (_home, mut store) = open();
        let package = id("demo.hello");
        record(&mut store, &Sample::default());
        record(&mut store, &Sample { version: "1.1.0", content: 2, ..Sample::default() });
        granted(&mut store, "demo.hello", &version("1.1.0"));
        store.enable(&package, &version("1.1.0"), &[], at(50)).expect("asked").expect("enabled");
        let verdicts = ["1.1.0", "1.0.0", "9.0.0"].map(|text| store.may_remove(&package, &version(text)).expect("asked"));
        assert_eq!(verdicts, [Removed::IsEnabled, Removed::Done, Removed::Missing]);
        assert!(!store.remove_version(&package, &version("1.1.0"), at(51)).expect("asked"));
        assert!(store.remove_version(&package, &version("1.0.0"), at(51)).expect("asked"));
        store.disable(&package, at(52)).expect("disabled");
        assert_eq!(store.may_remove(&package, &version("1.1.0")).expect("asked"), Removed::IsLast);
        assert!(!store.remove_version(&package, &version("1.1.0"), at(53)).expect("asked"));
    }

    #[test]
    fn a_package_that_cannot_be_read_hides_no_other() {
        let (_home, mut store) = open();
        record(&mut store, &Sample::default());
        record(&mut store, &Sample { id: "demo.other", ..Sample::default() });
        store
            .connection
            .execute_batch("PRAGMA ignore_check_constraints = ON; UPDATE tool_packages SET trust = 'odd' WHERE id = 'demo.hello'")
            .expect("damaged");
        let packages = store.packages().expect("listed");
        let broken = packages[0].as_ref().expect_err("its trust is no word");
        assert_eq!(broken.id, "demo.hello");
        assert!(broken.problem.contains("`odd` is none of `trusted-local`, `verified` and `blocked`"), "{}", broken.problem);
        assert_eq!(packages[1].as_ref().map(|package| package.id.as_str()), Ok("demo.other"));
    }
}
