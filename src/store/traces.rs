//! The record of every call (lifecycle §10): begun as `running`, closed once. Bodies are never in it.
//!
//! Writing is one transaction for a batch and has no fsync in it. Whoever can't write a trace goes on without
//! (hardening Q-4): that is why every error here is a value to be shown as a warning.

use rusqlite::types::Value as Sql;
use rusqlite::{Row, Transaction, params};

use super::convert::{count, integer, optional_count, parsed};
use super::host::{DeadHost, HostLock};
use super::open::Durability;
use super::{Store, StoreError};
use crate::base::clock::Timestamp;
use crate::tool::word_set;

word_set!(
    /// What kind of thing was called.
    TraceKind {
        Connector => "connector",
        CustomTool => "custom-tool",
        ToolPackage => "tool-package",
        Workflow => "workflow",
        Test => "test",
    }
);

word_set!(
    /// Who called.
    InvocationSource { Model => "model", Workflow => "workflow", Test => "test", Platform => "platform", Nested => "nested" }
);

word_set!(
    /// How a call ended.
    TraceOutcome { Ok => "ok", Error => "error", Timeout => "timeout", Denied => "denied", Cancelled => "cancelled" }
);

/// The status of a call that has not ended.
pub(crate) const RUNNING: &str = "running";
/// The error code of a call whose process died before it could close the row.
pub(crate) const HOST_DIED: &str = "spark::call::host_died";
/// Rows of one page, at most and unless the caller says otherwise (lifecycle §10).
pub(crate) const PAGE_MAX: u32 = 200;
pub(crate) const PAGE_DEFAULT: u32 = 50;

/// What is known of a call when it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceStart {
    pub(crate) id: String,
    pub(crate) correlation_id: String,
    pub(crate) kind: TraceKind,
    pub(crate) source_id: Option<String>,
    pub(crate) package_id: Option<String>,
    pub(crate) tool_id: Option<String>,
    pub(crate) tool_name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) adapter: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) turn_id: Option<String>,
    pub(crate) project_id: Option<String>,
    pub(crate) agent_id: Option<String>,
    pub(crate) workflow_id: Option<String>,
    pub(crate) invocation_source: InvocationSource,
    pub(crate) started_at: Timestamp,
    /// Hex.
    pub(crate) input_sha256: Option<String>,
}

impl TraceStart {
    /// Returns a start with nothing but what every call has.
    pub(crate) fn new(id: String, kind: TraceKind, invocation_source: InvocationSource, started_at: Timestamp) -> Self {
        Self {
            correlation_id: id.clone(),
            id,
            kind,
            source_id: None,
            package_id: None,
            tool_id: None,
            tool_name: None,
            version: None,
            adapter: None,
            session_id: None,
            turn_id: None,
            project_id: None,
            agent_id: None,
            workflow_id: None,
            invocation_source,
            started_at,
            input_sha256: None,
        }
    }
}

/// What is known of a call once it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceEnd {
    pub(crate) outcome: TraceOutcome,
    pub(crate) finished_at: Timestamp,
    /// By a clock that nobody sets. `None` if the process that knew it died.
    pub(crate) duration_ms: Option<u64>,
    pub(crate) error_code: Option<String>,
    pub(crate) output_bytes: Option<u64>,
    pub(crate) result_archived: bool,
    pub(crate) result_truncated: bool,
    pub(crate) retry_count: u32,
}

/// One call as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) start: TraceStart,
    /// `None` while it runs.
    pub(crate) end: Option<TraceEnd>,
    pub(crate) created_at: Timestamp,
}

impl Trace {
    pub(crate) fn status(&self) -> &'static str {
        self.end.as_ref().map_or(RUNNING, |end| end.outcome.as_str())
    }
}

