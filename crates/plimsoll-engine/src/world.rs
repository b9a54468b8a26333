//! The environment of a call: variables, the paths of our files, and the time.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_agents::{Agent, Home};
use plimsoll_core::Tokens;
use plimsoll_core::settings::keys::{Variable, variables};
use plimsoll_core::settings::{Overrides, Percent};

use crate::paths::Paths;

/// The environment of one call.
pub struct World {
    pub paths: Paths,
    env: Env,
}

/// Looks up an environment variable by name.
pub type Env = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

impl World {
    /// Returns the environment of this process; `None` if there is no home folder.
    pub fn of_process() -> Option<Self> {
        // Copied once, because `getenv` searches the whole list for every name.
        let variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        Self::new(Box::new(move |name| {
            let (_, value) = variables.iter().find(|(known, _)| known == name)?;
            value.to_str().filter(|value| !value.is_empty()).map(str::to_owned)
        }))
    }

    /// Creates an environment with other variables.
    pub fn new(env: Env) -> Option<Self> {
        Some(Self { paths: Paths::resolve(&*env)?, env })
    }

    /// Returns an environment variable.
    pub fn env(&self, name: &str) -> Option<String> {
        (self.env)(name)
    }

    /// Returns a variable that an agent may define; `None` if it defines none or it is not set.
    pub fn agent_env(&self, name: Option<&str>) -> Option<String> {
        self.env(name?)
    }

    /// Returns the user's login name.
    pub fn login(&self) -> String {
        let name = ["USER", "LOGNAME"].into_iter().find_map(|name| self.env(name));
        name.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()))
    }

    /// Returns the variables as a function.
    pub fn variables(&self) -> &dyn Fn(&str) -> Option<String> {
        &*self.env
    }

    /// Returns the folder of `agent`'s files, if a variable sets it.
    pub fn agent_folder(&self, agent: &'static dyn Agent) -> Option<PathBuf> {
        self.agent_env(agent.profile().variables.config_folder).map(PathBuf::from)
    }

    /// Calls `with` with the location of `agent`'s files.
    pub fn with_home<T>(&self, agent: &'static dyn Agent, with: impl FnOnce(&Home<'_>) -> T) -> T {
        let config = self.agent_folder(agent);
        with(&Home { user: &self.paths.home, config: config.as_deref() })
    }

    /// Returns the settings that variables override. Invalid values are ignored.
    pub fn overrides(&self) -> Overrides {
        overrides(&*self.env)
    }

    /// Reports whether the user has switched plimsoll off.
    pub fn is_off(&self) -> bool {
        is_off(&*self.env)
    }
}

/// Reports whether a variable switches plimsoll off.
pub(crate) fn is_off(env: &dyn Fn(&str) -> Option<String>) -> bool {
    parsed(env, &variables::ALL, switch) == Some(false)
}

/// Reports whether this value of `PLIMSOLL` switches plimsoll off.
pub(crate) fn switches_off(value: &str) -> bool {
    switch(value.trim()) == Some(false)
}

/// Returns the settings that variables override.
pub(crate) fn overrides(env: &dyn Fn(&str) -> Option<String>) -> Overrides {
    let tokens = |value: &str| value.parse().ok().filter(|tokens: &Tokens| *tokens > 0);
    let percent = |value: &str| value.parse().ok().and_then(Percent::new);
    Overrides {
        window: parsed(env, &variables::WINDOW, tokens),
        ceiling: parsed(env, &variables::CEILING_PERCENT, percent),
        ceiling_tokens: parsed(env, &variables::CEILING_TOKENS, tokens),
        strict: parsed(env, &variables::STRICT, switch),
        guard_off: parsed(env, &variables::CEILING, switch) == Some(false),
    }
}

/// Returns the first valid value among the names of a variable.
fn parsed<T>(
    env: &dyn Fn(&str) -> Option<String>,
    variable: &Variable,
    parse: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    variable.names.iter().find_map(|name| parse(env(name)?.trim()))
}

/// Returns the current time in milliseconds since the epoch.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

/// Variable for the window's size.
pub const WINDOW_VARIABLE: &str = variables::WINDOW.names[0];

/// Variable for the ceiling in percent.
pub const CEILING_VARIABLE: &str = variables::CEILING_PERCENT.names[0];

/// Variable for the ceiling in tokens.
pub const CEILING_TOKENS_VARIABLE: &str = variables::CEILING_TOKENS.names[0];

/// Variable for strict mode.
pub const STRICT_VARIABLE: &str = variables::STRICT.names[0];

fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "1" | "true" | "yes" => Some(true),
        "off" | "0" | "false" | "no" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(variables: &'static [(&str, &str)]) -> World {
        World::new(Box::new(move |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found
                .map(|(_, value)| (*value).to_owned())
                .or((name == "HOME").then(|| "/h".to_owned()))
        }))
        .unwrap()
    }

    #[test]
    fn the_older_names_are_understood_and_ours_come_first() {
        let old = world(&[
            ("DEV_TEAM_CONTEXT_WINDOW", "1000000"),
            ("DEV_TEAM_CONTEXT_CEILING_PCT", "55"),
            ("DEV_TEAM_CONTEXT_STRICT", "on"),
            ("DEV_TEAM_CONTEXT_CEILING", "off"),
            ("DEV_TEAM_CONTEXT_ABS_CEILING", "90000"),
        ]);
        let expected = Overrides {
            window: Some(1_000_000),
            ceiling: Percent::new(55.0),
            ceiling_tokens: Some(90_000),
            strict: Some(true),
            guard_off: true,
        };
        assert_eq!(old.overrides(), expected);
        let both = world(&[("DEV_TEAM_CONTEXT_WINDOW", "5"), ("PLIMSOLL_CONTEXT_WINDOW", "7")]);
        assert_eq!(both.overrides().window, Some(7));
    }

    #[test]
    fn malformed_values_count_as_absent() {
        let bad = world(&[
            ("PLIMSOLL_CONTEXT_WINDOW", "big"),
            ("DEV_TEAM_CONTEXT_CEILING_PCT", "140"),
            ("DEV_TEAM_CONTEXT_STRICT", "maybe"),
            ("DEV_TEAM_CONTEXT_CEILING", ""),
            ("DEV_TEAM_CONTEXT_ABS_CEILING", "-3"),
        ]);
        assert_eq!(bad.overrides(), Overrides::default());
    }

    #[test]
    fn one_word_switches_everything_off() {
        assert!(world(&[("PLIMSOLL", "off")]).is_off());
        assert!(!world(&[("PLIMSOLL", "on")]).is_off());
        assert!(!world(&[]).is_off());
    }
}
