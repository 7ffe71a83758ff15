//! `init`: a package to start from, written whole or not at all.

mod template;
mod write;

use std::io;
use std::path::{Component, Path, PathBuf};

use miette::Diagnostic;
use thiserror::Error;

use template::TEMPLATES;

pub(crate) use template::Template;

use super::{Ask, AskError, Choice, Field, Interrupted, Settings};
use crate::base::failure::{Class, Failing};
use crate::base::text::{hidden_in, listed, nearest, utf16_len};
use crate::tool::{IdError, PackageId};

/// UTF-16 units of a package's name (manifest §2).
const NAME_UNITS: usize = 160;

#[derive(Debug)]
pub(crate) struct InitRequest {
    pub(crate) folder: PathBuf,
    /// What isn't given is asked for, or guessed where there is nobody to ask.
    pub(crate) template: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Initialized {
    /// As it was named.
    pub(crate) path: String,
    pub(crate) template: &'static str,
    pub(crate) id: PackageId,
    /// Inside the folder, in order.
    pub(crate) files: Vec<&'static str>,
    /// Commands to go on with.
    pub(crate) next: Vec<String>,
}

#[derive(Debug, Error, Diagnostic)]
pub(crate) enum InitError {
    #[error("no template is named")]
    #[diagnostic(code(spark::init::no_template), help("name one with --template: {}", template_names()))]
    NoTemplate,
    #[error("there is no template `{name}`")]
    #[diagnostic(code(spark::init::unknown_template), help("{}", unknown_template(name)))]
    UnknownTemplate { name: String },
    #[error("the id `{id}` can't be: it {why}")]
    #[diagnostic(code(spark::init::bad_id), help("ids look like `acme.hello`"))]
    BadId { id: String, why: IdError },
    #[error("the name of the folder makes no package id")]
    #[diagnostic(code(spark::init::no_id), help("give one with --id, such as `acme.hello`"))]
    NoId,
    #[error("the name can't be: {why}")]
    #[diagnostic(code(spark::init::bad_name), help("give another with --name"))]
    BadName { why: String },
    #[error("the folder `{}` is not empty", path.display())]
    #[diagnostic(code(spark::init::not_empty), help("name a folder that is empty or doesn't exist yet"))]
    NotEmpty { path: PathBuf },
    #[error("`{}` is a file", path.display())]
    #[diagnostic(code(spark::init::not_a_folder), help("name a folder that is empty or doesn't exist yet"))]
    NotAFolder { path: PathBuf },
    #[error("cannot write `{}`", path.display())]
    #[diagnostic(code(spark::init::unwritable))]
    Unwritable { path: PathBuf, source: io::Error },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Interrupted(#[from] Interrupted),
}

impl Failing for InitError {
    fn class(&self) -> Class {
        match self {
            Self::NoTemplate | Self::UnknownTemplate { .. } | Self::BadId { .. } | Self::NoId | Self::BadName { .. } => Class::Usage,
            Self::NotEmpty { .. } | Self::NotAFolder { .. } => Class::Conflict,
            Self::Unwritable { .. } => Class::Machine,
            Self::Ask(error) => error.class(),
            Self::Interrupted(interrupted) => interrupted.class(),
        }
    }
}

/// Returns the templates that people are offered.
pub(crate) fn offered() -> impl Iterator<Item = &'static Template> {
    TEMPLATES.iter().filter(|template| template.is_listed)
}

fn template_names() -> String {
    listed(offered().map(|template| template.name))
}

fn unknown_template(name: &str) -> String {
    match nearest(name, offered().map(|template| template.name)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", template_names()),
    }
}

/// Writes a package. Asks for what the request leaves open, if somebody can be asked.
pub(crate) fn init(settings: &Settings, ask: &dyn Ask, request: &InitRequest) -> Result<Initialized, InitError> {
    let template = request.template.as_deref().map(find).transpose()?;
    let id = request.id.as_deref().map(parse_id).transpose()?;
    if let Some(name) = &request.name {
        check_name(name).map_err(|why| InitError::BadName { why })?;
    }
    let folder = settings.resolve(&request.folder);
    let place = write::Place::of(&folder, &request.folder)?;

    let template = match template {
        Some(template) => template,
        None => choose_template(ask)?,
    };
    let id = match id {
        Some(id) => id,
        None => choose_id(ask, &folder)?,
    };
    let name = match &request.name {
        Some(name) => name.clone(),
        None => choose_name(ask, &id)?,
    };
    settings.interrupt.check()?;
    write::package(&place, &template.rendered(&id, &name, &settings.program))?;

    let path = request.folder.display().to_string();
    let next = ["validate", "test"].map(|command| next_command(command, &path)).to_vec();
    Ok(Initialized { path, template: template.name, id, files: template.files.iter().map(|(path, _)| *path).collect(), next })
}

fn next_command(command: &str, path: &str) -> String {
    if path == "." { format!("spark-tool {command}") } else { format!("spark-tool {command} {}", quoted(path)) }
}

/// Returns a path as a person can paste it into a shell.
fn quoted(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '\\' | ':'));
    if is_plain { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

fn find(name: &str) -> Result<&'static Template, InitError> {
    TEMPLATES.iter().find(|template| template.name == name).ok_or_else(|| InitError::UnknownTemplate { name: name.to_owned() })
}

