//! The parts of the benchmark, in the order in which they run and appear.

use clap::ValueEnum;

/// A part that can run on its own.
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
    /// Sixty-four sessions at once, for a minute
    Load,
    /// The same at the rate of busy agents, for half an hour or as long as `--minutes` says: only if asked for
    Soak,
}

impl Part {
    /// Returns the name that `--only` accepts.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    /// Returns true if the part runs by default, or by default in a `quick` run.
    pub(crate) fn runs_by_default(self, quick: bool) -> bool {
        match self {
            Self::Soak => false,
            Self::Listing
            | Self::Saves
            | Self::Commits
            | Self::Dashboard
            | Self::Team
            | Self::Load => !quick,
            _ => true,
        }
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
            Self::Soak => "Sixty-four sessions for long",
        }
    }
}
