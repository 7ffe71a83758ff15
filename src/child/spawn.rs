//! Starting a process: the only place where one is made.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child as StdChild, Command, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use miette::Diagnostic;
use thiserror::Error;

use super::ledger::{Ledger, MARKER_VARIABLE};
use super::system::{self, ExitNews, Input, Output, Seen};
use crate::base::failure::{Class, Failing};

/// How often a program that someone still writes is tried, and how long in between. A fork on another thread holds a
/// copy of every descriptor until its exec, so a file that was just installed can look busy for a moment.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(2);

/// A process to be: nothing but this reaches it. Not printable: the environment may hold secrets.
pub(crate) struct Start<'a> {
    /// Absolute; [`super::resolve`] finds it.
    pub(crate) program: &'a Path,
    pub(crate) args: &'a [String],
    pub(crate) working_directory: &'a Path,
    /// All of its environment but the marker.
    pub(crate) environment: BTreeMap<OsString, OsString>,
}

/// Why a process could not be started.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum SpawnError {
    /// Looking it up is the caller's, in absolute entries of `PATH` (hardening P-11).
    #[error("`{}` is not an absolute path of a program", program.display())]
    #[diagnostic(code(spark::child::no_absolute_path))]
    NotAbsolute { program: PathBuf },
    #[error("the working folder `{}` does not exist", folder.display())]
    #[diagnostic(code(spark::child::no_working_folder))]
    NoWorkingFolder { folder: PathBuf },
    #[error("the program `{}` does not exist", program.display())]
    #[diagnostic(code(spark::child::no_program))]
    NoProgram { program: PathBuf },
    #[error("the interpreter that the first line of `{}` names does not exist", program.display())]
    #[diagnostic(
        code(spark::child::no_interpreter),
        help("install it, or name another behind `#!`; a line end of Windows there counts as part of the name")
    )]
    NoInterpreter { program: PathBuf },
    #[error("`{}` may not be executed", program.display())]
    #[diagnostic(code(spark::child::not_executable), help("make it executable: chmod +x"))]
    NotExecutable { program: PathBuf },
    /// Windows gives their arguments to a shell (hardening P-12).
    #[error("`{}` is a batch file", program.display())]
    #[diagnostic(code(spark::child::batch_file), help("name the program that the batch file starts"))]
    BatchFile { program: PathBuf },
    #[error("the arguments or the environment hold a NUL character")]
    #[diagnostic(code(spark::child::nul))]
    Nul,
    #[error("the arguments and the environment together are larger than the system allows")]
    #[diagnostic(code(spark::child::too_long))]
    TooLong,
    #[error("this machine has no room for another process")]
    #[diagnostic(
        code(spark::child::exhausted),
        help("close programs, or raise the limits of processes and open files (ulimit -u, ulimit -n)")
    )]
    Exhausted { source: io::Error },
    #[error("the ledger of children could not be written")]
    #[diagnostic(code(spark::child::ledger))]
    Ledger { source: io::Error },
    #[error("`{}` could not be started: {source}", program.display())]
    #[diagnostic(code(spark::child::start_failed))]
    Other { program: PathBuf, source: io::Error },
}

impl Failing for SpawnError {
    fn class(&self) -> Class {
        match self {
            Self::Exhausted { .. } | Self::Ledger { .. } => Class::Machine,
            Self::NotAbsolute { .. }
            | Self::NoWorkingFolder { .. }
            | Self::NoProgram { .. }
            | Self::NoInterpreter { .. }
            | Self::NotExecutable { .. }
            | Self::BatchFile { .. }
            | Self::Nul
            | Self::TooLong
            | Self::Other { .. } => Class::ToolBroke,
        }
    }
}

impl SpawnError {
    fn new(start: &Start<'_>, error: io::Error) -> Self {
        let program = start.program.to_owned();
        // The numbers are those of Linux and macOS; Windows has its own, which end in the last arm.
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, _) if !start.working_directory.is_dir() => {
                Self::NoWorkingFolder { folder: start.working_directory.to_owned() }
            }
            (io::ErrorKind::NotFound, _) if program.exists() => Self::NoInterpreter { program },
            (io::ErrorKind::NotFound, _) => Self::NoProgram { program },
            (io::ErrorKind::PermissionDenied, _) => Self::NotExecutable { program },
            (io::ErrorKind::ArgumentListTooLong, _) => Self::TooLong,
            (io::ErrorKind::InvalidInput, _) => Self::Nul,
            (io::ErrorKind::OutOfMemory | io::ErrorKind::WouldBlock, _) => Self::Exhausted { source: error },
            (_, Some(23 | 24)) if cfg!(unix) => Self::Exhausted { source: error },
            _ => Self::Other { program, source: error },
        }
    }
}

