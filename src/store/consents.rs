//! Every answer that a person gave, kept for good (design §6, consent).

use rusqlite::named_params;

use super::open::Durability;
use super::{Store, StoreError};
use crate::base::clock::Timestamp;
use crate::tool::{PackageId, Version, word_set};

word_set!(
    /// How an answer was given.
    Means { Terminal => "terminal", Flag => "flag", Elicitation => "elicitation", Rule => "rule" }
);

word_set!(
    /// What the answer was.
    Reply { Yes => "yes", No => "no" }
);

/// One answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConsentRecord {
    /// `install`, `grant` and so on.
    pub(crate) command: String,
    /// What the command was to do it to, as the question named it.
    pub(crate) subject: String,
    pub(crate) package: Option<PackageId>,
    pub(crate) version: Option<Version>,
    pub(crate) reply: Reply,
    pub(crate) means: Means,
    /// SHA-256 of what was shown, in hex.
    pub(crate) shown_sha256: String,
    pub(crate) at: Timestamp,
}

impl Store {
    pub(crate) fn record_consent(&mut self, consent: &ConsentRecord) -> Result<(), StoreError> {
        // What the answer allows is committed after it, durably, and the log keeps their order.
        self.write(Durability::Process, |transaction| {
            let mut statement = transaction.prepare_cached(
                "INSERT INTO consents (at, command, subject, package_id, version, answer, how, shown_sha256) \
                 VALUES (:at, :command, :subject, :package, :version, :answer, :how, :shown)",
            )?;
            statement.execute(named_params! {
                ":at": consent.at.as_millis(),
                ":command": consent.command,
                ":subject": consent.subject,
                ":package": consent.package.as_ref().map(PackageId::as_str),
                ":version": consent.version.as_ref().map(Version::as_str),
                ":answer": consent.reply.as_str(),
                ":how": consent.means.as_str(),
                ":shown": consent.shown_sha256,
            })?;
            Ok(())
        })
    }

    /// Returns the answers about a package, oldest first.
    #[cfg(test)]
    pub(crate) fn consents(&self, id: &PackageId) -> Result<Vec<ConsentRecord>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT at, command, subject, package_id, version, answer, how, shown_sha256 FROM consents \
                 WHERE package_id = ?1 ORDER BY consent_key",
            )?;
            let consents = statement.query_map([id.as_str()], read)?;
            consents.collect()
        })
    }
}

#[cfg(test)]
fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<ConsentRecord> {
    Ok(ConsentRecord {
        command: row.get("command")?,
        subject: row.get("subject")?,
        package: super::convert::optional(row, "package_id")?,
        version: super::convert::optional(row, "version")?,
        reply: super::convert::column(row, "answer")?,
        means: super::convert::column(row, "how")?,
        shown_sha256: row.get("shown_sha256")?,
        at: Timestamp::from_millis(row.get("at")?),
    })
}
