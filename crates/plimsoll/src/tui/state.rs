//! State of the terminal dashboard and the effect of keys. Nothing here draws or reads.

use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;

use plimsoll_agents::Owner;
use plimsoll_core::event::SessionId;
use plimsoll_core::run::Run;
use plimsoll_engine::criteria::Criteria;

use super::keys::Key;
use super::session::{DashboardSession, DashboardSubagent, SessionPhase};

/// Everything that the view shows.
#[derive(Default)]
pub(crate) struct DashboardState {
    sessions: Vec<DashboardSession>,
    /// Progress of the first scan: sessions done and total.
    pub(crate) progress: Option<(usize, usize)>,
    /// The selected row, by owner, because rows appear, disappear and move.
    selected: Option<Owner>,
    pub(crate) sort: SortOrder,
    pub(crate) is_reversed: bool,
    pub(crate) filter: String,
    /// Whether keys go into the filter.
    pub(crate) is_typing: bool,
    unfolded: HashSet<SessionId>,
    pub(crate) pane: Option<Pane>,
    /// Number of lines scrolled in the pane.
    pub(crate) scroll_offset: usize,
    /// The requested checkpoint and its text; the text is empty until it arrives.
    pub(crate) checkpoint: Option<(String, Vec<String>)>,
    /// The active runs, newest first.
    pub(crate) runs: Vec<Run>,
    /// Sessions that belong to a run.
    run_sessions: HashSet<String>,
    /// Figures that show whether plimsoll achieves its goals, as of the last request.
    pub(crate) criteria: Option<Criteria>,
    /// Result of the last action.
    pub(crate) message: Option<String>,
}

/// Contents of the pane below the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pane {
    /// The session's curve and its last checkpoint.
    Detail,
    /// The figures that show whether plimsoll achieves its goals.
    Criteria,
    Help,
}

/// Sort order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SortOrder {
    /// Fullest first.
    #[default]
    Load,
    /// Nearest to compaction first.
    Distance,
    /// Longest without a checkpoint first.
    Checkpoint,
    /// Most recently active first.
    Activity,
    /// By project.
    Project,
}

#[derive(Clone, Copy)]
pub(crate) enum ListRow<'a> {
    Session(&'a DashboardSession),
    /// A subagent of the session above.
    Subagent(&'a DashboardSession, &'a DashboardSubagent),
}

/// Action requested by a key that the state cannot perform itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyAction {
    None,
    Quit,
    /// Read the figures for [`Pane::Criteria`].
    ReadCriteria,
    /// Make a checkpoint of the session now.
    Seal(SessionId),
    /// Copy the command that resumes the session.
    Copy(SessionId),
    /// Open a checkpoint of the session in the pager.
    Page(SessionId, String),
}

/// Rows per page key.
const PAGE: usize = 10;

impl SortOrder {
    pub(crate) const ALL: [Self; 5] =
        [Self::Load, Self::Distance, Self::Checkpoint, Self::Activity, Self::Project];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Distance => "distance",
            Self::Checkpoint => "checkpoint",
            Self::Activity => "activity",
            Self::Project => "project",
        }
    }

    fn next(self) -> Self {
        let at = Self::ALL.iter().position(|sort| *sort == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()]
    }

    fn compare(self, one: &DashboardSession, other: &DashboardSession) -> Ordering {
        match self {
            Self::Load => other.load.percent().total_cmp(&one.load.percent()),
            Self::Distance => one.forecast.tokens.cmp(&other.forecast.tokens),
            Self::Checkpoint => {
                let sealed =
                    |session: &DashboardSession| session.checkpoint.as_ref().map(|it| it.created);
                sealed(one).cmp(&sealed(other))
            }
            Self::Activity => other.last_active.cmp(&one.last_active),
            Self::Project => one.project.cmp(&other.project),
        }
    }
}

impl ListRow<'_> {
    /// Returns the session to which the row belongs.
    pub(crate) fn session(&self) -> &DashboardSession {
        match self {
            Self::Session(session) | Self::Subagent(session, _) => session,
        }
    }

    fn owner(&self) -> Owner {
        let subagent = match self {
            Self::Session(_) => None,
            Self::Subagent(_, subagent) => Some(subagent.id.clone()),
        };
        Owner { session: self.session().id.clone(), subagent }
    }
}

