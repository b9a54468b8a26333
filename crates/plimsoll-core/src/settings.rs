//! What the user has set, and every default.
//!
//! Four layers, later ones win: defaults, the user's config, the project's config, the environment.
//! A project's config may change lines, words and budgets only; whatever could run a command, open
//! a port or name a path comes from the user's own.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::Tokens;

/// A share of a window, in hundredths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Percent(u32);

impl Percent {
    /// So many whole percent.
    pub const fn whole(percent: u32) -> Self {
        Self(percent * 100)
    }

    /// `percent`, if it lies between 0 (not included) and 100.
    pub fn new(percent: f64) -> Option<Self> {
        (percent > 0.0 && percent <= 100.0).then(|| Self((percent * 100.0).round().max(1.0) as u32))
    }

    /// The first token count of `window` that lies at this share or above.
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

/// The configured levels, in percent of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    /// Where loading further agents and skills is advised against, or refused.
    pub ceiling: Percent,
    /// Where a checkpoint is taken.
    pub checkpoint: Percent,
    /// Where saving the session is suggested.
    pub save: Percent,
    /// Where the user and the model are warned.
    pub warn: Percent,
    /// Where the session is saved and a restart suggested.
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

/// What the ceiling guard does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", from = "WrittenMode")]
pub enum GuardMode {
    /// Tells the user and the model.
    #[default]
    Warn,
    /// Refuses the call.
    Strict,
    /// Nothing.
    Off,
}

/// A mode as it is written: YAML takes a bare `off` for a switch.
#[derive(Deserialize)]
#[serde(untagged, expecting = "the guard is `warn`, `strict` or `off`")]
enum WrittenMode {
    Switch(bool),
    Word(ModeWord),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ModeWord {
    Warn,
    Strict,
    Off,
}

impl From<WrittenMode> for GuardMode {
    fn from(written: WrittenMode) -> Self {
        match written {
            WrittenMode::Word(ModeWord::Strict) => Self::Strict,
            WrittenMode::Word(ModeWord::Off) | WrittenMode::Switch(false) => Self::Off,
            WrittenMode::Word(ModeWord::Warn) | WrittenMode::Switch(true) => Self::Warn,
        }
    }
}

/// Skills that lead back under the ceiling: they are never gated.
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

/// Everything in force for one project, the environment aside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Speak and guard at all (`auto_context.enabled`).
    pub enabled: bool,
    /// Keep words away from user and model.
    pub quiet: bool,
    /// The window, where the user knows better than the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Tokens>,
    /// The levels.
    #[serde(skip_serializing_if = "is_default")]
    pub lines: Lines,
    /// What the guard does.
    #[serde(skip_serializing_if = "is_default")]
    pub guard: GuardMode,
    /// A ceiling in tokens, whatever the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling_tokens: Option<Tokens>,
    /// Skills that are never gated, beside [`RECOVERY_SKILLS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recovery_skills: Vec<String>,
    /// The command a warning names, where the user has one of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warn_command: Option<String>,
    /// The user's own models, looked up before the table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<(String, ModelSettings)>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            quiet: false,
            window: None,
            lines: Lines::default(),
            guard: GuardMode::default(),
            ceiling_tokens: None,
            recovery_skills: Vec::new(),
            warn_command: None,
            models: Vec::new(),
        }
    }
}

/// Whether a value need not be written down.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a user says of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// Its context window.
    pub window: Tokens,
}

/// A config file as it is written; every key is optional.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Config {
    window: Option<Tokens>,
    quiet: Option<bool>,
    lines: LinesConfig,
    guard: GuardConfig,
    warn_command: Option<String>,
    models: BTreeMap<String, ModelSettings>,
    auto_context: AutoContextConfig,
    #[serde(flatten)]
    unknown: Unknown,
}

