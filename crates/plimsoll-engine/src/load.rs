//! How a window stands: the settings, window and trigger that hold for it.

use std::io;
use std::path::{Path, PathBuf};

use plimsoll_agents::Adapter;
use plimsoll_core::Tokens;
use plimsoll_core::models;
use plimsoll_core::policy::{Levels, Outlook};
use plimsoll_core::reading::{self, Fold, Reading, Scope};
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

/// A window, looked at from the end of its transcript.
pub struct Load<'a> {
    adapter: &'a dyn Adapter,
    transcript: &'a JsonLines,
    scope: Scope,
    /// What the look back found.
    pub tail: Tail,
    /// The window's size.
    pub window: Window,
    /// Where the client compacts it.
    pub trigger: Trigger,
}

impl<'a> Load<'a> {
    /// Looks at the end of `transcript`.
    pub fn look(
        adapter: &'a dyn Adapter,
        transcript: &'a JsonLines,
        scope: Scope,
        in_force: &InForce,
        state: &SessionState,
    ) -> io::Result<Self> {
        let tail = tail::look_back(adapter, transcript, scope)?;
        let newest = tail.newest.as_ref();
        let model = newest.map(|newest| newest.model.as_str());
        let facts = WindowFacts {
            override_tokens: in_force.settings.window,
            proven: state.proven(model),
            model,
            long_context: newest.is_some_and(|newest| newest.long_context),
            largest_prompt: newest.map_or(0, |newest| newest.prompt_tokens),
        };
        let (models, client) = (&in_force.settings.models, &in_force.client);
        let window = window::resolve(&facts, models, client);
        let client_window = window::of_client(window, &facts, models, client);
        let version = newest.and_then(|newest| newest.version.as_deref());
        let variant = newest.map(|newest| models::variant(&newest.model, newest.long_context));
        let seen = in_force.seen(variant.as_deref(), version);
        let trigger = trigger::resolve(client_window.tokens, model, client, seen);
        Ok(Self { adapter, transcript, scope, tail, window, trigger })
    }

    /// What policy goes by.
    pub fn outlook<'b>(&'b self, in_force: &'b InForce) -> Outlook<'b> {
        Outlook {
            settings: &in_force.settings,
            can_save: false,
            window: self.window,
            trigger: self.trigger,
            model: self.tail.newest.as_ref().map(|newest| newest.model.as_str()),
        }
    }

    /// The reading: where nothing was ever counted, by the size of the file, and nothing where the
    /// last count is out of sight.
    pub fn reading(&self) -> io::Result<Option<Reading>> {
        if self.tail.start == Start::OutOfSight
            && tail::begins_with_a_count(self.adapter, self.transcript, self.scope)?
        {
            return Ok(None);
        }
        let read = crate::reading::take(self.adapter, self.transcript, self.scope, &self.tail)?;
        let by_size = || reading::of_bytes(self.transcript.len(), self.window.tokens);
        Ok(Some(read.unwrap_or_else(by_size)))
    }

    /// What the reading is taken from, however far back the last count lies; nothing where nothing
    /// was ever counted.
    pub(crate) fn fold(&self) -> io::Result<Option<Fold>> {
        let Self { adapter, transcript, scope, tail, .. } = self;
        match tail.start {
            Start::OutOfSight => crate::reading::scan(*adapter, transcript, *scope).map(Some),
            _ => crate::reading::fold(*adapter, transcript, *scope, tail),
        }
    }

    /// The reading, however far back the last count lies.
    fn far_reading(&self, fallback: Fallback) -> io::Result<Reading> {
        if let Some(reading) = self.fold()?.as_ref().and_then(Fold::reading) {
            return Ok(reading);
        }
        let window = self.window.tokens;
        Ok(match fallback {
            Fallback::FileSize => reading::of_bytes(self.transcript.len(), window),
            Fallback::Activity => {
                let counts = Activity::count(self.adapter, self.transcript, self.scope)?;
                counts.reading(self.transcript.len(), window)
            }
        })
    }

