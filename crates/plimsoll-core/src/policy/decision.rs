//! The one decision about a hook event: what to do, what to say, and the state from then on.

use super::{
    Beginning, Call, Coverage, LastSession, Outlook, Speech, WindowDecision, begin, decide_window,
    in_run, is_over_restart, with_request,
};
use crate::board::Reason;
use crate::checkpoint::Occasion;
use crate::event::{Accepts, EventKind};
use crate::reading::Reading;
use crate::session::{SessionState, label};
use crate::settings::{RestoreMode, Settings};
use crate::{Millis, Tokens};

/// Everything that a decision depends on.
pub struct Situation<'a> {
    pub event: &'a EventKind,
    /// The type of the subagent that the event comes from; `None` for the session itself.
    pub subagent: Option<&'a str>,
    /// What the agent can do with an answer to this event.
    pub accepts: Accepts,
    pub settings: &'a Settings,
    /// What is remembered of the window.
    pub state: &'a SessionState,
    /// The label of the last decision; `None` if there was none, or the event does not need it.
    pub last_label: Option<&'a str>,
    /// How full the window is; `None` if the event does not depend on that, or nothing is known.
    pub window: Option<WindowSituation<'a>>,
    /// What the board has for the session.
    pub mail: Mail<'a>,
    /// Where a compaction was noticed that the agent did not report, in the transcript if that is known.
    pub compaction: Option<Option<u64>>,
    /// A run started the session.
    pub is_run: bool,
    /// No person is at the keyboard.
    pub is_headless: bool,
    /// The project's last interactive session, at the start of another one.
    pub last_session: Option<LastSession>,
    /// Milliseconds since the epoch.
    pub now: u64,
}

/// How full a window is, and what that is compared with.
pub struct WindowSituation<'a> {
    pub outlook: Outlook<'a>,
    pub call: Call<'a>,
    /// `None` if the last count is out of sight.
    pub reading: Option<&'a Reading>,
    /// Returns the session's median growth per call. Only asked where it matters.
    pub growth: &'a dyn Fn() -> Tokens,
}

/// What the board has for a session.
#[derive(Clone, Copy, Default)]
pub struct Mail<'a> {
    pub is_empty: bool,
    /// The first request for a checkpoint: when it was posted, and why.
    pub request: Option<(Millis, &'a Reason)>,
}

/// What to do about an event.
#[derive(Debug, Default, PartialEq)]
pub struct Decision {
    pub effects: Vec<Effect>,
    /// Words for user and model, or a refusal.
    pub speech: Option<Speech>,
    /// The state from now on, before the outcomes; `None` if there is nothing to remember.
    pub next: Option<SessionState>,
    /// The name of the decision, for the record.
    pub label: &'static str,
    /// The agent is to end here, once a checkpoint is there.
    pub stops: bool,
}

/// Something to be done. [`super::settle`] takes what came of it into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Save a checkpoint, unless the last one covers what it has to.
    Checkpoint {
        occasion: Occasion,
        coverage: Coverage,
        /// When a message asked for it; a checkpoint made since then will do.
        requested: Option<Millis>,
        /// Only if the session did enough to be worth one.
        if_worth_it: bool,
    },
    /// Save the commit that the tool made.
    SaveCommit,
    /// Save the session, because its window is nearly full.
    SaveSession,
    /// Tell the model what waits for it.
    DeliverWaiting,
    /// Tell the model what the board has for it.
    DeliverMail,
    /// Tell the summariser what must survive.
    Steer,
    /// Restore what the summary is known to lose.
    Restore,
    /// Find what both summary and restore lack, for the next event that can tell the model.
    FindMissing,
    /// Give the session earlier work, or offer it.
    Begin(Beginning),
    /// Give the session of a run the checkpoint that its runner names.
    ContinueRun,
    /// Tell the user how to get the work back that they cleared.
    ShowHowToLoad,
    /// Tell the model which files changed since it last worked.
    ListChanges,
    /// Take the session into the store.
    Ingest,
    /// Remove what is old.
    Prune,
}

