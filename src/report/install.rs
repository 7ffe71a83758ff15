//! Packages looked at, installed, removed.

use std::fmt::Write as _;

use serde::Serialize;

use super::finding::{FindingWire, human as finding_text};
use super::packages::{PermissionWire, ProvenanceWire, ToolWire, permission_wires, tool_wire};
use super::{Look, OutputError, Progress, Reporter};
use crate::base::text::{count, visible};
use crate::manifest::Severity;
use crate::ops::inspect::{Asked, Inspected, asks_for};
use crate::ops::install::{InstallWatch, InstalledPackage, Step};
use crate::ops::remove::UninstalledPackage;
use crate::tool::{PackageId, Version};

#[derive(Serialize)]
struct InspectedWire<'a> {
    id: &'a str,
    version: &'a str,
    name: &'a str,
    adapter: &'static str,
    digest: String,
    files: u64,
    bytes: u64,
    command: Option<CommandWire<'a>>,
    tools: Vec<ToolWire<'a>>,
    permissions: Vec<AskedWire<'a>>,
    environment: Vec<DeclaredWire<'a>>,
    findings: Vec<FindingWire<'a>>,
}

#[derive(Serialize)]
struct CommandWire<'a> {
    argv: &'a [String],
    resolved: Option<String>,
}

#[derive(Serialize)]
struct AskedWire<'a> {
    kind: &'static str,
    name: &'a str,
    required: bool,
}

#[derive(Serialize)]
struct DeclaredWire<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    secret: bool,
    required: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InstalledWire<'a> {
    id: &'a str,
    version: &'a str,
    digest: String,
    source: &'static str,
    provenance: ProvenanceWire<'a>,
    already_installed: bool,
    state: &'static str,
    enabled_version: Option<&'a str>,
    permissions: Vec<PermissionWire<'a>>,
    pending: Vec<&'a str>,
    next: &'a [String],
}

#[derive(Serialize)]
struct RemovedWire<'a> {
    id: &'a str,
    version: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UninstalledWire<'a> {
    id: &'a str,
    removed_versions: Vec<&'a str>,
    removed_secrets: u64,
    removed_managed_project: bool,
    leftovers: Vec<LeftoverWire<'a>>,
}

#[derive(Serialize)]
struct LeftoverWire<'a> {
    what: &'a str,
    why: &'a str,
}

impl Reporter {
    /// Answers with what a package is.
    pub(crate) fn inspected(&self, inspected: &Inspected) -> Result<(), OutputError> {
        let manifest = &inspected.manifest;
        let asked = asks_for(manifest);
        let wire = InspectedWire {
            id: manifest.id.as_str(),
            version: manifest.version.as_str(),
            name: &manifest.name,
            adapter: manifest.runtime.adapter(),
            digest: inspected.digest.to_string(),
            files: inspected.files,
            bytes: inspected.bytes,
            command: inspected.entry.as_ref().map(|entry| CommandWire {
                argv: &entry.argv,
                resolved: entry.program.as_ref().map(|program| program.to_string_lossy().into_owned()),
            }),
            tools: manifest.tools.iter().zip(&inspected.served_names).map(|(tool, served)| tool_wire(tool, served)).collect(),
            permissions: asked
                .iter()
                .map(|asked| AskedWire { kind: asked.kind.as_str(), name: &asked.name, required: asked.required })
                .collect(),
            environment: manifest
                .environment
                .iter()
                .map(|variable| DeclaredWire {
                    name: variable.name.as_str(),
                    kind: variable.kind.as_str(),
                    secret: variable.secret,
                    required: variable.required,
                })
                .collect(),
            findings: inspected.findings.iter().map(FindingWire::from).collect(),
        };
        self.answer(true, &wire, |look| inspected_text(inspected, &asked, look))
    }

    /// Answers with what is installed now.
    pub(crate) fn installed(&self, done: &InstalledPackage) -> Result<(), OutputError> {
        let wire = InstalledWire {
            id: done.package.id.as_str(),
            version: done.version.version.as_str(),
            digest: done.version.digest.to_string(),
            source: done.version.source.as_str(),
            provenance: ProvenanceWire {
                url: done.version.provenance.url.as_deref(),
                reference: done.version.provenance.reference.as_deref(),
                commit: done.version.provenance.commit.as_deref(),
                subdirectory: done.version.provenance.subdirectory.as_deref(),
            },
            already_installed: done.already_installed,
            state: done.package.state(),
            enabled_version: done.package.enabled.as_ref().map(Version::as_str),
            permissions: permission_wires(&done.permissions),
            pending: done.pending().collect(),
            next: &done.next,
        };
        self.answer(true, &wire, |_| installed_text(done))
    }

