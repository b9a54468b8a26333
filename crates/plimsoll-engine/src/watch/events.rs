//! File system events of folders.
//!
//! One watch per folder, not per file, and only for changes of content and names: our own opening
//! of a file must not wake us.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// Size of the event buffer in bytes.
const BUFFER: usize = 64 << 10;

/// The watched folders and their pending events.
pub(super) struct Events {
    inotify: OwnedFd,
    folders: HashMap<i32, PathBuf>,
    buffer: Vec<MaybeUninit<u8>>,
}

/// Which events of a folder to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    /// Created, deleted and modified files.
    Contents,
    /// Created files only.
    Names,
}

/// Changes since the last call.
#[derive(Debug, Default)]
pub(super) struct Changed {
    pub(super) files: HashSet<PathBuf>,
    /// New folders.
    pub(super) folders: HashSet<PathBuf>,
    /// The event queue overflowed.
    pub(super) is_incomplete: bool,
}

impl Events {
    pub(super) fn open() -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let buffer = vec![MaybeUninit::uninit(); BUFFER];
        Ok(Self { inotify, folders: HashMap::new(), buffer })
    }

    /// Watches a folder. Watching it again is harmless.
    pub(super) fn watch(&mut self, folder: &Path, interest: Interest) -> io::Result<()> {
        let comes = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
        let flags = match interest {
            Interest::Names => comes,
            Interest::Contents => {
                comes | WatchFlags::MODIFY | WatchFlags::DELETE | WatchFlags::MOVED_FROM
            }
        };
        let watch = inotify::add_watch(&self.inotify, folder, flags)?;
        self.folders.insert(watch, folder.to_owned());
        Ok(())
    }

    /// Takes all pending events.
    pub(super) fn take(&mut self) -> io::Result<Changed> {
        let mut changed = Changed::default();
        let mut reader = Reader::new(&self.inotify, &mut self.buffer);
        loop {
            let event = match reader.next() {
                Err(Errno::AGAIN) => return Ok(changed),
                Err(Errno::INTR) => continue,
                event => event?,
            };
            let what = event.events();
            changed.is_incomplete |= what.contains(ReadFlags::QUEUE_OVERFLOW);
            if what.contains(ReadFlags::IGNORED) {
                self.folders.remove(&event.wd());
            }
            let (Some(folder), Some(name)) = (self.folders.get(&event.wd()), event.file_name())
            else {
                continue;
            };
            let path = folder.join(OsStr::from_bytes(name.to_bytes()));
            match what.contains(ReadFlags::ISDIR) {
                true => changed.folders.insert(path),
                false => changed.files.insert(path),
            };
        }
    }
}

impl AsFd for Events {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}
