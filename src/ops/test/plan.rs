//! What a test run will do, before anything is started: the package, its cases, the values each is given, the question.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use miette::Diagnostic;
use serde_json::Value;
use thiserror::Error;

use super::case::{Case, CaseSource, collect, fits};
use super::expect::Expectation;
use super::folder::open_folder;
use super::torture;
use crate::base::failure::{Class, Failing, Failure};
use crate::base::limits::CALL_WAIT;
use crate::base::text::{count, visible};
use crate::ops::call::{Gate, Installed, Prepared, PreparedTool, config_layers, find_tool, launch_of, make_data_folder, open_package};
use crate::ops::screen::{Powers, names, row, tool_line};
use crate::ops::values::{self, Layer, Resolved};
use crate::ops::{InputArgs, Question, Settings, Target, assemble};
use crate::runtime::process::{Launch, Scenario};
use crate::store::Store;
use crate::tool::{ToolName, VariableName};

/// What `test` names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestRequest<'a> {
    pub(crate) target: &'a Target,
    /// With it, the one case of the flags.
    pub(crate) tool: Option<&'a ToolName>,
    pub(crate) input: InputArgs<'a>,
    /// Only cases whose name fits.
    pub(crate) pattern: Option<&'a str>,
    pub(crate) timeout: Option<Duration>,
    /// Variables to copy from the caller's environment.
    pub(crate) variables: &'a [String],
    /// Put the process through every [`Scenario`] with the first case that can serve, instead of running the cases.
    pub(crate) torture: bool,
    /// Only lists what would run: no value is missed.
    pub(crate) lists: bool,
}

/// A run that could start now.
pub(crate) struct TestPlan {
    pub(crate) package: Arc<Prepared>,
    /// The folder that was named, or the installed tree.
    pub(crate) path: PathBuf,
    pub(crate) cases: Vec<PlannedCase>,
    pub(crate) timeout: Duration,
    /// What must live as long as the run: a folder's copy, its data.
    _kept: Option<Box<dyn std::any::Any + Send + Sync>>,
}

pub(crate) struct PlannedCase {
    pub(crate) case: Case,
    pub(crate) tool: Arc<PreparedTool>,
    pub(crate) launch: Arc<Launch>,
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum PlanError {
    #[error("there is nothing to test")]
    #[diagnostic(
        code(spark::test::no_cases),
        help("write tests/NAME.case.json with {{\"tool\": …, \"input\": …}}, or name one call with --tool and --input")
    )]
    NoCases,
    #[error("no case is called like `{pattern}`")]
    #[diagnostic(code(spark::test::no_such_case))]
    NoSuchCase {
        pattern: String,
        #[help]
        help: String,
    },
    #[error("an input needs a tool")]
    #[diagnostic(code(spark::test::input_without_tool), help("name the tool with --tool"))]
    InputWithoutTool,
}

impl Failing for PlanError {
    fn class(&self) -> Class {
        match self {
            Self::NoCases | Self::NoSuchCase { .. } | Self::InputWithoutTool => Class::Usage,
        }
    }
}

/// Reads everything that a run needs. Nothing is started, and a missing value is found before any case runs.
pub(crate) fn plan(settings: &Settings, store: &Store, request: &TestRequest<'_>) -> Result<TestPlan, Failure> {
    let opened = open(settings, store, request.target)?;
    let manifest = &opened.package.manifest;
    let cases = cases(&opened, request)?;
    let caller = values::from_caller(&manifest.environment, request.variables, |name| {
        settings.environment.get(name).and_then(|value| value.to_str()).map(str::to_owned)
    })?;
    make_data_folder(&opened.package.data_directory)?;
    let mut planned =
        cases.into_iter().map(|case| plan_case(&opened, case, &caller, request.lists)).collect::<Result<Vec<_>, Failure>>()?;
    if request.torture {
        planned = torture::scenarios(&planned)?;
    }
    Ok(TestPlan {
        package: opened.package,
        path: opened.path,
        cases: planned,
        timeout: request.timeout.unwrap_or(CALL_WAIT),
        _kept: opened.kept,
    })
}

/// Returns the input schema of a tool.
pub(super) fn input_schema(settings: &Settings, store: &Store, request: &TestRequest<'_>, tool: &ToolName) -> Result<Value, Failure> {
    let opened = open(settings, store, request.target)?;
    Ok(find_tool(&opened.package, tool)?.definition.input_schema.clone())
}

