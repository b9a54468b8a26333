//! Temporary folders.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::paths;
use crate::world::now;

/// A temporary folder. Dropping this removes it; if the process is killed, the next
/// [`Scratch::new`] does.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Creates a folder in `parent`, and removes folders of dead processes there.
    pub(crate) fn new(parent: &Path) -> io::Result<Self> {
        let parent = parent.canonicalize()?;
        sweep(&parent);
        let folder = parent.join(format!("{PREFIX}{}-{}", std::process::id(), now()));
        DirBuilder::new().mode(0o700).create(&folder).map(|()| Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If this fails, the next one tries again.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Marks our folders in the shared folder for temporary files.
const PREFIX: &str = "plimsoll-";

fn sweep(parent: &Path) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = || name.to_str()?.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok();
        if owner().is_some_and(paths::has_ended) && entry.file_type().is_ok_and(|it| it.is_dir()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Larger than any process id.
    const NOBODY: i32 = i32::MAX;

    #[test]
    fn what_the_dead_left_is_swept_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let place = |name: &str| parent.path().join(name);
        let dead = place(&format!("plimsoll-{NOBODY}-1"));
        let alive = place(&format!("plimsoll-{}-1", std::process::id()));
        let foreign = place(&format!("other-{NOBODY}-1"));
        for folder in [&dead, &alive, &foreign] {
            fs::create_dir_all(folder.join("in/it")).unwrap();
        }
        let scratch = Scratch::new(parent.path()).unwrap();
        let own = scratch.path().to_owned();
        assert_eq!(
            [&dead, &alive, &foreign, &own].map(|path| path.exists()),
            [false, true, true, true]
        );
        drop(scratch);
        assert!(!own.exists());
    }
}
