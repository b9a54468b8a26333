//! Measures which facts the work needed after a compaction, and whether the summary or the restore
//! had them.
//!
//! A needed fact is a name that occurred before the compaction and that the agent uses afterwards
//! before anything shows it again. Names are recognized as elsewhere in the work. Text that the
//! agent writes into files is not judged, because clients restore some files without recording it.

mod name_history;

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};

use name_history::{FileId, NameHistory, RecordNumber};
use plimsoll_core::Millis;
use plimsoll_core::entry::EntryId;

use super::names::{self, NameKind};
use super::{ToolUse, WorkEvent, WorkRecord, commands, fence, path};
use crate::redact::redact;

/// Input to the model in a transcript record, other than its own words.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelInput<'a> {
    /// A compaction: the model keeps the records from this one on, or none.
    Compacted {
        /// First record that the model keeps.
        kept_from: Option<EntryId>,
    },
    /// The client's summary of the earlier conversation.
    Summary(Cow<'a, str>),
    /// Texts of the user, a tool or the client.
    Texts(Vec<Cow<'a, str>>),
}

/// Kind of a needed fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FactKind {
    File,
    /// A name in code.
    Symbol,
    /// A program with its subcommands.
    Command,
    /// An issue, a hash, a branch or a URL: something to look up elsewhere.
    Reference,
}

impl FactKind {
    pub const ALL: [Self; 4] = [Self::File, Self::Symbol, Self::Command, Self::Reference];

    /// Returns the plural name.
    pub fn label(self) -> &'static str {
        match self {
            Self::File => "files",
            Self::Symbol => "symbols",
            Self::Command => "commands",
            Self::Reference => "references",
        }
    }
}

/// A name that the work needed after a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub kind: FactKind,
    pub name: String,
    /// Whether the client's summary contained the name.
    pub in_summary: bool,
    /// Whether the restore contained the name.
    pub in_restore: bool,
}

/// One compaction, judged by the work after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    pub time: Option<Millis>,
    /// Whether the transcript has the client's summary.
    pub has_summary: bool,
    /// Needed facts, in order of use.
    pub facts: Vec<Fact>,
}

/// Counts of needed facts, by where they were available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecallCounts {
    /// All needed facts.
    pub needed: u64,
    /// Facts in the summary.
    pub summary: u64,
    /// Facts in the restore.
    pub restore: u64,
    /// Facts in the summary, the restore or both.
    pub either: u64,
}

impl RecallCounts {
    /// Counts facts.
    pub fn of<'f>(facts: impl IntoIterator<Item = &'f Fact>) -> Self {
        let mut tally = Self::default();
        for fact in facts {
            tally.needed += 1;
            tally.summary += u64::from(fact.in_summary);
            tally.restore += u64::from(fact.in_restore);
            tally.either += u64::from(fact.in_summary || fact.in_restore);
        }
        tally
    }

    /// Summarizes the counts in a sentence.
    pub fn headline(&self) -> String {
        if self.needed == 0 {
            return "Nothing from before a compaction was needed after it.".to_owned();
        }
        let (summary, together) = (self.share(self.summary), self.share(self.either));
        format!(
            "Your client's summaries kept {summary} of what the work needed; with plimsoll {together}."
        )
    }

    /// Returns `kept` as a whole percentage of the needed facts, rounded down so that only all of
    /// them give 100 %. A dash if there are none.
    pub fn share(&self, kept: u64) -> String {
        let share = (kept * 100).checked_div(self.needed);
        share.map_or_else(|| "–".to_owned(), |share| format!("{share} %"))
    }
}

impl std::ops::AddAssign for RecallCounts {
    fn add_assign(&mut self, other: Self) {
        self.needed += other.needed;
        self.summary += other.summary;
        self.restore += other.restore;
        self.either += other.either;
    }
}

/// Judges the compactions of a session, record by record.
#[derive(Debug, Default)]
pub struct Recall {
    known: NameHistory,
    folder: Option<String>,
    /// The newest records with their moments: a compaction may keep some of them.
    newest: VecDeque<(EntryId, RecordNumber)>,
    after: Option<AfterCompaction>,
}

/// Maximum number of records that a compaction may keep.
const MOST_NEWEST: usize = 256;
/// Number of tool calls after a compaction during which a name counts as needed.
const HORIZON: usize = 80;
/// A shorter reference is more likely a list number than an issue.
const SHORTEST_REFERENCE: usize = 3;
/// Maximum bytes of shown text to keep: more than a large window has.
const MOST_SHOWN: usize = 4 << 20;

