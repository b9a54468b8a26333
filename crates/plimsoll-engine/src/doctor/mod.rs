//! Finds silent failures: anything that keeps a hook from being called, from seeing the session, or
//! from remembering its advice.
//!
//! Every finding suggests a remedy. Nothing is repaired automatically.

mod client;
mod data;
mod hooks;
mod past;
mod sessions;
mod team;
mod words;

use std::path::Path;

use plimsoll_agents::Agent;
use plimsoll_core::shell;
use plimsoll_store::Store;

use crate::world::World;

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Subject of the check, in a word.
    pub subject: &'static str,
    pub state: State,
    pub text: String,
    /// Remedy: a command if possible.
    pub mend: Option<String>,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Fine,
    /// Worth knowing, and possibly intended.
    Note,
    Broken,
}

impl State {
    /// Returns the form used in output.
    pub fn label(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Note => "note",
            Self::Broken => "broken",
        }
    }
}

impl Finding {
    fn fine(subject: &'static str, text: impl Into<String>) -> Self {
        Self { subject, state: State::Fine, text: text.into(), mend: None }
    }

    fn note(subject: &'static str, text: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { subject, state: State::Note, text: text.into(), mend: Some(mend.into()) }
    }

    fn broken(subject: &'static str, text: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { subject, state: State::Broken, text: text.into(), mend: Some(mend.into()) }
    }
}

/// Runs all checks for a session started in `project`. The store supplies data on past sessions.
pub fn examine(
    world: &World,
    agent: &'static dyn Agent,
    project: &Path,
    store: anyhow::Result<&Store>,
) -> Vec<Finding> {
    let (version, client) = client::examine(world, agent);
    let mut findings = vec![client];
    let scene = hooks::Scene { world, agent, project, client: version };
    findings.extend(hooks::examine(&scene));
    findings.extend(data::examine(world));
    findings.extend(words::examine(world, agent, project));
    findings.extend(sessions::examine(world, agent));
    findings.extend(match store {
        Ok(store) => {
            let past = past::examine(world, agent, project, store);
            past.into_iter().chain(team::examine(world, store)).collect()
        }
        Err(error) => vec![data::unusable(world, &error)],
    });
    findings
}

/// Returns what keeps our hooks from being called in `project`, whatever the client's version.
pub fn broken_hooks(world: &World, agent: &'static dyn Agent, project: &Path) -> Vec<Finding> {
    let mut findings = hooks::examine(&hooks::Scene { world, agent, project, client: None });
    findings.retain(|finding| finding.state == State::Broken);
    findings
}

/// Returns the command that opens a file in the user's editor.
fn edit(path: &Path) -> String {
    format!("\"${{EDITOR:-vi}}\" {}", quoted(path))
}

/// Quotes a path for the shell.
fn quoted(path: &Path) -> String {
    shell::quote(&path.display().to_string())
}
