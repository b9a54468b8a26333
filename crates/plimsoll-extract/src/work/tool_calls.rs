//! Applies the agent's tool calls and their results to the work.

use std::borrow::Cow;
use std::slice;

use plimsoll_core::bytes;
use plimsoll_core::entry::Place;
use plimsoll_core::shell::Command;
use serde::{Deserialize, Serialize};

use super::effects::{Effect, Effects, FileRewrite, RestoreSource, effects};
use super::file_state::{FileState, Replacement, WrittenText};
use super::name_table::FileId;
use super::names::{self, NameKind};
use super::record::{ChangeKind, FileChange, ToolUse};
use super::sanitize::{self, sanitize};
use super::sentences::one_line;
use super::sourced_text::SourcedText;
use super::{MOST_CALLS, MOST_MARKERS, ModelSummary, Work, commands, path, push, weight};

/// A call without a result so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum PendingCall {
    /// Reads a file.
    File(FileId),
    /// Changes a file.
    Change(FileId, ChangeKind, WrittenText),
    /// Runs commands, identified by their keys.
    Shell { keys: Vec<String>, effects: Effects, place: Place },
    /// Gives a task to a subagent.
    Delegated(String),
    /// Adds a step to the plan.
    Step(String),
}

impl PendingCall {
    /// Updates the file's index after the table moved it; returns false if the file was dropped.
    pub(super) fn moved(&mut self, place: impl Fn(FileId) -> Option<FileId>) -> bool {
        match self {
            Self::File(file) | Self::Change(file, ..) => {
                place(*file).map(|place| *file = place).is_some()
            }
            Self::Shell { .. } | Self::Delegated(_) | Self::Step(_) => true,
        }
    }

    fn file(&self) -> Option<FileId> {
        match self {
            Self::File(file) | Self::Change(file, ..) => Some(*file),
            _ => None,
        }
    }
}

/// The folder that a command line left the shell in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ShellFolder {
    path: String,
    /// The folder that the client reported after that.
    reported: Option<String>,
}

impl ShellFolder {
    /// Returns `None` if the shell stayed, or left the project: then clients move it back.
    fn new(entered: Option<String>, project: Option<&str>, reported: Option<&str>) -> Option<Self> {
        let path = entered?;
        let is_inside = !path::is_absolute(&path::resolve(project, None, &path));
        is_inside.then(|| Self { path, reported: reported.map(str::to_owned) })
    }

    /// Returns the shell's folder if the client still reports another one.
    fn entered(&self, reported: Option<&str>) -> Option<&str> {
        let is_stale = self.reported.as_deref() == reported && Some(&*self.path) != reported;
        is_stale.then_some(&self.path)
    }
}

/// A tool's result.
pub(super) struct CallResult<'a> {
    pub(super) failed: bool,
    pub(super) text: &'a str,
    pub(super) changes: &'a [FileChange<'a>],
}

impl Work {
    /// Records a tool call and returns the file it is about.
    pub(super) fn called(&mut self, call: &str, tool: &ToolUse<'_>) -> Option<FileId> {
        self.steps += 1;
        let pending = self.begun(tool)?;
        let file = pending.file();
        push(&mut self.calls, (call.to_owned(), pending), MOST_CALLS);
        file
    }

