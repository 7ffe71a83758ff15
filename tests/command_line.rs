//! What holds for every command: flags, exit codes, streams, signals, crashes.

use std::io::Read as _;
use std::process::Stdio;

#[cfg(unix)]
use expectrl::Expect as _;
use insta::assert_snapshot;

use crate::world::World;

#[test]
fn the_version_is_one_line_or_one_object() {
    let world = World::new();
    assert_snapshot!(world.spark(["--version"]), @"
    spark-tool 0.1.0
    [exit 0]
    ");
    assert_snapshot!(world.spark(["man", "--version", "--json"]), @r#"
    {"format":1,"command":"version","ok":true,"data":{"version":"0.1.0"}}
    [exit 0]
    "#);
}

#[test]
fn a_wrong_command_line_says_what_and_how() {
    let world = World::new();
    assert_snapshot!(world.spark(["vaildate"]), @"
    -- stderr --
    spark::usage

      × unrecognized subcommand 'vaildate'
      help: tip: a similar subcommand exists: 'validate'
            Usage: spark-tool [OPTIONS] <COMMAND>
            For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(world.spark(["man", "--jsn"]), @"
    -- stderr --
    spark::usage

      × unexpected argument '--jsn' found
      help: tip: a similar argument exists: '--json'
            Usage: spark-tool man --json [COMMAND]...
            For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(world.spark(["completions", "tcsh", "--json"]), @r#"
    {"format":1,"command":"completions","ok":false,"error":{"code":"spark::usage","message":"invalid value 'tcsh' for '<SHELL>' [possible values: bash, zsh, fish, powershell, elvish]","help":"tip: a similar value exists: 'zsh'\nFor more information, try '--help'.","details":{}}}
    [exit 2]
    "#);
    assert_snapshot!(world.spark(["man", "--format", "sarif"]), @"
    -- stderr --
    spark::usage

      × `man` can't write this format
      help: sarif and github are for validate, junit is for validate and test
    [exit 2]
    ");
    assert_snapshot!(world.spark(["--json"]), @r#"
    {"format":1,"command":"","ok":false,"error":{"code":"spark::usage","message":"a command is missing","help":"`spark-tool help` lists the commands","details":{}}}
    [exit 2]
    "#);
}

#[test]
fn a_folder_or_log_that_is_not_there_is_named() {
    let world = World::new();
    assert_snapshot!(world.spark(["-C", "nowhere", "man"]), @"
    -- stderr --
    spark::settings::no_folder

      × cannot work in the folder `nowhere`
      ╰─▶ No such file or directory (os error 2)
      help: -C takes a folder that exists
    [exit 4]
    ");
    assert_snapshot!(world.spark(["man", "--log", "no/where.log", "--json"]), @r#"
    {"format":1,"command":"man","ok":false,"error":{"code":"spark::settings::no_log","message":"cannot write the log file `no/where.log`: No such file or directory (os error 2)","help":"--log takes a file in a folder that exists","details":{}}}
    [exit 4]
    "#);
}

#[test]
fn the_log_tells_what_a_run_did() {
    let world = World::new();
    world.output(["man", "no-such-command", "--log", "run.log"]);
    let log = std::fs::read_to_string(world.folder().join("run.log")).expect("a log");
    assert_snapshot!(world.settled(&log), @"
    [TIME] start   man
    [TIME] error   spark::man::no_page there is no command `no-such-command`
    [TIME] end     exit 2
    ");
}

// H: E-1
#[cfg(unix)]
#[test]
fn a_reader_that_went_away_is_a_quiet_end() {
    let world = World::new();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = world.command(["completions", "bash"]).stdout(writer).output().expect("it runs");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let world = World::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
    let output = world.command(["completions", "bash"]).stdout(full).output().expect("it runs");
    assert_eq!(output.status.code(), Some(8));
}

// H: K-5
#[test]
fn a_bug_is_one_message_without_a_value() {
    let world = World::new().with("CANARY", "canary-canary").with("RUST_BACKTRACE", "full");
    let shown = world.spark(["__panic"]);
    assert!(!shown.contains("canary"), "{shown}");
    assert!(shown.contains("this is a bug in spark-tool") && shown.ends_with("[exit 70]"), "{shown}");
    let answer = world.json(["__panic", "--json"]);
    assert_eq!((answer["error"]["code"].as_str(), answer["data"].is_null()), (Some("spark::bug"), true));
}

// H: P-8
#[cfg(unix)]
#[test]
fn a_signal_ends_a_command_with_its_code_and_one_object() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    let world = World::new();
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        for args in [&["__wait", "--json"][..], &["__wait", "--politely", "--json"]] {
            let mut child =
                world.command(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
            let mut ready = [0; 8];
            child.stderr.as_mut().expect("piped").read_exact(&mut ready).expect("it says that it waits");
            kill(Pid::from_raw(i32::try_from(child.id()).expect("a pid")), signal).expect("sent");
            let output = child.wait_with_output().expect("it ends");
            assert_eq!(output.status.code(), Some(code), "{signal} {args:?}");
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                "{\"format\":1,\"command\":\"__wait\",\"ok\":false,\"error\":{\"code\":\"spark::interrupted\",\"message\":\"interrupted\",\"help\":null,\"details\":{}}}\n"
            );
        }
    }
}

// H: P-8
#[cfg(unix)]
#[test]
fn ctrl_c_on_a_terminal_is_exit_130() {
    let world = World::new();
    let mut session = world.terminal(["__wait", "--politely"]);
    session.expect("waiting").expect("it waits");
    session.send("\u{3}").expect("typed");
    session.expect("interrupted").expect("it says so");
    let status = session.get_process().wait().expect("it ends");
    assert!(format!("{status:?}").contains("130"), "{status:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_the_caller_ignores_stays_ignored() {
    let world = World::new();
    let script = "trap '' HUP; \"$0\" __wait --politely 2>said & pid=$!; until grep -q waiting said || ! kill -0 $pid 2>/dev/null; do :; done; kill -HUP $pid; kill -TERM $pid; wait $pid; echo $?";
    #[expect(clippy::disallowed_methods, reason = "a shell that ignores SIGHUP, as nohup does")]
    let mut shell = std::process::Command::new("sh");
    let shell = shell.args(["-c", script, env!("CARGO_BIN_EXE_spark-tool")]).current_dir(world.folder());
    let output = shell.env("SPARK_TOOL_HOME", world.home()).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "143\n");
}

#[test]
fn what_an_author_needs_to_know_is_in_the_program() {
    for (page, text) in [("cases", "maxBytes"), ("protocol", "initialize"), ("manifest", "inputSchema")] {
        let answer = World::new().json(["help", page, "--json"]);
        assert!(answer["data"]["text"].as_str().is_some_and(|page| page.contains(text)), "{page}");
    }
}
