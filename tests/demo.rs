//! `demo` runs on a machine that has nothing, and leaves nothing.

use std::fs;

use crate::world::World;

/// Everything in the folder for temporary files that the demo is given.
fn left(world: &World) -> usize {
    fs::read_dir(world.folder().join("tmp")).expect("a folder").count()
}

#[test]
fn the_demo_runs_on_a_machine_without_any_language() {
    let world = World::new().file("bin/readme", "").file("tmp/mark", "");
    let folder = world.folder();
    let world = world.with("PATH", &folder.join("bin").to_string_lossy()).with("TMPDIR", &folder.join("tmp").to_string_lossy());
    let shown = world.spark(["demo"]);
    let life =
        ["init hello --template sample", "validate", "test", "install", "grant", "enable", "call", "trace list", "disable", "uninstall"];
    for command in life {
        assert!(shown.contains(&format!("$ spark-tool {command}")), "{command}: {shown}");
    }
    assert!(shown.contains("nothing is left behind") && shown.ends_with("[exit 0]"), "{shown}");
    let answer = world.json(["demo", "--json"]);
    let exits: Vec<_> = answer["data"]["steps"].as_array().expect("a list").iter().map(|step| step["exit"].clone()).collect();
    assert!(!exits.is_empty() && exits.iter().all(|exit| *exit == 0), "{exits:?}");
    assert_eq!((left(&world), world.home().exists()), (1, false));
}

#[test]
fn the_demo_uses_a_language_that_is_there() {
    let world = World::new().file("tmp/mark", "");
    let folder = world.folder();
    let world = world.with("TMPDIR", &folder.join("tmp").to_string_lossy());
    let answer = world.json(["demo", "--json"]);
    let first = answer["data"]["steps"][0]["command"].as_str().expect("a command");
    assert!(answer["ok"] == true && (first.contains("python") || first.contains("node")), "{answer}");
    assert_eq!(left(&world), 1);
}

/// A reader that went away ends it quietly, and the room is removed all the same.
#[cfg(unix)]
#[test]
fn the_demo_leaves_nothing_when_its_reader_went_away() {
    let world = World::new().file("tmp/mark", "");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = world.command(["demo"]).env("TMPDIR", world.folder().join("tmp")).stdout(writer).output().expect("it runs");
    assert_eq!((output.status.code(), left(&world)), (Some(0), 1));
}