    /// The model that answered last.
    pub(crate) fn model(&self) -> Option<String> {
        self.tail.newest.as_ref().map(|newest| newest.model.clone())
    }

    /// Where a checkpoint is due, as the last response stands. The session's growth may move that, and
    /// is looked at from halfway on.
    pub(crate) fn checkpoint(&self, in_force: &InForce) -> Tokens {
        let outlook = self.outlook(in_force);
        let counted = self.tail.newest.as_ref().map_or(0, |newest| newest.tokens);
        let highest = outlook.levels(0).checkpoint;
        match counted < highest / 2 || counted >= highest || self.trigger.tokens().is_none() {
            true => highest,
            false => outlook.levels(self.growth()).checkpoint,
        }
    }

    /// When the session began, in milliseconds since the epoch, as far as its transcript tells.
    pub(crate) fn started(&self) -> Option<u64> {
        started(self.adapter, self.transcript, self.scope)
    }

    /// The session's median growth per call; none where the transcript cannot be read any more.
    pub fn growth(&self) -> Tokens {
        let prompts = tail::recent_prompts(self.adapter, self.transcript, self.scope);
        prompts.map_or(0, |prompts| reading::median_growth(&prompts))
    }
}

/// How a window is estimated if the transcript contains no token counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// By the size of the file, as hooks do: they cannot afford to read all of it.
    FileSize,
    /// By the number of messages and tool calls, as the watcher does.
    Activity,
}

/// When the first line of a conversation was written, in milliseconds since the epoch.
pub(crate) fn started(adapter: &dyn Adapter, transcript: &JsonLines, scope: Scope) -> Option<u64> {
    const LINES: usize = 32;
    let mut lines = transcript.forward(0);
    for _ in 0..LINES {
        let line = lines.next().ok()??;
        if let Some(time) = adapter.entry(line.bytes, scope).and_then(|entry| entry.time) {
            return u64::try_from(time).ok();
        }
    }
    None
}

/// What the beginning of a transcript tells, for good.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    /// The folder the agent was started in.
    pub(crate) project: PathBuf,
    /// Whose window it is.
    pub(crate) scope: Scope,
    /// When the session began, in milliseconds since the epoch, if that is known.
    pub(crate) started: Option<u64>,
}

impl Ground {
    /// Looks at the beginning of `transcript`.
    pub(crate) fn of(adapter: &dyn Adapter, transcript: &JsonLines) -> io::Result<Self> {
        let project = paths::canonical(&first_folder(adapter, transcript).unwrap_or_default());
        let scope = scope(adapter, transcript)?;
        Ok(Self { project, scope, started: started(adapter, transcript, scope) })
    }
}

/// All that is known of one window.
#[derive(Clone, Debug)]
pub struct Measured {
    /// How full it is.
    pub reading: Reading,
    /// Its size.
    pub window: Window,
    /// Where the client compacts it.
    pub trigger: Trigger,
    /// Our lines, as they are set.
    pub lines: Lines,
    /// Whether anything is recommended in this project (`auto_context.enabled`).
    pub advises: bool,
    /// Where they lie in it.
    pub levels: Levels,
    /// Whether the trigger has moved any of them.
    pub moved: bool,
    /// The model that answered last.
    pub model: Option<String>,
    /// The client that wrote the transcript.
    pub version: Option<String>,
    /// The folder the agent was started in.
    pub project: PathBuf,
    /// What could not be taken from the settings as it is written.
    pub complaints: Vec<String>,
}