impl DashboardState {
    /// Replaces the sessions. The selection stays on its row if that still exists. Without a
    /// selection, the first row counts as selected.
    pub(crate) fn set_sessions(&mut self, sessions: Vec<DashboardSession>) {
        let before = self.selected_index();
        self.sessions = sessions;
        if self.selected.is_some() && self.selected_index().is_none() {
            self.select_row(before.unwrap_or(0));
        }
    }

    /// Replaces the active runs, and the sessions that belong to any run.
    pub(crate) fn set_runs(&mut self, runs: Vec<Run>, conducted: HashSet<String>) {
        (self.runs, self.run_sessions) = (runs, conducted);
    }

    /// Whether a session belongs to a run.
    pub(crate) fn belongs_to_run(&self, session: &DashboardSession) -> bool {
        self.run_sessions.contains(session.id.as_str())
    }

    /// Stores the text of a checkpoint if it is the one that was requested last.
    pub(crate) fn set_checkpoint_text(&mut self, id: &str, lines: Vec<String>) {
        if let Some((_, text)) = self.checkpoint.as_mut().filter(|(asked, _)| asked == id) {
            *text = lines;
        }
    }

    /// Returns all sessions, regardless of the filter.
    pub(crate) fn sessions(&self) -> &[DashboardSession] {
        &self.sessions
    }

