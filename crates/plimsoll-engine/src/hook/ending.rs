//! The end of a session.

use std::time::{Duration, Instant};

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_core::checkpoint::Occasion;

use super::sealing::sealed;
use super::{Answer, Hook, STORE_TIME};
use crate::checkpoint;
use crate::paths;
use crate::saves;
use crate::spool::{self, SpoolLine};
use crate::world::now;

/// How long the transcript may be read. The client does not wait for long when it ends.
const TIME: Duration = Duration::from_millis(800);

impl Hook<'_> {
    /// The session is over: its work is sealed if there was any, and old checkpoints go.
    pub(super) fn ended(&self) -> anyhow::Result<Answer> {
        let project = self.project();
        let (locked, state) = self.held();
        let captured = self.captured(&state, TIME);
        // Where no tool was used there is nothing to go on with.
        let seal = match captured.folded.work.steps() {
            0 => None,
            _ => self.seal(&captured, &project, Occasion::Auto, &state),
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
        let _ = self.ingest(Instant::now() + STORE_TIME, Some(&place));
        if let Ok(referred) = saves::referred(&self.world.paths, STORE_TIME) {
            let _ = checkpoint::prune(&place, now() as Millis, &|id| referred.contains(id));
        }
        // A call that was killed may have left half of what is kept of the work.
        paths::sweep(&self.world.paths.work(&self.event.session));
        Ok(Answer::default())
    }
}
