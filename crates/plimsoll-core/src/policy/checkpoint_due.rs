//! When a checkpoint is due, and how much is given back.

use super::{Call, Outlook};
use crate::Tokens;
use crate::checkpoint::Occasion;
use crate::entry::Place;
use crate::event::EventKind;
use crate::session::{Bucket, Restored, Seal, SessionState};
use crate::settings::{OnLine, Settings};

/// Why a checkpoint is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The checkpoint line was crossed.
    Line,
    /// The work has gone on for long without one.
    Time,
    /// Something was committed, or tests were run.
    Breakpoint,
    /// The watcher has asked for it.
    Asked,
}

impl Due {
    /// What the checkpoint is made for.
    pub fn occasion(self) -> Occasion {
        match self {
            Self::Line | Self::Time => Occasion::Auto,
            Self::Breakpoint => Occasion::Breakpoint,
            Self::Asked => Occasion::Watcher,
        }
    }
}

/// How long work may go on without a checkpoint, in milliseconds.
pub const LONGEST_WITHOUT: u64 = 30 * 60 * 1000;
/// How long breakpoints lie apart.
const BETWEEN_BREAKPOINTS: u64 = 5 * 60 * 1000;
/// How long a call takes at the very most.
const LONGEST_CALL: u64 = 60 * 1000;

/// Whether a checkpoint is due by the clock or by what has happened, however full the window is.
pub(super) fn by_event(settings: &Settings, call: &Call<'_>, state: &SessionState) -> Option<Due> {
    if !call.may_seal() {
        return None;
    }
    // A moment well to come is one of a clock that was set back since. One just to come is of another
    // call, which began later and was done first.
    let is_past = |moment: u64, length| match call.now.checked_sub(moment) {
        Some(passed) => passed >= length,
        None => moment - call.now > LONGEST_CALL,
    };
    if call.at_breakpoint && state.paused.is_none_or(|last| is_past(last, BETWEEN_BREAKPOINTS)) {
        return Some(Due::Breakpoint);
    }
    let since = state.since.or(call.session_start);
    let is_time = acts(settings) && since.is_some_and(|since| is_past(since, LONGEST_WITHOUT));
    is_time.then_some(Due::Time)
}

/// Whether a hook acts at the line and by the clock of its own accord.
pub(super) fn acts(settings: &Settings) -> bool {
    settings.on_line == OnLine::Hook
}

/// Whether one is due because the checkpoint line was crossed.
///
/// At the client's trigger it is not: there the compaction follows at once, and has one of its own.
/// Where the line lies is asked for last: that may take a look at the session's past.
pub(super) fn by_line(
    outlook: &Outlook<'_>,
    call: &Call<'_>,
    used: Tokens,
    line: &dyn Fn() -> Tokens,
    state: &SessionState,
) -> Option<Due> {
    let compacts = outlook.trigger.tokens().is_some_and(|trigger| used >= trigger);
    let may_cross =
        acts(outlook.settings) && call.may_seal() && state.crossed.is_none() && !compacts;
    (may_cross && used >= line()).then_some(Due::Line)
}

/// Whether the session is to be saved because the restart line was crossed: once, until the window is
/// emptied. Where a compaction follows at once there is nothing to restart.
pub(super) fn is_nearly_full(
    outlook: &Outlook<'_>,
    call: &Call<'_>,
    used: Tokens,
    line: &dyn Fn() -> Tokens,
    state: &SessionState,
) -> bool {
    let compacts = outlook.trigger.tokens().is_some_and(|trigger| used >= trigger);
    let may_save = outlook.settings.enabled && call.may_seal() && state.saved.is_none();
    may_save && !compacts && used >= line()
}

/// Notes that a checkpoint that was due is seen to, whatever comes of it.
pub(super) fn seen_to(due: Option<Due>, now: u64, bucket: Bucket, next: &mut SessionState) {
    match due {
        Some(Due::Line) => next.crossed = Some(bucket),
        Some(Due::Time) => next.since = Some(now),
        Some(Due::Breakpoint) => next.paused = Some(now),
        Some(Due::Asked) | None => {}
    }
}

