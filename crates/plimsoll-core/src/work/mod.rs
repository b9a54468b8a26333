//! The work of a session: what it is about, folded from its transcript record by record.
//!
//! The fold can stop anywhere, be saved, and go on later; any split gives the same result as one
//! pass. What is kept is bounded: names by their score, texts by their number and length.

mod act;
mod body;
mod changed;
mod fence;
mod index;
mod lacking;
mod names;
mod origin;
mod recall;
mod refine;
mod reread;
mod restore;
mod score;
mod shell;
mod steer;
mod table;
mod words;

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::Millis;
use crate::bytes;
use crate::redact::redact;

pub use act::{Act, Record, Step, Tool};
pub use body::body;
pub use changed::changed;
pub use fence::HEADING;
pub use lacking::lacking;
pub use origin::{Fate, Origin, unlooked};
pub use recall::{Fact, FactKind, Judgement, Recall, Shown, Tally};
pub use refine::{LONGEST_WORDS, Words};
pub use reread::{files, next_steps, reread};
pub use restore::restore;
pub use steer::steer;

use names::NameKind;
use score::Clock;
use shell::Commands;
use table::{FileId, Table};
use words::cut;

/// How much a name counts, by who brought it up. The agent's own tool inputs and the user's words
/// stand far above what a tool gave back: the figures are in docs/restore.md.
mod weight {
    pub(super) const ASKED: f32 = 4.2;
    pub(super) const SAID: f32 = 1.4;
    pub(super) const GIVEN: f32 = 5.5;
    pub(super) const BODY: f32 = 0.1;
    pub(super) const RETURNED: f32 = 0.07;
    /// A file counts more than a name in it.
    pub(super) const FILE: f32 = 5.9;
    /// How firmly a text ties symbols to a file, whoever's it is.
    pub(super) const LEAST_TIE: f32 = 0.1;
}

const MOST_ASKED: usize = 24;
const LONGEST_ASKED: usize = 2_000;
const MOST_DIRECTIVES: usize = 60;
const LONGEST_SENTENCE: usize = 400;
const MOST_DECISIONS: usize = 24;
const MOST_SAID: usize = 4;
const MOST_CALLS: usize = 256;
const MOST_RANGES: usize = 4;
const MOST_MARKERS: usize = 20;
const MOST_DELEGATED: usize = 8;

/// All that is kept of the work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    clock: Clock,
    steps: u32,
    table: Table,
    commands: Commands,
    /// What the user asked for: the first request, and the last ones.
    asked: VecDeque<String>,
    /// How the user wants to have it, the newest last.
    directives: VecDeque<String>,
    /// What the model decided, the newest last.
    decisions: VecDeque<String>,
    /// The model's last messages.
    said: VecDeque<String>,
    plan: Vec<(String, bool)>,
    /// What happened to files, by their place in the table.
    touched: BTreeMap<FileId, Touched>,
    /// TODO and FIXME marks in what was written, with the file.
    markers: VecDeque<(FileId, String)>,
    /// What was given to subagents, and what they gave back.
    delegated: VecDeque<(String, String)>,
    branch: Option<String>,
    folder: Option<String>,
    /// When the newest record was written.
    time: Option<Millis>,
    /// Calls whose results are still to come.
    calls: VecDeque<(String, Pending)>,
}

/// What happened to a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Touched {
    change: Option<Change>,
    /// The lines that were changed last, or read last where none was.
    lines: Vec<(u32, u32)>,
    at: Clock,
}

/// How a file was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Change {
    Edited,
    Written,
}

/// A call whose result is still to come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Pending {
    File(FileId),
    Shell(Vec<String>),
    Delegated(String),
}

impl Work {
    /// Takes the next record.
    pub fn take(&mut self, record: &Record<'_>) {
        if self.folder.is_none() {
            self.folder = record.folder.as_deref().map(str::to_owned);
        }
        // A client that finds no branch writes `HEAD`, or nothing.
        let is_branch = |branch: &&str| !matches!(*branch, "" | "HEAD");
        if let Some(branch) = record.branch.as_deref().filter(is_branch) {
            self.branch = Some(branch.to_owned());
        }
        self.time = self.time.max(record.time);
        for act in &record.acts {
            self.act(act);
        }
        self.shrink();
    }

    /// When the newest record was written.
    pub fn time(&self) -> Option<Millis> {
        self.time
    }

    /// The files that the agent read or changed.
    pub fn touched_files(&self) -> Vec<&str> {
        self.touched.keys().map(|file| self.table.files[*file as usize].path.as_str()).collect()
    }

