//! `inspect`, `install`, `remove`, `uninstall` from outside: what stays, what goes, the exit codes.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::fake;
use crate::world::{World, files_below};

const MANIFEST: &str = r#"{
  "$schema": "https://spark-tool.dev/schema/spark-tool-v1.schema.json",
  "schemaVersion": 1,
  "id": "demo.hello",
  "version": "0.1.0",
  "name": "Hello",
  "description": "Greets whoever is named",
  "runtime": { "adapter": "process", "protocol": "spark-tool-process-v1", "command": "./bin/hello" },
  "tools": [
    {
      "name": "say_hello",
      "title": "Say hello",
      "description": "Return a greeting for a person",
      "inputSchema": { "type": "object", "properties": { "who": { "type": "string" } } },
      "risk": "read",
      "effect": "read",
      "idempotency": "safe"
    }
  ],
  "permissions": { "declaredOsEffects": ["network"] }
}
"#;

fn world() -> World {
    World::new().file("hello/spark-tool.json", MANIFEST).file("hello/bin/hello", "#!/bin/sh\ntouch canary\n").file("hello/.git/HEAD", "x")
}

/// The exit code and the answer of a command.
fn run(world: &World, args: &[&str]) -> (i32, Value) {
    let output = world.output(args.iter().chain(&["--json"]));
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    (output.status.code().expect("it ended by itself"), serde_json::from_str(&text).expect("one object"))
}

fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or_default()
}

/// Everything below the home that isn't the database or a lock.
fn rest(home: &Path) -> Vec<String> {
    let files = files_below(home).into_iter().map(|path| path.strip_prefix(home).expect("below").display().to_string());
    files.filter(|path| !path.starts_with("spark-tool.db") && !path.starts_with("run/")).collect()
}

#[test]
fn a_folder_is_inspected_installed_and_uninstalled_without_a_remainder() {
    let world = world();
    let (exit, inspected) = run(&world, &["inspect", "hello"]);
    assert_eq!(exit, 0);
    assert_eq!(inspected["data"]["files"], 2);
    assert_eq!(inspected["data"]["permissions"], json!([{"kind": "os-effect", "name": "network", "required": true}]));
    assert!(!world.home().exists());

    let (exit, answer) = run(&world, &["install", "hello"]);
    assert_eq!((exit, code(&answer)), (3, "spark::consent::required"));
    assert_eq!(rest(&world.home()), [""; 0]);

    let (exit, installed) = run(&world, &["install", "hello", "--yes"]);
    assert_eq!(exit, 0);
    let data = &installed["data"];
    assert_eq!(
        (&data["digest"], &data["alreadyInstalled"], &data["state"]),
        (&inspected["data"]["digest"], &json!(false), &json!("installed-disabled"))
    );
    assert_eq!((&data["pending"], &data["source"]), (&json!(["network"]), &json!("local-directory")));
    assert_eq!(data["next"], json!(["spark-tool grant demo.hello network", "spark-tool enable demo.hello"]));
    assert_eq!(rest(&world.home()), ["packages/demo.hello/0.1.0/bin/hello", "packages/demo.hello/0.1.0/spark-tool.json"]);

    let (exit, again) = run(&world, &["install", "hello"]);
    assert_eq!((exit, &again["data"]["alreadyInstalled"]), (0, &json!(true)));
    assert_eq!(run(&world, &["inspect", "demo.hello", "--verify"]).0, 0);

    assert_eq!(run(&world, &["grant", "demo.hello", "--all-declared", "--yes"]).0, 0);
    assert_eq!(run(&world, &["enable", "demo.hello", "--yes"]).0, 0);
    let (exit, refused) = run(&world, &["uninstall", "demo.hello", "--yes"]);
    assert_eq!((exit, code(&refused)), (5, "spark::remove::enabled"));
    assert_eq!(run(&world, &["disable", "demo.hello"]).0, 0);
    let (exit, gone) = run(&world, &["uninstall", "demo.hello", "--yes"]);
    assert_eq!((exit, &gone["data"]["removedVersions"], &gone["data"]["leftovers"]), (0, &json!(["0.1.0"]), &json!([])));
    assert_eq!(rest(&world.home()), [""; 0]);
    for folder in ["packages", "staging", "data"] {
        assert!(!world.home().join(folder).exists(), "{folder}");
    }
    let (exit, missing) = run(&world, &["uninstall", "demo.hello", "--yes"]);
    assert_eq!((exit, code(&missing)), (4, "spark::package::not_installed"));
    assert!(!world.folder().join("canary").exists());
}

