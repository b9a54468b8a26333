//! Fuzz targets: what must hold of whatever plimsoll reads, be it torn, foreign or hostile.
//!
//! A target is a plain function that panics where something does not hold. libFuzzer drives them
//! (`src/main.rs`, by way of `scripts/fuzz`); the tests run every input of `corpus/` and `crashes/`
//! through them without it.

#![expect(clippy::unwrap_used, reason = "a target that cannot go on has found something")]

mod board;
mod config;
mod fence;
mod front_matter;
mod hook;
mod http;
mod journal;
mod redact;
mod sandbox;
mod settings;
mod spool;
mod tasks;
mod transcript;
mod words;

use std::path::PathBuf;

/// Something that is fed with inputs.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of its folders of inputs.
    pub name: &'static str,
    /// Takes an input, and panics if anything does not hold.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 13] = [
    Target { name: "hook", run: hook::run },
    Target { name: "transcript", run: transcript::run },
    Target { name: "front_matter", run: front_matter::run },
    Target { name: "config", run: config::run },
    Target { name: "settings", run: settings::run },
    Target { name: "http", run: http::run },
    Target { name: "board", run: board::run },
    Target { name: "tasks", run: tasks::run },
    Target { name: "journal", run: journal::run },
    Target { name: "spool", run: spool::run },
    Target { name: "words", run: words::run },
    Target { name: "redact", run: redact::run },
    Target { name: "fence", run: fence::run },
];

/// The target called `name`.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

impl Target {
    /// The folders of its inputs: those that reach new code, and those that once made it fail.
    pub fn folders(&self) -> [PathBuf; 2] {
        let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        ["corpus", "crashes"].map(|folder| own.join(folder).join(self.name))
    }
}
