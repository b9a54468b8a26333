//! Installs plimsoll into Claude Code's own files and removes it again.

mod commands;
mod edit;
mod events;
mod inspect;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use plimsoll_core::event::SessionId;
use serde_json::Value;

use super::{ClaudeCode, folder};
use crate::Home;
use crate::install::{
    Files, Inspection, Installed, Installer, Scope, Unfit, UserCommand, Version, Wish,
};

impl Installer for ClaudeCode {
    fn files(&self, scope: Scope, home: &Home<'_>, project: &Path) -> Files {
        let (own, shared) = (folder(home), project.join(".claude"));
        match scope {
            Scope::User => Files {
                settings: own.join("settings.json"),
                instructions: own.join("CLAUDE.md"),
                commands: Some(own.join("commands")),
            },
            Scope::Project => Files {
                settings: shared.join("settings.json"),
                instructions: project.join("CLAUDE.md"),
                commands: Some(shared.join("commands")),
            },
            Scope::Local => Files {
                settings: shared.join("settings.local.json"),
                instructions: project.join("CLAUDE.local.md"),
                commands: None,
            },
        }
    }

    fn program(&self) -> &'static str {
        "claude"
    }

    fn version(&self, printed: &str) -> Option<Version> {
        Version::parse(printed)
    }

    fn tried(&self) -> (Version, Version) {
        (events::OLDEST, events::NEWEST)
    }

    fn update(&self) -> &'static str {
        events::UPDATE
    }

    fn resume(&self, session: &SessionId) -> String {
        format!("{} --resume {}", self.program(), session.own_id())
    }

    fn hooks_command(&self) -> &'static str {
        "/hooks"
    }

    fn events(&self, client: Option<Version>) -> Vec<&'static str> {
        events::listened(client).map(|listened| listened.event).collect()
    }

    fn hook_line(&self, program: &str) -> String {
        edit::hook_line(program)
    }

    fn trust_file(&self, home: &Home<'_>) -> Option<PathBuf> {
        Some(home.config.unwrap_or(home.user).join(".claude.json"))
    }

    fn is_trusted(&self, text: &str, project: &Path) -> bool {
        let state: Value = serde_json::from_str(text).unwrap_or_default();
        state["projects"][project.to_string_lossy().as_ref()]["hasTrustDialogAccepted"] == true
    }

    fn knows(&self, client: Version, event: &str) -> bool {
        events::knows(Some(client), event)
    }

    fn install(&self, text: &str, wish: &Wish<'_>) -> Result<String, Unfit> {
        edit::install(text, wish)
    }

    fn uninstall(&self, text: &str, installed: Option<&Installed<'_>>) -> Result<String, Unfit> {
        edit::uninstall(text, installed)
    }

    fn inspect(&self, text: &str) -> Result<Inspection, Unfit> {
        inspect::inspect(text)
    }

    fn commands(&self) -> &'static [UserCommand] {
        &commands::COMMANDS
    }

    fn paragraph(&self) -> &'static str {
        PARAGRAPH
    }
}

const PARAGRAPH: &str = "\
Lines that begin with `CONTEXT: ` come from plimsoll. They are measurements of how full this
conversation's context window is, not guesses.
When one arrives: finish the step at hand, tell the user how full the window is, and prefer small
steps that leave the work in a good state.
Load no further agents or skills while such a line advises against it.
At 85 % of the window the session is saved by itself, where the client does not compact before.
`plimsoll ss ENV` (or /ss ENV) saves it now; `plimsoll rs ENV` (or /rs ENV) in a new session goes on
from there. Without ENV that is what PLIMSOLL_ENV or CONTEXTS_ENV names, else `development`.
";