fn parse_id(text: &str) -> Result<PackageId, InitError> {
    text.parse().map_err(|why| InitError::BadId { id: text.to_owned(), why })
}

fn check_name(name: &str) -> Result<(), String> {
    if !hidden_in(name).is_empty() || name.contains(['\n', '\r', '\t']) {
        return Err("it holds a character that can't be seen".to_owned());
    }
    match utf16_len(name) {
        0 => Err("it is empty".to_owned()),
        units if units > NAME_UNITS => Err(format!("it has {units} characters, allowed are {NAME_UNITS}")),
        _ => Ok(()),
    }
}

fn choose_template(ask: &dyn Ask) -> Result<&'static Template, InitError> {
    if ask.unable().is_some() {
        return Err(InitError::NoTemplate);
    }
    let choices: Vec<Choice> =
        TEMPLATES.iter().map(|template| Choice { name: template.name.to_owned(), description: template.description.to_owned() }).collect();
    Ok(&TEMPLATES[ask.choose("Template", &choices)?])
}

fn choose_id(ask: &dyn Ask, folder: &Path) -> Result<PackageId, InitError> {
    let guess = guess_id(folder);
    if ask.unable().is_some() {
        return guess.ok_or(InitError::NoId);
    }
    let check = |text: &str| text.parse::<PackageId>().map(drop).map_err(|why| format!("it {why}"));
    let help = Some("The package's id, unique wherever it is used, such as acme.hello".to_owned());
    let text = ask.text(&Field { label: "Id".to_owned(), help, default: guess.map(String::from), check: &check })?;
    parse_id(&text)
}

/// Makes an id of the folder's name: `My Tool` gives `my-tool`.
fn guess_id(folder: &Path) -> Option<PackageId> {
    let last = folder.components().rev().find_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
        _ => None,
    })?;
    let plain: String = last.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' }).collect();
    plain.trim_matches(['.', '_', '-']).parse().ok()
}

fn choose_name(ask: &dyn Ask, id: &PackageId) -> Result<String, InitError> {
    let guess = guess_name(id);
    if ask.unable().is_some() {
        return Ok(guess);
    }
    let help = Some("The name that people read".to_owned());
    let text = ask.text(&Field { label: "Name".to_owned(), help, default: Some(guess), check: &check_name })?;
    Ok(text)
}

/// Makes a name of the id's last part: `acme.say-hello` gives `Say hello`.
fn guess_name(id: &PackageId) -> String {
    let last = id.as_str().rsplit('.').next().unwrap_or_default();
    let words = last.split(['-', '_']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let mut chars = words.chars();
    chars.next().map_or_else(|| id.as_str().to_owned(), |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_guessed_from_the_folder_where_its_name_allows() {
        let guess = |folder: &str| guess_id(Path::new(folder)).map(String::from);
        assert_eq!(guess("/home/me/hello").as_deref(), Some("hello"));
        assert_eq!(guess("/home/me/My Tool!").as_deref(), Some("my-tool"));
        assert_eq!(guess("/home/me/acme.hello/.").as_deref(), Some("acme.hello"));
        assert_eq!([guess("/"), guess("/a"), guess("/con"), guess("/日本")], [const { None }; 4]);
    }

    #[test]
    fn a_name_is_guessed_from_the_id() {
        let guess = |id: &str| guess_name(&id.parse().expect("an id"));
        assert_eq!([guess("acme.say-hello"), guess("hello"), guess("acme.--")], ["Say hello", "Hello", "acme.--"]);
    }

    // H: D-2, D-3
    #[test]
    fn a_name_has_nothing_hidden_in_it() {
        assert!(check_name("Grüße 👩\u{200d}🔬").is_ok());
        for bad in ["", "a\u{202e}b", "a\nb", "a\u{e0041}", &"a".repeat(161)] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_next_step_can_be_pasted() {
        assert_eq!(next_command("test", "my tool's"), r"spark-tool test 'my tool'\''s'");
        assert_eq!(next_command("test", "."), "spark-tool test");
    }
}
