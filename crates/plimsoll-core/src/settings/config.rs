//! The format of a config file.
//!
//! The types here decide which values are valid. The table in [`super::keys`] describes them, and a
//! test checks that both agree.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::Deserialize;

use super::team::TeamConfig;
use super::{GuardMode, OnLine, Percent, RestoreMode, SessionPer};

/// A config file. Every key is optional.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub(super) lines: LinesConfig,
    pub(super) checkpoint: CheckpointConfig,
    pub(super) board: BoardConfig,
    pub(super) guard: GuardConfig,
    pub(super) quiet: Option<bool>,
    pub(super) window: Option<NonZeroU64>,
    pub(super) warn_command: Option<String>,
    pub(super) restore: RestoreConfig,
    pub(super) reviewer: ReviewerConfig,
    pub(super) run: RunConfig,
    pub(super) batch: BatchConfig,
    pub(super) models: BTreeMap<String, ModelConfig>,
    pub(super) auto_context: AutoContextConfig,
    pub(super) team: TeamConfig,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub(super) struct LinesConfig {
    pub(super) ceiling: Option<Percent>,
    pub(super) checkpoint: Option<Percent>,
    pub(super) save: Option<Percent>,
    pub(super) warn: Option<Percent>,
    pub(super) restart: Option<Percent>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub(super) struct CheckpointConfig {
    pub(super) on_line: Option<OnLine>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub(super) struct BoardConfig {
    pub(super) coordination_file: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub(super) struct GuardConfig {
    pub(super) mode: Option<GuardMode>,
    pub(super) ceiling_tokens: Option<NonZeroU64>,
    pub(super) recovery_skills: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub(super) struct RestoreConfig {
    pub(super) mode: Option<RestoreMode>,
    pub(super) budget: Option<NonZeroU64>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub(super) struct ReviewerConfig {
    pub(super) command: Option<Vec<String>>,
    pub(super) second_command: Option<Vec<String>>,
    pub(super) interval_seconds: Option<NonZeroU64>,
    pub(super) most_per_day: Option<NonZeroU64>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub(super) struct RunConfig {
    pub(super) max_sessions: Option<NonZeroU64>,
    pub(super) max_tokens: Option<NonZeroU64>,
    pub(super) max_minutes: Option<NonZeroU64>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub(super) struct BatchConfig {
    pub(super) budget: Option<NonZeroU64>,
    pub(super) command: Option<Vec<String>>,
    pub(super) session: Option<SessionPer>,
    pub(super) at_once: Option<NonZeroU64>,
    pub(super) retries: Option<u64>,
    pub(super) max_failures: Option<NonZeroU64>,
    pub(super) max_sessions: Option<NonZeroU64>,
    pub(super) max_tokens: Option<NonZeroU64>,
    pub(super) max_minutes: Option<NonZeroU64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub(super) struct ModelConfig {
    pub(super) window: NonZeroU64,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub(super) struct AutoContextConfig {
    pub(super) enabled: Option<bool>,
    pub(super) thresholds: ThresholdsConfig,
    pub(super) hooks: HooksConfig,
    pub(super) poll_interval_seconds: Option<NonZeroU64>,
}

/// The breakpoints that are saved.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub(super) struct HooksConfig {
    pub(super) git_commit: Option<bool>,
    pub(super) test_result: Option<bool>,
}

/// The older names of two thresholds: `warning` is `lines.save`, `critical` is `lines.restart`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub(super) struct ThresholdsConfig {
    pub(super) warning: Option<Percent>,
    pub(super) critical: Option<Percent>,
}
