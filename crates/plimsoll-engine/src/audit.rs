//! Does automatic compaction fire where it is configured?

mod since;

use std::collections::HashSet;
use std::path::Path;

use plimsoll_agents::Adapter;
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

/// What is configured for a model and client version, and what was seen of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The model.
    pub model: String,
    /// The client's version.
    pub version: String,
    /// Sessions held with them; those of subagents are not counted.
    pub sessions: u64,
    /// The window.
    pub window: Window,
    /// Where the client is configured to compact, in the folder that was asked about.
    pub configured: Trigger,
    /// The setting that decides it, as the user writes it.
    pub setting: Option<String>,
    /// The newest automatic compactions, oldest first.
    pub seen: Vec<Seen>,
    /// Where we take it to compact, the compactions considered.
    pub trigger: Trigger,
    /// What the compactions say.
    pub verdict: Verdict,
}

/// One automatic compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When.
    pub time: Millis,
    /// What the window held.
    pub tokens: Tokens,
}

/// Audits every model and client version that was seen, with the settings in force in `project`;
/// those used last come first.
pub fn audit(
    world: &World,
    adapter: &dyn Adapter,
    store: &Store,
    project: &Path,
) -> anyhow::Result<Vec<Finding>> {
    let in_force = settings::load(world, adapter, project);
    let changed = Look::take(world, adapter, project).remember(store)?;
    let compactions = store.newest_automatic()?;
    let found = clients(store.clients()?, &compactions);
    let finding = |client: ClientRow| {
        let of_it = |row: &&CompactionRow| {
            row.model.as_deref() == Some(&client.model)
                && row.version.as_deref() == Some(&client.version)
        };
        let seen = compactions
            .iter()
            .filter(of_it)
            .filter_map(|row| Some(Seen { time: row.time, tokens: row.tokens_before? }));
        finding(adapter, &in_force, changed, client.clone(), seen.collect())
    };
    Ok(found.into_iter().map(finding).collect())
}

/// The models and versions of all sessions, and those that only a subagent was seen with.
fn clients(mut clients: Vec<ClientRow>, compactions: &[CompactionRow]) -> Vec<ClientRow> {
    let mut known: HashSet<(String, String)> =
        clients.iter().map(|row| (row.model.clone(), row.version.clone())).collect();
    for row in compactions.iter().rev() {
        let (Some(model), Some(version)) = (row.model.clone(), row.version.clone()) else {
            continue;
        };
        if known.insert((model.clone(), version.clone())) {
            clients.push(ClientRow { model, version, sessions: 0, last_seen: row.time });
        }
    }
    clients.sort_by_key(|row| std::cmp::Reverse(row.last_seen));
    clients
}

fn finding(
    adapter: &dyn Adapter,
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
        setting: setting.map(|setting| written(adapter, setting, &in_force.client, model)),
        trigger: trigger::resolve(window.tokens, Some(model), &in_force.client, &tokens),
        verdict: audit::judge(configured, &tokens, since),
        model: client.model,
        version: client.version,
        sessions: client.sessions,
        seen,
    }
}

/// The window of a model's variant, of which a prompt of `largest` tokens was seen.
pub(crate) fn window_of(in_force: &InForce, variant: &str, largest: Tokens) -> Window {
    windows_of(in_force, variant, largest).0
}

/// The same, and the window from which the client's trigger follows.
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

/// A setting with its value, as the user would write it.
fn written(
    adapter: &dyn Adapter,
    setting: ClientSetting,
    client: &ClientSettings,
    model: &str,
) -> String {
    let name = adapter.setting_name(setting);
    match setting {
        ClientSetting::AutoCompact => name.to_owned(),
        ClientSetting::Percent => format!("{name}={}", client.compact_percent.unwrap_or_default()),
        ClientSetting::ForcedWindow | ClientSetting::ModelWindow | ClientSetting::Window => {
            format!("{name}={}", client.compact_window(Some(model)).map_or(0, |(tokens, _)| tokens))
        }
    }
}
