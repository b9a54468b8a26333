//! The settings in force, from a cache that knows when its sources changed.
//!
//! Parsing the config of a call would cost more than the rest of it. So the merged settings lie in
//! the data folder with time, size and inode of every file they were made from; a hook looks at
//! those and parses only what changed.

mod config_file;
mod explain;
mod yaml;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plimsoll_agents::{Agent, of_session};
use plimsoll_core::event::SessionId;
use plimsoll_core::settings::keys::variables;
use plimsoll_core::settings::{ClientSettings, DatabaseUrl, Settings, Team, is_default};
use plimsoll_core::trigger::Learned;
use plimsoll_core::{Tokens, bytes};
use serde::{Deserialize, Serialize};

pub use self::config_file::{Complaint, ConfigFile, Layer};
pub use self::explain::{ClientFact, Explanation, Origin, explain, useless_variables};
pub use self::yaml::Place;
use crate::log;
pub use crate::paths::project_config;
use crate::paths::{self, Links, Paths};
use crate::world::{World, now};

/// Everything a hook goes by, the environment aside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InForce {
    /// The user's and the project's config, merged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub settings: Settings,
    /// What the agent's client is set to do.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client: ClientSettings,
    /// Where compactions were seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<Learned>,
    /// What could not be taken as it is written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<String>,
}

impl InForce {
    /// Tokens before the newest compactions of a model and client version.
    pub fn seen(&self, model: Option<&str>, version: Option<&str>) -> &[Tokens] {
        let same = |learned: &&Learned| {
            Some(learned.model.as_str()) == model && Some(learned.version.as_str()) == version
        };
        self.learned.iter().find(same).map_or(&[], |learned| &learned.seen)
    }
}

/// The cache as it is written: what every call looks at in a form that costs little to read.
#[derive(Serialize, Deserialize)]
struct Cache<'a> {
    /// Who made it: another release may read the same files differently.
    release: &'a str,
    #[serde(borrow)]
    sources: Vec<(&'a [u8], Option<Stamp>)>,
    /// The settings as JSON, in which whatever is as usual is left out.
    in_force: &'a str,
}

/// Settings, and the files they were made from.
struct Made {
    sources: Vec<Source>,
    in_force: InForce,
}

impl Made {
    /// The bytes of the cache; nothing if they cannot be written down.
    fn bytes(&self) -> Option<Vec<u8>> {
        let sources = self.sources.iter();
        let sources =
            sources.map(|Source(path, stamp)| (path.as_os_str().as_bytes(), *stamp)).collect();
        let in_force = serde_json::to_string(&self.in_force).ok()?;
        postcard::to_stdvec(&Cache { release: RELEASE, sources, in_force: &in_force }).ok()
    }

    /// Whether every change after `now` will show: file times advance in ticks of some
    /// milliseconds, so a file that was just written can change once more without its time.
    fn is_settled(&self, now: u64) -> bool {
        const TICKS: u64 = 20;
        let changed = |stamp: &Stamp| stamp.1 / 1_000_000;
        let mut stamps = self.sources.iter().filter_map(|Source(_, stamp)| stamp.as_ref());
        stamps.all(|stamp| changed(stamp).abs_diff(now as i64) > TICKS)
    }
}

struct Source(PathBuf, Option<Stamp>);

/// By what a file is recognised as unchanged: the time of its contents, which tools may set back,
/// that of its inode, which they cannot (both in nanoseconds), size and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp(i64, i64, u64, u64);

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let modified = nanos(metadata.mtime(), metadata.mtime_nsec());
        let changed = nanos(metadata.ctime(), metadata.ctime_nsec());
        Some(Self(modified, changed, metadata.size(), metadata.ino()))
    }
}

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// The settings in force in `project`, environment included.
pub fn load(world: &World, agent: &'static dyn Agent, project: &Path) -> InForce {
    let cache = world.paths.settings_cache(key(world, agent, project));
    let mut in_force = read(&cache).unwrap_or_else(|| anew(world, agent, project, &cache));
    in_force.settings = in_force.settings.overridden(&world.overrides());
    in_force.client = agent.client().with_environment(in_force.client, world.variables());
    in_force
}