/// Keys that nobody knows: they are named, and the rest of the file counts.
type Unknown = BTreeMap<String, IgnoredAny>;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct LinesConfig {
    ceiling: Option<Percent>,
    checkpoint: Option<Percent>,
    save: Option<Percent>,
    warn: Option<Percent>,
    restart: Option<Percent>,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct GuardConfig {
    mode: Option<GuardMode>,
    ceiling_tokens: Option<Tokens>,
    recovery_skills: Option<Vec<String>>,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct AutoContextConfig {
    enabled: Option<bool>,
    thresholds: ThresholdsConfig,
    #[serde(flatten)]
    unknown: Unknown,
}

/// The levels by their older names: `warning` is `lines.save`, `critical` is `lines.restart`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct ThresholdsConfig {
    warning: Option<Percent>,
    critical: Option<Percent>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl Settings {
    /// Lays the user's and the project's config over the defaults.
    ///
    /// What cannot hold is left at the value before and named in a sentence.
    pub fn resolve(user: Option<&Config>, project: Option<&Config>) -> (Self, Vec<String>) {
        let mut settings = Self::default();
        let mut complaints = Vec::new();
        if let Some(config) = user {
            config.name_unknown(&mut complaints);
            settings.take_lines(config, &mut complaints);
            settings.take_users(config, &mut complaints);
        }
        if let Some(config) = project {
            config.name_unknown(&mut complaints);
            settings.take_lines(config, &mut complaints);
            refuse_users(config, &mut complaints);
        }
        (settings, complaints)
    }

    /// Lines, words and budgets: what any config may change.
    fn take_lines(&mut self, config: &Config, complaints: &mut Vec<String>) {
        let thresholds = &config.auto_context.thresholds;
        let mut pick = |name: &str, line: Option<Percent>, alias: Option<Percent>, now: Percent| {
            match (line, alias) {
                (Some(line), Some(alias)) if line != alias => {
                    complaints.push(format!(
                        "`lines.{name}` is {line} and its alias in `auto_context.thresholds` is {alias}: name one of them"
                    ));
                    now
                }
                (line, alias) => line.or(alias).unwrap_or(now),
            }
        };
        let lines = Lines {
            ceiling: pick("ceiling", config.lines.ceiling, None, self.lines.ceiling),
            checkpoint: pick("checkpoint", config.lines.checkpoint, None, self.lines.checkpoint),
            save: pick("save", config.lines.save, thresholds.warning, self.lines.save),
            warn: pick("warn", config.lines.warn, None, self.lines.warn),
            restart: pick("restart", config.lines.restart, thresholds.critical, self.lines.restart),
        };
        if lines.save >= lines.restart {
            complaints.push(format!(
                "the save line ({}) must lie below the restart line ({})",
                lines.save, lines.restart
            ));
        } else {
            self.lines = lines;
        }
        let cap = positive("guard.ceiling_tokens", config.guard.ceiling_tokens, complaints);
        self.ceiling_tokens = cap.or(self.ceiling_tokens);
        self.quiet = config.quiet.unwrap_or(self.quiet);
        if let Some(command) = &config.warn_command {
            self.warn_command = Some(command.clone());
        }
    }

    /// What only the user's own config may change.
    fn take_users(&mut self, config: &Config, complaints: &mut Vec<String>) {
        self.enabled = config.auto_context.enabled.unwrap_or(self.enabled);
        self.window = positive("window", config.window, complaints).or(self.window);
        self.guard = config.guard.mode.unwrap_or(self.guard);
        if let Some(skills) = &config.guard.recovery_skills {
            self.recovery_skills.clone_from(skills);
        }
        let usable = |(name, model): (&String, &ModelSettings)| {
            let window = positive(&format!("models.{name}.window"), Some(model.window), complaints);
            window.map(|window| (name.clone(), ModelSettings { window }))
        };
        self.models = config.models.iter().filter_map(usable).collect();
    }
}

/// A number of tokens that makes sense.
fn positive(key: &str, tokens: Option<Tokens>, complaints: &mut Vec<String>) -> Option<Tokens> {
    if tokens == Some(0) {
        complaints.push(format!("`{key}` is 0, which no window is: it is ignored"));
    }
    tokens.filter(|tokens| *tokens > 0)
}

impl Config {
    fn name_unknown(&self, complaints: &mut Vec<String>) {
        let Self { lines, guard, auto_context, unknown, .. } = self;
        let thresholds = &auto_context.thresholds.unknown;
        for (prefix, unknown) in [
            ("", unknown),
            ("lines.", &lines.unknown),
            ("guard.", &guard.unknown),
            ("auto_context.", &auto_context.unknown),
            ("auto_context.thresholds.", thresholds),
        ] {
            complaints
                .extend(unknown.keys().map(|key| format!("`{prefix}{key}` is no key we know")));
        }
    }
}

fn refuse_users(config: &Config, complaints: &mut Vec<String>) {
    let named = [
        ("window", config.window.is_some()),
        ("models", !config.models.is_empty()),
        ("guard.mode", config.guard.mode.is_some()),
        ("guard.recovery_skills", config.guard.recovery_skills.is_some()),
        ("auto_context.enabled", config.auto_context.enabled.is_some()),
    ];
    for (key, _) in named.iter().filter(|(_, present)| *present) {
        complaints.push(format!("`{key}` in a project's config is ignored: set it in your own"));
    }
}

/// What the environment says, on top of any config.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overrides {
    /// The window.
    pub window: Option<Tokens>,
    /// The ceiling.
    pub ceiling: Option<Percent>,
    /// A ceiling in tokens.
    pub ceiling_tokens: Option<Tokens>,
    /// Refuse, or only warn.
    pub strict: Option<bool>,
    /// The guard is off.
    pub guard_off: bool,
}

impl Settings {
    /// Whether the skill called `name` leads back under the ceiling.
    pub fn recovers(&self, name: &str) -> bool {
        RECOVERY_SKILLS.contains(&name) || self.recovery_skills.iter().any(|skill| skill == name)
    }

    /// Lays the environment over the config.
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

/// What the agent's client is set to do with its windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientSettings {
    /// Compacts by itself.
    pub auto_compact: bool,
    /// The window its threshold is reckoned from, whatever the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced_compact_window: Option<Tokens>,
    /// The same for single models …
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub model_compact_windows: Vec<(String, Tokens)>,
    /// … and for all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_window: Option<Tokens>,
    /// Lowers the threshold to this percentage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_percent: Option<f64>,
    /// The longest answer it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<Tokens>,
    /// Long-context models get the ordinary window.
    pub disable_long_context: bool,
    /// The window it assumes for models it does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_model_window: Option<Tokens>,
    /// The window it assumes for every model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any_model_window: Option<Tokens>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            auto_compact: true,
            forced_compact_window: None,
            model_compact_windows: Vec::new(),
            compact_window: None,
            compact_percent: None,
            max_output_tokens: None,
            disable_long_context: false,
            unknown_model_window: None,
            any_model_window: None,
        }
    }
}

