//! From an inspected folder to an immutable tree in its place: copied beside it, synced once, renamed.
//!
//! The order is design §5's: stage, sync, rename, and the caller's database commit. A process that dies between two
//! steps leaves its intent, and [`super::sweep`] finishes or undoes the work.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::digest::{FeedError, TreeHash};
use super::error::PackageError;
use super::inspect::Inspection;
use super::intent::{Act, Intent, TreeLock, Work, move_tree, private_folder, set_mode};
use crate::base::files;
use crate::base::stamp::{Stamp, StampedFile};
use crate::manifest::Runtime;
use crate::tool::{PackageId, Version};

/// Where an install is. Whoever watches may end it at each, or be killed at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The intent is written.
    Begun,
    /// So many files of all are copied.
    Copied { files: u64, of: u64 },
    /// Folders have their final modes.
    Sealed,
    /// Everything is on the disk, under its name in `staging/`.
    Synced,
    /// A tree that was in the place before is out of it.
    Cleared,
    /// The tree is in its place.
    Placed,
    /// Its name there is on the disk.
    NameSynced,
    /// The database knows it.
    Recorded,
}

/// Hears of every step; [`ControlFlow::Break`] ends the install, which then leaves nothing.
pub(crate) type Watch<'a> = dyn FnMut(Step) -> ControlFlow<()> + 'a;

const FOLDER_WHILE_STAGED: u32 = 0o755;
const FOLDER: u32 = 0o555;
const PROGRAM: u32 = 0o555;
const FILE: u32 = 0o444;

/// A tree in its place that the database doesn't know yet.
#[derive(Debug)]
pub(crate) struct Placed {
    work: Work,
    tree: PathBuf,
    package: PathBuf,
    version: Version,
    replaced: bool,
    /// To be recorded, in the order of the digest.
    pub(crate) files: Vec<StampedFile>,
}

/// Puts an inspected package into its place. The place must be free; with `replace`, what is there is moved out of the
/// way first, and comes back if this fails.
pub(crate) fn install(lock: &TreeLock, inspection: &Inspection, replace: bool, watch: &mut Watch<'_>) -> Result<Placed, PackageError> {
    let layout = lock.layout();
    let (id, version) = (&inspection.manifest.id, &inspection.manifest.version);
    let tree = layout.version(id.as_str(), version.as_str());
    if !replace && fs::symlink_metadata(&tree).is_ok() {
        return Err(PackageError::Unrecorded { path: tree });
    }
    let intent = Intent { act: Act::Install, package: id.clone(), versions: vec![version.clone()] };
    let work = Work::begin(lock, &intent)?;
    let mut placed =
        Placed { work, tree, package: layout.package(id.as_str()), version: version.clone(), replaced: false, files: Vec::new() };
    match placed.put(inspection, replace, layout.home(), watch) {
        Ok(()) => Ok(placed),
        Err(error) => {
            // The first error is the one to report; what can't be undone now is undone by the next command.
            let _swept_later = placed.undo();
            Err(error)
        }
    }
}

impl Placed {
    fn put(&mut self, inspection: &Inspection, replace: bool, home: &Path, watch: &mut Watch<'_>) -> Result<(), PackageError> {
        step(watch, Step::Begun)?;
        let staged = self.work.tree();
        self.files = copy(inspection, &staged, watch)?;
        seal(&staged)?;
        step(watch, Step::Sealed)?;
        let write = |path: &Path| {
            let path = path.to_path_buf();
            move |error| PackageError::write(&path, inspection.selection.bytes, error)
        };
        files::sync_tree(&self.work.folder).map_err(write(&staged))?;
        step(watch, Step::Synced)?;
        private_folder(&self.package)?;
        if replace && self.tree.exists() {
            move_tree(&self.tree, &self.work.withdrawn(&self.version))?;
            self.replaced = true;
            step(watch, Step::Cleared)?;
        }
        fs::rename(&staged, &self.tree).map_err(|error| PackageError::io("move", &staged, error))?;
        set_mode(&self.tree, FOLDER)?;
        step(watch, Step::Placed)?;
        let packages = self.package.parent().unwrap_or(home);
        for folder in [&self.package, packages, home] {
            files::sync_folder(folder).map_err(write(folder))?;
        }
        step(watch, Step::NameSynced)
    }

