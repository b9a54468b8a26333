//! The user's key on disk: made once, and for nobody else to read.

use std::path::Path;
use std::time::Instant;

use plimsoll_extract::checkpoint::Key;

pub use crate::secret::Unusable;
use crate::secret::{self, Kind};

const KIND: Kind = Kind {
    len: Key::LEN,
    written: |bytes| bytes.to_vec(),
    loss: "a new key is made, and older checkpoints count as foreign",
};

/// The key; nothing if none was made yet.
pub(super) fn read(path: &Path) -> Result<Option<Key>, Unusable> {
    Ok(secret::read(path, &KIND)?.map(key))
}

/// The key, made if there is none. Of many at once one makes it, and all get the same.
pub(super) fn read_or_make(path: &Path, deadline: Instant) -> Result<Key, Unusable> {
    secret::read_or_make(path, &KIND, deadline).map(key)
}

fn key(bytes: Vec<u8>) -> Key {
    let mut key = [0; Key::LEN];
    // What was read has the length of its kind.
    key.copy_from_slice(&bytes);
    Key::new(key)
}
