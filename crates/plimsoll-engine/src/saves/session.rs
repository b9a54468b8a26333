//! The save of a session: a checkpoint of its work, and what that tells.

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

/// What a session's save says, with the checkpoint that was sealed for it.
pub struct Told {
    /// The save, to be kept.
    pub save: NewSave,
    /// The checkpoint that it points to.
    pub sealed: Sealed,
}

/// Fills a save from a session's transcript: seals a checkpoint of it in its project, and takes from
/// that what the save lacks. The hooks of the session know of the checkpoint then.
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
    // Without it only the age that its status line shows is too high.
    let _ = captured.remember(world, &sealed);
    let save = of_captured(save, session, &captured, &place.project, Some(&sealed.meta.id));
    Ok(Told { save, sealed })
}

/// The save of a session, with its checkpoint.
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

/// A save that is made in a project, with the session that this runs in and that one's last checkpoint,
/// if there is one.
#[must_use]
pub fn made_here(world: &World, project: &Path, save: NewSave) -> NewSave {
    made_in(world, project, resume::asking(world), save)
}

/// The same of a session that is known.
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