/// Decides what to do about an event.
///
/// A subagent's window is its own business: it gets warnings and the guard, but no checkpoint and no
/// restore.
pub fn decide(situation: &Situation<'_>) -> Decision {
    let is_main = situation.subagent.is_none();
    match situation.event {
        _ if situation.compaction.is_some() => after_compaction(situation),
        EventKind::Prompted
        | EventKind::ToolFinished
        | EventKind::ToolFailed
        | EventKind::Stopped
        | EventKind::Loading(_) => match &situation.window {
            Some(window) => on_window(situation, window),
            None => without_window(situation),
        },
        EventKind::Started if is_main => on_start(situation),
        EventKind::Cleared if is_main => on_clear(situation),
        EventKind::Resumed if is_main => on_resume(situation),
        EventKind::Compacting { certain } if is_main => before_compaction(*certain),
        EventKind::Compacted if is_main => after_compaction(situation),
        EventKind::Summarised(_) if is_main => on_summary(situation),
        EventKind::Ended if is_main => on_end(situation),
        EventKind::Cleared | EventKind::Compacted => on_replacement(situation),
        EventKind::Compacting { .. } => effects(vec![Effect::Ingest]),
        EventKind::Started
        | EventKind::Resumed
        | EventKind::Summarised(_)
        | EventKind::Ended
        | EventKind::Other => Decision::default(),
    }
}

fn effects(effects: Vec<Effect>) -> Decision {
    Decision { effects, ..Decision::default() }
}

/// Decides about an event that depends on how full the window is.
fn on_window(situation: &Situation<'_>, window: &WindowSituation<'_>) -> Decision {
    let WindowSituation { outlook, call, reading, growth } = window;
    let state = situation.state;
    let used = reading.map(|reading| reading.used);
    let mut decided = decide_window(outlook, call, *reading, growth, state);
    let over_restart = |used: &Tokens| is_over_restart(outlook, call, *used, growth);
    if let Some(used) = used.filter(|used| situation.is_run && over_restart(used)) {
        decided = in_run(outlook, call, used, decided, state);
    }
    if let Some((_, reason)) = situation.mail.request {
        decided = with_request(outlook, call, used, reason, decided, state);
    }
    let delivers = situation.delivers_waiting();
    let has_mail = !situation.mail.is_empty;
    let next = match decided.remember.clone() {
        None if delivers || has_mail => Some(state.clone()),
        next => next,
    };
    Decision {
        effects: window_effects(situation, &decided, delivers),
        label: decided.speech.as_ref().map_or(label::QUIET, Speech::label),
        speech: decided.speech,
        stops: decided.stops,
        next,
    }
}

fn window_effects(
    situation: &Situation<'_>,
    decided: &WindowDecision,
    delivers: bool,
) -> Vec<Effect> {
    let mut effects = Vec::new();
    if decided.due.is_some() || decided.saves || decided.stops {
        let occasion = decided.due.map_or(Occasion::Auto, super::Due::occasion);
        let coverage = if decided.stops { Coverage::Everything } else { Coverage::Changes };
        // A session that is stopped needs a checkpoint of right now.
        let requested = situation.mail.request.map(|(asked, _)| asked);
        let requested = requested.filter(|_| !decided.stops);
        effects.push(Effect::Checkpoint { occasion, coverage, requested, if_worth_it: false });
        effects.push(Effect::SaveCommit);
    }
    if decided.saves {
        effects.push(Effect::SaveSession);
    }
    if !situation.mail.is_empty {
        effects.push(Effect::DeliverMail);
    }
    if delivers {
        effects.push(Effect::DeliverWaiting);
    }
    effects
}

impl Situation<'_> {
    /// Returns whether something waits that this event can tell the model.
    fn delivers_waiting(&self) -> bool {
        use EventKind::{Prompted, ToolFailed, ToolFinished};
        let is_meant = matches!(self.event, Prompted | ToolFinished | ToolFailed);
        self.state.waiting && is_meant && self.accepts.to_model && self.subagent.is_none()
    }

    /// Returns a decision that only records that we were called, unless something was decided before.
    fn mark(&self, label: &'static str) -> Decision {
        let is_undecided = |last: &str| matches!(last, label::STARTED | label::WINDOW);
        match self.last_label {
            Some(last) if last == label || !is_undecided(last) => Decision::default(),
            _ => Decision { next: Some(self.state.clone()), label, ..Decision::default() },
        }
    }
}

/// Decides where there is no transcript: not yet before the first response, and never if the client keeps
/// none. A tool runs after the first response, so that session is marked.
fn without_window(situation: &Situation<'_>) -> Decision {
    match situation.event {
        EventKind::ToolFinished if situation.subagent.is_none() => situation.mark(label::UNSEEN),
        _ => Decision::default(),
    }
}

