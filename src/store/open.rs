//! The door to the database: opening it cheaply, on a read-only disk too, and writing in one immediate transaction.
//!
//! SQLite's own checkpoints are off: at close one costs 14 to 19 ms a command, in a commit it is an fsync in a call's
//! path. [`Store`] makes one when the log has grown long.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::StoreError;
use super::create::{self, FORMAT, beside};
use super::home;
use super::host::HostLock;
use crate::base::id;
use crate::base::layout::Layout;
use crate::base::limits::BUSY_WAIT;

/// What a command needs the store for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Works on a home that can't be written, and on none at all, which reads as empty (hardening I-8).
    Read,
    /// Makes the home if there is none.
    Write,
}

/// How much a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    /// The death of this process. No fsync.
    Process,
    /// A power cut too: what a person was told is done stays done. One fsync.
    Power,
}

/// Pages in the log from which closing the store moves them into the database: half a MiB. The next command reads the
/// whole log when it opens it, about a millisecond a MiB; moving it costs two or three fsyncs. A call writes 4 pages.
const LONG_AT_CLOSE: i64 = 128;
/// Pages in the log from which they are moved while the store is in use, so that it doesn't grow for ever. Every time,
/// one write waits for an fsync or two.
const LONG_IN_USE: i64 = 4_096;
const PAGE_BYTES: u64 = 4_096;
/// How long a checkpoint holds out for the last reader (ours: it is tried again soon).
const CHECKPOINT_WAIT: Duration = Duration::from_millis(100);
/// Trace operations between two looks at the log's length (ours: each writes at most a few pages).
const LOOK_AT_LOG: usize = 256;
/// Statements kept prepared; more than all there are.
const CACHED_STATEMENTS: usize = 64;

/// The open store of one home. Not shared between threads; each that needs one opens its own.
pub(crate) struct Store {
    pub(super) connection: Connection,
    pub(super) layout: Layout,
    pub(super) host: Option<HostLock>,
    /// Rows of this process that are begun and not closed.
    pub(super) running: usize,
    busy_wait: Duration,
    is_writable: bool,
    checkpointer: Option<JoinHandle<()>>,
    /// Operations since the log was last looked at.
    written: usize,
    /// Where the connection reads from, if that had to be copied.
    _copy: Option<Copy>,
}

impl Store {
    pub(crate) fn open(home: &Path, access: Access) -> Result<Self, StoreError> {
        Self::open_waiting(home, access, BUSY_WAIT)
    }

    /// As [`Store::open`]; every wait for another process ends after `busy_wait` in [`StoreError::Busy`].
    pub(crate) fn open_waiting(home: &Path, access: Access, busy_wait: Duration) -> Result<Self, StoreError> {
        let layout = Layout::new(home);
        let exists = home::check(&layout)?;
        let has_database = exists && create::look(&layout)?;
        match access {
            Access::Read if !has_database => return Self::empty(layout),
            Access::Read => {}
            Access::Write => {
                home::prepare(&layout, exists)?;
                if !has_database {
                    create::create(&layout, busy_wait)?;
                }
            }
        }
        let (connection, copy) = connect(&layout.database(), access, busy_wait)?;
        let path = layout.database();
        let sort = |error| StoreError::sqlite(error, &path, busy_wait);
        let is_writable = copy.is_none() && !connection.is_readonly("main").map_err(sort)?;
        let mut store =
            Self { connection, layout, host: None, running: 0, busy_wait, is_writable, checkpointer: None, written: 0, _copy: copy };
        if access == Access::Write && !is_writable {
            return Err(StoreError::ReadOnly { path });
        }
        store.bring_up_to_date()?;
        Ok(store)
    }

    /// A store with nothing in it, for a home that isn't there yet.
    fn empty(layout: Layout) -> Result<Self, StoreError> {
        let sort = |error| StoreError::sqlite(error, layout.home(), Duration::ZERO);
        let mut connection = Connection::open_in_memory().map_err(sort)?;
        create::migrate(&mut connection).map_err(sort)?;
        Ok(Self {
            connection,
            layout,
            host: None,
            running: 0,
            busy_wait: Duration::ZERO,
            is_writable: false,
            checkpointer: None,
            written: 0,
            _copy: None,
        })
    }

