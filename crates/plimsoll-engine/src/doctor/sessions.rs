//! Checks the sessions of the last week: each is seen and its window is known.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::time::{Duration, SystemTime};

use plimsoll_agents::Agent;
use plimsoll_core::Millis;
use plimsoll_core::policy::Levels;
use plimsoll_core::text::thousands;

use super::{Finding, quoted};
use crate::load::Measured;
use crate::sessions::{self, Found};
use crate::world::World;
use crate::{settings, spool};

const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
/// Number of sessions to check at most.
const MOST: usize = 50;

pub(super) fn examine(world: &World, agent: &'static dyn Agent) -> Vec<Finding> {
    let found = match sessions::find(world) {
        Ok(found) => found,
        Err(error) => {
            let text = format!("transcripts cannot be listed: {error:#}");
            return vec![Finding::broken("sessions", text, "plimsoll status --all")];
        }
    };
    let mut findings = unseen(world, agent, &found);
    findings.extend(unhooked(world, agent, &found));
    findings.extend(closed(world, agent, &found));
    let measured: Vec<Measured> = found
        .iter()
        .filter(|found| is_recent(found.modified))
        .take(MOST)
        .filter_map(|found| sessions::measure(world, found).ok().flatten())
        .collect();
    findings.extend(unknown_windows(&measured));
    findings.extend(moved_lines(world, agent, &measured));
    if findings.is_empty() {
        findings.push(Finding::fine("sessions", seen(measured.len())));
    }
    findings
}

fn seen(sessions: usize) -> String {
    match sessions {
        0 => "none in the last week yet".to_owned(),
        1 => "the one of the last week is seen, its window is known".to_owned(),
        MOST => format!("the last {MOST} are seen, their windows are known"),
        _ => format!("all {sessions} of the last week are seen, their windows are known"),
    }
}

fn is_recent(time: SystemTime) -> bool {
    SystemTime::now().duration_since(time).map_or(true, |age| age < WEEK)
}

/// Reports transcript folders and recent transcripts that cannot be opened.
fn closed(world: &World, agent: &'static dyn Agent, found: &[Found]) -> Option<Finding> {
    let root = world.with_home(agent, |home| agent.transcript().layout(home).root);
    let folders = fs::read_dir(root).into_iter().flatten().flatten().map(|folder| folder.path());
    let folders =
        folders.filter(|path| path.is_dir()).map(|path| (fs::read_dir(&path).err(), path));
    let recent = found.iter().filter(|found| is_recent(found.modified)).take(MOST);
    let files = recent.map(|found| (File::open(&found.path).err(), found.path.clone()));
    let is_gone = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    let mut closed = folders.chain(files).filter_map(|(error, path)| {
        let error = error.filter(|error| !is_gone(error))?;
        Some((error, path))
    });
    let (error, path) = closed.next()?;
    let more = match closed.count() {
        0 => String::new(),
        more => format!(", nor {more} more"),
    };
    let text = format!("`{}` cannot be read ({error}){more}", path.display());
    let rights = if path.is_dir() { "u+rwx" } else { "u+rw" };
    let path = quoted(&path);
    let mend = format!("chown \"$(id -u)\" {path} && chmod {rights} {path}");
    Some(Finding::broken("sessions", text, mend))
}

/// Reports sessions that called hooks but left no transcript.
fn unseen(world: &World, agent: &'static dyn Agent, found: &[Found]) -> Vec<Finding> {
    let spools = fs::read_dir(world.paths.spools()).into_iter().flatten().flatten();
    let names = spools.filter_map(|entry| {
        let recent = is_recent(entry.metadata().ok()?.modified().ok()?);
        let unseen = recent && spool::last(&entry.path()).ok()??.what == spool::UNSEEN;
        let name = entry.path().file_stem()?.to_str()?.to_owned();
        let known = || found.iter().any(|found| found.owner.session.as_str() == name);
        (unseen && !known()).then_some(name)
    });
    names.map(|name| without_transcript(agent, &name)).collect()
}

fn without_transcript(agent: &'static dyn Agent, name: &str) -> Finding {
    let text = format!("session `{name}` left no transcript, so it could not be measured");
    match agent.profile().unrecorded_flag {
        Some(flag) => Finding::broken(
            "sessions",
            format!("{text}: was the client started with `{flag}`?"),
            format!("start the client without `{flag}`"),
        ),
        None => Finding::broken("sessions", text, "check where the client writes its transcripts"),
    }
}

/// Reports the newest session that began after the installation and never called plimsoll.
fn unhooked(world: &World, agent: &'static dyn Agent, found: &[Found]) -> Option<Finding> {
    let installed = fs::metadata(world.paths.installed()).ok()?.modified().ok()?;
    let since = installed.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_millis() as Millis;
    let newest = found
        .iter()
        .find(|found| sessions::started(found).is_some_and(|started| started > since))?;
    let called = world.paths.spool_of(&newest.owner.session, None).exists();
    let name = &newest.owner.session;
    let text = format!("session `{name}` began after plimsoll was installed, and never called it");
    let mend = format!("start the client and type `{}`", agent.installer().hooks_command());
    (!called).then(|| Finding::broken("sessions", text, mend))
}

/// Reports models whose window is a guess: nothing is refused there, and thresholds may be far off.
fn unknown_windows(measured: &[Measured]) -> Vec<Finding> {
    let mut models: BTreeMap<&str, usize> = BTreeMap::new();
    for measured in measured.iter().filter(|measured| measured.window.source.is_guess()) {
        if let Some(model) = &measured.model {
            *models.entry(model).or_default() += 1;
        }
    }
    let finding = |(model, sessions): (&str, usize)| {
        let sessions =
            if sessions == 1 { "1 session".into() } else { format!("{sessions} sessions") };
        let text = format!("nobody knows the window of `{model}` ({sessions}): 200,000 is a guess");
        let mend =
            format!("plimsoll config path   # add there: models: {{{model}: {{window: …}}}}");
        Finding::broken("window", text, mend)
    };
    models.into_iter().map(finding).collect()
}

/// Reports thresholds that were lowered because the client would compact before reaching them.
fn moved_lines(world: &World, agent: &'static dyn Agent, measured: &[Measured]) -> Option<Finding> {
    let newest = measured.iter().find(|measured| measured.moved)?;
    let trigger = newest.trigger.tokens()?;
    let settings = settings::load(world, agent, &newest.project).settings;
    let asked = Levels::of(&settings.lines, newest.window.tokens);
    let pairs = [
        ("ceiling", asked.ceiling, newest.levels.ceiling),
        ("checkpoint", asked.checkpoint, newest.levels.checkpoint),
        ("save", asked.save, newest.levels.save),
        ("warn", asked.warn, newest.levels.warn),
        ("restart", asked.restart, newest.levels.restart),
    ];
    let moved: Vec<String> = pairs
        .iter()
        .filter(|(_, asked, level)| asked != level)
        .map(|(name, asked, level)| format!("{name} {} → {}", thousands(*asked), thousands(*level)))
        .collect();
    let text = format!(
        "the client compacts at {} of {} tokens; lines at which less than three calls would be left were lowered: {}",
        thousands(trigger),
        thousands(newest.window.tokens),
        moved.join(", ")
    );
    Some(Finding::fine("lines", text))
}
