//! Fills saves from the agent's session.

use std::path::Path;

use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::event::SessionId;
use plimsoll_engine::git;
use plimsoll_engine::saves::{made_in, of_session};
use plimsoll_engine::sessions::{self, Found};
use plimsoll_extract::save::NewSave;

use super::Problem;
use super::usage::parse_session_id;
use crate::live::LiveReading;
use crate::state::{App, AppState};

/// The session that a request refers to, by id or by transcript; possibly none.
#[derive(Debug, Default)]
pub(super) struct SessionRef {
    pub(super) session: Option<String>,
    pub(super) transcript: Option<String>,
}

impl SessionRef {
    pub(super) fn is_none(&self) -> bool {
        self.session.is_none() && self.transcript.is_none()
    }

    /// Finds the session's transcript. Only files known as the agent's transcripts are read.
    pub(super) fn find(&self, app: &App) -> Result<Option<Found>, Problem> {
        let session = self.session.as_deref().map(parse_session_id).transpose()?;
        let found = match (&self.transcript, &session) {
            (Some(path), _) => sessions::at(&app.world, Path::new(path)),
            (None, Some(session)) => sessions::find_one(&app.world, session),
            (None, None) => return Ok(None),
        };
        let found = found
            .filter(|found| session.as_ref().is_none_or(|session| found.owner.session == *session));
        found.map(Some).ok_or_else(|| unknown(self))
    }
}

fn unknown(meant: &SessionRef) -> Problem {
    let (what, hint) = match meant.transcript {
        Some(_) => (
            "`transcript_path` is no transcript of an agent's session",
            "give the path that the agent's hook was given",
        ),
        None => (
            "no such session is known here",
            "`plimsoll status --all` names the sessions there are",
        ),
    };
    Problem::not_found(what, hint)
}

/// Fills `save` from the session's transcript. Returns `plain` with the session's id if the
/// transcript yields no task.
///
/// Seals a checkpoint in the session's project, if that folder still exists.
pub(super) async fn fill_from_session(
    app: &AppState,
    meant: SessionRef,
    save: NewSave,
    plain: NewSave,
    occasion: Occasion,
) -> Result<NewSave, Problem> {
    app.blocking(move |app| {
        let Some(found) = meant.find(app)? else { return Ok(plain) };
        let session = Some(found.owner.session.to_string());
        let project = sessions::project(&found).filter(|project| project.is_dir());
        let told = project.map(|_| {
            let id = &found.owner.session;
            of_session(&app.world, found.agent, id, &found.path, save, occasion)
        });
        match told {
            Some(Ok(told)) if !told.save.task.trim().is_empty() => Ok(told.save),
            Some(Err(error)) => {
                app.log.message(&format!("a session was saved without its contents: {error:#}"));
                Ok(NewSave { session, ..plain })
            }
            _ => Ok(NewSave { session, ..plain }),
        }
    })
    .await
}

/// Adds to a commit's save the session that was working in the repository.
///
/// The report of a commit does not say where it was made, so this looks for a live session's
/// project whose `HEAD` is the commit. In that project the session that wrote last is chosen; none
/// if two wrote at the same moment.
pub(super) fn attach_live_session(app: &App, sha: &str, save: NewSave) -> NewSave {
    /// Maximum number of projects to check.
    const PROJECTS: usize = 8;
    let mut live: Vec<LastWrite> = Vec::new();
    for LiveReading { of, project, .. } in app.live.windows().values() {
        if of.subagent.is_none() {
            live.push((of.at.clone(), project.clone(), of.session.clone()));
        }
    }
    live.sort_by(|one, other| other.cmp(one));
    let mut projects: Vec<&str> = Vec::new();
    for (_, project, _) in &live {
        if !projects.contains(&project.as_str()) {
            projects.push(project);
        }
    }
    let is_there =
        |project: &&&str| git::at(Path::new(project)).is_ok_and(|at| at.starts_with(sha));
    let Some(project) = projects.iter().take(PROJECTS).find(is_there) else { return save };
    let mut there = live.iter().filter(|(_, its, _)| its == project);
    let last = there.next().filter(|last| there.next().is_none_or(|next| next.0 != last.0));
    let session = last.and_then(|(_, _, session)| SessionId::new(session));
    made_in(&app.world, Path::new(project), session, save)
}

/// Time of a session's last write, its project, its id.
type LastWrite = (String, String, String);