    fn bring_up_to_date(&mut self) -> Result<(), StoreError> {
        let path = self.layout.database();
        let found = create::format(&self.connection).map_err(|error| self.sort(error))?;
        create::check_format(&path, found)?;
        if found == FORMAT {
            return Ok(());
        }
        if !self.is_writable {
            return Err(StoreError::ReadOnly { path });
        }
        create::migrate(&mut self.connection).map_err(|error| self.sort(error))?;
        // So that the file's own header tells an older release, before it touches anything.
        self.checkpoint("TRUNCATE").map_err(|error| self.sort(error))
    }

    /// From now on waits for nobody: what another process holds is an error at once.
    pub(crate) fn stop_waiting(&mut self) {
        self.busy_wait = Duration::ZERO;
        let _unchanged = self.connection.busy_timeout(Duration::ZERO);
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Says whether writes can work at all. `false` on a read-only disk and where there is no home yet.
    pub(crate) fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// Runs `work` in one immediate transaction: a deferred one that reads first is refused when it comes to write.
    pub(super) fn write<T>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        if !self.is_writable {
            return Err(StoreError::ReadOnly { path: self.layout.database() });
        }
        let written = match durability {
            Durability::Process => transact(&mut self.connection, work),
            Durability::Power => (|| {
                self.connection.execute_batch("PRAGMA synchronous = FULL")?;
                let written = transact(&mut self.connection, work);
                self.connection.execute_batch("PRAGMA synchronous = NORMAL")?;
                written
            })(),
        };
        written.map_err(|error| self.sort(error))
    }

    pub(super) fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        query(&self.connection).map_err(|error| self.sort(error))
    }

    /// Gives an error of SQLite's its meaning.
    pub(super) fn sort(&self, error: rusqlite::Error) -> StoreError {
        StoreError::sqlite(error, &self.layout.database(), self.busy_wait)
    }

    /// Counts what was written, and now and then moves a long log into the database on a thread of its own, so that no
    /// call waits for its fsyncs.
    pub(super) fn count_writes(&mut self, operations: usize) {
        self.written += operations;
        if self.written < LOOK_AT_LOG {
            return;
        }
        self.written = 0;
        let is_running = self.checkpointer.as_ref().is_some_and(|thread| !thread.is_finished());
        if is_running || !self.log_is_long(LONG_IN_USE) {
            return;
        }
        let home = self.layout.home().to_path_buf();
        // Without a thread the log grows until the store is closed, which loses nothing.
        self.checkpointer = std::thread::Builder::new()
            .name("checkpoint".into())
            .spawn(move || {
                if let Ok(store) = Self::open_waiting(&home, Access::Write, CHECKPOINT_WAIT) {
                    // The first goes beside all writers but never catches up with a busy one; the second has little
                    // left to do while it holds them, and lets the log start anew.
                    let _ignored = store.checkpoint("PASSIVE").and_then(|()| store.checkpoint("RESTART"));
                }
            })
            .ok();
    }

    fn log_is_long(&self, limit: i64) -> bool {
        let log = beside(&self.layout.database(), "-wal");
        if !self.is_writable || fs::metadata(log).map_or(0, |metadata| metadata.len()) < limit.unsigned_abs() * PAGE_BYTES {
            return false;
        }
        // The file keeps its length; how much of it is still to be moved only SQLite knows.
        let pages = self.connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?));
        pages.is_ok_and(|pages| pages >= limit)
    }

    fn checkpoint(&self, mode: &str) -> rusqlite::Result<()> {
        self.connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_row| Ok(()))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.log_is_long(LONG_AT_CLOSE) {
            // Whoever still reads the log is not waited for; the next one to close tries again.
            let _ignored = self.connection.busy_timeout(Duration::ZERO);
            let _ignored = self.checkpoint("TRUNCATE");
        }
    }
}

fn transact<T>(connection: &mut Connection, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = work(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

fn connect(path: &Path, access: Access, busy_wait: Duration) -> Result<(Connection, Option<Copy>), StoreError> {
    let sort = |error| StoreError::sqlite(error, path, busy_wait);
    match try_connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, busy_wait) {
        Ok(connection) => Ok((connection, None)),
        // SQLite wants to make the files beside the database and may not.
        Err(error) if matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)) => match access {
            Access::Write => Err(StoreError::ReadOnly { path: path.into() }),
            Access::Read => connect_read_only(path, busy_wait).unwrap_or_else(|| Err(sort(error))),
        },
        Err(error) => Err(sort(error)),
    }
}

