//! Seals a draft: writes a checkpoint and verifies it on disk.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::event::SessionId;
use plimsoll_core::{Millis, Tokens};
use plimsoll_extract::checkpoint::{
    self, CheckpointProblem, GitState, MAX_BYTES, Meta, SealingKey, TranscriptExtent,
};

use super::folder::{Closed, Folder, Locked, Reserved, is_newer};
use super::key::{self, Unusable};
use super::{Place, ignore, index, list};

/// Content of a checkpoint to be sealed.
#[derive(Clone, Debug)]
pub struct Draft<'b> {
    pub session: SessionId,
    pub occasion: Occasion,
    pub created: Millis,
    /// Whether part of the transcript was left out.
    pub partial: bool,
    /// Checkpoint that was restored into the session, if any: the parent of the session's first
    /// one.
    pub restored: Option<String>,
    pub agent: String,
    pub model: Option<String>,
    /// Window fill, if known.
    pub used: Option<Tokens>,
    pub window: Option<Tokens>,
    /// Git state, if there is a repository.
    pub git: Option<GitState>,
    /// How far the transcript was read, if there is one.
    pub transcript: Option<TranscriptExtent>,
    /// The sections.
    pub body: Cow<'b, str>,
}

/// A checkpoint that was read back and is intact.
#[derive(Clone, Debug)]
pub struct Sealed {
    pub path: PathBuf,
    pub meta: Meta,
    /// Failures to update the index, link or mirror, as sentences.
    pub warnings: Vec<String>,
}

/// Reason why no checkpoint was made. Nothing of it is left on disk.
#[derive(Debug, thiserror::Error)]
pub enum Unsealed {
    /// The caller has to shorten the body.
    #[error("the checkpoint would have {0} bytes, and must stay under {MAX_BYTES}")]
    TooLong(usize),
    /// The draft is not a valid checkpoint.
    #[error("the draft is no checkpoint: {0}")]
    Unfit(CheckpointProblem),
    /// There is no usable key.
    #[error(transparent)]
    Key(#[from] Unusable),
    /// The folder cannot be used.
    #[error(transparent)]
    Closed(#[from] Closed),
    #[error("could not write a checkpoint in `{}`", .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// The file did not read back as written, and was removed.
    #[error("the checkpoint `{}` did not read back as it was written: {problem}", path.display())]
    NotThere { path: PathBuf, problem: CheckpointProblem },
    /// Other processes took every name that was tried.
    #[error("every name tried in `{}` was taken by somebody else", .0.display())]
    Crowded(PathBuf),
}

impl Unsealed {
    /// Returns what the user can do about the error.
    pub fn hint(&self) -> String {
        match self {
            Self::Key(unusable) => unusable.hint(),
            Self::Closed(Closed::Link(path)) => {
                format!("put a real folder in the place of the link `{}`", path.display())
            }
            Self::Closed(Closed::NotAFolder(path)) => {
                format!("move `{}` out of the way", path.display())
            }
            Self::Closed(Closed::Io(path, _)) | Self::Io(path, _) | Self::Crowded(path) => {
                let path = path.display();
                format!("look at `ls -la {path}` and `df {path}`")
            }
            Self::NotThere { .. } => "run the same again".to_owned(),
            Self::TooLong(_) | Self::Unfit(_) => "nothing was written".to_owned(),
        }
    }
}

/// Writes a checkpoint from a draft. The result is on disk and verified.
pub fn seal(place: &Place, draft: &Draft<'_>) -> Result<Sealed, Unsealed> {
    const ATTEMPTS: usize = 8;
    check_draft(draft)?;
    let deadline = place.deadline();
    let key = key::read_or_make(&place.key, deadline)?;
    let folder = Folder::make(place)?;
    for _ in 0..ATTEMPTS {
        let (meta, reserved) = reserve(place, &folder, &key, draft, deadline)?;
        let (meta, text) = key.seal(meta, &draft.body);
        if publish(place, reserved, &text)? {
            read_back(place, &folder, &meta, &text)?;
            let entry = index::Entry::new(place, &meta, checkpoint::summary(&draft.body));
            let warnings = derive(place, &folder, &key, entry, deadline);
            return Ok(Sealed { path: place.file(&meta.id), meta, warnings });
        }
    }
    Err(Unsealed::Crowded(place.path()))
}

/// Checks everything that can be refused before touching the disk.
fn check_draft(draft: &Draft<'_>) -> Result<(), Unsealed> {
    let sections = checkpoint::sections(&draft.body);
    let missing = |name: &&&str| !sections.iter().any(|(known, _)| known == *name);
    if let Some(name) = checkpoint::REQUIRED_SECTIONS.iter().find(missing) {
        return Err(Unsealed::Unfit(CheckpointProblem::MissingSection(name)));
    }
    match draft.body.len() {
        len if len >= MAX_BYTES => Err(Unsealed::TooLong(len)),
        _ => Ok(()),
    }
}

/// Reserves an iteration and an unused id, and creates the temporary file.
fn reserve<'f>(
    place: &Place,
    folder: &'f Folder,
    key: &SealingKey,
    draft: &Draft<'_>,
    deadline: Instant,
) -> Result<(Meta, Reserved<'f>), Unsealed> {
    let failed = |error| Unsealed::Io(place.path(), error);
    let mut locked = folder.lock(deadline).map_err(failed)?;
    let ids = locked.swept().map_err(failed)?;
    let highest = list::last(place, folder, key, &ids, None).map_or(0, |(_, iteration)| iteration);
    let iteration = locked.count().map_err(failed)?.max(highest) + 1;
    locked.set_count(iteration).map_err(failed)?;
    let before = list::last(place, folder, key, &ids, Some(draft.session.as_str()));
    let parent = before.map(|(id, _)| id.to_owned()).or_else(|| draft.restored.clone());
    let (id, reserved) = free_id(&locked, &ids, draft).map_err(failed)?;
    Ok((meta(place, draft, id, iteration, parent), reserved))
}

fn free_id<'f>(
    locked: &Locked<'f>,
    taken: &[String],
    draft: &Draft<'_>,
) -> io::Result<(String, Reserved<'f>)> {
    const MOST: u32 = 10_000;
    for nth in 1..MOST {
        let id = checkpoint::id(draft.created, &draft.session, nth);
        if taken.contains(&id) {
            continue;
        }
        if let Some(reserved) = locked.reserve(&id)? {
            return Ok((id, reserved));
        }
    }
    Err(io::Error::other("too many checkpoints in one second"))
}