/// How a process ended. Both are `None` if it could not be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

/// A started process. Dropped before [`Child::finish`], it is killed with its tree.
#[derive(Debug)]
pub(crate) struct Child {
    pub(super) process: StdChild,
    pub(super) marker: String,
    /// What was seen below it while it lived: an orphan may have cleared its environment.
    pub(super) seen: Vec<Seen>,
    pub(super) has_ended: bool,
    /// Set once, when nothing is left of it.
    pub(super) exit: Option<Exit>,
    news: ExitNews,
    ledger: Arc<Ledger>,
}

/// The three ends of a child's pipes that are ours.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) input: Input,
    pub(crate) output: Output,
    pub(crate) errors: Output,
}

/// Starts a process: argv as given, its own group, the given environment and the marker, descriptors 0 to 2 and no
/// others, tied to our life. Called within a runtime.
pub(crate) fn spawn(start: &Start<'_>, ledger: &Arc<Ledger>) -> Result<(Child, Pipes), SpawnError> {
    if !start.program.is_absolute() {
        return Err(SpawnError::NotAbsolute { program: start.program.to_owned() });
    }
    if cfg!(windows)
        && start.program.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bat") || extension.eq_ignore_ascii_case("cmd"))
    {
        return Err(SpawnError::BatchFile { program: start.program.to_owned() });
    }
    let marker = ledger.enter().map_err(|source| SpawnError::Ledger { source })?;
    let other = |error| SpawnError::new(start, error);
    let news = ExitNews::new().map_err(other)?;
    let mut command = command(start, &marker);
    let mut process = {
        // Held over the fork: a look at our children in between would take this one for an orphan.
        let mut live = live();
        live.adopt();
        let process = start_busy(&mut command).map_err(other)?;
        live.children.push(process.id());
        process
    };
    let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
    let child = Child { process, marker, seen: Vec::new(), has_ended: false, exit: None, news, ledger: Arc::clone(ledger) };
    ledger.record(child.id()).map_err(|source| SpawnError::Ledger { source })?;
    let (Some(input), Some(output), Some(errors)) = pipes else {
        unreachable!("all three were asked for as pipes");
    };
    let input = Input::new(input).map_err(other)?;
    let (output, errors) = system::outputs(output, errors).map_err(other)?;
    Ok((child, Pipes { input, output, errors }))
}

#[expect(clippy::disallowed_methods, reason = "the door to processes")]
fn command(start: &Start<'_>, marker: &str) -> Command {
    let mut command = Command::new(start.program);
    command
        .args(start.args)
        .current_dir(start.working_directory)
        .env_clear()
        .envs(&start.environment)
        .env(MARKER_VARIABLE, marker)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    confine(&mut command);
    command
}

/// Its own group, tied to our life, no descriptor of ours.
#[cfg(unix)]
#[expect(unsafe_code, reason = "code between fork and exec can't be installed otherwise; see SAFETY")]
fn confine(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;

    use nix::libc;

    let host = std::process::id();
    let highest = nix::unistd::sysconf(nix::unistd::SysconfVar::OPEN_MAX).ok().flatten().and_then(|limit| i32::try_from(limit).ok());
    let none = nix::sys::signal::SigSet::empty();
    command.process_group(0);
    // SAFETY: the closure runs in the child between fork and exec, where only async-signal-safe calls are allowed: it
    // makes the system calls sigprocmask, prctl, getppid, close_range and fcntl with plain numbers and a set of its own,
    // allocates nothing, takes no lock and touches no memory but its own copies of `host`, `highest` and `none`. Setting close-on-exec frees no descriptor, so
    // nothing in this process is closed under its owner.
    unsafe {
        command.pre_exec(move || {
            // Our threads block the signals that one of them waits for; a child has to hear them.
            none.thread_set_mask()?;
            system::tie_to(host)?;
            #[cfg(target_os = "linux")]
            if libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) == 0 {
                return Ok(());
            }
            // Before Linux 5.11, and elsewhere: one by one. A number that isn't open is no error.
            for descriptor in 3..highest.unwrap_or(1024).min(65_536) {
                libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
            }
            Ok(())
        });
    }
}