#[test]
fn a_version_never_changes_and_both_digests_are_named() {
    let world = world();
    assert_eq!(run(&world, &["install", "hello", "--yes"]).0, 0);
    let world = world.file("hello/bin/hello", "#!/bin/sh\nother\n");
    let (exit, refused) = run(&world, &["install", "hello", "--yes"]);
    assert_eq!((exit, code(&refused)), (5, "spark::package::immutable"));
    let details = &refused["error"]["details"];
    assert!(
        details["installed"] != details["offered"] && details["installed"].as_str().is_some_and(|digest| digest.starts_with("tree-v1:"))
    );
}

#[test]
fn what_cannot_be_a_package_is_told_with_every_reason() {
    let world = world().file("hello/con", "").file("hello/README", "").file("hello/readme", "");
    let (exit, refused) = run(&world, &["install", "hello", "--yes"]);
    assert_eq!((exit, code(&refused)), (4, "spark::package::refused"));
    assert_eq!(refused["error"]["details"]["reasons"].as_array().map(Vec::len), Some(2));
    let shown = world.spark(["install", "hello", "--yes"]);
    assert!(shown.contains("readme: `README` is the same name on some systems"), "{shown}");
    let (exit, missing) = run(&world, &["install", "nowhere", "--yes"]);
    assert_eq!((exit, code(&missing)), (4, "spark::package::not_found"));
}

// H: P-18
#[cfg(unix)]
#[test]
fn a_changed_tree_is_found_and_mended_by_installing_the_same_again() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = world();
    assert_eq!(run(&world, &["install", "hello", "--yes"]).0, 0);
    let program = world.home().join("packages/demo.hello/0.1.0/bin/hello");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("opened");
    fs::write(&program, "#!/bin/sh\nevil\n").expect("written");
    let (exit, changed) = run(&world, &["inspect", "demo.hello", "--verify"]);
    assert_eq!((exit, code(&changed)), (4, "spark::package::changed"));
    assert_eq!(changed["error"]["details"]["changes"], json!([{"path": "bin/hello", "change": "edited"}]));
    let (exit, mended) = run(&world, &["install", "hello", "--yes"]);
    assert_eq!((exit, &mended["data"]["alreadyInstalled"]), (0, &json!(false)));
    assert_eq!(run(&world, &["inspect", "demo.hello", "--verify"]).0, 0);
    assert_eq!(rest(&world.home()).len(), 2);
}

#[test]
fn one_of_several_versions_can_be_removed_but_not_the_last() {
    let world = world();
    assert_eq!(run(&world, &["install", "hello", "--yes"]).0, 0);
    let world = world.file("hello/spark-tool.json", MANIFEST.replace("0.1.0", "0.2.0"));
    assert_eq!(run(&world, &["install", "hello", "--yes"]).0, 0);
    let (exit, usage) = run(&world, &["remove", "demo.hello", "--yes"]);
    assert_eq!((exit, code(&usage)), (2, "spark::target::no_version"));
    let (exit, removed) = run(&world, &["remove", "demo.hello@0.1.0", "--yes"]);
    assert_eq!((exit, &removed["data"]["version"]), (0, &json!("0.1.0")));
    let (exit, last) = run(&world, &["remove", "demo.hello@0.2.0", "--yes"]);
    assert_eq!((exit, code(&last)), (5, "spark::remove::last_version"));
    assert_eq!(rest(&world.home()), ["packages/demo.hello/0.2.0/bin/hello", "packages/demo.hello/0.2.0/spark-tool.json"]);
}

// H: D-4
#[test]
fn a_package_that_looks_like_another_is_refused() {
    let world = world().file("twin/spark-tool.json", MANIFEST.replace("demo.hello", "demo-hello")).file("twin/bin/hello", "x");
    assert_eq!(run(&world, &["install", "hello", "--yes"]).0, 0);
    let (exit, refused) = run(&world, &["install", "twin", "--yes"]);
    assert_eq!((exit, code(&refused), &refused["error"]["details"]["other"]), (4, "spark::package::look_alike", &json!("demo.hello")));
}

