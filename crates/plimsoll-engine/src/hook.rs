//! A hook call, from payload to answer.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use plimsoll_agents::{Adapter, Output};
use plimsoll_core::Millis;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::event::{Event, EventKind, Reply};
use plimsoll_core::policy::{self, Decision, Outlook, Speech};
use plimsoll_core::reading::Scope;
use plimsoll_core::session::SessionState;
use plimsoll_core::work;

use crate::capture::Captured;
use crate::checkpoint::{self, Place};
use crate::ingest::Ingester;
use crate::jsonl::JsonLines;
use crate::load::{self, Load};
use crate::paths;
use crate::settings::{self, InForce};
use crate::spool::{self, Locked, SpoolLine};
use crate::work::fold;
use crate::world::{WINDOW_VARIABLE, World, now};

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
}

impl Answer {
    /// To be called when the output has reached the agent.
    pub fn delivered(self) -> anyhow::Result<()> {
        match self.remember {
            Some((spool, line)) => spool.append(&line).context("could not write the spool"),
            None => Ok(()),
        }
    }
}

/// Answers one hook call: what the agent wrote on stdin in, what it reads on stdout out.
pub fn answer(world: &World, adapter: &dyn Adapter, payload: Vec<u8>) -> anyhow::Result<Answer> {
    let Some(event) = adapter.event(&payload)? else {
        return Ok(Answer::default());
    };
    // A payload may be as large as all the rest together, and has said its word.
    drop(payload);
    answer_event(world, adapter, &event).with_context(|| format!("session {}", event.session))
}

fn answer_event(world: &World, adapter: &dyn Adapter, event: &Event) -> anyhow::Result<Answer> {
    match event.kind {
        EventKind::Prompted | EventKind::ToolFinished | EventKind::Loading(_) => {
            measured(world, adapter, event)
        }
        EventKind::Started => mark(world, event, spool::STARTED),
        EventKind::Cleared => replaced(world, event),
        EventKind::Compacted if event.subagent.is_some() => replaced(world, event),
        EventKind::Compacted => compacted(world, adapter, event),
        EventKind::Compacting if event.subagent.is_none() => compacting(world, adapter, event),
        EventKind::Compacting | EventKind::Ended => {
            // Another time will do as well: whoever ingests next reads on from where we stopped, and
            // the next session's end prunes what this one does not.
            let _ = ingest(world, adapter, event);
            if event.kind == EventKind::Ended {
                let place = Place::of(world, adapter, project(world, adapter, event));
                let _ = checkpoint::prune(&place, now() as Millis, &|_| false);
            }
            Ok(Answer::default())
        }
        EventKind::Other => Ok(Answer::default()),
    }
}

/// Answers an event that depends on how full the window is.
fn measured(world: &World, adapter: &dyn Adapter, event: &Event) -> anyhow::Result<Answer> {
    let opened = JsonLines::open(&event.transcript).context("could not open the transcript")?;
    let Some(transcript) = opened else { return unseen(world, event) };
    let project = load::project(world, adapter, Some(&transcript), &event.cwd);
    let in_force = settings::load(world, adapter, &project);
    let path = world.paths.spool(event);
    // What cannot be read cannot be locked either, so nothing is said; a refusal needs no memory.
    let state = spool::state(&path).unwrap_or_default();
    let scope = if event.subagent.is_some() { Scope::Subagent } else { Scope::Main };
    let load = Load::look(adapter, &transcript, scope, &in_force, &state)
        .context("could not read the transcript")?;
    if nothing_due(&load, &in_force, event, &state) {
        return Ok(Answer::default());
    }
    let decide =
        Deciding { world, adapter, event, load: &load, in_force: &in_force, project: &project };
    decide.answer(&path, &state)
}

/// There is no transcript: not yet before the first response, and never where the client keeps none.
///
/// A tool runs after the first response. So the session is marked for whoever wonders why we are
/// silent.
fn unseen(world: &World, event: &Event) -> anyhow::Result<Answer> {
    match event.kind {
        EventKind::ToolFinished if event.subagent.is_none() => mark(world, event, spool::UNSEEN),
        _ => Ok(Answer::default()),
    }
}

/// Marks a session about which nothing was decided yet, for whoever wonders whether we were called.
fn mark(world: &World, event: &Event, what: &str) -> anyhow::Result<Answer> {
    let path = world.paths.spool(event);
    let last = spool::last(&path).context("could not read the spool")?;
    let undecided = |last: &SpoolLine| matches!(&*last.what, spool::STARTED | spool::WINDOW);
    if last.as_ref().is_some_and(|last| last.what == what || !undecided(last)) {
        return Ok(Answer::default());
    }
    let Some(locked) = Locked::open(&path).context("could not lock the spool")? else {
        return Ok(Answer::default());
    };
    let state = spool::state(&path).context("could not read the spool")?;
    Ok(Answer { remember: Some((locked, line(what, state))), ..Answer::default() })
}

