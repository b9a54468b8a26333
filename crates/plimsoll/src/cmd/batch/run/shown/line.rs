//! The line that is drawn again.

use std::collections::BTreeMap;

use plimsoll_core::text::duration;
use plimsoll_core::{Millis, Tokens};
use plimsoll_engine::world::now;

use crate::layout::{start, width};
use crate::ui::gauge;

/// How wide the bar of all tasks is, and that of a session's window.
const CELLS: (usize, usize) = (16, 8);
/// How much is shown of a session's name.
const LONGEST_NAME: usize = 14;

/// How a run stands.
#[derive(Default)]
pub(super) struct State {
    pub(super) name: String,
    /// How long it was conducted before, in milliseconds.
    pub(super) before: Millis,
    pub(super) since: Millis,
    pub(super) tasks: usize,
    pub(super) done: usize,
    pub(super) sessions: usize,
    /// The sessions that run, by their jobs.
    pub(super) running: BTreeMap<u32, Session>,
}

/// A session that runs.
pub(super) struct Session {
    /// What it is at, in a few characters.
    pub(super) name: String,
    /// The same in words.
    pub(super) of: String,
    /// What its window holds and how large that is, where anybody knows.
    pub(super) load: Option<(Tokens, Tokens)>,
}

impl State {
    /// All tasks and as many sessions as there is room for.
    pub(super) fn line(&self, columns: usize) -> String {
        let with = |sessions| self.with(sessions);
        let fits = |line: &String| width(line) <= columns;
        let line = (0..=self.running.len()).rev().map(with).find(fits);
        line.unwrap_or_else(|| start(&self.with(0), columns))
    }

    /// The line with so many sessions.
    fn with(&self, sessions: usize) -> String {
        let (done, tasks) = (self.done as u64, self.tasks as u64);
        let bar = gauge(done, tasks, None, CELLS.0);
        let shown: String = self.running.values().take(sessions).map(Session::shown).collect();
        let more = match self.running.len() - sessions {
            0 => String::new(),
            more => format!("  +{more} more"),
        };
        format!("{bar} {done}/{tasks} tasks  {}{shown}{more}", self.time())
    }

    pub(super) fn time(&self) -> String {
        let passed = self.before + (now() as Millis - self.since);
        duration(u64::try_from(passed / 1000).unwrap_or(0))
    }
}

impl Session {
    fn shown(&self) -> String {
        let name = start(&self.name, LONGEST_NAME);
        let load = self.load.map(|(used, window)| {
            let share = used.saturating_mul(100) / window.max(1);
            format!(" {} {share:>2}%", gauge(used, window, None, CELLS.1))
        });
        format!("  {name}{}", load.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_shows_all_tasks_and_as_many_sessions_as_fit() {
        let loads = [Some((50_000, 200_000)), None, Some((180_000, 200_000)), None];
        let names = ["keel", "mast", "sails", "a-task-with-a-long-name"].map(str::to_owned);
        let sessions = names.into_iter().zip(loads).map(|(name, load)| Session {
            of: name.clone(),
            name,
            load,
        });
        let state = State {
            // Its clock stands still meanwhile.
            since: now() as Millis + 60_000,
            tasks: 12,
            done: 3,
            running: (4..).zip(sessions).collect(),
            ..State::default()
        };
        let all = "████░░░░░░░░░░░░ 3/12 tasks  0 s  keel ██░░░░░░ 25%  mast  \
                   sails ████████ 90%  a-task-with-a…";
        assert_eq!(state.line(200), all, "what is not known is not shown");
        let some = "████░░░░░░░░░░░░ 3/12 tasks  0 s  keel ██░░░░░░ 25%  mast  +2 more";
        assert_eq!(state.line(79), some);
        assert_eq!(state.line(45), "████░░░░░░░░░░░░ 3/12 tasks  0 s  +4 more");
        for columns in 1..120 {
            assert!(width(&state.line(columns)) <= columns);
        }
    }
}
