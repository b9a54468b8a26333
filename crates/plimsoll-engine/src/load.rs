//! Measures a window: its fill, size, trigger and thresholds.

use std::io;
use std::path::{Path, PathBuf};

use plimsoll_agents::Agent;
use plimsoll_core::Tokens;
use plimsoll_core::event::ReportedUsage;
use plimsoll_core::models;
use plimsoll_core::policy::{Levels, Outlook};
use plimsoll_core::reading::{self, Fold, Reading, ReadingSource, Scope};
use plimsoll_core::session::SessionState;
use plimsoll_core::settings::Lines;
use plimsoll_core::trigger::{self, Trigger};
use plimsoll_core::window::{self, Window, WindowFacts};

use crate::activity::Activity;
use crate::jsonl::JsonLines;
use crate::paths;
use crate::settings::{self, InForce};
use crate::tail::{self, Start, Tail};
use crate::world::World;

/// State of a window, from the end of its transcript.
pub struct Load {
    agent: &'static dyn Agent,
    scope: Scope,
    /// Result of reading the transcript backwards.
    pub tail: Tail,
    pub window: Window,
    /// Where the client compacts the window.
    pub trigger: Trigger,
}

impl Load {
    /// Reads the end of `transcript`.
    pub fn look(
        agent: &'static dyn Agent,
        transcript: &JsonLines,
        scope: Scope,
        in_force: &InForce,
        state: &SessionState,
    ) -> io::Result<Self> {
        Self::look_with(agent, transcript, scope, in_force, state, None)
    }

    /// Looks at the end of `transcript`. What the agent reports with an event comes before what the
    /// transcript says.
    pub fn look_with(
        agent: &'static dyn Agent,
        transcript: &JsonLines,
        scope: Scope,
        in_force: &InForce,
        state: &SessionState,
        reported: Option<&ReportedUsage>,
    ) -> io::Result<Self> {
        let mut tail = tail::look_back(agent, transcript, scope)?;
        if let Some(usage) = reported {
            tail.apply(usage, transcript.len());
        }
        let newest = tail.newest.as_ref();
        let model = newest.and_then(|newest| newest.model.as_deref());
        let long_context = newest.is_some_and(|newest| newest.long_context);
        let facts = WindowFacts {
            override_tokens: in_force.settings.window,
            reported: newest.and_then(|newest| newest.window),
            proven: state.proven(model),
            model,
            long_context,
            largest_prompt: newest.map_or(0, |newest| newest.prompt_tokens),
        };
        let (models, client) = (&in_force.settings.models, &in_force.client);
        let window = window::resolve(&facts, models, client);
        let client_window = window::of_client(window, &facts, models, client);
        let version = newest.and_then(|newest| newest.version.as_deref());
        let variant = model.map(|model| models::variant(model, long_context));
        let seen = in_force.seen(variant.as_deref(), version);
        let trigger = trigger::resolve(client_window.tokens, model, client, seen);
        Ok(Self { agent, scope, tail, window, trigger })
    }

    /// Returns the input for policy.
    pub fn outlook<'b>(&'b self, in_force: &'b InForce) -> Outlook<'b> {
        Outlook {
            settings: &in_force.settings,
            can_save: false,
            window: self.window,
            trigger: self.trigger,
            model: self.tail.newest.as_ref().and_then(|newest| newest.model.as_deref()),
        }
    }

    /// Returns the reading. Without any token count it is estimated from the file size; `None` if
    /// the last count is further back than [`HORIZON`](crate::jsonl::HORIZON).
    pub fn reading(&self, transcript: &JsonLines) -> io::Result<Option<Reading>> {
        if let Some(used) = self.tail.reported {
            return Ok(Some(Reading { used, source: ReadingSource::Measured, anchor: None }));
        }
        if self.tail.start == Start::OutOfSight
            && tail::begins_with_a_count(self.agent, transcript, self.scope)?
        {
            return Ok(None);
        }
        let read = crate::reading::take(self.agent, transcript, self.scope, &self.tail)?;
        let by_size = || reading::of_bytes(transcript.len(), self.window.tokens);
        Ok(Some(read.unwrap_or_else(by_size)))
    }

    /// Returns the fold for the reading, however far back the last count is. `None` if the
    /// transcript has no token count.
    pub(crate) fn fold(&self, transcript: &JsonLines) -> io::Result<Option<Fold>> {
        let Self { agent, scope, tail, .. } = self;
        match tail.start {
            Start::OutOfSight => crate::reading::scan(*agent, transcript, *scope).map(Some),
            _ => crate::reading::fold(*agent, transcript, *scope, tail),
        }
    }

