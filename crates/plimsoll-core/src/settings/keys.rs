//! Every key of a config: what it means, what it takes, who may set it.
//!
//! One table. What `config` shows, checks and writes for editors comes from it, and the hooks take
//! the names of the environment's variables from it.

mod table;

use std::fmt::{self, Display};

use serde::{Serialize, Serializer};

pub use self::table::KEYS;
use super::{ModelSettings, Percent, Settings};
use crate::Tokens;

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Its name, with the sections it stands in: `lines.warn`.
    pub name: &'static str,
    /// What it is for, in a line.
    pub meaning: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Who may set it.
    pub setter: Setter,
    /// What in the environment comes before any config, the strongest first.
    pub variables: &'static [Variable],
    /// The key that it is an older name of.
    pub alias_of: Option<&'static str>,
    /// Its value in force.
    pub value: for<'a> fn(&'a Settings) -> Value<'a>,
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A share of the window.
    Percent,
    /// A number of tokens.
    Tokens,
    /// A number of seconds.
    Seconds,
    /// A number of times.
    Times,
    /// A number, which may be none.
    Number,
    /// Yes or no.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any number of these words.
    Choices(&'static [&'static str]),
    /// Any number of words.
    Words,
    /// Any text.
    Text,
    /// The address of a database.
    Database,
    /// Models by name, each with its window.
    Models,
}

/// What a number of tokens must be, in words.
const TOKENS: &str = "a whole number of tokens above 0";

/// What the address of a database must be, in words.
const DATABASE: &str = "an address such as `postgres://me@host/plimsoll`";

impl Kind {
    /// What is allowed, as the end of a sentence.
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

/// Who may set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setter {
    /// The user, and a project for whoever works on it.
    Anyone,
    /// The user alone: a repository must not decide this for whoever opens it.
    User,
}

/// A variable of the environment, under all its names.
#[derive(Debug)]
pub struct Variable {
    /// Its names, the strongest first; the older ones let existing users switch in place.
    pub names: &'static [&'static str],
    /// What it takes, as the end of a sentence.
    pub takes: &'static str,
}

/// The variables that come before a config.
pub mod variables {
    use super::{DATABASE, TOKENS, Variable};

    /// The window in tokens.
    pub const WINDOW: Variable =
        Variable { names: &["PLIMSOLL_CONTEXT_WINDOW", "DEV_TEAM_CONTEXT_WINDOW"], takes: TOKENS };
    /// The ceiling in percent.
    pub const CEILING_PERCENT: Variable = Variable {
        names: &["PLIMSOLL_CONTEXT_CEILING_PCT", "DEV_TEAM_CONTEXT_CEILING_PCT"],
        takes: "a percentage above 0 and at most 100",
    };
    /// The ceiling in tokens.
    pub const CEILING_TOKENS: Variable = Variable {
        names: &["PLIMSOLL_CONTEXT_ABS_CEILING", "DEV_TEAM_CONTEXT_ABS_CEILING"],
        takes: TOKENS,
    };
    /// Refuse, or only warn.
    pub const STRICT: Variable = Variable {
        names: &["PLIMSOLL_CONTEXT_STRICT", "DEV_TEAM_CONTEXT_STRICT"],
        takes: "`on` or `off`",
    };
    /// Switches the guard off.
    pub const CEILING: Variable = Variable {
        names: &["PLIMSOLL_CONTEXT_CEILING", "DEV_TEAM_CONTEXT_CEILING"],
        takes: "`off`",
    };
    /// What saves are filed under.
    pub const ENVIRONMENT: Variable =
        Variable { names: &["PLIMSOLL_ENV", "CONTEXTS_ENV"], takes: "the name of an environment" };
    /// The team's database.
    pub const DATABASE_URL: Variable =
        Variable { names: &["PLIMSOLL_DATABASE_URL"], takes: DATABASE };
    /// Switches everything off.
    pub const ALL: Variable = Variable { names: &["PLIMSOLL"], takes: "`off`" };
}

/// A value in force. It reads as it would be written in a config.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value<'a> {
    /// Nothing is set, which is a default of its own.
    Unset,
    /// A share of the window.
    Percent(Percent),
    /// A number of tokens.
    Tokens(Tokens),
    /// A number of seconds.
    Seconds(u64),
    /// A number of times.
    Times(u64),
    /// Yes or no.
    Switch(bool),
    /// A word or a text.
    Text(&'a str),
    /// Any number of words.
    Words(&'a [String]),
    /// Models by name.
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

/// The save line, and its older name.
pub(super) const SAVE: [&str; 2] = ["lines.save", "auto_context.thresholds.warning"];
/// The restart line, and its older name.
pub(super) const RESTART: [&str; 2] = ["lines.restart", "auto_context.thresholds.critical"];
/// All lines, under all names.
pub(super) const LINES: [&str; 7] =
    ["lines.ceiling", "lines.checkpoint", SAVE[0], "lines.warn", RESTART[0], SAVE[1], RESTART[1]];

/// The key called `name`.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The first key of the section called `name`, if that is one.
pub fn first_of(name: &str) -> Option<&'static Key> {
    let within = |key: &&Key| key.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    KEYS.iter().find(within)
}

/// The key or section that whoever wrote `name` may have meant.
pub fn suggest(name: &str) -> Option<&'static str> {
    let sections = |name: &'static str| name.match_indices('.').map(|(dot, _)| &name[..dot]);
    let candidates = KEYS.iter().flat_map(|key| sections(key.name).chain([key.name]));
    let near = candidates.filter_map(|known| Some((distance(name, known)?, known)));
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// How many slips lead from `known` to `written`; nothing where they have little in common. A wrong
/// section counts as one slip.
fn distance(written: &str, known: &'static str) -> Option<usize> {
    let own = |name| str::rsplit(name, '.').next().unwrap_or_default();
    let (own_written, own_known) = (own(written), own(known));
    let slips = strsim::osa_distance(own_written, own_known);
    let most = (own_written.len().min(own_known.len()) / 2).max(1);
    (slips <= most).then(|| strsim::osa_distance(written, known).min(slips + 1))
}

/// A config in which every key stands at its default, behind a comment sign.
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
