//! Rows that callers pass to the store, and rows that the store returns.

mod search_result;
mod team;

use std::collections::BTreeSet;
use std::path::PathBuf;

use plimsoll_core::event::{AgentId, SessionId};
use plimsoll_core::forecast::Sample;
use plimsoll_core::hook_run::{Command, HookRun, Outcome};
use plimsoll_core::plan::Kind;
use plimsoll_core::run::{Line, Run};
use plimsoll_core::{Millis, Tokens};
use plimsoll_extract::save::Save;

pub use self::search_result::{
    CheckpointHit, FoundCheckpoints, FoundSaves, LinePiece, MatchKind, SaveFilter, SaveKinds,
};
pub use self::team::{OutboxStatus, RemoteSession, Shipment, ShipmentFilter};

/// A transcript, spool or journal that rows come from.
///
/// Path and inode identify a file: another inode under the same path is a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    pub path: PathBuf,
    /// The inode of the open file that is read.
    pub inode: u64,
}

/// The position at which reading of a source continues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bookmark {
    /// The byte offset of the first unread byte.
    pub offset: u64,
    /// The reader's state at this offset (such as turn and model), in a format of the reader's own.
    pub reader_state: String,
}

/// Rows read from one source, and the position after them.
///
/// The session of each row must be in `sessions` or known from an earlier batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub sessions: Vec<SessionRow>,
    pub readings: Vec<ReadingRow>,
    pub compactions: Vec<CompactionRow>,
    pub hook_runs: Vec<HookRunRow>,
    pub decisions: Vec<DecisionRow>,
    pub saves: Vec<Save>,
    pub runs: Vec<RunRow>,
    pub past_tasks: Vec<PastTask>,
    /// The position to continue from. It is before the previous bookmark if the file has shrunk and
    /// was read from its start.
    pub next: Bookmark,
}

/// A run and the journal lines that describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    pub run: Run,
    /// The journal lines that `run` was folded from.
    pub lines: Vec<Line>,
}

/// Totals over all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    pub runs: u64,
    /// Sessions of all runs.
    pub sessions: u64,
    /// Sessions that continued the work of an earlier session.
    pub restarts: u64,
}

/// The predicted and actual size of a past session's first request, from which estimates learn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTask {
    pub session: SessionId,
    /// The time of the session's last activity.
    pub last_active: Millis,
    /// The kind of task, recognized by a keyword in the request.
    pub kind: Kind,
    /// The estimate of the formula.
    pub predicted: Tokens,
    /// The growth of the session's own window, without the shrinking by compactions.
    pub growth: Tokens,
}

/// The result of ingesting a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IngestResult {
    /// The byte offset up to which the source has now been read.
    pub end_offset: u64,
    /// The number of new or changed rows, not counting sessions.
    pub rows: usize,
}

/// A session. The store merges rows for the same session from several batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    pub id: SessionId,
    /// The agent's id.
    pub agent: String,
    /// The project. The first known value stays.
    pub project: Option<PathBuf>,
    /// The transcript. The newest value wins.
    pub transcript: Option<PathBuf>,
    /// The client's version. The newest value wins.
    pub version: Option<String>,
    /// The model. The newest value wins.
    pub model: Option<String>,
    /// The start time. The earliest value wins.
    pub started: Millis,
    /// The time of the last activity. The latest value wins.
    pub last_seen: Millis,
}

/// The usage of one response: one point on the curve of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadingRow {
    pub session: SessionId,
    /// The subagent that owns the window. `None` if it is the session's own window.
    pub subagent: Option<SessionId>,
    /// The id of the response. A fork repeats it under its own session.
    pub message: String,
    pub time: Millis,
    pub model: String,
    /// Tokens in the window before the response.
    pub prompt_tokens: Tokens,
    /// Tokens of the response. If a message is recorded twice, the larger figure wins.
    pub output_tokens: Tokens,
    /// The number of the user's turn.
    pub turn: u32,
}

/// A compaction that the client recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionRow {
    pub session: SessionId,
    /// The subagent that owns the window. `None` if it is the session's own window.
    pub subagent: Option<SessionId>,
    /// The id of the transcript record. A fork repeats it under its own session.
    pub entry: String,
    pub time: Millis,
    /// The model of the last response before the compaction.
    pub model: Option<String>,
    pub version: Option<String>,
    /// The client started the compaction, not the user.
    pub automatic: bool,
    /// Tokens in the window before the compaction.
    pub tokens_before: Option<Tokens>,
    /// Tokens in the conversation after the compaction.
    pub tokens_after: Option<Tokens>,
}

/// One run of a hook, of plimsoll or of another tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRunRow {
    pub session: SessionId,
    /// The subagent that the hook ran for. `None` if it ran for the session itself.
    pub subagent: Option<SessionId>,
    /// The time of the transcript record.
    pub time: Millis,
    /// The run. A fork repeats it under its own session.
    pub run: HookRun,
}

