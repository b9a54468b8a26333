//! What follows from a decision once its effects have been carried out: the next state and the reply.

use super::decision::on_replacement;
use super::{Decision, Effect, SealedAt, Situation, Words};
use crate::event::{EventKind, Reply};
use crate::session::{Restored, Seal, SessionState, label};

/// What came of a decision's effects.
#[derive(Debug, Default)]
pub struct Outcomes {
    /// The state can be written down.
    pub is_remembered: bool,
    /// When the session began, if its state does not say since when it works.
    pub session_start: Option<u64>,
    pub checkpoint: Option<CheckpointOutcome>,
    /// Whether the session was saved; `None` if it was not to be.
    pub is_saved: Option<bool>,
    /// The messages of the board that were handled, by their names.
    pub handled: Vec<String>,
    /// A text for the model, from the board or from what waited for it.
    pub delivered: Option<String>,
    /// What waited for the model was delivered.
    pub is_waiting_delivered: bool,
    /// A text waits for the next event that can tell the model.
    pub is_waiting: bool,
    /// The restore after a compaction.
    pub restored: Option<Restored>,
    /// Where that compaction stands in the transcript.
    pub compaction: Option<u64>,
    /// The checkpoint that the session was given.
    pub given: Option<String>,
    /// Texts for user and model that the effects made.
    pub reply: Reply,
    /// What the words of a speech depend on.
    pub phrases: Option<Phrases>,
}

/// What came of a checkpoint.
#[derive(Debug, Default)]
pub struct CheckpointOutcome {
    /// The checkpoint that was saved.
    pub seal: Option<Seal>,
    /// There is one that covers what it has to, saved now or before.
    pub is_covered: bool,
}

/// What the words of a speech depend on, besides the speech.
#[derive(Debug, Default)]
pub struct Phrases {
    /// A command that the user can run.
    pub command: String,
    /// The client's command that starts an empty conversation.
    pub clear_command: &'static str,
    /// The variable that sets the window.
    pub window_variable: &'static str,
    /// The setting that raises the ceiling.
    pub ceiling_setting: &'static str,
    /// When the checkpoint was saved that is at hand.
    pub sealed: Option<SealedAt>,
    /// The command that continues from the save of the session.
    pub restart_command: Option<String>,
}

/// What is left to do: remember and reply.
#[derive(Debug, Default, PartialEq)]
pub struct Settled {
    /// The state from now on; `None` if there is nothing to remember.
    pub state: Option<SessionState>,
    /// The name of the decision, for the record.
    pub label: &'static str,
    pub reply: Reply,
}

/// Settles a decision: the next state and the reply, given what came of its effects.
pub fn settle(situation: &Situation<'_>, decision: &Decision, outcomes: Outcomes) -> Settled {
    let settled = settle_all(situation, decision, outcomes);
    let reply = if situation.is_said(&settled.reply) { settled.reply } else { Reply::default() };
    Settled { reply, ..settled }
}

impl Situation<'_> {
    /// Returns whether the agent gets a reply. A refusal, and what a run starts or ends its sessions with, is
    /// said even if the user wants to hear nothing.
    fn is_said(&self, reply: &Reply) -> bool {
        let starts_run =
            self.is_run && matches!(self.event, EventKind::Started | EventKind::Cleared);
        let is_needed = reply.refusal.is_some() || reply.stop.is_some() || starts_run;
        is_needed || !self.settings.is_silent()
    }
}

fn settle_all(situation: &Situation<'_>, decision: &Decision, outcomes: Outcomes) -> Settled {
    let is_window = situation.window.is_some() && situation.compaction.is_none();
    if is_window && !outcomes.is_remembered {
        return refusal_only(decision, outcomes.phrases);
    }
    if decision.effects.contains(&Effect::Restore) && outcomes.restored.is_none() {
        return unrestored(situation);
    }
    let mut settled = Settled { label: decision.label, ..Settled::default() };
    let has_news = outcomes.checkpoint.as_ref().is_some_and(|it| it.seal.is_some());
    let next = decision.next.clone().or_else(|| has_news.then(|| situation.state.clone()));
    let Some(mut next) = next else {
        settled.reply = outcomes.reply;
        return settled;
    };
    if is_window {
        next.since = next.since.or(outcomes.session_start).or(Some(situation.now));
    }
    let is_covered = outcomes.checkpoint.as_ref().is_none_or(|it| it.is_covered);
    if let Some(seal) = outcomes.checkpoint.and_then(|it| it.seal) {
        next = SessionState { since: Some(seal.at), sealed: Some(seal), ..next };
        if matches!(settled.label, label::QUIET | "") {
            settled.label = label::SEALED;
        }
    }
    if outcomes.is_saved == Some(false) {
        // The next call tries again.
        (next.saved, next.quiet) = (None, None);
    }
    next = next.with_handled(outcomes.handled);
    if let Some(restored) = outcomes.restored {
        (next.restored, next.compaction) =
            (Some(restored), outcomes.compaction.or(next.compaction));
    }
    if let Some(given) = outcomes.given {
        (next.given, settled.label) = (Some(given), label::GIVEN);
    }
    next.waiting = outcomes.is_waiting || next.waiting && !outcomes.is_waiting_delivered;
    if decision.effects.contains(&Effect::FindMissing) && !outcomes.is_waiting {
        // Nothing is missing, so nothing was decided.
        return Settled::default();
    }
    if decision.stops && !is_covered {
        // Without a checkpoint the agent is not stopped; the next call tries again.
        (next.stopped, settled.label) = (None, label::UNSEALED);
    } else if let Some((speech, phrases)) = decision.speech.as_ref().zip(outcomes.phrases) {
        let words = phrases.words(decision.stops, situation.state, &next);
        (settled.reply, next.advised) =
            (speech.reply(&words), next.advised | speech.advises(&words));
    }
    settled.reply = settled.reply.or(outcomes.reply).and_to_model(outcomes.delivered);
    settled.state = Some(next);
    settled
}

/// There is no transcript to restore from: what was said about the old conversation is void all the same. A
/// compaction that only the transcript shows is noticed again by the next call.
fn unrestored(situation: &Situation<'_>) -> Settled {
    match situation.compaction {
        Some(_) => Settled::default(),
        None => {
            let Decision { next, label, .. } = on_replacement(situation);
            Settled { state: next, label, ..Settled::default() }
        }
    }
}

/// Without a memory only a refusal is safe to repeat.
fn refusal_only(decision: &Decision, phrases: Option<Phrases>) -> Settled {
    let refusal = decision.speech.as_ref().filter(|speech| speech.refuses());
    let Some((speech, phrases)) = refusal.zip(phrases) else { return Settled::default() };
    let reply =
        speech.reply(&phrases.words(false, &SessionState::default(), &SessionState::default()));
    Settled { reply, ..Settled::default() }
}

impl Phrases {
    /// Returns the words, after what was said about the window before. A stop follows from what is known
    /// now, everything else from what was known before.
    fn words(&self, stops: bool, before: &SessionState, next: &SessionState) -> Words<'_> {
        Words {
            command: &self.command,
            fresh_command: self.clear_command,
            variable: self.window_variable,
            ceiling_setting: self.ceiling_setting,
            sealed: self.sealed.as_ref(),
            saved: self.restart_command.as_deref(),
            advised: if stops { next.advised } else { before.advised },
        }
    }
}
