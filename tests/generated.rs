//! `completions/` and `man/` are what the program makes of its own definition. `UPDATE=1` rewrites them.

use std::collections::BTreeSet;
use std::fs;

use crate::world::{World, check_committed, may_update, repository};

#[test]
fn completions_are_up_to_date() {
    let world = World::new();
    for (shell, file) in [
        ("bash", "spark-tool.bash"),
        ("zsh", "_spark-tool"),
        ("fish", "spark-tool.fish"),
        ("powershell", "spark-tool.ps1"),
        ("elvish", "spark-tool.elv"),
    ] {
        let output = world.output(["completions", shell]);
        assert!(output.status.success(), "{shell}");
        check_committed(&format!("completions/{file}"), &String::from_utf8(output.stdout).expect("text"));
    }
}

#[test]
fn manual_pages_are_up_to_date() {
    let world = World::new();
    assert!(world.output(["man", "--out", "pages"]).status.success());
    let mut made = BTreeSet::new();
    for entry in fs::read_dir(world.folder().join("pages")).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("text");
        check_committed(&format!("man/{name}"), &fs::read_to_string(entry.path()).expect("text"));
        made.insert(name);
    }
    for entry in fs::read_dir(repository().join("man")).expect("a folder") {
        let entry = entry.expect("an entry");
        if !made.contains(&*entry.file_name().to_string_lossy()) {
            assert!(may_update(), "man/ has a page of no command: {:?}", entry.file_name());
            fs::remove_file(entry.path()).expect("removed");
        }
    }
}
