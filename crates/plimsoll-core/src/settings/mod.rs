//! User settings and their defaults.
//!
//! There are four layers, and later ones win: defaults, the user's config, the project's config,
//! the environment. A project's config may change thresholds, texts and budgets only. Anything that
//! could run a command, open a port or name a path comes from the user's own config. [`keys`] is
//! the table of all settings.

mod batch;
mod client;
mod config;
pub mod keys;
mod modes;
mod on_line;
mod reviewer;
mod run;
mod team;

use std::num::NonZero;

use serde::{Deserialize, Serialize};

pub use self::batch::{BatchSettings, SessionPer};
pub use self::client::{ClientSetting, ClientSettings};
pub use self::config::Config;
use self::config::{GuardConfig, ModelConfig};
pub use self::modes::{GuardMode, RestoreMode};
pub use self::on_line::OnLine;
pub use self::reviewer::ReviewerSettings;
pub use self::run::RunSettings;
pub use self::team::{DatabaseUrl, Shared, Team};
use crate::Tokens;

/// A share of a window, in hundredths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Percent(u32);

impl Percent {
    /// Converts a whole number of percent.
    pub const fn whole(percent: u32) -> Self {
        Self(percent * 100)
    }

    /// Converts a percentage; `None` unless it is above 0 and at most 100.
    pub fn new(percent: f64) -> Option<Self> {
        (percent > 0.0 && percent <= 100.0).then(|| Self((percent * 100.0).round().max(1.0) as u32))
    }

    /// Returns the smallest token count that is at least this share of `window`.
    pub fn of(self, window: Tokens) -> Tokens {
        window.saturating_mul(u64::from(self.0)).div_ceil(10_000)
    }
}

impl std::fmt::Display for Percent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", f64::from(*self))
    }
}

impl From<Percent> for f64 {
    fn from(percent: Percent) -> Self {
        Self::from(percent.0) / 100.0
    }
}

impl TryFrom<f64> for Percent {
    type Error = &'static str;

    fn try_from(percent: f64) -> Result<Self, Self::Error> {
        Self::new(percent).ok_or("a percentage lies above 0 and is at most 100")
    }
}

/// The configured thresholds, in percent of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// Loading further agents and skills is discouraged or refused.
    pub ceiling: Percent,
    /// A checkpoint is made.
    pub checkpoint: Percent,
    /// The user is advised to save the session.
    pub save: Percent,
    /// The user and the model are warned.
    pub warn: Percent,
    /// The session is saved, and the user is advised to restart.
    pub restart: Percent,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            ceiling: Percent::whole(40),
            checkpoint: Percent::whole(60),
            save: Percent::whole(70),
            warn: Percent::whole(80),
            restart: Percent::whole(85),
        }
    }
}

/// The default of [`Settings::restore_budget`].
const RESTORE_BUDGET: Tokens = 2_000;

fn is_usual_budget(budget: &Tokens) -> bool {
    *budget == RESTORE_BUDGET
}

/// The default of [`Settings::poll_interval_seconds`].
const POLL_INTERVAL_SECONDS: u64 = 60;

fn is_usual_poll_interval(seconds: &u64) -> bool {
    *seconds == POLL_INTERVAL_SECONDS
}

/// Skills that help to get below the ceiling. The guard never stops them.
pub const RECOVERY_SKILLS: [&str; 10] = [
    "context-summarization",
    "context-loading-protocol",
    "continue",
    "review-summary",
    "session-review",
    "checkpoint",
    "resume-work",
    "ss",
    "rs",
    "handoff",
];

