//! The table of all config keys.

use super::{Key, Kind, RESTART, SAVE, Setter, Value, variables};
use crate::settings::{GuardMode, OnLine, RestoreMode, SessionPer, Settings, Shared};

/// All keys, in the order in which they are shown.
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
