//! The end of a session.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::policy::{self, Coverage};

use super::sealing::sealed;
use super::{Answer, Hook, STORE_TIME};
use crate::checkpoint;
use crate::paths::{self, Paths};
use crate::receipt;
use crate::run_journal;
use crate::saves;
use crate::settings;
use crate::spool::{self, SpoolLine};
use crate::world::now;

/// How long the transcript may be read. The client does not wait for long when it ends.
const TIME: Duration = Duration::from_millis(800);

impl Hook<'_> {
    /// The session is over: its work is sealed if there was any, and old checkpoints go.
    pub(super) fn ended(&self) -> anyhow::Result<Answer> {
        let project = self.project();
        let (locked, state) = self.held();
        let in_force = settings::load(self.world, self.agent, &project);
        let captured = self.captured(&state, &in_force, TIME);
        let (steps, turns) = (captured.folded.work.steps(), captured.folded.work.turns());
        let seal = match policy::is_worth_sealing(&state, steps, turns) {
            true => self.seal(&captured, &project, Occasion::Auto, Coverage::Everything, &state),
            false => None,
        };
        let ended = match seal {
            Some(seal) => sealed(seal, state),
            None => state,
        };
        if let Some(locked) = locked {
            let line = SpoolLine::unmeasured(spool::ENDED, ended);
            locked.append(&line).context("could not write the spool")?;
        }
        let place = self.place(&project);
        // Another time will do as well: whoever ingests next reads on from where we stopped, and the
        // next session's end prunes what this one does not.
        let _ = self.ingest(Instant::now() + STORE_TIME, Some(&project));
        let (paths, now) = (&self.world.paths, now() as Millis);
        let needed = OnceCell::new();
        let is_needed = |id: &str| {
            let needed = needed.get_or_init(|| needed_checkpoints(paths));
            needed.as_ref().is_none_or(|needed| needed.contains(id))
        };
        let _ = checkpoint::prune(&place, now, &is_needed);
        let _ = run_journal::prune(paths, now);
        receipt::prune(paths, SystemTime::now());
        // A call that was killed may have left half of what is kept of the work.
        paths::sweep(&self.world.paths.work(&self.event.session));
        Ok(Answer::default())
    }
}

/// The checkpoints that saves and runs refer to; nothing where that cannot be told. It is only asked for
/// when one has had its time: no everyday end reads journals.
fn needed_checkpoints(paths: &Paths) -> Option<BTreeSet<String>> {
    let mut needed = saves::referred(paths, STORE_TIME).ok()?;
    needed.extend(run_journal::referred(paths).ok()?);
    Some(needed)
}