/// Opens a database in a folder where nothing can be made. Without a log the file alone is the whole truth. With one
/// both are copied, because SQLite reads a log only with an index file beside it.
fn connect_read_only(path: &Path, busy_wait: Duration) -> Option<Result<(Connection, Option<Copy>), StoreError>> {
    let log = beside(path, "-wal");
    let sort = |error| StoreError::sqlite(error, path, busy_wait);
    if fs::metadata(&log).map_or(0, |metadata| metadata.len()) == 0 {
        let uri = format!("file:{}?immutable=1", percent_encoded(path)?);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        return Some(try_connect(Path::new(&uri), flags, busy_wait).map(|connection| (connection, None)).map_err(sort));
    }
    Some(Copy::of(path, &log).map_err(|error| StoreError::io("copy", path, error)).and_then(|copy| {
        let connection = try_connect(&copy.database(), OpenFlags::SQLITE_OPEN_READ_WRITE, busy_wait).map_err(sort)?;
        Ok((connection, Some(copy)))
    }))
}

fn try_connect(path: &Path, flags: OpenFlags, busy_wait: Duration) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(busy_wait)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;")?;
    // The first read opens the log: what can't be opened fails here and not in the middle of a command.
    create::format(&connection)?;
    Ok(connection)
}

fn percent_encoded(path: &Path) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let text = path.to_str()?;
    Some(text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect())
}

/// A private copy of a database and its log, gone when dropped.
struct Copy {
    folder: PathBuf,
}