    /// Returns the reading, however far back the last count is.
    fn far_reading(&self, transcript: &JsonLines, fallback: Fallback) -> io::Result<Reading> {
        if let Some(reading) = self.fold(transcript)?.as_ref().and_then(Fold::reading) {
            return Ok(reading);
        }
        let window = self.window.tokens;
        Ok(match fallback {
            Fallback::FileSize => reading::of_bytes(transcript.len(), window),
            Fallback::Activity => {
                let counts = Activity::count(self.agent, transcript, self.scope)?;
                counts.reading(transcript.len(), window)
            }
        })
    }

    /// Returns the model of the last response.
    pub(crate) fn model(&self) -> Option<String> {
        self.tail.newest.as_ref()?.model.clone()
    }

    /// Returns the checkpoint threshold as of the last response. The session's growth can lower it,
    /// but is read only if the window is at least half way there.
    pub(crate) fn checkpoint(&self, transcript: &JsonLines, in_force: &InForce) -> Tokens {
        let outlook = self.outlook(in_force);
        let counted = self.tail.newest.as_ref().map_or(0, |newest| newest.tokens);
        let highest = outlook.levels(0).checkpoint;
        match counted < highest / 2 || counted >= highest || self.trigger.tokens().is_none() {
            true => highest,
            false => outlook.levels(self.growth(transcript)).checkpoint,
        }
    }

    /// Returns when the session began, in milliseconds since the epoch; `None` if the transcript
    /// does not say.
    pub(crate) fn started(&self, transcript: &JsonLines) -> Option<u64> {
        started(self.agent, transcript, self.scope)
    }

    /// Returns the session's median growth per call; 0 if the transcript cannot be read.
    pub fn growth(&self, transcript: &JsonLines) -> Tokens {
        let prompts = tail::recent_prompts(self.agent, transcript, self.scope);
        prompts.map_or(0, |prompts| reading::median_growth(&prompts))
    }
}

/// How to estimate a window if the transcript contains no token counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// From the file size, as hooks do: they cannot afford to read the whole file.
    FileSize,
    /// From the number of messages and tool calls, as the watcher does.
    Activity,
}

/// Returns the time of the first record with a timestamp, in milliseconds since the epoch.
pub(crate) fn started(
    agent: &'static dyn Agent,
    transcript: &JsonLines,
    scope: Scope,
) -> Option<u64> {
    const LINES: usize = 32;
    let mut lines = transcript.forward(0);
    for _ in 0..LINES {
        let line = lines.next().ok()??;
        if let Some(time) = agent.transcript().entry(line.bytes, scope).and_then(|entry| entry.time)
        {
            return u64::try_from(time).ok();
        }
    }
    None
}

/// Facts from the beginning of a transcript, which never change.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    /// Folder in which the agent was started.
    pub(crate) project: PathBuf,
    pub(crate) scope: Scope,
    /// Start of the session in milliseconds since the epoch, if known.
    pub(crate) started: Option<u64>,
}

impl Ground {
    /// Reads the beginning of `transcript`.
    pub(crate) fn of(agent: &'static dyn Agent, transcript: &JsonLines) -> io::Result<Self> {
        let project = paths::canonical(&first_folder(agent, transcript).unwrap_or_default());
        let scope = scope(agent, transcript)?;
        Ok(Self { project, scope, started: started(agent, transcript, scope) })
    }
}

/// A measured window.
#[derive(Clone, Debug)]
pub struct Measured {
    pub reading: Reading,
    pub window: Window,
    /// Where the client compacts the window.
    pub trigger: Trigger,
    /// Configured thresholds.
    pub lines: Lines,
    /// Whether advice is enabled in this project (`auto_context.enabled`).
    pub advises: bool,
    /// Thresholds in tokens.
    pub levels: Levels,
    /// Whether the trigger lowered any threshold.
    pub moved: bool,
    /// Model of the last response.
    pub model: Option<String>,
    /// Version of the client that wrote the transcript.
    pub version: Option<String>,
    /// Folder in which the agent was started.
    pub project: PathBuf,
    /// Values of the settings that could not be used.
    pub complaints: Vec<String>,
}

