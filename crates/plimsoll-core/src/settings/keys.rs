//! Every key of a config: what it means, what it takes, who may set it.
//!
//! One table. What `config` shows, checks and writes for editors comes from it, and the hooks take
//! the names of the environment's variables from it.

use std::fmt::{self, Display};

use serde::{Serialize, Serializer};

use super::{GuardMode, ModelSettings, OnLine, Percent, RestoreMode, SessionPer, Settings, Shared};
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

/// The table, in the order in which it is shown.
pub const KEYS: &[Key] = &[
    Key {
        variables: &[variables::CEILING_PERCENT],
        ..line(
            "lines.ceiling",
            "Percent of the window above which loading further agents and skills is advised against",
            |settings| Value::Percent(settings.lines.ceiling),
        )
    },
    line("lines.checkpoint", "Percent of the window at which a checkpoint is due", |settings| {
        Value::Percent(settings.lines.checkpoint)
    }),
    line(SAVE[0], "Percent of the window at which saving the session is suggested", |settings| {
        Value::Percent(settings.lines.save)
    }),
    line("lines.warn", "Percent of the window at which you and the model are warned", |settings| {
        Value::Percent(settings.lines.warn)
    }),
    line(RESTART[0], "Percent of the window at which a fresh session is due", |settings| {
        Value::Percent(settings.lines.restart)
    }),
    Key {
        name: "checkpoint.on_line",
        meaning: "Who makes the checkpoint at the line: hook (the session's own, at once) or watcher (when it asks)",
        kind: Kind::Choice(&OnLine::WORDS),
        setter: Setter::User,
        variables: &[],
        alias_of: None,
        value: |settings| Value::Text(settings.on_line.word()),
    },
    Key {
        name: "board.coordination_file",
        meaning: "Keep the messages that wait for a project's sessions in its .coordination/blackboard.json",
        kind: Kind::Switch,
        setter: Setter::User,
        variables: &[],
        alias_of: None,
        value: |settings| Value::Switch(settings.board_file),
    },
    Key {
        name: "guard.mode",
        meaning: "What the guard does above the ceiling: warn, strict (refuse) or off",
        kind: Kind::Choice(&GuardMode::WORDS),
        setter: Setter::User,
        variables: &[variables::CEILING, variables::STRICT],
        alias_of: None,
        value: |settings| Value::Text(settings.guard.word()),
    },
    Key {
        name: "guard.ceiling_tokens",
        meaning: "A ceiling in tokens, whatever the window",
        kind: Kind::Tokens,
        setter: Setter::Anyone,
        variables: &[variables::CEILING_TOKENS],
        alias_of: None,
        value: |settings| Value::tokens(settings.ceiling_tokens),
    },
    Key {
        name: "guard.recovery_skills",
        meaning: "Further skills that the guard always lets pass",
        kind: Kind::Words,
        setter: Setter::User,
        variables: &[],
        alias_of: None,
        value: |settings| Value::Words(&settings.recovery_skills),
    },
    Key {
        name: "quiet",
        meaning: "Keep words away from you and the model",
        kind: Kind::Switch,
        setter: Setter::Anyone,
        variables: &[],
        alias_of: None,
        value: |settings| Value::Switch(settings.quiet),
    },
    Key {
        name: "window",
        meaning: "The window in tokens, where you know better than the model's name",
        kind: Kind::Tokens,
        setter: Setter::User,
        variables: &[variables::WINDOW],
        alias_of: None,
        value: |settings| Value::tokens(settings.window),
    },
    Key {
        name: "warn_command",
        meaning: "The command that a warning names, such as /handoff",
        kind: Kind::Text,
        setter: Setter::Anyone,
        variables: &[],
        alias_of: None,
        value: |settings| settings.warn_command.as_deref().map_or(Value::Unset, Value::Text),
    },
    Key {
        name: "restore.mode",
        meaning: "What a session begins with: auto, inject (the last checkpoint), offer or off",
        kind: Kind::Choice(&RestoreMode::WORDS),
        setter: Setter::User,
        variables: &[],
        alias_of: None,
        value: |settings| Value::Text(settings.restore.word()),
    },
    Key {
        name: "restore.budget",
        meaning: "How many tokens are given back, 2,400 at most",
        kind: Kind::Tokens,
        setter: Setter::Anyone,
        variables: &[],
        alias_of: None,
        value: |settings| Value::Tokens(settings.restore_budget),
    },
    user_key(
        "reviewer.command",
        "A command that is shown the state of all sessions and may ask for checkpoints, such as [my-review, --brief]",
        Kind::Words,
        |settings| Value::Words(&settings.reviewer.command),
    ),
    user_key(
        "reviewer.second_command",
        "The command that is asked when the first one wants somebody who knows better",
        Kind::Words,
        |settings| Value::Words(&settings.reviewer.second_command),
    ),
    user_key(
        "reviewer.interval_seconds",
        "How often it is shown the sessions, if anything happened",
        Kind::Seconds,
        |settings| Value::Seconds(settings.reviewer.interval_seconds),
    ),
    user_key(
        "reviewer.most_per_day",
        "How often the two commands are run in a day, at most",
        Kind::Times,
        |settings| Value::Times(settings.reviewer.most_per_day),
    ),
    user_key(
        "run.max_sessions",
        "How many sessions a run may take, where its command says nothing",
        Kind::Times,
        |settings| Value::Times(settings.run.max_sessions),
    ),
    user_key(
        "run.max_tokens",
        "How many tokens the windows of all its sessions may hold at their ends, added up",
        Kind::Tokens,
        |settings| Value::tokens(settings.run.max_tokens),
    ),
    user_key("run.max_minutes", "How many minutes it may take", Kind::Times, |settings| {
        settings.run.max_minutes.map_or(Value::Unset, Value::Times)
    }),
    Key {
        name: "batch.budget",
        meaning: "How many tokens a session that works on a plan may hold; the model's window if nothing is said",
        kind: Kind::Tokens,
        setter: Setter::Anyone,
        variables: &[],
        alias_of: None,
        value: |settings| Value::tokens(settings.batch.budget),
    },
    user_key(
        "batch.command",
        "The agent's command that carries plans out, such as [my-agent, --task, '{prompt}']; the prompt comes on its stdin where no word holds {prompt}",
        Kind::Words,
        |settings| Value::Words(&settings.batch.command),
    ),
    user_key(
        "batch.session",
        "What a fresh session is begun for: every batch, or every task",
        Kind::Choice(&SessionPer::WORDS),
        |settings| Value::Text(settings.batch.session.word()),
    ),
    user_key(
        "batch.at_once",
        "How many sessions of a batch run at once, where every task has its own",
        Kind::Times,
        |settings| Value::Times(settings.batch.at_once),
    ),
    user_key(
        "batch.retries",
        "How often a session that fails is tried again, each time after a longer pause",
        Kind::Number,
        |settings| Value::Times(settings.batch.retries),
    ),
    user_key(
        "batch.max_failures",
        "How many batches, or tasks, may fail for good before the rest is left",
        Kind::Times,
        |settings| Value::Times(settings.batch.max_failures),
    ),
    user_key(
        "batch.max_sessions",
        "How many sessions a run of a plan may start",
        Kind::Times,
        |settings| Value::times(settings.batch.max_sessions),
    ),
    user_key(
        "batch.max_tokens",
        "How many tokens its sessions may hold at their ends, all together",
        Kind::Tokens,
        |settings| Value::tokens(settings.batch.max_tokens),
    ),
    user_key("batch.max_minutes", "How many minutes it may take", Kind::Times, |settings| {
        Value::times(settings.batch.max_minutes)
    }),
    Key {
        name: "models",
        meaning: "Windows of models of your own, such as {my-model: {window: 400000}}",
        kind: Kind::Models,
        setter: Setter::User,
        variables: &[],
        alias_of: None,
        value: |settings| Value::Models(&settings.models),
    },
    Key {
        name: "auto_context.enabled",
        meaning: "Warn, guard and save at all",
        kind: Kind::Switch,
        setter: Setter::User,
        variables: &[variables::ALL],
        alias_of: None,
        value: |settings| Value::Switch(settings.enabled),
    },
    Key {
        name: "auto_context.poll_interval_seconds",
        meaning: "How often the watcher looks at every transcript, whether it was told of a change or not",
        kind: Kind::Seconds,
        setter: Setter::User,
        variables: &[],
        alias_of: None,
        value: |settings| Value::Seconds(settings.poll_interval_seconds),
    },
    hook("auto_context.hooks.git_commit", "Save the state of the work at commits", |settings| {
        Value::Switch(settings.breakpoints.git_commit)
    }),
    hook("auto_context.hooks.test_result", "Save what runs of tests came to", |settings| {
        Value::Switch(settings.breakpoints.test_result)
    }),
    Key {
        name: "team.database_url",
        meaning: "The PostgreSQL database that your team shares",
        kind: Kind::Database,
        setter: Setter::User,
        variables: &[variables::DATABASE_URL],
        alias_of: None,
        value: |settings| match &settings.team.database_url {
            Some(url) => Value::Text(url.shown()),
            None => Value::Unset,
        },
    },
    Key {
        name: "team.share",
        meaning: "What goes there: readings, checkpoints, saves, board",
        kind: Kind::Choices(&Shared::WORDS),
        setter: Setter::User,
        variables: &[],
        alias_of: None,
        value: |settings| Value::Words(&settings.team.share),
    },
    Key {
        name: "team.projects",
        meaning: "The folders of the projects it is of, such as ~/work or **/hull-*",
        kind: Kind::Words,
        setter: Setter::User,
        variables: &[],
        alias_of: None,
        value: |settings| Value::Words(&settings.team.projects),
    },
    Key {
        name: "team.person",
        meaning: "What you are called there; your login if nothing is said",
        kind: Kind::Text,
        setter: Setter::User,
        variables: &[],
        alias_of: None,
        value: |settings| settings.team.person.as_deref().map_or(Value::Unset, Value::Text),
    },
    Key {
        alias_of: Some(SAVE[0]),
        ..line(SAVE[1], "The older name of lines.save", |settings| {
            Value::Percent(settings.lines.save)
        })
    },
    Key {
        alias_of: Some(RESTART[0]),
        ..line(RESTART[1], "The older name of lines.restart", |settings| {
            Value::Percent(settings.lines.restart)
        })
    },
];

const fn line(
    name: &'static str,
    meaning: &'static str,
    value: for<'a> fn(&'a Settings) -> Value<'a>,
) -> Key {
    let (kind, setter) = (Kind::Percent, Setter::Anyone);
    Key { name, meaning, kind, setter, variables: &[], alias_of: None, value }
}

const fn hook(
    name: &'static str,
    meaning: &'static str,
    value: for<'a> fn(&'a Settings) -> Value<'a>,
) -> Key {
    let (kind, setter) = (Kind::Switch, Setter::User);
    Key { name, meaning, kind, setter, variables: &[], alias_of: None, value }
}

const fn user_key(
    name: &'static str,
    meaning: &'static str,
    kind: Kind,
    value: for<'a> fn(&'a Settings) -> Value<'a>,
) -> Key {
    Key { name, meaning, kind, setter: Setter::User, variables: &[], alias_of: None, value }
}

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
