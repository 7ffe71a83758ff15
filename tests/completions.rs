//! What a shell is offered while a line is typed.

use crate::world::World;

/// Returns what bash is offered for the last of `words`.
fn offered(world: &World, words: &[&str]) -> Vec<String> {
    let index = words.len();
    let output = world
        .command(["--", "spark-tool"].iter().chain(words))
        .env("COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", index.to_string())
        .env("_CLAP_IFS", "\n")
        .output()
        .expect("it runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("text").lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn commands_flags_and_values_are_offered() {
    let world = World::new();
    assert_eq!(offered(&world, &["vali"]), ["validate"]);
    assert_eq!(offered(&world, &["completions", "el"]), ["elvish"]);
    assert_eq!(offered(&world, &["init", "--template", "py"]), ["python"]);
    assert_eq!(offered(&world, &["validate", "--rec"]), ["--recursive"]);
    assert!(offered(&world, &[""]).iter().all(|offer| !offer.starts_with("__")));
}

#[test]
fn a_machine_without_packages_offers_none_and_gets_no_home() {
    let world = World::new();
    for words in [&["enable", ""][..], &["call", ""], &["grant", "acme.hello", ""], &["env", "set", "acme.hello", ""]] {
        let ids: Vec<String> = offered(&world, words).into_iter().filter(|offer| !offer.starts_with('-')).collect();
        assert_eq!(ids, Vec::<String>::new(), "{words:?}");
    }
    assert!(!world.home().exists());
}

#[test]
fn what_is_installed_is_offered() {
    let world = World::new();
    assert_eq!(world.json(["init", "hello", "--template", "sample", "--id", "acme.hello", "--json"])["ok"], true);
    assert_eq!(world.json(["install", "hello", "--yes", "--json"])["ok"], true);
    for command in ["enable", "show", "permissions", "uninstall", "rm"] {
        assert_eq!(offered(&world, &[command, "ac"]), ["acme.hello"], "{command}");
    }
    assert_eq!(offered(&world, &["test", "acme"]), ["acme.hello"]);
    assert_eq!(offered(&world, &["call", "acme"]), ["acme.hello/greet"]);
    // Another home has other packages.
    assert_eq!(offered(&world, &["--home", "elsewhere", "show", "ac"]), Vec::<String>::new());
}
