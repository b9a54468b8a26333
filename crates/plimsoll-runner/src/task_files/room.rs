//! The room that a session has for work on a plan.

use std::path::Path;

use plimsoll_agents::Agent;
use plimsoll_core::Tokens;
use plimsoll_core::policy::Levels;
use plimsoll_engine::history;
use plimsoll_engine::load::Measured;
use plimsoll_engine::settings::{self, InForce};
use plimsoll_engine::world::World;
use plimsoll_store::{FirstPromptRow, Store};

use crate::batch::Room;

/// The room in a session, and where the figures come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRoom {
    pub room: Room,
    /// Source of the budget, for display.
    pub source: &'static str,
    /// Model whose tokens are counted.
    pub model: Option<String>,
}

/// Number of newest sessions that show how full a fresh session is.
const SAMPLED_SESSIONS: u32 = 5;

/// Returns the room in `session`, else in a fresh session of the project.
pub fn find_room(
    world: &World,
    agent: &'static dyn Agent,
    store: Option<&Store>,
    project: &Path,
    session: Option<&Measured>,
) -> SessionRoom {
    let in_force = settings::load(world, agent, project);
    match session {
        Some(measured) => in_session(&in_force, measured),
        None => {
            let beginnings =
                store.and_then(|store| store.first_prompts(project, SAMPLED_SESSIONS).ok());
            in_fresh_session(&in_force, &beginnings.unwrap_or_default())
        }
    }
}

fn in_session(in_force: &InForce, measured: &Measured) -> SessionRoom {
    let (used, window) = (measured.reading.used, measured.window);
    let model = measured.model.clone();
    match in_force.settings.batch.budget {
        None if window.source.is_guess() => {
            let room = Room::of_unknown_window(used as f64 / window.tokens.max(1) as f64);
            SessionRoom { room, source: SOURCE_UNKNOWN, model }
        }
        budget => session_room(budget, window.tokens, used, measured.levels.restart, model),
    }
}

fn in_fresh_session(in_force: &InForce, beginnings: &[FirstPromptRow]) -> SessionRoom {
    let budget = in_force.settings.batch.budget;
    let Some(newest) = beginnings.first() else {
        let room =
            budget.map_or(Room::of_unknown_window(0.0), |budget| Room::new(budget, 0, budget));
        let source = if budget.is_some() { SOURCE_SETTING } else { SOURCE_UNKNOWN };
        return SessionRoom { room, source, model: None };
    };
    let mut firsts: Vec<Tokens> = beginnings.iter().map(|row| row.first).collect();
    firsts.sort_unstable();
    let first = firsts[firsts.len() / 2];
    let (window, trigger) =
        history::bounds(in_force, Some(&newest.model), newest.version.as_deref(), newest.largest);
    let levels = Levels::of(&in_force.settings.lines, window.tokens).clear_of(trigger.tokens(), 0);
    let model = Some(newest.model.clone());
    match budget {
        None if window.source.is_guess() => {
            SessionRoom { room: Room::of_unknown_window(0.0), source: SOURCE_UNKNOWN, model }
        }
        budget => session_room(budget, window.tokens, first, levels.restart, model),
    }
}

const SOURCE_SETTING: &str = "batch.budget";
const SOURCE_WINDOW: &str = "window";
const SOURCE_UNKNOWN: &str = "window unknown";

fn session_room(
    budget: Option<Tokens>,
    window: Tokens,
    reading: Tokens,
    restart: Tokens,
    model: Option<String>,
) -> SessionRoom {
    let source = if budget.is_some() { SOURCE_SETTING } else { SOURCE_WINDOW };
    SessionRoom { room: Room::new(budget.unwrap_or(window), reading, restart), source, model }
}
