//! What is handed to the store and what it gives back.

mod found;
mod team;

use std::collections::BTreeSet;
use std::path::PathBuf;

use plimsoll_core::batch::Kind;
use plimsoll_core::event::SessionId;
use plimsoll_core::forecast::Sample;
use plimsoll_core::hook_run::{Command, HookRun, Outcome};
use plimsoll_core::run::{Line, Run};
use plimsoll_core::save::Save;
use plimsoll_core::{Millis, Tokens};

pub use self::found::{Found, FoundSaves, Hit, Match, Piece, SaveFilter, SaveKinds};
pub use self::team::{Allowed, Shipment, Waiting};

/// A transcript or spool that rows come from.
///
/// Path and inode together are one file; another inode under the same path is a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Which file it is, taken from the open file that is read.
    pub inode: u64,
}

/// Where the reading of a source goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bookmark {
    /// The byte to read on from.
    pub offset: u64,
    /// What the reader must know of the bytes before, in its own words (the turn, the model).
    pub note: String,
}

/// Rows read from one source, and where to go on after them.
///
/// A row's session is either among `sessions` or known from an earlier batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// What the rows tell of their sessions.
    pub sessions: Vec<SessionRow>,
    /// Responses with their usage.
    pub readings: Vec<ReadingRow>,
    /// Compactions.
    pub compactions: Vec<CompactionRow>,
    /// Hook runs.
    pub hook_runs: Vec<HookRunRow>,
    /// What we decided.
    pub decisions: Vec<DecisionRow>,
    /// Saves.
    pub saves: Vec<Save>,
    /// Runs.
    pub runs: Vec<RunRow>,
    /// What past sessions were asked for.
    pub past_tasks: Vec<PastTask>,
    /// Where to go on; before the bookmark that was given, if the file has shrunk and was read
    /// from its start.
    pub next: Bookmark,
}

/// A run, and the journal that it is told in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// The run.
    pub run: Run,
    /// The lines that it was folded from.
    pub lines: Vec<Line>,
}

/// How much has been run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Runs.
    pub runs: u64,
    /// Their sessions.
    pub legs: u64,
    /// Sessions that went on with what one before them had begun.
    pub restarts: u64,
}

/// What a past session was first asked for, as far as an estimate needs it, and what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTask {
    /// The session.
    pub session: SessionId,
    /// When it was last heard of.
    pub last_word: Millis,
    /// The keyword that the request goes by.
    pub kind: Kind,
    /// What the formula gives for it.
    pub predicted: Tokens,
    /// By how much its own window has grown, compactions taken out of it.
    pub grown: Tokens,
}

/// What came of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ingested {
    /// How far the source has been read now.
    pub read_to: u64,
    /// How many rows were new or have changed, sessions aside.
    pub rows: usize,
}

/// A session. What is told of it in several batches is put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its name.
    pub id: SessionId,
    /// The agent, by the adapter's name for it.
    pub agent: String,
    /// The project it belongs to; the first that is told stays.
    pub project: Option<PathBuf>,
    /// Its transcript; the newest that is told counts.
    pub transcript: Option<PathBuf>,
    /// The client's version; the newest that is told counts.
    pub version: Option<String>,
    /// The model; the newest that is told counts.
    pub model: Option<String>,
    /// When it began; the earliest that is told counts.
    pub started: Millis,
    /// When it was last heard of; the latest that is told counts.
    pub last_seen: Millis,
}

/// A response with its usage: one point on the curve of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadingRow {
    /// The session.
    pub session: SessionId,
    /// The subagent whose window it was, if it was one's.
    pub subagent: Option<SessionId>,
    /// The response's identity. A fork repeats it under its own session.
    pub message: String,
    /// When it was answered.
    pub time: Millis,
    /// The model that answered.
    pub model: String,
    /// What the window held.
    pub prompt_tokens: Tokens,
    /// The length of the answer; a message told twice keeps the larger figure.
    pub output_tokens: Tokens,
    /// Which turn of the user's it belongs to.
    pub turn: u32,
}

/// A compaction as the client recorded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionRow {
    /// The session.
    pub session: SessionId,
    /// The subagent whose window it was, if it was one's.
    pub subagent: Option<SessionId>,
    /// The record's identity. A fork repeats it under its own session.
    pub entry: String,
    /// When it happened.
    pub time: Millis,
    /// The model that answered last before it.
    pub model: Option<String>,
    /// The client's version.
    pub version: Option<String>,
    /// Started by the client, not by the user.
    pub automatic: bool,
    /// What the window held before.
    pub tokens_before: Option<Tokens>,
    /// What the conversation holds after.
    pub tokens_after: Option<Tokens>,
}

/// A run of somebody's hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRunRow {
    /// The session.
    pub session: SessionId,
    /// The subagent it ran for, if it did.
    pub subagent: Option<SessionId>,
    /// When it was recorded.
    pub time: Millis,
    /// The run. A fork repeats it under its own session.
    pub run: HookRun,
}

