//! Carries out the effects of a decision, and reports what came of each. Never fails: what cannot be done
//! is logged, and the agent goes on.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use plimsoll_agents::Agent;
use plimsoll_core::Millis;
use plimsoll_core::event::{EventKind, Reply, SessionId};
use plimsoll_core::policy::{self, Decision, Effect, Outcomes};
use plimsoll_core::session::{Seal, SessionState};
use plimsoll_extract::board::checkpoint_saved_notice;
use plimsoll_extract::work;

use super::beginning::Start;
use super::compaction::STEERING;
use super::mail::{HandledMail, Mail};
use super::observe::Observed;
use super::save::Saving;
use super::{ENDING_TIME, Hook, LONGEST, READING_TIME, STORE_TIME};
use crate::capture::Captured;
use crate::checkpoint::{self, Place};
use crate::clock;
use crate::ingest::Ingester;
use crate::paths::{self, Links, Paths};
use crate::receipt::{self, Claim};
use crate::run_journal as run;
use crate::saves;
use crate::spool::SpoolLine;
use crate::world::{World, now};

/// What came of a decision's effects, and what is left to do once the answer is there.
#[derive(Default)]
pub(super) struct Done {
    pub(super) outcomes: Outcomes,
    pub(super) handled: Option<HandledMail>,
    pub(super) claim: Option<Claim>,
    pub(super) later: Option<Later>,
}

/// Carries out the effects of a decision.
pub(super) fn carry_out(hook: &Hook<'_>, observed: &Observed, decision: &Decision) -> Done {
    let mut work = Work::new(hook, observed, decision);
    work.done.outcomes.is_remembered = work.is_remembered();
    if observed.is_measured() && !work.done.outcomes.is_remembered {
        work.speak();
        return work.done;
    }
    work.find_session_start();
    for effect in &decision.effects {
        if let Err(error) = work.carry_out(*effect) {
            hook.log(&error);
        }
    }
    work.speak();
    work.hand_over_mail();
    work.done
}

/// The effects of one decision, being carried out.
struct Work<'a> {
    hook: &'a Hook<'a>,
    observed: &'a Observed,
    decision: &'a Decision,
    /// The process ends with the call: thousands of small texts need not be given back one by one.
    captured: OnceCell<ManuallyDrop<Captured>>,
    /// What is left of the mail, once requests that cannot be met are put off.
    mail: Option<Mail>,
    done: Done,
}

impl<'a> Work<'a> {
    fn new(hook: &'a Hook<'a>, observed: &'a Observed, decision: &'a Decision) -> Self {
        let (captured, done) = (OnceCell::new(), Done::default());
        Self { hook, observed, decision, captured, mail: None, done }
    }

    /// Returns whether the next state can be written down, however much of it the outcomes add: what cannot
    /// be remembered had better not be said.
    fn is_remembered(&self) -> bool {
        let (Some(locked), Some(next)) = (&self.observed.locked, &self.decision.next) else {
            return false;
        };
        !self.observed.is_measured() || locked.has_room(&self.longest(next))
    }

    fn longest(&self, next: &SessionState) -> SpoolLine {
        let (at, id) = (u64::MAX, "-".repeat(64));
        let seal = Seal { at, id, mark: u64::MAX, steps: u32::MAX, covers: u64::MAX };
        let state = SessionState { sealed: Some(seal), ..next.clone() };
        self.observed.line(self.decision.label, state.with_handled(self.observed.mail.names()))
    }

    /// A session whose beginning no hook has seen has worked since its first record.
    fn find_session_start(&mut self) {
        let is_open = self.decision.next.as_ref().is_some_and(|next| next.since.is_none());
        if let Some(window) = self.observed.window.as_ref().filter(|_| is_open) {
            self.done.outcomes.session_start = window.load.started(&window.transcript);
        }
    }