    /// Answers that a version is gone.
    pub(crate) fn removed(&self, id: &PackageId, version: &Version) -> Result<(), OutputError> {
        self.answer(true, &RemovedWire { id: id.as_str(), version: version.as_str() }, |_| format!("{id} {version} is removed\n"))
    }

    /// Answers that a package is gone.
    pub(crate) fn uninstalled(&self, done: &UninstalledPackage) -> Result<(), OutputError> {
        let wire = UninstalledWire {
            id: done.id.as_str(),
            removed_versions: done.versions.iter().map(Version::as_str).collect(),
            removed_secrets: 0,
            removed_managed_project: false,
            leftovers: done.leftovers.iter().map(|leftover| LeftoverWire { what: &leftover.what, why: &leftover.why }).collect(),
        };
        self.answer(true, &wire, |_| {
            let mut text = format!("{} is uninstalled: {}\n", done.id, wire.removed_versions.join(", "));
            for leftover in &done.leftovers {
                writeln!(text, "left: {} ({})", visible(&leftover.what), visible(&leftover.why)).expect("a String takes any text");
            }
            text
        })
    }
}

fn inspected_text(inspected: &Inspected, asked: &[Asked], look: Look) -> String {
    let manifest = &inspected.manifest;
    let mut text = format!("{} {} ({})\n", manifest.id, manifest.version, visible(&manifest.name));
    let mut line = |label: &str, value: &str| writeln!(text, "  {:<13}{value}", format!("{label}:")).expect("a String takes any text");
    line("digest", &inspected.digest.to_string());
    if inspected.is_verified {
        line("verified", "every file is as it was installed");
    }
    line("size", &format!("{}, {} bytes", count(inspected.files, "file"), inspected.bytes));
    line("adapter", manifest.runtime.adapter());
    if let Some(entry) = &inspected.entry {
        line("runs", &visible(&entry.argv.join(" ")));
        let program = entry.program.as_ref().map_or_else(|| "not found on this machine".into(), |program| program.to_string_lossy());
        line("program", &visible(&program));
    }
    for asked in asked {
        line("asks for", &format!("{}{}", visible(&asked.name), if asked.required { "" } else { " (optional)" }));
    }
    for variable in &manifest.environment {
        let words = [(variable.secret, "secret"), (variable.required, "required")];
        let words: Vec<&str> = words.into_iter().filter_map(|(is_so, word)| is_so.then_some(word)).collect();
        line("variable", &format!("{} {} {}", variable.name, variable.kind.as_str(), words.join(" ")));
    }
    for (tool, served) in manifest.tools.iter().zip(&inspected.served_names) {
        line("tool", &format!("{} (served as {served}): {}, {}", tool.name, tool.safety.risk, visible(&tool.title)));
    }
    for finding in &inspected.findings {
        if finding.severity != Severity::Error {
            text.push_str(&finding_text(finding, "spark-tool.json", b"", look));
        }
    }
    text
}

fn installed_text(done: &InstalledPackage) -> String {
    let word = if done.already_installed { "is installed already" } else { "is installed" };
    let state = if done.package.enabled.as_ref() == Some(&done.version.version) { "enabled" } else { "disabled" };
    let mut text = format!("{} {} {word}, {state}\n", done.package.id, done.version.version);
    let pending: Vec<&str> = done.pending().collect();
    if !pending.is_empty() {
        writeln!(text, "  it asks for {}", visible(&pending.join(", "))).expect("a String takes any text");
    }
    for command in &done.next {
        writeln!(text, "  next: {}", visible(command)).expect("a String takes any text");
    }
    text
}

/// A bar over the files that an install copies.
pub(crate) struct InstallProgress {
    reporter: Reporter,
    bar: Option<Progress>,
}

impl InstallProgress {
    pub(crate) fn new(reporter: &Reporter) -> Self {
        Self { reporter: reporter.clone(), bar: None }
    }
}

impl InstallWatch for InstallProgress {
    fn waiting(&self) {
        self.reporter.hint("another spark-tool is changing installed packages; waiting for it");
    }

    fn step(&mut self, step: Step) {
        if let Step::Copied { files, of } = step {
            let reporter = &self.reporter;
            self.bar.get_or_insert_with(|| Progress::begin(reporter, "copying", Some(of))).set(files, None);
        }
    }
}