/// The settings in force in one project, for each agent.
pub struct ByAgent(Vec<(&'static dyn Agent, InForce)>);

impl ByAgent {
    /// Loads them for every agent.
    pub fn load(world: &World, project: &Path) -> Self {
        let agents = plimsoll_agents::ALL.iter();
        Self(agents.map(|agent| (*agent, load(world, *agent, project))).collect())
    }

    /// Returns those of a session's agent; of the default agent if this release does not know it.
    pub fn of(&self, session: &SessionId) -> &InForce {
        let agent = of_session(session).unwrap_or(plimsoll_agents::DEFAULT);
        let found = self.0.iter().find(|(known, _)| *known == agent).or(self.0.first());
        &found.expect("there is a default agent").1
    }
}

/// Returns the user's own settings, which hold for what concerns no project.
pub fn of_user(world: &World) -> Settings {
    of_project(world, &world.paths.home)
}

/// Returns the settings of a project that are the same for every agent.
pub fn of_project(world: &World, project: &Path) -> Settings {
    load(world, plimsoll_agents::DEFAULT, project).settings
}

/// The settings from their sources, and into the cache. Kept apart: a call that finds the cache as it
/// should be pays neither for the pages of this code nor for its stack.
#[inline(never)]
fn anew(world: &World, agent: &'static dyn Agent, project: &Path, cache: &Path) -> InForce {
    let made = make(world, agent, project);
    if let Some(bytes) = made.bytes().filter(|_| made.is_settled(now())) {
        // A cache that cannot be written is made again by the next call.
        let _ = paths::replace(cache, &bytes);
    }
    made.in_force
}

/// The cached settings, if every source is as it was.
fn read(cache: &Path) -> Option<InForce> {
    let bytes = paths::read_bytes(cache, Links::Refused).ok()?;
    let (release, _) = postcard::take_from_bytes::<&str>(&bytes).ok()?;
    if release != RELEASE {
        return None;
    }
    let cache: Cache<'_> = postcard::from_bytes(&bytes).ok()?;
    let mut sources = cache.sources.iter();
    let unchanged =
        sources.all(|(path, stamp)| Stamp::of(Path::new(OsStr::from_bytes(path))) == *stamp);
    unchanged.then(|| serde_json::from_str(cache.in_force).ok())?
}

const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// Names the cache of a project by all that decides which files are its sources.
fn key(world: &World, agent: &'static dyn Agent, project: &Path) -> u64 {
    let folder = world.agent_folder(agent).unwrap_or_default();
    let Paths { home, config, .. } = &world.paths;
    let parts = [agent.id().as_str().as_ref(), project, &folder, home, config];
    bytes::fnv1a(
        parts.iter().flat_map(|part| part.as_os_str().as_encoded_bytes().iter().chain(&[0])),
    )
}

fn make(world: &World, agent: &'static dyn Agent, project: &Path) -> Made {
    let mut sources = Sources::default();
    let (settings, files) = configs(world, project, |path, links| sources.read(path, links));
    let complaints: Vec<String> =
        files.iter().flat_map(|file| &file.complaints).map(Complaint::to_string).collect();
    if !complaints.is_empty() {
        // Once per change of the files: unchanged ones are not made again.
        log::write(&world.paths.log(), &format!("config: {}", complaints.join("; ")));
    }
    let learned = sources.read(&world.paths.learned(), Links::Refused).ok();
    let learned = learned.and_then(|text| serde_json::from_str(&text).ok());
    let in_force = InForce {
        settings,
        client: client(world, agent, project, |path, links| sources.read(path, links)),
        learned: of_agent(learned.unwrap_or_default(), agent),
        complaints,
    };
    Made { sources: sources.0, in_force }
}

/// Keeps what was learned about one agent.
fn of_agent(mut learned: Vec<Learned>, agent: &'static dyn Agent) -> Vec<Learned> {
    let named = Some(agent.id()).filter(|_| agent != plimsoll_agents::DEFAULT);
    learned.retain(|learned| learned.agent.as_ref() == named);
    learned
}

/// What the client is set to do by its files.
fn client(
    world: &World,
    agent: &'static dyn Agent,
    project: &Path,
    mut read: impl FnMut(&Path, Links) -> io::Result<String>,
) -> ClientSettings {
    let files = world.with_home(agent, |home| agent.client().files(home, project));
    let texts: Vec<String> =
        files.iter().filter_map(|path| read(path, Links::Followed).ok()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    agent.client().settings(&texts)
}

/// What the client is set to do in `project`, environment included; nothing is written down of it.
pub(crate) fn client_now(
    world: &World,
    agent: &'static dyn Agent,
    project: &Path,
) -> ClientSettings {
    let client = client(world, agent, project, paths::read_small);
    agent.client().with_environment(client, world.variables())
}

/// The user's and the project's config laid over the defaults, and the files themselves.
fn configs(
    world: &World,
    project: &Path,
    mut read: impl FnMut(&Path, Links) -> io::Result<String>,
) -> (Settings, Vec<ConfigFile>) {
    let mut settings = Settings::default();
    let mut files = Vec::new();
    for (path, layer) in config_paths(world, project) {
        if let Some(mut file) = ConfigFile::new(&path, layer, read(&path, layer.links())) {
            file.lay_over(&mut settings);
            files.push(file);
        }
    }
    (settings, files)
}

/// The configs that count in `project`, as far as they are there.
pub fn config_files(world: &World, project: &Path) -> Vec<ConfigFile> {
    configs(world, project, paths::read_small).1
}

/// Where the configs that count in `project` are, whether they are there or not.
pub fn config_paths(world: &World, project: &Path) -> [(PathBuf, Layer); 2] {
    [(world.paths.config.clone(), Layer::User), (paths::project_config(project), Layer::Project)]
}

/// What is shared with a team: as the user's own config says, and the environment. In a build
/// without the feature `team` they have no effect.
pub fn team(world: &World) -> Team {
    if cfg!(feature = "team") { team_as_set(world) } else { Team::default() }
}

/// The same for any build.
pub(crate) fn team_as_set(world: &World) -> Team {
    under_environment(team_in_config(world), world.variables())
}

/// The same by the user's config alone.
pub(crate) fn team_in_config(world: &World) -> Team {
    let mut settings = Settings::default();
    if let Some(mut file) = ConfigFile::read(&world.paths.config, Layer::User) {
        file.lay_over(&mut settings);
    }
    settings.team
}

/// Whether an address of a database is set that is none, so that it counts for nothing.
pub fn has_useless_database(world: &World) -> bool {
    let is_set = |name: &&str| world.env(name).is_some_and(|url| !url.trim().is_empty());
    let file = ConfigFile::read(&world.paths.config, Layer::User);
    team(world).database_url.is_none()
        && (variables::DATABASE_URL.names.iter().any(is_set)
            || file.is_some_and(|file| file.complains_about("team.database_url")))
}

/// The same with the database that an environment names.
fn under_environment(team: Team, env: &dyn Fn(&str) -> Option<String>) -> Team {
    Team { database_url: database_url(env).or(team.database_url), ..team }
}

fn database_url(env: &dyn Fn(&str) -> Option<String>) -> Option<DatabaseUrl> {
    let names = variables::DATABASE_URL.names;
    names.iter().find_map(|name| DatabaseUrl::new(env(name)?.trim()))
}

/// The files that were read. The stamp is taken first: a change in between is noticed next time.
#[derive(Default)]
struct Sources(Vec<Source>);

impl Sources {
    fn read(&mut self, path: &Path, links: Links) -> io::Result<String> {
        let stamp = Stamp::of(path);
        self.0.push(Source(path.to_owned(), stamp));
        paths::read_small(path, links)
    }
}

/// Writes down where compactions were seen, if that is news.
pub fn write_learned(paths: &Paths, learned: &[Learned]) -> std::io::Result<()> {
    let bytes = serde_json::to_vec(learned)?;
    match fs::read(paths.learned()) {
        Ok(known) if known == bytes => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound && learned.is_empty() => Ok(()),
        _ => paths::replace(&paths.learned(), &bytes),
    }
}
