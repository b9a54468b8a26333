//! Whom a message is for: a session, everybody in a project, everybody.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use plimsoll_agents::Adapter;
use plimsoll_core::event::SessionId;
use plimsoll_core::name::is_meant;

use crate::paths;
use crate::running::running;
use crate::sessions::{self, Found};
use crate::spool;
use crate::world::World;

/// A session that a message is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The session.
    pub session: SessionId,
    /// The project it works on.
    pub project: Option<PathBuf>,
}

/// Why nobody can be found.
#[derive(Debug, thiserror::Error)]
pub enum NoRecipient {
    /// Nobody is called so.
    #[error("{}", unknown(.0))]
    Unknown(String),
    /// Several are.
    #[error("`{name}` stands for several sessions: {}", among.join(", "))]
    Several {
        /// What was asked for.
        name: String,
        /// Some of them.
        among: Vec<String>,
    },
    /// The sessions cannot be looked at.
    #[error("could not look for sessions")]
    Unseen(#[source] anyhow::Error),
}

/// What everybody is called.
pub const ALL: &str = "all";

fn unknown(name: &str) -> String {
    match name {
        ALL => "no other session runs".to_owned(),
        _ => format!("no session, and no project with a running session, is called `{name}`"),
    }
}

/// How long ago a session may have written that counts as one that runs.
pub const LATELY: Duration = Duration::from_secs(600);

/// The sessions that `name` stands for: `all` that run, those that run in a project (by its path or
/// the name of its folder), or one by what people call it, whether it runs or not. Who asks is
/// not among those of a project.
pub fn recipients(
    world: &World,
    adapter: &dyn Adapter,
    name: &str,
    asks: Option<&SessionId>,
) -> Result<Vec<Recipient>, NoRecipient> {
    let found = sessions::find(world, adapter).map_err(NoRecipient::Unseen)?;
    if let Some(one) = by_name(&found, name)? {
        return Ok(vec![recipient(adapter, one)]);
    }
    let alive = alive(world, adapter, &found).into_iter().map(|found| recipient(adapter, found));
    let is_meant = |recipient: &Recipient| {
        is_among(name, recipient.project.as_deref()) && Some(&recipient.session) != asks
    };
    let meant: Vec<Recipient> = alive.filter(is_meant).collect();
    match meant.is_empty() {
        true => Err(NoRecipient::Unknown(name.to_owned())),
        false => Ok(meant),
    }
}

/// Whether `name` stands for everybody who works on `project`: it is `all`, its path or a folder's above
/// it, or the name of its folder.
pub fn is_among(name: &str, project: Option<&Path>) -> bool {
    let path = paths::canonical(Path::new(name));
    let is_named = project.and_then(Path::file_name).is_some_and(|folder| folder == name);
    let is_at = path.is_absolute() && project.is_some_and(|project| project.starts_with(&path));
    name == ALL || is_named || is_at
}

/// The one session that is meant; of those with several transcripts the newest.
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

fn recipient(adapter: &dyn Adapter, found: &Found) -> Recipient {
    let project = sessions::project(adapter, found);
    Recipient { session: found.owner.session.clone(), project }
}

/// The sessions that run, or have written lately and have not said that they are over.
fn alive<'f>(world: &World, adapter: &dyn Adapter, found: &'f [Found]) -> Vec<&'f Found> {
    let running = running(world, adapter);
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
