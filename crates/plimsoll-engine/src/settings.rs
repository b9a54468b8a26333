//! The settings in force, from a cache that knows when its sources changed.
//!
//! Parsing the config of a call would cost more than the rest of it. So the merged settings lie in
//! the data folder with time, size and inode of every file they were made from; a hook looks at
//! those and parses only what changed.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use plimsoll_agents::Adapter;
use plimsoll_core::Tokens;
use plimsoll_core::settings::{ClientSettings, Config, Settings, is_default};
use plimsoll_core::trigger::Learned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::log;
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

/// The cache as it is written. What it holds is borrowed from the file where that is possible.
#[derive(Serialize, Deserialize)]
struct Cache<'a> {
    /// Who made it: another release may read the same files differently.
    release: &'a str,
    #[serde(borrow)]
    sources: Vec<Source<'a>>,
    in_force: InForce,
}

impl Cache<'_> {
    /// Whether every change after `now` will show: file times advance in ticks of some
    /// milliseconds, so a file that was just written can change once more without its time.
    fn is_settled(&self, now: u64) -> bool {
        const TICKS: u64 = 20;
        let changed = |stamp: &Stamp| stamp.1 / 1_000_000;
        let mut stamps = self.sources.iter().filter_map(|Source(_, stamp)| stamp.as_ref());
        stamps.all(|stamp| changed(stamp).abs_diff(now as i64) > TICKS)
    }
}

#[derive(Serialize, Deserialize)]
struct Source<'a>(#[serde(borrow)] Cow<'a, Path>, Option<Stamp>);

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
pub fn load(world: &World, adapter: &dyn Adapter, project: &Path) -> InForce {
    let cache = world.paths.settings_cache(key(world, adapter, project));
    let mut in_force = read(&cache).unwrap_or_else(|| {
        let made = make(world, adapter, project);
        if made.is_settled(now()) {
            // A cache that cannot be written is made again by the next call.
            let _ = paths::replace(&cache, &serde_json::to_vec(&made).unwrap_or_default());
        }
        made.in_force
    });
    in_force.settings = in_force.settings.overridden(&world.overrides());
    in_force.client = adapter.client_environment(in_force.client, world.variables());
    in_force
}

/// The cached settings, if every source is as it was.
fn read(cache: &Path) -> Option<InForce> {
    let bytes = paths::read_bytes(cache, Links::Refused).ok()?;
    let cache: Cache<'_> = serde_json::from_slice(&bytes).ok()?;
    let unchanged = cache.sources.iter().all(|Source(path, stamp)| Stamp::of(path) == *stamp);
    (unchanged && cache.release == RELEASE).then_some(cache.in_force)
}

const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// Names the cache of a project: FNV-1a over all that decides which files are its sources.
fn key(world: &World, adapter: &dyn Adapter, project: &Path) -> u64 {
    let folder = world.agent_folder(adapter).unwrap_or_default();
    let Paths { home, config, .. } = &world.paths;
    let parts = [adapter.name().as_ref(), project, &folder, home, config];
    let bytes =
        parts.iter().flat_map(|part| part.as_os_str().as_encoded_bytes().iter().chain(&[0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn make(world: &World, adapter: &dyn Adapter, project: &Path) -> Cache<'static> {
    let Paths { config, .. } = &world.paths;
    let learned = world.paths.learned();
    let own = paths::project_config(project);
    let client = world.with_home(adapter, |home| adapter.settings_files(home, project));
    let mut sources = Sources::default();
    let mut complaints = Vec::new();
    let mut config_of = |text: Option<String>, path: &Path| {
        let (config, why) = parse(&text?);
        complaints.extend(why.iter().map(|why| format!("{}: {why}", path.display())));
        Some(config)
    };
    let user = config_of(sources.read(config, Links::Followed), config);
    // A repository must not make us read what it merely points to.
    let project = config_of(sources.read(&own, Links::Refused), &own);
    let learned =
        sources.read(&learned, Links::Refused).and_then(|text| serde_json::from_str(&text).ok());
    let files: Vec<String> =
        client.iter().filter_map(|path| sources.read(path, Links::Followed)).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let (settings, more) = Settings::resolve(user.as_ref(), project.as_ref());
    complaints.extend(more);
    if !complaints.is_empty() {
        // Once per change of the files: unchanged ones are not made again.
        log::write(&world.paths.log(), &format!("config: {}", complaints.join("; ")));
    }
    let in_force = InForce {
        settings,
        client: adapter.client_settings(&files),
        learned: learned.unwrap_or_default(),
        complaints,
    };
    Cache { release: RELEASE, sources: sources.0, in_force }
}

/// The files that were read. The stamp is taken first: a change in between is noticed next time.
#[derive(Default)]
struct Sources(Vec<Source<'static>>);

impl Sources {
    fn read(&mut self, path: &Path, links: Links) -> Option<String> {
        let stamp = Stamp::of(path);
        self.0.push(Source(Cow::Owned(path.to_owned()), stamp));
        paths::read_small(path, links).ok()
    }
}

/// Parses a config file, as far as it makes sense, and says what does not. One bad value does not
/// void the others: a user who asked for a strict guard gets it.
fn parse(text: &str) -> (Config, Vec<String>) {
    if text.trim().is_empty() {
        return (Config::default(), Vec::new());
    }
    let mut value: Value = match serde_saphyr::from_str(text) {
        Ok(value) => value,
        // The error itself would repeat what stands there.
        Err(error) => return (Config::default(), vec![place(&error)]),
    };
    let mut complaints = Vec::new();
    keep_what_fits(&mut value, &mut Vec::new(), &mut complaints);
    (serde_json::from_value(value).unwrap_or_default(), complaints)
}

fn place(error: &serde_saphyr::Error) -> String {
    match error.location() {
        Some(place) => {
            format!("cannot be read at line {}, column {}", place.line(), place.column())
        }
        None => "cannot be read".to_owned(),
    }
}

/// Takes out of `value`, which stands under `keys` of a config, every part that no config can have.
fn keep_what_fits(value: &mut Value, keys: &mut Vec<String>, complaints: &mut Vec<String>) {
    if let Value::Object(members) = value {
        members.retain(|key, member| {
            keys.push(key.clone());
            keep_what_fits(member, keys, complaints);
            let alone = keys.iter().rev().fold(member.clone(), |value, key| json!({ key: value }));
            let fits = serde_json::from_value::<Config>(alone);
            if let Err(why) = &fits {
                complaints.push(format!("`{}` is ignored: {why}", keys.join(".")));
            }
            keys.pop();
            fits.is_ok()
        });
    } else if keys.is_empty() {
        complaints.push("a config is a list of keys and values".to_owned());
        *value = json!({});
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
