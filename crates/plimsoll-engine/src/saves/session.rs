//! Saves of a session: a checkpoint of its work, and the fields taken from it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_agents::Agent;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::event::SessionId;
use plimsoll_extract::save::{self, NewSave};

use crate::capture::{Captured, Subject};
use crate::checkpoint::{Place, Sealed};
use crate::jsonl::JsonLines;
use crate::load;
use crate::paths;
use crate::resume;
use crate::settings;
use crate::spool;
use crate::world::World;

/// A session's save, with the checkpoint sealed for it.
pub struct Told {
    pub save: NewSave,
    pub sealed: Sealed,
}

/// Fills a save from a session's transcript: seals a checkpoint in the session's project, takes
/// missing fields from that, and records the checkpoint for the session's hooks.
pub fn of_session(
    world: &World,
    agent: &'static dyn Agent,
    session: &SessionId,
    transcript: &Path,
    save: NewSave,
    occasion: Occasion,
) -> anyhow::Result<Told> {
    let state = spool::state(&world.paths.spool_of(session, None)).unwrap_or_default();
    let place = Place::of(world, agent, project(world, agent, transcript)?);
    let in_force = &settings::load(world, agent, &place.project);
    let subject = Subject { session, transcript, state: &state, in_force };
    let captured = Captured::read(world, agent, &subject, None);
    let sealed = captured
        .seal(agent, &place, occasion, state.given.clone())
        .context("could not make a checkpoint")?;
    // If this fails, only the status line shows too high an age.
    let _ = captured.remember(world, &sealed);
    let save = of_captured(save, session, &captured, &place.project, Some(&sealed.meta.id));
    Ok(Told { save, sealed })
}

/// Fills a save from captured work.
pub(crate) fn of_captured(
    save: NewSave,
    session: &SessionId,
    captured: &Captured,
    project: &Path,
    checkpoint: Option<&str>,
) -> NewSave {
    NewSave {
        project: Some(project.to_string_lossy().into_owned()),
        session: Some(session.to_string()),
        checkpoint: checkpoint.map(str::to_owned),
        ..save.or(save::from_checkpoint(captured.body()))
    }
}

fn project(world: &World, agent: &'static dyn Agent, transcript: &Path) -> anyhow::Result<PathBuf> {
    let file = JsonLines::open(transcript).context("could not open the transcript")?;
    let first = file.as_ref().and_then(|file| load::first_folder(agent, file));
    let project = first.filter(|folder| folder.is_dir());
    match project {
        Some(project) => Ok(paths::canonical(&project)),
        None => load::project_here(world).context("could not find the current folder"),
    }
}

/// Fills a save with the project, the session that this process runs in, and that session's last
/// checkpoint.
#[must_use]
pub fn made_here(world: &World, project: &Path, save: NewSave) -> NewSave {
    made_in(world, project, resume::asking(world), save)
}

/// Like [`made_here`], for a given session.
#[must_use]
pub fn made_in(
    world: &World,
    project: &Path,
    session: Option<SessionId>,
    save: NewSave,
) -> NewSave {
    let state = session.as_ref().map(|id| spool::state(&world.paths.spool_of(id, None)));
    let sealed = state.and_then(Result::ok).and_then(|state| state.sealed);
    NewSave {
        project: Some(project.to_string_lossy().into_owned()),
        session: session.map(|id| id.to_string()),
        checkpoint: sealed.map(|seal| seal.id),
        ..save
    }
}
