//! Fuzz targets: invariants for all input that plimsoll reads, even if it is truncated, foreign or
//! hostile.
//!
//! A target is a plain function that panics if an invariant is broken. libFuzzer drives the targets
//! (`src/main.rs`, started by `scripts/fuzz`). The tests run every input in `corpus/` and
//! `crashes/` through them without libFuzzer.

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

/// A function to fuzz.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of the target and of its input folders.
    pub name: &'static str,
    /// Processes an input and panics if an invariant is broken.
    pub run: fn(&[u8]),
}

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

/// Returns the target with this name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

impl Target {
    /// Returns the input folders: inputs that reach new code, and inputs that once failed.
    pub fn folders(&self) -> [PathBuf; 2] {
        let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        ["corpus", "crashes"].map(|folder| own.join(folder).join(self.name))
    }
}