/// Measures the window of a transcript; `None` if the file does not exist.
pub fn measure(
    world: &World,
    agent: &'static dyn Agent,
    transcript: &Path,
    window: Option<Tokens>,
    state: &SessionState,
    fallback: Fallback,
) -> io::Result<Option<Measured>> {
    let Some(file) = JsonLines::open(transcript)? else { return Ok(None) };
    let Ground { project, scope, .. } = Ground::of(agent, &file)?;
    let mut in_force = settings::load(world, agent, &project);
    in_force.settings.window = window.or(in_force.settings.window);
    let load = Load::look(agent, &file, scope, &in_force, state)?;
    let outlook = load.outlook(&in_force);
    let levels = outlook.levels(load.growth(&file));
    Ok(Some(Measured {
        reading: load.far_reading(&file, fallback)?,
        window: load.window,
        trigger: load.trigger,
        lines: in_force.settings.lines,
        advises: in_force.settings.enabled,
        levels,
        moved: levels != Levels::of(&in_force.settings.lines, load.window.tokens),
        model: load.model(),
        version: load.tail.newest.as_ref().and_then(|newest| newest.version.clone()),
        complaints: in_force.complaints.clone(),
        project,
    }))
}

/// Fill of a session's window, for checkpoints.
#[derive(Clone, Debug)]
pub(crate) struct Fullness {
    pub(crate) used: Tokens,
    pub(crate) window: Tokens,
    /// Model of the last response.
    pub(crate) model: Option<String>,
}

/// Returns the fill of a session's window, without the rest of [`measure`].
pub(crate) fn fullness(
    agent: &'static dyn Agent,
    transcript: &JsonLines,
    in_force: &InForce,
    state: &SessionState,
) -> io::Result<Fullness> {
    let load = Load::look(agent, transcript, Scope::Main, in_force, state)?;
    let reading = load.far_reading(transcript, Fallback::FileSize)?;
    Ok(Fullness { used: reading.used, window: load.window.tokens, model: load.model() })
}

/// Returns whose window a transcript belongs to. A subagent's own file contains only its records;
/// in a session's file they may be mixed with others.
fn scope(agent: &'static dyn Agent, file: &JsonLines) -> io::Result<Scope> {
    const FAR_ENOUGH: u64 = 4 << 20;
    let mut scope = Scope::Main;
    let mut lines = file.forward(0);
    while let Some(line) = lines.next()?.filter(|line| line.offset < FAR_ENOUGH) {
        if agent.transcript().entry(line.bytes, Scope::Main).is_some() {
            return Ok(Scope::Main);
        }
        if agent.transcript().entry(line.bytes, Scope::Subagent).is_some() {
            scope = Scope::Subagent;
        }
    }
    Ok(scope)
}

/// Returns the project that a session works on.
///
/// The folder in which the agent was started, else the first one named in the transcript, else
/// `cwd`: never a folder that the agent merely changed to.
pub fn project(
    world: &World,
    agent: &'static dyn Agent,
    transcript: Option<&JsonLines>,
    cwd: &Path,
) -> PathBuf {
    let told = world.agent_env(agent.profile().variables.project).map(PathBuf::from);
    let first = || transcript.and_then(|transcript| first_folder(agent, transcript));
    // Older clients may send no folder; use the current one.
    let here = || std::env::current_dir().unwrap_or_default();
    let said = || if cwd.as_os_str().is_empty() { here() } else { cwd.to_owned() };
    told.or_else(first).unwrap_or_else(said)
}

/// Returns the project of the current folder.
pub fn project_here(world: &World) -> io::Result<PathBuf> {
    let here = std::env::current_dir()?;
    let named = plimsoll_agents::ALL
        .iter()
        .find_map(|agent| world.agent_env(agent.profile().variables.project));
    Ok(paths::canonical(&named.map_or(here, PathBuf::from)))
}

/// Returns the root of the repository that contains `folder`; `None` if there is none or `folder`
/// is the root.
///
/// A client reads the settings of the folder it is started in, which usually is the root.
pub fn repository_above(folder: &Path) -> Option<&Path> {
    repository_root(folder).filter(|root| *root != folder)
}

/// Returns the root of the repository that contains `folder`; `None` if there is none.
pub(crate) fn repository_root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

/// Returns the first folder named in the first lines of a transcript.
pub fn first_folder(agent: &'static dyn Agent, transcript: &JsonLines) -> Option<PathBuf> {
    const LINES: usize = 32;
    let mut lines = transcript.forward(0);
    for _ in 0..LINES {
        let line = lines.next().ok()??;
        if let Some(folder) = agent.transcript().folder_of(line.bytes) {
            return Some(folder.into());
        }
    }
    None
}
