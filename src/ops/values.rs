//! Which value each declared variable has for one call, from layers of values.

use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

use crate::base::failure::{Class, Failing};
use crate::base::redacted::Redacted;
use crate::base::text;
use crate::tool::{Variable, VariableName};

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum ValuesError {
    #[error("{} without a value: {}", text::count(.names.len() as u64, "required variable"), text::listed(.names.iter().map(VariableName::as_str)))]
    #[diagnostic(code(spark::env::missing))]
    Missing {
        names: Vec<VariableName>,
        #[help]
        help: String,
    },
    #[error("`{name}` is not a variable that the package declares")]
    #[diagnostic(code(spark::env::undeclared))]
    Undeclared {
        name: String,
        #[help]
        help: Option<String>,
    },
    #[error("the value of `{name}` {reason}")]
    #[diagnostic(code(spark::env::unusable), help("see what the variable takes with `spark-tool inspect`"))]
    Unusable { name: VariableName, reason: String },
    #[error("`{name}` is a secret, and {place} is no place for one")]
    #[diagnostic(code(spark::env::secret_in_the_open), help("hand it over from your own environment with `-e {name}`"))]
    SecretInTheOpen { name: VariableName, place: String },
    #[error("`{name}` is not set in this environment")]
    #[diagnostic(code(spark::env::not_set), help("set it before the command: {name}=… spark-tool …"))]
    NotSet { name: VariableName },
}

impl Failing for ValuesError {
    fn class(&self) -> Class {
        match self {
            Self::Missing { .. } | Self::NotSet { .. } => Class::NotAllowed,
            Self::Undeclared { .. } | Self::Unusable { .. } | Self::SecretInTheOpen { .. } => Class::Unusable,
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::Missing { names, .. } => json!({ "names": names }),
            Self::Undeclared { name, .. } => json!({ "names": [name] }),
            Self::Unusable { name, .. } | Self::SecretInTheOpen { name, .. } | Self::NotSet { name } => json!({ "names": [name] }),
        }
    }
}

/// Values by name, as one place gives them.
pub(crate) type Layer = Vec<(VariableName, Value)>;

/// What a child is given: text for every variable that has a value, and which texts are secrets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resolved {
    pub(crate) variables: Vec<(VariableName, Redacted<String>)>,
    pub(crate) secrets: Vec<Redacted<String>>,
}

/// Picks a value for each variable: the last layer that has a usable one, else the declared default (design §4,
/// required variables). `help` says how a missing one would be given.
pub(crate) fn resolve(
    declared: &[Variable],
    layers: &[&Layer],
    help: impl FnOnce(&[VariableName]) -> String,
) -> Result<Resolved, ValuesError> {
    let mut resolved = Resolved::default();
    let mut missing = Vec::new();
    for variable in declared {
        let given = layers.iter().rev().flat_map(|layer| layer.iter().filter(|(name, _)| *name == variable.name));
        let usable = given.map(|(_, value)| value).find(|value| variable.check(value).is_ok()).or(variable.default.as_ref());
        match usable {
            Some(value) => {
                let text = Redacted::new(variable.to_environment(value));
                if variable.secret {
                    resolved.secrets.push(text.clone());
                }
                resolved.variables.push((variable.name.clone(), text));
            }
            None if variable.required => missing.push(variable.name.clone()),
            None => {}
        }
    }
    if missing.is_empty() {
        return Ok(resolved);
    }
    let help = help(&missing);
    Err(ValuesError::Missing { names: missing, help })
}

/// Checks the plain values that a case file gives.
pub(crate) fn from_case(declared: &[Variable], given: &Layer, place: &str) -> Result<(), ValuesError> {
    for (name, value) in given {
        let variable = find(declared, name.as_str())?;
        if variable.secret {
            return Err(ValuesError::SecretInTheOpen { name: name.clone(), place: place.to_owned() });
        }
        variable.check(value).map_err(|fault| ValuesError::Unusable { name: name.clone(), reason: fault.to_string() })?;
    }
    Ok(())
}

/// Reads the variables named by `-e` from the caller's environment.
pub(crate) fn from_caller(declared: &[Variable], names: &[String], read: impl Fn(&str) -> Option<String>) -> Result<Layer, ValuesError> {
    names
        .iter()
        .map(|name| {
            let variable = find(declared, name)?;
            let text = read(name).ok_or_else(|| ValuesError::NotSet { name: variable.name.clone() })?;
            let value = variable
                .parse_text(&text)
                .map_err(|fault| ValuesError::Unusable { name: variable.name.clone(), reason: fault.to_string() })?;
            Ok((variable.name.clone(), value))
        })
        .collect()
}

/// Finds a declared variable, or says which is nearest.
pub(crate) fn find<'a>(declared: &'a [Variable], name: &str) -> Result<&'a Variable, ValuesError> {
    declared.iter().find(|variable| variable.name.as_str() == name).ok_or_else(|| {
        let names = || declared.iter().map(|variable| variable.name.as_str());
        let help = match text::nearest(name, names()) {
            Some(nearest) => Some(format!("did you mean `{nearest}`?")),
            None if declared.is_empty() => Some("the package declares no variables".to_owned()),
            None => Some(format!("it declares {}", text::listed(names()))),
        };
        ValuesError::Undeclared { name: text::visible(name).into_owned(), help }
    })
}
