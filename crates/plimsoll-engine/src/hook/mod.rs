//! A hook call, from payload to answer.

mod beginning;
mod compaction;
mod conducted;
mod deciding;
mod ending;
mod keeping;
mod mail;
mod sealing;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use plimsoll_agents::{Agent, Home, HookCall, Output};
use plimsoll_core::event::{Event, EventKind, Reply};
use plimsoll_core::policy;
use plimsoll_core::session::SessionState;

use self::mail::Handled;
use crate::ingest::Ingester;
use crate::jsonl::JsonLines;
use crate::load;
use crate::paths;
use crate::receipt::Claim;
use crate::sessions;
use crate::settings::InForce;
use crate::spool::{self, Locked, SpoolLine};
use crate::world::World;

/// A payload larger than this is not looked at.
pub const LARGEST_PAYLOAD: u64 = 8 << 20;

/// What to print, and what to remember once that is done.
///
/// A warning is remembered after it was printed: a call killed in between warns again, and is never
/// silent about what nobody saw. The spool stays locked until then, so that of many calls at once
/// one speaks.
#[derive(Debug, Default)]
pub struct Answer {
    /// What to print.
    pub output: Output,
    /// The same in nobody's dialect.
    pub reply: Reply,
    remember: Option<(Locked, SpoolLine)>,
    /// What the board had for the session.
    handled: Option<Handled>,
    /// The checkpoint that the session is given without having asked for it.
    claim: Option<Claim>,
}

impl Answer {
    /// To be called when the output has reached the agent.
    pub fn delivered(self) -> anyhow::Result<()> {
        if let Some(claim) = self.claim {
            claim.fulfil().context("could not write the receipt of a checkpoint")?;
        }
        if let Some((spool, line)) = self.remember {
            spool.append(&line).context("could not write the spool")?;
        }
        // Only now that the spool tells of them.
        self.handled.map_or(Ok(()), Handled::remove)
    }
}

/// Answers one hook call: what the agent wrote on stdin in, what it reads on stdout out.
pub fn answer(
    world: &World,
    agent: &'static dyn Agent,
    event: Option<&str>,
    payload: Vec<u8>,
) -> anyhow::Result<Answer> {
    let decode =
        |home: &Home<'_>| agent.hooks().decode(&HookCall { payload: &payload, event, home: *home });
    let Some(event) = world.with_home(agent, decode)? else {
        return Ok(Answer::default());
    };
    // A payload may be as large as all the rest together, and has said its word.
    drop(payload);
    answer_event(world, agent, &event).with_context(|| format!("session {}", event.session))
}

fn answer_event(world: &World, agent: &'static dyn Agent, event: &Event) -> anyhow::Result<Answer> {
    let located = || sessions::locate(world, agent, &event.session);
    let transcript = event.transcript.clone().or_else(located).unwrap_or_default();
    let hook = Hook { world, agent, event, transcript, begun: Instant::now() };
    match &event.kind {
        EventKind::Prompted
        | EventKind::ToolFinished
        | EventKind::ToolFailed
        | EventKind::Stopped
        | EventKind::Loading(_) => hook.measured(),
        _ => hook.began_or_ended(),
    }
}

/// One call of the hook.
struct Hook<'a> {
    world: &'a World,
    agent: &'static dyn Agent,
    event: &'a Event,
    /// The transcript of the event's window; empty if there is none.
    transcript: PathBuf,
    begun: Instant,
}

/// How long a hook that makes a checkpoint may take in all.
const LONGEST: Duration = Duration::from_millis(1_900);
/// How long a hook may read for a checkpoint; then what is known is sealed.
const READING_TIME: Duration = Duration::from_millis(1500);
/// How long a hook may spend on the store.
const STORE_TIME: Duration = Duration::from_millis(100);

