//! What a process manifest names outside itself: is it there? (manifest §3.2, hardening A-12)
//!
//! These checks need the package's files, so they are not the manifest's own. They look at two values as they are
//! written, so that they find what is wrong beside other errors.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::digest::command_path;
use super::ignore::Ignored;
use crate::base::json::{Kind, Lines, Node, read_tree};
use crate::base::text::{cut, visible};
use crate::child::resolve;
use crate::manifest::{Code, Finding, Severity};

const COMMAND: &str = "/runtime/command";
const WORKING_DIRECTORY: &str = "/runtime/workingDirectory";
/// Of a value in a message, in characters.
const SHOWN: usize = 80;

/// Returns what `manifest`, the text of `root/spark-tool.json`, names and the package or this machine doesn't have.
/// `search_path` is the text of `PATH`. What the manifest's own checks refuse is passed over.
pub(crate) fn check_entry(root: &Path, manifest: &[u8], search_path: &OsStr) -> Vec<Finding> {
    let (Some(tree), _) = read_tree(manifest) else { return Vec::new() };
    if !matches!(tree.at("/runtime/adapter").map(|node| &node.kind), Some(Kind::String(adapter)) if adapter == "process") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut report = |node: &Node, pointer: &str, code, severity, message: String, help: Option<String>| {
        let place = Lines::new(manifest).place(node.span);
        found.push(Finding { code, severity, message, help, pointer: pointer.into(), span: Some(node.span), place: Some(place) });
    };
    if let Some((node, command)) = text(&tree, COMMAND)
        && let Some((code, severity, message, help)) = check_command(root, command, search_path)
    {
        report(node, COMMAND, code, severity, message, help);
    }
    if let Some((node, folder)) = text(&tree, WORKING_DIRECTORY)
        && is_plain(folder)
        && let Err(reason) = find_folder(root, folder)
    {
        let message = format!("the working directory `{}` {reason}", shown(folder));
        report(
            node,
            WORKING_DIRECTORY,
            Code::WorkingDirectoryMissing,
            Severity::Error,
            message,
            Some("make the folder, or leave `workingDirectory` out".into()),
        );
    }
    found
}

fn text<'a>(tree: &'a Node, pointer: &str) -> Option<(&'a Node, &'a str)> {
    let node = tree.at(pointer)?;
    match &node.kind {
        Kind::String(text) => Some((node, text)),
        _ => None,
    }
}

fn shown(text: &str) -> String {
    visible(&cut(text, SHOWN)).into_owned()
}

/// Says whether a relative path is one that the manifest's own checks accept.
fn is_plain(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('/') && !path.contains(['\\', '\0']) && !path.split('/').any(|step| step == "..")
}

type Fault = (Code, Severity, String, Option<String>);

fn check_command(root: &Path, command: &str, search_path: &OsStr) -> Option<Fault> {
    if let Some(path) = command_path(command) {
        if !is_plain(&path) || command.ends_with('/') {
            return None;
        }
        let reason = find_file(root, &path).err()?;
        return Some((
            Code::CommandMissing,
            Severity::Error,
            format!("the command `{}` {reason}", shown(command)),
            Some("name a file of the package by its path from the package's root".into()),
        ));
    }
    if Path::new(command).is_absolute() {
        if Path::new(command).is_file() {
            return None;
        }
        // With blanks it may be a command line; without, another machine may have it.
        let severity = if command.contains(char::is_whitespace) { Severity::Error } else { Severity::Advice };
        return Some((Code::ProgramNotFound, severity, format!("there is no program `{}` on this machine", shown(command)), None));
    }
    if command.is_empty() || command.contains(['/', '\\', '\0']) || command.contains(char::is_whitespace) || matches!(command, "." | "..") {
        return None;
    }
    if resolve(command, search_path).is_some() {
        return None;
    }
    let message = format!("there is no program `{}` in `PATH` on this machine", shown(command));
    Some((Code::ProgramNotFound, Severity::Advice, message, Some("install it, or start from a shell that finds it".into())))
}

/// Returns where a file of the package is, links followed; why there is none.
fn find_file(root: &Path, path: &str) -> Result<PathBuf, String> {
    let place = find(root, path)?;
    if !fs::metadata(&place).is_ok_and(|metadata| metadata.is_file()) {
        return Err("is not a regular file".into());
    }
    if Ignored::read(root, &mut Vec::new()).leaves_out_file(path) {
        return Err("is left out of the package".into());
    }
    Ok(place)
}