    /// Returns the filtered rows in display order.
    pub(crate) fn rows(&self) -> Vec<ListRow<'_>> {
        let mut sessions: Vec<&DashboardSession> =
            self.sessions.iter().filter(|session| session.matches_filter(&self.filter)).collect();
        sessions.sort_by(|one, other| {
            let order = self.sort.compare(one, other);
            let order = if self.is_reversed { order.reverse() } else { order };
            // Running sessions come first in any order; ties have a fixed order.
            (one.phase > SessionPhase::Idle)
                .cmp(&(other.phase > SessionPhase::Idle))
                .then(order)
                .then_with(|| Reverse(one.last_active).cmp(&Reverse(other.last_active)))
                .then_with(|| one.id.as_str().cmp(other.id.as_str()))
        });
        let mut rows = Vec::new();
        for session in sessions {
            rows.push(ListRow::Session(session));
            if self.is_unfolded(session) {
                rows.extend(session.subagents.iter().map(|it| ListRow::Subagent(session, it)));
            }
        }
        rows
    }

    /// Whether the subagents of a session have rows of their own.
    pub(crate) fn is_unfolded(&self, session: &DashboardSession) -> bool {
        self.unfolded.contains(&session.id)
    }

    /// Returns the index of the selected row.
    pub(crate) fn selected_index(&self) -> Option<usize> {
        let rows = self.rows();
        match &self.selected {
            Some(selected) => rows.iter().position(|row| row.owner() == *selected),
            None => (!rows.is_empty()).then_some(0),
        }
    }

    /// Returns the selected session.
    pub(crate) fn selected_session(&self) -> Option<&DashboardSession> {
        let at = self.selected_index()?;
        let (ListRow::Session(session) | ListRow::Subagent(session, _)) = *self.rows().get(at)?;
        Some(session)
    }

    /// Returns the session and checkpoint whose text must be loaded for display; `None` if it is
    /// loaded or requested. Marks the checkpoint as requested.
    pub(crate) fn request_missing_text(&mut self) -> Option<(SessionId, String)> {
        let session = self.selected_session().filter(|_| self.pane == Some(Pane::Detail))?;
        let id = session.checkpoint.as_ref()?.id.clone();
        let is_there = self.checkpoint.as_ref().is_some_and(|(known, _)| *known == id);
        let missing = (!is_there).then(|| (session.id.clone(), id.clone()));
        if missing.is_some() {
            self.checkpoint = Some((id, Vec::new()));
            self.scroll_offset = 0;
        }
        missing
    }

    /// Handles a key.
    pub(crate) fn press(&mut self, key: Key) -> KeyAction {
        if key == Key::Interrupt {
            return KeyAction::Quit;
        }
        match self.is_typing {
            true => self.type_in(key),
            false => {
                self.message = None;
                self.run_command(key)
            }
        }
    }

    fn type_in(&mut self, key: Key) -> KeyAction {
        match key {
            Key::Enter => self.is_typing = false,
            Key::Escape => {
                self.is_typing = false;
                self.filter.clear();
            }
            Key::Backspace => {
                self.filter.pop();
            }
            Key::Character(character) => self.filter.push(character),
            Key::Up => self.move_by(-1),
            Key::Down => self.move_by(1),
            _ => {}
        }
        self.ensure_selection();
        KeyAction::None
    }

    fn run_command(&mut self, key: Key) -> KeyAction {
        match key {
            Key::Character('q') => return KeyAction::Quit,
            Key::Escape => return self.step_back(),
            Key::Character('c') => return self.on_selected(KeyAction::Seal),
            Key::Character('y') => return self.on_selected(KeyAction::Copy),
            Key::Character('o') => return self.page(),
            Key::Up | Key::Character('k') => self.move_by(-1),
            Key::Down | Key::Character('j') => self.move_by(1),
            Key::Home | Key::Character('g') => self.move_by(isize::MIN),
            Key::End | Key::Character('G') => self.move_by(isize::MAX),
            Key::PageUp => self.scroll_page(-1),
            Key::PageDown => self.scroll_page(1),
            Key::Character('s') => self.sort = self.sort.next(),
            Key::Character('r') => self.is_reversed = !self.is_reversed,
            Key::Character('/') => self.is_typing = true,
            Key::Character(' ') => self.toggle_subagents(),
            Key::Enter => self.toggle(Pane::Detail),
            Key::Character('i') => return self.toggle_criteria(),
            Key::Character('?' | 'h') => self.toggle(Pane::Help),
            _ => {}
        }
        KeyAction::None
    }

    /// Closes the pane or clears the filter; quits if neither is open.
    fn step_back(&mut self) -> KeyAction {
        match () {
            () if self.pane.is_some() => self.pane = None,
            () if !self.filter.is_empty() => {
                self.filter.clear();
                self.ensure_selection();
            }
            () => return KeyAction::Quit,
        }
        KeyAction::None
    }

    fn on_selected(&self, act: impl FnOnce(SessionId) -> KeyAction) -> KeyAction {
        self.selected_session().map_or(KeyAction::None, |session| act(session.id.clone()))
    }

    fn page(&mut self) -> KeyAction {
        let Some(session) = self.selected_session() else { return KeyAction::None };
        match &session.checkpoint {
            Some(last) => KeyAction::Page(session.id.clone(), last.id.clone()),
            None => {
                self.message = Some("there is no checkpoint of it yet; c makes one".to_owned());
                KeyAction::None
            }
        }
    }

    /// Toggles the criteria pane and requests current figures.
    fn toggle_criteria(&mut self) -> KeyAction {
        self.toggle(Pane::Criteria);
        if self.pane.is_some() { KeyAction::ReadCriteria } else { KeyAction::None }
    }

    fn toggle(&mut self, pane: Pane) {
        self.pane = (self.pane != Some(pane)).then_some(pane);
        self.scroll_offset = 0;
    }

    /// Selects the first row if the selected one no longer exists.
    fn ensure_selection(&mut self) {
        if self.selected.is_some() && self.selected_index().is_none() {
            self.select_row(0);
        }
    }

    /// Moves the selection by a number of rows.
    fn move_by(&mut self, by: isize) {
        self.select_row(self.selected_index().unwrap_or(0).saturating_add_signed(by));
    }

    /// Selects a row, or the last one if there are fewer.
    fn select_row(&mut self, at: usize) {
        let rows = self.rows();
        let selected = rows.get(at.min(rows.len().saturating_sub(1))).map(ListRow::owner);
        if self.selected != selected {
            self.scroll_offset = 0;
        }
        self.selected = selected;
    }

    /// Scrolls the pane by a page, or the list if no pane is open.
    fn scroll_page(&mut self, by: isize) {
        match self.pane {
            Some(_) => {
                let last = self.checkpoint.as_ref().map_or(0, |(_, lines)| lines.len());
                let to = self.scroll_offset.saturating_add_signed(by * PAGE as isize);
                self.scroll_offset = to.min(last.saturating_sub(1));
            }
            None => self.move_by(by * PAGE as isize),
        }
    }

    /// Shows or hides the subagents of the selected session.
    fn toggle_subagents(&mut self) {
        let Some(session) = self.selected_session().map(|session| session.id.clone()) else {
            return;
        };
        if !self.unfolded.remove(&session) {
            self.unfolded.insert(session.clone());
        }
        self.selected = Some(Owner { session, subagent: None });
    }
}

#[cfg(test)]
pub(crate) mod tests;
