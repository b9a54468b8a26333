//! The user's key on disk: made once, and readable only by the user.

use std::path::Path;
use std::time::Instant;

use plimsoll_extract::checkpoint::SealingKey;

pub use crate::secret::Unusable;
use crate::secret::{self, Kind};

const KIND: Kind = Kind {
    len: SealingKey::LEN,
    written: |bytes| bytes.to_vec(),
    loss: "a new key is made, and older checkpoints count as foreign",
};

/// Reads the key; `None` if there is none yet.
pub(super) fn read(path: &Path) -> Result<Option<SealingKey>, Unusable> {
    Ok(secret::read(path, &KIND)?.map(key))
}

/// Reads the key, or makes one if there is none. Concurrent callers get the same key.
pub(super) fn read_or_make(path: &Path, deadline: Instant) -> Result<SealingKey, Unusable> {
    secret::read_or_make(path, &KIND, deadline).map(key)
}

fn key(bytes: Vec<u8>) -> SealingKey {
    let mut key = [0; SealingKey::LEN];
    // `secret::read` checks the length.
    key.copy_from_slice(&bytes);
    SealingKey::new(key)
}