impl ClientSettings {
    /// The configured window for `model`, and by which setting.
    pub fn compact_window(&self, model: Option<&str>) -> Option<(Tokens, ClientSetting)> {
        let own = |model: &str| {
            let found = self.model_compact_windows.iter().find(|(name, _)| name == model);
            found.map(|(_, window)| *window)
        };
        let by = |setting| move |tokens| (tokens, setting);
        let forced = self.forced_compact_window.map(by(ClientSetting::ForcedWindow));
        forced
            .or_else(|| model.and_then(own).map(by(ClientSetting::ModelWindow)))
            .or_else(|| self.compact_window.map(by(ClientSetting::Window)))
    }
}

/// A setting of the client's that decides where it compacts. Only adapters know its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientSetting {
    /// Whether it compacts by itself.
    AutoCompact,
    /// The percentage that lowers its threshold.
    Percent,
    /// The window its threshold is reckoned from, whatever the model.
    ForcedWindow,
    /// The same for one model.
    ModelWindow,
    /// The same for all models without one of their own.
    Window,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(save: f64, restart: f64) -> Config {
        let lines = LinesConfig {
            save: Percent::new(save),
            restart: Percent::new(restart),
            ..LinesConfig::default()
        };
        Config { lines, ..Config::default() }
    }

    #[test]
    fn a_share_of_a_window_is_reached_exactly() {
        assert_eq!(Percent::whole(80).of(200_000), 160_000);
        assert_eq!(Percent::whole(80).of(199_999), 160_000);
        assert_eq!(Percent::new(79.95).map(|p| p.of(200_000)), Some(159_900));
        for bad in [0.0, -1.0, 100.1, f64::NAN, f64::INFINITY] {
            assert_eq!(Percent::new(bad), None);
        }
    }

    #[test]
    fn a_projects_config_changes_lines_only() {
        let user = Config { window: Some(64_000), ..Config::default() };
        let project = Config {
            window: Some(1),
            guard: GuardConfig { mode: Some(GuardMode::Strict), ..GuardConfig::default() },
            ..lines(60.0, 90.0)
        };
        let (settings, complaints) = Settings::resolve(Some(&user), Some(&project));
        assert_eq!(settings.window, Some(64_000));
        assert_eq!(settings.guard, GuardMode::Warn);
        assert_eq!(settings.lines.restart, Percent::whole(90));
        assert_eq!(complaints.len(), 2);
    }

    #[test]
    fn a_window_of_nothing_is_ignored_and_named() {
        let guard = GuardConfig { ceiling_tokens: Some(0), ..GuardConfig::default() };
        let user = Config { window: Some(0), guard, ..Config::default() };
        let (settings, complaints) = Settings::resolve(Some(&user), None);
        assert_eq!((settings, complaints.len()), (Settings::default(), 2));
    }

    #[test]
    fn lines_that_cannot_hold_are_named_and_left() {
        let (settings, complaints) = Settings::resolve(Some(&lines(90.0, 80.0)), None);
        assert_eq!(settings, Settings::default());
        assert_eq!(complaints, ["the save line (90) must lie below the restart line (80)"]);
    }

    #[test]
    fn the_older_names_of_the_lines_are_understood_but_not_beside_other_values() {
        let thresholds = ThresholdsConfig {
            warning: Some(Percent::whole(65)),
            critical: Some(Percent::whole(85)),
            ..ThresholdsConfig::default()
        };
        let auto_context =
            AutoContextConfig { enabled: Some(false), thresholds, ..AutoContextConfig::default() };
        let alias = Config { auto_context, ..Config::default() };
        let (settings, complaints) = Settings::resolve(Some(&alias), None);
        assert!(!settings.enabled && complaints.is_empty());
        assert_eq!(settings.lines.save, Percent::whole(65));
        let both = Config { lines: lines(60.0, 85.0).lines, ..alias };
        let (settings, complaints) = Settings::resolve(Some(&both), None);
        assert_eq!((settings.lines.save, complaints.len()), (Percent::whole(70), 1));
    }

    #[test]
    fn the_environment_wins() {
        let strict = Overrides { strict: Some(true), ..Overrides::default() };
        assert_eq!(Settings::default().overridden(&strict).guard, GuardMode::Strict);
        let off = Overrides { guard_off: true, ..strict };
        assert_eq!(Settings::default().overridden(&off).guard, GuardMode::Off);
        let pct = Overrides { ceiling: Percent::new(55.0), ..Overrides::default() };
        assert_eq!(Settings::default().overridden(&pct).lines.ceiling, Percent::whole(55));
    }
}