    fn carry_out(&mut self, effect: Effect) -> anyhow::Result<()> {
        let (hook, observed) = (self.hook, self.observed);
        match effect {
            Effect::Checkpoint { occasion, coverage, requested, if_worth_it } => {
                let captured = self.captured();
                let (steps, turns) = (captured.folded.work.steps(), captured.folded.work.turns());
                if if_worth_it && !policy::is_worth_sealing(&observed.state, steps, turns) {
                    return Ok(());
                }
                let project = observed.canonical_project();
                let asked = (occasion, coverage, requested);
                let outcome = hook.save_checkpoint(captured, &project, asked, self.state());
                if !outcome.is_covered {
                    self.mail = Some(observed.mail.without_requests(hook));
                }
                self.done.outcomes.checkpoint = Some(outcome);
            }
            Effect::SaveCommit => {
                if observed.in_force.settings.saves_commits() {
                    self.with_saving(|saving| saving.commit());
                }
            }
            Effect::SaveSession => {
                let line = observed.line("", SessionState::default());
                let is_saved = self.with_saving(|saving| saving.session(line.used, line.window));
                self.done.outcomes.is_saved = Some(is_saved);
            }
            Effect::DeliverMail => self.done.outcomes.delivered = self.mail_text(),
            Effect::DeliverWaiting => {
                let path = hook.world.paths.waiting(&hook.event.session);
                let is_silent = observed.in_force.settings.is_silent();
                let text = paths::read_small(&path, Links::Refused).ok().filter(|_| !is_silent);
                let outcomes = &mut self.done.outcomes;
                let before = outcomes.delivered.take();
                let both = Reply { to_model: before, ..Reply::default() }.and_to_model(text);
                outcomes.delivered = both.to_model;
                outcomes.is_waiting_delivered = true;
            }
            Effect::Steer => {
                let text = work::summary_instructions(&self.captured().folded.work, STEERING);
                self.done.outcomes.reply = Reply::to_model(text);
            }
            Effect::Restore => hook.restore(observed, &mut self.done.outcomes)?,
            Effect::FindMissing => {
                if let EventKind::Summarised(summary) = &hook.event.kind {
                    self.done.outcomes.is_waiting = hook.find_missing(observed, summary)?;
                }
            }
            Effect::Begin(beginning) => self.start(hook.begin(observed, beginning)),
            Effect::ContinueRun => self.start(hook.continue_run(observed)),
            Effect::ShowHowToLoad => self.done.outcomes.reply = hook.how_to_reload(observed),
            Effect::ListChanges => {
                let text = hook.changed_files(&observed.canonical_project())?;
                self.done.outcomes.reply = Reply::to_model(text);
            }
            Effect::Ingest => self.done.later = Some(Later::new(hook, observed)),
            Effect::Prune => {
                if let Some(later) = &mut self.done.later {
                    later.prunes = true;
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, start: Start) {
        let Start { reply, given, claim } = start;
        (self.done.outcomes.reply, self.done.outcomes.given) = (reply, given);
        self.done.claim = claim;
    }

    /// Finds what the words of the decision depend on.
    fn speak(&mut self) {
        let Some(speech) = &self.decision.speech else { return };
        let outcomes = &self.done.outcomes;
        let saved_now = outcomes.checkpoint.as_ref().and_then(|it| it.seal.as_ref());
        let is_saved = outcomes.is_saved == Some(true);
        let (hook, observed, decision) = (self.hook, self.observed, self.decision);
        let phrases = hook.find_phrases(observed, decision, speech, saved_now, is_saved);
        self.done.outcomes.phrases = Some(phrases);
    }

    /// The messages that this call has handled are removed once the spool records them.
    fn hand_over_mail(&mut self) {
        let mail = self.mail.as_ref().unwrap_or(&self.observed.mail);
        self.done.outcomes.handled = mail.names();
        let is_covered = self.done.outcomes.checkpoint.as_ref().is_none_or(|it| it.is_covered);
        let is_stop = self.decision.stops && is_covered;
        let shows = self.observed.in_force.settings.board_file && !is_stop;
        let shown_in = shows.then(|| self.observed.canonical_project());
        self.done.handled = mail.handled(self.hook, shown_in);
    }

    /// Returns the text for the model about what the board had.
    fn mail_text(&self) -> Option<String> {
        let (hook, observed) = (self.hook, self.observed);
        let mail = self.mail.as_ref().unwrap_or(&observed.mail);
        let is_told =
            hook.event.kind != EventKind::Stopped && !observed.in_force.settings.is_silent();
        let seal = self.done.outcomes.checkpoint.as_ref().and_then(|it| it.seal.as_ref());
        let seal = seal.or(observed.state.sealed.as_ref());
        let sealed = mail.request().and_then(|(asked, reason)| {
            // Never a phantom: it is named only if it was saved since, and is there.
            let seal = seal.filter(|seal| seal.at as Millis >= asked)?;
            let place = hook.place(&observed.canonical_project());
            hook.has_checkpoint(&place, Some(seal)).then(|| {
                checkpoint_saved_notice(&clock::shown_with_zone(seal.at as Millis), reason)
            })
        });
        let text = Reply { to_model: sealed, ..Reply::default() }.and_to_model(mail.text());
        text.to_model.filter(|_| is_told)
    }

    /// Returns the session's work, read once.
    fn captured(&self) -> &Captured {
        self.captured.get_or_init(|| {
            let time = match self.hook.event.kind {
                EventKind::Ended => ENDING_TIME,
                _ => READING_TIME,
            };
            ManuallyDrop::new(self.hook.capture_work(self.state(), &self.observed.in_force, time))
        })
    }

    fn state(&self) -> &SessionState {
        self.decision.next.as_ref().unwrap_or(&self.observed.state)
    }

    fn with_saving<T>(&self, save: impl FnOnce(&Saving<'_>) -> T) -> T {
        let seal = self.done.outcomes.checkpoint.as_ref().and_then(|it| it.seal.as_ref());
        let seal = seal.or(self.observed.state.sealed.as_ref());
        save(&Saving {
            hook: self.hook,
            captured: self.captured(),
            project: &self.observed.canonical_project(),
            checkpoint: seal.map(|seal| seal.id.as_str()),
        })
    }
}

/// What comes after the answer: the store, and the removal of what is old. Another time will do as well, so
/// whatever fails is left to the next call.
#[derive(Debug)]
pub(super) struct Later {
    agent: &'static dyn Agent,
    session: SessionId,
    transcript: PathBuf,
    /// The project whose checkpoints are taken into the store too.
    project: Option<PathBuf>,
    begun: Instant,
    deadline: Instant,
    prunes: bool,
}

impl Later {
    fn new(hook: &Hook<'_>, observed: &Observed) -> Self {
        // A user who waits for a compaction does not wait for a store that has much to catch up on.
        let deadline = match hook.event.kind {
            EventKind::Compacting { .. } if hook.is_main() => hook.begun + STORE_TIME / 2,
            _ => Instant::now() + STORE_TIME,
        };
        Self {
            agent: hook.agent,
            session: hook.event.session.clone(),
            transcript: hook.transcript.clone(),
            project: hook.is_main().then(|| observed.canonical_project()),
            begun: hook.begun,
            deadline,
            prunes: false,
        }
    }

    pub(super) fn run(self, world: &World) {
        let _ = self.ingest(world);
        if self.prunes {
            self.prune(world);
        }
    }

    /// Takes the session into the store, and the checkpoints of its project, as far as there is time.
    fn ingest(&self, world: &World) -> anyhow::Result<()> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        anyhow::ensure!(!left.is_zero(), "no time is left for the store");
        let mut ingester = Ingester::open(world, left / 2, Some(self.deadline))?;
        ingester.session(self.agent, &self.transcript)?;
        self.project.as_ref().map_or(Ok(()), |project| ingester.checkpoints(project))?;
        ingester.saves()?;
        ingester.learn()?;
        ingester.prune()
    }

    /// Removes old checkpoints, runs and receipts.
    fn prune(&self, world: &World) {
        let (paths, now) = (&world.paths, now() as Millis);
        let needed = OnceCell::new();
        let is_needed = |id: &str| {
            let needed = needed.get_or_init(|| needed_checkpoints(paths));
            needed.as_ref().is_none_or(|needed| needed.contains(id))
        };
        if let Some(project) = &self.project {
            let patience = LONGEST.saturating_sub(self.begun.elapsed());
            let place = Place { patience, ..Place::of(world, self.agent, project.clone()) };
            let _ = checkpoint::prune(&place, now, &is_needed);
        }
        let _ = run::prune(paths, now);
        receipt::prune(paths, SystemTime::now());
        // A call that was killed may have left half of the saved work.
        paths::sweep(&paths.work(&self.session));
    }
}

/// Returns the checkpoints that saves and runs refer to; `None` if that cannot be told. Only asked when a
/// checkpoint is old enough to go: no ordinary end reads journals.
fn needed_checkpoints(paths: &Paths) -> Option<BTreeSet<String>> {
    let mut needed = saves::referred(paths, STORE_TIME).ok()?;
    needed.extend(run::referred(paths).ok()?);
    Some(needed)
}