/// The number of runs of one hook command with the same duration and outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCount {
    pub command: Command,
    pub event: String,
    /// The duration of each run. `None` if no record has it.
    pub millis: Option<u64>,
    pub outcome: Outcome,
    pub runs: u64,
}

/// The total duration of the sessions in which a hook command ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookSpan {
    /// The id of the command.
    pub command: u64,
    pub sessions: u64,
    /// The sum of the times between the first and the last activity of each session.
    pub millis: u64,
}

/// A combination of model and client version that sessions used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRow {
    pub agent: AgentId,
    pub model: String,
    pub version: String,
    pub sessions: u64,
    /// The time of the last activity in any of these sessions.
    pub last_seen: Millis,
}

/// The settings of an agent's client in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSettingsRow {
    /// The agent's id.
    pub agent: String,
    pub project: PathBuf,
    /// The settings, in a format of the caller's own.
    pub settings: String,
    /// The time since when these settings apply, as far as known.
    pub since: Millis,
    /// The time of the last check.
    pub checked_at: Millis,
}

/// The highest fill level of a session's own window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeakRow {
    pub session: SessionId,
    /// The model, including its variant.
    pub model: Option<String>,
    pub version: Option<String>,
    /// The number of tokens at the peak.
    pub tokens: Tokens,
    /// The number of compactions that the client started.
    pub automatic_compactions: u64,
    /// Whether plimsoll warned about the fill level of the window.
    pub warned: bool,
}

/// The first and the largest prompt of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstPromptRow {
    /// The model, including its variant.
    pub model: String,
    pub version: Option<String>,
    pub first: Tokens,
    pub largest: Tokens,
}

/// The number of compactions that clients started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutoCompactionCounts {
    pub total: u64,
    /// Those without a warning or checkpoint by plimsoll beforehand.
    pub without_warning: u64,
}

/// A period in which a session worked without a new prompt from the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkPeriod {
    pub session: SessionId,
    /// The time of the first response.
    pub began: Millis,
    /// The time of the last response.
    pub ended: Millis,
}

/// The amount of stored history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryExtent {
    pub sessions: u64,
    /// The number of distinct projects of these sessions.
    pub projects: u64,
    /// The start of the first session. `None` if there is no session.
    pub since: Option<Millis>,
}

/// A point on the curve of a session's windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurvePointRow {
    /// The subagent that owns the window. `None` if it is the session's own window.
    pub subagent: Option<SessionId>,
    pub time: Millis,
    pub point: CurvePoint,
}

/// The kind of a point on the curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CurvePoint {
    /// A response.
    Reading {
        /// Tokens in the window after the response: prompt and output.
        used: Tokens,
    },
    Compaction {
        /// The client started the compaction, not the user.
        automatic: bool,
        /// Tokens in the window before the compaction.
        tokens_before: Option<Tokens>,
        /// Tokens in the conversation after the compaction.
        tokens_after: Option<Tokens>,
    },
}

/// The growth of a session since its last compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrowthSamples {
    /// The number of compactions so far.
    pub compactions: u64,
    /// The newest readings since the last compaction, oldest first.
    pub samples: Vec<Sample>,
}

/// A decision of plimsoll that the spool records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionRow {
    /// The byte offset of the record in the spool.
    pub offset: u64,
    pub session: SessionId,
    /// The subagent that the decision was about. `None` if it was about the session itself.
    pub subagent: Option<SessionId>,
    pub time: Millis,
    /// The label of the decision, such as `warned`.
    pub label: String,
    /// Tokens in the window.
    pub used: Tokens,
    /// The size of the window.
    pub window: Tokens,
}

/// The number of stored items. Items that a fork repeats count once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub sessions: u64,
    /// The number of responses.
    pub messages: u64,
    pub compactions: u64,
    pub decisions: u64,
}

/// A sealed checkpoint, as read from its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRow {
    pub id: String,
    pub path: PathBuf,
    pub project: PathBuf,
    pub session: String,
    pub created: Millis,
    /// The reason for the checkpoint, such as `auto` or `manual`.
    pub occasion: String,
    /// The number of the checkpoint within its project.
    pub iteration: u64,
    /// The checkpoint is incomplete.
    pub partial: bool,
    /// Tokens in the window.
    pub used: Option<Tokens>,
    /// The size of the window.
    pub window: Option<Tokens>,
    /// A summary in one line.
    pub summary: String,
    /// The sections, as Markdown.
    pub body: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCheckpoint {
    pub id: String,
    pub created: Millis,
}

/// A session and its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverviewRow {
    pub session: SessionRow,
    /// Tokens in the window after the last response. `None` before the first response.
    pub used: Option<Tokens>,
    /// The largest prompt of the session.
    pub largest: Tokens,
    pub compactions: u64,
    pub checkpoint: Option<LastCheckpoint>,
}

/// The checkpoint files of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointListing {
    /// The ids of all checkpoints.
    pub ids: BTreeSet<String>,
    /// The checkpoints that the store does not have yet.
    pub new: Vec<CheckpointRow>,
}
