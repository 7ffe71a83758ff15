//! Linux: children die with us, orphans come to us, a marker in the environment tells whose they are.

use std::fs;
use std::io;
use std::process::Child as StdChild;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{getpid, getppid, gettid};

use super::ledger::MARKER_VARIABLE;
use super::unix::pid;

pub(super) use super::unix::{ExitNews, Force, exit_of, is_in_group, outputs, signal_group, signal_one};
pub(crate) use super::unix::{Input, Output};

/// A process as it can't be mistaken for a later one with the same pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) pid: u32,
    /// In clock ticks since the machine started.
    pub(super) started: u64,
}

/// Runs in the child between fork and exec: the kernel ends it when the thread that started it ends. `host` is who
/// started it; if that is gone already, there is nobody to work for.
pub(super) fn tie_to(host: u32) -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if getppid() == pid(host) { Ok(()) } else { Err(Errno::ESRCH.into()) }
}

/// Says whether this thread lives as long as the host does.
pub(super) fn is_lasting_thread() -> bool {
    gettid() == getpid()
}

/// Makes us the parent of every descendant whose own parent ends.
pub(super) fn adopt_orphans() {
    // A kernel without it (before 3.4) leaves orphans to the group's signal and the ledger.
    let _refused = prctl::set_child_subreaper(true);
}

/// Says whether the child has ended, and leaves it unreaped: its pid stays its own.
pub(super) fn has_ended(child: &mut StdChild) -> bool {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
    !matches!(waitid(Id::Pid(pid(child.id())), flags), Ok(WaitStatus::StillAlive))
}

/// Reaps a child of ours that nobody waits for; true if it is gone.
pub(super) fn reap_stray(process: u32) -> bool {
    !matches!(waitpid(pid(process), Some(WaitPidFlag::WNOHANG)), Ok(WaitStatus::StillAlive))
}

/// Returns a child of ours that has ended, if there is one; it stays unreaped.
pub(super) fn any_ended() -> Option<u32> {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
    waitid(Id::All, flags).ok()?.pid().and_then(|pid| u32::try_from(pid.as_raw()).ok())
}

/// Returns our children, orphans that came to us included.
pub(super) fn own_children() -> Vec<u32> {
    children_of("self")
}

/// Returns every descendant of a process that is still linked to it by living parents.
pub(super) fn descendants(process: u32) -> Vec<Seen> {
    let mut found: Vec<Seen> = Vec::new();
    let mut open = children_of(&process.to_string());
    while let Some(pid) = open.pop() {
        if let Some(seen) = seen(pid)
            && !found.contains(&seen)
        {
            found.push(seen);
            open.extend(children_of(&pid.to_string()));
        }
    }
    found
}

fn children_of(process: &str) -> Vec<u32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else {
        return Vec::new();
    };
    let mut children = Vec::new();
    for task in tasks.flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(text) => children.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok())),
            // A thread that ended meanwhile, or a kernel without the file: only the latter has none at all.
            Err(_) if task.path().join("stat").exists() => return children_by_parent(process),
            Err(_) => {}
        }
    }
    children
}

/// The slow way: every process of the machine is asked for its parent.
fn children_by_parent(parent: &str) -> Vec<u32> {
    let parent = if parent == "self" { std::process::id().to_string() } else { parent.to_owned() };
    processes().filter(|pid| stat(*pid, 1).as_deref() == Some(parent.as_str())).collect()
}

fn processes() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns the process with its start time; `None` if it is gone, or ended and only not reaped yet.
pub(super) fn seen(pid: u32) -> Option<Seen> {
    let has_ended = matches!(stat(pid, 0)?.as_str(), "Z" | "X" | "x");
    if has_ended { None } else { Some(Seen { pid, started: stat(pid, 19)?.parse().ok()? }) }
}

/// A field of `/proc/PID/stat`, counted from the state behind the name. The name may hold anything, brackets too.
fn stat(pid: u32, field: usize) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(field).map(str::to_owned)
}

/// Returns the marker in the environment a process was started with.
pub(super) fn marker(pid: u32) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let name = format!("{MARKER_VARIABLE}=");
    let value = environment.split(|byte| *byte == 0).find_map(|variable| variable.strip_prefix(name.as_bytes()))?;
    String::from_utf8(value.to_vec()).ok()
}

/// Returns every process of the machine whose marker starts with `prefix`.
pub(super) fn marked(prefix: &str) -> Vec<u32> {
    processes().filter(|pid| marker(*pid).is_some_and(|marker| marker.starts_with(prefix))).collect()
}
