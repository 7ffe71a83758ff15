//! Waiting for files to change, for every `--watch`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use miette::Diagnostic;
use notify::{Event, EventKind, RecursiveMode, Watcher as _};
use thiserror::Error;

use super::{Interrupt, Interrupted};
use crate::base::failure::{Class, Failing};

/// An editor that saves makes several changes at once: the wait ends when it was quiet for this long (ours).
const QUIET: Duration = Duration::from_millis(100);
/// How often a wait looks for a signal (ours; below what a person notices).
const LOOK: Duration = Duration::from_millis(100);
/// Folders in which tools write while they are checked or tested.
const IGNORED: &[&str] = &[".git", "node_modules", "__pycache__"];

#[derive(Debug, Error, Diagnostic)]
#[error("cannot watch `{}` for changes", path.display())]
#[diagnostic(code(spark::watch::unable), help("is the limit of watched files reached? On Linux it is fs.inotify.max_user_watches"))]
pub(crate) struct WatchError {
    path: PathBuf,
    source: io::Error,
}

impl Failing for WatchError {
    fn class(&self) -> Class {
        Class::Machine
    }
}

/// A look at files and folders that goes on until it is dropped.
pub(crate) struct Watch {
    _watcher: notify::RecommendedWatcher,
    changes: Receiver<()>,
}

impl Watch {
    /// Begins to look: at folders with all that is in them, at files by their name, so that one that an editor
    /// replaces is still seen.
    pub(crate) fn on(paths: &[PathBuf]) -> Result<Self, WatchError> {
        let unable = |path: &Path, error: notify::Error| WatchError {
            path: path.to_owned(),
            source: match error.kind {
                notify::ErrorKind::Io(source) => source,
                _ => io::Error::other(error),
            },
        };
        let targets: Vec<PathBuf> = paths.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect();
        let (sender, changes) = channel();
        let wanted = targets.clone();
        let handler = move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| matters(&event, &wanted)) {
                // Nobody listens any more: the watch is about to be dropped.
                let _gone = sender.send(());
            }
        };
        let mut watcher = notify::recommended_watcher(handler).map_err(|error| unable(Path::new("."), error))?;
        for target in &targets {
            let (place, mode) = match target.parent() {
                Some(parent) if !target.is_dir() => (parent, RecursiveMode::NonRecursive),
                _ => (target.as_path(), RecursiveMode::Recursive),
            };
            watcher.watch(place, mode).map_err(|error| unable(place, error))?;
        }
        Ok(Self { _watcher: watcher, changes })
    }

    /// Waits for the next change and until it is quiet again.
    pub(crate) fn wait(&self, interrupt: &Interrupt) -> Result<(), Interrupted> {
        let mut has_changed = false;
        loop {
            interrupt.check()?;
            match self.changes.recv_timeout(if has_changed { QUIET } else { LOOK }) {
                Ok(()) => has_changed = true,
                Err(RecvTimeoutError::Timeout) if has_changed => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
                // The watcher's thread is gone: nothing will ever change.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK),
            }
        }
    }
}

fn matters(event: &Event, watched: &[PathBuf]) -> bool {
    let is_ignored = |path: &Path| path.components().any(|component| IGNORED.iter().any(|ignored| component.as_os_str() == *ignored));
    let is_watched = |path: &PathBuf| watched.iter().any(|target| path.strip_prefix(target).is_ok_and(|inside| !is_ignored(inside)));
    // Reading a file is an event too, and our own check reads.
    !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(is_watched)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(path: &str) -> Event {
        Event::new(EventKind::Modify(notify::event::ModifyKind::Any)).add_path(path.into())
    }

    #[test]
    fn only_changes_of_what_is_watched_matter() {
        let watched = [PathBuf::from("/w/tool"), PathBuf::from("/w/m.json")];
        for (path, expected) in [
            ("/w/tool/a/b.py", true),
            ("/w/m.json", true),
            ("/w/other.json", false),
            ("/w/tool/__pycache__/b.pyc", false),
            ("/w/tool/a/.git/index", false),
        ] {
            assert_eq!(matters(&event(path), &watched), expected, "{path}");
        }
        let read = Event::new(EventKind::Access(notify::event::AccessKind::Any)).add_path("/w/m.json".into());
        assert!(!matters(&read, &watched));
    }

    #[test]
    fn a_saved_file_ends_the_wait_and_so_does_a_signal() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("m.json");
        std::fs::write(&file, "1").expect("written");
        let watch = Watch::on(std::slice::from_ref(&file)).expect("watched");
        let interrupt = Interrupt::new();
        std::fs::write(folder.path().join("new"), "2").expect("written");
        std::fs::rename(folder.path().join("new"), &file).expect("replaced, as editors do");
        assert_eq!(watch.wait(&interrupt), Ok(()));
        interrupt.raise(2);
        assert_eq!(watch.wait(&interrupt), Err(Interrupted { signal: 2 }));
    }
}
