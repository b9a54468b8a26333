//! The server's access token: a secret in a file of the user, for clients that are not known to be
//! the user.

use std::time::{Duration, Instant};

use crate::paths::Paths;
pub use crate::secret::Unusable;
use crate::secret::{self, Kind, RANDOM};

const KIND: Kind = Kind {
    len: 2 * RANDOM,
    written: hexadecimal,
    loss: "a new token is made, and whoever has the old one needs it",
};

/// How long to wait for another process that makes the token.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads the token, or makes one if there is none.
pub fn read_or_make(paths: &Paths) -> Result<Vec<u8>, Unusable> {
    secret::read_or_make(&paths.token(), &KIND, Instant::now() + PATIENCE)
}

fn hexadecimal(bytes: &[u8; RANDOM]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}
