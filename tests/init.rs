//! `init` from outside: flags, questions, what is written and what is left alone.

use std::fs;

#[cfg(unix)]
use expectrl::Expect as _;
use insta::assert_snapshot;

use crate::world::{World, files_below};

/// Names everything in the working folder.
fn tree(world: &World) -> Vec<String> {
    let folder = world.folder();
    files_below(&folder).iter().map(|path| path.strip_prefix(&folder).expect("it is below").to_string_lossy().replace('\\', "/")).collect()
}

#[test]
fn a_package_is_written_from_flags_alone() {
    let world = World::new();
    assert_snapshot!(world.spark(["init", "hello", "--template", "python", "--id", "acme.hello", "--no-input"]), @"
    wrote acme.hello from the template `python` to hello
      spark-tool.json
      main.py
      spark_tool.py
      tests/greet.case.json
      tests/add_note.case.json
      README.md
      .sparkignore
      .gitignore
      .github/workflows/spark-tool.yml
    next:
      spark-tool validate hello
      spark-tool test hello
    [exit 0]
    ");
    assert_snapshot!(world.spark(["init", "--list-templates"]), @"
    python  Python 3, standard library alone
    node    Node.js, no packages
    shell   POSIX sh, no other program
    [exit 0]
    ");
    let answer = world.json(["init", "other tool", "--template", "node", "--json"]);
    assert_eq!((&answer["data"]["id"], &answer["data"]["path"]), (&"other-tool".into(), &"other tool".into()));
    world.json(["init", "--list-templates", "--json"]);
}

#[test]
fn every_template_is_valid_and_passes_its_tests_as_it_is_written() {
    let world = World::new();
    let list = world.json(["init", "--list-templates", "--json"]);
    let templates = list["data"]["templates"].as_array().expect("a list");
    for template in templates.iter().map(|template| template["name"].as_str().expect("a name")) {
        let id = format!("acme.{template}");
        let made = world.json(["init", template, "--template", template, "--id", &id, "--name", "A \"B\" \\ ü", "--json"]);
        assert_eq!(made["ok"], true, "{template}");
        let checked = world.json(["validate", template, "--strict", "--json"]);
        let manifest = &checked["data"]["manifests"][0];
        assert_eq!((&manifest["findings"], &manifest["id"]), (&serde_json::json!([]), &id.into()), "{template}");
        let text = fs::read_to_string(world.folder().join(template).join("spark-tool.json")).expect("text");
        let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(document["name"], "A \"B\" \\ ü", "{template}");
        let tested = world.json(["test", template, "--yes", "--json"]);
        let summary = &tested["data"]["summary"];
        assert!(tested["ok"] == true && summary["passed"].as_u64() > Some(1), "{template}: {tested}");
    }
}

#[test]
fn what_cannot_be_meant_is_said_before_anything_is_written() {
    let world = World::new();
    assert_snapshot!(world.spark(["init", "x"]), @"
    -- stderr --
    spark::init::no_template

      × no template is named
      help: name one with --template: `python`, `node` and `shell`
    [exit 2]
    ");
    assert_snapshot!(world.spark(["init", "x", "--template", "pyhton"]), @"
    -- stderr --
    spark::init::unknown_template

      × there is no template `pyhton`
      help: did you mean `python`?
    [exit 2]
    ");
    assert_snapshot!(world.spark(["init", "x", "--template", "python", "--id", "Acme/Hello", "--json"]), @r#"
    {"format":1,"command":"init","ok":false,"error":{"code":"spark::init::bad_id","message":"the id `Acme/Hello` can't be: it may not contain `A`, allowed are a-z, 0-9, `.`, `_` and `-`","help":"ids look like `acme.hello`","details":{}}}
    [exit 2]
    "#);
    assert_snapshot!(world.spark(["init", "日本", "--template", "python"]), @"
    -- stderr --
    spark::init::no_id

      × the name of the folder makes no package id
      help: give one with --id, such as `acme.hello`
    [exit 2]
    ");
    assert_eq!(tree(&world), Vec::<String>::new());
}

#[test]
fn a_folder_that_holds_something_is_left_alone() {
    let world = World::new().file("full/mine.txt", "mine").file("file", "mine");
    assert_snapshot!(world.spark(["init", "full", "--template", "python", "--json"]), @r#"
    {"format":1,"command":"init","ok":false,"error":{"code":"spark::init::not_empty","message":"the folder `full` is not empty","help":"name a folder that is empty or doesn't exist yet","details":{}}}
    [exit 5]
    "#);
    assert_snapshot!(world.spark(["init", "file", "--template", "python"]), @"
    -- stderr --
    spark::init::not_a_folder

      × `file` is a file
      help: name a folder that is empty or doesn't exist yet
    [exit 5]
    ");
    assert_eq!(tree(&world), ["file", "full/mine.txt"]);
}

#[cfg(unix)]
#[test]
fn what_is_missing_is_asked_for_on_a_terminal() {
    let world = World::new();
    let mut session = world.terminal(["init", "hello"]);
    session.expect("Template").expect("it asks");
    session.send_line("nonsense").expect("typed");
    session.expect("1-").expect("it asks again");
    session.send_line("python").expect("typed");
    session.expect("Id [hello]").expect("it asks");
    session.send_line("No Id").expect("typed");
    session.expect("may not contain").expect("it says why");
    session.send_line("acme.hello").expect("typed");
    session.expect("Name [Hello]").expect("it asks");
    session.send_line("").expect("typed");
    session.expect("wrote acme.hello").expect("done");
    let status = session.get_process().wait().expect("it ends");
    assert!(format!("{status:?}").contains(", 0)"), "{status:?}");
    let text = fs::read_to_string(world.folder().join("hello/spark-tool.json")).expect("written");
    assert!(text.contains("\"acme.hello\"") && text.contains("\"Hello\""), "{text}");
}

// H: D-5, P-8
#[cfg(unix)]
#[test]
fn a_question_that_is_not_answered_leaves_nothing() {
    for (key, code, said) in [("\u{3}", "130", "interrupted"), ("\u{4}", "3", "nobody answered")] {
        let world = World::new();
        let mut session = world.terminal(["init", "hello"]);
        session.expect("1-").expect("it asks");
        session.send(key).expect("typed");
        session.expect(said).expect("it says so");
        let status = session.get_process().wait().expect("it ends");
        assert!(format!("{status:?}").contains(&format!(", {code})")), "{status:?}");
        assert_eq!(tree(&world), Vec::<String>::new());
    }
}

// H: D-5
#[cfg(unix)]
#[test]
fn nobody_is_asked_where_it_is_forbidden() {
    for (world, args) in [(World::new().with("CI", "true"), &["init", "hello"][..]), (World::new(), &["init", "hello", "--no-input"])] {
        let mut session = world.terminal(args);
        session.expect("no template is named").expect("it says so");
        assert_eq!(tree(&world), Vec::<String>::new());
    }
}
