//! Recording an installed version: everything about it in one transaction, or nothing.

use rusqlite::{Connection, OptionalExtension as _, Transaction, named_params, params};

use super::convert::{column, integer};
use super::open::Durability;
use super::packages::Provenance;
use super::{Store, StoreError};
use crate::base::clock::Timestamp;
use crate::base::stamp::StampedFile;
use crate::tool::{Digest, Origin, PackageId, PermissionKind, Source, ToolName, Version};

/// A version whose tree lies in its place, synced.
#[derive(Clone, Debug)]
pub(crate) struct NewVersion<'a> {
    pub(crate) id: &'a PackageId,
    pub(crate) version: &'a Version,
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) source: Source,
    pub(crate) origin: &'a Origin,
    pub(crate) provenance: &'a Provenance,
    pub(crate) digest: Digest,
    pub(crate) adapter: &'a str,
    pub(crate) bytes: u64,
    /// The text of `spark-tool.json`.
    pub(crate) manifest: &'a str,
    /// In the manifest's order, with what the manifest says of each, as JSON.
    pub(crate) tools: Vec<(&'a ToolName, String)>,
    /// In the order they are shown in.
    pub(crate) permissions: Vec<DeclaredPermission<'a>>,
    pub(crate) files: &'a [StampedFile],
    pub(crate) at: Timestamp,
}

/// A permission that a manifest asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredPermission<'a> {
    pub(crate) kind: PermissionKind,
    pub(crate) name: &'a str,
    pub(crate) required: bool,
}

/// What became of a version that was to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    New,
    /// It was there already, the same.
    Same,
    /// The version is taken by other content. Nothing was changed.
    Other {
        digest: Digest,
    },
    /// An installed package looks like this one (hardening D-4). Nothing was changed.
    LooksLike {
        other: String,
    },
}

impl Store {
    /// Records a version, disabled. Decisions on permissions carry over from the enabled version, else the newest one,
    /// of the same origin; all others start pending (design §4, consent on update).
    pub(crate) fn record_install(&mut self, new: &NewVersion<'_>) -> Result<Recorded, StoreError> {
        self.write(Durability::Power, |transaction| {
            if let Some(standing) = standing(transaction, new)? {
                return Ok(standing);
            }
            let heir_of = same_origin(transaction, new)?;
            insert_package(transaction, new)?;
            let version_key = insert_version(transaction, new)?;
            insert_files(transaction, version_key, new.files)?;
            insert_tools(transaction, new)?;
            insert_permissions(transaction, new, heir_of.as_ref())?;
            Ok(Recorded::New)
        })
    }

    /// Records how the files of a version look now, after their content was found to be the recorded one.
    pub(crate) fn restamp(&mut self, id: &PackageId, version: &Version, files: &[StampedFile]) -> Result<(), StoreError> {
        self.write(Durability::Process, |transaction| {
            let key = transaction
                .query_row(
                    "SELECT version_key FROM tool_package_versions WHERE package_id = ?1 AND version = ?2",
                    [id.as_str(), version.as_str()],
                    |row| row.get::<_, i64>(0),
                )
                .optional()?;
            let Some(key) = key else { return Ok(()) };
            transaction.execute("DELETE FROM tool_package_files WHERE version_key = ?1", [key])?;
            insert_files(transaction, key, files)
        })
    }
}

/// Returns what stands in the way of a new row.
fn standing(connection: &Connection, new: &NewVersion<'_>) -> rusqlite::Result<Option<Recorded>> {
    let digest = connection
        .query_row(
            "SELECT digest FROM tool_package_versions WHERE package_id = ?1 AND version = ?2",
            [new.id.as_str(), new.version.as_str()],
            |row| column::<Digest>(row, "digest"),
        )
        .optional()?;
    if let Some(digest) = digest {
        return Ok(Some(if digest == new.digest { Recorded::Same } else { Recorded::Other { digest } }));
    }
    let other = connection
        .query_row("SELECT id FROM tool_packages WHERE folded_id = ?1 AND id <> ?2", [&new.id.folded(), new.id.as_str()], |row| row.get(0))
        .optional()?;
    Ok(other.map(|other| Recorded::LooksLike { other }))
}

