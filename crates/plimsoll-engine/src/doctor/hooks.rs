//! Checks the hooks: installed, once, in a form that the client accepts and runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plimsoll_agents::Agent;
use plimsoll_agents::install::{HookEntry, Inspection, Scope, Timeout, Version, Wish};
use plimsoll_core::shell;

use super::{Finding, State, edit};
use crate::install::{self, Failed, Order, Program};
use crate::paths::{self, Links};
use crate::world::{self, World};

const SUBJECT: &str = "hooks";

/// Input of the checks.
pub(super) struct Scene<'a> {
    pub(super) world: &'a World,
    pub(super) agent: &'static dyn Agent,
    pub(super) project: &'a Path,
    pub(super) client: Option<Version>,
}

/// Settings from one file.
struct Settings {
    /// `None` for a file managed by an administrator.
    scope: Option<Scope>,
    path: PathBuf,
    found: Inspection,
}

impl Settings {
    fn ours(&self) -> impl Iterator<Item = &HookEntry> {
        self.found.hooks.iter().filter(|hook| hook.is_ours)
    }

    /// Returns one of our commands with the option for this file's scope.
    fn with_scope(&self, command: &str) -> String {
        match self.scope {
            None | Some(Scope::User) => format!("plimsoll {command}"),
            Some(scope) => format!("plimsoll {command} --scope {}", scope.name()),
        }
    }
}