fn on_start(situation: &Situation<'_>) -> Decision {
    let effects = match situation.settings.restore {
        _ if situation.is_run => vec![Effect::ContinueRun],
        // Nothing is printed, so nothing may count as given.
        _ if situation.state.given.is_some() || situation.settings.is_silent() => Vec::new(),
        mode => match begin(mode, situation.is_headless, || situation.last_session) {
            Beginning::Silent => Vec::new(),
            beginning => vec![Effect::Begin(beginning)],
        },
    };
    let next = with_start(situation, situation.state.clone());
    Decision { effects, next: Some(next), label: label::STARTED, ..Decision::default() }
}

/// The user wants an empty window: only they hear how to get the work back.
fn on_clear(situation: &Situation<'_>) -> Decision {
    let Situation { settings, state, .. } = situation;
    let is_wanted = settings.restore != RestoreMode::Off && !situation.is_headless;
    let effects = match situation.is_run {
        true => vec![Effect::ContinueRun],
        false if state.given.is_some() || settings.is_silent() || !is_wanted => Vec::new(),
        false => vec![Effect::ShowHowToLoad],
    };
    let kept = if situation.is_run { (*state).clone() } else { state.emptied() };
    let next = with_start(situation, kept);
    Decision { effects, next: Some(next), label: label::STARTED, ..Decision::default() }
}

fn with_start(situation: &Situation<'_>, state: SessionState) -> SessionState {
    let headless = situation.is_headless;
    let given = if situation.is_run { None } else { state.given.clone() };
    SessionState { since: Some(situation.now), headless, given, ..state }
}

fn on_resume(situation: &Situation<'_>) -> Decision {
    let Situation { settings, state, .. } = situation;
    let effects = match settings.restore {
        RestoreMode::Off => Vec::new(),
        _ => vec![Effect::ListChanges],
    };
    // A session that a person has started once stays theirs.
    let is_known = situation.last_label.is_some();
    let headless = situation.is_headless && (state.headless || !is_known);
    let next = SessionState { since: Some(situation.now), headless, ..(*state).clone() };
    Decision { effects, next: Some(next), label: label::RESUMED, ..Decision::default() }
}

/// A checkpoint comes first, whatever fails the compaction goes on. One that may not follow needs no
/// instructions, and no checkpoint of every word.
fn before_compaction(certain: bool) -> Decision {
    let coverage = if certain { Coverage::Everything } else { Coverage::Changes };
    let checkpoint = Effect::Checkpoint {
        occasion: Occasion::Auto,
        coverage,
        requested: None,
        if_worth_it: false,
    };
    match certain {
        true => effects(vec![checkpoint, Effect::Steer, Effect::Ingest]),
        false => effects(vec![checkpoint]),
    }
}

fn after_compaction(situation: &Situation<'_>) -> Decision {
    let next = Some(situation.state.emptied());
    Decision { next, label: label::RESTORED, ..effects(vec![Effect::Restore]) }
}

/// The summary comes after the restore. Only the first of several quick compactions gets more.
fn on_summary(situation: &Situation<'_>) -> Decision {
    let restored = situation.state.restored;
    match restored.is_some_and(|last| last.times == 1 && last.budget > 0) {
        true => Decision {
            next: Some(situation.state.clone()),
            label: label::SUMMARISED,
            ..effects(vec![Effect::FindMissing])
        },
        false => Decision::default(),
    }
}

fn on_end(situation: &Situation<'_>) -> Decision {
    let checkpoint = Effect::Checkpoint {
        occasion: Occasion::Auto,
        coverage: Coverage::Everything,
        requested: None,
        if_worth_it: true,
    };
    Decision {
        next: Some(situation.state.clone()),
        label: label::ENDED,
        ..effects(vec![checkpoint, Effect::Ingest, Effect::Prune])
    }
}

/// The contents of a subagent's window were replaced: what was said about the old ones is void.
pub(super) fn on_replacement(situation: &Situation<'_>) -> Decision {
    let next = situation.state.emptied();
    match next == *situation.state {
        true => situation.mark(label::STARTED),
        false => Decision { next: Some(next), label: label::REPLACED, ..Decision::default() },
    }
}
