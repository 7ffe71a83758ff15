//! What is installed: all of it in short, one package in full.

use std::path::PathBuf;

use super::gates::{Gate, Gated};
use super::lookup::{self, find, manifest_of};
use super::{Settings, variables};
use crate::base::failure::Failure;
use crate::store::{Access, Store};
use crate::tool::{PackageId, Permission, ToolDefinition, Version, hashed_served_name, plain_served_name};

pub(crate) use super::variables::VariableStatus;
pub(crate) use crate::store::{BrokenPackage, InstalledVersion, Package};

/// One package in full, at one of its versions.
#[derive(Debug)]
pub(crate) struct PackageDetail {
    pub(crate) package: Package,
    pub(crate) installed: InstalledVersion,
    pub(crate) install_path: PathBuf,
    pub(crate) permissions: Vec<Permission>,
    /// `Err` says why the stored manifest can't be used by this release; it holds this package alone.
    pub(crate) content: Result<Content, String>,
}

/// What a manifest says, beside what this machine says to it.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) environment: Vec<VariableStatus>,
    pub(crate) gates: Vec<Gate>,
    /// Each tool with the name it is served under.
    pub(crate) tools: Vec<(ToolDefinition, String)>,
}

/// Returns every package, each for itself: one that can't be read hides no other.
pub(crate) fn list(settings: &Settings) -> Result<Vec<Result<Package, BrokenPackage>>, Failure> {
    Ok(Store::open(settings.home()?, Access::Read)?.packages()?)
}

/// Returns one package: the version named, else the enabled one, else the newest.
pub(crate) fn show(settings: &Settings, id: &PackageId, version: Option<&Version>) -> Result<PackageDetail, Failure> {
    let store = Store::open(settings.home()?, Access::Read)?;
    let (package, installed) = find(&store, id, version, lookup::Meant::Current)?;
    let permissions = store.permissions(id, &installed.version)?;
    let content = match manifest_of(&installed) {
        Err(error) => Err(error.to_string()),
        Ok(manifest) => {
            let config = store.config(id)?;
            let asked =
                Gated { package: &package, manifest: &manifest, origin: &installed.origin, permissions: &permissions, config: &config };
            let gates = asked.gates();
            let served = store.served_names(id)?;
            let tools = manifest.tools.iter().map(|tool| (tool.clone(), served_name(id, tool, &served))).collect();
            let environment = variables::status(&manifest, &installed.origin, &config, None);
            Ok(Content { environment, gates, tools })
        }
    };
    let install_path = store.layout().version(id.as_str(), installed.version.as_str());
    Ok(PackageDetail { package, installed, install_path, permissions, content })
}

/// Returns the name a tool has, or would have if it were enabled now.
pub(crate) fn served_name(id: &PackageId, tool: &ToolDefinition, served: &[(crate::tool::ToolName, String)]) -> String {
    let known = served.iter().find(|(name, _)| *name == tool.name).map(|(_, served)| served.clone());
    known.unwrap_or_else(|| match plain_served_name(id.as_str(), tool.name.as_str()) {
        (plain, true) => plain,
        (_, false) => hashed_served_name(id.as_str(), tool.name.as_str()),
    })
}