/// Returns the version whose decisions the new one inherits.
fn same_origin(connection: &Connection, new: &NewVersion<'_>) -> rusqlite::Result<Option<Version>> {
    let enabled: Option<String> = connection
        .query_row("SELECT enabled_version FROM tool_packages WHERE id = ?1", [new.id.as_str()], |row| row.get(0))
        .optional()?
        .flatten();
    let mut statement = connection.prepare("SELECT version FROM tool_package_versions WHERE package_id = ?1 AND origin = ?2")?;
    let versions = statement.query_map([new.id.as_str(), new.origin.as_str()], |row| column::<Version>(row, "version"))?;
    let versions: Vec<Version> = versions.collect::<rusqlite::Result<_>>()?;
    let enabled = versions.iter().find(|version| Some(version.as_str()) == enabled.as_deref()).cloned();
    Ok(enabled.or_else(|| versions.into_iter().max()))
}

fn insert_package(transaction: &Transaction<'_>, new: &NewVersion<'_>) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO tool_packages (id, folded_id, name, description, source, trust, created_at, updated_at) \
         VALUES (:id, :folded, :name, :description, :source, 'trusted-local', :at, :at) \
         ON CONFLICT (id) DO UPDATE SET name = :name, description = :description, source = :source, updated_at = :at",
    )?;
    statement.execute(named_params! {
        ":id": new.id.as_str(),
        ":folded": new.id.folded(),
        ":name": new.name,
        ":description": new.description,
        ":source": new.source.as_str(),
        ":at": new.at.as_millis(),
    })?;
    Ok(())
}

fn insert_version(transaction: &Transaction<'_>, new: &NewVersion<'_>) -> rusqlite::Result<i64> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO tool_package_versions (package_id, version, digest, adapter, tool_count, file_count, byte_count, source, origin, \
         source_path, source_url, source_ref, source_commit, source_subdirectory, installed_at, manifest) \
         VALUES (:id, :version, :digest, :adapter, :tools, :files, :bytes, :source, :origin, :path, :url, :ref, :commit, :subdirectory, \
         :at, :manifest)",
    )?;
    statement.insert(named_params! {
        ":id": new.id.as_str(),
        ":version": new.version.as_str(),
        ":digest": new.digest.to_string(),
        ":adapter": new.adapter,
        ":tools": integer(new.tools.len() as u64),
        ":files": integer(new.files.len() as u64),
        ":bytes": integer(new.bytes),
        ":source": new.source.as_str(),
        ":origin": new.origin.as_str(),
        ":path": new.provenance.path,
        ":url": new.provenance.url,
        ":ref": new.provenance.reference,
        ":commit": new.provenance.commit,
        ":subdirectory": new.provenance.subdirectory,
        ":at": new.at.as_millis(),
        ":manifest": new.manifest,
    })
}

fn insert_files(transaction: &Transaction<'_>, version_key: i64, files: &[StampedFile]) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO tool_package_files (version_key, path, sha256, mode, size, modified_ns, changed_ns, inode) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for StampedFile { path, sha256, stamp } in files {
        statement.execute(params![
            version_key,
            path,
            sha256,
            stamp.mode,
            integer(stamp.size),
            stamp.modified_ns,
            stamp.changed_ns,
            stamp.inode.cast_signed()
        ])?;
    }
    Ok(())
}

fn insert_tools(transaction: &Transaction<'_>, new: &NewVersion<'_>) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO tool_package_tools (package_id, version, tool_name, position, definition) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (position, (name, definition)) in new.tools.iter().enumerate() {
        statement.execute(params![new.id.as_str(), new.version.as_str(), name.as_str(), integer(position as u64), definition])?;
    }
    Ok(())
}

