//! When the agent is advised, nudged or stopped.

mod beginning;
mod checkpoint_due;
mod decision;
mod guard;
mod settle;
mod speech;
mod warning;

use self::guard::{guard, is_gated};
use self::warning::{Marks, saved, warn};
use crate::board::Reason;
use crate::event::EventKind;
use crate::reading::Reading;
use crate::session::{Bucket, ProvenWindow, SessionState};
use crate::settings::{Lines, Settings};
use crate::trigger::Trigger;
use crate::window::{Window, WindowSource};
use crate::{Tokens, bytes, weight};

pub use beginning::{Beginning, Ending, LastSession, begin};
pub use checkpoint_due::{
    Coverage, Crossing, Due, LONGEST_WITHOUT, Progress, is_covered, is_worth_sealing,
    restore_after, to_ask,
};
pub use decision::{Decision, Effect, Mail, Situation, WindowSituation, decide};
pub use settle::{CheckpointOutcome, Outcomes, Phrases, Settled, settle};
pub use speech::{AboveCeiling, Ceiling, Left, Occupancy, SealedAt, Speech, Words};

/// The lines in tokens of one window, kept clear of the client's trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// See [`Lines::ceiling`].
    pub ceiling: Tokens,
    /// See [`Lines::checkpoint`].
    pub checkpoint: Tokens,
    /// See [`Lines::save`].
    pub save: Tokens,
    /// See [`Lines::warn`].
    pub warn: Tokens,
    /// See [`Lines::restart`].
    pub restart: Tokens,
}

impl Levels {
    /// Where the lines lie in a window of `window` tokens.
    pub fn of(lines: &Lines, window: Tokens) -> Self {
        Self {
            ceiling: lines.ceiling.of(window),
            checkpoint: lines.checkpoint.of(window),
            save: lines.save.of(window),
            warn: lines.warn.of(window),
            restart: lines.restart.of(window),
        }
    }

    /// Moves every level that the client's compaction would forestall: at a usual pace three calls
    /// must fit between the level and the trigger.
    pub fn clear_of(self, trigger: Option<Tokens>, growth: Tokens) -> Self {
        const LEAST_ROOM: Tokens = 15_000;
        let Some(trigger) = trigger else { return self };
        let highest = trigger.saturating_sub(LEAST_ROOM.max(growth.saturating_mul(3)));
        Self {
            ceiling: self.ceiling.min(highest),
            checkpoint: self.checkpoint.min(highest),
            save: self.save.min(highest),
            warn: self.warn.min(highest),
            restart: self.restart.min(highest),
        }
    }
}

/// What is known about a window, its reading aside.
#[derive(Clone, Copy, Debug)]
pub struct Outlook<'a> {
    /// What the user has set.
    pub settings: &'a Settings,
    /// Whether the user has a command that saves the session.
    pub can_save: bool,
    /// The window.
    pub window: Window,
    /// The client's trigger.
    pub trigger: Trigger,
    /// The model that answered last.
    pub model: Option<&'a str>,
}

impl Outlook<'_> {
    /// What the levels follow from, growth aside, as one number: a spool is read with every call, and
    /// all of it would be the most of a line.
    fn basis(&self) -> u64 {
        let Levels { ceiling: _, checkpoint, save, warn, restart } =
            Levels::of(&self.settings.lines, self.window.tokens);
        let trigger = self.trigger.tokens().map_or(0, |tokens| tokens.saturating_add(1));
        let parts = [self.window.tokens, trigger, checkpoint, save, warn, restart];
        // JSON readers in other languages take no larger number as it is.
        bytes::fnv1a(parts.map(u64::to_le_bytes).as_flattened()) >> 11
    }

    /// The effective levels of a session that grows so much from call to call.
    pub fn levels(&self, growth: Tokens) -> Levels {
        Levels::of(&self.settings.lines, self.window.tokens).clear_of(self.trigger.tokens(), growth)
    }

    /// One level. Growth can only lower it, so above the level without growth it is not asked for.
    fn level(
        &self,
        pick: fn(&Levels) -> Tokens,
        used: Tokens,
        growth: &dyn Fn() -> Tokens,
    ) -> Tokens {
        let highest = pick(&self.levels(0));
        if used >= highest || self.trigger.tokens().is_none() {
            return highest;
        }
        pick(&self.levels(growth()))
    }

    fn percent(&self, used: Tokens) -> f64 {
        used as f64 * 100.0 / self.window.tokens.max(1) as f64
    }

    fn occupancy(&self, used: Tokens) -> Occupancy {
        let client_compacts = self.trigger != Trigger::SwitchedOff;
        Occupancy { percent: self.percent(used), left: self.left(used), client_compacts }
    }

    fn left(&self, used: Tokens) -> Left {
        let until = |level: Tokens| level.saturating_sub(used);
        match self.trigger.within(self.window.tokens) {
            Some(trigger) if self.trigger.is_lowered() => {
                Left::UntilEarlyCompaction(until(trigger))
            }
            Some(trigger) => Left::UntilCompaction(until(trigger)),
            None => Left::InWindow(until(self.window.tokens)),
        }
    }

    fn bucket(&self, used: Tokens) -> Bucket {
        bucket(used, self.window.tokens)
    }
}

