//! Explains where each effective setting comes from, for people. Hooks do not use this.

use std::path::{Path, PathBuf};

use plimsoll_agents::Agent;
use plimsoll_core::settings::keys::{KEYS, Key};
use plimsoll_core::settings::{ClientSettings, Overrides, Settings};
use serde_json::{Map, Value};

use super::{Complaint, ConfigFile, Place, configs, database_url, under_environment};
use crate::paths::{self, Links};
use crate::world::{World, is_off, overrides};

/// The effective settings with their origins.
#[derive(Debug)]
pub struct Explanation {
    pub settings: Settings,
    /// Origin of each of our keys.
    pub keys: Vec<(&'static Key, Origin)>,
    /// Settings of the agent's client.
    pub client: Vec<ClientFact>,
    /// Values in a config that are ignored.
    pub complaints: Vec<Complaint>,
    /// Variables that are set without effect, as sentences.
    pub useless_variables: Vec<String>,
}

/// One setting of the agent's client.
#[derive(Debug)]
pub struct ClientFact {
    /// Name of a field of [`ClientSettings`].
    pub name: String,
    pub value: Value,
    pub origin: Origin,
}

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    /// A file, with the position if known.
    File(PathBuf, Option<Place>),
    /// An environment variable.
    Variable(&'static str),
}

/// Explains the effective settings in `project`.
pub fn explain(world: &World, agent: &'static dyn Agent, project: &Path) -> Explanation {
    let (configured, files) = configs(world, project, paths::read_small);
    let settings = under(&configured, world.variables());
    let keys = KEYS.iter().filter(|key| key.alias_of.is_none());
    let origin = |key| {
        let variable = variable(world, key, &configured, &settings).map(Origin::Variable);
        variable.or_else(|| file(&files, key)).unwrap_or(Origin::Default)
    };
    let keys = keys.map(|key| (key, origin(key))).collect();
    Explanation {
        settings,
        keys,
        client: client(world, agent, project),
        complaints: files.into_iter().flat_map(|file| file.complaints).collect(),
        useless_variables: useless_variables(world),
    }
}

type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Applies an environment to the configured settings.
fn under(configured: &Settings, env: Env<'_>) -> Settings {
    let settings = configured.clone().overridden(&overrides(env));
    let team = under_environment(settings.team, env);
    Settings { enabled: settings.enabled && !is_off(env), team, ..settings }
}

/// Returns the variable that decides `key`: the first that leads to the effective value by itself.
fn variable(
    world: &World,
    key: &Key,
    configured: &Settings,
    in_force: &Settings,
) -> Option<&'static str> {
    let decides = |name: &str| {
        let alone = only(world, name);
        says_something(&alone) && (key.value)(&under(configured, &alone)) == (key.value)(in_force)
    };
    let mut names = key.variables.iter().flat_map(|variable| variable.names).copied();
    names.find(|name| decides(name))
}

/// Returns an environment with only the variable `name`.
fn only<'a>(world: &'a World, name: &'a str) -> impl Fn(&str) -> Option<String> + 'a {
    move |asked| world.env(asked).filter(|_| asked == name)
}

fn says_something(env: Env<'_>) -> bool {
    overrides(env) != Overrides::default() || is_off(env) || database_url(env).is_some()
}

/// Describes variables that are set without effect, each with the values it takes.
pub fn useless_variables(world: &World) -> Vec<String> {
    let useless = |name: &str| world.env(name).is_some() && !says_something(&only(world, name));
    let mut sentences = Vec::new();
    for variable in KEYS.iter().flat_map(|key| key.variables) {
        let names = variable.names.iter().filter(|name| useless(name));
        let sentence = |name| format!("`{name}` changes nothing: it takes {}", variable.takes);
        sentences.extend(names.map(sentence));
    }
    sentences
}

/// Returns the file that sets `key`, under any of its names.
fn file(files: &[ConfigFile], key: &Key) -> Option<Origin> {
    let is_meant = |other: &&Key| other.name == key.name || other.alias_of == Some(key.name);
    let place =
        |file: &ConfigFile| KEYS.iter().filter(is_meant).find_map(|meant| file.place(meant.name));
    let (file, place) = files.iter().rev().find_map(|file| Some((file, place(file)?)))?;
    Some(Origin::File(file.path.clone(), Some(place)))
}

/// Returns the settings of the client.
fn client(world: &World, agent: &'static dyn Agent, project: &Path) -> Vec<ClientFact> {
    let files = world.with_home(agent, |home| agent.client().files(home, project));
    let read = |path: PathBuf| Some((paths::read_small(&path, Links::Followed).ok()?, path));
    let files: Vec<(String, PathBuf)> = files.into_iter().filter_map(read).collect();
    let texts: Vec<&str> = files.iter().map(|(text, _)| text.as_str()).collect();
    let settings = agent.client().settings(&texts);
    let in_force = facts(&agent.client().with_environment(settings, world.variables()));
    let fact = |(name, value): (String, Value)| {
        let origin = client_origin(world, agent, &files, &name);
        ClientFact { name, value, origin }
    };
    in_force.into_iter().map(fact).collect()
}

/// Returns the first source that by itself changes the client's setting `name` from its default.
fn client_origin(
    world: &World,
    agent: &'static dyn Agent,
    files: &[(String, PathBuf)],
    name: &str,
) -> Origin {
    let default = facts(&ClientSettings::default());
    let decides = |settings: &ClientSettings| facts(settings).get(name) != default.get(name);
    let variable = agent.client().variables().iter().find(|variable| {
        decides(&agent.client().with_environment(ClientSettings::default(), &only(world, variable)))
    });
    let file = || files.iter().find(|(text, _)| decides(&agent.client().settings(&[text])));
    match variable {
        Some(name) => Origin::Variable(name),
        None => file().map_or(Origin::Default, |(_, path)| Origin::File(path.clone(), None)),
    }
}

fn facts(settings: &ClientSettings) -> Map<String, Value> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(facts)) => facts,
        _ => Map::new(),
    }
}
