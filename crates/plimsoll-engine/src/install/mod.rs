//! Installs plimsoll in an agent's files, and removes it again.
//!
//! A plan is made first, so that it can be shown, and then carried out. Files that are not ours are
//! replaced atomically, after a backup, and only if they have not changed since they were read.

mod client;
mod file;
mod git;
mod program;
mod purge;
mod record;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_agents::Agent;
use plimsoll_agents::install::{
    Files, Inspection, Installed, Scope, Unfit, UserCommand, Wish, with_paragraph,
    without_paragraph,
};
use plimsoll_core::shell;

pub use client::{is_executable, on_path, version};
pub use file::{Failed, Why};
pub use git::{plan_git, plan_git_removal};
pub use program::{Program, is_short_lived, own_version, refresh_copy};
pub use purge::{NotPurged, Purge};
use record::{Entry, Record};

use crate::paths;
use crate::world::{World, now};

/// What to install, and in which scope.
#[derive(Debug)]
pub struct Order<'a> {
    pub scope: Scope,
    pub project: &'a Path,
    /// Changes to the client's settings.
    pub wish: Wish<'a>,
    /// Whether to install our commands.
    pub commands: bool,
    /// Whether to add a paragraph about plimsoll to the model's instructions.
    pub paragraph: bool,
}

/// Planned changes.
#[derive(Debug, Default)]
pub struct Plan {
    /// Files to change, in this order.
    pub changes: Vec<Change>,
    /// Files with our names but foreign content. They stay.
    pub foreign: Vec<PathBuf>,
    /// Our record of installed files, if it cannot be parsed.
    pub damaged: Option<PathBuf>,
}

/// Result of carrying out a plan.
#[derive(Debug, Default)]
pub struct Done {
    /// Backups of the changed files.
    pub backups: Vec<PathBuf>,
    /// New path of a record that could not be parsed.
    pub set_aside: Option<PathBuf>,
}

/// A planned change of one file.
#[derive(Debug)]
pub struct Change {
    /// The file, as shown to users.
    pub path: PathBuf,
    /// Path with symbolic links resolved.
    target: PathBuf,
    /// `None` if the file does not exist.
    pub before: Option<String>,
    /// `None` if the file is to be removed.
    pub after: Option<String>,
    /// The file's entry in the record afterwards.
    entry: Option<Entry>,
    /// Folders to remove with the file if they are empty, outermost first.
    folders: Vec<PathBuf>,
    /// Whether the text would be lost without a backup.
    backup: bool,
}

impl Change {
    /// Reports whether the file itself changes, and not only the record.
    pub fn is_visible(&self) -> bool {
        self.before != self.after
    }
}

impl Plan {
    fn of(world: &World, record: &Record) -> Self {
        let damaged = record.is_damaged.then(|| world.paths.installed());
        Self { damaged, ..Self::default() }
    }
}

/// Plans an installation.
pub fn plan(world: &World, agent: &'static dyn Agent, order: &Order<'_>) -> Result<Plan, Failed> {
    let installer = agent.installer();
    let files = files(world, agent, order.scope, order.project);
    let record = Record::read(&world.paths.installed())?;
    let mut plan = Plan::of(world, &record);
    let settings = Edit {
        put: &|text| installer.install(text, &order.wish),
        take: &|text, installed| installer.uninstall(text, installed),
    };
    plan.changes.extend(settings.plan(&record, &files.settings)?);
    if order.paragraph {
        let paragraph = Edit {
            put: &|text| with_paragraph(text, installer.paragraph()),
            take: &|text, _| without_paragraph(text),
        };
        plan.changes.extend(paragraph.plan(&record, &files.instructions)?);
    }
    for (command, path) in commands(agent, &files) {
        let found = file::read(&path)?.text;
        let own = found.as_ref().map(|text| is_own(&record, command, &path, text));
        match (own, order.commands) {
            // Commands written by an earlier release are updated.
            (Some(true), _) | (None, true) => {}
            (None, false) => continue,
            (Some(false), wished) => {
                plan.foreign.extend(wished.then_some(path));
                continue;
            }
        }
        let text = command.text(order.wish.program);
        let edit = Edit { put: &|_| Ok(text.clone()), take: &|_, _| Ok(String::new()) };
        plan.changes.extend(edit.plan(&record, &path)?);
    }
    if order.scope != Scope::User {
        plan.changes.iter().try_for_each(|change| check_inside(order.project, change))?;
    }
    let undo = removal_command(world, agent, order.scope, order.project);
    for entry in plan.changes.iter_mut().filter_map(|change| change.entry.as_mut()) {
        entry.undo.clone_from(&undo);
    }
    Ok(plan)
}

