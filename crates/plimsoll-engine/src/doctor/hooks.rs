//! The hooks: are they there, once, in a form the client takes, and does it run them?

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plimsoll_agents::Adapter;
use plimsoll_agents::install::{HookEntry, Inspection, Scope, Timeout, Version};

use super::Finding;
use crate::install::{self, Failed};
use crate::paths::{self, Links};
use crate::world::World;

const SUBJECT: &str = "hooks";

/// The settings of one scope.
struct Settings {
    scope: Scope,
    path: PathBuf,
    found: Inspection,
}

impl Settings {
    fn ours(&self) -> impl Iterator<Item = &HookEntry> {
        self.found.hooks.iter().filter(|hook| hook.is_ours)
    }

    fn edit(&self) -> String {
        format!("\"${{EDITOR:-vi}}\" '{}'", self.path.display())
    }

    fn uninstall(&self) -> String {
        format!("plimsoll uninstall --scope {}", self.scope.name())
    }
}

pub(super) fn examine(
    world: &World,
    adapter: &dyn Adapter,
    project: &Path,
    client: Option<Version>,
) -> Vec<Finding> {
    let (settings, mut findings) = read(world, adapter, project);
    for settings in &settings {
        findings.extend(form(settings, client, adapter));
    }
    findings.extend(presence(adapter, &settings, client));
    findings.extend(repeated(&settings));
    findings.extend(programs(world, &settings));
    findings.extend(untrusted(world, adapter, project, &settings));
    let sound = findings.is_empty();
    findings.extend(status_line(&settings));
    if sound {
        findings.insert(0, Finding::fine(SUBJECT, installed(&settings)));
    }
    findings
}

fn installed(settings: &[Settings]) -> String {
    let ours = settings.iter().filter(|settings| settings.ours().next().is_some());
    let places: Vec<String> = ours
        .map(|settings| format!("{} in `{}`", settings.ours().count(), settings.path.display()))
        .collect();
    format!("{} run plimsoll", places.join(", "))
}

/// The settings of every scope that has some.
fn read(world: &World, adapter: &dyn Adapter, project: &Path) -> (Vec<Settings>, Vec<Finding>) {
    let (mut settings, mut findings) = (Vec::<Settings>::new(), Vec::new());
    for scope in Scope::ALL {
        let path = install::files(world, adapter, scope, project).settings;
        // In the user's own folder the project's settings are the user's.
        if settings.iter().any(|known| known.path == path) {
            continue;
        }
        match install::inspect(world, adapter, scope, project) {
            Ok(Some(found)) => settings.push(Settings { scope, path, found }),
            Ok(None) => {}
            Err(failed) => findings.push(unreadable(&failed)),
        }
    }
    (settings, findings)
}

fn unreadable(failed: &Failed) -> Finding {
    let text = format!("`{}` cannot be used: {}", failed.path.display(), failed.why);
    Finding::broken(SUBJECT, text, failed.hint())
}

/// What the client passes over, or stumbles on, in one file.
fn form(settings: &Settings, client: Option<Version>, adapter: &dyn Adapter) -> Vec<Finding> {
    let (path, found) = (settings.path.display(), &settings.found);
    let broken = |text: String| Finding::broken(SUBJECT, text, settings.edit());
    let mut findings = Vec::new();
    if let Some(why) = &found.ignored {
        findings.push(broken(format!("the client passes over the whole of `{path}`: {why}")));
    }
    if found.hooks_disabled {
        findings.push(broken(format!("all hooks are switched off in `{path}`")));
    }
    if found.switch.as_deref() == Some("off") {
        let text = format!("`PLIMSOLL=off` in `{path}` silences every hook");
        findings.push(Finding::note("switch", text, settings.edit()));
    }
    findings.extend(found.twice.iter().map(|key| {
        broken(format!("`{key}` is twice in `{path}`, and the client takes one of them"))
    }));
    let unknown = found
        .hooks
        .iter()
        .map(|hook| &hook.event)
        .filter(|event| client.is_some_and(|client| !adapter.installer().knows(client, event)));
    let unknown: BTreeSet<&String> = found.unknown_events.iter().chain(unknown).collect();
    findings.extend(unknown.into_iter().map(|event| {
        broken(format!("`{event}` in `{path}` is no event that the client knows: it asks at every start what to do"))
    }));
    findings.extend(found.hooks.iter().filter_map(|hook| timeout(settings, hook)));
    findings
}

/// A timeout is in seconds, and a number.
fn timeout(settings: &Settings, hook: &HookEntry) -> Option<Finding> {
    const LONG: f64 = 600.0;
    let what = format!("a {} hook in `{}`", hook.event, settings.path.display());
    match hook.timeout {
        Timeout::Invalid => {
            let text =
                format!("the timeout of {what} is no number: the client passes over the hook");
            Some(Finding::broken(SUBJECT, text, settings.edit()))
        }
        Timeout::Seconds(seconds) if seconds > LONG => {
            let text = format!("the timeout of {what} is {seconds} seconds, not milliseconds");
            Some(Finding::note(SUBJECT, text, settings.edit()))
        }
        Timeout::Seconds(_) | Timeout::Unset => None,
    }
}

