//! A hook call, from payload to answer.
//!
//! Every event takes the same path: decode, observe, decide, carry out, settle, encode. The decision and
//! what follows from it are pure and live in core ([`plimsoll_core::policy`]).

mod beginning;
mod carry_out;
mod checkpoint;
mod compaction;
mod mail;
mod observe;
mod phrases;
mod save;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use plimsoll_agents::{Agent, Home, HookCall, Output};
use plimsoll_core::event::{Event, EventKind, Reply};
use plimsoll_core::policy::{self, Settled};

use self::carry_out::{Done, Later, carry_out};
use self::mail::HandledMail;
use self::observe::{Observed, observe};
use crate::jsonl::JsonLines;
use crate::receipt::Claim;
use crate::sessions;
use crate::spool::{Locked, SpoolLine};
use crate::world::World;

/// A payload larger than this is not looked at.
pub const LARGEST_PAYLOAD: u64 = 8 << 20;

/// What to print, and what to do once that is done.
///
/// A warning is remembered after it was printed: a call killed in between warns again, and is never
/// silent about what nobody saw. The spool stays locked until then, so that of many calls at once
/// one speaks.
#[derive(Debug, Default)]
pub struct Answer {
    /// What to print.
    pub output: Output,
    /// The same in no agent's dialect.
    pub reply: Reply,
    remember: Option<(Locked, SpoolLine)>,
    handled: Option<HandledMail>,
    /// The checkpoint that the session is given without having asked for it.
    claim: Option<Claim>,
    /// What comes after the answer, when nobody waits for the spool any more.
    later: Option<Later>,
}

impl Answer {
    /// To be called when the output has reached the agent.
    pub fn delivered(mut self, world: &World) -> anyhow::Result<()> {
        let later = self.later.take();
        let remembered = self.write_down();
        if let Some(later) = later {
            later.run(world);
        }
        remembered
    }

    fn write_down(self) -> anyhow::Result<()> {
        if let Some(claim) = self.claim {
            claim.fulfil().context("could not write the receipt of a checkpoint")?;
        }
        if let Some((spool, line)) = self.remember {
            spool.append(&line).context("could not write the spool")?;
        }
        // Only now that the spool records them.
        self.handled.map_or(Ok(()), HandledMail::remove)
    }
}

/// Answers one hook call: takes what the agent wrote on stdin and returns what it reads on stdout.
/// `event` is the event's name, if the command line gives it.
pub fn answer(
    world: &World,
    agent: &'static dyn Agent,
    event: Option<&str>,
    payload: Vec<u8>,
) -> anyhow::Result<Answer> {
    #[cfg(feature = "test-switches")]
    if world.env("PLIMSOLL_TEST_PANIC").is_some() {
        panic!("asked to");
    }
    let decode =
        |home: &Home<'_>| agent.hooks().decode(&HookCall { payload: &payload, event, home: *home });
    let Some(event) = world.with_home(agent, decode)? else { return Ok(Answer::default()) };
    // A payload may be as large as all the rest together, and is not needed any more.
    drop(payload);
    answer_event(world, agent, &event).with_context(|| format!("session {}", event.session))
}

fn answer_event(world: &World, agent: &'static dyn Agent, event: &Event) -> anyhow::Result<Answer> {
    let hook = Hook::new(world, agent, event);
    let Some(observed) = observe(&hook)? else { return Ok(Answer::default()) };
    answer_observed(&hook, observed)
}

/// Answers a call at which something may be due. Kept apart: most calls are over before, and would pay for
/// its pages.
#[inline(never)]
fn answer_observed(hook: &Hook<'_>, observed: Observed) -> anyhow::Result<Answer> {
    let growth = || observed.growth();
    let situation = observed.situation(hook, &growth);
    let decision = policy::decide(&situation);
    let Done { outcomes, handled, claim, later } = carry_out(hook, &observed, &decision);
    let settled = policy::settle(&situation, &decision, outcomes);
    encode(hook, observed, settled, handled, claim, later)
}

/// Encodes the reply in the agent's dialect, and holds on to the spool until the agent has it.
fn encode(
    hook: &Hook<'_>,
    observed: Observed,
    settled: Settled,
    handled: Option<HandledMail>,
    claim: Option<Claim>,
    later: Option<Later>,
) -> anyhow::Result<Answer> {
    let Settled { state, label, reply } = settled;
    let output = hook.agent.hooks().encode(&hook.event.kind, &reply);
    let line = state.map(|state| observed.line(label, state));
    let remember = match (observed.locked, line) {
        (Some(locked), Some(line)) => Some((locked, line)),
        (Some(locked), None) => {
            locked.release(&hook.spool());
            None
        }
        (None, _) => None,
    };
    let answer = Answer { output, reply, remember, handled, claim, later };
    match &hook.event.kind {
        _ if answer.reply.stop.is_some() => answer.remember_first(),
        // A checkpoint was saved, whatever becomes of the instructions for the summary.
        EventKind::Compacting { .. } => Ok(answer.remember_first().unwrap_or_default()),
        _ => Ok(answer),
    }
}

impl Answer {
    /// Writes the spool before the agent hears of it: a runner must never take a session that we stopped
    /// for one that is done.
    fn remember_first(mut self) -> anyhow::Result<Self> {
        if let Some((spool, line)) = self.remember.take() {
            spool.append(&line).context("could not write the spool")?;
        }
        Ok(self)
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
/// How long a hook may read for a checkpoint; then what is known is saved.
const READING_TIME: Duration = Duration::from_millis(1_500);
/// The same at a session's end. The client does not wait for long when it ends.
const ENDING_TIME: Duration = Duration::from_millis(800);
/// How long a hook may spend on the store.
const STORE_TIME: Duration = Duration::from_millis(100);

impl<'a> Hook<'a> {
    fn new(world: &'a World, agent: &'static dyn Agent, event: &'a Event) -> Self {
        let located = || sessions::locate(world, agent, &event.session);
        let transcript = event.transcript.clone().or_else(located).unwrap_or_default();
        Self { world, agent, event, transcript, begun: Instant::now() }
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

    fn is_main(&self) -> bool {
        self.event.subagent.is_none()
    }

    /// Returns whether a run started this very session: an agent that it starts may start another, which
    /// inherits the environment.
    fn is_run(&self) -> bool {
        let session = self.world.env(crate::run_variables::SESSION);
        session.is_some_and(|session| session == self.event.session.own_id())
    }

    /// Returns whether the client runs without a person.
    fn is_headless(&self) -> bool {
        let profile = self.agent.profile();
        let entry_point = self.world.agent_env(profile.variables.entry_point);
        entry_point.is_some_and(|entry_point| profile.is_headless(&entry_point))
    }

    /// Logs an error that must not stand in the agent's way.
    fn log(&self, error: &anyhow::Error) {
        crate::log::write(&self.world.paths.log(), &format!("{error:#}"));
    }
}
