//! A save, made by a hook: of a nearly full window, or of a commit in the tool stream.

use std::path::Path;

use plimsoll_core::Tokens;
use plimsoll_core::breakpoint::Breakpoint;
use plimsoll_extract::save::templates::{self, Commit, NearlyFullWindow};
use plimsoll_extract::save::{NewSave, SaveEnvironment};

use super::Hook;
use crate::capture::Captured;
use crate::saves;

/// What a save is made of.
pub(super) struct Saving<'a> {
    pub(super) hook: &'a Hook<'a>,
    pub(super) captured: &'a Captured,
    pub(super) project: &'a Path,
    /// The session's last checkpoint.
    pub(super) checkpoint: Option<&'a str>,
}

impl Saving<'_> {
    /// Saves the session of a nearly full window. Returns whether that is on the disk.
    pub(super) fn session(&self, used: Tokens, window: Tokens) -> bool {
        let plain =
            templates::full_window_save(self.environment(), NearlyFullWindow { used, window });
        let bare =
            NewSave { task: String::new(), context: None, next_steps: None, ..plain.clone() };
        self.write(self.with_content(bare).or(plain))
    }

    /// Saves the commit that a tool has just made. If git's own hook has saved it before, this adds the
    /// session and the checkpoint.
    pub(super) fn commit(&self) {
        let Some(Breakpoint::Commit { sha: Some(sha), message, branch, files }) =
            &self.hook.event.breakpoint
        else {
            return;
        };
        let commit = Commit {
            sha,
            message: message.as_deref().unwrap_or_default(),
            branch: branch.as_deref().unwrap_or_default(),
            files: files.unwrap_or(0).into(),
        };
        self.write(self.with_content(templates::commit_save(self.environment(), &commit)));
    }

    fn with_content(&self, save: NewSave) -> NewSave {
        let session = &self.hook.event.session;
        saves::of_captured(save, session, self.captured, self.project, self.checkpoint)
    }

    fn environment(&self) -> SaveEnvironment {
        self.hook.environment()
    }

    /// Returns whether the save is on the disk. Whatever fails is logged.
    fn write(&self, save: NewSave) -> bool {
        let written = saves::keep(&self.hook.world.paths, vec![save], saves::BRIEFLY);
        if let Err(error) = &written {
            self.hook.log(&anyhow::anyhow!("could not save: {error}"));
        }
        written.is_ok()
    }
}

impl Hook<'_> {
    /// Returns the environment that saves are filed under. A name that makes no sense counts as absent.
    pub(super) fn environment(&self) -> SaveEnvironment {
        saves::environment(self.world, None).unwrap_or_default()
    }
}
