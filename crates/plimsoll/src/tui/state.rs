//! What the terminal dashboard shows, and what a key does to that. Nothing here draws or reads.

use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;

use plimsoll_agents::Owner;
use plimsoll_core::event::SessionId;
use plimsoll_core::run::Run;
use plimsoll_engine::criteria::Criteria;

use super::keys::Key;
use super::session::{Phase, Session, Subagent};

/// All that the picture is made of.
#[derive(Default)]
pub(crate) struct State {
    sessions: Vec<Session>,
    /// How far the first look at the sessions is: done, and of how many.
    pub(crate) progress: Option<(usize, usize)>,
    /// The row the user is on, by whose it is: rows come and go, and change places.
    selected: Option<Owner>,
    pub(crate) sort: Sort,
    pub(crate) is_reversed: bool,
    pub(crate) filter: String,
    /// Keys go into the filter.
    pub(crate) is_typing: bool,
    unfolded: HashSet<SessionId>,
    pub(crate) pane: Option<Pane>,
    /// How many lines of the pane's text are above it.
    pub(crate) scrolled: usize,
    /// The checkpoint whose text is there, or has been asked for.
    pub(crate) checkpoint: Option<(String, Vec<String>)>,
    /// The runs that are conducted right now, newest first.
    pub(crate) runs: Vec<Run>,
    /// The sessions that belong to any run.
    conducted: HashSet<String>,
    /// Whether plimsoll does what it is for, as it was when that was last looked at.
    pub(crate) criteria: Option<Criteria>,
    /// What the last act came to.
    pub(crate) told: Option<String>,
}

/// What stands below the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pane {
    /// The session's curve and its last checkpoint.
    Detail,
    /// Whether plimsoll does what it is for.
    Criteria,
    /// The keys.
    Help,
}

/// What the list is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    /// The fullest first.
    #[default]
    Load,
    /// The nearest to being compacted first.
    Distance,
    /// The longest without a checkpoint first.
    Checkpoint,
    /// The last heard of first.
    Activity,
    /// By project, then by name.
    Project,
}

/// A row of the list.
#[derive(Clone, Copy)]
pub(crate) enum Row<'a> {
    /// A session.
    Session(&'a Session),
    /// A subagent of the session above it.
    Subagent(&'a Session, &'a Subagent),
}

/// What a key asks for that the state cannot do itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Nothing.
    Stay,
    /// To end.
    Quit,
    /// Whether plimsoll does what it is for.
    Look,
    /// A checkpoint of that session, now.
    Seal(SessionId),
    /// The command that takes the session up again, in the clipboard.
    Copy(SessionId),
    /// The text of that checkpoint in the pager: of which session, and which.
    Page(SessionId, String),
}

/// How many rows a page key goes.
const PAGE: usize = 10;

impl Sort {
    pub(crate) const ALL: [Self; 5] =
        [Self::Load, Self::Distance, Self::Checkpoint, Self::Activity, Self::Project];

    /// What it is called.
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

    fn compare(self, one: &Session, other: &Session) -> Ordering {
        match self {
            Self::Load => other.load.percent().total_cmp(&one.load.percent()),
            Self::Distance => one.forecast.tokens.cmp(&other.forecast.tokens),
            Self::Checkpoint => {
                let sealed = |session: &Session| session.checkpoint.as_ref().map(|it| it.created);
                sealed(one).cmp(&sealed(other))
            }
            Self::Activity => other.last_word.cmp(&one.last_word),
            Self::Project => one.project.cmp(&other.project),
        }
    }
}