fn find_folder(root: &Path, path: &str) -> Result<(), String> {
    let place = find(root, path)?;
    if fs::metadata(&place).is_ok_and(|metadata| metadata.is_dir()) { Ok(()) } else { Err("is not a folder".into()) }
}

fn find(root: &Path, path: &str) -> Result<PathBuf, String> {
    let root = fs::canonicalize(root).map_err(|error| error.to_string())?;
    let place = fs::canonicalize(root.join(path)).map_err(|_| "doesn't exist in the package".to_owned())?;
    if place.starts_with(&root) { Ok(place) } else { Err("is a link that leads out of the package".into()) }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A package with a program, links and a folder.
    fn package() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(root.path().join("bin/deep")).expect("made");
        fs::create_dir(root.path().join("secret")).expect("made");
        for file in ["bin/tool", "bin/with blank", "secret/tool"] {
            fs::write(root.path().join(file), "#!/bin/sh\n").expect("written");
        }
        symlink("bin/tool", root.path().join("link")).expect("linked");
        symlink("/bin/sh", root.path().join("out")).expect("linked");
        symlink("bin", root.path().join("folder")).expect("linked");
        fs::write(root.path().join(".sparkignore"), "secret\n").expect("written");
        root
    }

    fn check(runtime: &str) -> Vec<(Code, Severity)> {
        let root = package();
        let manifest = format!("{{\"runtime\": {{\"adapter\": \"process\", {runtime}}}}}");
        let path = root.path().join("bin");
        check_entry(root.path(), manifest.as_bytes(), path.as_os_str())
            .into_iter()
            .map(|finding| (finding.code, finding.severity))
            .collect()
    }

    // H: A-12
    #[test]
    fn a_command_of_the_package_is_one_of_its_files() {
        let missing = [(Code::CommandMissing, Severity::Error)];
        for (command, expected) in [
            ("./bin/tool", &[][..]),
            ("./bin//./tool", &[]),
            ("./bin/with blank", &[]),
            ("./link", &[]),
            ("./folder/tool", &[]),
            ("./bin", &missing),
            ("./bin/tool2", &missing),
            ("./bin/tool/x", &missing),
            ("./out", &missing),
            ("./secret/tool", &missing),
            // The manifest's own checks refuse these.
            ("./../x", &[]),
            ("./bin/", &[]),
            ("bin/tool", &[]),
            ("bin tool", &[]),
            ("", &[]),
        ] {
            assert_eq!(check(&format!("\"command\": \"{command}\"")), expected, "{command:?}");
        }
    }

    #[test]
    fn a_program_that_this_machine_lacks_is_advice() {
        let advice = [(Code::ProgramNotFound, Severity::Advice)];
        assert_eq!(check("\"command\": \"no-such-program\""), advice);
        assert_eq!(check("\"command\": \"/no/such/program\""), advice);
        assert_eq!(check("\"command\": \"/no/such program\""), [(Code::ProgramNotFound, Severity::Error)]);
        assert_eq!(check("\"command\": \"/bin/sh\""), []);
    }

    #[test]
    fn a_working_directory_is_a_folder_of_the_package() {
        let missing = [(Code::WorkingDirectoryMissing, Severity::Error)];
        for (folder, expected) in [
            ("bin", &[][..]),
            ("bin/deep", &[]),
            ("folder", &[]),
            ("bin/tool", &missing),
            ("nowhere", &missing),
            ("out", &missing),
            ("../x", &[]),
        ] {
            assert_eq!(check(&format!("\"command\": \"./bin/tool\", \"workingDirectory\": \"{folder}\"")), expected, "{folder}");
        }
    }

    #[test]
    fn a_finding_stands_at_its_value() {
        let root = package();
        let manifest = "{\n  \"runtime\": {\"adapter\": \"process\",\n    \"command\": \"./gone\"}}";
        let found = check_entry(root.path(), manifest.as_bytes(), OsStr::new(""));
        let place = found[0].place.expect("it stands in the file");
        assert_eq!((place.line, place.column, place.end_column), (3, 16, 24));
        assert_eq!(found[0].message, "the command `./gone` doesn't exist in the package");
    }
}
