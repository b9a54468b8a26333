//! Small files with random content, made once and readable only by the user.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::checkpoint::replace_for_good;
use crate::lock::lock;
use crate::paths::{self, Links};

/// Format of a secret.
pub(crate) struct Kind {
    /// Length of the file.
    pub(crate) len: usize,
    /// Encodes random bytes.
    pub(crate) written: fn(&[u8; RANDOM]) -> Vec<u8>,
    /// Consequence of making a new secret, as the end of a sentence.
    pub(crate) loss: &'static str,
}

/// Number of random bytes in a secret.
pub(crate) const RANDOM: usize = 32;

/// Error of reading or making a secret.
#[derive(Debug, thiserror::Error)]
#[error("could not use the key `{}`", path.display())]
pub struct Unusable {
    path: PathBuf,
    loss: &'static str,
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
    /// Returns what the user can do about the error.
    pub fn hint(&self) -> String {
        let (path, loss) = (self.path.display(), self.loss);
        match &self.why {
            Why::OpenToOthers(_) => format!("run `chmod 600 {path}` if nobody else had access"),
            Why::OtherOwner | Why::NotAKey => format!("run `mv {path} {path}.old`; {loss}"),
            _ => format!("look at it with `ls -l {path}`"),
        }
    }
}

/// Reads the secret; `None` if there is none yet.
pub(crate) fn read(path: &Path, kind: &Kind) -> Result<Option<Vec<u8>>, Unusable> {
    match load(path, kind) {
        Err(Why::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(Unusable { path: path.to_owned(), loss: kind.loss, why }),
        Ok(secret) => Ok(Some(secret)),
    }
}

/// Reads the secret, or makes one if there is none. Concurrent callers get the same secret.
pub(crate) fn read_or_make(
    path: &Path,
    kind: &Kind,
    deadline: Instant,
) -> Result<Vec<u8>, Unusable> {
    if let Some(secret) = read(path, kind)? {
        return Ok(secret);
    }
    make(path, kind, deadline).map_err(|why| Unusable {
        path: path.to_owned(),
        loss: kind.loss,
        why,
    })
}

fn load(path: &Path, kind: &Kind) -> Result<Vec<u8>, Why> {
    let mut file = paths::open(path, Links::Refused)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() != kind.len as u64 {
        return Err(Why::NotAKey);
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(Why::OtherOwner);
    }
    match metadata.mode() & 0o777 {
        mode if mode & 0o077 != 0 => return Err(Why::OpenToOthers(mode)),
        _ => {}
    }
    let mut bytes = vec![0; kind.len];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn make(path: &Path, kind: &Kind, deadline: Instant) -> Result<Vec<u8>, Why> {
    let _locked = lock(|| paths::append(&paths::beside(path, ".lock")), deadline)?;
    match load(path, kind) {
        Err(Why::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
        loaded => return loaded,
    }
    let mut bytes = [0; RANDOM];
    getrandom::fill(&mut bytes).map_err(Why::NoRandomness)?;
    replace_for_good(path, &(kind.written)(&bytes))?;
    // Sync the folder too: without the key, checkpoints sealed with it would count as foreign.
    File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()?;
    load(path, kind)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::Duration;

    use super::*;

    const KIND: Kind = Kind { len: RANDOM, written: |bytes| bytes.to_vec(), loss: "all is lost" };

    fn key(path: &Path) -> Result<Vec<u8>, Unusable> {
        read_or_make(path, &KIND, Instant::now() + Duration::from_secs(60))
    }

    #[test]
    fn a_key_is_made_once_and_for_the_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/checkpoint.key");
        assert!(read(&path, &KIND).unwrap().is_none());
        let keys: Vec<Vec<u8>> = std::thread::scope(|scope| {
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
