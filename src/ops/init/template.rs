//! What `init` can write. The files lie in `templates/` and are part of the program.

use std::path::Path;

use crate::tool::PackageId;

/// A package to start from. `__ID__` and `__NAME__` in its files stand for the package's own, `__PROGRAM__` for the file
/// of this program.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// Offered to people.
    pub(crate) is_listed: bool,
    /// Paths inside the package, and contents.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

macro_rules! template {
    ($name:literal, $description:literal, $is_listed:literal, [$($file:literal),+ $(,)?]) => {
        Template {
            name: $name,
            description: $description,
            is_listed: $is_listed,
            files: &[$(($file, include_str!(concat!("../../../templates/", $name, "/", $file)))),+],
        }
    };
}

/// All templates, in the order in which they are offered. A test compares the lists with the folders.
pub(crate) static TEMPLATES: &[Template] = &[
    template!(
        "python",
        "Python 3, standard library alone",
        true,
        [
            "spark-tool.json",
            "main.py",
            "spark_tool.py",
            "tests/greet.case.json",
            "tests/add_note.case.json",
            "README.md",
            ".sparkignore",
            ".gitignore",
            ".github/workflows/spark-tool.yml",
        ]
    ),
    template!(
        "node",
        "Node.js, no packages",
        true,
        [
            "spark-tool.json",
            "main.mjs",
            "spark-tool.mjs",
            "tests/greet.case.json",
            "tests/add_note.case.json",
            "README.md",
            ".sparkignore",
            ".gitignore",
            ".github/workflows/spark-tool.yml",
        ]
    ),
    template!(
        "shell",
        "POSIX sh, no other program",
        true,
        [
            "spark-tool.json",
            "main.sh",
            "spark_tool.sh",
            "tests/greet.case.json",
            "tests/add_note.case.json",
            "README.md",
            ".sparkignore",
            ".gitignore",
            ".github/workflows/spark-tool.yml",
        ]
    ),
    template!("sample", "This program itself, for the demo", false, ["spark-tool.json", "tests/greet.case.json"]),
];

impl Template {
    /// Returns the files with everything filled in.
    pub(super) fn rendered(&self, id: &PackageId, name: &str, program: &Path) -> Vec<(&'static str, String)> {
        let program = program.to_string_lossy();
        self.files.iter().map(|(path, content)| (*path, render(path, content, id, name, &program))).collect()
    }
}

fn render(path: &str, content: &str, id: &PackageId, name: &str, program: &str) -> String {
    let written = |text: &str| if has_extension(path, "json") { escaped(text) } else { text.to_owned() };
    content.replace("__ID__", id.as_str()).replace("__PROGRAM__", &written(program)).replace("__NAME__", &written(name))
}

/// Returns a text as it stands between the quotes of a JSON string.
fn escaped(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    json[1..json.len() - 1].to_owned()
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn files_below(folder: &Path, root: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                files_below(&path, root, found);
            } else {
                found.insert(path.strip_prefix(root).expect("it is below").to_string_lossy().replace('\\', "/"));
            }
        }
    }

    #[test]
    fn every_file_of_every_template_is_part_of_the_program() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
        let mut on_disk = BTreeSet::new();
        files_below(&root, &root, &mut on_disk);
        let embedded = TEMPLATES.iter().flat_map(|template| template.files.iter().map(|(path, _)| format!("{}/{path}", template.name)));
        assert_eq!(embedded.collect::<BTreeSet<_>>(), on_disk);
    }

    #[test]
    fn a_name_is_escaped_where_it_has_to_be() {
        let id = "acme.hello".parse().expect("an id");
        assert_eq!(
            render("spark-tool.json", r#"{"id":"__ID__","name":"__NAME__"}"#, &id, "a \"b\" \\", "/p"),
            r#"{"id":"acme.hello","name":"a \"b\" \\"}"#
        );
        assert_eq!(render("README.md", "# __NAME__", &id, "a \"b\"", "/p"), "# a \"b\"");
    }
}
