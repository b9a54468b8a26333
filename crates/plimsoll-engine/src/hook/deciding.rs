//! Events that depend on how full the window is.

use std::cell::OnceCell;
use std::mem::ManuallyDrop;
use std::path::Path;

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_core::board::Reason;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::event::{EventKind, Reply};
use plimsoll_core::policy::{
    self, AboveCeiling, Call, Ceiling, Coverage, Decision, LONGEST_WITHOUT, Outlook, SealedAt,
    Speech, Words,
};
use plimsoll_core::reading::{Reading, Scope};
use plimsoll_core::session::{Seal, SessionState};
use plimsoll_extract::board::checkpoint_saved_notice;
use plimsoll_extract::save::{SaveEnvironment, templates};

use super::keeping::Keeping;
use super::mail::Mail;
use super::sealing::sealed;
use super::{Answer, Hook, READING_TIME};
use crate::board;
use crate::checkpoint::Place;
use crate::clock;
use crate::install::has_command;
use crate::jsonl::JsonLines;
use crate::load::{self, Load};
use crate::paths::{self, Links};
use crate::saves;
use crate::settings::{self, InForce};
use crate::spool::{self, Locked, SpoolLine};
use crate::world::{CEILING_TOKENS_VARIABLE, CEILING_VARIABLE, WINDOW_VARIABLE, now};

/// Commands that we name if they are there.
const CHECKPOINT: &str = "checkpoint";
const SAVE: &str = "ss";
const RESTORE: &str = "rs";

impl Hook<'_> {
    /// Answers an event that depends on how full the window is.
    pub(super) fn measured(&self) -> anyhow::Result<Answer> {
        let Self { world, agent, event, .. } = *self;
        let opened = self.open_transcript().context("could not open the transcript")?;
        let transcript = match (opened, &event.usage) {
            (Some(transcript), _) => transcript,
            (None, Some(_)) => JsonLines::empty()?,
            (None, None) => return self.unseen(),
        };
        let project = load::project(world, agent, Some(&transcript), &event.cwd);
        // The process ends with the call: nobody need take these apart.
        let in_force = ManuallyDrop::new(settings::load(world, agent, &project));
        let path = self.spool();
        // What cannot be read cannot be locked either, so nothing is said; a refusal needs no memory.
        let state = ManuallyDrop::new(spool::state(&path).unwrap_or_default());
        let scope = if event.subagent.is_some() { Scope::Subagent } else { Scope::Main };
        let reported = event.usage.as_ref();
        let load = Load::look_with(agent, &transcript, scope, &in_force, &state, reported)
            .context("could not read the transcript")?;
        if self.was_compacted(&load, &in_force, &state) {
            return self.compacted_unreported(&in_force, load.tail.compaction());
        }
        let mut call = self.call();
        if state.since.is_none() && call.may_seal() {
            call.session_start = load.started();
        }
        let deciding = Deciding {
            hook: self,
            load: &load,
            in_force: &in_force,
            project: &project,
            call,
            has_mail: self.has_mail(),
        };
        if !deciding.has_mail && deciding.nothing_due(&state) {
            return Ok(Answer::default());
        }
        deciding.answer(&path, &state)
    }

    /// Returns whether the conversation was compacted since the last call, for agents that do not say so.
    fn was_compacted(&self, load: &Load<'_>, in_force: &InForce, state: &SessionState) -> bool {
        if self.agent.profile().reports_compactions || self.event.subagent.is_some() {
            return false;
        }
        let counted = load.tail.newest.as_ref().filter(|_| load.tail.is_counted());
        let counted = counted.map(|newest| newest.tokens);
        policy::was_compacted(&load.outlook(in_force), load.tail.compaction(), counted, state)
    }

    fn call(&self) -> Call<'_> {
        let subagent = self.event.subagent.as_ref().map(|subagent| subagent.kind.as_str());
        let at_breakpoint = self.event.breakpoint.is_some();
        let kind = &self.event.kind;
        Call { kind, subagent, at_breakpoint, session_start: None, now: now() }
    }

    /// There is no transcript: not yet before the first response, and never where the client keeps
    /// none.
    ///
    /// A tool runs after the first response. So the session is marked for whoever wonders why we are
    /// silent.
    fn unseen(&self) -> anyhow::Result<Answer> {
        match self.event.kind {
            EventKind::ToolFinished if self.event.subagent.is_none() => self.mark(spool::UNSEEN),
            _ => Ok(Answer::default()),
        }
    }
}

