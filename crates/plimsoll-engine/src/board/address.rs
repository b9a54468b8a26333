//! Recipients of a message: one session, all running sessions of a project, or all running
//! sessions.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use plimsoll_core::event::SessionId;
use plimsoll_core::name::is_meant;

use crate::paths;
use crate::running::running;
use crate::sessions::{self, Found};
use crate::spool;
use crate::world::World;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    pub session: SessionId,
    /// Project that the session works on.
    pub project: Option<PathBuf>,
}

/// Reason why a name has no recipient.
#[derive(Debug, thiserror::Error)]
pub enum NoRecipient {
    /// No session or project has this name.
    #[error("{}", unknown(.0))]
    Unknown(String),
    /// Several sessions match the name.
    #[error("`{name}` stands for several sessions: {}", among.join(", "))]
    Several {
        /// The requested name.
        name: String,
        /// Up to three of the matches.
        among: Vec<String>,
    },
    /// Listing the sessions failed.
    #[error("could not look for sessions")]
    Unseen(#[source] anyhow::Error),
}

/// Name that addresses every running session.
pub const ALL: &str = "all";

fn unknown(name: &str) -> String {
    match name {
        ALL => "no other session runs".to_owned(),
        _ => format!("no session, and no project with a running session, is called `{name}`"),
    }
}

/// A session that wrote within this time counts as running.
pub const LATELY: Duration = Duration::from_secs(600);

/// Returns the sessions that `name` addresses: `all` running ones, those running in a project (by
/// path or folder name), or one session by id or short id, running or not. The asking session
/// `asks` is left out unless it is named itself.
pub fn recipients(
    world: &World,
    name: &str,
    asks: Option<&SessionId>,
) -> Result<Vec<Recipient>, NoRecipient> {
    let found = sessions::find(world).map_err(NoRecipient::Unseen)?;
    if let Some(one) = by_name(&found, name)? {
        return Ok(vec![recipient(one)]);
    }
    let alive = alive(world, &found).into_iter().map(recipient);
    let is_meant = |recipient: &Recipient| {
        is_among(name, recipient.project.as_deref()) && Some(&recipient.session) != asks
    };
    let meant: Vec<Recipient> = alive.filter(is_meant).collect();
    match meant.is_empty() {
        true => Err(NoRecipient::Unknown(name.to_owned())),
        false => Ok(meant),
    }
}

/// Reports whether `name` addresses all sessions of `project`: it is `all`, the name of the
/// project's folder, or the path of the project or of a folder above it.
pub fn is_among(name: &str, project: Option<&Path>) -> bool {
    let path = paths::canonical(Path::new(name));
    let is_named = project.and_then(Path::file_name).is_some_and(|folder| folder == name);
    let is_at = path.is_absolute() && project.is_some_and(|project| project.starts_with(&path));
    name == ALL || is_named || is_at
}

/// Returns the session that `name` identifies, with its newest transcript if there are several.
fn by_name<'f>(found: &'f [Found], name: &str) -> Result<Option<&'f Found>, NoRecipient> {
    const SOME: usize = 3;
    let is_meant = |found: &&Found| is_meant(found.owner.session.as_str(), name);
    let mut meant: Vec<&Found> = found.iter().filter(is_meant).collect();
    if let Some(exact) = meant.iter().find(|found| found.owner.session.as_str() == name) {
        return Ok(Some(exact));
    }
    meant.dedup_by_key(|found| &found.owner.session);
    match meant[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => {
            let among = meant.iter().take(SOME).map(|found| found.owner.session.to_string());
            Err(NoRecipient::Several { name: name.to_owned(), among: among.collect() })
        }
    }
}

fn recipient(found: &Found) -> Recipient {
    let project = sessions::project(found);
    Recipient { session: found.owner.session.clone(), project }
}

/// Returns the sessions that run, or that wrote recently and have not ended.
fn alive<'f>(world: &World, found: &'f [Found]) -> Vec<&'f Found> {
    let running = running(world);
    let is_over = |session: &SessionId| {
        let last = spool::last(&world.paths.spool_of(session, None)).ok().flatten();
        last.is_some_and(|line| line.what == spool::ENDED)
    };
    let is_recent = |found: &Found| {
        SystemTime::now().duration_since(found.modified).is_ok_and(|age| age < LATELY)
    };
    let is_alive = |found: &&Found| {
        let session = &found.owner.session;
        running.contains(session) || is_recent(found) && !is_over(session)
    };
    found.iter().filter(is_alive).collect()
}
