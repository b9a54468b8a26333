//! The real client, pinned, run in a place of its own: headless, or on a terminal.

mod install;
mod process;
mod sandbox;
mod terminal;
mod transcript;

use std::path::{Path, PathBuf};

pub use sandbox::{Outcome, Prompt, Sandbox};
pub use terminal::{Screen, Terminal};
pub use transcript::Transcript;

/// The client's version that plimsoll is built for.
pub const CURRENT: &str = "2.1.325";

/// An older version that most tests are run with too.
pub const OLD: &str = "2.1.197";

/// Versions between which the client's hooks changed, oldest first, the current one included.
pub const SUPPORTED: [&str; 6] = ["2.1.42", "2.1.90", "2.1.120", "2.1.140", OLD, CURRENT];

/// An installed client.
#[derive(Clone, Debug)]
pub struct Client {
    version: String,
    program: PathBuf,
}

impl Client {
    /// The client plimsoll is built for.
    pub fn current() -> Self {
        Self::install(CURRENT)
    }

    /// An older client that most tests are run with too.
    pub fn old() -> Self {
        Self::install(OLD)
    }

    /// Any published version; fetched by npm the first time it is asked for, then kept.
    pub fn install(version: &str) -> Self {
        Self { version: version.to_owned(), program: install::program(version) }
    }

    /// The version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The executable.
    pub fn program(&self) -> &Path {
        &self.program
    }
}