/// A call at which something may be due.
struct Deciding<'a> {
    hook: &'a Hook<'a>,
    load: &'a Load<'a>,
    in_force: &'a InForce,
    project: &'a Path,
    call: Call<'a>,
    /// Something may lie in the session's inbox.
    has_mail: bool,
}

impl Deciding<'_> {
    fn nothing_due(&self, state: &SessionState) -> bool {
        let tail = &self.load.tail;
        let Some(newest) = tail.newest.as_ref().filter(|_| tail.is_counted()) else {
            return false;
        };
        let outlook = self.load.outlook(self.in_force);
        policy::nothing_due(&outlook, &self.call, state, newest.tokens, tail.bytes_since)
    }

    /// Something may be due: now it is worth reading closely. Kept apart: most calls are over before.
    #[inline(never)]
    fn answer(&self, spool: &Path, state: &SessionState) -> anyhow::Result<Answer> {
        let reading = self.load.reading().context("could not read the transcript")?;
        let growth = OnceCell::new();
        let growth = || *growth.get_or_init(|| self.load.growth());
        let can_save = self.has_command(SAVE);
        let outlook = Outlook { can_save, ..self.load.outlook(self.in_force) };
        let used = reading.as_ref().map(|reading| reading.used);
        let over = used.filter(|used| {
            self.hook.is_conducted()
                && policy::is_over_restart(&outlook, &self.call, *used, &growth)
        });
        let decide = |state: &SessionState| {
            let decision = policy::decide(&outlook, &self.call, reading.as_ref(), &growth, state);
            match over {
                Some(used) => policy::conducted(&outlook, &self.call, used, decision, state),
                None => decision,
            }
        };
        let decision = decide(state);
        let Some(locked) = self.lock(spool, &decision, state)? else {
            return Ok(self.unremembered(&decision));
        };
        // Another call may have spoken since.
        let state = spool::state(spool).context("could not read the spool")?;
        let mail = match self.has_mail {
            true => self.hook.take_mail(self.in_force, &state),
            false => Mail::default(),
        };
        let decision = match mail.trigger() {
            Some((_, reason)) => {
                policy::asked(&outlook, &self.call, used, reason, decide(&state), &state)
            }
            None => decide(&state),
        };
        self.carry_out(locked, decision, reading.as_ref(), state, mail)
    }

    /// The spool, if there is anything to remember and it can be had.
    fn lock(
        &self,
        spool: &Path,
        decision: &Decision,
        state: &SessionState,
    ) -> anyhow::Result<Option<Locked>> {
        if decision.remember.is_none() && !self.delivers(state) && !self.has_mail {
            return Ok(None);
        }
        match Locked::open(spool).context("could not lock the spool") {
            Err(error) if refuses(decision) => {
                crate::log::write(&self.hook.world.paths.log(), &format!("{error:#}"));
                Ok(None)
            }
            locked => locked,
        }
    }

    /// Does what was decided, with the spool at hand to remember it.
    fn carry_out(
        &self,
        locked: Locked,
        decision: Decision,
        reading: Option<&Reading>,
        state: SessionState,
        mut mail: Mail,
    ) -> anyhow::Result<Answer> {
        let delivers = self.delivers(&state);
        let next = match decision.remember.clone() {
            Some(next) => next,
            None if delivers || !mail.is_empty() => state.clone(),
            None => return Ok(Answer::default()),
        };
        // A session whose beginning no hook has seen has worked since its first record.
        let begun = || self.load.started().unwrap_or(self.call.now);
        let next = SessionState { since: next.since.or_else(|| Some(begun())), ..next };
        let what = decision.speech.as_ref().map_or("quiet", Speech::label).to_owned();
        let (used, window) = (reading.map_or(0, |reading| reading.used), self.load.window.tokens);
        let mut line = SpoolLine { at: now(), what, used, window, state: next };
        if !locked.has_room(&longest(&line, &mail)) {
            return Ok(self.unremembered(&decision));
        }
        let kept = self.seal(&decision, &mut line, &mut mail);
        line.state = board::handled(line.state, &mail.ids());
        let Spoken { mut reply, advises } = match decision.stops {
            true if kept.is_told => self.words(&decision, &line.state, None),
            true => not_stopped(&mut line),
            false => self.words(&decision, &state, kept.saved.as_ref()),
        };
        line.state.advised |= advises;
        reply.to_model = joined(reply.to_model, self.mail_words(&line.state, &mail));
        if delivers {
            line.state.waiting = false;
            reply.to_model = joined(reply.to_model, self.waiting());
        }
        let output = self.hook.agent.hooks().encode(self.call.kind, &reply);
        if reply.stop.is_some() {
            // Whoever conducts the session must never take one that we stopped for one that is done.
            locked.append(&line).context("could not write the spool")?;
            let handled = mail.handled(self.hook, None);
            return Ok(Answer { output, reply, handled, ..Answer::default() });
        }
        let shows = self.in_force.settings.board_file;
        let handled = mail.handled(self.hook, shows.then(|| paths::canonical(self.project)));
        let remember = Some((locked, line));
        Ok(Answer { output, reply, remember, handled, ..Answer::default() })
    }

    /// Makes the checkpoint that is due, and notes it. A request for one that cannot be made waits on.
    fn seal(&self, decision: &Decision, line: &mut SpoolLine, mail: &mut Mail) -> Kept {
        if decision.due.is_none() && !decision.saves && !decision.stops {
            return Kept::default();
        }
        let project = paths::canonical(self.project);
        let captured = self.hook.captured(&line.state, self.in_force, READING_TIME);
        let occasion = decision.due.map_or(Occasion::Auto, policy::Due::occasion);
        let is_done =
            |(asked, _): (Millis, &Reason)| self.hook.has_checkpoint_since(&project, asked);
        // Whoever is stopped needs one of right now.
        let is_done = !decision.stops && mail.trigger().is_some_and(is_done);
        let coverage = if decision.stops { Coverage::Everything } else { Coverage::Changes };
        let seal = match is_done {
            true => None,
            false => self.hook.seal(&captured, &project, occasion, coverage, &line.state),
        };
        let is_told = match seal {
            Some(seal) => {
                line.state = sealed(seal, std::mem::take(&mut line.state));
                if line.what == "quiet" {
                    line.what = "sealed".to_owned();
                }
                true
            }
            None => {
                is_done || self.hook.is_covered(&captured, &self.place(), coverage, &line.state)
            }
        };
        if !is_told {
            mail.put_off(self.hook);
        }
        let keeping = Keeping { hook: self.hook, captured: &captured, project: &project };
        keeping.commit(self.in_force, line);
        let saved = if decision.saves { keeping.full(line) } else { None };
        if decision.saves && saved.is_none() {
            // The next call tries again.
            (line.state.saved, line.state.quiet) = (None, None);
        }
        Kept { is_told, saved }
    }

    /// What the model is told of what the board had.
    fn mail_words(&self, state: &SessionState, mail: &Mail) -> Option<String> {
        let tells = self.call.kind != &EventKind::Stopped && !self.in_force.settings.is_silent();
        let sealed = mail.trigger().and_then(|(asked, reason)| {
            // Never a phantom: it is named only if it was made since, and is there.
            let seal = state.sealed.as_ref().filter(|seal| seal.at as Millis >= asked);
            let seal = seal.filter(|_| self.hook.is_there(&self.place(), state))?;
            Some(checkpoint_saved_notice(&clock::shown_with_zone(seal.at as Millis), reason))
        });
        joined(sealed, mail.told()).filter(|_| tells)
    }

    /// Whether something waits that this call can tell the model.
    fn delivers(&self, state: &SessionState) -> bool {
        use EventKind::{Prompted, ToolFailed, ToolFinished};
        let is_meant = matches!(self.call.kind, Prompted | ToolFinished | ToolFailed);
        let tells = is_meant && self.hook.agent.hooks().accepts(self.call.kind).to_model;
        state.waiting && tells && self.call.subagent.is_none()
    }

    /// What waits to be told to the model.
    fn waiting(&self) -> Option<String> {
        let silent = self.in_force.settings.is_silent();
        let path = self.hook.world.paths.waiting(&self.hook.event.session);
        paths::read_small(&path, Links::Refused).ok().filter(|_| !silent)
    }

    /// Without a memory only a refusal is safe to repeat.
    fn unremembered(&self, decision: &Decision) -> Answer {
        if !refuses(decision) {
            return Answer::default();
        }
        let reply = self.words(decision, &SessionState::default(), None).reply;
        let output = self.hook.agent.hooks().encode(self.call.kind, &reply);
        Answer { output, reply, ..Answer::default() }
    }

    /// The words of a decision. A checkpoint that was there before is worth a word.
    fn words(
        &self,
        decision: &Decision,
        state: &SessionState,
        saved: Option<&SaveEnvironment>,
    ) -> Spoken {
        let Some(speech) = &decision.speech else { return Spoken::default() };
        let is_fresh = |at: u64| self.call.now.abs_diff(at) < LONGEST_WITHOUT;
        let sealed = state.sealed.as_ref().filter(|seal| is_fresh(seal.at));
        // Never a phantom: it is named only if it is there.
        let sealed = sealed.filter(|_| self.hook.is_there(&self.place(), state));
        let sealed = sealed.map(|seal| SealedAt {
            local: clock::shown(seal.at as Millis),
            zoned: clock::shown_with_zone(seal.at as Millis),
        });
        let saved = saved.cloned().or_else(|| {
            let is_of_an_earlier_call = speech.names_save() && !decision.saves;
            is_of_an_earlier_call
                .then(|| saves::environment(self.hook.world, None).unwrap_or_default())
        });
        let saved = saved.map(|environment| self.restart_command(&environment));
        let words = Words {
            command: &self.command(speech, sealed.is_some()),
            fresh_command: self.hook.agent.profile().clear_command,
            variable: WINDOW_VARIABLE,
            ceiling_setting: self.ceiling_setting(speech),
            sealed: sealed.as_ref(),
            saved: saved.as_deref(),
            advised: state.advised,
        };
        Spoken { reply: speech.reply(&words), advises: speech.advises(&words) }
    }

    fn place(&self) -> Place {
        self.hook.place(&paths::canonical(self.project))
    }

    /// A command that the user can run right now. With a checkpoint at hand another one is no help.
    fn command(&self, speech: &Speech, has_checkpoint: bool) -> String {
        match &self.in_force.settings.warn_command {
            _ if matches!(speech, Speech::Save { .. }) => format!("/{SAVE}"),
            Some(command) => policy::brief(command),
            None if !has_checkpoint && self.has_command(CHECKPOINT) => format!("/{CHECKPOINT}"),
            None if self.in_force.client.can_compact => {
                self.hook.agent.profile().compact_command.to_owned()
            }
            None => self.hook.agent.profile().clear_command.to_owned(),
        }
    }

    /// The setting that raises the ceiling: the variable where it decides, otherwise the config's key.
    fn ceiling_setting(&self, speech: &Speech) -> &'static str {
        let overrides = self.hook.world.overrides();
        match speech {
            Speech::Ceiling(AboveCeiling { ceiling: Ceiling::Tokens(_), .. }) => {
                let is_variable = overrides.ceiling_tokens.is_some();
                if is_variable { CEILING_TOKENS_VARIABLE } else { "guard.ceiling_tokens" }
            }
            _ if overrides.ceiling.is_some() => CEILING_VARIABLE,
            _ => "lines.ceiling",
        }
    }

    /// How a new session goes on from what was saved.
    fn restart_command(&self, environment: &SaveEnvironment) -> String {
        let command = templates::restart_command(environment);
        match self.has_command(RESTORE) {
            true => format!("/{command}"),
            false => format!("plimsoll {command}"),
        }
    }

    fn has_command(&self, name: &str) -> bool {
        has_command(self.hook.world, self.hook.agent, self.project, name)
    }
}

