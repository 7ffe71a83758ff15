//! What may start a process, and paths inside a package (manifest §3, §3.1; hardening A-12). What needs the files is
//! checked by inspection.

use std::fmt::Display;

use crate::base::text::{listed, utf16_len};

use super::Code;
use super::collect::{Draft, shown};

/// Checks a `command`: one program, found the same way on every machine.
pub(super) fn check(text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    if text.contains('\0') {
        report(Draft::error(Code::CommandUnusable, format!("{name} holds a NUL, which no program's name has")));
    }
    if let Some(inside) = text.strip_prefix("./") {
        check_inside(inside, name, report);
    } else if is_absolute(text) {
        report(
            Draft::warning(Code::CommandNotPortable, format!("{name} is an absolute path, which other machines may not have"))
                .help("bring the program along as `./…`, or name it without its folder so that it is looked up in `PATH`"),
        );
    } else if text.contains(char::is_whitespace) {
        report(
            Draft::error(Code::CommandWithBlanks, format!("{name} holds blanks; it is one program, without arguments"))
                .help_if(split(text)),
        );
    } else if text.contains(['/', '\\']) || matches!(text, "." | "..") {
        check_relative(text, name, report);
    }
}

fn check_inside(inside: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    if has_parent_step(inside) {
        report(
            Draft::error(Code::CommandNotInPackage, format!("{name} has a `..` in its path"))
                .help("name the file by its path from the package's root, without `..`"),
        );
    } else if inside.split('/').all(|step| matches!(step, "" | ".")) || inside.ends_with('/') {
        report(Draft::error(Code::CommandUnusable, format!("{name} names a folder, not a file")));
    }
}

fn check_relative(text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    if text == "." {
        report(Draft::error(Code::CommandUnusable, format!("{name} names a folder, not a file")));
        return;
    }
    let (message, help) = if has_parent_step(text) {
        (
            format!("{name} leaves the package with `..`"),
            "a package brings its own programs: put the file into it and write `./…`".to_owned(),
        )
    } else {
        let path = text.replace('\\', "/");
        (format!("{name} is a relative path that doesn't start with `./`"), format!("write `./{}`", shown(path.trim_start_matches("./"))))
    };
    report(Draft::error(Code::CommandNotInPackage, message).help(help));
}

/// Says whether the path is the same from every folder, on any system.
pub(super) fn is_absolute(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.starts_with('/')
        || text.starts_with("\\\\")
        || (bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/'))
}

fn has_parent_step(path: &str) -> bool {
    path.split(['/', '\\']).any(|step| step == "..")
}

/// Returns how a command line is written as a command and its arguments.
fn split(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let program = words.next()?;
    let rest: Vec<&str> = words.collect();
    if rest.is_empty() {
        return Some(format!("write `{}`", shown(program)));
    }
    // A quote means that splitting at blanks isn't what a shell would do.
    if text.contains(['"', '\'', '\\', '$']) || utf16_len(text) > 120 {
        return Some("put the arguments into `args`".to_owned());
    }
    let arguments: Vec<String> = rest.iter().map(|word| format!("\"{word}\"")).collect();
    Some(format!("write \"command\": \"{program}\", \"args\": [{}]", arguments.join(", ")))
}

/// Checks a path inside the package (manifest §3.1).
pub(super) fn check_relative_path(text: &str, name: &dyn Display, report: &mut dyn FnMut(Draft)) {
    let fault = if text.starts_with('/') || is_absolute(text) {
        Some(("is absolute", "write it from the package's root, without a `/` in front"))
    } else if text.contains('\\') {
        Some(("holds a `\\`", "separate folders with `/`"))
    } else if text == "." {
        Some(("is `.`", "leave it out: without it the package's own folder is taken"))
    } else if has_parent_step(text) {
        Some(("leaves the package with `..`", "name a folder inside the package"))
    } else if text.contains('\0') {
        Some(("holds a NUL", "no folder is called that"))
    } else {
        None
    };
    if let Some((what, help)) = fault {
        let allowed = listed(["src", "src/tool"]);
        report(Draft::error(Code::BadPath, format!("{name} {what}")).help(format!("{help}; good ones look like {allowed}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Severity;

    fn check_one(text: &str) -> Vec<(Code, Severity)> {
        let mut found = Vec::new();
        check(text, &"`command`", &mut |draft| found.push((draft.code, draft.severity)));
        found
    }

    // H: A-12
    #[test]
    fn an_entry_point_is_a_file_of_the_package_or_a_bare_name() {
        let error = |code| vec![(code, Severity::Error)];
        for (text, expected) in [
            ("./bin/hello", vec![]),
            ("./a b", vec![]),
            ("python3", vec![]),
            ("node.exe", vec![]),
            ("../../bin/x", error(Code::CommandNotInPackage)),
            ("bin/x", error(Code::CommandNotInPackage)),
            ("bin\\x", error(Code::CommandNotInPackage)),
            ("./a/../../b", error(Code::CommandNotInPackage)),
            ("./..", error(Code::CommandNotInPackage)),
            ("..", error(Code::CommandNotInPackage)),
            (".", error(Code::CommandUnusable)),
            (".\\x", error(Code::CommandNotInPackage)),
            ("./", error(Code::CommandUnusable)),
            ("./bin/", error(Code::CommandUnusable)),
            ("./a\0b", error(Code::CommandUnusable)),
            ("a\0b", error(Code::CommandUnusable)),
            ("python3 main.py", error(Code::CommandWithBlanks)),
            (" python3", error(Code::CommandWithBlanks)),
            ("/usr/bin/env", vec![(Code::CommandNotPortable, Severity::Warning)]),
            ("/opt/my tool/x", vec![(Code::CommandNotPortable, Severity::Warning)]),
            ("C:\\x.exe", vec![(Code::CommandNotPortable, Severity::Warning)]),
        ] {
            assert_eq!(check_one(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_command_line_comes_back_as_command_and_args() {
        assert_eq!(
            split("node dist/main.js --stdio").as_deref(),
            Some("write \"command\": \"node\", \"args\": [\"dist/main.js\", \"--stdio\"]")
        );
        assert_eq!(split("sh -c 'a b'").as_deref(), Some("put the arguments into `args`"));
        assert_eq!(split("python3 ").as_deref(), Some("write `python3`"));
    }

    // Manifest §3.1.
    #[test]
    fn a_path_inside_the_package_is_relative_and_stays_inside() {
        for (text, is_good) in [
            ("src", true),
            ("src/tool", true),
            ("./src", true),
            ("a..b", true),
            ("a.", true),
            ("/src", false),
            ("a\\b", false),
            (".", false),
            ("..", false),
            ("a/../b", false),
            ("C:/x", false),
            ("a\0", false),
        ] {
            let mut found = 0;
            check_relative_path(text, &"`workingDirectory`", &mut |_| found += 1);
            assert_eq!(found == 0, is_good, "{text:?}");
        }
    }
}