/// One thing to write.
#[derive(Clone, Debug)]
pub(crate) enum TraceOp {
    Begin(TraceStart),
    /// Closes what was begun under this id. An id that is unknown or closed already changes nothing.
    Finish {
        id: String,
        end: TraceEnd,
    },
    /// A call that is over when it is first written: a denial, or begin and end in one batch.
    Record(TraceStart, TraceEnd),
}

/// What to list. Everything that is set must hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceFilter {
    pub(crate) package_id: Option<String>,
    pub(crate) tool_name: Option<String>,
    /// `running` or the word of a [`TraceOutcome`].
    pub(crate) status: Option<String>,
    pub(crate) kind: Option<TraceKind>,
    pub(crate) invocation_source: Option<InvocationSource>,
    pub(crate) correlation_id: Option<String>,
    pub(crate) session_id: Option<String>,
    /// Started at or after.
    pub(crate) since: Option<Timestamp>,
    /// Started before.
    pub(crate) until: Option<Timestamp>,
}

/// One page of a list, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TracePage {
    pub(crate) traces: Vec<Trace>,
    /// Of all pages.
    pub(crate) total: u64,
}

// By number: finding 27 parameters by name took as long as the insert itself.
const INSERT: &str = "INSERT INTO tool_invocations (id, correlation_id, source_kind, source_id, package_id, tool_id, tool_name, \
    version, adapter, session_id, turn_id, project_id, agent_id, workflow_id, invocation_source, started_at, created_at, input_sha256, \
    status, finished_at, duration_ms, error_code, output_bytes, result_archived, result_truncated, retry_count, host) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)";

const CLOSE: &str = "UPDATE tool_invocations SET status = ?2, finished_at = ?3, duration_ms = ?4, error_code = ?5, output_bytes = ?6, \
    result_archived = ?7, result_truncated = ?8, retry_count = ?9, host = NULL WHERE id = ?1 AND status = 'running'";

const COLUMNS: &str = "id, correlation_id, source_kind, source_id, package_id, tool_id, tool_name, version, adapter, session_id, \
    turn_id, project_id, agent_id, workflow_id, invocation_source, status, started_at, finished_at, duration_ms, error_code, \
    input_sha256, output_bytes, result_archived, result_truncated, retry_count, created_at";

impl Store {
    /// Writes a batch in one transaction. The first call marks this process as alive for as long as the store is open.
    pub(crate) fn write_traces(&mut self, batch: &[TraceOp]) -> Result<(), StoreError> {
        if !self.is_writable() {
            return Err(StoreError::ReadOnly { path: self.layout.database() });
        }
        let begins = batch.iter().filter(|op| matches!(op, TraceOp::Begin(_))).count();
        if self.host.is_none() && begins > 0 {
            let first_key = self.read(|connection| {
                connection.query_row("SELECT coalesce(max(invocation_key), 0) + 1 FROM tool_invocations", [], |row| row.get(0))
            })?;
            self.host = Some(HostLock::take(&self.layout.hosts(), first_key)?);
        }
        if let Some(host) = &mut self.host {
            host.set_open_rows(true);
        }
        let host = self.host.as_ref().map(|host| host.name().to_owned());
        let mut finished = 0;
        self.write(Durability::Process, |transaction| {
            for op in batch {
                match op {
                    TraceOp::Begin(start) => insert(transaction, start, None, host.as_deref())?,
                    TraceOp::Record(start, end) => insert(transaction, start, Some(end), None)?,
                    TraceOp::Finish { id, end } => finished += close(transaction, id, end)?,
                }
            }
            Ok(())
        })?;
        self.running = (self.running + begins).saturating_sub(finished);
        if let Some(host) = &mut self.host {
            host.set_open_rows(self.running > 0);
        }
        self.count_writes(batch.len());
        Ok(())
    }

