//! Compares where automatic compaction is configured with where it was observed.

mod since;

use std::collections::HashSet;
use std::path::Path;

use plimsoll_agents::{Agent, of_session};
use plimsoll_core::audit::{self, SettingsSince, Verdict};
use plimsoll_core::models;
use plimsoll_core::settings::{ClientSetting, ClientSettings};
use plimsoll_core::trigger::{self, Trigger};
use plimsoll_core::window::{self, Window, WindowFacts};
use plimsoll_core::{Millis, Tokens};
use plimsoll_store::{ClientRow, CompactionRow, Store};

pub use self::since::Look;
use crate::settings::{self, InForce};
use crate::world::World;

/// Configuration of one model and client version, and the compactions observed with them.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub model: String,
    pub version: String,
    /// Sessions that used this model and version, without subagents.
    pub sessions: u64,
    pub window: Window,
    /// Trigger that the client's settings give in the audited folder.
    pub configured: Trigger,
    /// Setting that decides the trigger, as the user writes it.
    pub setting: Option<String>,
    /// Newest automatic compactions, oldest first.
    pub seen: Vec<Seen>,
    /// Trigger that plimsoll uses, corrected by the observed compactions.
    pub trigger: Trigger,
    pub verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub time: Millis,
    /// Window fill before the compaction.
    pub tokens: Tokens,
}

/// Audits every known model and client version against the effective settings of `project`. The
/// most recently used come first.
pub fn audit(
    world: &World,
    agent: &'static dyn Agent,
    store: &Store,
    project: &Path,
) -> anyhow::Result<Vec<Finding>> {
    let in_force = settings::load(world, agent, project);
    let changed = Look::take(world, agent, project).remember(store)?;
    let mut compactions = store.newest_automatic()?;
    compactions.retain(|row| of_session(&row.session) == Some(agent));
    let mut clients = store.clients()?;
    clients.retain(|row| row.agent == *agent.id());
    let found = with_subagents_only(clients, agent, &compactions);
    let finding = |client: ClientRow| {
        let of_it = |row: &&CompactionRow| {
            row.model.as_deref() == Some(&client.model)
                && row.version.as_deref() == Some(&client.version)
        };
        let seen = compactions
            .iter()
            .filter(of_it)
            .filter_map(|row| Some(Seen { time: row.time, tokens: row.tokens_before? }));
        finding(agent, &in_force, changed, client.clone(), seen.collect())
    };
    Ok(found.into_iter().map(finding).collect())
}

/// Adds models and versions that only a subagent used.
fn with_subagents_only(
    mut clients: Vec<ClientRow>,
    agent: &'static dyn Agent,
    compactions: &[CompactionRow],
) -> Vec<ClientRow> {
    let mut known: HashSet<(String, String)> =
        clients.iter().map(|row| (row.model.clone(), row.version.clone())).collect();
    for row in compactions.iter().rev() {
        let (Some(model), Some(version)) = (row.model.clone(), row.version.clone()) else {
            continue;
        };
        if known.insert((model.clone(), version.clone())) {
            let agent = agent.id().clone();
            clients.push(ClientRow { agent, model, version, sessions: 0, last_seen: row.time });
        }
    }
    clients.sort_by_key(|row| std::cmp::Reverse(row.last_seen));
    clients
}

fn finding(
    agent: &'static dyn Agent,
    in_force: &InForce,
    settings_changed: Millis,
    client: ClientRow,
    seen: Vec<Seen>,
) -> Finding {
    let tokens: Vec<Tokens> = seen.iter().map(|seen| seen.tokens).collect();
    let largest = tokens.iter().copied().max().unwrap_or(0);
    let (_, window) = windows_of(in_force, &client.model, largest);
    let (model, _) = models::of_variant(&client.model);
    let (configured, setting) = trigger::configured(window.tokens, Some(model), &in_force.client);
    let since = match seen.last() {
        Some(newest) if newest.time >= settings_changed => SettingsSince::Unchanged,
        _ => SettingsSince::Changed,
    };
    Finding {
        window,
        configured,
        setting: setting.map(|setting| written(agent, setting, &in_force.client, model)),
        trigger: trigger::resolve(window.tokens, Some(model), &in_force.client, &tokens),
        verdict: audit::judge(configured, &tokens, since),
        model: client.model,
        version: client.version,
        sessions: client.sessions,
        seen,
    }
}

/// Resolves the window of a model variant. `largest` is the largest prompt observed.
pub(crate) fn window_of(in_force: &InForce, variant: &str, largest: Tokens) -> Window {
    windows_of(in_force, variant, largest).0
}

/// Like [`window_of`], with the window from which the client's trigger follows as second value.
pub(crate) fn windows_of(in_force: &InForce, variant: &str, largest: Tokens) -> (Window, Window) {
    let (model, long_context) = models::of_variant(variant);
    let facts = WindowFacts {
        override_tokens: in_force.settings.window,
        model: Some(model),
        long_context,
        largest_prompt: largest,
        ..WindowFacts::default()
    };
    let (models, client) = (&in_force.settings.models, &in_force.client);
    let window = window::resolve(&facts, models, client);
    (window, window::of_client(window, &facts, models, client))
}

/// Formats a setting with its value, as the user would write it.
fn written(
    agent: &'static dyn Agent,
    setting: ClientSetting,
    client: &ClientSettings,
    model: &str,
) -> String {
    let name = agent.client().setting_name(setting);
    match setting {
        ClientSetting::AutoCompact => name.to_owned(),
        ClientSetting::Percent => format!("{name}={}", client.compact_percent.unwrap_or_default()),
        ClientSetting::ForcedWindow | ClientSetting::ModelWindow | ClientSetting::Window => {
            format!("{name}={}", client.compact_window(Some(model)).map_or(0, |(tokens, _)| tokens))
        }
    }
}