/// What is remembered of an event that nothing was measured for.
fn line(what: &str, state: SessionState) -> SpoolLine {
    SpoolLine { at: now(), what: what.to_owned(), used: 0, window: 0, state }
}

fn nothing_due(load: &Load<'_>, in_force: &InForce, event: &Event, state: &SessionState) -> bool {
    let Some(newest) = load.tail.newest.as_ref().filter(|_| load.tail.is_counted()) else {
        return false;
    };
    let (tokens, bytes) = (newest.tokens, load.tail.bytes_since);
    policy::nothing_due(&load.outlook(in_force), &event.kind, state, tokens, bytes)
}

/// A call at which something may be due: now it is worth reading closely.
struct Deciding<'a> {
    world: &'a World,
    adapter: &'a dyn Adapter,
    event: &'a Event,
    load: &'a Load<'a>,
    in_force: &'a InForce,
    project: &'a Path,
}

impl Deciding<'_> {
    fn answer(&self, spool: &Path, state: &SessionState) -> anyhow::Result<Answer> {
        let reading = self.load.reading().context("could not read the transcript")?;
        // Unknown is no reason to say anything.
        let Some(reading) = reading else { return Ok(Answer::default()) };
        let growth = OnceCell::new();
        let growth = || *growth.get_or_init(|| self.load.growth());
        let can_save = self.has_command(SAVE);
        let outlook = Outlook { can_save, ..self.load.outlook(self.in_force) };
        let subagent = self.event.subagent.as_ref().map(|subagent| subagent.kind.as_str());
        let decide = |state: &SessionState| {
            policy::decide(&outlook, &self.event.kind, subagent, &reading, &growth, state)
        };
        let decision = decide(state);
        let Some(locked) = self.lock(spool, &decision)? else {
            return Ok(self.unremembered(&decision));
        };
        // Another call may have spoken since.
        let decision = decide(&spool::state(spool).context("could not read the spool")?);
        let Some(state) = decision.remember.clone() else { return Ok(Answer::default()) };
        let what = decision.speech.as_ref().map_or("quiet", Speech::label).to_owned();
        let (used, window) = (reading.used, self.load.window.tokens);
        let line = SpoolLine { at: now(), what, used, window, state };
        if !locked.has_room(&line) {
            return Ok(self.unremembered(&decision));
        }
        Ok(Answer { remember: Some((locked, line)), ..self.words(&decision) })
    }

    /// The spool, if there is anything to remember and it can be had.
    fn lock(&self, spool: &Path, decision: &Decision) -> anyhow::Result<Option<Locked>> {
        if decision.remember.is_none() {
            return Ok(None);
        }
        match Locked::open(spool).context("could not lock the spool") {
            Err(error) if refuses(decision) => {
                crate::log::write(&self.world.paths.log(), &format!("{error:#}"));
                Ok(None)
            }
            locked => locked,
        }
    }

    /// Without a memory only a refusal is safe to repeat.
    fn unremembered(&self, decision: &Decision) -> Answer {
        if refuses(decision) { self.words(decision) } else { Answer::default() }
    }

    fn words(&self, decision: &Decision) -> Answer {
        let Some(speech) = &decision.speech else { return Answer::default() };
        let reply = speech.reply(&self.command(speech), WINDOW_VARIABLE);
        let output = self.adapter.reply(&self.event.kind, &reply);
        Answer { output, reply, remember: None }
    }

    /// A command that the user can run right now.
    fn command(&self, speech: &Speech) -> String {
        match &self.in_force.settings.warn_command {
            _ if matches!(speech, Speech::Save { .. }) => format!("/{SAVE}"),
            Some(command) => policy::brief(command),
            None if self.has_command(CHECKPOINT) => format!("/{CHECKPOINT}"),
            None => self.adapter.room_command().to_owned(),
        }
    }

    /// Whether the user has a command of that name.
    fn has_command(&self, name: &str) -> bool {
        let folders = self
            .world
            .with_home(self.adapter, |home| self.adapter.command_folders(home, self.project));
        folders.iter().any(|folder| folder.join(name).with_extension("md").is_file())
    }
}

/// Commands that we name if they are there.
const CHECKPOINT: &str = "checkpoint";
const SAVE: &str = "ss";

fn refuses(decision: &Decision) -> bool {
    decision.speech.as_ref().is_some_and(Speech::refuses)
}

