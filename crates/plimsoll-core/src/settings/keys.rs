//! The table of all config keys: their meaning, values, and who may set them.
//!
//! `plimsoll config` shows and checks keys and writes schemas from this table. Hooks take the names
//! of environment variables from it.

mod table;

use std::fmt::{self, Display};

use serde::{Serialize, Serializer};

pub use self::table::KEYS;
use super::{ModelSettings, Percent, Settings};
use crate::Tokens;

#[derive(Debug)]
pub struct Key {
    /// The full name including sections: `lines.warn`.
    pub name: &'static str,
    /// A one-line description.
    pub meaning: &'static str,
    pub kind: Kind,
    pub setter: Setter,
    /// Environment variables that override any config, strongest first.
    pub variables: &'static [Variable],
    /// The key of which this is an older name.
    pub alias_of: Option<&'static str>,
    /// Returns the effective value.
    pub value: for<'a> fn(&'a Settings) -> Value<'a>,
}

/// The type of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A share of the window.
    Percent,
    Tokens,
    Seconds,
    /// A positive number.
    Times,
    /// A number that may be 0.
    Number,
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any number of these words.
    Choices(&'static [&'static str]),
    /// Any number of words.
    Words,
    Text,
    /// The URL of a database.
    Database,
    /// Models by name, each with its window.
    Models,
}

const TOKENS: &str = "a whole number of tokens above 0";

const DATABASE: &str = "an address such as `postgres://me@host/plimsoll`";

impl Kind {
    /// Describes the valid values, as the end of a sentence.
    pub fn allowed(self) -> String {
        match self {
            Self::Percent => "a percentage above 0 and at most 100".to_owned(),
            Self::Tokens => TOKENS.to_owned(),
            Self::Seconds => "a whole number of seconds above 0".to_owned(),
            Self::Times => "a whole number above 0".to_owned(),
            Self::Number => "a whole number".to_owned(),
            Self::Switch => "`true` or `false`".to_owned(),
            Self::Choice(words) => alternatives(words),
            Self::Choices(words) => format!("a list of {}", alternatives(words)),
            Self::Words => "a list of words".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::Database => DATABASE.to_owned(),
            Self::Models => format!("names of models, each with a `window`, {TOKENS}"),
        }
    }
}

fn alternatives(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setter {
    /// The user or a project.
    Anyone,
    /// The user only: a repository must not decide this for everyone who opens it.
    User,
}

/// An environment variable and its aliases.
#[derive(Debug)]
pub struct Variable {
    /// The names, strongest first. Older names let existing users switch without changes.
    pub names: &'static [&'static str],
    /// Describes the valid values, as the end of a sentence.
    pub takes: &'static str,
}

/// The environment variables that override a config.
pub mod variables {
    use super::{DATABASE, TOKENS, Variable};

    pub const WINDOW: Variable =
        Variable { names: &["PLIMSOLL_CONTEXT_WINDOW", "DEV_TEAM_CONTEXT_WINDOW"], takes: TOKENS };
    pub const CEILING_PERCENT: Variable = Variable {
        names: &["PLIMSOLL_CONTEXT_CEILING_PCT", "DEV_TEAM_CONTEXT_CEILING_PCT"],
        takes: "a percentage above 0 and at most 100",
    };
    pub const CEILING_TOKENS: Variable = Variable {
        names: &["PLIMSOLL_CONTEXT_ABS_CEILING", "DEV_TEAM_CONTEXT_ABS_CEILING"],
        takes: TOKENS,
    };
    /// Chooses between refusing and warning.
    pub const STRICT: Variable = Variable {
        names: &["PLIMSOLL_CONTEXT_STRICT", "DEV_TEAM_CONTEXT_STRICT"],
        takes: "`on` or `off`",
    };
    /// Disables the guard.
    pub const CEILING: Variable = Variable {
        names: &["PLIMSOLL_CONTEXT_CEILING", "DEV_TEAM_CONTEXT_CEILING"],
        takes: "`off`",
    };
    /// The environment under which saves are filed.
    pub const ENVIRONMENT: Variable =
        Variable { names: &["PLIMSOLL_ENV", "CONTEXTS_ENV"], takes: "the name of an environment" };
    pub const DATABASE_URL: Variable =
        Variable { names: &["PLIMSOLL_DATABASE_URL"], takes: DATABASE };
    /// Disables everything.
    pub const ALL: Variable = Variable { names: &["PLIMSOLL"], takes: "`off`" };
}

