//! Claims: who works on a path right now.

use std::path::PathBuf;

use plimsoll_core::Millis;
use serde::{Deserialize, Serialize};

use super::moment;

/// A path that somebody works on, for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The file or folder, by its whole path.
    pub path: PathBuf,
    /// Who works on it: a session or a person.
    pub holder: String,
    /// Since when.
    #[serde(with = "moment")]
    pub since: Millis,
    /// Until when, unless it is given up earlier or claimed again.
    #[serde(with = "moment")]
    pub until: Millis,
}

impl Claim {
    /// Whether it still holds.
    pub fn holds(&self, now: Millis) -> bool {
        now < self.until
    }

    /// Whether two cannot be held by two: the path is the same, or lies in the other.
    pub fn is_in_the_way_of(&self, other: &Self) -> bool {
        let meets = self.path.starts_with(&other.path) || other.path.starts_with(&self.path);
        meets && self.holder != other.holder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(path: &str, holder: &str) -> Claim {
        Claim { path: path.into(), holder: holder.to_owned(), since: 0, until: 10 }
    }

    #[test]
    fn a_claim_is_in_the_way_of_others_on_the_same_path_above_and_below() {
        let held = claim("/p/src", "one");
        for path in ["/p/src", "/p/src/a.rs", "/p", "/"] {
            assert!(held.is_in_the_way_of(&claim(path, "two")), "{path}");
            assert!(!held.is_in_the_way_of(&claim(path, "one")), "{path}");
        }
        assert!(!held.is_in_the_way_of(&claim("/p/src2", "two")));
    }

    #[test]
    fn a_claim_runs_out() {
        assert!(claim("/p", "one").holds(9));
        assert!(!claim("/p", "one").holds(10));
    }
}