fn open(settings: &Settings, store: &Store, target: &Target) -> Result<Opened, Failure> {
    let path_value = settings.environment.get("PATH").unwrap_or_default();
    match target {
        Target::Folder(path) => open_folder(store, path, path_value),
        Target::Installed(id, version) => {
            let installed = open_package(store, id, version.as_ref(), Gate::Installed, path_value)?;
            let path = installed.package.root.clone();
            Ok(Opened { package: Arc::clone(&installed.package), path, installed: Some(installed), kept: None })
        }
    }
}

/// A package to be tested.
pub(super) struct Opened {
    pub(super) package: Arc<Prepared>,
    pub(super) path: PathBuf,
    /// The installed package of that id, whose values serve if nothing stronger gives one.
    pub(super) installed: Option<Installed>,
    pub(super) kept: Option<Box<dyn std::any::Any + Send + Sync>>,
}

fn cases(opened: &Opened, request: &TestRequest<'_>) -> Result<Vec<Case>, Failure> {
    let manifest = &opened.package.manifest;
    if let Some(name) = request.tool {
        let tool = find_tool(&opened.package, name)?;
        let case = Case {
            name: name.to_string(),
            source: CaseSource::Flags,
            tool: name.clone(),
            input: assemble(request.input, &tool.definition.input_schema)?,
            environment: Vec::new(),
            expectation: Expectation { demand: None, max_bytes: None },
        };
        return Ok(vec![case]);
    }
    if !request.input.is_empty() {
        return Err(PlanError::InputWithoutTool.into());
    }
    let all = collect(&opened.path, manifest)?;
    if all.is_empty() {
        return Err(PlanError::NoCases.into());
    }
    let Some(pattern) = request.pattern else { return Ok(all) };
    let names: Vec<String> = all.iter().take(10).map(|case| visible(&case.name).into_owned()).collect();
    let picked: Vec<Case> = all.into_iter().filter(|case| fits(pattern, &case.name)).collect();
    if picked.is_empty() {
        let help = format!("there are {}; `*` stands for any characters", names.join(", "));
        return Err(PlanError::NoSuchCase { pattern: visible(pattern).into_owned(), help }.into());
    }
    Ok(picked)
}

fn plan_case(opened: &Opened, case: Case, caller: &Layer, lists: bool) -> Result<PlannedCase, Failure> {
    let manifest = &opened.package.manifest;
    let tool = find_tool(&opened.package, &case.tool)?;
    values::from_case(&manifest.environment, &case.environment, "a case file")?;
    let installed = opened.installed.as_ref().map_or_else(Default::default, |installed| config_layers(installed, &case.tool));
    let layers = [&installed[0], &installed[1], caller, &case.environment];
    let resolved = values::resolve(&manifest.environment, &layers, |missing| {
        format!("hand it over from your environment with `-e {}`", missing.first().map_or("NAME", VariableName::as_str))
    });
    let resolved = match resolved {
        // Nothing is started, so nothing is missed.
        Err(_) if lists => Resolved::default(),
        resolved => resolved?,
    };
    let launch = launch_of(&opened.package, &resolved)?;
    Ok(PlannedCase { case, tool, launch })
}

impl TestPlan {
    /// Asks once for all cases.
    pub(crate) fn question(&self) -> Question {
        let manifest = &self.package.manifest;
        let mut lines = Powers { manifest, program: self.package.program.as_deref(), root: &self.package.root }.lines();
        let given: BTreeSet<&VariableName> =
            self.cases.iter().flat_map(|planned| planned.launch.variables.iter().map(|(name, _)| name)).collect();
        lines.push(row("is given", &names(&given.into_iter().cloned().collect::<Vec<_>>())));
        let mut tools: Vec<&ToolName> = self.cases.iter().map(|planned| &planned.case.tool).collect();
        tools.sort();
        tools.dedup();
        for name in tools {
            let cases = self.cases.iter().filter(|planned| planned.case.tool == *name);
            let number = cases.clone().count();
            if let Some(planned) = cases.clone().next() {
                let what = match planned.case.source {
                    CaseSource::Torture(_) => "several calls with the same input".to_owned(),
                    _ => count(number as u64, "call"),
                };
                lines.push(format!("{} ({what})", tool_line(&planned.tool.definition)));
            }
        }
        let scenarios: Vec<&str> = self.cases.iter().filter_map(|planned| planned.case.scenario()).map(Scenario::as_str).collect();
        if !scenarios.is_empty() {
            lines.push(row("scenarios", &scenarios.join(", ")));
        }
        Question {
            screen: lines.join("\n"),
            prompt: format!("Run {} of {}?", count(self.cases.len() as u64, "case"), manifest.id),
            subject: format!("the test of {}", manifest.id),
            flag: "--yes",
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
