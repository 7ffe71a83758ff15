//! Running a package's tools against what their author expects, from a folder or an installed version (design §6,
//! `test`).
//!
//! A folder is tested as it would be installed: the files that belong to it, copied, read-only, its working data in a
//! temporary place. Every case takes the road of every call.

mod case;
mod expect;
mod folder;
mod plan;
mod run;
mod torture;
mod update;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::call::{consent_record, open_road, open_store};
use super::{Ask, Settings};
use crate::base::failure::Failure;
use crate::store::StoreError;
use crate::tool::{PackageId, ToolName, Version};

pub(crate) use case::{Case, CaseSource};
pub(crate) use plan::{TestPlan, TestRequest};
pub(crate) use run::{CaseReport, RunOptions, Verdict, Watch};

/// What came of a run.
#[derive(Debug)]
pub(crate) struct TestReport {
    pub(crate) id: PackageId,
    pub(crate) version: Version,
    pub(crate) path: PathBuf,
    pub(crate) cases: Vec<CaseReport>,
    /// Case files that `--update` changed.
    pub(crate) updated: Vec<PathBuf>,
    /// Why some calls have no trace, if so.
    pub(crate) untraced: Option<StoreError>,
}

impl TestReport {
    /// Returns the worst verdict.
    pub(crate) fn worst(&self) -> Verdict {
        let has = |verdict| self.cases.iter().any(|case| case.verdict == verdict);
        [Verdict::Broke, Verdict::Failed].into_iter().find(|verdict| has(*verdict)).unwrap_or(Verdict::Passed)
    }
}

/// Plans a run; nothing is started.
pub(crate) fn plan(settings: &Settings, request: &TestRequest<'_>) -> Result<TestPlan, Failure> {
    let store = open_store(settings.home()?)?;
    plan::plan(settings, &store, request)
}

/// Returns the input schema of a tool, to ask for its input.
pub(crate) fn input_schema(settings: &Settings, request: &TestRequest<'_>, tool: &ToolName) -> Result<Value, Failure> {
    let store = open_store(settings.home()?)?;
    plan::input_schema(settings, &store, request, tool)
}

/// Asks, runs, and writes golden results back if they are wanted.
pub(crate) async fn run(
    settings: &Settings,
    ask: &(dyn Ask + Sync),
    plan: TestPlan,
    options: RunOptions,
    watch: impl FnOnce() -> Arc<dyn Watch>,
) -> Result<TestReport, Failure> {
    let consent = ask.confirm(&plan.question())?;
    let road = Arc::new(open_road(settings, open_store(settings.home()?)?));
    let manifest = Arc::clone(&plan.package.manifest);
    road.recorder.remember(&consent_record("test", manifest.id.as_str(), &manifest, &consent, settings.clock.now()));
    let plan = Arc::new(plan);
    let mut cases = run::run(&plan, &road, &consent, options, &watch()).await;
    let untraced = road.close().await;
    settings.interrupt.check()?;
    let updated = if options.update { update::update(&mut cases)? } else { Vec::new() };
    Ok(TestReport { id: manifest.id.clone(), version: manifest.version.clone(), path: plan.path().to_owned(), cases, updated, untraced })
}