/// Measures the window behind a transcript; nothing if there is no such file.
pub fn measure(
    world: &World,
    adapter: &dyn Adapter,
    transcript: &Path,
    window: Option<Tokens>,
    state: &SessionState,
    fallback: Fallback,
) -> io::Result<Option<Measured>> {
    let Some(file) = JsonLines::open(transcript)? else { return Ok(None) };
    let Ground { project, scope, .. } = Ground::of(adapter, &file)?;
    let mut in_force = settings::load(world, adapter, &project);
    in_force.settings.window = window.or(in_force.settings.window);
    let load = Load::look(adapter, &file, scope, &in_force, state)?;
    let outlook = load.outlook(&in_force);
    let levels = outlook.levels(load.growth());
    Ok(Some(Measured {
        reading: load.far_reading(fallback)?,
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

/// How full a session's window is, for the record.
#[derive(Clone, Debug)]
pub(crate) struct Fullness {
    /// The tokens in it.
    pub(crate) used: Tokens,
    /// Its size.
    pub(crate) window: Tokens,
    /// The model that answered last.
    pub(crate) model: Option<String>,
}

/// How full the window of a session is: no more than that is looked at.
pub(crate) fn fullness(
    adapter: &dyn Adapter,
    transcript: &JsonLines,
    in_force: &InForce,
    state: &SessionState,
) -> io::Result<Fullness> {
    let load = Load::look(adapter, transcript, Scope::Main, in_force, state)?;
    let reading = load.far_reading(Fallback::FileSize)?;
    Ok(Fullness { used: reading.used, window: load.window.tokens, model: load.model() })
}

/// Whose window a transcript is of: a subagent's own file holds nothing but its lines, while in a
/// session's they may stand among others.
fn scope(adapter: &dyn Adapter, file: &JsonLines) -> io::Result<Scope> {
    const FAR_ENOUGH: u64 = 4 << 20;
    let mut scope = Scope::Main;
    let mut lines = file.forward(0);
    while let Some(line) = lines.next()?.filter(|line| line.offset < FAR_ENOUGH) {
        if adapter.entry(line.bytes, Scope::Main).is_some() {
            return Ok(Scope::Main);
        }
        if adapter.entry(line.bytes, Scope::Subagent).is_some() {
            scope = Scope::Subagent;
        }
    }
    Ok(scope)
}

/// The project a session works on.
///
/// The folder the agent was started in, else the first one its transcript names, else `cwd`: never
/// one that the agent merely moved to.
pub fn project(
    world: &World,
    adapter: &dyn Adapter,
    transcript: Option<&JsonLines>,
    cwd: &Path,
) -> PathBuf {
    let told = world.env(adapter.project_variable()).map(PathBuf::from);
    let first = || transcript.and_then(|transcript| first_folder(adapter, transcript));
    // An older client may name no folder: then it is the one we were started in.
    let here = || std::env::current_dir().unwrap_or_default();
    let said = || if cwd.as_os_str().is_empty() { here() } else { cwd.to_owned() };
    told.or_else(first).unwrap_or_else(said)
}

/// The project of the folder that the user stands in.
pub fn project_here(world: &World, adapter: &dyn Adapter) -> io::Result<PathBuf> {
    let here = std::env::current_dir()?;
    Ok(paths::canonical(&project(world, adapter, None, &here)))
}

/// The root of the repository that `folder` lies in; nothing if there is none, or it is the root.
///
/// A client reads the settings of the folder it is started in, which mostly is the root.
pub fn repository_above(folder: &Path) -> Option<&Path> {
    repository_root(folder).filter(|root| *root != folder)
}

/// The root of the repository that `folder` lies in; `None` if there is none.
pub(crate) fn repository_root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

/// The first folder named in a transcript, among its first lines.
pub fn first_folder(adapter: &dyn Adapter, transcript: &JsonLines) -> Option<PathBuf> {
    const LINES: usize = 32;
    let mut lines = transcript.forward(0);
    for _ in 0..LINES {
        let line = lines.next().ok()??;
        if let Some(folder) = adapter.folder_of(line.bytes) {
            return Some(folder.into());
        }
    }
    None
}
