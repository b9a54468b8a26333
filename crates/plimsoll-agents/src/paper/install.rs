//! The paper agent's config: one setting a line, hooks as `hook.EVENT = COMMAND`.

use std::path::{Path, PathBuf};

use plimsoll_core::event::SessionId;

use super::{Paper, folder};
use crate::Home;
use crate::install::{
    Files, HookEntry, Inspection, Installed, Installer, Scope, Timeout, Unfit, UserCommand,
    Version, Wish,
};

const EVENTS: [&str; 6] = ["prompt", "tool_start", "tool_done", "start", "stop", "end"];

impl Installer for Paper {
    fn files(&self, scope: Scope, home: &Home<'_>, project: &Path) -> Files {
        let folder = match scope {
            Scope::User => folder(home),
            Scope::Project | Scope::Local => project.join(".paper"),
        };
        let instructions = folder.join("notes.md");
        Files { settings: folder.join("config"), instructions, commands: None }
    }

    fn program(&self) -> &'static str {
        "paper"
    }

    fn version(&self, printed: &str) -> Option<Version> {
        Version::parse(printed)
    }

    fn tried(&self) -> (Version, Version) {
        (Version(1, 0, 0), Version(1, 0, 0))
    }

    fn update(&self) -> &'static str {
        "paper update"
    }

    fn resume(&self, session: &SessionId) -> String {
        format!("paper resume {}", session.own_id())
    }

    fn hooks_command(&self) -> &'static str {
        "/hooks"
    }

    fn events(&self, _client: Option<Version>) -> Vec<&'static str> {
        EVENTS.to_vec()
    }

    fn hook_line(&self, program: &str) -> String {
        format!("{} hook --agent paper", plimsoll_core::shell::quote(program))
    }

    fn trust_file(&self, _home: &Home<'_>) -> Option<PathBuf> {
        None
    }

    fn is_trusted(&self, _text: &str, _project: &Path) -> bool {
        true
    }

    fn knows(&self, _client: Version, event: &str) -> bool {
        EVENTS.contains(&event)
    }

    fn install(&self, text: &str, wish: &Wish<'_>) -> Result<String, Unfit> {
        let mut with = self.uninstall(text, None)?;
        if !with.is_empty() && !with.ends_with('\n') {
            with.push('\n');
        }
        for event in EVENTS {
            with.push_str(&format!("hook.{event} = {}\n", self.hook_line(wish.program)));
        }
        Ok(with)
    }

    fn uninstall(&self, text: &str, _installed: Option<&Installed<'_>>) -> Result<String, Unfit> {
        Ok(text
            .split_inclusive('\n')
            .filter(|line| hook(line).is_none_or(|it| !it.is_ours))
            .collect())
    }

    fn inspect(&self, text: &str) -> Result<Inspection, Unfit> {
        Ok(Inspection { hooks: text.lines().filter_map(hook).collect(), ..Inspection::default() })
    }

    fn commands(&self) -> &'static [UserCommand] {
        &[]
    }

    fn paragraph(&self) -> &'static str {
        "Lines that begin with `CONTEXT: ` come from plimsoll.\n"
    }
}

fn hook(line: &str) -> Option<HookEntry> {
    let (event, command) = line.strip_prefix("hook.")?.split_once(" = ")?;
    Some(HookEntry {
        event: event.to_owned(),
        matcher: None,
        command: command.trim_end().to_owned(),
        args: None,
        timeout: Timeout::Unset,
        is_ours: command.contains("hook --agent paper"),
    })
}
