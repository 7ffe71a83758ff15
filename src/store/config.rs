//! Values that a person gave a package (lifecycle §7). A secret is here only as a reference into a keystore.

use rusqlite::{Row, named_params};
use serde_json::Value;

use super::convert::{column, parsed};
use super::open::Durability;
use super::{Store, StoreError};
use crate::base::clock::Timestamp;
use crate::base::json;
use crate::tool::{Origin, PackageId, Scope, ToolName, VariableName};

/// Where a value applies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    Package,
    Tool(ToolName),
    /// A project, agent, workflow or session, by its id.
    Within(Scope, String),
}

impl Target {
    pub(crate) fn scope(&self) -> Scope {
        match self {
            Self::Package => Scope::Package,
            Self::Tool(_) => Scope::Tool,
            Self::Within(scope, _) => *scope,
        }
    }

    pub(crate) fn scope_id(&self) -> Option<&str> {
        match self {
            Self::Within(_, id) => Some(id),
            Self::Package | Self::Tool(_) => None,
        }
    }

    pub(crate) fn tool(&self) -> Option<&ToolName> {
        match self {
            Self::Tool(tool) => Some(tool),
            Self::Package | Self::Within(..) => None,
        }
    }
}

/// What is kept for a variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Setting {
    Plain(Value),
    /// The secret's name in the keystore.
    Keystore(String),
}

/// One value of a package.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ConfigEntry {
    pub(crate) name: VariableName,
    pub(crate) target: Target,
    pub(crate) setting: Setting,
    /// Of the package when the value was given. It is handed to no code of another origin (design §4).
    pub(crate) origin: Origin,
    pub(crate) updated_at: Timestamp,
}

impl Store {
    /// Returns all values of a package, by scope, then by name.
    pub(crate) fn config(&self, id: &PackageId) -> Result<Vec<ConfigEntry>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT scope, scope_id, tool_name, name, value, keystore_ref, origin, updated_at FROM tool_package_config \
                 WHERE package_id = ?1 ORDER BY scope, scope_id, tool_name, name",
            )?;
            let mut entries: Vec<ConfigEntry> = statement.query_map([id.as_str()], read)?.collect::<rusqlite::Result<_>>()?;
            entries.sort_by_key(|entry| entry.target.scope());
            Ok(entries)
        })
    }

    /// Sets values for one target, all or none.
    pub(crate) fn set_config(
        &mut self,
        id: &PackageId,
        target: &Target,
        settings: &[(VariableName, Setting)],
        origin: &Origin,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(Durability::Power, |transaction| {
            let mut statement = transaction.prepare_cached(
                "INSERT INTO tool_package_config (package_id, scope, scope_id, tool_name, name, secret, value, keystore_ref, origin, updated_at) \
                 VALUES (:id, :scope, :scope_id, :tool, :name, :secret, :value, :keystore, :origin, :at) \
                 ON CONFLICT DO UPDATE SET secret = :secret, value = :value, keystore_ref = :keystore, origin = :origin, updated_at = :at",
            )?;
            for (name, setting) in settings {
                let (value, keystore) = match setting {
                    Setting::Plain(value) => (Some(value.to_string()), None),
                    Setting::Keystore(reference) => (None, Some(reference)),
                };
                statement.execute(named_params! {
                    ":id": id.as_str(),
                    ":scope": target.scope().as_str(),
                    ":scope_id": target.scope_id().unwrap_or(""),
                    ":tool": target.tool().map_or("", ToolName::as_str),
                    ":name": name.as_str(),
                    ":secret": keystore.is_some(),
                    ":value": value,
                    ":keystore": keystore,
                    ":origin": origin.as_str(),
                    ":at": at.as_millis(),
                })?;
            }
            Ok(())
        })
    }

    /// Removes plain values of one target, and returns the names that had one.
    pub(crate) fn unset_config(
        &mut self,
        id: &PackageId,
        target: &Target,
        names: &[VariableName],
    ) -> Result<Vec<VariableName>, StoreError> {
        self.write(Durability::Power, |transaction| {
            let mut statement = transaction.prepare_cached(
                "DELETE FROM tool_package_config WHERE package_id = ?1 AND scope = ?2 AND scope_id = ?3 AND tool_name = ?4 AND name = ?5 \
                 AND secret = 0",
            )?;
            let scope_id = target.scope_id().unwrap_or("");
            let tool = target.tool().map_or("", ToolName::as_str);
            let mut removed = Vec::new();
            for name in names {
                if statement.execute([id.as_str(), target.scope().as_str(), scope_id, tool, name.as_str()])? == 1 {
                    removed.push(name.clone());
                }
            }
            Ok(removed)
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<ConfigEntry> {
    let scope: Scope = column(row, "scope")?;
    let target = match scope {
        Scope::Package => Target::Package,
        Scope::Tool => Target::Tool(column(row, "tool_name")?),
        Scope::Project | Scope::Agent | Scope::Workflow | Scope::Session => Target::Within(scope, row.get("scope_id")?),
    };
    let setting = match row.get_ref("keystore_ref")?.as_str_or_null()? {
        Some(reference) => Setting::Keystore(reference.to_owned()),
        None => Setting::Plain(parsed::<JsonText>(row, "value", row.get_ref("value")?.as_str()?)?.0),
    };
    Ok(ConfigEntry {
        name: column(row, "name")?,
        target,
        setting,
        origin: Origin::stored(row.get("origin")?),
        updated_at: Timestamp::from_millis(row.get("updated_at")?),
    })
}

/// A JSON text that keeps its numbers as written.
struct JsonText(Value);

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NotJson(String);

impl std::str::FromStr for JsonText {
    type Err = NotJson;

    fn from_str(text: &str) -> Result<Self, NotJson> {
        json::parse(text.as_bytes()).map(Self).map_err(|fault| NotJson(fault.message()))
    }
}
