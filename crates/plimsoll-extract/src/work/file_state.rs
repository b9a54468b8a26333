//! Tracks the state of files that the agent read or changed.

use plimsoll_core::entry::Place;
use serde::{Deserialize, Serialize};

use super::record::ChangeKind;
use super::score::Clock;

const MOST_RANGES: usize = 4;

/// The state of a file that the agent read or changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FileState {
    pub(super) change: Option<ChangeKind>,
    /// Path before a move.
    pub(super) from: Option<String>,
    /// Lines last changed, or last read if there was no change.
    lines: Vec<(u32, u32)>,
    pub(super) at: Clock,
    /// Place of the record that last changed the file, or read it if there was no change.
    pub(super) place: Place,
    history: History,
}

/// Data that shows whether a file is back in its original state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct History {
    /// Hash of the content before the first change, if the client recorded it.
    original: Option<u64>,
    /// Edits that no reverse edit has undone; `None` if something other than edits changed the
    /// file.
    open_edits: Option<Vec<Replacement>>,
    is_staged: bool,
    /// Whether a command wrote the file before anything else named it: it is probably new.
    is_first_seen: bool,
    /// Whether the file changed since the last commit.
    is_dirty: bool,
    /// The change as of the last commit, and the number of the first commit that included a change.
    committed: Option<(ChangeKind, u32)>,
}

/// Hashes of the removed and of the new text of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Replacement {
    pub(super) old: u64,
    pub(super) new: u64,
}

/// The text that a tool wrote into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum WrittenText {
    Part(Replacement),
    /// Hash of the whole content.
    Whole(u64),
}

const MOST_OPEN_EDITS: usize = 64;

impl FileState {
    /// Records that lines were read.
    pub(super) fn read(&mut self, lines: Option<(u32, u32)>, at: Clock, place: Place) {
        self.at = at;
        if self.change.is_none() {
            self.place = place;
            lines.into_iter().for_each(|lines| self.note(lines));
        }
    }

    /// Records a change.
    pub(super) fn changed(
        &mut self,
        change: ChangeKind,
        lines: &[(u32, u32)],
        at: Clock,
        place: Place,
    ) {
        (self.at, self.place) = (at, place);
        let is_new = self.change == Some(ChangeKind::Created) || self.history.is_first_seen;
        if is_new && change == ChangeKind::Deleted {
            let is_first_seen = self.history.is_first_seen;
            self.put_back();
            self.history.is_first_seen = is_first_seen;
            return;
        }
        if self.change.is_none() || change != ChangeKind::Edited {
            self.lines.clear();
        }
        self.change = Some(after(self.change, change));
        (self.history.open_edits, self.history.is_dirty) = (None, true);
        lines.iter().for_each(|lines| self.note(*lines));
    }

    /// Records a tool's edit or write. A file with its original content counts as unchanged.
    /// `original` returns the hash of the content before the first change.
    pub(super) fn written(
        &mut self,
        written: WrittenText,
        change: ChangeKind,
        lines: &[(u32, u32)],
        original: impl FnOnce() -> Option<u64>,
        (at, place): (Clock, Place),
    ) {
        if self.change.is_none() {
            self.history = History {
                original: original(),
                open_edits: Some(Vec::new()),
                ..History::default()
            };
        }
        let mut open_edits = self.history.open_edits.take();
        self.changed(change, lines, at, place);
        let is_original = match written {
            WrittenText::Part(edit) => takes_back(&mut open_edits, edit),
            WrittenText::Whole(content) => {
                open_edits = None;
                self.history.original == Some(content)
            }
        };
        match is_original {
            true => self.put_back(),
            false => self.history.open_edits = open_edits,
        }
    }

    /// Records that the file is in its state from the start of the session.
    pub(super) fn put_back(&mut self) {
        (self.change, self.from, self.history) = (None, None, History::default());
        self.lines.clear();
    }

    /// Records that the file is in its state from the last commit.
    pub(super) fn restored(&mut self) {
        match self.history.committed {
            None => self.put_back(),
            Some((change, _)) => {
                self.change = Some(change);
                self.history.open_edits = None;
                (self.history.is_staged, self.history.is_dirty) = (false, false);
            }
        }
    }

    /// Records that a command wrote the file before anything else named it.
    pub(super) fn first_seen(&mut self) {
        self.history.is_first_seen = true;
    }

    pub(super) fn stage(&mut self) {
        self.history.is_staged = true;
    }

    pub(super) fn is_staged(&self) -> bool {
        self.history.is_staged
    }

    /// Records that a commit includes the change.
    pub(super) fn commit(&mut self, number: u32) {
        let first = self.history.committed.map_or(number, |(_, first)| first);
        self.history.committed = self.change.map(|change| (change, first));
        (self.history.is_staged, self.history.is_dirty) = (false, false);
    }

    /// Records that all commits after this one are gone, and that the file is as in it.
    pub(super) fn reset_to(&mut self, commit: u32) {
        self.history.committed = self.history.committed.filter(|(_, first)| *first <= commit);
        if !self.is_untracked() {
            self.restored();
        }
    }

    /// Returns whether the file changed since the last commit.
    pub(super) fn is_dirty(&self) -> bool {
        self.history.is_dirty
    }