/// Which of our hooks are missing.
fn presence(
    adapter: &dyn Adapter,
    settings: &[Settings],
    client: Option<Version>,
) -> Option<Finding> {
    let ours: BTreeSet<&str> =
        settings.iter().flat_map(Settings::ours).map(|hook| hook.event.as_str()).collect();
    if ours.is_empty() {
        let text = "none is installed: nobody is warned";
        return Some(Finding::broken(SUBJECT, text, "plimsoll init"));
    }
    let mut missing = adapter.installer().events(client);
    missing.retain(|event| !ours.contains(event));
    let text = format!("plimsoll is not called at {}", missing.join(", "));
    (!missing.is_empty()).then(|| Finding::broken(SUBJECT, text, "plimsoll init"))
}

/// The client runs equal command lines once; others it runs all.
fn repeated(settings: &[Settings]) -> Option<Finding> {
    let lines = |settings: &Settings| -> Vec<(String, String)> {
        let line = |hook: &HookEntry| {
            let args = hook.args.as_deref().unwrap_or_default().join(" ");
            (hook.event.clone(), format!("{} {args}", hook.command).trim_end().to_owned())
        };
        settings.ours().map(line).collect()
    };
    let all: BTreeSet<(String, String)> = settings.iter().flat_map(lines).collect();
    let events: BTreeSet<&String> = all.iter().map(|(event, _)| event).collect();
    if all.len() == events.len() {
        return None;
    }
    let text = "plimsoll is installed by two command lines, so that both run at each event";
    let last = settings.iter().rfind(|settings| settings.ours().next().is_some())?;
    Some(Finding::broken(SUBJECT, text, last.uninstall()))
}

/// Whether what the hooks call is there.
fn programs(world: &World, settings: &[Settings]) -> Vec<Finding> {
    let programs: BTreeSet<&str> = settings.iter().flat_map(Settings::ours).map(program).collect();
    programs.into_iter().filter_map(|program| missing(world, program)).collect()
}

/// The program of a hook: of a line for the shell its first word.
fn program(hook: &HookEntry) -> &str {
    match hook.args {
        Some(_) => &hook.command,
        None => hook.command.split_whitespace().next().unwrap_or_default().trim_matches('\''),
    }
}

fn missing(world: &World, program: &str) -> Option<Finding> {
    let (found, text) = if program.contains('/') {
        let text = format!("the hooks call `{program}`, which is no program");
        (install::is_executable(Path::new(program)), text)
    } else {
        let text = format!("the hooks call `{program}`, which is not on the PATH");
        (install::on_path(world, program).next().is_some(), text)
    };
    // An earlier place of ours in the settings is replaced.
    (!found).then(|| Finding::broken(SUBJECT, text, "plimsoll init"))
}

/// Hooks of a project wait until the user trusts its folder.
fn untrusted(
    world: &World,
    adapter: &dyn Adapter,
    project: &Path,
    settings: &[Settings],
) -> Option<Finding> {
    let shared =
        |settings: &&Settings| settings.scope != Scope::User && settings.ours().next().is_some();
    settings.iter().find(shared)?;
    let installer = adapter.installer();
    let path = world.with_home(adapter, |home| installer.trust_file(home));
    let text = paths::read_small(&path, Links::Followed).unwrap_or_default();
    let text = (!installer.is_trusted(&text, project)).then(|| {
        format!("the hooks of `{}` wait until its folder is trusted", project.display())
    })?;
    let mend = format!("cd '{}' && {}   # and say yes", project.display(), installer.program());
    Some(Finding::note(SUBJECT, text, mend))
}

/// The status line tells the hooks the window, and the user the load.
fn status_line(settings: &[Settings]) -> Option<Finding> {
    const SUBJECT: &str = "status line";
    // The strongest scope that has one decides.
    let shown = settings
        .iter()
        .rev()
        .find_map(|settings| settings.found.status_line.as_ref().map(|line| (settings, line)));
    match shown {
        Some((_, line)) if line.is_ours => Some(Finding::fine(SUBJECT, "it shows the load")),
        Some((settings, _)) if settings.scope != Scope::User => {
            let path = settings.path.display();
            let text = format!("`{path}` has one of its own, which stands before yours");
            Some(Finding::note(SUBJECT, text, settings.edit()))
        }
        _ => {
            let text =
                "it is not ours: the load is not shown, and nobody tells the hooks the window";
            Some(Finding::note(SUBJECT, text, "plimsoll init"))
        }
    }
}
