//! Putting plimsoll into an agent's own files, and taking it out again.
//!
//! First a plan is made, which can be shown; then it is carried out. Files of others are replaced
//! whole, after a copy was made and only if nobody changed them meanwhile.

mod client;
mod file;
mod git;
mod program;
mod purge;
mod record;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_agents::Adapter;
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

/// What to install, and for whom.
#[derive(Debug)]
pub struct Order<'a> {
    /// For whom.
    pub scope: Scope,
    /// The project's folder.
    pub project: &'a Path,
    /// What goes into the client's settings.
    pub wish: Wish<'a>,
    /// Whether the commands are wished.
    pub commands: bool,
    /// Whether the model is told of us in its instructions.
    pub paragraph: bool,
}

/// What is to be done.
#[derive(Debug, Default)]
pub struct Plan {
    /// The files to change, in this order.
    pub changes: Vec<Change>,
    /// Files that have our names and hold something else. They stay.
    pub foreign: Vec<PathBuf>,
    /// Our own record of what was installed, if it cannot be understood.
    pub damaged: Option<PathBuf>,
}

/// What carrying a plan out has left.
#[derive(Debug, Default)]
pub struct Done {
    /// Copies of the files that were changed.
    pub backups: Vec<PathBuf>,
    /// Where the record is now that could not be understood.
    pub set_aside: Option<PathBuf>,
}

/// One file that is to change.
#[derive(Debug)]
pub struct Change {
    /// The file, as users call it.
    pub path: PathBuf,
    /// Where it really is.
    target: PathBuf,
    /// What it says; nothing if it is not there.
    pub before: Option<String>,
    /// What it is to say; nothing if it is to go.
    pub after: Option<String>,
    /// What the record says of it from then on.
    entry: Option<Entry>,
    /// The folders that go with it if nothing else is in them, outermost first.
    folders: Vec<PathBuf>,
    /// Whether the text would be lost otherwise.
    backup: bool,
}

