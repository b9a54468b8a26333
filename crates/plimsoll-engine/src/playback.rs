//! Plays an agent's recorded session through the engine, in a temporary home.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_agents::{Agent, Home, HookCall, Step};
use plimsoll_core::event::{Event, EventKind, Reply};
use plimsoll_core::session::SessionState;

use crate::hook;
use crate::load::{self, Fallback, Measured};
use crate::scratch::Scratch;
use crate::spool;
use crate::world::{STRICT_VARIABLE, World};

/// A hook call of the recorded session.
#[derive(Debug)]
pub struct Moment {
    pub event: EventKind,
    /// State of the window; `None` before there is a transcript.
    pub measured: Option<Measured>,
    pub reply: Reply,
    /// Whether the call sealed a checkpoint.
    pub sealed: bool,
    /// The refusal that strict mode would have returned, if any.
    pub refusal: Option<String>,
}

/// Plays the recorded session of `agent` from the first call to the last.
///
/// Nothing of the user's is read or written: no settings, environment or data.
pub fn play(agent: &'static dyn Agent) -> anyhow::Result<Vec<Moment>> {
    let parent = std::env::temp_dir();
    let scratch = Scratch::new(&parent)
        .with_context(|| format!("could not make a folder in `{}`", parent.display()))?;
    let home = scratch.path().to_str().context("the path of the scratch folder is not text")?;
    let mut player = Player::new(agent, scratch.path())?;
    let mut moments = Vec::new();
    let sample = agent.sample().context("there is no recorded session of this agent")?;
    for step in sample.steps(home) {
        match step {
            Step::Record(line) => player.write(&line).context("could not write the transcript")?,
            Step::Hook(payload) => moments.extend(player.call(payload.into_bytes())?),
        }
    }
    Ok(moments)
}

struct Player {
    agent: &'static dyn Agent,
    world: World,
    /// A second environment with the same home, in strict mode.
    strict: World,
    home: PathBuf,
    /// Path of the session's transcript, from its first call.
    transcript: PathBuf,
}

impl Player {
    fn new(agent: &'static dyn Agent, home: &Path) -> anyhow::Result<Self> {
        let world = |variables: Vec<(&'static str, String)>| {
            let known = move |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
            };
            World::new(Box::new(known)).context("could not settle in the scratch folder")
        };
        let text = |path: &Path| path.display().to_string();
        let home_is = ("HOME", text(home));
        let data_is = ("PLIMSOLL_DATA_DIR", text(&home.join("strict")));
        Ok(Self {
            agent,
            world: world(vec![home_is.clone()])?,
            strict: world(vec![home_is, data_is, (STRICT_VARIABLE, "on".to_owned())])?,
            home: home.to_owned(),
            transcript: PathBuf::new(),
        })
    }

    /// Appends a line to the transcript.
    fn write(&self, line: &str) -> std::io::Result<()> {
        fs::create_dir_all(self.transcript.parent().unwrap_or(Path::new("/")))?;
        let mut file = File::options().create(true).append(true).open(&self.transcript)?;
        writeln!(file, "{line}")
    }

    /// Calls the hook; `None` for an event that we do not use.
    fn call(&mut self, payload: Vec<u8>) -> anyhow::Result<Option<Moment>> {
        let call = HookCall {
            payload: &payload,
            event: None,
            home: Home { user: &self.home, config: None },
        };
        let Some(event) = self.agent.hooks().decode(&call)? else { return Ok(None) };
        if let Some(transcript) = &event.transcript {
            self.transcript.clone_from(transcript);
        }
        if event.cwd.starts_with(&self.home) {
            fs::create_dir_all(&event.cwd).context("could not make the project's folder")?;
        }
        let measured = self.measure(&event)?;
        let refusal = match event.kind {
            EventKind::Loading(_) => answer(&self.strict, self.agent, payload.clone())?.refusal,
            _ => None,
        };
        let before = self.state(&event)?.sealed;
        let reply = answer(&self.world, self.agent, payload)?;
        let sealed = self.state(&event)?.sealed != before;
        Ok(Some(Moment { event: event.kind, measured, reply, sealed, refusal }))
    }

    fn state(&self, event: &Event) -> anyhow::Result<SessionState> {
        spool::state(&self.world.paths.spool(event)).context("could not read the spool")
    }

    fn measure(&self, event: &Event) -> anyhow::Result<Option<Measured>> {
        let state = self.state(event)?;
        load::measure(&self.world, self.agent, &self.transcript, None, &state, Fallback::FileSize)
            .context("could not read the transcript")
    }
}

/// Answers one call and marks the answer as delivered.
fn answer(world: &World, agent: &'static dyn Agent, payload: Vec<u8>) -> anyhow::Result<Reply> {
    let answer = hook::answer(world, agent, None, payload)?;
    let reply = answer.reply.clone();
    answer.delivered(world)?;
    Ok(reply)
}
