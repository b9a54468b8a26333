//! The parts of the benchmark, in the order in which they are run and told.

use clap::ValueEnum;

/// A part that can be run by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The hook beside a no-op and beside other hooks
    Hook,
    /// Predicted prompt sizes on real transcripts
    Accuracy,
    /// Checkpoints before a compaction
    Checkpoints,
    /// Listing the sessions of a large home
    Listing,
    /// Restoring from a hundred thousand saves
    Saves,
    /// What git's hook adds to a commit
    Commits,
    /// The dashboard in a browser
    Dashboard,
    /// The watcher among growing sessions
    Watcher,
    /// The watcher when all sessions cross a line at once
    Triggers,
    /// The server beside the seed's service
    Server,
    /// The pages of a team with a million readings
    Team,
    /// How few batches plans come to
    Packing,
    /// Sixty-four sessions at once, for a minute, or for as long as `--minutes` says
    Load,
}

impl Part {
    /// What `--only` calls it.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    /// Whether it is worth a run that is to be over soon.
    pub(crate) fn is_quick(self) -> bool {
        let slow =
            [Self::Listing, Self::Saves, Self::Commits, Self::Dashboard, Self::Team, Self::Load];
        !slow.contains(&self)
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Hook => "The hook",
            Self::Accuracy => "Predicted prompt sizes",
            Self::Checkpoints => "Checkpoints",
            Self::Listing => "Listing all sessions",
            Self::Saves => "Restoring from saves",
            Self::Commits => "A commit",
            Self::Dashboard => "The dashboard",
            Self::Watcher => "Watching sessions that grow",
            Self::Triggers => "Sessions that cross a line at once",
            Self::Server => "The server",
            Self::Team => "A team's pages",
            Self::Packing => "Packing",
            Self::Load => "Sixty-four sessions at once",
        }
    }

    /// What is measured.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Hook => {
                "Whole processes, from their start to their end: the hook after a tool call on transcripts of every size, \
                 beside a static process that does nothing, then beside the hooks of the projects plimsoll grew out of. \
                 It must cost little more than the no-op, and the same at any size."
            }
            Self::Accuracy => {
                "Real transcripts are cut right before a call, and `plimsoll measure` says how large its prompt will be; \
                 the transcript goes on with how large it was."
            }
            Self::Checkpoints => {
                "The hook before a compaction, which seals a checkpoint: from nothing, beside a program that only counts the \
                 newlines of the file, and from saved state, beside the no-op."
            }
            Self::Listing => {
                "`plimsoll status --all` over a home with as many transcripts as a busy year leaves: the first screen is what \
                 somebody waits for."
            }
            Self::Saves => {
                "`plimsoll rs` as a whole process, for the newest save and for searches of every kind."
            }
            Self::Commits => {
                "The same empty commit without git's post-commit hook and with it, in turn."
            }
            Self::Dashboard => {
                "The first page in headless Chromium without anything in its cache; the browser itself tells its first \
                 contentful paint."
            }
            Self::Watcher => {
                "Five hundred transcripts, each of which grows once a second. The lag is the time from a write until the \
                 watcher has told the reading that covers it; beside it, a watcher as one would first write it."
            }
            Self::Triggers => {
                "From the writing of the response that takes a session over its checkpoint line until it is asked for a \
                 checkpoint; no session has hooks, and with `hooks` they are given ten seconds first."
            }
            Self::Server => {
                "`plimsoll serve` and the seed's service (FastAPI on uvicorn), asked the same by wrk. A save is on the disk \
                 before it is answered, in both."
            }
            Self::Team => {
                "Whole pages, from the connection to the last byte, of a team in PostgreSQL with forty machines, 5,000 \
                 sessions, 1,000,000 readings, 100,000 checkpoints and 100,000 saves."
            }
            Self::Packing => {
                "By how many percent plans have more batches than the bound says there must be: random task sets, and sets made \
                 of this repository's files, folders and commits."
            }
            Self::Load => {
                "Sessions that call tools, with a hook after every call, and are compacted again and again; a server watches \
                 them and ships to PostgreSQL. Nothing may be lost, nothing left behind, and nothing may grow but checkpoints, \
                 which are kept."
            }
        }
    }
}
