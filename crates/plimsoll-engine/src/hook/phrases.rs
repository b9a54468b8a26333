//! What the words of a speech depend on: commands that are there, checkpoints that exist, the clock.

use std::path::Path;

use plimsoll_core::Millis;
use plimsoll_core::policy::{
    self, AboveCeiling, Ceiling, Decision, Effect, LONGEST_WITHOUT, Phrases, SealedAt, Speech,
};
use plimsoll_core::session::Seal;
use plimsoll_extract::save::templates;

use super::Hook;
use super::observe::{Observed, SAVE};
use crate::clock;
use crate::install::has_command;
use crate::world::{CEILING_TOKENS_VARIABLE, CEILING_VARIABLE, WINDOW_VARIABLE};

/// Commands that we name if they are there.
const CHECKPOINT: &str = "checkpoint";
const RESTORE: &str = "rs";

impl Hook<'_> {
    /// Finds what the words of a speech depend on. `saved_now` is the checkpoint that this call saved, and
    /// `is_saved` whether it saved the session.
    pub(super) fn find_phrases(
        &self,
        observed: &Observed,
        decision: &Decision,
        speech: &Speech,
        saved_now: Option<&Seal>,
        is_saved: bool,
    ) -> Phrases {
        let sealed = match decision.stops {
            true => saved_now.or(observed.state.sealed.as_ref()),
            // A checkpoint that was there before is worth a word.
            false => observed.state.sealed.as_ref(),
        };
        let sealed = self.fresh_checkpoint(observed, sealed);
        let saves = decision.effects.contains(&Effect::SaveSession);
        let names_save = if saves { is_saved } else { speech.names_save() };
        Phrases {
            command: self.command(observed, speech, sealed.is_some()),
            clear_command: self.agent.profile().clear_command,
            window_variable: WINDOW_VARIABLE,
            ceiling_setting: self.ceiling_setting(speech),
            sealed,
            restart_command: names_save.then(|| self.restart_command(&observed.project)),
        }
    }

    /// Returns when a checkpoint was saved, if it is recent. Never a phantom: it is named only if it is
    /// there.
    fn fresh_checkpoint(&self, observed: &Observed, seal: Option<&Seal>) -> Option<SealedAt> {
        let is_fresh = |at: u64| observed.now().abs_diff(at) < LONGEST_WITHOUT;
        let seal = seal.filter(|seal| is_fresh(seal.at))?;
        let place = self.place(&observed.canonical_project());
        self.has_checkpoint(&place, Some(seal)).then(|| SealedAt {
            local: clock::shown(seal.at as Millis),
            zoned: clock::shown_with_zone(seal.at as Millis),
        })
    }

    /// Returns a command that the user can run right now. With a checkpoint at hand another one is no help.
    fn command(&self, observed: &Observed, speech: &Speech, has_checkpoint: bool) -> String {
        let profile = self.agent.profile();
        let has = |name| has_command(self.world, self.agent, &observed.project, name);
        match &observed.in_force.settings.warn_command {
            _ if matches!(speech, Speech::Save { .. }) => format!("/{SAVE}"),
            Some(command) => policy::brief(command),
            None if !has_checkpoint && has(CHECKPOINT) => format!("/{CHECKPOINT}"),
            None if observed.in_force.client.can_compact => profile.compact_command.to_owned(),
            None => profile.clear_command.to_owned(),
        }
    }

    /// Returns the setting that raises the ceiling: the variable if it decides, otherwise the config's key.
    fn ceiling_setting(&self, speech: &Speech) -> &'static str {
        let overrides = self.world.overrides();
        match speech {
            Speech::Ceiling(AboveCeiling { ceiling: Ceiling::Tokens(_), .. }) => {
                let is_variable = overrides.ceiling_tokens.is_some();
                if is_variable { CEILING_TOKENS_VARIABLE } else { "guard.ceiling_tokens" }
            }
            _ if overrides.ceiling.is_some() => CEILING_VARIABLE,
            _ => "lines.ceiling",
        }
    }

    /// Returns the command with which a new session continues from the save.
    fn restart_command(&self, project: &Path) -> String {
        let command = templates::restart_command(&self.environment());
        match has_command(self.world, self.agent, project, RESTORE) {
            true => format!("/{command}"),
            false => format!("plimsoll {command}"),
        }
    }
}