impl Copy {
    fn of(database: &Path, log: &Path) -> io::Result<Self> {
        let copy = Self { folder: std::env::temp_dir().join(format!("spark-tool-{}", id::random())) };
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&copy.folder)?;
        for (from, to) in [(database, copy.database()), (log, beside(&copy.database(), "-wal"))] {
            io::copy(&mut File::open(from)?, &mut File::create_new(to)?)?;
        }
        Ok(copy)
    }

    fn database(&self) -> PathBuf {
        self.folder.join("copy.db")
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ignored = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Timestamp;
    use crate::store::{InvocationSource, TraceFilter, TraceKind, TraceOp, TraceStart};

    fn begin(id: &str) -> TraceOp {
        let at = Timestamp::from_millis(1);
        TraceOp::Begin(TraceStart::new(id.into(), TraceKind::Test, InvocationSource::Test, at))
    }

    fn count(store: &Store) -> u64 {
        store.traces(&TraceFilter::default(), 1, 0).expect("listed").total
    }

    /// Everything in a folder, by name.
    fn snapshot(folder: &Path) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).expect("listed") {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("a type").is_file() {
                files.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("read")));
            }
        }
        files.sort();
        files
    }

    #[test]
    fn a_new_home_is_made_closed_and_reading_makes_none() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let home = root.path().join("home");
        let store = Store::open(&home, Access::Read).expect("reads as empty");
        assert_eq!((count(&store), store.packages().expect("listed"), home.exists()), (0, vec![], false));
        let mut store = Store::open(&home, Access::Write).expect("made");
        store.write_traces(&[begin("a")]).expect("written");
        drop(store);
        #[cfg(unix)]
        for name in ["spark-tool.db", "spark-tool.db-wal", "spark-tool.db-shm", "run/store.lock"] {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(home.join(name)).expect(name).permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{name}");
        }
        assert_eq!(count(&Store::open(&home, Access::Read).expect("opened")), 1);
    }

    // H: I-2
    #[test]
    fn many_may_make_the_same_home_at_once() {
        for _round in 0..5 {
            let root = tempfile::tempdir().expect("a temporary folder");
            let home = root.path().join("home");
            std::thread::scope(|scope| {
                for n in 0..6 {
                    let home = &home;
                    scope.spawn(move || {
                        let mut store = Store::open(home, Access::Write).expect("opened");
                        store.write_traces(&[begin(&n.to_string())]).expect("written");
                    });
                }
            });
            assert_eq!(count(&Store::open(&home, Access::Read).expect("opened")), 6);
            let names: Vec<String> = snapshot(&home).into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["spark-tool.db", "spark-tool.db-shm", "spark-tool.db-wal"]);
        }
    }

    // H: I-9
    #[test]
    fn a_newer_format_is_refused_with_not_one_byte_changed() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(home.path(), Access::Write).expect("made");
        store.connection.pragma_update(None, "user_version", FORMAT + 1).expect("set");
        store.checkpoint("TRUNCATE").expect("moved into the file");
        drop(store);
        let before = snapshot(home.path());
        for access in [Access::Read, Access::Write] {
            let error = Store::open(home.path(), access).err().expect("refused");
            assert!(matches!(error, StoreError::FormatTooNew { found: 2, supported: 1, .. }), "{error}");
            assert!(error.to_string().ends_with("has format 2, this release reads up to 1"), "{error}");
        }
        assert_eq!(snapshot(home.path()), before);
    }

    #[test]
    fn a_newer_format_that_is_only_in_the_log_is_refused_too() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(home.path(), Access::Write).expect("made");
        store.connection.pragma_update(None, "user_version", FORMAT + 1).expect("set");
        drop(store);
        let data =
            |home: &Path| [fs::read(home.join("spark-tool.db")).expect("read"), fs::read(home.join("spark-tool.db-wal")).expect("read")];
        let before = data(home.path());
        let error = Store::open(home.path(), Access::Write).err().expect("refused");
        assert!(matches!(error, StoreError::FormatTooNew { .. }), "{error}");
        assert_eq!(data(home.path()), before);
    }

    #[test]
    fn an_older_format_is_brought_up_to_date_by_whoever_is_first() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(home.path(), Access::Write).expect("made");
        // The only older format is none at all.
        let tables: Vec<String> = store
            .read(|connection| {
                let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
                statement.query_map([], |row| row.get(0))?.collect()
            })
            .expect("listed");
        store.connection.execute_batch("PRAGMA foreign_keys = OFF").expect("off");
        for table in tables {
            store.connection.execute_batch(&format!("DROP TABLE {table}")).expect("dropped");
        }
        store.connection.pragma_update(None, "user_version", 0).expect("set");
        drop(store);
        std::thread::scope(|scope| {
            for n in 0..4 {
                let home = home.path();
                scope.spawn(move || {
                    let mut store = Store::open(home, Access::Write).expect("opened");
                    store.write_traces(&[begin(&n.to_string())]).expect("written");
                });
            }
        });
        assert_eq!(count(&Store::open(home.path(), Access::Read).expect("opened")), 4);
    }

    // H: Q-2
    #[test]
    fn damage_is_found_and_left_as_it_is() {
        type Damage = fn(&mut Vec<u8>);
        let damages: [(&str, Damage); 6] = [
            ("header overwritten", |bytes| bytes[..16].fill(0xff)),
            ("zero length", Vec::clear),
            ("cut inside the header", |bytes| bytes.truncate(60)),
            ("cut in the middle", |bytes| bytes.truncate(bytes.len() / 2)),
            ("first page flipped", |bytes| bytes[100..4096].iter_mut().for_each(|byte| *byte = !*byte)),
            ("another program's", |bytes| bytes[68..72].fill(1)),
        ];
        for (name, damage) in damages {
            let home = tempfile::tempdir().expect("a temporary folder");
            let mut store = Store::open(home.path(), Access::Write).expect("made");
            store.write_traces(&[begin("a")]).expect("written");
            store.checkpoint("TRUNCATE").expect("moved into the file");
            drop(store);
            let path = home.path().join("spark-tool.db");
            let mut bytes = fs::read(&path).expect("read");
            damage(&mut bytes);
            fs::write(&path, &bytes).expect("damaged");
            for access in [Access::Read, Access::Write] {
                let found = Store::open(home.path(), access).and_then(|store| store.packages());
                assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{name}: {found:?}");
            }
            assert_eq!(fs::read(&path).expect("read"), bytes, "{name}");
        }
    }

    // H: Q-2
    #[test]
    fn every_other_page_that_is_damaged_is_found_where_it_is_used() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(home.path(), Access::Write).expect("made");
        drop(store);
        let path = home.path().join("spark-tool.db");
        let mut bytes = fs::read(&path).expect("read");
        bytes[4096..].fill(0x5a);
        fs::write(&path, &bytes).expect("damaged");
        let found = Store::open(home.path(), Access::Write).and_then(|store| store.packages());
        assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{found:?}");
        assert_eq!(fs::read(&path).expect("read"), bytes);
    }

    #[test]
    fn a_log_without_its_database_is_damage() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut store = Store::open(home.path(), Access::Write).expect("made");
        store.write_traces(&[begin("a")]).expect("written");
        drop(store);
        fs::remove_file(home.path().join("spark-tool.db")).expect("removed");
        for access in [Access::Read, Access::Write] {
            assert!(matches!(Store::open(home.path(), access), Err(StoreError::Corrupt { .. })));
        }
    }

    // H: Q-1
    #[test]
    fn a_lock_of_another_process_is_waited_for_and_then_it_is_busy() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let holder = Store::open(home.path(), Access::Write).expect("made");
        holder.connection.execute_batch("BEGIN IMMEDIATE").expect("locked");
        let mut store = Store::open_waiting(home.path(), Access::Write, Duration::from_millis(50)).expect("opened");
        let error = store.write_traces(&[begin("a")]).expect_err("locked");
        assert!(matches!(error, StoreError::Busy { .. }), "{error}");
        let (ready, wait) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let home = home.path();
            scope.spawn(move || {
                let mut store = Store::open(home, Access::Write).expect("opened");
                ready.send(()).expect("somebody listens");
                store.write_traces(&[begin("b")]).expect("waits and succeeds");
            });
            wait.recv().expect("it is about to write");
            holder.connection.execute_batch("COMMIT").expect("freed");
        });
        assert_eq!(count(&store), 1);
    }

    /// Runs `work` as somebody who may not write what belongs to root. Elsewhere mode bits are enough.
    #[cfg(target_os = "linux")]
    fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                // Of this thread alone.
                nix::unistd::setfsuid(nix::unistd::Uid::from_raw(65_534));
                work()
            });
            thread.join().expect("no panic")
        })
    }

    // H: I-8
    #[cfg(target_os = "linux")]
    #[test]
    fn a_home_that_cannot_be_written_can_be_read() {
        use std::os::unix::fs::PermissionsExt as _;

        let with_log: fn(&Path) = |_home| {};
        let without_index: fn(&Path) = |home| fs::remove_file(home.join("spark-tool.db-shm")).expect("removed");
        let without_log: fn(&Path) = |home| {
            let store = Store::open(home, Access::Write).expect("opened");
            store.checkpoint("TRUNCATE").expect("moved into the file");
            drop(store);
            fs::remove_file(home.join("spark-tool.db-wal")).expect("removed");
            fs::remove_file(home.join("spark-tool.db-shm")).expect("removed");
        };
        for (name, prepare) in [("log", with_log), ("log without index", without_index), ("no log", without_log)] {
            let root = tempfile::tempdir().expect("a temporary folder");
            fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).expect("set");
            let home = root.path().join("home");
            let mut store = Store::open(&home, Access::Write).expect("made");
            store.write_traces(&[begin("a")]).expect("written");
            drop(store);
            prepare(&home);
            for (file, _) in snapshot(&home) {
                fs::set_permissions(home.join(file), fs::Permissions::from_mode(0o444)).expect("set");
            }
            fs::set_permissions(&home, fs::Permissions::from_mode(0o555)).expect("set");
            as_nobody(|| {
                let mut store = Store::open(&home, Access::Read).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!((count(&store), store.is_writable()), (1, false), "{name}");
                assert!(matches!(store.write_traces(&[begin("b")]), Err(StoreError::ReadOnly { .. })), "{name}");
                let refused = Store::open(&home, Access::Write).err();
                assert!(matches!(refused, Some(StoreError::ReadOnly { .. })), "{name}: {refused:?}");
            });
        }
    }

    #[test]
    fn a_long_log_is_moved_into_the_database() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let log = home.path().join("spark-tool.db-wal");
        let mut store = Store::open(home.path(), Access::Write).expect("made");
        for n in 0..1_200 {
            store.write_traces(&[begin(&n.to_string())]).expect("written");
        }
        assert!(fs::metadata(&log).expect("there").len() > 0);
        if let Some(thread) = store.checkpointer.take() {
            thread.join().expect("no panic");
        }
        drop(store);
        assert_eq!(fs::metadata(&log).expect("there").len(), 0);
        let store = Store::open(home.path(), Access::Write).expect("opened");
        assert_eq!(count(&store), 1_200);
    }
}