/// The window's contents were replaced: what was said about the old ones is void.
fn replaced(world: &World, event: &Event) -> anyhow::Result<Answer> {
    let path = world.paths.spool(event);
    if policy::replaced(&spool::state(&path)?).remember.is_none() {
        return mark(world, event, spool::STARTED);
    }
    let Some(locked) = Locked::open(&path)? else { return Ok(Answer::default()) };
    let decision = policy::replaced(&spool::state(&path)?);
    let remember = decision.remember.map(|state| (locked, line("replaced", state)));
    Ok(Answer { remember, ..Answer::default() })
}

/// The project of a session, by its true name.
fn project(world: &World, adapter: &dyn Adapter, event: &Event) -> PathBuf {
    // A transcript that cannot be read names no folder.
    let transcript = JsonLines::open(&event.transcript).ok().flatten();
    paths::canonical(&load::project(world, adapter, transcript.as_ref(), &event.cwd))
}

/// How long a hook may read for a checkpoint; then what is known is sealed.
const READING_TIME: Duration = Duration::from_millis(1500);
/// The client cuts instructions for its summary at ten thousand characters.
const STEERING: usize = 4_000;

/// The conversation is about to be compacted: the state of the work is sealed first, and the
/// summariser is told what must survive. Whatever fails, the compaction goes on.
fn compacting(world: &World, adapter: &dyn Adapter, event: &Event) -> anyhow::Result<Answer> {
    let project = project(world, adapter, event);
    let in_force = settings::load(world, adapter, &project);
    let state = spool::state(&world.paths.spool(event)).unwrap_or_default();
    let deadline = Some(Instant::now() + READING_TIME);
    let captured =
        Captured::read(world, adapter, &event.session, &event.transcript, &state, deadline);
    let remember = match captured.seal(world, adapter, project, Occasion::Auto) {
        Ok(_) => sealed(world, event),
        Err(error) => {
            let error = anyhow::Error::from(error).context("could not make a checkpoint");
            crate::log::write(&world.paths.log(), &format!("{error:#}"));
            None
        }
    };
    // Another time will do as well: whoever ingests next reads on from where we stopped.
    let _ = ingest(world, adapter, event);
    let reply = for_model(&in_force, work::steer(&captured.folded.work, STEERING));
    Ok(Answer { output: adapter.reply(&event.kind, &reply), reply, remember })
}

/// What is remembered of a checkpoint: when it was sealed. Without it only its age is not shown.
fn sealed(world: &World, event: &Event) -> Option<(Locked, SpoolLine)> {
    let path = world.paths.spool(event);
    let locked = Locked::open(&path).ok().flatten()?;
    let state = SessionState { sealed: Some(now()), ..spool::state(&path).ok()? };
    Some((locked, line("sealed", state)))
}

/// A text for the model, unless the user wants no words.
fn for_model(in_force: &InForce, text: String) -> Reply {
    let silent = in_force.settings.quiet || !in_force.settings.enabled;
    let to_model = Some(text).filter(|text| !silent && !text.is_empty());
    Reply { to_model, ..Reply::default() }
}

/// The conversation was compacted: what was said about the old one is void, and what its summary is
/// known to lose is given back.
fn compacted(world: &World, adapter: &dyn Adapter, event: &Event) -> anyhow::Result<Answer> {
    let project = project(world, adapter, event);
    let in_force = settings::load(world, adapter, &project);
    let path = world.paths.spool(event);
    let deadline = Some(Instant::now() + READING_TIME);
    let Some(transcript) = JsonLines::open(&event.transcript)? else {
        return replaced(world, event);
    };
    let folded = fold(&world.paths, adapter, &event.session, &transcript, deadline)?;
    let Some(locked) = Locked::open(&path)? else { return Ok(Answer::default()) };
    let (next, budget) = policy::compacted(&spool::state(&path)?, folded.work.steps());
    let text = if budget > 0 {
        work::restore(&folded.work, budget, &work::unlooked)
    } else {
        String::new()
    };
    let reply = for_model(&in_force, text);
    let output = adapter.reply(&event.kind, &reply);
    Ok(Answer { output, reply, remember: Some((locked, line("restored", next))) })
}

/// How long a hook may spend on the store.
const STORE_TIME: Duration = Duration::from_millis(100);

/// Takes a session into the store, as far as there is time.
fn ingest(world: &World, adapter: &dyn Adapter, event: &Event) -> anyhow::Result<()> {
    let deadline = Some(Instant::now() + STORE_TIME);
    let mut ingester = Ingester::open(world, adapter, STORE_TIME / 2, deadline)?;
    ingester.session(&event.transcript)?;
    ingester.learn()?;
    ingester.prune()
}
