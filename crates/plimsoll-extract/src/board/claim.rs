//! Claims: which session or person works on a path right now.

use std::path::PathBuf;

use plimsoll_core::Millis;
use serde::{Deserialize, Serialize};

use super::moment;

/// A time-limited claim on a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathClaim {
    /// Full path of the file or folder.
    pub path: PathBuf,
    /// The session or person that made the claim.
    pub holder: String,
    #[serde(with = "moment")]
    pub since: Millis,
    /// Expiry time, unless the holder releases or renews the claim earlier.
    #[serde(with = "moment")]
    pub until: Millis,
}

impl PathClaim {
    /// Returns whether the claim is still valid.
    pub fn is_active(&self, now: Millis) -> bool {
        now < self.until
    }

    /// Returns whether two claims conflict: they have different holders, and one path contains or
    /// equals the other.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        let meets = self.path.starts_with(&other.path) || other.path.starts_with(&self.path);
        meets && self.holder != other.holder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(path: &str, holder: &str) -> PathClaim {
        PathClaim { path: path.into(), holder: holder.to_owned(), since: 0, until: 10 }
    }

    #[test]
    fn claims_conflict_on_the_same_path_and_its_parents_and_children() {
        let held = claim("/p/src", "one");
        for path in ["/p/src", "/p/src/a.rs", "/p", "/"] {
            assert!(held.conflicts_with(&claim(path, "two")), "{path}");
            assert!(!held.conflicts_with(&claim(path, "one")), "{path}");
        }
        assert!(!held.conflicts_with(&claim("/p/src2", "two")));
    }

    #[test]
    fn claims_expire() {
        assert!(claim("/p", "one").is_active(9));
        assert!(!claim("/p", "one").is_active(10));
    }
}