/// The work after a compaction.
#[derive(Debug)]
struct AfterCompaction {
    time: Option<Millis>,
    restore: String,
    summary: Option<String>,
    /// Texts shown since, to find names that a scan does not recognize: commands and branches.
    shown: String,
    steps: usize,
    needed: Vec<NeededFact>,
}

#[derive(Debug)]
enum NeededFact {
    File(FileId),
    Name(FactKind, String),
}

impl Recall {
    /// Handles a compaction after which the session receives `restore`. Returns the judgement on
    /// the previous compaction.
    pub fn begin_compaction(
        &mut self,
        time: Option<Millis>,
        kept_from: Option<EntryId>,
        restore: String,
    ) -> Option<Judgement> {
        let judgement = self.finish();
        let kept = kept_from.and_then(|id| self.newest.iter().find(|(known, _)| *known == id));
        self.known.forget_before(kept.map(|(_, moment)| *moment));
        let (summary, shown, needed) = (None, String::new(), Vec::new());
        self.after = Some(AfterCompaction { time, restore, summary, shown, steps: 0, needed });
        judgement
    }

    /// Reads input to the model.
    pub fn read_input(&mut self, shown: &ModelInput<'_>) {
        match shown {
            ModelInput::Compacted { .. } => {}
            ModelInput::Summary(text) => {
                if let Some(after) = &mut self.after {
                    after.summary.get_or_insert_default().push_str(text);
                }
            }
            ModelInput::Texts(texts) => {
                texts
                    .iter()
                    .filter(|text| !fence::is_own_text(text))
                    .for_each(|text| self.text(text));
            }
        }
    }

    fn text(&mut self, text: &str) {
        let known = &mut self.known;
        names::scan(text, |kind, name| match kind {
            NameKind::File => {
                known.file(name);
            }
            NameKind::Symbol | NameKind::Reference => {
                known.name(name);
            }
        });
        if let Some(after) = &mut self.after
            && after.shown.len() + text.len() < MOST_SHOWN
        {
            after.shown.extend([text, "\n"]);
        }
    }

    /// Reads what the agent said and did.
    pub fn read_record(&mut self, record: &WorkRecord<'_>) {
        let moment = self.known.next();
        if self.folder.is_none() {
            self.folder = record.folder.as_deref().map(str::to_owned);
        }
        if let Some(id) = record.id {
            super::push(&mut self.newest, (id, moment), MOST_NEWEST);
        }
        for act in &record.events {
            match act {
                WorkEvent::ModelText(text) => self.used(text),
                WorkEvent::ToolCall { tool, .. } => self.called(tool),
                _ => {}
            }
        }
    }

    fn called(&mut self, tool: &ToolUse<'_>) {
        if let Some(after) = &mut self.after {
            after.steps += 1;
        }
        match tool {
            ToolUse::Edit { path, old, new } => {
                self.used(path);
                old.iter().chain(new).for_each(|text| self.text(text));
            }
            ToolUse::Write { path, text } => {
                self.used(path);
                self.text(text);
            }
            ToolUse::Read { path, .. } => self.used(path),
            ToolUse::Shell { command } => self.ran(command),
            ToolUse::Delegate { text, .. } => self.used(text),
            ToolUse::Plan(steps) => steps.iter().for_each(|step| self.used(&step.text)),
            ToolUse::AddStep { text, about } => {
                [text, about].into_iter().for_each(|text| self.used(text))
            }
            ToolUse::SetStep { text, .. } => text.iter().for_each(|text| self.used(text)),
            ToolUse::Other { texts, .. } => texts.iter().for_each(|text| self.used(text)),
        }
    }

    fn ran(&mut self, line: &str) {
        self.used(line);
        let commands = plimsoll_core::shell::commands(line);
        for command in commands::keys(&commands).filter_map(|key| command(&key)) {
            self.used_unmarked(FactKind::Command, &command);
        }
        for branch in commands::branches(&commands) {
            self.used_unmarked(FactKind::Reference, branch);
        }
    }

    /// Records the names in a text of the agent. Secrets do not count as facts, because nothing may
    /// store them.
    fn used(&mut self, text: &str) {
        let text = redact(text);
        let (known, mut needed) = (&mut self.known, Vec::new());
        names::scan(&text, |kind, name| match kind {
            NameKind::File => needed.extend(known.file(name).map(NeededFact::File)),
            NameKind::Symbol | NameKind::Reference if !known.name(name) => {}
            NameKind::Symbol => needed.push(NeededFact::Name(FactKind::Symbol, name.to_owned())),
            NameKind::Reference => {
                needed.push(NeededFact::Name(FactKind::Reference, name.to_owned()))
            }
        });
        self.need(needed);
    }

