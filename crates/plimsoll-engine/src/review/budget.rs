//! The daily budget of reviews. It is stored in a file, so that a new watcher does not reset it.

use plimsoll_core::Millis;
use plimsoll_core::time;
use serde::{Deserialize, Serialize};

use crate::paths::{self, Links, Paths};

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Spent {
    /// In UTC.
    day: String,
    runs: u64,
}

/// Spends one of `most` runs per day. Returns false if none is left, and fails if the run cannot be
/// recorded.
pub(super) fn spend(paths: &Paths, most: u64, now: Millis) -> anyhow::Result<bool> {
    let day = time::day(now);
    let known = paths::read_small(&paths.reviews(), Links::Refused).ok();
    let known: Option<Spent> = known.and_then(|text| serde_json::from_str(&text).ok());
    let spent = known.filter(|spent| spent.day == day).unwrap_or(Spent { day, runs: 0 });
    if spent.runs >= most {
        return Ok(false);
    }
    let spent = Spent { runs: spent.runs + 1, ..spent };
    paths::replace(&paths.reviews(), &serde_json::to_vec(&spent)?)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_days_runs_are_spent_once_and_the_next_day_has_new_ones() {
        const DAY: Millis = 24 * 3600 * 1000;
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().to_str().unwrap().to_owned();
        let paths = Paths::resolve(&|name| (name == "HOME").then(|| folder.clone())).unwrap();
        let spend = |now| spend(&paths, 2, now).unwrap();
        assert_eq!([spend(0), spend(5), spend(9)], [true, true, false]);
        assert_eq!([spend(DAY), spend(DAY), spend(DAY + 1)], [true, true, false]);
    }
}
