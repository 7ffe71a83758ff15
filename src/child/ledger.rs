//! Who is alive, written down so that the next start finds what a killed host left behind.
//!
//! One page (file) a host: its name is the first part of the marker that every child gets into its environment, its lock
//! is the kernel's and says whether the host lives. Nothing is synced: a page has to survive our death, not the
//! machine's.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::system::{self, Force, Seen};
use crate::base::files::{is_closed_to_writes, make_private_folder};
use crate::base::id;

/// The variable that marks a child and all that it starts (design §4, zero orphans).
pub(crate) const MARKER_VARIABLE: &str = "SPARK_TOOL_CHILD";

const SUFFIX: &str = ".children";
/// A page longer than this is written anew with who is still alive (ours).
const PAGE_BYTES: u64 = 64 * 1024;
/// How often a sweep looks again for what it has killed, and how long it waits in between (ours: 1 s in all).
const ROUNDS: u32 = 40;
const BETWEEN_ROUNDS: Duration = Duration::from_millis(25);

/// The children of this host, on disk under `folder` (`run/children` of the home).
#[derive(Debug)]
pub(crate) struct Ledger {
    folder: PathBuf,
    page: Mutex<Option<Page>>,
}

#[derive(Debug)]
struct Page {
    path: PathBuf,
    /// Locked as long as it is open. Never inherited: a child that held it would keep us alive in the eyes of others.
    file: File,
    host: String,
    entered: u64,
    bytes: u64,
    alive: Vec<Seen>,
}

impl Ledger {
    /// A ledger that touches the disk with the first child only.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, page: Mutex::new(None) }
    }

    fn page(&self) -> MutexGuard<'_, Option<Page>> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the marker for a child that is about to start; from here on a sweep would find it.
    pub(super) fn enter(&self) -> io::Result<String> {
        let mut page = self.page();
        let page = match &mut *page {
            Some(page) => page,
            empty => match Page::open(&self.folder) {
                Ok(opened) => empty.insert(opened),
                // A call must not fail for it (hardening I-8, Q-4): the kernel ends our children with us all the same.
                Err(error) if is_closed_to_writes(&error) => return Ok(format!("{}.0", id::random())),
                Err(error) => return Err(error),
            },
        };
        page.entered += 1;
        Ok(format!("{}.{}", page.host, page.entered))
    }

    /// Notes a started child by pid and start time: it may clear its own environment.
    pub(super) fn record(&self, child: u32) -> io::Result<()> {
        match (&mut *self.page(), system::seen(child)) {
            (Some(page), Some(seen)) => page.record(seen).or_else(|error| if is_closed_to_writes(&error) { Ok(()) } else { Err(error) }),
            _ => Ok(()),
        }
    }

    /// Notes that a child has been reaped.
    pub(super) fn leave(&self, child: u32) {
        if let Some(page) = &mut *self.page() {
            page.alive.retain(|seen| seen.pid != child);
            // Not each time: a name too many costs the next start a look, and this a system call.
            if page.bytes > PAGE_BYTES {
                let _kept = page.rewrite();
            }
        }
    }

    /// Ends what hosts that are dead have left alive: whatever carries their marker, and the children they noted, never
    /// a later process with the same pid. Returns how many processes that were.
    pub(crate) fn sweep(&self) -> io::Result<usize> {
        let pages = match fs::read_dir(&self.folder) {
            Ok(pages) => pages,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
        };
        let mut ended = 0;
        for page in pages {
            let path = page?.path();
            if let Some(host) = path.file_name().and_then(|name| name.to_str()).and_then(host_of) {
                ended += sweep_page(&path, host)?;
            }
        }
        Ok(ended)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // Left behind it is swept at the next start.
        let _left = fs::remove_file(&self.path);
    }
}

impl Page {
    fn open(folder: &Path) -> io::Result<Self> {
        make_private_folder(folder)?;
        loop {
            let host = id::random();
            let path = folder.join(format!("{host}{SUFFIX}"));
            let file = OpenOptions::new().append(true).create_new(true).open(&path)?;
            file.lock()?;
            // A sweep that came in between has taken the page for a dead host's and removed it.
            if path.exists() {
                return Ok(Self { path, file, host, entered: 0, bytes: 0, alive: Vec::new() });
            }
        }
    }

    fn record(&mut self, seen: Seen) -> io::Result<()> {
        let line = format!("{} {}\n", seen.pid, seen.started);
        self.alive.push(seen);
        self.bytes += line.len() as u64;
        self.file.write_all(line.as_bytes())
    }

    fn rewrite(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.bytes = 0;
        for seen in std::mem::take(&mut self.alive) {
            self.record(seen)?;
        }
        Ok(())
    }
}