/// Checks that a project's file is inside the project, whatever symbolic links the repository
/// contains.
fn check_inside(project: &Path, change: &Change) -> Result<(), Failed> {
    // For a new file, check the nearest folder that exists. A project that does not exist yet
    // cannot contain a link.
    let there = change.target.ancestors().find_map(|path| path.canonicalize().ok());
    let project = project.canonicalize().ok();
    let leads_out = |there: &PathBuf| project.is_some_and(|project| !there.starts_with(project));
    match there.filter(leads_out) {
        None => Ok(()),
        Some(elsewhere) => Err(Failed::to("change", &change.path, Why::LeadsOut(elsewhere))),
    }
}

/// Returns the command that uninstalls from a scope, from any folder.
fn removal_command(
    world: &World,
    agent: &'static dyn Agent,
    scope: Scope,
    project: &Path,
) -> String {
    let quoted = |path: &Path| shell::quote(&path.to_string_lossy());
    match (scope, world.agent_folder(agent)) {
        (Scope::User, None) => "plimsoll uninstall".to_owned(),
        (Scope::User, Some(folder)) => {
            let variable = agent.profile().variables.config_folder.unwrap_or_default();
            format!("{variable}={} plimsoll uninstall", quoted(&folder))
        }
        _ => format!("cd {} && plimsoll uninstall --scope {}", quoted(project), scope.name()),
    }
}

/// Plans a removal.
pub fn plan_removal(
    world: &World,
    agent: &'static dyn Agent,
    scope: Scope,
    project: &Path,
) -> Result<Plan, Failed> {
    let installer = agent.installer();
    let files = files(world, agent, scope, project);
    let record = Record::read(&world.paths.installed())?;
    let mut plan = Plan::of(world, &record);
    let take =
        &|text: &str, installed: Option<&Installed<'_>>| installer.uninstall(text, installed);
    plan.changes.extend(removal(&record, &files.settings, take)?);
    let take = &|text: &str, _: Option<&Installed<'_>>| without_paragraph(text);
    plan.changes.extend(removal(&record, &files.instructions, take)?);
    for (command, path) in commands(agent, &files) {
        let found = file::read(&path)?.text;
        match found.is_none_or(|text| is_own(&record, command, &path, &text)) {
            true => plan.changes.extend(command_removal(&record, &path)?),
            false => plan.foreign.push(path),
        }
    }
    Ok(plan)
}

/// Inspects the settings of a scope; `None` if there are none.
pub fn inspect(
    world: &World,
    agent: &'static dyn Agent,
    scope: Scope,
    project: &Path,
) -> Result<Option<Inspection>, Failed> {
    let path = files(world, agent, scope, project).settings;
    let Some(text) = file::read(&path)?.text else { return Ok(None) };
    let inspection = agent.installer().inspect(&text);
    inspection.map(Some).map_err(|unfit| Failed::to("understand", &path, unfit))
}

/// Reads the file in which the client records trusted folders; `None` if it cannot be read.
pub fn trust(world: &World, agent: &'static dyn Agent) -> Option<String> {
    let path = world.with_home(agent, |home| agent.installer().trust_file(home))?;
    match file::read(&path) {
        // Without the file, no folder is trusted yet.
        Ok(found) => Some(found.text.unwrap_or_default()),
        Err(_) => None,
    }
}

/// Returns the files of a scope.
pub fn files(world: &World, agent: &'static dyn Agent, scope: Scope, project: &Path) -> Files {
    world.with_home(agent, |home| agent.installer().files(scope, home, project))
}