/// The bucket of a window that holds so much.
pub fn bucket(used: Tokens, window: Tokens) -> Bucket {
    (used.saturating_mul(20) / window.max(1)) as Bucket
}

/// A call of the hook.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What happened.
    pub kind: &'a EventKind,
    /// The kind of the subagent whose window it is, if it is one's.
    pub subagent: Option<&'a str>,
    /// The tool that has finished was a commit or a run of tests.
    pub at_breakpoint: bool,
    /// When the session began, in milliseconds since the epoch; `None` if its state knows since when
    /// there is work without a checkpoint, or nothing tells.
    pub session_start: Option<u64>,
    /// Milliseconds since the epoch.
    pub now: u64,
}

/// Whether a call can ask for nothing at `counted` tokens and `bytes_since` of transcript after
/// them.
///
/// This is what all but a few hook calls come to, so it needs neither the weight of what was
/// appended nor the session's growth: with a trigger that growth may move a line, but never below
/// a quarter of the trigger, for no growth is larger than the reading it led to.
pub fn nothing_due(
    outlook: &Outlook<'_>,
    call: &Call<'_>,
    state: &SessionState,
    counted: Tokens,
    bytes_since: u64,
) -> bool {
    let at_most = counted.saturating_add(weight::at_most(bytes_since));
    let unproven = outlook.window.source == WindowSource::Inferred
        && state.window.as_ref().is_none_or(|proven| proven.tokens != outlook.window.tokens);
    at_most < quiet_below(outlook, call.kind, state)
        && !has_fallen(outlook.bucket(at_most), state.spoken())
        && !unproven
        && !state.waiting
        && checkpoint_due::by_event(outlook.settings, call, state).is_none()
}

/// Under how many tokens `event` can call for nothing.
fn quiet_below(outlook: &Outlook<'_>, event: &EventKind, state: &SessionState) -> Tokens {
    let basis = outlook.basis();
    let levels = outlook.levels(0);
    let line = match event {
        EventKind::Loading(load) if !is_gated(outlook.settings, load) => return Tokens::MAX,
        EventKind::Loading(_) => {
            levels.ceiling.min(outlook.settings.ceiling_tokens.unwrap_or(Tokens::MAX))
        }
        _ => match state.quiet {
            Some(quiet) if quiet.basis == basis => return quiet.below,
            _ => levels.checkpoint.min(levels.save).min(levels.warn).min(levels.restart),
        },
    };
    outlook.trigger.tokens().map_or(line, |trigger| line.min(trigger / 4))
}

/// A reading that fell by more than a bucket is of another window, not noise at the edge of one.
fn has_fallen(bucket: Bucket, spoken: Option<Bucket>) -> bool {
    spoken.is_some_and(|spoken| bucket + 1 < spoken)
}

/// Returns whether a compaction shows in a transcript whose agent reports none: nothing was counted since
/// a compaction at `boundary` that was not handled yet, or the window holds far less than when something
/// was last said about it.
pub fn was_compacted(
    outlook: &Outlook<'_>,
    boundary: Option<u64>,
    counted: Option<Tokens>,
    state: &SessionState,
) -> bool {
    let is_new = boundary.is_some() && boundary != state.compaction;
    let has_fallen = counted.is_some_and(|used| has_fallen(outlook.bucket(used), state.spoken()));
    is_new || has_fallen && boundary.is_none()
}

/// What to say and what to remember.
#[derive(Clone, Debug, Default, PartialEq)]
struct WindowDecision {
    /// Words for user and model, or a refusal.
    speech: Option<Speech>,
    /// A checkpoint is to be made.
    due: Option<Due>,
    /// The session is to be saved: its window is nearly full.
    saves: bool,
    /// The agent is to end here, once a checkpoint is there that a fresh session can go on from.
    stops: bool,
    /// The session's state from now on, where it changes or something is said.
    remember: Option<SessionState>,
}