    /// Closes the rows that dead processes left `running`, and returns how many there were.
    pub(crate) fn recover_traces(&mut self, now: Timestamp) -> Result<usize, StoreError> {
        if !self.is_writable() {
            return Ok(0);
        }
        let dead = DeadHost::find(&self.layout.hosts());
        if dead.is_empty() {
            return Ok(0);
        }
        let closed = self.write(Durability::Process, |transaction| {
            let mut statement = transaction.prepare_cached(
                "UPDATE tool_invocations SET status = 'error', finished_at = max(?3, started_at), error_code = ?4, host = NULL \
                 WHERE invocation_key >= ?1 AND host = ?2 AND status = 'running'",
            )?;
            dead.iter()
                .try_fold(0, |closed, host| Ok(closed + statement.execute((host.first_key, &host.name, now.as_millis(), HOST_DIED))?))
        })?;
        dead.into_iter().for_each(DeadHost::bury);
        Ok(closed)
    }

    pub(crate) fn trace(&self, id: &str) -> Result<Option<Trace>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM tool_invocations WHERE id = ?1"))?;
            let mut rows = statement.query([id])?;
            rows.next()?.map(read).transpose()
        })
    }

    /// Returns one page, newest first. `limit` is taken into 1 to 200.
    pub(crate) fn traces(&self, filter: &TraceFilter, limit: u32, offset: u64) -> Result<TracePage, StoreError> {
        let (condition, mut values) = filter.sql();
        self.read(|connection| {
            let total = format!("SELECT count(*) AS total FROM tool_invocations{condition}");
            let total = connection.query_row(&total, rusqlite::params_from_iter(&values), |row| count(row, "total"))?;
            values.push(Sql::Integer(limit.clamp(1, PAGE_MAX).into()));
            values.push(Sql::Integer(integer(offset)));
            let page = format!(
                "SELECT {COLUMNS} FROM tool_invocations{condition} ORDER BY invocation_key DESC LIMIT ?{} OFFSET ?{}",
                values.len() - 1,
                values.len()
            );
            let mut statement = connection.prepare(&page)?;
            let traces = statement.query_map(rusqlite::params_from_iter(&values), read)?.collect::<rusqlite::Result<_>>()?;
            Ok(TracePage { traces, total })
        })
    }
}

impl TraceFilter {
    /// Returns the condition with its values in the order of their numbers.
    fn sql(&self) -> (String, Vec<Sql>) {
        let text = |value: &Option<String>| value.clone().map(Sql::Text);
        let word = |value: Option<&'static str>| value.map(|word| Sql::Text(word.to_owned()));
        let time = |value: Option<Timestamp>| value.map(|time| Sql::Integer(time.as_millis()));
        let terms = [
            ("package_id = ", text(&self.package_id)),
            ("tool_name = ", text(&self.tool_name)),
            ("status = ", text(&self.status)),
            ("source_kind = ", word(self.kind.map(TraceKind::as_str))),
            ("invocation_source = ", word(self.invocation_source.map(InvocationSource::as_str))),
            ("correlation_id = ", text(&self.correlation_id)),
            ("session_id = ", text(&self.session_id)),
            ("started_at >= ", time(self.since)),
            ("started_at < ", time(self.until)),
        ];
        let (terms, values): (Vec<&str>, Vec<Sql>) = terms.into_iter().filter_map(|(term, value)| Some((term, value?))).unzip();
        let terms: Vec<String> = terms.iter().enumerate().map(|(at, term)| format!("{term}?{}", at + 1)).collect();
        let condition = if terms.is_empty() { String::new() } else { format!(" WHERE {}", terms.join(" AND ")) };
        (condition, values)
    }
}