    fn begun(&mut self, tool: &ToolUse<'_>) -> Option<PendingCall> {
        match tool {
            ToolUse::Edit { path, old, new } => {
                let edit = WrittenText::Part(Replacement { old: hash(old), new: hash(new) });
                Some(self.changing(path, (ChangeKind::Edited, edit), old, new))
            }
            ToolUse::Write { path, text } => {
                let text = slice::from_ref(text);
                let whole = WrittenText::Whole(hash(text));
                Some(self.changing(path, (ChangeKind::Written, whole), &[], text))
            }
            ToolUse::Read { path, from, lines } => Some(self.reading(path, *from, *lines)),
            ToolUse::Shell { command } => match ModelSummary::from_command(command) {
                Some(words) => {
                    self.set_model_summary(words);
                    None
                }
                None => Some(self.shell(&sanitize(command))),
            },
            ToolUse::Delegate { task, text } => {
                self.mention(&sanitize(text), weight::GIVEN, None);
                Some(PendingCall::Delegated(one_line(&sanitize(task), 120)))
            }
            ToolUse::Plan(steps) => {
                let steps: Vec<_> =
                    steps.iter().map(|step| (sanitize(&step.text), step.done)).collect();
                let steps = steps.iter().map(|(text, done)| (&**text, *done));
                self.plan.replace(steps, self.table.here);
                None
            }
            ToolUse::AddStep { text, about } => {
                self.mention(&sanitize(&format!("{text}\n{about}")), weight::GIVEN, None);
                Some(PendingCall::Step(sanitize(text).into_owned()))
            }
            ToolUse::SetStep { step, text, state } => {
                let text = text.as_deref().map(sanitize);
                self.plan.set(
                    &sanitize::sanitize_name(step),
                    text.as_deref(),
                    *state,
                    self.table.here,
                );
                None
            }
            ToolUse::Other { path, texts, .. } => {
                self.mention(&sanitize(&texts.join("\n")), weight::GIVEN, None);
                let path = path.as_ref().filter(|path| names::is_file(path));
                path.map(|path| PendingCall::File(self.file(path, 0.0)))
            }
        }
    }