    /// Ends the work once the database knows the tree.
    pub(crate) fn finish(self, watch: &mut Watch<'_>) -> Result<(), PackageError> {
        // From here on there is nothing to be stopped.
        let _done = watch(Step::Recorded);
        self.work.end()
    }

    /// Takes the tree out of its place again.
    pub(crate) fn undo(self) -> Result<(), PackageError> {
        let staged = self.work.tree();
        if !staged.exists() && self.tree.exists() {
            move_tree(&self.tree, &staged)?;
        }
        if self.replaced {
            fs::rename(self.work.withdrawn(&self.version), &self.tree).map_err(|error| PackageError::io("move", &self.tree, error))?;
            set_mode(&self.tree, FOLDER)?;
        }
        let _not_empty = fs::remove_dir(&self.package);
        self.work.end()
    }
}

fn step(watch: &mut Watch<'_>, step: Step) -> Result<(), PackageError> {
    if watch(step).is_break() { Err(PackageError::Stopped) } else { Ok(()) }
}

/// Copies a package to `folder`, which must not exist, as an install would have it, to be used once and removed.
pub(crate) fn copy_once(inspection: &Inspection, folder: &Path) -> Result<(), PackageError> {
    copy(inspection, folder, &mut |_| ControlFlow::Continue(()))?;
    seal(folder)?;
    set_mode(folder, FOLDER)
}

/// Copies a package's files, and checks on the way that they are still what was inspected.
fn copy(inspection: &Inspection, staged: &Path, watch: &mut Watch<'_>) -> Result<Vec<StampedFile>, PackageError> {
    let command = inspection.command_path();
    let needed = inspection.selection.bytes;
    make_folders(inspection, staged)?;
    let mut hash = TreeHash::new();
    let mut files = Vec::with_capacity(inspection.selection.files.len());
    let of = inspection.selection.files.len() as u64;
    for file in &inspection.selection.files {
        let target = staged.join(&file.path);
        let mut source = files::open_regular(&file.source).map_err(|error| PackageError::io("read", &file.source, error))?;
        let mut content = Sha256::new();
        let mut copied = None;
        let fed = hash.feed(&file.path, file.size, command.as_deref() == Some(&file.path), &mut source, |chunk, is_program| {
            content.update(chunk);
            let copy = match &mut copied {
                Some(copy) => copy,
                None => copied.insert(create(&target, is_program)?),
            };
            copy.write_all(chunk)
        });
        drop(copied);
        match fed {
            Ok(_) => {}
            Err(FeedError::Read(error)) => return Err(PackageError::io("read", &file.source, error)),
            Err(FeedError::Changed) => return Err(PackageError::ChangedMeanwhile { path: file.source.clone() }),
            Err(FeedError::Pass(error)) => return Err(PackageError::write(&target, needed, error)),
        }
        let metadata = fs::symlink_metadata(&target).map_err(|error| PackageError::io("look at", &target, error))?;
        files.push(StampedFile { path: file.path.clone(), sha256: content.finalize().into(), stamp: Stamp::of(&metadata) });
        step(watch, Step::Copied { files: files.len() as u64, of })?;
    }
    if hash.finish() == inspection.digest { Ok(files) } else { Err(PackageError::ChangedMeanwhile { path: inspection.root.clone() }) }
}