    /// Records a name that a scan does not recognize.
    fn used_unmarked(&mut self, kind: FactKind, name: &str) {
        let is_shown = self.after.as_ref().is_some_and(|after| after.shown.contains(name));
        if self.known.name(name) && !is_shown {
            self.need([NeededFact::Name(kind, name.to_owned())]);
        }
    }

    fn need(&mut self, needed: impl IntoIterator<Item = NeededFact>) {
        if let Some(after) = self.after.as_mut().filter(|after| after.steps <= HORIZON) {
            after.needed.extend(needed);
        }
    }

    /// Returns the judgement on the last compaction.
    pub fn finish(&mut self) -> Option<Judgement> {
        let after = self.after.take()?;
        let summary = after.summary.as_deref().map(|text| self.kept(text));
        let restore = self.kept(&after.restore);
        let facts = self.telling(after.needed).into_iter().map(|needed| Fact {
            kind: needed.kind(),
            in_summary: summary.as_ref().is_some_and(|summary| summary.holds(&needed)),
            in_restore: restore.holds(&needed),
            name: match needed {
                NeededFact::File(file) => {
                    path::shown(self.folder.as_deref(), self.known.path(file)).to_owned()
                }
                NeededFact::Name(_, name) => name,
            },
        });
        Some(Judgement { time: after.time, has_summary: summary.is_some(), facts: facts.collect() })
    }

    /// Drops names that say nothing on their own: words that only have a file's extension, and
    /// symbols that are part of a needed path or of the project folder, which the agent always
    /// knows.
    fn telling(&self, mut needed: Vec<NeededFact>) -> Vec<NeededFact> {
        let path = |needed: &NeededFact| match needed {
            NeededFact::File(file) => Some(self.known.path(*file)),
            NeededFact::Name(..) => None,
        };
        let paths: Vec<&str> =
            needed.iter().filter_map(path).chain(self.folder.as_deref()).collect();
        let paths = paths.join("\n");
        needed.retain(|needed| match needed {
            NeededFact::File(file) => name_history::folder(self.known.path(*file)).is_some(),
            NeededFact::Name(FactKind::Symbol, name) => !paths.contains(name.as_str()),
            NeededFact::Name(FactKind::Reference, name) => name.len() >= SHORTEST_REFERENCE,
            NeededFact::Name(..) => true,
        });
        needed
    }

    fn kept(&self, text: &str) -> TextContent {
        let mut files = HashSet::new();
        names::scan(text, |kind, name| {
            if kind == NameKind::File {
                files.extend(self.known.find(name));
            }
        });
        TextContent { files, text: text.split_whitespace().collect::<Vec<_>>().join(" ") }
    }
}

/// The names in a text.
struct TextContent {
    /// Files that the text names unambiguously.
    files: HashSet<FileId>,
    text: String,
}

impl TextContent {
    fn holds(&self, needed: &NeededFact) -> bool {
        match needed {
            NeededFact::File(file) => self.files.contains(file),
            NeededFact::Name(_, name) => self.holds_word(name),
        }
    }

    /// Returns whether the text has the name as a whole word. A hash may continue.
    fn holds_word(&self, name: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let is_hash = names::is_hash(name.as_bytes());
        self.text.match_indices(name).any(|(at, _)| {
            let (before, after) = (&self.text[..at], &self.text[at + name.len()..]);
            !before.ends_with(is_part) && (is_hash || !after.starts_with(is_part))
        })
    }
}

impl NeededFact {
    fn kind(&self) -> FactKind {
        match self {
            Self::File(_) => FactKind::File,
            Self::Name(kind, _) => *kind,
        }
    }
}

/// Returns the part of a command worth knowing: the program and its subcommands. Files and other
/// names in it are separate facts. `git`, and a program with one plain word, are common knowledge.
fn command(key: &str) -> Option<String> {
    let is_sub =
        |word: &&str| !word.contains('/') && !names::is_file(word) && !names::is_reference(word);
    let mut words = key.split(' ');
    let program = words.next().filter(|program| *program != "git" && !program.ends_with(':'))?;
    let subs: Vec<&str> = words.take_while(is_sub).collect();
    let is_telling = match subs[..] {
        [] => false,
        [only] => !only.bytes().all(|byte| byte.is_ascii_alphabetic()),
        _ => true,
    };
    is_telling.then(|| format!("{program} {}", subs.join(" ")))
}

#[cfg(test)]
mod tests;