impl Call<'_> {
    /// Whether a checkpoint may be made now: one of the session itself, while it works.
    pub fn may_seal(&self) -> bool {
        use EventKind::{Stopped, ToolFailed, ToolFinished};
        self.subagent.is_none() && matches!(self.kind, ToolFinished | ToolFailed | Stopped)
    }
}

/// Why a session may have to be asked for a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// Its window has crossed the checkpoint line.
    Line {
        /// The bucket in which it has.
        bucket: Bucket,
    },
    /// It has worked for long since this moment, in milliseconds since the epoch.
    Time {
        /// The moment.
        since: u64,
    },
}

/// The state of a session that is asked for a checkpoint, because of a crossing that was noticed at
/// `noticed`; nothing if it need not be: there is one since, or it was asked before.
pub fn to_ask(
    state: &SessionState,
    crossing: Crossing,
    noticed: u64,
    now: u64,
) -> Option<SessionState> {
    // One of a moment well to come is of a clock that was set back since, and tells nothing.
    let is_since = |at: u64| at >= noticed && at <= now.saturating_add(LONGEST_CALL);
    let is_sealed = state.sealed.as_ref().is_some_and(|seal| is_since(seal.at));
    let mut next = state.clone();
    let is_open = match crossing {
        Crossing::Line { bucket } => {
            next.asked = Some(bucket);
            state.crossed.is_none() && state.asked.is_none()
        }
        Crossing::Time { since } => {
            next.asked_since = Some(since);
            let is_late = now.saturating_sub(state.since.unwrap_or(since)) >= LONGEST_WITHOUT;
            is_late && state.asked_since != Some(since)
        }
    };
    (is_open && !is_sealed).then_some(next)
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What a checkpoint would say, as a number.
    pub mark: u64,
    /// How many tools the agent has used.
    pub steps: u32,
    /// The place of the newest record with which the conversation went on.
    pub newest: Place,
}

/// What the last checkpoint has to cover so that no other one is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Everything said and done, because the conversation is about to be lost.
    Everything,
    /// Everything that changes what a checkpoint says; a few steps that change nothing may follow it.
    Changes,
}

/// Whether the session's last checkpoint, if it has one, covers what it has to.
pub fn is_covered(state: &SessionState, progress: &Progress, coverage: Coverage) -> bool {
    const FEW_STEPS: u32 = 5;
    let covers = |last: &Seal| match coverage {
        Coverage::Everything => last.covers == progress.newest,
        Coverage::Changes => {
            last.mark == progress.mark && progress.steps.abs_diff(last.steps) < FEW_STEPS
        }
    };
    state.sealed.as_ref().is_some_and(covers)
}

/// Whether a session that ends is worth a checkpoint: the agent used a tool, or it was more than a
/// question or two, or an earlier checkpoint would be left out of date.
pub fn is_worth_sealing(state: &SessionState, steps: u32, turns: u32) -> bool {
    const SHORT_TALK: u32 = 2;
    steps > 0 || turns > SHORT_TALK || state.sealed.is_some()
}

/// Returns the restore after a compaction that comes after so many tool calls and responses, with at most
/// `budget` tokens.
///
/// A client gives up on a session whose window is full again right after each of several compactions: the
/// restore must not be what fills it.
pub fn restore_after(state: &SessionState, steps: u32, turns: u32, budget: usize) -> Restored {
    const SOON: u32 = 3;
    const BRIEF: usize = 500;
    let again = state.restored.filter(|last| turns.saturating_sub(last.turns) <= SOON);
    let times = again.map_or(1, |last| last.times + 1);
    let budget = match times {
        1 => budget,
        2 => budget.min(BRIEF),
        _ => 0,
    };
    Restored { steps, turns, times, budget }
}