/// What was kept of a session.
#[derive(Default)]
struct Kept {
    /// A checkpoint is there that tells what there is to tell.
    is_told: bool,
    /// Where the session was saved, if it was.
    saved: Option<SaveEnvironment>,
}

/// The words of a decision.
#[derive(Default)]
struct Spoken {
    reply: Reply,
    /// They tell the user to act.
    advises: bool,
}

/// Without a checkpoint the agent is not stopped; the next call tries again.
fn not_stopped(line: &mut SpoolLine) -> Spoken {
    (line.state.stopped, line.what) = (None, "unsealed".to_owned());
    Spoken::default()
}

/// A line as long as it may become: a checkpoint that is sealed meanwhile is told in it, and what was
/// handled.
fn longest(line: &SpoolLine, mail: &Mail) -> SpoolLine {
    let (at, id) = (u64::MAX, "-".repeat(64));
    let seal = Seal { at, id, mark: u64::MAX, steps: u32::MAX, covers: u64::MAX };
    let state = SessionState { sealed: Some(seal), ..line.state.clone() };
    SpoolLine { state: board::handled(state, &mail.ids()), ..line.clone() }
}

fn refuses(decision: &Decision) -> bool {
    decision.speech.as_ref().is_some_and(Speech::refuses)
}

fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}\n\n{other}")),
        (one, other) => one.or(other),
    }
}