    /// Returns whether git does not track the file: it was created, and neither staged nor
    /// committed.
    pub(super) fn is_untracked(&self) -> bool {
        self.change == Some(ChangeKind::Created)
            && !self.is_staged()
            && self.history.committed.is_none()
    }

    /// Adds a range of lines, newest last.
    fn note(&mut self, lines: (u32, u32)) {
        self.lines.retain(|known| *known != lines);
        if self.lines.len() == MOST_RANGES {
            self.lines.remove(0);
        }
        self.lines.push(lines);
    }

    /// Returns the lines last changed or read.
    pub(super) fn newest_lines(&self) -> Option<String> {
        self.lines.last().map(range)
    }

    /// Returns all known changed or read lines, in file order.
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

    /// Describes the change in words.
    pub(super) fn what(&self) -> String {
        match (self.change, &self.from) {
            (Some(ChangeKind::Moved), Some(from)) => format!("moved from {from}"),
            (Some(ChangeKind::Moved), None) => "moved".to_owned(),
            (Some(ChangeKind::Edited), _) => "edited".to_owned(),
            (Some(ChangeKind::Written), _) => "written".to_owned(),
            (Some(ChangeKind::Created), _) => "created".to_owned(),
            (Some(ChangeKind::Overwritten), _) => "overwritten".to_owned(),
            (Some(ChangeKind::Deleted), _) => "deleted".to_owned(),
            (None, _) => "read".to_owned(),
        }
    }
}

/// Records an edit, and returns whether all edits are undone.
fn takes_back(open_edits: &mut Option<Vec<Replacement>>, edit: Replacement) -> bool {
    let Some(open) = open_edits else { return false };
    let opposite = Replacement { old: edit.new, new: edit.old };
    match open.iter().rposition(|known| *known == opposite) {
        Some(at) => {
            open.remove(at);
        }
        None => open.push(edit),
    }
    let is_empty = open.is_empty();
    if open.len() > MOST_OPEN_EDITS {
        *open_edits = None;
    }
    is_empty
}

/// Combines two changes: an edit of a new file leaves it new.
fn after(before: Option<ChangeKind>, change: ChangeKind) -> ChangeKind {
    match (before, change) {
        (Some(ChangeKind::Created), ChangeKind::Written | ChangeKind::Overwritten) => {
            ChangeKind::Created
        }
        (Some(before), ChangeKind::Edited) if before != ChangeKind::Deleted => before,
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
    fn changes_replace_reads() {
        let mut file = FileState::default();
        file.read(Some((1, 200)), 1, 10);
        assert_eq!((file.newest_lines().as_deref(), file.place), (Some("1-200"), 10));
        file.changed(ChangeKind::Edited, &[(40, 3), (10, 1)], 2, 20);
        file.read(Some((7, 9)), 3, 30);
        assert_eq!((file.all_lines().as_str(), file.place), ("10,40-42", 20));
        file.changed(ChangeKind::Edited, &[(41, 9), (50, 1)], 4, 40);
        assert_eq!(file.all_lines(), "10,40-50");
    }

    fn edit(file: &mut FileState, old: u64, new: u64) {
        let edit = WrittenText::Part(Replacement { old, new });
        file.written(edit, ChangeKind::Edited, &[], || Some(1), (1, 1));
    }

    #[test]
    fn a_reverse_edit_undoes_an_edit() {
        let mut file = FileState::default();
        edit(&mut file, 1, 2);
        edit(&mut file, 3, 4);
        edit(&mut file, 2, 1);
        assert_eq!(file.what(), "edited");
        edit(&mut file, 4, 3);
        assert_eq!(file.change, None);
    }

    #[test]
    fn writing_the_original_content_undoes_all_changes() {
        let mut file = FileState::default();
        edit(&mut file, 7, 8);
        file.written(WrittenText::Whole(2), ChangeKind::Overwritten, &[], || None, (1, 1));
        assert_eq!(file.what(), "overwritten");
        file.written(WrittenText::Whole(1), ChangeKind::Overwritten, &[], || None, (1, 1));
        assert_eq!(file.change, None);
    }

    #[test]
    fn a_new_file_stays_new_when_its_edits_are_undone() {
        let mut file = FileState::default();
        file.written(WrittenText::Whole(1), ChangeKind::Created, &[], || None, (1, 1));
        edit(&mut file, 1, 2);
        edit(&mut file, 2, 1);
        assert_eq!(file.what(), "created");
        file.changed(ChangeKind::Deleted, &[], 1, 1);
        assert_eq!(file.change, None);
    }

    #[test]
    fn committed_changes_survive_a_later_restore() {
        let mut file = FileState::default();
        edit(&mut file, 1, 2);
        file.commit(1);
        file.changed(ChangeKind::Deleted, &[], 1, 1);
        file.restored();
        assert_eq!(file.what(), "edited");
        file.reset_to(0);
        assert_eq!(file.change, None);
    }

    #[test]
    fn changes_add_up() {
        let mut file = FileState::default();
        let mut what = |change| {
            file.changed(change, &[], 1, 1);
            file.what()
        };
        assert_eq!(what(ChangeKind::Edited), "edited");
        assert_eq!(what(ChangeKind::Deleted), "deleted");
        assert_eq!(what(ChangeKind::Created), "created");
        assert_eq!(what(ChangeKind::Edited), "created");
        assert_eq!(what(ChangeKind::Overwritten), "created");
    }
}
