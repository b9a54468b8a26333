//! The checkpoint between two batches of a plan.

use std::borrow::Cow;

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_core::checkpoint::Occasion;
use plimsoll_core::event::SessionId;
use plimsoll_core::plan::Piece;
use plimsoll_core::run::{Run, Sort};
use plimsoll_engine::capture::{self, git};
use plimsoll_engine::checkpoint::{self, Draft, Place, seal};
use plimsoll_engine::world::now;
use plimsoll_extract::checkpoint::Meta;
use plimsoll_extract::work;

use super::lifecycle::Runner;
use crate::batch;

impl Runner<'_> {
    /// Returns the checkpoint that covers a finished job; `last` is that of its last session, if
    /// there is one. In a plan, seals a new one that also covers all earlier jobs and lists the
    /// remaining work, so the next session needs no other.
    ///
    /// The caller must prevent other jobs from being closed meanwhile, because each checkpoint
    /// continues the previous one.
    pub(super) fn seal_job_checkpoint(
        &self,
        job: u32,
        last: Option<String>,
    ) -> anyhow::Result<Option<String>> {
        let run = self.run();
        if run.begun.sort == Sort::Task {
            return Ok(last);
        }
        let agent = self.agent.checkpoint_agent();
        let place = Place::of(self.context.env, agent, self.project.clone());
        let own = read(&place, last.as_deref())?;
        let before = read(&place, run.last_checkpoint())?;
        let draft = Draft {
            body: body(&run, job, own.as_ref(), before.as_ref()).into(),
            restored: before.map(|(meta, _)| meta.id),
            ..self.draft(&run, job, own.map(|(meta, _)| meta))?
        };
        let sealed = seal(&place, &draft).with_context(|| {
            let title = run.job(job).map_or("", |job| &job.begun.title);
            format!("could not seal the checkpoint of `{title}` in run `{}`", run.id)
        })?;
        Ok(Some(sealed.meta.id))
    }

    /// Returns the draft without its body. Model, window and transcript come from the session's own
    /// checkpoint.
    fn draft(&self, run: &Run, job: u32, own: Option<Meta>) -> anyhow::Result<Draft<'static>> {
        let legs = run.job(job).map_or(&[][..], |job| &job.legs);
        let session = legs.last().and_then(|leg| leg.begun.session.clone());
        let session = session.or_else(|| SessionId::new(run.id.as_str()));
        Ok(Draft {
            session: session.context("a run's name is no name of a session")?,
            occasion: Occasion::Batch,
            created: now() as Millis,
            partial: own.as_ref().is_some_and(|meta| meta.partial),
            restored: None,
            agent: self.agent.name().to_owned(),
            model: own.as_ref().and_then(|meta| meta.model.clone()),
            used: own.as_ref().and_then(|meta| meta.used),
            window: own.as_ref().and_then(|meta| meta.window),
            git: git(&self.project),
            transcript: own.and_then(|meta| meta.transcript),
            body: Cow::Borrowed(""),
        })
    }
}

type ReadCheckpoint = (Meta, String);

/// Reads one of the project's own checkpoints; `None` if it no longer exists.
fn read(place: &Place, id: Option<&str>) -> anyhow::Result<Option<ReadCheckpoint>> {
    let Some(id) = id else { return Ok(None) };
    Ok(checkpoint::read_own(place, id)?)
}

/// Builds the body from the sessions' checkpoints and the state of the plan.
fn body(
    run: &Run,
    job: u32,
    own: Option<&ReadCheckpoint>,
    before: Option<&ReadCheckpoint>,
) -> String {
    let own = own.map_or("", |(_, body)| body);
    let body = match before {
        Some((_, before)) => Cow::Owned(work::inherit_from_previous(own, before)),
        None => Cow::Borrowed(own),
    };
    let ids = run.job(job).map_or(&[][..], |job| &job.begun.pieces);
    let mut done = run.done_pieces();
    done.extend(ids.iter().filter_map(|id| run.piece(id)));
    let is_left = |piece: &&Piece| !ids.contains(&piece.id);
    let left: Vec<&Piece> = run.open_pieces().into_iter().filter(is_left).collect();
    capture::shortened(batch::plan_checkpoint(&body, &done, &left))
}
