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

/// The oldest version that plimsoll promises to work with.
pub const OLD: &str = "2.1.197";

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

    /// The oldest client plimsoll works with.
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