pub(super) fn examine(scene: &Scene<'_>) -> Vec<Finding> {
    let (settings, mut findings) = read(scene);
    for settings in &settings {
        findings.extend(form(scene, settings));
    }
    findings.extend(settings.iter().filter_map(with_arguments));
    findings.extend(presence(scene, &settings));
    findings.extend(repeated(&settings));
    findings.extend(programs(scene, &settings));
    findings.extend(copy(scene.world, &settings));
    findings.extend(untrusted(scene, &settings));
    let is_sound = |findings: &[Finding]| findings.iter().all(|found| found.state != State::Broken);
    if is_sound(&findings) {
        findings.extend(settings.iter().filter_map(|settings| odd(scene, settings)));
    }
    if is_sound(&findings) {
        findings.insert(0, Finding::fine(SUBJECT, installed(&settings)));
        findings.extend(status_line(scene, &settings));
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

/// Reads every settings file that the client reads for this project.
fn read(scene: &Scene<'_>) -> (Vec<Settings>, Vec<Finding>) {
    let Scene { world, agent, project, .. } = *scene;
    let (mut settings, mut findings) = (Vec::new(), Vec::new());
    let mut known: Vec<PathBuf> = Vec::new();
    for scope in Scope::ALL {
        let path = install::files(world, agent, scope, project).settings;
        // In the home folder, project and user settings are the same file.
        let real = paths::canonical(&path);
        if known.contains(&real) {
            continue;
        }
        known.push(real);
        match install::inspect(world, agent, scope, project) {
            Ok(Some(found)) => settings.push(Settings { scope: Some(scope), path, found }),
            Ok(None) => {}
            Err(failed) => findings.push(unreadable(&failed)),
        }
    }
    let all = world.with_home(agent, |home| agent.client().files(home, project));
    let managed = all.into_iter().filter(|path| !known.contains(path));
    settings.extend(managed.filter_map(|path| {
        let text = paths::read_small(&path, Links::Followed).ok()?;
        let found = agent.installer().inspect(&text).ok()?;
        Some(Settings { scope: None, path, found })
    }));
    (settings, findings)
}

fn unreadable(failed: &Failed) -> Finding {
    let text = format!("`{}` cannot be used: {}", failed.path.display(), failed.why);
    Finding::broken(SUBJECT, text, edit(&failed.path))
}

/// Reports what the client ignores or rejects in one file.
fn form(scene: &Scene<'_>, settings: &Settings) -> Vec<Finding> {
    let (path, found) = (settings.path.display(), &settings.found);
    let broken = |text: String| Finding::broken(SUBJECT, text, edit(&settings.path));
    let mut findings = Vec::new();
    if let Some(why) = &found.ignored {
        findings.push(broken(format!("the client passes over the whole of `{path}`: {why}")));
    }
    if found.hooks_disabled {
        findings.push(broken(format!("all hooks are switched off in `{path}`")));
    }
    if found.switch.as_deref().is_some_and(world::switches_off) {
        let text = format!("`PLIMSOLL` in the variables of `{path}` silences every hook");
        findings.push(Finding::note("switch", text, edit(&settings.path)));
    }
    findings.extend(found.twice.iter().map(|key| {
        broken(format!("`{key}` is twice in `{path}`, and the client takes one of them"))
    }));
    findings.extend(unknown_events(scene, found).into_iter().map(|event| {
        let text = format!(
            "`{event}` in `{path}` is no event that the client knows: it passes over the file, or asks at every start what to do"
        );
        let is_ours = settings.ours().any(|hook| hook.event == *event);
        let mend = if is_ours { settings.with_scope("init") } else { edit(&settings.path) };
        Finding::broken(SUBJECT, text, mend)
    }));
    findings.extend(found.hooks.iter().filter_map(|hook| timeout(settings, hook)));
    findings.extend(found.compact_at.as_ref().and_then(|percent| override_of(settings, percent)));
    findings
}

fn unknown_events<'f>(scene: &Scene<'_>, found: &'f Inspection) -> BTreeSet<&'f String> {
    let knows = |event: &str| {
        scene.client.is_none_or(|client| scene.agent.installer().knows(client, event))
    };
    let events = found.hooks.iter().map(|hook| &hook.event).filter(|event| !knows(event));
    found.unknown_events.iter().chain(events).collect()
}

/// Checks that a timeout is a plausible number of seconds.
fn timeout(settings: &Settings, hook: &HookEntry) -> Option<Finding> {
    const LONG: f64 = 600.0;
    let what = format!("a {} hook in `{}`", hook.event, settings.path.display());
    let finding = |text: String| Finding::broken(SUBJECT, text, edit(&settings.path));
    match hook.timeout {
        Timeout::Invalid => {
            Some(finding(format!("the timeout of {what} is no number: the client never runs it")))
        }
        Timeout::Seconds(seconds) if seconds <= 0.0 => {
            Some(finding(format!("the timeout of {what} is {seconds}: the client never runs it")))
        }
        Timeout::Seconds(seconds) if seconds > LONG => {
            let text = format!("the timeout of {what} is {seconds} seconds, not milliseconds");
            Some(Finding::note(SUBJECT, text, edit(&settings.path)))
        }
        Timeout::Seconds(_) | Timeout::Unset => None,
    }
}

/// Reports a compaction percentage that is out of range.
fn override_of(settings: &Settings, percent: &str) -> Option<Finding> {
    let sound =
        percent.trim().parse::<f64>().is_ok_and(|percent| percent > 0.0 && percent <= 100.0);
    let text = format!(
        "`{percent}` in `{}` is no percentage: the client compacts where it would without it",
        settings.path.display()
    );
    (!sound).then(|| Finding::broken("trigger", text, edit(&settings.path)))
}

/// Reports hooks of ours that differ from what `init` writes: wrong matcher, type or form.
fn odd(scene: &Scene<'_>, settings: &Settings) -> Option<Finding> {
    let (first, scope) = (settings.ours().next()?, settings.scope?);
    let wish = Wish {
        program: &program(first),
        // Events that the client lacks or does not know have findings of their own.
        client: None,
        status_line: settings.found.status_line.as_ref().is_some_and(|line| line.is_ours),
        compact_at: None,
    };
    let (project, commands, paragraph) = (scene.project, false, false);
    let order = Order { scope, project, wish, commands, paragraph };
    let plan = install::plan(scene.world, scene.agent, &order).ok()?;
    let text = format!("ours in `{}` are not as they should be", settings.path.display());
    let mend = settings.with_scope("init");
    (!plan.changes.is_empty()).then(|| Finding::broken(SUBJECT, text, mend))
}

/// Reports hooks of ours in the form of release 0.1.0.
fn with_arguments(settings: &Settings) -> Option<Finding> {
    let text = format!(
        "ours in `{}` pass `args`, which clients before 2.1.140 ignore",
        settings.path.display()
    );
    let is_old = settings.ours().any(|hook| hook.args.is_some());
    is_old.then(|| Finding::broken(SUBJECT, text, settings.with_scope("init")))
}

/// Reports missing hooks of ours.
fn presence(scene: &Scene<'_>, settings: &[Settings]) -> Option<Finding> {
    let ours: BTreeSet<&str> =
        settings.iter().flat_map(Settings::ours).map(|hook| hook.event.as_str()).collect();
    if ours.is_empty() {
        let text = "none is installed: nobody is warned";
        return Some(Finding::broken(SUBJECT, text, "plimsoll init"));
    }
    let installer = scene.agent.installer();
    let missing = |client| -> Vec<&str> {
        let events = installer.events(client).into_iter();
        events.filter(|event| !ours.contains(event)).collect()
    };
    let place = settings.iter().find(|settings| settings.ours().next().is_some())?;
    let mend = place.with_scope("init");
    let lacks_vital = !missing(None).is_empty();
    let missing = missing(scene.client);
    let text = format!("plimsoll is not called at {}", missing.join(", "));
    match missing.is_empty() {
        true => None,
        false if lacks_vital => Some(Finding::broken(SUBJECT, text, mend)),
        // A note only: `init` may not have known the client's version.
        false => Some(Finding::note(SUBJECT, text, mend)),
    }
}

/// Reports duplicate hooks of ours. The client runs equal entries once, but different ones all.
fn repeated(settings: &[Settings]) -> Option<Finding> {
    let ours = || settings.iter().flat_map(Settings::ours);
    let entries: BTreeSet<_> =
        ours().map(|hook| (&hook.event, &hook.command, &hook.args)).collect();
    let events: BTreeSet<_> = ours().map(|hook| &hook.event).collect();
    let mut places = settings.iter().filter(|settings| settings.ours().next().is_some());
    let (first, last) = (places.next()?, places.next_back());
    // Within one file `init` removes the duplicates.
    let mend = last.map_or_else(|| first.with_scope("init"), |last| last.with_scope("uninstall"));
    let text = "plimsoll is installed by two command lines, so that both run at each event";
    (entries.len() > events.len()).then(|| Finding::broken(SUBJECT, text, mend))
}

/// Reports hooks of ours whose program is missing.
fn programs(scene: &Scene<'_>, settings: &[Settings]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for settings in settings {
        let programs: BTreeSet<String> = settings.ours().map(program).collect();
        findings
            .extend(programs.iter().filter_map(|program| missing(scene.world, settings, program)));
    }
    findings
}

/// Checks that the copy of our program that hooks call can be run.
fn copy(world: &World, settings: &[Settings]) -> Option<Finding> {
    let copy = world.paths.program_copy();
    let is_called = |settings: &Settings| settings.ours().any(|it| Path::new(&program(it)) == copy);
    let settings = settings.iter().find(|settings| is_called(settings))?;
    if !install::is_executable(&copy) {
        return None; // Reported as a missing program.
    }
    let path = copy.display();
    Some(match install::own_version(&copy) {
        Some(version) => Finding::fine(
            "program",
            format!("the hooks call `{path}`, a copy of plimsoll {version}"),
        ),
        None => {
            let text = format!("the hooks call `{path}`, which does not run");
            Finding::broken("program", text, settings.with_scope("init"))
        }
    })
}

/// Returns the program of a hook; of a shell command, its first word.
fn program(hook: &HookEntry) -> String {
    match hook.args {
        Some(_) => hook.command.clone(),
        None => first_word(&hook.command),
    }
}

fn first_word(line: &str) -> String {
    shell::words(line).into_iter().next().map(|word| word.text).unwrap_or_default()
}

fn missing(world: &World, settings: &Settings, program: &str) -> Option<Finding> {
    if program.contains('/') {
        let text = format!("the hooks call `{program}`, and there is no such program");
        let mend = settings.with_scope("init");
        if !install::is_executable(Path::new(program)) {
            return Some(Finding::broken(SUBJECT, text, mend));
        }
        let text = format!("the hooks call `{program}`, which the next upgrade may move or remove");
        let is_short_lived = install::is_short_lived(Path::new(program));
        return is_short_lived.then(|| Finding::note(SUBJECT, text, mend));
    }
    let text = format!("the hooks call `{program}`, which is not on the PATH");
    let own = Program::find(world).ok();
    let folder = own.and_then(|own| own.path.parent().map(Path::to_owned));
    let folder = folder.unwrap_or_default().display().to_string();
    let mend = format!("export PATH={}:\"$PATH\"", shell::quote(&folder));
    let found = install::on_path(world, program).next().is_some();
    (!found).then(|| Finding::broken(SUBJECT, text, mend))
}

/// Reports hooks of a project that the client does not run until the user trusts the folder.
fn untrusted(scene: &Scene<'_>, settings: &[Settings]) -> Option<Finding> {
    let Scene { world, agent, project, .. } = *scene;
    let shared = |settings: &&Settings| {
        settings.scope.is_some_and(|scope| scope != Scope::User) && settings.ours().next().is_some()
    };
    settings.iter().find(shared)?;
    let installer = agent.installer();
    let text = install::trust(world, agent);
    let trusted = text.is_none_or(|text| installer.is_trusted(&text, project));
    let text = format!("the hooks of `{}` wait until its folder is trusted", project.display());
    let folder = shell::quote(&project.display().to_string());
    let mend = format!("cd {folder} && {}   # and say yes", installer.program());
    (!trusted).then(|| Finding::note(SUBJECT, text, mend))
}

/// Checks the status line, which reports the window to the hooks and the load to the user.
fn status_line(scene: &Scene<'_>, settings: &[Settings]) -> Option<Finding> {
    const SUBJECT: &str = "status line";
    // The last file that has a status line takes precedence.
    let shown = settings
        .iter()
        .rev()
        .find_map(|settings| settings.found.status_line.as_ref().map(|line| (settings, line)));
    match shown {
        Some((settings, line)) if line.is_ours => {
            let missing = missing(scene.world, settings, &first_word(&line.command));
            let missing = missing.map(|finding| Finding { subject: SUBJECT, ..finding });
            Some(missing.unwrap_or_else(|| Finding::fine(SUBJECT, "it shows the load")))
        }
        Some((settings, _)) if settings.scope != Some(Scope::User) => {
            let path = settings.path.display();
            let text = format!("`{path}` has one of its own, which stands before yours");
            Some(Finding::note(SUBJECT, text, edit(&settings.path)))
        }
        _ => Some(Finding::fine(SUBJECT, "not ours; `plimsoll init` adds the load to it")),
    }
}
