//! A save, made by a hook: of a nearly full window, of a commit in the tool stream.

use std::path::Path;

use plimsoll_core::breakpoint::Breakpoint;
use plimsoll_extract::save::templates::{self, Commit, NearlyFullWindow};
use plimsoll_extract::save::{NewSave, SaveEnvironment};

use super::Hook;
use crate::capture::Captured;
use crate::saves;
use crate::settings::InForce;
use crate::spool::SpoolLine;

/// What a save is made of.
pub(super) struct Keeping<'a> {
    pub(super) hook: &'a Hook<'a>,
    pub(super) captured: &'a Captured,
    pub(super) project: &'a Path,
}

impl Keeping<'_> {
    /// Saves the session of a nearly full window; gives where, once that is on the disk.
    pub(super) fn full(&self, line: &SpoolLine) -> Option<SaveEnvironment> {
        let environment = self.environment();
        let plain = templates::full_window_save(
            environment.clone(),
            NearlyFullWindow { used: line.used, window: line.window },
        );
        let bare =
            NewSave { task: String::new(), context: None, next_steps: None, ..plain.clone() };
        self.keep(self.told(bare, line).or(plain)).then_some(environment)
    }

    /// Saves the commit that the tool stream has just told of. Where git's own hook has saved it
    /// before, this adds the session and the checkpoint.
    pub(super) fn commit(&self, in_force: &InForce, line: &SpoolLine) {
        let Some(Breakpoint::Commit { sha: Some(sha), message, branch, files }) =
            &self.hook.event.breakpoint
        else {
            return;
        };
        if !in_force.settings.saves_commits() {
            return;
        }
        let commit = Commit {
            sha,
            message: message.as_deref().unwrap_or_default(),
            branch: branch.as_deref().unwrap_or_default(),
            files: files.unwrap_or(0).into(),
        };
        self.keep(self.told(templates::commit_save(self.environment(), &commit), line));
    }

    fn told(&self, save: NewSave, line: &SpoolLine) -> NewSave {
        let checkpoint = line.state.sealed.as_ref().map(|seal| seal.id.as_str());
        let session = &self.hook.event.session;
        saves::of_captured(save, session, self.captured, self.project, checkpoint)
    }

    /// A name that makes no sense counts as absent.
    fn environment(&self) -> SaveEnvironment {
        saves::environment(self.hook.world, None).unwrap_or_default()
    }

    /// Whether it is on the disk. Whatever fails is logged: the agent goes on.
    fn keep(&self, save: NewSave) -> bool {
        let kept = saves::keep(&self.hook.world.paths, vec![save], saves::BRIEFLY);
        if let Err(error) = &kept {
            crate::log::write(&self.hook.world.paths.log(), &format!("could not save: {error}"));
        }
        kept.is_ok()
    }
}
