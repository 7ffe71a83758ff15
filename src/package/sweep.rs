//! Finishing or undoing what a process left that died while it changed installed trees (design §5, hardening I-1).

use std::fs;
use std::path::Path;

use super::error::PackageError;
use super::intent::{Act, Intent, TreeLock, Work, move_tree, private_folder, set_mode};
use crate::base::layout::Layout;

/// Says whether something was left, or is being worked on: a look at one folder.
pub(crate) fn has_leftovers(layout: &Layout) -> bool {
    fs::read_dir(layout.staging()).is_ok_and(|mut entries| entries.next().is_some())
}

/// Makes trees and rows agree again. `is_recorded` says whether the database has a version. Returns how many pieces of
/// work were left.
pub(crate) fn sweep<E: From<PackageError>>(lock: &TreeLock, is_recorded: impl Fn(&str, &str) -> Result<bool, E>) -> Result<usize, E> {
    let left = Work::left(lock.layout())?;
    let count = left.len();
    for (work, intent) in left {
        if let Some(intent) = intent {
            for version in &intent.versions {
                let is_recorded = is_recorded(intent.package.as_str(), version.as_str())?;
                settle(lock.layout(), &work, &intent, version, is_recorded)?;
            }
        }
        work.end()?;
    }
    Ok(count)
}

fn settle(layout: &Layout, work: &Work, intent: &Intent, version: &crate::tool::Version, is_recorded: bool) -> Result<(), PackageError> {
    let id = intent.package.as_str();
    let place = layout.version(id, version.as_str());
    let (new, old) = (work.tree(), work.withdrawn(version));
    match intent.act {
        // It was never moved out of staging, or it was and the database was told.
        Act::Install if is_recorded || new.exists() => {
            if !place.exists() && old.exists() {
                put_back(&old, &place)?;
            }
        }
        // In its place, and nobody was told.
        Act::Install => {
            if place.exists() {
                move_tree(&place, &new)?;
            }
            let _not_empty = fs::remove_dir(layout.package(id));
        }
        Act::Remove if is_recorded => {
            if !place.exists() && old.exists() {
                put_back(&old, &place)?;
            }
            let data = layout.data(id);
            if work.data().exists() {
                work.make_way(&data)?;
                move_back(&work.data(), &data)?;
            }
        }
        Act::Remove => {
            let _not_empty = fs::remove_dir(layout.package(id));
        }
    }
    Ok(())
}

fn put_back(from: &Path, to: &Path) -> Result<(), PackageError> {
    move_back(from, to)?;
    set_mode(to, 0o555)
}

fn move_back(from: &Path, to: &Path) -> Result<(), PackageError> {
    if let Some(parent) = to.parent() {
        private_folder(parent)?;
    }
    fs::rename(from, to).map_err(|error| PackageError::io("move", from, error))
}

