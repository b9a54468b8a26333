//! Taking in many windows at once, for whoever does so all the time.

use std::path::PathBuf;
use std::time::Instant;

use plimsoll_agents::Agent;
use plimsoll_store::StoreError;

use super::Ingester;

/// A transcript and the agent that wrote it.
pub(crate) type Transcript = (&'static dyn Agent, PathBuf);

impl Ingester<'_> {
    /// Takes in what is new of these windows, by their transcripts, in one transaction. Those that are
    /// not done at `deadline` are given back.
    pub(crate) fn together(
        &mut self,
        transcripts: Vec<Transcript>,
        deadline: Instant,
    ) -> anyhow::Result<Vec<Transcript>> {
        self.deadline = Some(deadline);
        self.store.begin()?;
        let left = self.until_late(transcripts);
        match &left {
            Ok(_) => self.store.commit()?,
            Err(_) => self.store.roll_back()?,
        }
        left
    }

    fn until_late(&mut self, transcripts: Vec<Transcript>) -> anyhow::Result<Vec<Transcript>> {
        let mut left = Vec::new();
        for transcript in transcripts {
            match self.window(transcript.0, &transcript.1) {
                Err(error) if error.is::<StoreError>() => return Err(error),
                // One that cannot be read keeps nobody else's from being taken in.
                _ if self.is_late() => left.push(transcript),
                _ => {}
            }
        }
        Ok(left)
    }
}