impl Row<'_> {
    /// The session it belongs to.
    pub(crate) fn session(&self) -> &Session {
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

impl State {
    /// Takes the sessions as they are now. The user stays on the row they were on, if it is there;
    /// one who has chosen none is on the first.
    pub(crate) fn take(&mut self, sessions: Vec<Session>) {
        let before = self.selected_at();
        self.sessions = sessions;
        if self.selected.is_some() && self.selected_at().is_none() {
            self.go_to(before.unwrap_or(0));
        }
    }

    /// Takes the runs that are conducted, and the sessions that belong to any run.
    pub(crate) fn take_runs(&mut self, runs: Vec<Run>, conducted: HashSet<String>) {
        (self.runs, self.conducted) = (runs, conducted);
    }

    /// Whether a session belongs to a run.
    pub(crate) fn is_conducted(&self, session: &Session) -> bool {
        self.conducted.contains(session.id.as_str())
    }

    /// Takes the text of a checkpoint, if it is the one that was asked for last.
    pub(crate) fn take_text(&mut self, id: &str, lines: Vec<String>) {
        if let Some((_, text)) = self.checkpoint.as_mut().filter(|(asked, _)| asked == id) {
            *text = lines;
        }
    }

    /// All sessions, however the list is filtered.
    pub(crate) fn sessions(&self) -> &[Session] {
        &self.sessions
    }

    /// The rows of the list, in their order.
    pub(crate) fn rows(&self) -> Vec<Row<'_>> {
        let mut sessions: Vec<&Session> =
            self.sessions.iter().filter(|session| session.fits(&self.filter)).collect();
        sessions.sort_by(|one, other| {
            let order = self.sort.compare(one, other);
            let order = if self.is_reversed { order.reverse() } else { order };
            // Those who work come first in any order, and equals stay where they are.
            (one.phase > Phase::Idle)
                .cmp(&(other.phase > Phase::Idle))
                .then(order)
                .then_with(|| Reverse(one.last_word).cmp(&Reverse(other.last_word)))
                .then_with(|| one.id.as_str().cmp(other.id.as_str()))
        });
        let mut rows = Vec::new();
        for session in sessions {
            rows.push(Row::Session(session));
            if self.is_unfolded(session) {
                rows.extend(session.subagents.iter().map(|it| Row::Subagent(session, it)));
            }
        }
        rows
    }

    /// Whether the subagents of a session have rows of their own.
    pub(crate) fn is_unfolded(&self, session: &Session) -> bool {
        self.unfolded.contains(&session.id)
    }

    /// Which row the user is on.
    pub(crate) fn selected_at(&self) -> Option<usize> {
        let rows = self.rows();
        match &self.selected {
            Some(selected) => rows.iter().position(|row| row.owner() == *selected),
            None => (!rows.is_empty()).then_some(0),
        }
    }

    /// The session the user is on.
    pub(crate) fn session(&self) -> Option<&Session> {
        let at = self.selected_at()?;
        let (Row::Session(session) | Row::Subagent(session, _)) = *self.rows().get(at)?;
        Some(session)
    }

    /// The checkpoint whose text is to be shown and is not there: of which session, and which. It
    /// counts as asked for from then on.
    pub(crate) fn missing(&mut self) -> Option<(SessionId, String)> {
        let session = self.session().filter(|_| self.pane == Some(Pane::Detail))?;
        let id = session.checkpoint.as_ref()?.id.clone();
        let is_there = self.checkpoint.as_ref().is_some_and(|(known, _)| *known == id);
        let missing = (!is_there).then(|| (session.id.clone(), id.clone()));
        if missing.is_some() {
            self.checkpoint = Some((id, Vec::new()));
            self.scrolled = 0;
        }
        missing
    }

    /// What a key does.
    pub(crate) fn press(&mut self, key: Key) -> Act {
        if key == Key::Interrupt {
            return Act::Quit;
        }
        match self.is_typing {
            true => self.type_in(key),
            false => {
                self.told = None;
                self.command(key)
            }
        }
    }

    fn type_in(&mut self, key: Key) -> Act {
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
            Key::Up => self.go(-1),
            Key::Down => self.go(1),
            _ => {}
        }
        self.stay();
        Act::Stay
    }

    fn command(&mut self, key: Key) -> Act {
        match key {
            Key::Character('q') => return Act::Quit,
            Key::Escape => return self.step_back(),
            Key::Character('c') => return self.act(Act::Seal),
            Key::Character('y') => return self.act(Act::Copy),
            Key::Character('o') => return self.page(),
            Key::Up | Key::Character('k') => self.go(-1),
            Key::Down | Key::Character('j') => self.go(1),
            Key::Home | Key::Character('g') => self.go(isize::MIN),
            Key::End | Key::Character('G') => self.go(isize::MAX),
            Key::PageUp => self.turn(-1),
            Key::PageDown => self.turn(1),
            Key::Character('s') => self.sort = self.sort.next(),
            Key::Character('r') => self.is_reversed = !self.is_reversed,
            Key::Character('/') => self.is_typing = true,
            Key::Character(' ') => self.fold(),
            Key::Enter => self.toggle(Pane::Detail),
            Key::Character('i') => return self.look(),
            Key::Character('?' | 'h') => self.toggle(Pane::Help),
            _ => {}
        }
        Act::Stay
    }

    /// Undoes the last thing that was opened; with nothing left to undo, ends.
    fn step_back(&mut self) -> Act {
        match () {
            () if self.pane.is_some() => self.pane = None,
            () if !self.filter.is_empty() => {
                self.filter.clear();
                self.stay();
            }
            () => return Act::Quit,
        }
        Act::Stay
    }

    fn act(&self, act: impl FnOnce(SessionId) -> Act) -> Act {
        self.session().map_or(Act::Stay, |session| act(session.id.clone()))
    }

    fn page(&mut self) -> Act {
        let Some(session) = self.session() else { return Act::Stay };
        match &session.checkpoint {
            Some(last) => Act::Page(session.id.clone(), last.id.clone()),
            None => {
                self.told = Some("there is no checkpoint of it yet; c makes one".to_owned());
                Act::Stay
            }
        }
    }

    /// Shows the criteria, as they are now.
    fn look(&mut self) -> Act {
        self.toggle(Pane::Criteria);
        if self.pane.is_some() { Act::Look } else { Act::Stay }
    }

    fn toggle(&mut self, pane: Pane) {
        self.pane = (self.pane != Some(pane)).then_some(pane);
        self.scrolled = 0;
    }

    /// Stays on a row that there is.
    fn stay(&mut self) {
        if self.selected.is_some() && self.selected_at().is_none() {
            self.go_to(0);
        }
    }

    /// Goes so many rows down.
    fn go(&mut self, by: isize) {
        self.go_to(self.selected_at().unwrap_or(0).saturating_add_signed(by));
    }

    /// Goes to a row, or to the last.
    fn go_to(&mut self, at: usize) {
        let rows = self.rows();
        let selected = rows.get(at.min(rows.len().saturating_sub(1))).map(Row::owner);
        if self.selected != selected {
            self.scrolled = 0;
        }
        self.selected = selected;
    }

    /// Turns a page: of the pane's text if there is one, else of the list.
    fn turn(&mut self, by: isize) {
        match self.pane {
            Some(_) => {
                let last = self.checkpoint.as_ref().map_or(0, |(_, lines)| lines.len());
                let to = self.scrolled.saturating_add_signed(by * PAGE as isize);
                self.scrolled = to.min(last.saturating_sub(1));
            }
            None => self.go(by * PAGE as isize),
        }
    }

    /// Shows or hides the subagents of the session the user is on.
    fn fold(&mut self) {
        let Some(session) = self.session().map(|session| session.id.clone()) else { return };
        if !self.unfolded.remove(&session) {
            self.unfolded.insert(session.clone());
        }
        self.selected = Some(Owner { session, subagent: None });
    }
}

#[cfg(test)]
pub(crate) mod tests;