/// An effective value. It is formatted as it would be written in a config.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value<'a> {
    /// The key has no value, not even a default.
    Unset,
    /// A share of the window.
    Percent(Percent),
    Tokens(Tokens),
    Seconds(u64),
    Times(u64),
    Switch(bool),
    /// A word or a text.
    Text(&'a str),
    Words(&'a [String]),
    #[serde(serialize_with = "by_name")]
    Models(&'a [(String, ModelSettings)]),
}

fn by_name<S: Serializer>(models: &[(String, ModelSettings)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(models.iter().map(|(name, model)| (name, model)))
}

impl Value<'_> {
    fn tokens(tokens: Option<Tokens>) -> Self {
        tokens.map_or(Self::Unset, Self::Tokens)
    }

    fn times(times: Option<u64>) -> Self {
        times.map_or(Self::Unset, Self::Times)
    }
}

impl Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => f.write_str("none"),
            Self::Percent(percent) => percent.fmt(f),
            Self::Tokens(tokens) => tokens.fmt(f),
            Self::Seconds(seconds) => seconds.fmt(f),
            Self::Times(times) => times.fmt(f),
            Self::Switch(on) => on.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Words(words) => write!(f, "[{}]", words.join(", ")),
            Self::Models(models) => {
                let model = |(name, model): &(_, ModelSettings)| {
                    format!("{name}: {{window: {}}}", model.window)
                };
                write!(f, "{{{}}}", models.iter().map(model).collect::<Vec<String>>().join(", "))
            }
        }
    }
}

/// The save threshold and its older name.
pub(super) const SAVE: [&str; 2] = ["lines.save", "auto_context.thresholds.warning"];
/// The restart threshold and its older name.
pub(super) const RESTART: [&str; 2] = ["lines.restart", "auto_context.thresholds.critical"];
/// All thresholds under all names.
pub(super) const LINES: [&str; 7] =
    ["lines.ceiling", "lines.checkpoint", SAVE[0], "lines.warn", RESTART[0], SAVE[1], RESTART[1]];

/// Returns the key called `name`.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Returns the first key of the section called `name`; `None` if there is no such section.
pub fn first_of(name: &str) -> Option<&'static Key> {
    let within = |key: &&Key| key.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    KEYS.iter().find(within)
}

/// Returns the key or section that the user probably meant by `name`.
pub fn suggest(name: &str) -> Option<&'static str> {
    let sections = |name: &'static str| name.match_indices('.').map(|(dot, _)| &name[..dot]);
    let candidates = KEYS.iter().flat_map(|key| sections(key.name).chain([key.name]));
    let near = candidates.filter_map(|known| Some((distance(name, known)?, known)));
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// Returns the number of typos between `known` and `written`; `None` if they have little in common.
/// A wrong section counts as one typo.
fn distance(written: &str, known: &'static str) -> Option<usize> {
    let own = |name| str::rsplit(name, '.').next().unwrap_or_default();
    let (own_written, own_known) = (own(written), own(known));
    let slips = strsim::osa_distance(own_written, own_known);
    let most = (own_written.len().min(own_known.len()) / 2).max(1);
    (slips <= most).then(|| strsim::osa_distance(written, known).min(slips + 1))
}

/// Returns a config that has every key commented out with its default.
pub fn default_file() -> String {
    let defaults = Settings::default();
    let mut text = String::from(FILE_HEAD);
    let mut open: Vec<&str> = Vec::new();
    for key in KEYS.iter().filter(|key| key.alias_of.is_none()) {
        let mut sections: Vec<&str> = key.name.split('.').collect();
        let own = sections.pop().unwrap_or_default();
        if sections.is_empty() || sections.first() != open.first() {
            text.push('\n');
        }
        let shared = sections.iter().zip(&open).take_while(|(one, other)| one == other).count();
        for (depth, section) in sections.iter().enumerate().skip(shared) {
            text += &format!("{}{section}:\n", "  ".repeat(depth));
        }
        let indent = "  ".repeat(sections.len());
        let value = match (key.value)(&defaults) {
            Value::Unset => String::new(),
            value => format!(" {value}"),
        };
        text += &format!("{indent}# {}\n{indent}# {own}:{value}\n", key.meaning);
        open = sections;
    }
    text
}

const FILE_HEAD: &str = "\
# Settings of plimsoll. Every key is optional; the values behind the comment signs are the defaults.
# `plimsoll config check` says what is wrong here, `plimsoll config show` what is in force.
";

#[cfg(test)]
mod tests;