    /// How many tools the agent has used.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Whether nothing has happened yet.
    pub fn is_empty(&self) -> bool {
        self.clock == 0
    }

    /// Takes what happened. Secrets are taken out first: all that is kept here may be stored.
    fn act(&mut self, act: &Act<'_>) {
        match act {
            Act::Asked(text) => self.asked(&redact(text)),
            Act::Said(text) => self.said(&redact(text)),
            Act::Called { call, tool } => self.called(call, tool),
            Act::Returned { call, failed, text, changed } => {
                self.returned(call, *failed, &redact(text), changed);
            }
            Act::Compacted => {}
        }
    }

    fn asked(&mut self, text: &str) {
        self.mention(text, weight::ASKED, None);
        for sentence in words::directives(text) {
            let sentence = cut(sentence, LONGEST_SENTENCE);
            self.directives.retain(|known| known != sentence);
            push(&mut self.directives, sentence.to_owned(), MOST_DIRECTIVES);
        }
        if self.asked.len() == MOST_ASKED {
            // The first one tells what it is all about.
            self.asked.remove(1);
        }
        self.asked.push_back(cut(text, LONGEST_ASKED).to_owned());
    }

    fn said(&mut self, text: &str) {
        self.mention(text, weight::SAID, None);
        for sentence in words::decisions(text) {
            let sentence = cut(sentence, LONGEST_SENTENCE).to_owned();
            push(&mut self.decisions, sentence, MOST_DECISIONS);
        }
        push(&mut self.said, cut(text, LONGEST_ASKED).to_owned(), MOST_SAID);
    }

    fn called(&mut self, call: &str, tool: &Tool<'_>) {
        self.steps += 1;
        let pending = match tool {
            Tool::Edit { path, texts } => {
                Some(self.changed(path, Change::Edited, &texts.join("\n")))
            }
            Tool::Write { path, text } => Some(self.changed(path, Change::Written, text)),
            Tool::Read { path, from, lines } => Some(self.read(path, *from, *lines)),
            Tool::Shell { command } if refine::is_call(command) => None,
            Tool::Shell { command } => Some(Pending::Shell(self.shell(command))),
            Tool::Delegate { task, text } => {
                self.mention(text, weight::GIVEN, None);
                Some(Pending::Delegated(words::one_line(task, 120)))
            }
            Tool::Plan(steps) => {
                self.plan =
                    steps.iter().map(|step| (redact(&step.text).into_owned(), step.done)).collect();
                None
            }
            Tool::Other { path, texts, .. } => {
                self.mention(&redact(&texts.join("\n")), weight::GIVEN, None);
                let path = path.as_ref().filter(|path| names::is_file(path));
                path.map(|path| Pending::File(self.file(path, 0.0)))
            }
        };
        if let Some(pending) = pending {
            push(&mut self.calls, (call.to_owned(), pending), MOST_CALLS);
        }
    }

    fn changed(&mut self, path: &str, change: Change, text: &str) -> Pending {
        let file = self.file(path, weight::GIVEN);
        self.mention(text, weight::BODY, Some(file));
        self.marks(file, text);
        let touched = self.touched.entry(file).or_default();
        touched.change = touched.change.max(Some(change));
        touched.at = self.clock;
        Pending::File(file)
    }

    /// Notes what is marked as still to be done.
    fn marks(&mut self, file: FileId, text: &str) {
        let is_marked = |text: &str| text.contains("TODO") || text.contains("FIXME");
        if !is_marked(text) {
            return;
        }
        for line in text.lines().filter(|line| is_marked(line)) {
            push(&mut self.markers, (file, words::one_line(line, 160)), MOST_MARKERS);
        }
    }

    fn read(&mut self, path: &str, from: Option<u32>, lines: Option<u32>) -> Pending {
        let file = self.file(path, weight::GIVEN);
        let touched = self.touched.entry(file).or_default();
        if let (None, Some(from)) = (touched.change, from) {
            note_lines(&mut touched.lines, (from, lines.unwrap_or(1)));
        }
        touched.at = self.clock;
        Pending::File(file)
    }

    fn shell(&mut self, command: &str) -> Vec<String> {
        self.mention(command, weight::GIVEN, None);
        for branch in shell::branches(command) {
            self.table.name(NameKind::Reference, branch, weight::GIVEN, self.clock);
        }
        self.commands.typed(command, self.clock)
    }

