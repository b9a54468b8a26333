//! The user's key on disk: made once, and for nobody else to read.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use plimsoll_core::checkpoint::Key;

use super::file::replace_for_good;
use super::lock::lock;
use crate::paths::{self, Links};

/// Why there is no key to seal with.
#[derive(Debug, thiserror::Error)]
#[error("could not use the key `{}`", path.display())]
pub struct Unusable {
    path: PathBuf,
    #[source]
    why: Why,
}

#[derive(Debug, thiserror::Error)]
enum Why {
    #[error("it belongs to another user")]
    OtherOwner,
    #[error("others may read it or write to it (its mode is {0:o}, not 600)")]
    OpenToOthers(u32),
    #[error("it is not a key")]
    NotAKey,
    #[error("the system gives no random bytes: {0}")]
    NoRandomness(getrandom::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Unusable {
    /// What to do about it.
    pub fn hint(&self) -> String {
        let path = self.path.display();
        match &self.why {
            Why::OpenToOthers(_) => format!("run `chmod 600 {path}` if nobody else had access"),
            Why::OtherOwner | Why::NotAKey => format!(
                "run `mv {path} {path}.old`; a new key is made, and older checkpoints count as foreign"
            ),
            _ => format!("look at it with `ls -l {path}`"),
        }
    }
}

/// The key; nothing if none was made yet.
pub(super) fn read(path: &Path) -> Result<Option<Key>, Unusable> {
    match load(path) {
        Err(Why::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(Unusable { path: path.to_owned(), why }),
        Ok(key) => Ok(Some(key)),
    }
}

/// The key, made if there is none. Of many at once one makes it, and all get the same.
pub(super) fn read_or_make(path: &Path, deadline: Instant) -> Result<Key, Unusable> {
    if let Some(key) = read(path)? {
        return Ok(key);
    }
    make(path, deadline).map_err(|why| Unusable { path: path.to_owned(), why })
}

fn load(path: &Path) -> Result<Key, Why> {
    let mut file = paths::open(path, Links::Refused)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() != Key::LEN as u64 {
        return Err(Why::NotAKey);
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(Why::OtherOwner);
    }
    match metadata.mode() & 0o777 {
        mode if mode & 0o077 != 0 => return Err(Why::OpenToOthers(mode)),
        _ => {}
    }
    let mut bytes = [0; Key::LEN];
    file.read_exact(&mut bytes)?;
    Ok(Key::new(bytes))
}

fn make(path: &Path, deadline: Instant) -> Result<Key, Why> {
    let _locked = lock(|| paths::append(&paths::beside(path, ".lock")), deadline)?;
    match load(path) {
        Err(Why::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
        loaded => return loaded,
    }
    let mut bytes = [0; Key::LEN];
    getrandom::fill(&mut bytes).map_err(Why::NoRandomness)?;
    replace_for_good(path, &bytes)?;
    // A key that is lost with a crash would make strangers of the checkpoints sealed with it.
    File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()?;
    load(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::Duration;

    use super::*;

    fn key(path: &Path) -> Result<Key, Unusable> {
        read_or_make(path, Instant::now() + Duration::from_secs(60))
    }

    #[test]
    fn a_key_is_made_once_and_for_the_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/checkpoint.key");
        assert!(read(&path).unwrap().is_none());
        let keys: Vec<Key> = std::thread::scope(|scope| {
            let make = || key(&path).unwrap();
            let threads: Vec<_> = (0..50).map(|_| scope.spawn(make)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let other = folder.path().join("other.key");
        assert_ne!(key(&other).unwrap(), keys[0], "it is random");
    }

    #[test]
    fn a_key_that_others_could_know_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.key");
        let good = key(&path).unwrap();
        for mode in [0o640, 0o604, 0o620, 0o666] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let refused = key(&path).unwrap_err();
            assert!(matches!(refused.why, Why::OpenToOthers(_)), "{refused:?}");
            assert!(refused.hint().contains("chmod 600"));
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(key(&path).unwrap(), good);
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
            let refused = key(&path).unwrap_err();
            assert!(matches!(refused.why, Why::OtherOwner), "{refused:?}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.key");
        fs::write(&path, "short").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(key(&path).unwrap_err().why, Why::NotAKey));
        assert_eq!(fs::read(&path).unwrap(), b"short");
        let real = folder.path().join("real.key");
        key(&real).unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&real, &path).unwrap();
        assert!(matches!(key(&path).unwrap_err().why, Why::Io(_)));
    }
}