/// Makes every folder of the tree: those that files are in, and the one that the program starts in.
fn make_folders(inspection: &Inspection, staged: &Path) -> Result<(), PackageError> {
    let mut folders: BTreeSet<&str> = BTreeSet::from([""]);
    for file in &inspection.selection.files {
        folders.extend(file.path.match_indices('/').map(|(at, _)| &file.path[..at]));
    }
    if let Runtime::Process(process) = &inspection.manifest.runtime
        && let Some(folder) = &process.working_directory
    {
        folders.extend(folder.match_indices('/').map(|(at, _)| &folder[..at]).chain([folder.as_str()]));
    }
    for folder in folders {
        let path = staged.join(folder);
        match fs::create_dir(&path) {
            Ok(()) => set_mode(&path, FOLDER_WHILE_STAGED)?,
            // `a` and `./a`.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(PackageError::write(&path, inspection.selection.bytes, error)),
        }
    }
    Ok(())
}

fn create(target: &Path, is_program: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mode = if is_program { PROGRAM } else { FILE };
    let file = options.open(target)?;
    // Whatever the umask.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    #[cfg(not(unix))]
    let _unused = mode;
    Ok(file)
}

/// Takes the write bits off every folder below the root. The root keeps them until it is in its place: moving a folder
/// needs them.
fn seal(folder: &Path) -> Result<(), PackageError> {
    let read = |error| PackageError::io("read", folder, error);
    for entry in fs::read_dir(folder).map_err(read)? {
        let entry = entry.map_err(read)?;
        if entry.file_type().map_err(read)?.is_dir() {
            seal(&entry.path())?;
            set_mode(&entry.path(), FOLDER)?;
        }
    }
    Ok(())
}

/// Trees that are out of their places while the database still knows them.
#[derive(Debug)]
pub(crate) struct Withdrawn {
    work: Work,
    moved: Vec<Moved>,
    package: PathBuf,
}

/// A folder on its way out, with the permissions it had.
#[derive(Debug)]
struct Moved {
    from: PathBuf,
    to: PathBuf,
    permissions: fs::Permissions,
}

/// Takes versions of a package out of their places; with `data`, the package's own data too.
pub(crate) fn withdraw(lock: &TreeLock, id: &PackageId, versions: &[Version], data: bool) -> Result<Withdrawn, PackageError> {
    let layout = lock.layout();
    let intent = Intent { act: Act::Remove, package: id.clone(), versions: versions.to_vec() };
    let work = Work::begin(lock, &intent)?;
    // A move that outlives a power cut needs its reason to do so too.
    files::sync_tree(&work.folder).map_err(|error| PackageError::write(&work.folder, 0, error))?;
    let mut moves: Vec<(PathBuf, PathBuf)> =
        versions.iter().map(|version| (layout.version(id.as_str(), version.as_str()), work.withdrawn(version))).collect();
    if data {
        moves.push((layout.data(id.as_str()), work.data()));
    }
    let mut withdrawn = Withdrawn { work, moved: Vec::new(), package: layout.package(id.as_str()) };
    for (from, to) in moves {
        let Ok(metadata) = fs::symlink_metadata(&from) else { continue };
        if let Err(error) = move_tree(&from, &to) {
            let _swept_later = withdrawn.undo();
            return Err(error);
        }
        withdrawn.moved.push(Moved { from, to, permissions: metadata.permissions() });
    }
    Ok(withdrawn)
}

impl Withdrawn {
    /// Deletes the trees once the database doesn't know them any more. What can't be deleted now is swept later.
    pub(crate) fn finish(self) -> Result<(), PackageError> {
        let _not_empty = fs::remove_dir(&self.package);
        self.work.end()
    }

    /// Puts the trees back.
    pub(crate) fn undo(self) -> Result<(), PackageError> {
        for Moved { from, to, permissions } in self.moved {
            self.work.make_way(&from)?;
            fs::rename(&to, &from).map_err(|error| PackageError::io("move", &to, error))?;
            fs::set_permissions(&from, permissions).map_err(|error| PackageError::io("set the mode of", &from, error))?;
        }
        self.work.end()
    }
}