fn meta(
    place: &Place,
    draft: &Draft<'_>,
    id: String,
    iteration: u64,
    parent: Option<String>,
) -> Meta {
    Meta {
        id,
        created: draft.created.div_euclid(1000) * 1000,
        occasion: draft.occasion,
        project: place.project.to_string_lossy().into_owned(),
        session_id: draft.session.as_str().to_owned(),
        iteration,
        parent,
        // True because a checkpoint that fails to read back is removed before anyone learns of it.
        verified: true,
        partial: draft.partial,
        agent: Some(draft.agent.clone()),
        model: draft.model.clone(),
        used: draft.used,
        window: draft.window,
        git: draft.git.clone(),
        transcript: draft.transcript.clone(),
        sha256: None,
        mac: None,
    }
}

/// Writes the file and gives it its final name. Returns false if the name is taken.
fn publish(place: &Place, mut reserved: Reserved<'_>, text: &str) -> Result<bool, Unsealed> {
    if text.len() >= MAX_BYTES {
        return Err(Unsealed::TooLong(text.len()));
    }
    let failed = |error| Unsealed::Io(place.path(), error);
    reserved.write(text).map_err(failed)?;
    reserved.publish().map_err(failed)
}

/// Verifies that the file exists at its place with the written content.
fn read_back(place: &Place, folder: &Folder, meta: &Meta, text: &str) -> Result<(), Unsealed> {
    let synced = folder.sync().map_err(|error| CheckpointProblem::Unreadable(error.to_string()));
    // Equal bytes imply a valid hash and MAC, since the text was just sealed.
    let found = synced.and_then(|()| match folder.holds(&meta.id, text)? {
        true if folder.is_at(place) => Ok(()),
        true => Err(CheckpointProblem::Missing),
        false => Err(CheckpointProblem::Edited),
    });
    found.map_err(|problem| {
        // If removal fails too, the file is still in no index.
        let _ = folder.remove(&meta.id);
        Unsealed::NotThere { path: place.file(&meta.id), problem }
    })
}

/// Updates index, link and mirror. Failures become warnings, because the checkpoint itself exists.
fn derive(
    place: &Place,
    folder: &Folder,
    key: &SealingKey,
    entry: index::Entry,
    deadline: Instant,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Err(error) = point(place, folder, key, &entry, deadline) {
        warnings.push(format!("could not bring `latest.md` and the count up to date: {error}"));
    }
    match index::add(place, entry, deadline) {
        Err(error) => warnings.push(format!("the checkpoint is not in the index yet: {error}")),
        Ok(mended) => warnings.extend(mended),
    }
    warnings
}

/// Points `latest.md` to the newest checkpoint and mirrors the highest count. With several
/// processes sealing at once, the result does not depend on their order.
fn point(
    place: &Place,
    folder: &Folder,
    key: &SealingKey,
    entry: &index::Entry,
    deadline: Instant,
) -> io::Result<()> {
    let mut locked = folder.lock(deadline)?;
    let newest = match locked.latest() {
        // The new checkpoint was just verified.
        Some(latest) if !is_newer(&latest, &entry.id) => None,
        _ => list::newest_of(place, folder, Some(key), folder.ids()?, None),
    };
    locked.point_latest_to(newest.as_ref().map_or(&entry.id, |newest| &newest.id))?;
    let count = locked.noted()?.max(entry.iteration);
    let is_new = !locked.is_mirrored();
    locked.mirror_count(count)?;
    if is_new {
        // Harmless if it fails: git shows one more untracked file.
        let _ = ignore::keep_out_of_git(place);
    }
    Ok(())
}
