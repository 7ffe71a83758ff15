//! Making the database and bringing an older one up to this release's format.
//!
//! A database is built beside its place and moved there whole, so that an empty or half-made file in its place is
//! always damage (hardening Q-2).

use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::StoreError;
use super::home::make_private_folder;
use crate::base::files::{self, Lock};
use crate::base::id;
use crate::base::layout::Layout;

/// Format n is made by the first n files.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001.sql")];

/// The format that this release writes.
pub(super) const FORMAT: i64 = MIGRATIONS.len().cast_signed() as i64;

/// Marks the file as ours: `SPRK`.
const APPLICATION_ID: i64 = 0x5350_524b;

const HEADER_BYTES: usize = 100;

/// Says whether there is a database, having refused one that is not ours, is damaged at first sight or of a newer
/// format. Reads 100 bytes and changes none: SQLite would already touch the files beside it (hardening I-9).
pub(super) fn look(layout: &Layout) -> Result<bool, StoreError> {
    let path = layout.database();
    let mut header = Vec::with_capacity(HEADER_BYTES);
    match files::open_regular(&path) {
        Ok(file) => file.take(HEADER_BYTES as u64).read_to_end(&mut header).map_err(|error| StoreError::io("read", &path, error))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // SQLite would write a log that belongs to a lost database into a new one.
            return if beside(&path, "-wal").exists() { corrupt(&path, "its write-ahead log is here without it") } else { Ok(false) };
        }
        Err(error) => return Err(StoreError::io("open", &path, error)),
    };
    let number =
        |at: usize| header.get(at..at + 4).map_or(0, |bytes| i64::from(i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])));
    if header.is_empty() {
        return corrupt(&path, "the file is empty");
    }
    if header.len() < HEADER_BYTES || !header.starts_with(b"SQLite format 3\0") {
        return corrupt(&path, "it does not start like a database");
    }
    if number(68) != APPLICATION_ID {
        return corrupt(&path, "it is another program's database");
    }
    check_format(&path, number(60))?;
    Ok(true)
}

fn corrupt(path: &Path, reason: &str) -> Result<bool, StoreError> {
    Err(StoreError::Corrupt { path: path.into(), reason: reason.into() })
}

/// Refuses a format of a later release.
pub(super) fn check_format(path: &Path, found: i64) -> Result<(), StoreError> {
    if found > FORMAT { Err(StoreError::FormatTooNew { path: path.into(), found, supported: FORMAT }) } else { Ok(()) }
}

/// Returns the path of a file that SQLite keeps beside the database.
pub(super) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes the database if no other process has made it meanwhile.
pub(super) fn create(layout: &Layout, busy_wait: Duration) -> Result<(), StoreError> {
    make_private_folder(&layout.run())?;
    let lock_path = layout.store_lock();
    let lock = Lock::exclusive(&lock_path, busy_wait, || {}).map_err(|error| StoreError::io("lock", &lock_path, error))?;
    let database = layout.database();
    let _lock = lock.ok_or_else(|| StoreError::Busy { path: database.clone(), waited: busy_wait })?;
    if look(layout)? {
        return Ok(());
    }
    sweep(layout)?;
    let temporary = beside(&database, &format!(".{}.new", id::random()));
    let made = build(&temporary).and_then(|()| {
        fs::rename(&temporary, &database).map_err(|error| StoreError::io("write", &database, error))?;
        files::sync_folder(layout.home()).map_err(|error| StoreError::io("write", layout.home(), error))
    });
    if made.is_err() {
        // The first error is the one to report; the next command sweeps again.
        let _ignored = sweep(layout);
    }
    made
}

/// Removes what a process that died in [`create`] left. The lock is held.
fn sweep(layout: &Layout) -> Result<(), StoreError> {
    let failed = |error| StoreError::io("sweep", layout.home(), error);
    for entry in fs::read_dir(layout.home()).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let is_half_made = name.to_str().is_some_and(|name| name.starts_with("spark-tool.db.") && name.contains(".new"));
        if is_half_made {
            fs::remove_file(entry.path()).map_err(failed)?;
        }
    }
    Ok(())
}

fn build(path: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // SQLite gives the files beside it the same mode.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|error| StoreError::io("write", path, error))?;
    let sort = |error| StoreError::sqlite(error, path, Duration::ZERO);
    let mut connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(sort)?;
    // Nobody sees the file before it is whole and synced once.
    connection.execute_batch(&format!("PRAGMA synchronous = OFF; PRAGMA application_id = {APPLICATION_ID};")).map_err(sort)?;
    migrate(&mut connection).map_err(sort)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(sort)?;
    connection.close().map_err(|(_, error)| sort(error))?;
    file.sync_all().map_err(|error| StoreError::io("write", path, error))
}

/// Applies what is missing in one transaction. The version is read again inside it, because another process may have
/// been first.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = format(&transaction)?;
    let done = usize::try_from(found).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    if found < FORMAT {
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    transaction.commit()
}

/// Returns the database's format.
pub(super) fn format(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