/// The host that a page belongs to. Anything but our own kind of name would make a prefix that fits strangers.
fn host_of(file_name: &str) -> Option<&str> {
    let host = file_name.strip_suffix(SUFFIX)?;
    let is_ours = host.len() == 36 && host.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_ours.then_some(host)
}

fn sweep_page(path: &Path, host: &str) -> io::Result<usize> {
    let mut file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        // Its host, or another sweep, was quicker.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => return Ok(0),
        Err(fs::TryLockError::Error(error)) => return Err(error),
    }
    let mut text = String::new();
    // A page that can't be read still has its name, and that is the marker.
    let _unreadable = file.read_to_string(&mut text);
    let ended = end_all(&format!("{host}."), &text.lines().filter_map(noted).collect::<Vec<_>>());
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(ended),
    }
}

fn noted(line: &str) -> Option<Seen> {
    let (pid, started) = line.split_once(' ')?;
    Some(Seen { pid: pid.parse().ok()?, started: started.parse().ok()? })
}

fn end_all(prefix: &str, noted: &[Seen]) -> usize {
    let mut ended: Vec<Seen> = Vec::new();
    for _ in 0..ROUNDS {
        let mut found: Vec<Seen> = system::marked(prefix).into_iter().filter_map(system::seen).collect();
        found.extend(noted.iter().filter(|noted| system::seen(noted.pid).as_ref() == Some(*noted)));
        let below: Vec<Seen> = found.iter().flat_map(|seen| system::descendants(seen.pid)).collect();
        found.extend(below);
        if found.is_empty() {
            break;
        }
        for seen in found {
            system::signal_one(seen.pid, Force::Kill);
            if !ended.contains(&seen) {
                ended.push(seen);
            }
        }
        std::thread::sleep(BETWEEN_ROUNDS);
    }
    ended.len()
}

#[cfg(test)]
mod tests {
    // H: I-8
    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_is_started_where_no_page_can_be_written() {
        // Not even root may make a folder there.
        let ledger = super::Ledger::new("/sys/spark-tool/children".into());
        assert!(ledger.enter().is_ok_and(|marker| marker.ends_with(".0")));
        ledger.record(std::process::id()).expect("no page, no note");
    }

    use super::*;

    #[test]
    fn only_a_page_of_ours_names_a_host() {
        let host = "0b5dc8d1-94a5-4e5b-a5e0-4d6d3c1c6c3e";
        assert_eq!(host_of(&format!("{host}.children")), Some(host));
        for name in [".children", "x.children", "children", "", host, "00000000-0000-0000-0000-00000000000g.children"] {
            assert_eq!(host_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_ledger_without_a_child_touches_nothing() {
        let home = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::new(home.path().join("run/children"));
        assert_eq!(ledger.sweep().expect("nothing to sweep"), 0);
        drop(ledger);
        assert_eq!(fs::read_dir(home.path()).expect("it is there").count(), 0);
    }

    #[test]
    fn a_page_lives_as_long_as_its_host_and_a_sweep_leaves_it_alone() {
        let home = tempfile::tempdir().expect("a folder");
        let (ledger, other) = (Ledger::new(home.path().join("run")), Ledger::new(home.path().join("run")));
        let (first, second) = (ledger.enter().expect("entered"), ledger.enter().expect("entered"));
        assert!(first.ends_with(".1") && second.ends_with(".2") && first[..36] == second[..36], "{first} {second}");
        assert_eq!(other.sweep().expect("swept"), 0);
        assert_eq!(fs::read_dir(home.path().join("run")).expect("it is there").count(), 1);
        drop(ledger);
        assert_eq!(fs::read_dir(home.path().join("run")).expect("it is there").count(), 0);
    }

    #[test]
    fn a_dead_hosts_page_goes_without_hurting_whoever_has_its_pids_now() {
        let home = tempfile::tempdir().expect("a folder");
        let page = home.path().join(format!("{}{SUFFIX}", id::random()));
        // This process under a wrong start time, a pid that can't be, and no line at all.
        fs::write(&page, format!("{} 1\n4194305 7\nnonsense\n", std::process::id())).expect("written");
        fs::write(home.path().join("notes.txt"), "not ours").expect("written");
        assert_eq!(Ledger::new(home.path().to_owned()).sweep().expect("swept"), 0);
        assert!(!page.exists() && home.path().join("notes.txt").exists());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_page_is_written_anew_before_it_grows_without_end() {
        let home = tempfile::tempdir().expect("a folder");
        let mut page = Page::open(home.path()).expect("opened");
        let own = system::seen(std::process::id()).expect("we are alive");
        page.record(own).expect("recorded");
        let length = |page: &Page| fs::metadata(&page.path).expect("it is there").len();
        let one = length(&page);
        page.bytes = PAGE_BYTES + 1;
        page.rewrite().expect("written anew");
        assert_eq!((length(&page), page.bytes, page.alive.len()), (one, one, 1));
    }
}
