//! Looking for what fails silently: whatever keeps a hook from being called, from seeing the
//! session, or from remembering what it said.
//!
//! Every finding comes with something to do about it. Nothing here mends anything by itself.

mod client;
mod data;
mod hooks;
mod past;
mod sessions;
mod team;
mod words;

use std::path::Path;

use plimsoll_agents::Adapter;
use plimsoll_core::shell;
use plimsoll_store::Store;

use crate::world::World;

/// What one look came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, in a word.
    pub subject: &'static str,
    /// How bad it is.
    pub state: State,
    /// What was found.
    pub text: String,
    /// What to do about it: a command, where there is one.
    pub mend: Option<String>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// As it should be.
    Fine,
    /// Worth knowing, and perhaps meant so.
    Note,
    /// Something does not work.
    Broken,
}

impl State {
    /// As it is written in output.
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

/// Looks at everything that matters to a session started in `project`. The store, with everything in
/// it, tells of those before.
pub fn examine(
    world: &World,
    adapter: &dyn Adapter,
    project: &Path,
    store: anyhow::Result<&Store>,
) -> Vec<Finding> {
    let (version, client) = client::examine(world, adapter);
    let mut findings = vec![client];
    let scene = hooks::Scene { world, adapter, project, client: version };
    findings.extend(hooks::examine(&scene));
    findings.extend(data::examine(world));
    findings.extend(words::examine(world, adapter, project));
    findings.extend(sessions::examine(world, adapter));
    findings.extend(match store {
        Ok(store) => {
            let past = past::examine(world, adapter, project, store);
            past.into_iter().chain(team::examine(world, store)).collect()
        }
        Err(error) => vec![data::unusable(world, &error)],
    });
    findings
}

/// What keeps our hooks from being called in `project`, whatever version the client has.
pub fn broken_hooks(world: &World, adapter: &dyn Adapter, project: &Path) -> Vec<Finding> {
    let mut findings = hooks::examine(&hooks::Scene { world, adapter, project, client: None });
    findings.retain(|finding| finding.state == State::Broken);
    findings
}

/// The command that opens a file for the user to mend.
fn edit(path: &Path) -> String {
    format!("\"${{EDITOR:-vi}}\" {}", quoted(path))
}

/// A path as a command takes it.
fn quoted(path: &Path) -> String {
    shell::quote(&path.display().to_string())
}