/// Decides what to do about a call in a window loaded as `reading` says, if that is known.
///
/// The agent is warned once per bucket, not on every call: advice that repeats is advice that gets
/// ignored. `growth` gives the session's median growth per call, which is asked for only where it
/// matters.
fn decide_window(
    outlook: &Outlook<'_>,
    call: &Call<'_>,
    reading: Option<&Reading>,
    growth: &dyn Fn() -> Tokens,
    state: &SessionState,
) -> WindowDecision {
    let Some(reading) = reading else { return unread(outlook.settings, call, state) };
    let used = reading.used;
    let mut next = forget_what_has_fallen(outlook, used, state);
    prove(outlook, &mut next);
    let line = || outlook.level(|levels| levels.checkpoint, used, growth);
    let due = checkpoint_due::by_line(outlook, call, used, &line, &next)
        .or(checkpoint_due::by_event(outlook.settings, call, &next));
    checkpoint_due::seen_to(due, call.now, outlook.bucket(used), &mut next);
    let restart = || outlook.level(|levels| levels.restart, used, growth);
    let saves = checkpoint_due::is_nearly_full(outlook, call, used, &restart, &next);
    if saves {
        next.saved = Some(outlook.bucket(used));
    }
    let speech = match call.kind {
        EventKind::Prompted | EventKind::ToolFinished | EventKind::ToolFailed => {
            let marks = Marks { checkpoint: line(), restart: restart() };
            let speech = warn(outlook, call, used, marks, growth, &mut next);
            saved(outlook, used, saves).or(speech)
        }
        EventKind::Loading(load) => guard(outlook, load, call.subagent, reading, growth, &mut next),
        // What is said when the agent stops would set it to work again.
        _ => None,
    };
    let news = next != *state || speech.is_some();
    WindowDecision { speech, due, saves, stops: false, remember: news.then_some(next) }
}

/// The same decision where the watcher has asked for a checkpoint: it is made, and neither line nor
/// clock asks for another.
fn with_request(
    outlook: &Outlook<'_>,
    call: &Call<'_>,
    used: Option<Tokens>,
    reason: &Reason,
    decision: WindowDecision,
    state: &SessionState,
) -> WindowDecision {
    let mut next = decision.remember.unwrap_or_else(|| state.clone());
    next.since = Some(call.now);
    if let (Reason::Line(_), Some(used)) = (reason, used) {
        next.crossed = next.crossed.or(Some(outlook.bucket(used)));
    }
    WindowDecision { due: Some(Due::Asked), remember: Some(next), ..decision }
}

/// Whether a window is a session's own and over the restart line, so that its conductor, if it has one,
/// would rather have a fresh one.
fn is_over_restart(
    outlook: &Outlook<'_>,
    call: &Call<'_>,
    used: Tokens,
    growth: &dyn Fn() -> Tokens,
) -> bool {
    call.subagent.is_none() && used >= outlook.level(|levels| levels.restart, used, growth)
}

/// The same decision in a session that is conducted, and over the restart line: it is stopped as soon as
/// a tool has finished, and not saved, because nobody need do anything. Until that is done every call
/// looks.
fn in_run(
    outlook: &Outlook<'_>,
    call: &Call<'_>,
    used: Tokens,
    decision: WindowDecision,
    state: &SessionState,
) -> WindowDecision {
    let stops = *call.kind == EventKind::ToolFinished;
    let next = SessionState {
        saved: state.saved,
        quiet: None,
        stopped: stops.then_some(call.now).or(state.stopped),
        ..decision.remember.unwrap_or_else(|| state.clone())
    };
    let stop = stops.then(|| Speech::Stopped { occupancy: outlook.occupancy(used) });
    let speech = stop.or(decision.speech);
    WindowDecision { speech, saves: false, stops, remember: Some(next), ..decision }
}

/// Without a reading only the clock and what has happened can ask for anything.
fn unread(settings: &Settings, call: &Call<'_>, state: &SessionState) -> WindowDecision {
    let due = checkpoint_due::by_event(settings, call, state);
    let mut next = state.clone();
    checkpoint_due::seen_to(due, call.now, 0, &mut next);
    WindowDecision { due, remember: due.map(|_| next), ..WindowDecision::default() }
}

fn forget_what_has_fallen(
    outlook: &Outlook<'_>,
    used: Tokens,
    state: &SessionState,
) -> SessionState {
    let bucket = outlook.bucket(used);
    if !has_fallen(bucket, state.spoken()) {
        return state.clone();
    }
    let still = |spoken: Option<Bucket>| spoken.filter(|spoken| *spoken <= bucket);
    SessionState {
        warned: still(state.warned),
        guarded: still(state.guarded),
        crossed: still(state.crossed),
        asked: still(state.asked),
        saved: still(state.saved),
        suggested: false,
        advised: false,
        quiet: None,
        ..state.clone()
    }
}

/// Keeps what only this reading shows of the window.
fn prove(outlook: &Outlook<'_>, next: &mut SessionState) {
    if let (WindowSource::Inferred, Some(model)) = (outlook.window.source, outlook.model) {
        let Window { tokens, source } = outlook.window;
        next.window = Some(ProvenWindow { tokens, source, model: model.to_owned() });
    }
}

/// Whether a character of a text from outside may be shown: none that moves the cursor or turns the
/// direction of writing.
pub fn is_plain(character: char) -> bool {
    let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !character.is_control() && !turns
}

/// A name from outside, fit to stand in a sentence of ours: one line, and not a long one.
pub fn brief(name: &str) -> String {
    const LONGEST: usize = 80;
    name.chars().filter(|character| is_plain(*character)).take(LONGEST).collect()
}

#[cfg(test)]
mod tests;