impl Hook<'_> {
    /// Answers an event at which a session or its window begins or ends. Kept apart: there are
    /// hundreds of other calls for each of these, and they would pay for its pages.
    #[inline(never)]
    fn began_or_ended(&self) -> anyhow::Result<Answer> {
        let is_main = self.event.subagent.is_none();
        match &self.event.kind {
            // A subagent's window is its own business: no checkpoint, no restore.
            EventKind::Cleared | EventKind::Compacted if !is_main => self.replaced(),
            EventKind::Compacting { .. } if !is_main => self.taken_in(),
            EventKind::Started | EventKind::Cleared if is_main => self.begun(),
            EventKind::Resumed if is_main => self.resumed(),
            EventKind::Compacting { .. } => self.compacting(),
            EventKind::Compacted => self.compacted(),
            EventKind::Summarised(summary) if is_main => self.summarised(summary),
            EventKind::Ended if is_main => self.ended(),
            _ => Ok(Answer::default()),
        }
    }

    /// Opens the transcript; `None` if there is none.
    fn open_transcript(&self) -> std::io::Result<Option<JsonLines>> {
        match self.transcript.as_os_str().is_empty() {
            true => Ok(None),
            false => JsonLines::open(&self.transcript),
        }
    }

    fn spool(&self) -> PathBuf {
        self.world.paths.spool(self.event)
    }

    /// The project of the session, by its true name.
    fn project(&self) -> PathBuf {
        // A transcript that cannot be read names no folder.
        let transcript = self.open_transcript().ok().flatten();
        let (world, cwd) = (self.world, &self.event.cwd);
        paths::canonical(&load::project(world, self.agent, transcript.as_ref(), cwd))
    }

    /// An answer with words for the model, unless the user wants none.
    fn answer(
        &self,
        in_force: &InForce,
        reply: Reply,
        remember: Option<(Locked, SpoolLine)>,
    ) -> Answer {
        let reply = if in_force.settings.is_silent() { Reply::default() } else { reply };
        let output = self.agent.hooks().encode(&self.event.kind, &reply);
        Answer { output, reply, remember, ..Answer::default() }
    }

    /// The spool, if it can be had, and the session's state. Without either there is still something
    /// to do: a checkpoint or a restore must not depend on what is remembered.
    fn held(&self) -> (Option<Locked>, SessionState) {
        let path = self.spool();
        let locked = Locked::open(&path).ok().flatten();
        (locked, spool::state(&path).unwrap_or_default())
    }

    /// Locks the spool and changes the session's state; nothing where the spool cannot be had.
    fn remember(
        &self,
        what: &str,
        change: impl FnOnce(SessionState) -> SessionState,
    ) -> anyhow::Result<Option<(Locked, SpoolLine)>> {
        let path = self.spool();
        let locked = Locked::open(&path).context("could not lock the spool")?;
        let Some(locked) = locked else { return Ok(None) };
        let state = spool::state(&path).context("could not read the spool")?;
        Ok(Some((locked, SpoolLine::unmeasured(what, change(state)))))
    }

    /// Marks a session about which nothing was decided yet, for whoever wonders whether we were
    /// called.
    fn mark(&self, what: &str) -> anyhow::Result<Answer> {
        let last = spool::last(&self.spool()).context("could not read the spool")?;
        let undecided = |last: &SpoolLine| matches!(&*last.what, spool::STARTED | spool::WINDOW);
        if last.as_ref().is_some_and(|last| last.what == what || !undecided(last)) {
            return Ok(Answer::default());
        }
        Ok(Answer { remember: self.remember(what, |state| state)?, ..Answer::default() })
    }

    /// The window's contents were replaced: what was said about the old ones is void.
    fn replaced(&self) -> anyhow::Result<Answer> {
        if policy::replaced(&spool::state(&self.spool())?).remember.is_none() {
            return self.mark(spool::STARTED);
        }
        let remember = self.remember("replaced", |state| state.emptied())?;
        Ok(Answer { remember, ..Answer::default() })
    }

    /// Takes the session into the store, and has nothing to say.
    fn taken_in(&self) -> anyhow::Result<Answer> {
        // Another time will do as well: whoever ingests next reads on from where we stopped.
        let _ = self.ingest(Instant::now() + STORE_TIME, None);
        Ok(Answer::default())
    }

    /// Takes the session into the store, and the checkpoints of a place, as far as there is time.
    fn ingest(&self, deadline: Instant, project: Option<&Path>) -> anyhow::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        anyhow::ensure!(!left.is_zero(), "no time is left for the store");
        let mut ingester = Ingester::open(self.world, left / 2, Some(deadline))?;
        ingester.session(self.agent, &self.transcript)?;
        project.map_or(Ok(()), |project| ingester.checkpoints(project))?;
        ingester.saves()?;
        ingester.learn()?;
        ingester.prune()
    }
}
