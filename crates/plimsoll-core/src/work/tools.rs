//! What the agent's tools do to the work, when they are called and when they give something back.

use std::borrow::Cow;
use std::slice;

use serde::{Deserialize, Serialize};

use super::act::{Change, FileChange, Tool};
use super::names::{self, NameKind};
use super::noted::{Noted, Place};
use super::rewrites::{Rewrite, rewrites};
use super::table::FileId;
use super::told::{self, told};
use super::words::one_line;
use super::{MOST_CALLS, MOST_MARKERS, Words, Work, push, relative, shell, weight};
use crate::bytes;

/// A call whose result is still to come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Pending {
    /// It looks into a file.
    File(FileId),
    /// It changes a file.
    Change(FileId, Change),
    /// It runs commands, known by their keys.
    Shell { keys: Vec<String>, rewrites: Vec<Rewrite>, place: Place },
    /// It gives a task to a subagent.
    Delegated(String),
    /// It adds a step to the plan.
    Step(String),
}

impl Pending {
    /// Follows its file to another place in the table; false if that is forgotten.
    pub(super) fn moved(&mut self, place: impl Fn(FileId) -> Option<FileId>) -> bool {
        match self {
            Self::File(file) | Self::Change(file, _) => {
                place(*file).map(|place| *file = place).is_some()
            }
            Self::Shell { .. } | Self::Delegated(_) | Self::Step(_) => true,
        }
    }

    fn file(&self) -> Option<FileId> {
        match self {
            Self::File(file) | Self::Change(file, _) => Some(*file),
            _ => None,
        }
    }
}

/// What a tool gave back.
pub(super) struct Returned<'a> {
    pub(super) failed: bool,
    pub(super) text: &'a str,
    pub(super) changes: &'a [FileChange<'a>],
}

impl Work {
    /// Takes the use of a tool, and says which file it is about.
    pub(super) fn called(&mut self, call: &str, tool: &Tool<'_>) -> Option<FileId> {
        self.steps += 1;
        let pending = self.begun(tool)?;
        let file = pending.file();
        push(&mut self.calls, (call.to_owned(), pending), MOST_CALLS);
        file
    }

    fn begun(&mut self, tool: &Tool<'_>) -> Option<Pending> {
        match tool {
            Tool::Edit { path, old, new } => Some(self.changing(path, Change::Edited, old, new)),
            Tool::Write { path, text } => {
                Some(self.changing(path, Change::Written, &[], slice::from_ref(text)))
            }
            Tool::Read { path, from, lines } => Some(self.reading(path, *from, *lines)),
            Tool::Shell { command } => match Words::handed_over(command) {
                Some(words) => {
                    self.refine(words);
                    None
                }
                None => Some(self.shell(&told(command))),
            },
            Tool::Delegate { task, text } => {
                self.mention(&told(text), weight::GIVEN, None);
                Some(Pending::Delegated(one_line(&told(task), 120)))
            }
            Tool::Plan(steps) => {
                let steps: Vec<_> =
                    steps.iter().map(|step| (told(&step.text), step.done)).collect();
                let steps = steps.iter().map(|(text, done)| (&**text, *done));
                self.plan.replace(steps, self.table.here);
                None
            }
            Tool::AddStep { text, about } => {
                self.mention(&told(&format!("{text}\n{about}")), weight::GIVEN, None);
                Some(Pending::Step(told(text).into_owned()))
            }
            Tool::SetStep { step, text, state } => {
                let text = text.as_deref().map(told);
                self.plan.set(&told::name(step), text.as_deref(), *state, self.table.here);
                None
            }
            Tool::Other { path, texts, .. } => {
                self.mention(&told(&texts.join("\n")), weight::GIVEN, None);
                let path = path.as_ref().filter(|path| names::is_file(path));
                path.map(|path| Pending::File(self.file(path, 0.0)))
            }
        }
    }