/// The effective settings of a project, without the environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Warns, guards and saves at all (`auto_context.enabled`).
    pub enabled: bool,
    /// Sends no text to the user or the model.
    pub quiet: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub breakpoints: Breakpoints,
    /// The window, if the user overrides the client's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Tokens>,
    #[serde(skip_serializing_if = "is_default")]
    pub lines: Lines,
    /// Who makes the checkpoint at the checkpoint threshold.
    #[serde(skip_serializing_if = "is_default")]
    pub on_line: OnLine,
    /// Mirrors the board to a file in the project, for other tools.
    #[serde(skip_serializing_if = "is_default")]
    pub board_file: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub guard: GuardMode,
    /// A ceiling in tokens, for every window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling_tokens: Option<Tokens>,
    /// Skills that the guard never stops, in addition to [`RECOVERY_SKILLS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recovery_skills: Vec<String>,
    /// The command that a warning names, if the user has set one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warn_command: Option<String>,
    /// What a session receives when it begins.
    #[serde(skip_serializing_if = "is_default")]
    pub restore: RestoreMode,
    /// Maximum tokens of a restore.
    #[serde(skip_serializing_if = "is_usual_budget")]
    pub restore_budget: Tokens,
    /// How often the watcher checks every transcript (`auto_context.poll_interval_seconds`).
    #[serde(skip_serializing_if = "is_usual_poll_interval")]
    pub poll_interval_seconds: u64,
    /// A command that reviews all sessions in addition to the policy.
    #[serde(skip_serializing_if = "is_default")]
    pub reviewer: ReviewerSettings,
    /// Limits of a run without limits on its command line.
    #[serde(skip_serializing_if = "is_default")]
    pub run: RunSettings,
    #[serde(skip_serializing_if = "is_default")]
    pub batch: BatchSettings,
    /// The user's own models, which take precedence over the table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<(String, ModelSettings)>,
    /// What a team shares. Never cached: the database URL may contain a password, and no hook needs
    /// it.
    #[serde(skip)]
    pub team: Team,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            quiet: false,
            breakpoints: Breakpoints::default(),
            window: None,
            lines: Lines::default(),
            on_line: OnLine::default(),
            board_file: false,
            guard: GuardMode::default(),
            ceiling_tokens: None,
            recovery_skills: Vec::new(),
            warn_command: None,
            restore: RestoreMode::default(),
            restore_budget: RESTORE_BUDGET,
            poll_interval_seconds: POLL_INTERVAL_SECONDS,
            reviewer: ReviewerSettings::default(),
            run: RunSettings::default(),
            batch: BatchSettings::default(),
            models: Vec::new(),
            team: Team::default(),
        }
    }
}

/// The breakpoints that are saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakpoints {
    pub git_commit: bool,
    pub test_result: bool,
}

impl Default for Breakpoints {
    fn default() -> Self {
        Self { git_commit: true, test_result: true }
    }
}

/// Returns whether a value can be omitted from a file.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A user's settings for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSettings {
    pub window: Tokens,
}

/// A problem in a config that makes some keys ineffective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The keys that keep their previous values.
    pub keys: &'static [&'static str],
    /// A sentence for the user.
    pub why: String,
}

impl Settings {
    /// Overrides these settings with those in a config. Returns a complaint for each value that
    /// cannot be used; such values change nothing.
    pub fn take(&mut self, config: &Config) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        self.take_lines(config, &mut complaints);
        self.take_guard(&config.guard);
        self.enabled = config.auto_context.enabled.unwrap_or(self.enabled);
        let seconds = config.auto_context.poll_interval_seconds;
        self.poll_interval_seconds = seconds.map_or(self.poll_interval_seconds, NonZero::get);
        self.quiet = config.quiet.unwrap_or(self.quiet);
        let (hooks, now) = (&config.auto_context.hooks, self.breakpoints);
        self.breakpoints = Breakpoints {
            git_commit: hooks.git_commit.unwrap_or(now.git_commit),
            test_result: hooks.test_result.unwrap_or(now.test_result),
        };
        self.window = config.window.map(NonZero::get).or(self.window);
        if let Some(command) = &config.warn_command {
            self.warn_command = Some(command.clone());
        }
        self.on_line = config.checkpoint.on_line.unwrap_or(self.on_line);
        self.board_file = config.board.coordination_file.unwrap_or(self.board_file);
        self.restore = config.restore.mode.unwrap_or(self.restore);
        self.restore_budget = config.restore.budget.map_or(self.restore_budget, NonZero::get);
        self.reviewer.take(&config.reviewer);
        self.run.take(&config.run);
        self.batch.take(&config.batch);
        if !config.models.is_empty() {
            let settings = |model: &ModelConfig| ModelSettings { window: model.window.get() };
            let models = config.models.iter().map(|(name, model)| (name.clone(), settings(model)));
            self.models = models.collect();
        }
        self.team.take(&config.team);
        complaints
    }

    fn take_guard(&mut self, guard: &GuardConfig) {
        self.guard = guard.mode.unwrap_or(self.guard);
        self.ceiling_tokens = guard.ceiling_tokens.map(NonZero::get).or(self.ceiling_tokens);
        if let Some(skills) = &guard.recovery_skills {
            self.recovery_skills.clone_from(skills);
        }
    }

    fn take_lines(&mut self, config: &Config, complaints: &mut Vec<Complaint>) {
        let (lines, thresholds) = (&config.lines, &config.auto_context.thresholds);
        let now = self.lines;
        let mut either = |keys: &'static [&'static str; 2], line, alias, now| match (line, alias) {
            (Some(line), Some(alias)) if line != alias => {
                complaints.push(two_names(keys, line, alias));
                now
            }
            (line, alias) => line.or(alias).unwrap_or(now),
        };
        let lines = Lines {
            ceiling: lines.ceiling.unwrap_or(now.ceiling),
            checkpoint: lines.checkpoint.unwrap_or(now.checkpoint),
            save: either(&keys::SAVE, lines.save, thresholds.warning, now.save),
            warn: lines.warn.unwrap_or(now.warn),
            restart: either(&keys::RESTART, lines.restart, thresholds.critical, now.restart),
        };
        if lines.save < lines.restart {
            self.lines = lines;
        } else {
            complaints.push(out_of_order(&lines));
        }
    }
}