fn insert_permissions(transaction: &Transaction<'_>, new: &NewVersion<'_>, heir_of: Option<&Version>) -> rusqlite::Result<()> {
    // Without a row of the same name to inherit from, both columns of the join are NULL.
    let mut statement = transaction.prepare_cached(
        "INSERT INTO tool_package_permissions (package_id, version, kind, permission, position, required, state, reviewed_at) \
         SELECT :id, :version, :kind, :name, :position, :required, coalesce(old.state, 'pending'), old.reviewed_at \
         FROM (SELECT 1) LEFT JOIN tool_package_permissions AS old \
         ON old.package_id = :id AND old.version = :heir_of AND old.kind = :kind AND old.permission = :name",
    )?;
    for (position, permission) in new.permissions.iter().enumerate() {
        statement.execute(named_params! {
            ":id": new.id.as_str(),
            ":version": new.version.as_str(),
            ":kind": permission.kind.as_str(),
            ":name": permission.name,
            ":position": integer(position as u64),
            ":required": permission.required,
            ":heir_of": heir_of.map(Version::as_str),
        })?;
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::base::stamp::Stamp;
    use crate::store::Access;
    use crate::store::{
        ConfigEntry, ConsentRecord, InvocationSource, Means, Reply, Setting, Target, TraceKind, TraceOp, TraceStart, Uninstalled,
    };
    use crate::tool::{PermissionState, Scope};

    /// A version as tests describe it.
    pub(in crate::store) struct Sample {
        pub(in crate::store) id: &'static str,
        pub(in crate::store) version: &'static str,
        pub(in crate::store) content: u8,
        pub(in crate::store) origin: &'static str,
        pub(in crate::store) effects: &'static [&'static str],
        pub(in crate::store) tools: &'static [&'static str],
    }

    impl Default for Sample {
        fn default() -> Self {
            Self { id: "demo.hello", version: "1.0.0", content: 1, origin: "folder:/a", effects: &["network"], tools: &["say", "sing"] }
        }
    }

    pub(in crate::store) fn id(text: &str) -> PackageId {
        text.parse().expect("an id")
    }

    pub(in crate::store) fn version(text: &str) -> Version {
        text.parse().expect("a version")
    }

    pub(in crate::store) fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn file() -> StampedFile {
        let stamp = Stamp { mode: 0o100_444, size: 3, modified_ns: 5, changed_ns: -7, inode: u64::MAX - 1 };
        StampedFile { path: "a/b".into(), sha256: [9; 32], stamp }
    }

    pub(in crate::store) fn record(store: &mut Store, sample: &Sample) -> Recorded {
        let (id, version) = (id(sample.id), version(sample.version));
        let tools: Vec<ToolName> = sample.tools.iter().map(|tool| tool.parse().expect("a tool name")).collect();
        let permissions = sample
            .effects
            .iter()
            .map(|name| DeclaredPermission { kind: PermissionKind::OsEffect, name, required: true })
            .chain([DeclaredPermission { kind: PermissionKind::SparkCapability, name: "storage.kv.get", required: false }]);
        let new = NewVersion {
            id: &id,
            version: &version,
            name: "Hello",
            description: "Greets",
            source: Source::LocalDirectory,
            origin: &Origin::stored(sample.origin.into()),
            provenance: &Provenance { path: Some("/a".into()), ..Provenance::default() },
            digest: Digest::tree_v1([sample.content; 32]),
            adapter: "process",
            bytes: 3,
            manifest: "{}",
            tools: tools.iter().map(|tool| (tool, "{}".to_owned())).collect(),
            permissions: permissions.collect(),
            files: &[file()],
            at: at(10),
        };
        store.record_install(&new).expect("no failure")
    }

    pub(in crate::store) fn open() -> (tempfile::TempDir, Store) {
        let home = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(home.path(), Access::Write).expect("opened");
        (home, store)
    }

    #[test]
    fn a_version_is_recorded_once_and_never_changed() {
        let (_home, mut store) = open();
        assert_eq!(record(&mut store, &Sample::default()), Recorded::New);
        assert_eq!(record(&mut store, &Sample::default()), Recorded::Same);
        let other = Recorded::Other { digest: Digest::tree_v1([1; 32]) };
        assert_eq!(record(&mut store, &Sample { content: 2, ..Sample::default() }), other);
        let installed = store.version(&id("demo.hello"), &version("1.0.0")).expect("read").expect("there");
        assert_eq!((installed.digest, installed.files, installed.bytes), (Digest::tree_v1([1; 32]), 1, 3));
        assert_eq!(store.files(&installed.package, &installed.version).expect("read"), [file()]);
        let package = store.package(&installed.package).expect("read").expect("there");
        assert_eq!((package.state(), package.tool_count, package.updated_at), ("installed-disabled", 2, at(10)));
    }

    // H: D-4
    #[test]
    fn a_package_that_looks_like_an_installed_one_is_not_recorded() {
        let (_home, mut store) = open();
        record(&mut store, &Sample { id: "demo.a-b", ..Sample::default() });
        let twin = Sample { id: "demo.a_b", ..Sample::default() };
        assert_eq!(record(&mut store, &twin), Recorded::LooksLike { other: "demo.a-b".into() });
        assert_eq!(store.look_alike(&id("demo-a.b")).expect("asked"), Some("demo.a-b".into()));
        assert_eq!(store.look_alike(&id("demo.a-b")).expect("asked"), None);
    }

    #[test]
    fn decisions_carry_over_to_the_same_origin_alone_and_never_to_a_new_power() {
        let (_home, mut store) = open();
        record(&mut store, &Sample::default());
        let network = (PermissionKind::OsEffect, "network".to_owned());
        store.review(&id("demo.hello"), &version("1.0.0"), &[network], PermissionState::Granted, at(11)).expect("granted");
        record(&mut store, &Sample { version: "1.1.0", content: 2, effects: &["network", "clipboard"], ..Sample::default() });
        record(&mut store, &Sample { version: "1.2.0", content: 3, origin: "folder:/elsewhere", ..Sample::default() });
        let states = |text: &str| -> Vec<(String, PermissionState)> {
            let permissions = store.permissions(&id("demo.hello"), &version(text)).expect("read");
            permissions.into_iter().map(|permission| (permission.name, permission.state)).collect()
        };
        let (granted, pending) = (PermissionState::Granted, PermissionState::Pending);
        let kv = ("storage.kv.get".to_owned(), pending);
        assert_eq!(states("1.1.0"), [("network".to_owned(), granted), ("clipboard".to_owned(), pending), kv.clone()]);
        assert_eq!(states("1.2.0"), [("network".to_owned(), pending), kv]);
    }

    #[test]
    fn an_uninstalled_package_leaves_its_traces_and_answers_and_no_other_row() {
        let (_home, mut store) = open();
        let id = id("demo.hello");
        record(&mut store, &Sample::default());
        let origin = Origin::stored("folder:/a".into());
        let name = "GREETING".parse().expect("a name");
        store.set_config(&id, &Target::Package, &[(name, Setting::Plain("hi".into()))], &origin, at(1)).expect("set");
        store
            .review(&id, &version("1.0.0"), &[(PermissionKind::OsEffect, "network".into())], PermissionState::Granted, at(1))
            .expect("granted");
        store.enable(&id, &version("1.0.0"), &["say".parse().expect("a name")], at(2)).expect("asked").expect("enabled");
        let consent = ConsentRecord {
            command: "install".into(),
            subject: "demo.hello@1.0.0".into(),
            package: Some(id.clone()),
            version: Some(version("1.0.0")),
            reply: Reply::Yes,
            means: Means::Flag,
            shown_sha256: "00".into(),
            at: at(3),
        };
        store.record_consent(&consent).expect("recorded");
        let trace = TraceStart {
            package_id: Some(id.to_string()),
            ..TraceStart::new("t".into(), TraceKind::ToolPackage, InvocationSource::Model, at(4))
        };
        store.write_traces(&[TraceOp::Begin(trace)]).expect("written");

        assert_eq!(store.uninstall(&id).expect("asked"), Uninstalled::IsEnabled { version: version("1.0.0") });
        store.disable(&id, at(5)).expect("disabled");
        assert_eq!(store.uninstall(&id).expect("asked"), Uninstalled::Done { versions: vec![version("1.0.0")] });
        assert_eq!(store.uninstall(&id).expect("asked"), Uninstalled::Missing);
        let left: Vec<String> = store
            .read(|connection| {
                let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
                let tables: Vec<String> = tables.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
                let is_filled = |table: &String| connection.prepare(&format!("SELECT 1 FROM {table}"))?.exists([]);
                tables.into_iter().filter_map(|table| is_filled(&table).map(|filled| filled.then_some(table)).transpose()).collect()
            })
            .expect("read");
        assert_eq!(left, ["consents", "tool_invocations"]);
        assert_eq!(store.consents(&id).expect("read"), [consent]);
    }

    #[test]
    fn values_are_kept_for_each_target_and_numbers_as_written() {
        let (_home, mut store) = open();
        let id = id("demo.hello");
        record(&mut store, &Sample::default());
        let origin = Origin::stored("folder:/a".into());
        let name: crate::tool::VariableName = "LIMIT".parse().expect("a name");
        let number = crate::base::json::parse(b"1.50").expect("a number");
        let tool = Target::Tool("say".parse().expect("a name"));
        let project = Target::Within(Scope::Project, "p1".into());
        for target in [&tool, &Target::Package, &project] {
            store.set_config(&id, target, &[(name.clone(), Setting::Plain(number.clone()))], &origin, at(1)).expect("set");
        }
        store.set_config(&id, &tool, &[(name.clone(), Setting::Keystore("k".into()))], &origin, at(2)).expect("replaced");
        let entry = |target: &Target, setting, millis| ConfigEntry {
            name: name.clone(),
            target: target.clone(),
            setting,
            origin: origin.clone(),
            updated_at: at(millis),
        };
        let all = [
            entry(&Target::Package, Setting::Plain(number.clone()), 1),
            entry(&tool, Setting::Keystore("k".into()), 2),
            entry(&project, Setting::Plain(number.clone()), 1),
        ];
        assert_eq!(store.config(&id).expect("read"), all);
        assert_eq!(store.unset_config(&id, &project, std::slice::from_ref(&name)).expect("unset"), std::slice::from_ref(&name));
        assert_eq!(store.unset_config(&id, &tool, &[name]).expect("a secret stays"), []);
        assert_eq!(store.config(&id).expect("read").len(), 2);
    }
}