    fn changing(
        &mut self,
        path: &str,
        change: Change,
        old: &[Cow<'_, str>],
        new: &[Cow<'_, str>],
    ) -> Pending {
        let file = self.file(path, weight::GIVEN);
        self.marked(file, old, new);
        Pending::Change(file, change)
    }

    /// Notes what is marked as still to be done, and forgets the marks that were taken away.
    fn marked(&mut self, file: FileId, old: &[Cow<'_, str>], new: &[Cow<'_, str>]) {
        let (old, new) = (marks(old), marks(new));
        let is_gone = |mark: &Noted| old.iter().chain(&new).any(|known| **known == **mark);
        self.markers.retain(|(of, mark)| *of != file || !is_gone(mark));
        for mark in new {
            let mark = Noted::new(mark, self.table.here);
            push(&mut self.markers, (file, mark), MOST_MARKERS);
        }
    }

    fn reading(&mut self, path: &str, from: Option<u32>, lines: Option<u32>) -> Pending {
        let file = self.file(path, weight::GIVEN);
        let lines = from.map(|from| (from, lines.unwrap_or(1)));
        let (now, here) = (self.clock, self.table.here);
        self.touched.entry(file).or_default().read(lines, now, here);
        Pending::File(file)
    }

    fn shell(&mut self, line: &str) -> Pending {
        self.mention(line, weight::GIVEN, None);
        let commands = crate::shell::commands(line);
        for branch in shell::branches(&commands) {
            self.table.name(NameKind::Reference, branch, weight::GIVEN, self.clock);
        }
        let keys = self.commands.typed(&commands, self.clock, self.table.here);
        Pending::Shell { keys, rewrites: rewrites(&commands), place: self.table.here }
    }

    /// The call of that name, which is not waited for any longer.
    pub(super) fn pending(&mut self, call: &str) -> Option<Pending> {
        let at = self.calls.iter().position(|(name, _)| name == call)?;
        self.calls.remove(at).map(|(_, pending)| pending)
    }

    /// Whether this call does nothing but look into a file.
    pub(super) fn only_looks(&self, call: &str) -> bool {
        let mut calls = self.calls.iter().rev();
        calls
            .find(|(name, _)| name == call)
            .is_some_and(|(_, call)| matches!(call, Pending::File(_)))
    }

    /// Whether anybody waits for what this call says.
    pub(super) fn listens_to(&self, call: &str, failed: bool) -> bool {
        let waits = |pending: &Pending| match pending {
            Pending::Shell { keys, .. } => failed || self.commands.listen(keys),
            Pending::Delegated(_) => true,
            Pending::File(_) | Pending::Change(..) | Pending::Step(_) => false,
        };
        self.calls.iter().any(|(name, pending)| name == call && waits(pending))
    }

    /// Takes what a tool gave back, and says which file it was about.
    pub(super) fn returned(
        &mut self,
        call: &str,
        result: &Returned<'_>,
        step: Option<&str>,
    ) -> Option<FileId> {
        let pending = self.pending(call);
        let file = pending.as_ref().and_then(Pending::file);
        match pending {
            Some(Pending::Change(file, change)) if !result.failed => {
                let told = result.changes.first();
                let change = told.and_then(|told| told.change).unwrap_or(change);
                let lines = told.map_or(&[][..], |told| &told.lines);
                self.changed(file, change, lines, self.table.here);
            }
            Some(Pending::Shell { keys, rewrites, place }) => {
                self.ran(&keys, result);
                if result.changes.is_empty() && !result.failed {
                    rewrites.into_iter().for_each(|rewrite| self.rewritten(rewrite, place));
                }
            }
            Some(Pending::Delegated(task)) => self.reported(&task, result.text),
            Some(Pending::Step(text)) => {
                let named = step.filter(|_| !result.failed);
                named
                    .into_iter()
                    .for_each(|name| self.plan.add(&told::name(name), &text, self.table.here));
            }
            Some(Pending::File(_) | Pending::Change(..)) | None => {}
        }
        file
    }

    fn changed(&mut self, file: FileId, change: Change, lines: &[(u32, u32)], place: Place) {
        self.touched.entry(file).or_default().changed(change, lines, self.clock, place);
    }

    /// What commands changed is told by the agent, or else by the commands themselves.
    fn ran(&mut self, keys: &[String], result: &Returned<'_>) {
        self.commands.ended(keys, result.failed, result.text, self.table.here);
        for told in result.changes {
            let Some(path) = &told.path else { continue };
            let file = self.file(path, weight::GIVEN);
            let change = told.change.unwrap_or(Change::Written);
            self.changed(file, change, &told.lines, self.table.here);
        }
    }

    /// A file that a command changed, by its own words. What is not of the project is scratch.
    fn rewritten(&mut self, Rewrite { path, change, from }: Rewrite, place: Place) {
        if relative(self.folder.as_deref(), &path).starts_with('/') {
            return;
        }
        let file = self.file(&path, 0.0);
        self.changed(file, change, &[], place);
        if let Some(from) = from {
            let before = self.file(&from, 0.0);
            self.touched.remove(&before);
            let from = told::name(&from);
            let from = told::short(relative(self.folder.as_deref(), &from)).to_owned();
            self.touched.entry(file).or_default().from = Some(from);
        }
    }
}

/// The lines that are marked as still to be done.
fn marks(texts: &[Cow<'_, str>]) -> Vec<String> {
    let is_marked = |text: &str| ["TODO", "FIXME"].iter().any(|mark| holds(text, mark));
    let of_one = |text: &Cow<'_, str>| -> Vec<String> {
        let lines = told(text);
        lines.lines().filter(|line| is_marked(line)).map(|line| one_line(line, 160)).collect()
    };
    texts.iter().filter(|text| is_marked(text)).flat_map(of_one).collect()
}

fn holds(text: &str, part: &str) -> bool {
    bytes::contains(part.as_bytes(), text.as_bytes())
}