    fn returned(&mut self, call: &str, failed: bool, text: &str, changed: &[(u32, u32)]) {
        let at = self.calls.iter().position(|(name, _)| name == call);
        let file = match at.and_then(|at| self.calls.remove(at)).map(|(_, pending)| pending) {
            Some(Pending::File(file)) => {
                if let Some(touched) = self.touched.get_mut(&file).filter(|_| !changed.is_empty()) {
                    changed.iter().for_each(|lines| note_lines(&mut touched.lines, *lines));
                }
                Some(file)
            }
            Some(Pending::Shell(keys)) => {
                self.commands.ended(&keys, failed, text);
                None
            }
            Some(Pending::Delegated(task)) => {
                push(&mut self.delegated, (task, words::one_line(text, 300)), MOST_DELEGATED);
                None
            }
            None => None,
        };
        self.mention(text, weight::RETURNED, file);
    }

    fn file(&mut self, path: &str, weight: f32) -> FileId {
        self.clock += 1;
        let path = relative(self.folder.as_deref(), path).to_owned();
        self.table.file(&path, weight * weight::FILE, self.clock)
    }

    /// Notes every name in a text, once each; symbols belong to the file that the text is `of`, and
    /// to those named beside them.
    fn mention(&mut self, text: &str, weight: f32, of: Option<FileId>) {
        /// A line longer than this is no sentence about a file.
        const LONG_LINE: usize = 600;
        self.clock += 1;
        let (now, folder, table) = (self.clock, self.folder.as_deref(), &mut self.table);
        let (mut files, mut symbols) = (Vec::new(), Vec::new());
        for line in bytes::lines(text) {
            files.clear();
            symbols.clear();
            names::scan(line, |kind, name| match kind {
                NameKind::File => {
                    files.push(table.file(relative(folder, name), weight * weight::FILE, now));
                }
                NameKind::Symbol => symbols.push(table.name(kind, name, weight, now)),
                NameKind::Reference => {
                    table.name(kind, name, weight, now);
                }
            });
            if files.len() > 3 || line.len() > LONG_LINE {
                files.clear();
            }
            files.extend(of);
            for (file, symbol) in
                files.iter().flat_map(|file| symbols.iter().map(move |symbol| (file, symbol)))
            {
                table.tie(*symbol, *file, weight.max(weight::LEAST_TIE), now);
            }
        }
    }

    /// The files that were changed, with their paths, the newest change first.
    fn changes(&self) -> Vec<(&str, &Touched)> {
        let changed = self.touched.iter().filter(|(_, touched)| touched.change.is_some());
        let mut files: Vec<(&str, &Touched)> = changed
            .map(|(file, touched)| (self.table.files[*file as usize].path.as_str(), touched))
            .collect();
        files.sort_by_key(|(_, touched)| std::cmp::Reverse(touched.at));
        files
    }

    fn shrink(&mut self) {
        self.commands.shrink(self.clock);
        let touched = &self.touched;
        let is_changed =
            |file: FileId| touched.get(&file).is_some_and(|touched| touched.change.is_some());
        let Some(moved) = self.table.shrink(self.clock, is_changed) else { return };
        let place = |file: FileId| moved.get(file as usize).copied().flatten();
        self.touched = std::mem::take(&mut self.touched)
            .into_iter()
            .filter_map(|(file, touched)| Some((place(file)?, touched)))
            .collect();
        self.markers.retain_mut(|(file, _)| place(*file).map(|place| *file = place).is_some());
        self.calls.retain_mut(|(_, pending)| match pending {
            Pending::File(file) => place(*file).map(|place| *file = place).is_some(),
            Pending::Shell(_) | Pending::Delegated(_) => true,
        });
    }
}

/// Adds to the end, and forgets the oldest if there are too many.
fn push<T>(list: &mut VecDeque<T>, item: T, most: usize) {
    if list.len() == most {
        list.pop_front();
    }
    list.push_back(item);
}

fn note_lines(lines: &mut Vec<(u32, u32)>, new: (u32, u32)) {
    lines.retain(|known| *known != new);
    if lines.len() == MOST_RANGES {
        lines.remove(0);
    }
    lines.push(new);
}

/// A path inside the project, as seen from there; of a diff without its side.
fn relative<'p>(folder: Option<&str>, path: &'p str) -> &'p str {
    let inside = folder.and_then(|folder| path.strip_prefix(folder)?.strip_prefix('/'));
    let path = inside.unwrap_or(path).trim_start_matches("./");
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}