fn insert(transaction: &Transaction<'_>, start: &TraceStart, end: Option<&TraceEnd>, host: Option<&str>) -> rusqlite::Result<()> {
    transaction.prepare_cached(INSERT)?.execute(params![
        start.id,
        start.correlation_id,
        start.kind.as_str(),
        start.source_id,
        start.package_id,
        start.tool_id,
        start.tool_name,
        start.version,
        start.adapter,
        start.session_id,
        start.turn_id,
        start.project_id,
        start.agent_id,
        start.workflow_id,
        start.invocation_source.as_str(),
        start.started_at.as_millis(),
        start.input_sha256,
        end.map_or(RUNNING, |end| end.outcome.as_str()),
        end.map(|end| end.finished_at.as_millis()),
        end.and_then(|end| end.duration_ms.map(integer)),
        end.and_then(|end| end.error_code.as_deref()),
        end.and_then(|end| end.output_bytes.map(integer)),
        end.is_some_and(|end| end.result_archived),
        end.is_some_and(|end| end.result_truncated),
        end.map_or(0, |end| end.retry_count),
        host,
    ])?;
    Ok(())
}

fn close(transaction: &Transaction<'_>, id: &str, end: &TraceEnd) -> rusqlite::Result<usize> {
    transaction.prepare_cached(CLOSE)?.execute(params![
        id,
        end.outcome.as_str(),
        end.finished_at.as_millis(),
        end.duration_ms.map(integer),
        end.error_code,
        end.output_bytes.map(integer),
        end.result_archived,
        end.result_truncated,
        end.retry_count,
    ])
}