impl Change {
    /// Whether the file itself changes, and not only what we remember of it.
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
pub fn plan(world: &World, adapter: &dyn Adapter, order: &Order<'_>) -> Result<Plan, Failed> {
    let installer = adapter.installer();
    let files = files(world, adapter, order.scope, order.project);
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
    for (command, path) in commands(adapter, &files) {
        let found = file::read(&path)?.text;
        let own = found.as_ref().map(|text| is_own(&record, command, &path, text));
        match (own, order.commands) {
            // Commands that an earlier release wrote are brought up to date.
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
    let undo = removal_command(world, adapter, order.scope, order.project);
    for entry in plan.changes.iter_mut().filter_map(|change| change.entry.as_mut()) {
        entry.undo.clone_from(&undo);
    }
    Ok(plan)
}

/// Whether a file of a project lies in it, whatever links a repository has in its place.
fn check_inside(project: &Path, change: &Change) -> Result<(), Failed> {
    // Of a file that is to be made there is the folder, or one further out. In a project that is not
    // there yet nobody can have put a link.
    let there = change.target.ancestors().find_map(|path| path.canonicalize().ok());
    let project = project.canonicalize().ok();
    let leads_out = |there: &PathBuf| project.is_some_and(|project| !there.starts_with(project));
    match there.filter(leads_out) {
        None => Ok(()),
        Some(elsewhere) => Err(Failed::to("change", &change.path, Why::LeadsOut(elsewhere))),
    }
}

/// The command that takes us out of a scope again, from any folder.
fn removal_command(world: &World, adapter: &dyn Adapter, scope: Scope, project: &Path) -> String {
    let quoted = |path: &Path| shell::quote(&path.to_string_lossy());
    match (scope, world.agent_folder(adapter)) {
        (Scope::User, None) => "plimsoll uninstall".to_owned(),
        (Scope::User, Some(folder)) => {
            format!("{}={} plimsoll uninstall", adapter.folder_variable(), quoted(&folder))
        }
        _ => format!("cd {} && plimsoll uninstall --scope {}", quoted(project), scope.name()),
    }
}

/// Plans a removal.
pub fn plan_removal(
    world: &World,
    adapter: &dyn Adapter,
    scope: Scope,
    project: &Path,
) -> Result<Plan, Failed> {
    let installer = adapter.installer();
    let files = files(world, adapter, scope, project);
    let record = Record::read(&world.paths.installed())?;
    let mut plan = Plan::of(world, &record);
    let take =
        &|text: &str, installed: Option<&Installed<'_>>| installer.uninstall(text, installed);
    plan.changes.extend(removal(&record, &files.settings, take)?);
    let take = &|text: &str, _: Option<&Installed<'_>>| without_paragraph(text);
    plan.changes.extend(removal(&record, &files.instructions, take)?);
    for (command, path) in commands(adapter, &files) {
        let found = file::read(&path)?.text;
        match found.is_none_or(|text| is_own(&record, command, &path, &text)) {
            true => plan.changes.extend(command_removal(&record, &path)?),
            false => plan.foreign.push(path),
        }
    }
    Ok(plan)
}

/// What the settings of a scope say; nothing if there are none.
pub fn inspect(
    world: &World,
    adapter: &dyn Adapter,
    scope: Scope,
    project: &Path,
) -> Result<Option<Inspection>, Failed> {
    let path = files(world, adapter, scope, project).settings;
    let Some(text) = file::read(&path)?.text else { return Ok(None) };
    let inspection = adapter.installer().inspect(&text);
    inspection.map(Some).map_err(|unfit| Failed::to("understand", &path, unfit))
}

/// The text in which the client keeps whom the user trusts; nothing where it cannot be read.
pub fn trust(world: &World, adapter: &dyn Adapter) -> Option<String> {
    let path = world.with_home(adapter, |home| adapter.installer().trust_file(home));
    match file::read(&path) {
        // Without a file nobody is trusted yet.
        Ok(found) => Some(found.text.unwrap_or_default()),
        Err(_) => None,
    }
}

/// The files of a scope.
pub fn files(world: &World, adapter: &dyn Adapter, scope: Scope, project: &Path) -> Files {
    world.with_home(adapter, |home| adapter.installer().files(scope, home, project))
}

/// Whether the user has a command of that name in the client.
pub fn has_command(world: &World, adapter: &dyn Adapter, project: &Path, name: &str) -> bool {
    let folders = world.with_home(adapter, |home| adapter.command_folders(home, project));
    folders.iter().any(|folder| folder.join(name).with_extension("md").is_file())
}

fn commands(
    adapter: &dyn Adapter,
    files: &Files,
) -> impl Iterator<Item = (&'static UserCommand, PathBuf)> {
    let folder = files.commands.clone();
    let commands = adapter.installer().commands().iter();
    commands.filter_map(move |command| Some((command, folder.as_ref()?.join(command.file()))))
}

/// Whether we wrote a command's file, now or in an earlier release.
fn is_own(record: &Record, command: &UserCommand, path: &Path, text: &str) -> bool {
    command.wrote(text) || record.files.get(path).is_some_and(|entry| entry.after == text)
}

type Put<'a> = &'a dyn Fn(&str) -> Result<String, Unfit>;
type Take<'a> = &'a dyn Fn(&str, Option<&Installed<'_>>) -> Result<String, Unfit>;

/// How we come into a file, and out of it.
struct Edit<'a> {
    put: Put<'a>,
    take: Take<'a>,
}

impl Edit<'_> {
    /// The change that brings us into the file; nothing if we are there.
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

    /// What the file would say without us: what users changed since an earlier installation stays
    /// theirs.
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

/// The change that takes us out of a file; nothing if we are not in it.
fn removal(record: &Record, path: &Path, take: Take<'_>) -> Result<Option<Change>, Failed> {
    let found = file::read(path)?;
    let entry = record.files.get(path);
    let unfit = |unfit| Failed::to("change", path, unfit);
    let untouched = entry.filter(|entry| found.text.as_ref() == Some(&entry.after));
    let after = match (&found.text, untouched) {
        (None, _) => None,
        // What the user had put in by hand goes too.
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

/// Carries a plan out.
///
/// What is to be done is remembered before it is done, and forgotten after it is undone: whenever
/// this is cut off, the record knows of every file that was changed. Of several at once each waits
/// for the one before, so that the record knows of all of them.
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
    // Folders of our own go if they are empty.
    let _ = fs::remove_dir(world.paths.backups());
    if record.files.is_empty() {
        record.data_folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
    Ok(Done { backups, set_aside })
}

/// Waits until nobody else installs, and keeps others waiting until the file is closed.
fn lock(record: &Path) -> io::Result<File> {
    paths::make_folder(record)?;
    let folder = File::open(record.parent().unwrap_or(Path::new("/")))?;
    // Where the file system knows no locks, there is none.
    let _ = folder.lock();
    Ok(folder)
}

fn copy_failed(world: &World, error: io::Error) -> Failed {
    Failed::to("write a copy into", &world.paths.backups(), error)
}

/// Copies the file as it is, if its text would be lost otherwise.
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

/// Forgets the files that are as they were, with the folders that were made for them. What is not
/// ours alone stays: a folder with something in it cannot be removed.
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
