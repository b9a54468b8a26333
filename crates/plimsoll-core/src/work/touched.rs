//! What happened to files.

use serde::{Deserialize, Serialize};

use super::act::Change;
use super::noted::Place;
use super::score::Clock;

const MOST_RANGES: usize = 4;

/// What happened to a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Touched {
    pub(super) change: Option<Change>,
    /// What it was called before, if it was moved.
    pub(super) from: Option<String>,
    /// The lines that were changed last, or read last where none was.
    lines: Vec<(u32, u32)>,
    pub(super) at: Clock,
    /// The record that changed it last, or that read it where none did.
    pub(super) place: Place,
}

impl Touched {
    /// Notes that lines were read.
    pub(super) fn read(&mut self, lines: Option<(u32, u32)>, at: Clock, place: Place) {
        self.at = at;
        if self.change.is_none() {
            self.place = place;
            lines.into_iter().for_each(|lines| self.note(lines));
        }
    }

    /// Notes a change.
    pub(super) fn changed(
        &mut self,
        change: Change,
        lines: &[(u32, u32)],
        at: Clock,
        place: Place,
    ) {
        if self.change.is_none() || change != Change::Edited {
            self.lines.clear();
        }
        self.change = Some(after(self.change, change));
        (self.at, self.place) = (at, place);
        lines.iter().for_each(|lines| self.note(*lines));
    }

    /// The lines in play, the newest last.
    fn note(&mut self, lines: (u32, u32)) {
        self.lines.retain(|known| *known != lines);
        if self.lines.len() == MOST_RANGES {
            self.lines.remove(0);
        }
        self.lines.push(lines);
    }

    /// The lines that were in play last.
    pub(super) fn newest_lines(&self) -> Option<String> {
        self.lines.last().map(range)
    }

    /// All lines that are known to have been in play, in their order.
    pub(super) fn all_lines(&self) -> String {
        let mut lines = self.lines.clone();
        lines.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for (from, count) in lines {
            match ranges.last_mut().filter(|(first, known)| first.saturating_add(*known) >= from) {
                Some((first, known)) => {
                    *known = (*known).max((from - *first).saturating_add(count))
                }
                None => ranges.push((from, count)),
            }
        }
        ranges.iter().map(range).collect::<Vec<_>>().join(",")
    }

    /// What was done to it, in words.
    pub(super) fn what(&self) -> String {
        match (self.change, &self.from) {
            (Some(Change::Moved), Some(from)) => format!("moved from {from}"),
            (Some(Change::Moved), None) => "moved".to_owned(),
            (Some(Change::Edited), _) => "edited".to_owned(),
            (Some(Change::Written), _) => "written".to_owned(),
            (Some(Change::Created), _) => "created".to_owned(),
            (Some(Change::Overwritten), _) => "overwritten".to_owned(),
            (Some(Change::Deleted), _) => "deleted".to_owned(),
            (None, _) => "read".to_owned(),
        }
    }
}

/// What two changes come to: an edit of a new file leaves it new.
fn after(before: Option<Change>, change: Change) -> Change {
    match (before, change) {
        (Some(Change::Created), Change::Written | Change::Overwritten) => Change::Created,
        (Some(before), Change::Edited) if before != Change::Deleted => before,
        (_, change) => change,
    }
}

fn range((from, count): &(u32, u32)) -> String {
    match count {
        0 | 1 => from.to_string(),
        _ => [&from.to_string(), "-", &from.saturating_add(count - 1).to_string()].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_counts_more_than_what_was_read() {
        let mut file = Touched::default();
        file.read(Some((1, 200)), 1, 10);
        assert_eq!((file.newest_lines().as_deref(), file.place), (Some("1-200"), 10));
        file.changed(Change::Edited, &[(40, 3), (10, 1)], 2, 20);
        file.read(Some((7, 9)), 3, 30);
        assert_eq!((file.all_lines().as_str(), file.place), ("10,40-42", 20));
        file.changed(Change::Edited, &[(41, 9), (50, 1)], 4, 40);
        assert_eq!(file.all_lines(), "10,40-50");
    }

    #[test]
    fn changes_add_up() {
        let mut file = Touched::default();
        let mut what = |change| {
            file.changed(change, &[], 1, 1);
            file.what()
        };
        assert_eq!(what(Change::Edited), "edited");
        assert_eq!(what(Change::Deleted), "deleted");
        assert_eq!(what(Change::Created), "created");
        assert_eq!(what(Change::Edited), "created");
        assert_eq!(what(Change::Overwritten), "created");
    }
}