fn read(row: &Row<'_>) -> rusqlite::Result<Trace> {
    let time = |column: &str| Ok::<_, rusqlite::Error>(Timestamp::from_millis(row.get(column)?));
    let status: String = row.get("status")?;
    let end = match row.get::<_, Option<i64>>("finished_at")? {
        None => None,
        Some(finished_at) => Some(TraceEnd {
            outcome: parsed(row, "status", &status)?,
            finished_at: Timestamp::from_millis(finished_at),
            duration_ms: optional_count(row, "duration_ms")?,
            error_code: row.get("error_code")?,
            output_bytes: optional_count(row, "output_bytes")?,
            result_archived: row.get("result_archived")?,
            result_truncated: row.get("result_truncated")?,
            retry_count: row.get("retry_count")?,
        }),
    };
    let kind: String = row.get("source_kind")?;
    let invocation_source: String = row.get("invocation_source")?;
    Ok(Trace {
        start: TraceStart {
            id: row.get("id")?,
            correlation_id: row.get("correlation_id")?,
            kind: parsed(row, "source_kind", &kind)?,
            source_id: row.get("source_id")?,
            package_id: row.get("package_id")?,
            tool_id: row.get("tool_id")?,
            tool_name: row.get("tool_name")?,
            version: row.get("version")?,
            adapter: row.get("adapter")?,
            session_id: row.get("session_id")?,
            turn_id: row.get("turn_id")?,
            project_id: row.get("project_id")?,
            agent_id: row.get("agent_id")?,
            workflow_id: row.get("workflow_id")?,
            invocation_source: parsed(row, "invocation_source", &invocation_source)?,
            started_at: time("started_at")?,
            input_sha256: row.get("input_sha256")?,
        },
        end,
        created_at: time("created_at")?,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Access;
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn start(id: &str, millis: i64) -> TraceStart {
        TraceStart {
            package_id: Some("demo.hello".into()),
            tool_name: Some("say".into()),
            ..TraceStart::new(id.into(), TraceKind::ToolPackage, InvocationSource::Platform, at(millis))
        }
    }

    fn end(outcome: TraceOutcome, millis: i64) -> TraceEnd {
        TraceEnd {
            outcome,
            finished_at: at(millis),
            duration_ms: Some(7),
            error_code: None,
            output_bytes: Some(12),
            result_archived: false,
            result_truncated: false,
            retry_count: 0,
        }
    }

    fn open(home: &Path) -> Store {
        Store::open(home, Access::Write).expect("opened")
    }

    #[test]
    fn a_call_is_begun_and_closed_once() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut store = open(home.path());
        store.write_traces(&[TraceOp::Begin(start("a", 5))]).expect("begun");
        assert_eq!(store.trace("a").expect("read").expect("there").status(), RUNNING);
        store.write_traces(&[TraceOp::Finish { id: "a".into(), end: end(TraceOutcome::Ok, 9) }]).expect("closed");
        store.write_traces(&[TraceOp::Finish { id: "a".into(), end: end(TraceOutcome::Error, 10) }]).expect("no effect");
        let trace = store.trace("a").expect("read").expect("there");
        assert_eq!(trace, Trace { start: start("a", 5), end: Some(end(TraceOutcome::Ok, 9)), created_at: at(5) });
        assert_eq!(store.trace("b").expect("read"), None);
    }

    #[test]
    fn a_list_is_newest_first_filtered_and_paged() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut store = open(home.path());
        let ops: Vec<TraceOp> = (0..250)
            .map(|n| {
                let outcome = if n % 10 == 0 { TraceOutcome::Denied } else { TraceOutcome::Ok };
                TraceOp::Record(start(&format!("t{n}"), n), end(outcome, n + 1))
            })
            .collect();
        store.write_traces(&ops).expect("written");
        let page = store.traces(&TraceFilter::default(), 10_000, 0).expect("listed");
        assert_eq!((page.total, page.traces.len(), page.traces[0].start.id.as_str()), (250, 200, "t249"));
        let denied = TraceFilter { status: Some("denied".into()), package_id: Some("demo.hello".into()), ..TraceFilter::default() };
        let page = store.traces(&denied, 2, 1).expect("listed");
        let ids: Vec<&str> = page.traces.iter().map(|trace| trace.start.id.as_str()).collect();
        assert_eq!((page.total, ids), (25, vec!["t230", "t220"]));
        let window = TraceFilter { since: Some(at(10)), until: Some(at(20)), ..TraceFilter::default() };
        assert_eq!(store.traces(&window, 1, 0).expect("listed").total, 10);
    }

    #[test]
    fn what_a_dead_process_left_running_is_closed_and_what_a_live_one_runs_is_not() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let (mut alive, mut dying) = (open(home.path()), open(home.path()));
        alive.write_traces(&[TraceOp::Begin(start("alive", 1))]).expect("begun");
        dying.write_traces(&[TraceOp::Begin(start("dying", 2))]).expect("begun");
        assert_eq!(open(home.path()).recover_traces(at(50)).expect("both live"), 0);
        drop(dying);
        let mut next = open(home.path());
        assert_eq!(next.recover_traces(at(60)).expect("one died"), 1);
        let died = next.trace("dying").expect("read").expect("there").end.expect("closed");
        assert_eq!((died.outcome, died.error_code.as_deref(), died.duration_ms), (TraceOutcome::Error, Some(HOST_DIED), None));
        assert_eq!(next.trace("alive").expect("read").expect("there").end, None);
        alive.write_traces(&[TraceOp::Finish { id: "alive".into(), end: end(TraceOutcome::Ok, 70) }]).expect("closed");
        drop((alive, next));
        assert_eq!(std::fs::read_dir(home.path().join("run/hosts")).expect("listed").count(), 0);
    }

    // H: Q-3
    #[test]
    fn many_writers_lose_no_row_and_see_no_error() {
        let home = tempfile::tempdir().expect("a temporary folder");
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let home = home.path();
                scope.spawn(move || {
                    let mut store = open(home);
                    for row in 0..100 {
                        let id = format!("{writer}-{row}");
                        store.write_traces(&[TraceOp::Begin(start(&id, row))]).expect("begun");
                        store.write_traces(&[TraceOp::Finish { id, end: end(TraceOutcome::Ok, row) }]).expect("closed");
                    }
                });
            }
        });
        let store = open(home.path());
        let closed = TraceFilter { status: Some("ok".into()), ..TraceFilter::default() };
        assert_eq!(store.traces(&closed, 1, 0).expect("listed").total, 800);
        let sound: String = store.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
        assert_eq!(sound, "ok");
    }
}
