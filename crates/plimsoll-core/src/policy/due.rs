//! When a checkpoint is due, and how much is given back.

use super::{Call, Decision, Outlook};
use crate::Tokens;
use crate::checkpoint::Occasion;
use crate::event::EventKind;
use crate::session::{Bucket, Restored, SessionState};
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
    let is_time =
        acts(settings) && state.since.is_some_and(|since| is_past(since, LONGEST_WITHOUT));
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
    fn may_seal(&self) -> bool {
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

/// Whether the last checkpoint still tells what there is to tell, if it is there.
///
/// Before a compaction that follows another one, any step counts. Otherwise a few steps that changed
/// nothing are no reason: a compaction may be asked for again and again before it comes, and a session
/// may end right after its last checkpoint.
pub fn is_told(state: &SessionState, mark: u64, steps: u32, compacting: bool) -> bool {
    const FEW: u32 = 5;
    let Some(last) = state.sealed.as_ref().filter(|last| last.mark == mark) else { return false };
    let since = steps.abs_diff(last.steps);
    let compacted = state.restored.is_some_and(|restored| restored.steps >= last.steps);
    if compacting && compacted { since == 0 } else { since < FEW }
}

/// The state of a window whose contents were replaced.
pub fn replaced(state: &SessionState) -> Decision {
    let next = state.emptied();
    let remember = (next != *state).then_some(next);
    Decision { remember, ..Decision::default() }
}

/// The state of a window that was compacted after so many tool calls and answers of the model, with
/// how many of `budget` tokens may be given back.
///
/// A client gives up on a session whose window is full again right after each of several compactions:
/// what we give back must not be what fills it.
pub fn compacted(state: &SessionState, steps: u32, turns: u32, budget: usize) -> SessionState {
    const SOON: u32 = 3;
    const BRIEF: usize = 500;
    let again = state.restored.filter(|last| turns.saturating_sub(last.turns) <= SOON);
    let times = again.map_or(1, |last| last.times + 1);
    let budget = match times {
        1 => budget,
        2 => budget.min(BRIEF),
        _ => 0,
    };
    SessionState { restored: Some(Restored { steps, turns, times, budget }), ..state.emptied() }
}
