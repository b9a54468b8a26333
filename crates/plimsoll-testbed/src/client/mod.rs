//! Runs pinned versions of the real client in a sandbox, headless or in a terminal.

mod install;
mod process;
mod sandbox;
mod terminal;
mod transcript;

use std::path::{Path, PathBuf};

pub use sandbox::{Outcome, Prompt, Sandbox};
pub use terminal::{Terminal, TerminalBuilder};
pub use transcript::ClientTranscript;

/// Client version that plimsoll targets.
pub const CURRENT_VERSION: &str = "2.1.325";

/// Older version that most tests also run with.
pub const OLD_VERSION: &str = "2.1.197";

/// Versions at which the client's hooks changed, oldest first and including the current one.
pub const SUPPORTED_VERSIONS: [&str; 6] =
    ["2.1.42", "2.1.90", "2.1.120", "2.1.140", OLD_VERSION, CURRENT_VERSION];

/// An installed client.
#[derive(Clone, Debug)]
pub struct Client {
    version: String,
    program: PathBuf,
}

impl Client {
    /// Installs the client version that plimsoll targets.
    pub fn current() -> Self {
        Self::install(CURRENT_VERSION)
    }

    /// Installs the older version that most tests also run with.
    pub fn old() -> Self {
        Self::install(OLD_VERSION)
    }

    /// Installs any published version. npm downloads it once; later calls use the cache.
    pub fn install(version: &str) -> Self {
        Self { version: version.to_owned(), program: install::ensure_installed(version) }
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn program(&self) -> &Path {
        &self.program
    }
}