    fn changing(
        &mut self,
        path: &str,
        (change, written): (ChangeKind, WrittenText),
        old: &[Cow<'_, str>],
        new: &[Cow<'_, str>],
    ) -> PendingCall {
        let file = self.file(path, weight::GIVEN);
        self.marked(file, old, new);
        PendingCall::Change(file, change, written)
    }

    /// Records new TODO and FIXME comments, and drops the removed ones.
    fn marked(&mut self, file: FileId, old: &[Cow<'_, str>], new: &[Cow<'_, str>]) {
        let (old, new) = (marks(old), marks(new));
        let is_gone = |mark: &SourcedText| old.iter().chain(&new).any(|known| **known == **mark);
        self.markers.retain(|(of, mark)| *of != file || !is_gone(mark));
        for mark in new {
            let mark = SourcedText::new(mark, self.table.here);
            push(&mut self.markers, (file, mark), MOST_MARKERS);
        }
    }

    fn reading(&mut self, path: &str, from: Option<u32>, lines: Option<u32>) -> PendingCall {
        let file = self.file(path, weight::GIVEN);
        let lines = from.map(|from| (from, lines.unwrap_or(1)));
        let (now, here) = (self.clock, self.table.here);
        self.touched.entry(file).or_default().read(lines, now, here);
        PendingCall::File(file)
    }

    fn shell(&mut self, line: &str) -> PendingCall {
        self.mention(line, weight::GIVEN, None);
        let commands = plimsoll_core::shell::commands(line);
        for branch in commands::branches(&commands) {
            self.table.name(NameKind::Reference, branch, weight::GIVEN, self.clock);
        }
        let keys = self.commands.typed(&commands, self.clock, self.table.here);
        let effects = self.effects(&commands);
        PendingCall::Shell { keys, effects, place: self.table.here }
    }

    /// Returns the effects of a command line in the folder that the client reports.
    ///
    /// Some clients keep reporting the folder from before a `cd`, although their shell has moved. A
    /// relative path can then mean two files. The one that a tool has named counts; if that does
    /// not decide, neither does.
    fn effects(&mut self, commands: &[Command]) -> Effects {
        let (project, reported) = (self.project.clone(), self.folder().map(str::to_owned));
        let found = effects(commands, project.as_deref(), reported.as_deref());
        let Some(entered) = self.shell.as_ref().and_then(|it| it.entered(reported.as_deref()))
        else {
            return found;
        };
        let other = effects(commands, project.as_deref(), Some(entered));
        let Effects { all, before_last, .. } = found;
        let is_sure = |pair: (Effect, Effect)| self.decide_between(pair.0, pair.1);
        let mut sure: Vec<Option<Effect>> = all.into_iter().zip(other.all).map(is_sure).collect();
        let later = sure.split_off(before_last.min(sure.len()));
        let mut all: Vec<Effect> = sure.into_iter().flatten().collect();
        let before_last = all.len();
        all.extend(later.into_iter().flatten());
        let ends_in = other.ends_in.or_else(|| Some(entered.to_owned()));
        Effects { all, before_last, ends_in }
    }

    /// Chooses between the effects in the reported folder and in the folder that the shell entered.
    fn decide_between(&self, reported: Effect, entered: Effect) -> Option<Effect> {
        match (&reported, &entered) {
            _ if reported == entered => Some(entered),
            (Effect::Change(one), Effect::Change(other)) => {
                match (self.knows(one), self.knows(other)) {
                    (true, false) => Some(reported),
                    (false, true) => Some(entered),
                    _ => None,
                }
            }
            _ => Some(entered),
        }
    }

    /// Returns whether a tool named the file that a command changes.
    fn knows(&self, FileRewrite { path, from, .. }: &FileRewrite) -> bool {
        self.table.knows(from.as_ref().unwrap_or(path))
    }

    /// Removes and returns the pending call with this id.
    pub(super) fn pending(&mut self, call: &str) -> Option<PendingCall> {
        let at = self.calls.iter().position(|(name, _)| name == call)?;
        self.calls.remove(at).map(|(_, pending)| pending)
    }

    /// Returns whether this call only reads a file.
    pub(super) fn only_looks(&self, call: &str) -> bool {
        let mut calls = self.calls.iter().rev();
        calls
            .find(|(name, _)| name == call)
            .is_some_and(|(_, call)| matches!(call, PendingCall::File(_)))
    }

    /// Returns whether this call's output is needed.
    pub(super) fn listens_to(&self, call: &str, failed: bool) -> bool {
        let waits = |pending: &PendingCall| match pending {
            PendingCall::Shell { keys, .. } => failed || self.commands.listen(keys),
            PendingCall::Delegated(_) => true,
            PendingCall::File(_) | PendingCall::Change(..) | PendingCall::Step(_) => false,
        };
        self.calls.iter().any(|(name, pending)| name == call && waits(pending))
    }

    /// Records a tool's result and returns the file it was about.
    pub(super) fn returned(
        &mut self,
        call: &str,
        result: &CallResult<'_>,
        step: Option<&str>,
    ) -> Option<FileId> {
        let pending = self.pending(call);
        let file = pending.as_ref().and_then(PendingCall::file);
        match pending {
            Some(PendingCall::Change(file, change, written)) if !result.failed => {
                let told = result.changes.first();
                let change = told.and_then(|told| told.change).unwrap_or(change);
                let lines = told.map_or(&[][..], |told| &told.lines);
                let original = || Some(hash(&[told?.original?.text()]));
                let at = (self.clock, self.table.here);
                let touched = self.touched.entry(file).or_default();
                touched.written(written, change, lines, original, at);
            }
            Some(PendingCall::Shell { keys, effects, place }) => {
                self.ran(&keys, result);
                let is_reported = !result.changes.is_empty();
                let Effects { all, before_last, ends_in } = effects;
                if !result.failed {
                    self.shell = ShellFolder::new(ends_in, self.project.as_deref(), self.folder());
                }
                let count = if result.failed { before_last } else { all.len() };
                let happened = |effect: &Effect| !result.failed || !is_denied(effect, result.text);
                let conflicting = result.failed && holds(result.text, "CONFLICT");
                for (number, effect) in all.into_iter().enumerate().filter(|(_, it)| happened(it)) {
                    match effect {
                        effect if number < count => self.apply(effect, is_reported, place),
                        // After a conflict the changes are in place, and the stash stays.
                        Effect::Unstash { nth, .. } if conflicting => self.unstash(nth, false),
                        _ => {}
                    }
                }
            }
            Some(PendingCall::Delegated(task)) => self.reported(&task, result.text),
            Some(PendingCall::Step(text)) => {
                let named = step.filter(|_| !result.failed);
                named.into_iter().for_each(|name| {
                    self.plan.add(&sanitize::sanitize_name(name), &text, self.table.here)
                });
            }
            Some(PendingCall::File(_) | PendingCall::Change(..)) | None => {}
        }
        file
    }

    fn changed(&mut self, file: FileId, change: ChangeKind, lines: &[(u32, u32)], place: Place) {
        self.touched.entry(file).or_default().changed(change, lines, self.clock, place);
    }

    /// Records the result of commands, and the file changes that the agent reported.
    fn ran(&mut self, keys: &[String], result: &CallResult<'_>) {
        self.commands.ended(keys, result.failed, result.text, self.table.here);
        for told in result.changes {
            let Some(path) = &told.path else { continue };
            let file = self.file(path, weight::GIVEN);
            let change = told.change.unwrap_or(ChangeKind::Written);
            self.changed(file, change, &told.lines, self.table.here);
        }
    }

    /// Applies an effect of a command. Changes of single files are skipped if the agent reported
    /// the changed files.
    fn apply(&mut self, effect: Effect, is_reported: bool, place: Place) {
        match effect {
            Effect::Change(rewrite) if !is_reported => self.rewrite(rewrite, place),
            Effect::Change(_) => {}
            Effect::RemoveFolder(folder) => {
                let at = self.clock;
                let remove =
                    |file: &mut FileState| file.changed(ChangeKind::Deleted, &[], at, place);
                self.each_changed(&[folder], remove);
            }
            Effect::Move { from, to } => self.move_somewhere(&from, &to, place),
            Effect::Stage(paths) => self.each_changed(&paths, FileState::stage),
            Effect::Commit { repository, all, amends } => {
                self.commits += u32::from(!amends);
                self.commit(&[repository], all);
            }
            Effect::Restore { paths, source } => self.each_changed(&paths, |file| match source {
                RestoreSource::Other => file.put_back(),
                // The staged content stays.
                RestoreSource::Index if file.is_staged() => {}
                RestoreSource::Index | RestoreSource::Head if file.is_untracked() => {}
                RestoreSource::Index | RestoreSource::Head => file.restored(),
            }),
            Effect::Reset { repository, back } => {
                self.commits = self.commits.saturating_sub(back);
                let commit = self.commits;
                self.each_changed(&[repository], |file| file.reset_to(commit));
            }
            Effect::Clean { repository } => self.each_changed(&[repository], |file| {
                if file.is_untracked() {
                    file.put_back();
                }
            }),
            Effect::Stash { paths, untracked, keeps_staged } => self.stash(&paths, |file| {
                (untracked || !file.is_untracked()) && !(keeps_staged && file.is_staged())
            }),
            Effect::Unstash { nth, drops } => self.unstash(nth, drops),
            Effect::DropStash { nth } => {
                self.take_stash(nth);
            }
            Effect::ClearStashes => self.stashes.clear(),
        }
    }

    /// Records a change derived from a command. Files outside the project and in `.git` do not
    /// count as work.
    fn rewrite(&mut self, FileRewrite { path, change, from }: FileRewrite, place: Place) {
        let is_outside = path::is_absolute(&path) || path.split('/').any(|part| part == ".git");
        if !is_outside {
            let is_new = !self.table.knows(&path);
            let file = self.known_file(&path, 0.0);
            self.changed(file, change, &[], place);
            let touched = self.touched.entry(file).or_default();
            touched.from = from
                .as_ref()
                .map(|from| sanitize::path_end(&sanitize::sanitize_name(from)).to_owned());
            if is_new && change == ChangeKind::Written {
                touched.first_seen();
            }
        }
        if let Some(from) = from {
            let before = self.known_file(&from, 0.0);
            self.touched.remove(&before);
        }
    }

    /// Follows a file or folder that was renamed or moved into a folder. If it is unclear which of
    /// the two, the file is no longer listed.
    fn move_somewhere(&mut self, from: &str, to: &str, place: Place) {
        let name = from.rsplit('/').next().unwrap_or(from);
        let is_folder = self.table.knows_below(from) && !self.table.knows(from);
        let into = match self.table.knows_below(to) {
            true => Some(format!("{to}/{name}")),
            false => is_folder.then(|| to.to_owned()),
        };
        let is_moved = |path: &str| path::is_below(from, path);
        let moved: Vec<(FileId, String)> = self
            .touched
            .keys()
            .map(|file| (*file, self.table.files[*file as usize].path.to_string()))
            .filter(|(_, path)| is_moved(path))
            .collect();
        for (file, path) in moved {
            let Some(touched) = self.touched.remove(&file) else { continue };
            let (Some(into), Some(_)) = (&into, touched.change) else { continue };
            let to = format!("{into}{}", &path[from.len()..]);
            let moved = FileRewrite { path: to, change: ChangeKind::Moved, from: Some(path) };
            self.rewrite(moved, place);
        }
    }

    /// Calls `act` for every changed file at or below these paths.
    fn each_changed(&mut self, paths: &[String], mut act: impl FnMut(&mut FileState)) {
        for (file, touched) in &mut self.touched {
            let path = &self.table.files[*file as usize].path;
            if touched.change.is_some() && is_among(paths, path) {
                act(touched);
            }
        }
    }

    /// Commits everything staged, or everything if nothing is known to be staged.
    fn commit(&mut self, repository: &[String], all: bool) {
        let number = self.commits;
        let all = all || !self.touched.values().any(FileState::is_staged);
        self.each_changed(repository, |file| {
            if all || file.is_staged() {
                file.commit(number);
            }
        });
    }

    fn stash(&mut self, paths: &[String], is_taken: impl Fn(&FileState) -> bool) {
        let files = &self.table.files;
        let mut stash = Vec::new();
        for (file, touched) in &mut self.touched {
            let is_taken = touched.is_dirty() && is_taken(touched);
            if is_taken && is_among(paths, &files[*file as usize].path) {
                stash.push((*file, touched.clone()));
                touched.restored();
            }
        }
        self.stashes.push(stash);
        if self.stashes.len() > MOST_STASHES {
            self.stashes.remove(0);
        }
    }

    /// Restores the changes of the `nth` stash from the newest.
    fn unstash(&mut self, nth: usize, drops: bool) {
        let Some(stash) = self.take_stash(nth) else { return };
        for (file, stashed) in &stash {
            self.touched.insert(*file, stashed.clone());
        }
        if !drops {
            let at = self.stashes.len().saturating_sub(nth);
            self.stashes.insert(at, stash);
        }
    }

    fn take_stash(&mut self, nth: usize) -> Option<Vec<(FileId, FileState)>> {
        let at = self.stashes.len().checked_sub(nth + 1)?;
        Some(self.stashes.remove(at))
    }
}

/// Returns whether a file is at or below one of these paths or matches one with a `*`, and no path
/// after a `!` excludes it. For git, a worktree inside the project is not part of it.
fn is_among(paths: &[String], file: &str) -> bool {
    let fits = |path: &str| match path {
        "" => path::is_below("", file) && !path::is_in_worktree(file),
        path => path::matches(path, file),
    };
    let is_excluded = |path: &String| path.strip_prefix('!').is_some_and(&fits);
    paths.iter().any(|path| fits(path)) && !paths.iter().any(is_excluded)
}

/// Returns whether the output of a line says that it could not change the file.
fn is_denied(effect: &Effect, output: &str) -> bool {
    const REASONS: [&str; 4] = [
        "No such file or directory",
        "Permission denied",
        "Is a directory",
        "Read-only file system",
    ];
    let Effect::Change(FileRewrite { path, .. }) = effect else { return false };
    let name = path.rsplit('/').next().unwrap_or(path);
    let denies = |line: &str| REASONS.iter().any(|reason| holds(line, reason));
    output.lines().any(|line| denies(line) && holds(line, name))
}

/// Maximum number of stashes; older ones are dropped.
const MOST_STASHES: usize = 8;

/// Hashes a text given in parts.
fn hash(texts: &[Cow<'_, str>]) -> u64 {
    bytes::fnv1a(texts.iter().flat_map(|text| text.as_bytes()))
}

/// Returns the lines with TODO or FIXME.
fn marks(texts: &[Cow<'_, str>]) -> Vec<String> {
    let is_marked = |text: &str| ["TODO", "FIXME"].iter().any(|mark| holds(text, mark));
    let of_one = |text: &Cow<'_, str>| -> Vec<String> {
        let lines = sanitize(text);
        lines.lines().filter(|line| is_marked(line)).map(|line| one_line(line, 160)).collect()
    };
    texts.iter().filter(|text| is_marked(text)).flat_map(of_one).collect()
}

fn holds(text: &str, part: &str) -> bool {
    bytes::contains(part.as_bytes(), text.as_bytes())
}