// H: I-2
#[test]
fn installs_at_once_end_as_if_one_came_after_the_other() {
    let mut world = world();
    for version in 1..=4 {
        let manifest = MANIFEST.replace("0.1.0", &format!("{version}.0.0"));
        world = world.file(&format!("v{version}/spark-tool.json"), manifest).file(&format!("v{version}/bin/hello"), "x");
    }
    std::thread::scope(|scope| {
        for version in [1, 2, 3, 4, 1, 2] {
            let world = &world;
            scope.spawn(move || {
                let (exit, answer) = run(world, &["install", &format!("v{version}"), "--yes"]);
                assert_eq!(exit, 0, "{answer}");
            });
        }
    });
    let (_, shown) = run(&world, &["show", "demo.hello"]);
    assert_eq!(shown["data"]["versions"], json!(["4.0.0", "3.0.0", "2.0.0", "1.0.0"]));
    for version in 1..=4 {
        assert_eq!(run(&world, &["inspect", &format!("demo.hello@{version}.0.0"), "--verify"]).0, 0);
    }
    assert!(!world.home().join("staging").exists());
}

// H: I-1
#[test]
fn an_install_that_is_killed_at_any_time_ends_right_with_the_next() {
    let mut world = world();
    for file in 0..40 {
        world = world.file(&format!("hello/data/{file}"), "x".repeat(2_000));
    }
    for delay in 0..12 {
        let mut child =
            world.command(["install", "hello", "--yes", "--json"]).stdout(std::process::Stdio::null()).spawn().expect("started");
        // No step is waited for: the point is that any moment will do.
        std::thread::sleep(std::time::Duration::from_millis(delay * 4));
        drop(child.kill());
        child.wait().expect("ended");
        assert_eq!(run(&world, &["list"]).0, 0, "after {delay}");
        let (exit, answer) = run(&world, &["install", "hello", "--yes"]);
        assert_eq!(exit, 0, "after {delay}: {answer}");
        assert_eq!(run(&world, &["inspect", "demo.hello", "--verify"]).0, 0, "after {delay}");
        assert_eq!(run(&world, &["uninstall", "demo.hello", "--yes"]).0, 0, "after {delay}");
        assert_eq!(rest(&world.home()), [""; 0], "after {delay}");
    }
}

// H: P-17, P-18
#[cfg(unix)]
#[test]
fn a_changed_tree_is_neither_enabled_nor_started() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = world();
    assert_eq!(run(&world, &["install", "hello", "--yes"]).0, 0);
    assert_eq!(run(&world, &["grant", "demo.hello", "--all-declared", "--yes"]).0, 0);
    assert_eq!(run(&world, &["enable", "demo.hello", "--yes"]).0, 0);
    let folder = world.home().join("packages/demo.hello/0.1.0/bin");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("opened");
    fs::write(folder.join("planted"), "x").expect("written");
    let (exit, refused) = run(&world, &["call", "demo.hello/say_hello", "who=x"]);
    assert_eq!((exit, code(&refused)), (4, "spark::package::changed"));
    assert_eq!(refused["error"]["details"]["changes"], json!([{"path": "bin/planted", "change": "added"}]));
    assert_eq!(run(&world, &["disable", "demo.hello"]).0, 0);
    let (exit, refused) = run(&world, &["enable", "demo.hello", "--yes"]);
    assert_eq!((exit, code(&refused)), (4, "spark::package::changed"));
    assert!(!world.folder().join("canary").exists());
}

#[cfg(unix)]
#[test]
fn a_named_pipe_keeps_nobody_waiting() {
    use nix::sys::stat::Mode;

    let pipe = |path: &std::path::Path| nix::unistd::mkfifo(path, Mode::S_IRWXU).expect("a pipe");
    let world = World::new().file("other/x", "").file("ignoring/spark-tool.json", "{}");
    pipe(&world.folder().join("other/spark-tool.json"));
    pipe(&world.folder().join("ignoring/.sparkignore"));
    for words in [
        &["validate", "other"][..],
        &["validate", "--recursive", "."],
        &["inspect", "other"],
        &["inspect", "ignoring"],
        &["install", "ignoring", "--yes"],
        &["test", "other", "--yes"],
    ] {
        let (exit, answer) = fake::run(&world, words);
        assert!(matches!(exit, 1 | 4), "{words:?}: {exit} {answer}");
    }
    let world = World::new();
    fs::create_dir_all(world.home()).expect("a home");
    pipe(&world.home().join("spark-tool.db"));
    assert_eq!(fake::run(&world, &["list"]).0, 8);
}
