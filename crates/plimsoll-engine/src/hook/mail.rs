//! What the board has for a session: triggers are done, messages are told.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use plimsoll_core::Millis;
use plimsoll_core::board::Reason;
use plimsoll_core::event::{EventKind, SessionId};
use plimsoll_core::policy;
use plimsoll_core::session::SessionState;
use plimsoll_extract::board::{Message, MessageId, render_messages};
use plimsoll_extract::checkpoint::id;

use super::Hook;
use crate::board::{self, Taker};
use crate::checkpoint;
use crate::log;
use crate::paths::Paths;
use crate::settings::InForce;

/// How many messages a call takes at most; the next one takes more. The client puts texts of more than
/// ten thousand characters aside.
const MOST: usize = 4;
/// No call lasts so long: what it has taken by then is somebody else's.
const HOLD: Duration = Duration::from_secs(60);
/// When a checkpoint is tried again that could not be made: not at every call.
const AGAIN: Duration = Duration::from_secs(60);

/// What a call has taken from the session's inbox.
#[derive(Debug, Default)]
pub(super) struct Mail(Vec<Message>);

impl Hook<'_> {
    /// Whether something may wait that this call can do or tell: one look at the disk.
    pub(super) fn has_mail(&self) -> bool {
        use EventKind::{Prompted, Stopped, ToolFailed, ToolFinished};
        let takes = matches!(self.event.kind, Prompted | ToolFinished | ToolFailed | Stopped);
        takes
            && self.event.subagent.is_none()
            && board::has_mail(&self.world.paths, &self.event.session)
    }

    /// Takes what waits, with the spool locked. What was handled before goes without a word.
    pub(super) fn take_mail(&self, in_force: &InForce, state: &SessionState) -> Mail {
        let (paths, session) = (&self.world.paths, &self.event.session);
        let is_silent = in_force.settings.is_silent();
        let wants = |message: &Message| {
            board::is_handled(state, &message.id) || self.can(message, is_silent)
        };
        let taken = board::take(paths, session, Taker::this_process(HOLD), MOST, wants);
        let taken = taken.unwrap_or_else(|error| {
            log::write(&paths.log(), &format!("could not take messages from the board: {error}"));
            Vec::new()
        });
        let (before, new): (Vec<Message>, Vec<Message>) =
            taken.into_iter().partition(|message| board::is_handled(state, &message.id));
        self.remove_mail(&before);
        Mail(new)
    }

    /// Whether this call can do what a message asks for, or tell it to the model.
    fn can(&self, message: &Message, is_silent: bool) -> bool {
        match (&self.event.kind, message.checkpoint_reason()) {
            (EventKind::Prompted, Some(_)) | (EventKind::Stopped, None) => false,
            (_, Some(_)) => true,
            (_, None) => !is_silent,
        }
    }

    /// Whether the session has a checkpoint that was made at `moment` or later, to the second.
    ///
    /// A call that was killed after it had sealed one, and before it could say so, leaves the message
    /// that asked for it behind.
    pub(super) fn has_checkpoint_since(&self, project: &Path, moment: Millis) -> bool {
        const TIME: usize = "2026-11-15-055814".len();
        let place = self.place(project);
        let session = self.event.session.as_str();
        let first = id(moment, &self.event.session, 1);
        let ids = checkpoint::ids(&place).unwrap_or_default();
        let since = ids.iter().take_while(|id| id.get(..TIME) >= first.get(..TIME));
        let mut own = since.filter_map(|id| checkpoint::read_own(&place, id).ok()?);
        own.any(|(meta, _)| meta.session_id == session)
    }

    /// Removes messages that the session's spool tells of.
    fn remove_mail(&self, messages: &[Message]) {
        if !messages.is_empty() {
            // Whoever takes them again knows that they are handled.
            let _ = board::remove(&self.world.paths, &self.event.session, &ids(messages));
        }
    }
}

/// Messages that were handled, and are still in the inbox.
#[derive(Debug)]
pub(super) struct HandledMail {
    paths: Paths,
    session: SessionId,
    ids: Vec<MessageId>,
    /// The project that shows the board in a file.
    shown_in: Option<PathBuf>,
}

impl HandledMail {
    /// Removes them.
    pub(super) fn remove(self) -> anyhow::Result<()> {
        board::remove(&self.paths, &self.session, &self.ids)
            .context("could not remove messages from the board")?;
        let shown = self.shown_in.map_or(Ok(()), |project| board::mirror(&self.paths, &project));
        shown.context("could not show the board in the project")
    }
}

impl Mail {
    pub(super) fn summary(&self) -> policy::Mail<'_> {
        policy::Mail { is_empty: self.0.is_empty(), request: self.request() }
    }

    /// Returns the first request for a checkpoint: when it was posted, and why.
    pub(super) fn request(&self) -> Option<(Millis, &Reason)> {
        self.0.iter().find_map(|message| Some((message.timestamp, message.checkpoint_reason()?)))
    }

    /// Leaves requests for a checkpoint to a later call, and returns the other messages.
    pub(super) fn without_requests(&self, hook: &Hook<'_>) -> Self {
        let (requests, rest): (Vec<Message>, Vec<Message>) =
            self.0.iter().cloned().partition(|message| message.checkpoint_reason().is_some());
        // If that fails, the next call takes them: this process is gone by then.
        let (paths, session) = (&hook.world.paths, &hook.event.session);
        let _ = board::put_off(paths, session, &ids(&requests), AGAIN);
        Self(rest)
    }

    /// Returns the names of all messages.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(|message| message.id.to_string()).collect()
    }

    /// Returns the messages, to be removed once the spool records them.
    pub(super) fn handled(
        &self,
        hook: &Hook<'_>,
        shown_in: Option<PathBuf>,
    ) -> Option<HandledMail> {
        let (paths, session) = (hook.world.paths.clone(), hook.event.session.clone());
        (!self.0.is_empty()).then(|| HandledMail { paths, session, ids: ids(&self.0), shown_in })
    }

    /// Returns the text for the model.
    pub(super) fn text(&self) -> Option<String> {
        render_messages(&self.0)
    }
}

fn ids(messages: &[Message]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id.clone()).collect()
}