/// No console window; descriptors aren't inherited unless asked for.
#[cfg(windows)]
fn confine(command: &mut Command) {
    use std::os::windows::process::CommandExt as _;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    command.creation_flags(CREATE_NO_WINDOW);
}

fn start_busy(command: &mut Command) -> io::Result<StdChild> {
    for _ in 1..BUSY_TRIES {
        match start_on_lasting_thread(command) {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => std::thread::sleep(BUSY_PAUSE),
            other => return other,
        }
    }
    start_on_lasting_thread(command)
}

/// Starts it from a thread that ends with the process: the kernel ties a child's life to its starter's thread.
fn start_on_lasting_thread(command: &mut Command) -> io::Result<StdChild> {
    if system::is_lasting_thread() {
        return command.spawn();
    }
    let starter = STARTER.get_or_init(|| {
        let (sender, jobs) = mpsc::channel::<Job>();
        let thread = std::thread::Builder::new().name("starter".to_owned()).spawn(move || {
            for (mut command, answer) in jobs {
                let process = command.spawn();
                // The asker waits below, so somebody takes it.
                let _unheard = answer.send((command, process));
            }
        });
        thread.is_ok().then_some(sender)
    });
    let gone = || io::Error::from(io::ErrorKind::WouldBlock);
    let (answer, process) = mpsc::sync_channel(1);
    #[expect(clippy::disallowed_methods, reason = "a placeholder; the caller's own command goes to the other thread and comes back")]
    let taken = std::mem::replace(command, Command::new(""));
    starter.as_ref().ok_or_else(gone)?.send((taken, answer)).map_err(|_| gone())?;
    let (taken, process) = process.recv().map_err(|_| gone())?;
    *command = taken;
    process
}

static STARTER: OnceLock<Option<mpsc::Sender<Job>>> = OnceLock::new();

type Job = (Command, mpsc::SyncSender<(Command, io::Result<StdChild>)>);

/// Who is a child of ours on purpose, for the whole process: so are pids.
pub(super) struct Live {
    pub(super) children: Vec<u32>,
    has_adopted: bool,
    /// We had children before we started any: those of the program that became us by exec. Their orphans come to us
    /// too, so an orphan without a marker may be theirs.
    pub(super) has_foreign: bool,
}

static LIVE: Mutex<Live> = Mutex::new(Live { children: Vec::new(), has_adopted: false, has_foreign: false });

pub(super) fn live() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    fn adopt(&mut self) {
        if !self.has_adopted {
            self.has_adopted = true;
            self.children = system::own_children();
            self.has_foreign = !self.children.is_empty();
            system::adopt_orphans();
        }
    }

    /// Reaps orphans that ended by themselves while nobody stops anything.
    fn reap_strays(&self) {
        while let Some(pid) = system::any_ended()
            && !self.children.contains(&pid)
            && system::reap_stray(pid)
        {}
    }
}

impl Child {
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Waits until the process has ended. It stays unreaped: [`Child::finish`] does that. Nothing is lost if the future
    /// is dropped.
    pub(crate) async fn ended(&mut self) {
        while !self.has_ended {
            self.news.next().await;
            self.has_ended = system::has_ended(&mut self.process);
            if !self.has_ended {
                live().reap_strays();
            }
        }
    }

    /// Takes the status and lets go of the pid; nothing of the tree may be signalled after this.
    pub(super) fn reap(&mut self) -> Exit {
        match self.process.try_wait() {
            Ok(Some(status)) => {
                live().children.retain(|child| *child != self.process.id());
                self.ledger.leave(self.process.id());
                system::exit_of(status)
            }
            // It can't be killed, or nobody may ask: it stays known, and in the ledger.
            Ok(None) | Err(_) => Exit { code: None, signal: None },
        }
    }
}