fn two_names(keys: &'static [&'static str; 2], line: Percent, alias: Percent) -> Complaint {
    let [name, older] = keys;
    let why =
        format!("`{name}` is {line} and its older name `{older}` is {alias}: keep one of them");
    Complaint { keys, why }
}

fn out_of_order(lines: &Lines) -> Complaint {
    let Lines { save, restart, .. } = lines;
    let why = format!("the save line ({save}) must lie below the restart line ({restart})");
    Complaint { keys: &keys::LINES, why }
}

/// Settings from the environment, which override any config.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overrides {
    pub window: Option<Tokens>,
    pub ceiling: Option<Percent>,
    pub ceiling_tokens: Option<Tokens>,
    /// Refuse calls above the ceiling, or only warn.
    pub strict: Option<bool>,
    pub guard_off: bool,
}

impl Settings {
    /// Returns whether the guard always lets the skill called `name` pass.
    pub fn recovers(&self, name: &str) -> bool {
        RECOVERY_SKILLS.contains(&name) || self.recovery_skills.iter().any(|skill| skill == name)
    }

    /// Returns the names of all skills that the guard never stops, built in or configured.
    pub fn allowed_skills(&self) -> Vec<String> {
        let own = self.recovery_skills.iter().map(String::as_str);
        RECOVERY_SKILLS.into_iter().chain(own).map(crate::policy::brief).collect()
    }

    /// Returns whether the user and the model receive no text.
    pub fn is_silent(&self) -> bool {
        self.quiet || !self.enabled
    }

    pub fn saves_commits(&self) -> bool {
        self.enabled && self.breakpoints.git_commit
    }

    pub fn saves_tests(&self) -> bool {
        self.enabled && self.breakpoints.test_result
    }

    /// Returns the maximum tokens of a restore. It is capped because the client does not show
    /// longer texts in full.
    pub fn budget(&self) -> usize {
        const MOST: Tokens = 2_400;
        self.restore_budget.min(MOST) as usize
    }

    /// Overrides these settings with those from the environment.
    pub fn overridden(mut self, by: &Overrides) -> Self {
        self.window = by.window.or(self.window);
        self.lines.ceiling = by.ceiling.unwrap_or(self.lines.ceiling);
        self.ceiling_tokens = by.ceiling_tokens.or(self.ceiling_tokens);
        self.guard = match (by.guard_off, by.strict, self.guard) {
            (true, ..) => GuardMode::Off,
            (false, Some(true), _) => GuardMode::Strict,
            (false, Some(false), GuardMode::Strict) => GuardMode::Warn,
            (false, _, mode) => mode,
        };
        self
    }
}

#[cfg(test)]
mod tests;