/// Runs of one hook command that took the same time and ended the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCount {
    /// The command.
    pub command: Command,
    /// The event.
    pub event: String,
    /// How long each took, where that is known.
    pub millis: Option<u64>,
    /// What came of them.
    pub outcome: Outcome,
    /// How many there were.
    pub runs: u64,
}

/// How long the sessions lasted, all together, in which a hook command ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookSpan {
    /// The command, by its id.
    pub command: u64,
    /// How many sessions.
    pub sessions: u64,
    /// From the first to the last word of each.
    pub millis: u64,
}

/// A model and client version that sessions were held with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRow {
    /// The model.
    pub model: String,
    /// The client's version.
    pub version: String,
    /// How many sessions.
    pub sessions: u64,
    /// When the last of them was heard of.
    pub last_seen: Millis,
}

/// How the agent's client is set in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSettingsRow {
    /// The agent, by the adapter's name for it.
    pub agent: String,
    /// The project.
    pub project: PathBuf,
    /// The settings, in their reader's words.
    pub settings: String,
    /// Since when they are like that, as far as anyone has noticed.
    pub since: Millis,
    /// When they were last looked at.
    pub looked: Millis,
}

/// The fullest that a session's own window ever was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeakRow {
    /// The session.
    pub session: SessionId,
    /// The model, by its variant.
    pub model: Option<String>,
    /// The client's version.
    pub version: Option<String>,
    /// The largest prompt.
    pub tokens: Tokens,
    /// How often the client compacted it by itself.
    pub automatic_compactions: u64,
    /// Whether anything was ever said about its load.
    pub warned: bool,
}

/// How a session of a project began, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeginningRow {
    /// The model, by its variant.
    pub model: String,
    /// The client's version.
    pub version: Option<String>,
    /// The first prompt.
    pub first: Tokens,
    /// The largest prompt.
    pub largest: Tokens,
}

/// How often clients compacted sessions by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflows {
    /// In all.
    pub all: u64,
    /// Without a word or a checkpoint of ours before.
    pub unwarned: u64,
}

/// A time in which a session worked and nobody said anything to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The session.
    pub session: SessionId,
    /// Its first response.
    pub began: Millis,
    /// Its last response.
    pub ended: Millis,
}

/// How much is remembered of which time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Sessions.
    pub sessions: u64,
    /// The projects they belong to.
    pub projects: u64,
    /// When the first of them began.
    pub since: Option<Millis>,
}

/// A point on the curve of a session's windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointRow {
    /// The subagent whose window it was, if it was one's.
    pub subagent: Option<SessionId>,
    /// When.
    pub time: Millis,
    /// What there was.
    pub point: Point,
}

/// What there was at a point of the curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// A response, after which the window held so much.
    Reading {
        /// Tokens of the prompt and of the answer.
        used: Tokens,
    },
    /// A compaction.
    Compaction {
        /// Started by the client, not by the user.
        automatic: bool,
        /// What the window held before.
        tokens_before: Option<Tokens>,
        /// What the conversation holds after.
        tokens_after: Option<Tokens>,
    },
}

/// How a session has grown since its last compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// How often it was compacted.
    pub compactions: u64,
    /// Its newest readings since, oldest first.
    pub samples: Vec<Sample>,
}

/// Something we decided, as the spool tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionRow {
    /// Where its line begins in the spool.
    pub line: u64,
    /// The session.
    pub session: SessionId,
    /// The subagent it concerned, if it did.
    pub subagent: Option<SessionId>,
    /// When.
    pub time: Millis,
    /// What was decided.
    pub what: String,
    /// What the window held.
    pub used: Tokens,
    /// The window.
    pub window: Tokens,
}

/// How much is remembered. What a fork repeats counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sessions.
    pub sessions: u64,
    /// Responses.
    pub messages: u64,
    /// Compactions.
    pub compactions: u64,
    /// Decisions.
    pub decisions: u64,
}

/// A checkpoint that we sealed, as its file tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRow {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// The project it is of.
    pub project: PathBuf,
    /// The session it is of.
    pub session: String,
    /// When it was made.
    pub created: Millis,
    /// What it was made for.
    pub occasion: String,
    /// Which checkpoint of the project it is.
    pub iteration: u64,
    /// Not everything could be taken in.
    pub partial: bool,
    /// What the window held.
    pub used: Option<Tokens>,
    /// The window.
    pub window: Option<Tokens>,
    /// What it is about, in a line.
    pub summary: String,
    /// Its sections.
    pub body: String,
}

/// The last checkpoint of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCheckpoint {
    /// Its id.
    pub id: String,
    /// When it was made.
    pub created: Millis,
}

/// A session with how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverviewRow {
    /// The session.
    pub session: SessionRow,
    /// What its window held after the last response; nothing before the first.
    pub used: Option<Tokens>,
    /// The largest prompt of it.
    pub largest: Tokens,
    /// How often it was compacted.
    pub compactions: u64,
    /// Its last checkpoint.
    pub checkpoint: Option<LastCheckpoint>,
}

/// What there is of a project's checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointsThere {
    /// The ids of all.
    pub ids: BTreeSet<String>,
    /// Those that were not known.
    pub new: Vec<CheckpointRow>,
}
