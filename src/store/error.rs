//! How the store can fail. Every failure is of this machine (design §6, exit 8).

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::Diagnostic;
use rusqlite::ErrorCode;
use thiserror::Error;

use crate::base::failure::{Class, Failing};

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum StoreError {
    /// Following it could end in somebody else's folder.
    #[error("the home `{}` is a link", .path.display())]
    #[diagnostic(code(spark::store::home_is_link), help("name the folder itself with --home"))]
    HomeIsLink { path: PathBuf },
    #[error("the home `{}` is not a folder", .path.display())]
    #[diagnostic(code(spark::store::home_not_folder), help("name another folder with --home"))]
    HomeNotFolder { path: PathBuf },
    #[error("the home `{}` belongs to another user", .path.display())]
    #[diagnostic(code(spark::store::home_not_ours), help("name a folder of your own with --home"))]
    HomeNotOurs { path: PathBuf },
    #[error("others may write to the home `{}`, and it holds more than a home does", .path.display())]
    #[diagnostic(code(spark::store::home_not_private), help("close it with `chmod go-w`, or name an empty folder with --home"))]
    HomeNotPrivate { path: PathBuf },
    /// A later release wrote it; writing back would drop columns this one doesn't know.
    #[error("the store `{}` has format {found}, this release reads up to {supported}", .path.display())]
    #[diagnostic(code(spark::store::format_too_new), help("update spark-tool, or name another folder with --home"))]
    FormatTooNew { path: PathBuf, found: i64, supported: i64 },
    #[error("the store `{}` is damaged: {reason}", .path.display())]
    #[diagnostic(
        code(spark::store::corrupt),
        help("nothing was changed; keep a copy, then run `spark-tool doctor`, or move it away to start with an empty store")
    )]
    Corrupt { path: PathBuf, reason: String },
    #[error("another process has kept the store `{}` locked for {} s", .path.display(), .waited.as_secs())]
    #[diagnostic(code(spark::store::busy), help("wait until the other spark-tool is done, then run this again"))]
    Busy { path: PathBuf, waited: Duration },
    #[error("the store `{}` can't be written", .path.display())]
    #[diagnostic(code(spark::store::read_only), help("make the home writable, or name another folder with --home"))]
    ReadOnly { path: PathBuf },
    #[error("the disk with the store `{}` is full", .path.display())]
    #[diagnostic(code(spark::store::disk_full), help("make room, then run this again; nothing was changed"))]
    DiskFull { path: PathBuf },
    #[error("can't {action} `{}`", .path.display())]
    #[diagnostic(code(spark::store::io))]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// SQLite says something that none of the above covers.
    #[error("the store `{}` refused an operation", .path.display())]
    #[diagnostic(code(spark::store::sqlite), help("please report this with the message below"))]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}

impl Failing for StoreError {
    fn class(&self) -> Class {
        Class::Machine
    }

    fn details(&self) -> serde_json::Value {
        match self {
            Self::FormatTooNew { found, supported, .. } => serde_json::json!({ "found": found, "supported": supported }),
            _ => serde_json::json!({}),
        }
    }
}

impl StoreError {
    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Self::ReadOnly { path: path.into() },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path: path.into() },
            _ => Self::Io { action, path: path.into(), source },
        }
    }

    /// Sorts an error of SQLite's on the database at `path`.
    pub(super) fn sqlite(source: rusqlite::Error, path: &Path, waited: Duration) -> Self {
        let path = path.to_path_buf();
        match &source {
            rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy { path, waited },
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                    Self::Corrupt { path, reason: message.clone().unwrap_or_else(|| failure.to_string()) }
                }
                ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Self::ReadOnly { path },
                ErrorCode::DiskFull => Self::DiskFull { path },
                _ => Self::Sqlite { path, source },
            },
            // A column that isn't what the schema says, or a word that is none of its set.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..) => Self::Corrupt { path, reason: source.to_string() },
            _ => Self::Sqlite { path, source },
        }
    }
}