/// Reports whether the user has a command of that name in the client.
pub fn has_command(world: &World, agent: &'static dyn Agent, project: &Path, name: &str) -> bool {
    let folders = world.with_home(agent, |home| agent.client().command_folders(home, project));
    folders.iter().any(|folder| folder.join(name).with_extension("md").is_file())
}

fn commands(
    agent: &'static dyn Agent,
    files: &Files,
) -> impl Iterator<Item = (&'static UserCommand, PathBuf)> {
    let folder = files.commands.clone();
    let commands = agent.installer().commands().iter();
    commands.filter_map(move |command| Some((command, folder.as_ref()?.join(command.file()))))
}

/// Reports whether we wrote a command's file, in this or an earlier release.
fn is_own(record: &Record, command: &UserCommand, path: &Path, text: &str) -> bool {
    command.wrote(text) || record.files.get(path).is_some_and(|entry| entry.after == text)
}

type Put<'a> = &'a dyn Fn(&str) -> Result<String, Unfit>;
type Take<'a> = &'a dyn Fn(&str, Option<&Installed<'_>>) -> Result<String, Unfit>;

/// Edits that add plimsoll to a file and remove it.
struct Edit<'a> {
    put: Put<'a>,
    take: Take<'a>,
}

impl Edit<'_> {
    /// Plans the change that adds plimsoll to a file; `None` if it is there already.
    fn plan(&self, record: &Record, path: &Path) -> Result<Option<Change>, Failed> {
        let found = file::read(path)?;
        let unfit = |unfit| Failed::to("change", path, unfit);
        let after = (self.put)(found.text.as_deref().unwrap_or_default()).map_err(unfit)?;
        if found.text.as_ref() == Some(&after) {
            return Ok(None);
        }
        file::check_writable(path, &found)?;
        let known = record.files.get(path);
        let before = self.without_us(known, found.text.as_deref()).map_err(unfit)?;
        let mut entry = known.cloned().unwrap_or_default();
        let missing = file::missing_folders(path).into_iter();
        entry.made.extend(
            missing.filter(|folder| !known.is_some_and(|known| known.made.contains(folder))),
        );
        Ok(Some(Change {
            path: path.to_owned(),
            target: found.target,
            backup: found.text.is_some(),
            before: found.text,
            after: Some(after.clone()),
            entry: Some(Entry { before, after, ..entry }),
            folders: Vec::new(),
        }))
    }

    /// Returns the file's text without plimsoll, keeping the user's changes since an earlier
    /// installation.
    fn without_us(
        &self,
        known: Option<&Entry>,
        text: Option<&str>,
    ) -> Result<Option<String>, Unfit> {
        let Some(entry) = known else { return Ok(text.map(str::to_owned)) };
        let Some(text) = text else { return Ok(None) };
        if text == entry.after {
            return Ok(entry.before.clone());
        }
        let less = (self.take)(text, Some(&entry.installed()))?;
        Ok(entry.unless_gone(text, less))
    }
}

/// Plans the change that removes plimsoll from a file; `None` if it is not there.
fn removal(record: &Record, path: &Path, take: Take<'_>) -> Result<Option<Change>, Failed> {
    let found = file::read(path)?;
    let entry = record.files.get(path);
    let unfit = |unfit| Failed::to("change", path, unfit);
    let untouched = entry.filter(|entry| found.text.as_ref() == Some(&entry.after));
    let after = match (&found.text, untouched) {
        (None, _) => None,
        // Entries that the user had added by hand before the installation are removed too.
        (Some(_), Some(entry)) => {
            let less = entry.before.as_deref().map(|before| take(before, None));
            less.transpose().map_err(unfit)?
        }
        (Some(text), None) => {
            let less = take(text, entry.map(Entry::installed).as_ref()).map_err(unfit)?;
            match entry {
                Some(entry) => entry.unless_gone(text, less),
                None => Some(less),
            }
        }
    };
    forget(path, entry, found, after, untouched.is_none())
}

