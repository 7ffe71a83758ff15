//! What traces cost, beside what SQLite costs bare. For `scripts/bench` alone.

use std::path::Path;
use std::time::{Duration, Instant};

use super::{Access, InvocationSource, Store, TraceEnd, TraceKind, TraceOp, TraceOutcome, TraceStart};
use crate::base::clock::Timestamp;

/// What traces cost.
pub(crate) struct TraceCosts {
    /// Bare SQLite: one row, one commit.
    pub(crate) one_commit: Duration,
    /// The rows of one call.
    pub(crate) per_call: Duration,
    /// Calls recorded a second, 32 at a time.
    pub(crate) rows_per_second: f64,
}

/// Measures in `folder`, which is made.
pub(crate) fn traces(folder: &Path) -> TraceCosts {
    std::fs::create_dir_all(folder).expect("a folder of the benchmark's own");
    let mut store = Store::open(&folder.join("home"), Access::Write).expect("a new store");
    let bare = rusqlite::Connection::open(folder.join("bare.db")).expect("a new database");
    bare.execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT, b INTEGER);")
        .expect("a table");
    let mut insert = bare.prepare("INSERT INTO t VALUES (?1, ?2, ?3)").expect("a statement");
    let (mut one_commit, mut per_call) = (Vec::new(), Vec::new());
    for number in 0..4_000_u32 {
        let start = Instant::now();
        insert.execute((format!("row-{number:08}"), "acme.hello/say_hello", number)).expect("inserted");
        one_commit.push(start.elapsed());
        // A call's begin shares its transaction with the end of the call before, as in the pipeline.
        let start = Instant::now();
        store.write_traces(&[end(number.saturating_sub(1)), begin(number)]).expect("written");
        per_call.push(start.elapsed());
    }
    let middle = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let start = Instant::now();
    let (batches, size) = (400_u32, 32_u32);
    for batch in 1..=batches {
        let rows = (0..size).map(|row| 100_000 + batch * size + row);
        let rows: Vec<TraceOp> = rows.flat_map(|number| [begin(number), end(number)]).collect();
        store.write_traces(&rows).expect("written");
    }
    let rows_per_second = f64::from(batches * size) / start.elapsed().as_secs_f64();
    TraceCosts { one_commit: middle(&mut one_commit), per_call: middle(&mut per_call), rows_per_second }
}

fn id(number: u32) -> String {
    format!("018f0000-0000-7000-8000-{number:012}")
}

fn begin(number: u32) -> TraceOp {
    TraceOp::Begin(TraceStart {
        package_id: Some("acme.hello".into()),
        tool_id: Some("acme.hello/say_hello".into()),
        tool_name: Some("say_hello".into()),
        version: Some("1.0.0".into()),
        adapter: Some("process".into()),
        input_sha256: Some("0".repeat(64)),
        ..TraceStart::new(id(number), TraceKind::ToolPackage, InvocationSource::Platform, Timestamp::from_millis(i64::from(number)))
    })
}

fn end(number: u32) -> TraceOp {
    let end = TraceEnd {
        outcome: TraceOutcome::Ok,
        finished_at: Timestamp::from_millis(i64::from(number)),
        duration_ms: Some(1),
        error_code: None,
        output_bytes: Some(20),
        result_archived: false,
        result_truncated: false,
        retry_count: 0,
    };
    TraceOp::Finish { id: id(number), end }
}