#[cfg(all(test, unix))]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeSet;
    use std::ffi::OsStr;
    use std::mem::forget;
    use std::ops::ControlFlow;
    use std::path::PathBuf;
    use std::time::Duration;

    use super::super::inspect::tests::sample;
    use super::super::{Step, inspect, install, withdraw};
    use super::*;
    use crate::tool::PackageId;

    struct Home {
        root: tempfile::TempDir,
        layout: Layout,
    }

    impl Home {
        fn new() -> Self {
            let root = tempfile::tempdir().expect("a folder");
            sample(&root.path().join("source"), "1.0.0", &[]);
            let layout = Layout::new(root.path().join("home"));
            Self { root, layout }
        }

        fn lock(&self) -> TreeLock {
            TreeLock::take(&self.layout, Duration::ZERO, || {}).expect("free")
        }

        fn source(&self) -> PathBuf {
            self.root.path().join("source")
        }

        fn sweep(&self, is_recorded: bool) -> usize {
            sweep::<PackageError>(&self.lock(), |_, _| Ok(is_recorded)).expect("swept")
        }

        /// Everything in the home but locks.
        fn everything(&self) -> Vec<String> {
            let mut found = BTreeSet::new();
            let mut folders = vec![self.layout.home().to_path_buf()];
            while let Some(folder) = folders.pop() {
                for entry in fs::read_dir(&folder).expect("listed") {
                    let path = entry.expect("an entry").path();
                    found.insert(path.strip_prefix(self.layout.home()).expect("below").display().to_string());
                    if path.is_dir() {
                        folders.push(path);
                    }
                }
            }
            found.retain(|path| !path.starts_with("run"));
            found.into_iter().collect()
        }
    }

    fn go_on(_step: Step) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    #[test]
    fn an_install_that_is_stopped_at_any_step_leaves_nothing() {
        for stop_at in 0.. {
            let home = Home::new();
            let inspection = inspect(&home.source(), OsStr::new("")).expect("sound");
            let steps = Cell::new(0);
            let lock = home.lock();
            let installed = install(&lock, &inspection, false, &mut |_| {
                steps.set(steps.get() + 1);
                if steps.get() > stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if installed.is_ok() {
                assert!(stop_at >= 7, "{stop_at}");
                return;
            }
            drop(lock);
            assert_eq!(home.everything(), [""; 0], "stopped at {stop_at}");
        }
    }

    // H: I-1
    #[test]
    fn a_tree_that_the_database_was_not_told_of_is_taken_out_and_one_that_it_was_stays() {
        for is_recorded in [false, true] {
            let home = Home::new();
            let inspection = inspect(&home.source(), OsStr::new("")).expect("sound");
            forget(install(&home.lock(), &inspection, false, &mut go_on).expect("installed"));
            assert!(has_leftovers(&home.layout));
            assert_eq!(home.sweep(is_recorded), 1);
            assert_eq!(home.layout.version("demo.hello", "1.0.0").join("bin/hello").exists(), is_recorded);
            assert!(!has_leftovers(&home.layout));
            if !is_recorded {
                assert_eq!(home.everything(), [""; 0]);
            }
        }
    }

    #[test]
    fn a_tree_on_its_way_out_comes_back_as_long_as_the_database_knows_it() {
        let id: PackageId = "demo.hello".parse().expect("an id");
        for is_recorded in [false, true] {
            let home = Home::new();
            let inspection = inspect(&home.source(), OsStr::new("")).expect("sound");
            install(&home.lock(), &inspection, false, &mut go_on).expect("installed").finish(&mut go_on).expect("finished");
            fs::create_dir_all(home.layout.data("demo.hello")).expect("made");
            fs::write(home.layout.data("demo.hello").join("state"), "x").expect("written");
            let before = home.everything();
            forget(withdraw(&home.lock(), &id, std::slice::from_ref(&inspection.manifest.version), true).expect("out"));
            if is_recorded {
                // A call that still ran has made it again.
                fs::create_dir_all(home.layout.data("demo.hello").join("cache")).expect("made");
            }
            assert_eq!(home.sweep(is_recorded), 1);
            assert_eq!(home.everything(), if is_recorded { before } else { vec![] });
        }
    }

    #[test]
    fn a_repair_that_is_cut_off_leaves_the_old_tree_or_the_new_one() {
        for died_after in [Step::Synced, Step::Cleared, Step::Placed] {
            let home = Home::new();
            let inspection = inspect(&home.source(), OsStr::new("")).expect("sound");
            install(&home.lock(), &inspection, false, &mut go_on).expect("installed").finish(&mut go_on).expect("finished");
            // A watcher that panics stands for the end of the process: nothing after it runs, nothing is undone.
            let lock = home.lock();
            let died = std::thread::scope(|scope| {
                let work = scope.spawn(|| {
                    forget(install(&lock, &inspection, true, &mut |step| if step == died_after { panic!("dies") } else { go_on(step) }));
                });
                work.join().is_err()
            });
            assert!(died);
            drop(lock);
            home.sweep(true);
            assert!(home.layout.version("demo.hello", "1.0.0").join("lib/data.txt").exists(), "{died_after:?}");
            assert!(!has_leftovers(&home.layout));
        }
    }

    #[test]
    fn a_tree_of_unknown_origin_is_never_replaced() {
        let home = Home::new();
        let inspection = inspect(&home.source(), OsStr::new("")).expect("sound");
        let tree = home.layout.version("demo.hello", "1.0.0");
        fs::create_dir_all(&tree).expect("made");
        fs::write(tree.join("precious"), "x").expect("written");
        let refused = install(&home.lock(), &inspection, false, &mut go_on).expect_err("refused");
        assert!(matches!(refused, PackageError::Unrecorded { .. }));
        home.sweep(false);
        assert!(tree.join("precious").exists());
    }

    #[test]
    fn a_file_that_changed_since_it_was_inspected_is_not_installed() {
        let home = Home::new();
        let inspection = inspect(&home.source(), OsStr::new("")).expect("sound");
        fs::write(home.source().join("lib/data.txt"), "DATA").expect("written");
        let refused = install(&home.lock(), &inspection, false, &mut go_on).expect_err("refused");
        assert!(matches!(refused, PackageError::ChangedMeanwhile { .. }));
        assert_eq!(home.everything(), [""; 0]);
    }
}