fn command_removal(record: &Record, path: &Path) -> Result<Option<Change>, Failed> {
    forget(path, record.files.get(path), file::read(path)?, None, false)
}

fn forget(
    path: &Path,
    entry: Option<&Entry>,
    found: file::Found,
    after: Option<String>,
    backup: bool,
) -> Result<Option<Change>, Failed> {
    if found.text == after && entry.is_none() {
        return Ok(None);
    }
    if found.text != after {
        file::check_writable(path, &found)?;
    }
    Ok(Some(Change {
        path: path.to_owned(),
        target: found.target,
        backup: backup && found.text.is_some() && found.text != after,
        before: found.text,
        after,
        entry: None,
        folders: entry.map(|entry| entry.made.clone()).unwrap_or_default(),
    }))
}

/// Carries out a plan.
///
/// The record is written before an installation changes files, and updated after a removal: at any
/// interruption it lists every changed file. Concurrent calls wait for each other, so that the
/// record lists the changes of all.
pub fn carry_out(world: &World, plan: &Plan) -> Result<Done, Failed> {
    if plan.changes.is_empty() && plan.damaged.is_none() {
        return Ok(Done::default());
    }
    let path = world.paths.installed();
    let unwritten = |error| Failed::to("write", &path, error);
    let missing = file::missing_folders(&path);
    let _lock = lock(&path).map_err(unwritten)?;
    let mut record = Record::read(&path)?;
    let set_aside = record.set_aside(&path).map_err(unwritten)?;
    if record.files.is_empty() {
        record.data_folders = missing;
    }
    let mut backups = Vec::new();
    for change in &plan.changes {
        let copy = back_up(world, change).map_err(|error| copy_failed(world, error))?;
        if let Some(entry) = &change.entry {
            let mut entry = entry.clone();
            entry.backups.extend(copy.clone());
            record.files.insert(change.path.clone(), entry);
        }
        backups.extend(copy);
    }
    record.write(&path).map_err(unwritten)?;
    for change in plan.changes.iter().filter(|change| change.is_visible()) {
        file::change(&change.target, change.before.as_deref(), change.after.as_deref())?;
    }
    leave(&mut record, plan);
    record.write(&path).map_err(unwritten)?;
    // Remove our own folders if they are empty.
    let _ = fs::remove_dir(world.paths.backups());
    if record.files.is_empty() {
        record.data_folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
    Ok(Done { backups, set_aside })
}

/// Locks the installation until the file is closed.
fn lock(record: &Path) -> io::Result<File> {
    paths::make_folder(record)?;
    let folder = File::open(record.parent().unwrap_or(Path::new("/")))?;
    // On a file system without locks, continue without one.
    let _ = folder.lock();
    Ok(folder)
}

fn copy_failed(world: &World, error: io::Error) -> Failed {
    Failed::to("write a copy into", &world.paths.backups(), error)
}

/// Backs up the file if its text would be lost otherwise.
fn back_up(world: &World, change: &Change) -> io::Result<Option<PathBuf>> {
    let Some(text) = change.before.as_ref().filter(|_| change.backup) else { return Ok(None) };
    let name = change.path.file_name().unwrap_or_default().to_string_lossy();
    let at = |time: u64| world.paths.backups().join(format!("{name}.{time}"));
    let mut time = now();
    while at(time).exists() {
        time += 1;
    }
    let copy = at(time);
    paths::replace(&copy, text.as_bytes())?;
    Ok(Some(copy))
}

/// Removes entries of uninstalled files from the record, with their backups and the folders made
/// for them. Folders that are not empty stay.
fn leave(record: &mut Record, plan: &Plan) {
    let gone = plan.changes.iter().filter(|change| change.entry.is_none());
    let mut folders: Vec<&PathBuf> = Vec::new();
    for change in gone {
        let entry = record.files.remove(&change.path).unwrap_or_default();
        for copy in entry.backups {
            let _ = fs::remove_file(copy);
        }
        folders.extend(&change.folders);
    }
    folders.sort();
    for folder in folders.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}
