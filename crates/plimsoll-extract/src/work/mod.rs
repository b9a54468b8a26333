//! The work of a session, folded from its transcript record by record.
//!
//! The [`WorkFold`] can stop at any record, be stored, and continue later; any split gives the same
//! result as one pass. Its size is bounded: names by score, texts by number and length.

mod checkpoint_body;
mod commands;
mod effects;
mod failure_output;
pub(crate) mod fence;
mod file_state;
mod fold;
mod inherit;
mod item_index;
mod mention;
mod missing_facts;
mod model_summary;
mod name_table;
mod names;
mod origin;
mod outcome;
mod output_names;
mod pasted_text;
mod path;
mod pause_changes;
mod plan;
mod recall;
mod record;
mod requests;
mod restore;
mod restore_checkpoint;
pub(crate) mod sanitize;
mod score;
mod sentences;
mod sourced_text;
mod summary_instructions;
mod tool_calls;

use std::collections::{BTreeMap, VecDeque};

use plimsoll_core::Millis;
use plimsoll_core::entry::{EntryId, Place};
use serde::{Deserialize, Serialize};

pub use checkpoint_body::{EMPTY_SECTION, fingerprint, note_unreadable_transcript, render_body};
pub use fence::{HEADING, OFFER_HEADING, fenced};
pub use fold::WorkFold;
pub use inherit::inherit_from_previous;
pub use missing_facts::missing_facts;
pub use model_summary::{MAX_SUMMARY_BYTES, ModelSummary};
pub use origin::{
    CONTINUES_WORK, DATA_NOTICE, FOLLOWS_WORK, FileStatus, RestoreOrigin, unknown_status,
};
pub use outcome::SessionOutcome;
pub use pause_changes::render_pause_changes;
pub use recall::{Fact, FactKind, Judgement, ModelInput, Recall, RecallCounts};
pub use record::{
    ChangeKind, FileChange, PlanStep, StepState, ToolOutput, ToolUse, WorkEvent, WorkRecord,
};
pub use restore::{restore, restore_from};
pub use restore_checkpoint::{files_in_body, next_steps, restore_checkpoint};
pub use summary_instructions::summary_instructions;

use commands::KnownCommands;
use file_state::FileState;
use mention::Mention;
use name_table::{FileId, MovedFiles, NameTable, TableLimits};
use plan::WorkPlan;
use score::Clock;
use sentences::cut;
use sourced_text::SourcedText;
use tool_calls::{PendingCall, ShellFolder};

/// Weight of a name by its source. The agent's tool inputs and the user's words weigh far more than
/// tool output; docs/restore.md has the figures.
mod weight {
    pub(super) const ASKED: f32 = 4.0;
    pub(super) const SAID: f32 = 1.5;
    pub(super) const GIVEN: f32 = 5.0;
    pub(super) const BODY: f32 = 0.1;
    pub(super) const RETURNED: f32 = 0.07;
    /// A file weighs more than a name in it.
    pub(super) const FILE: f32 = 6.0;
    /// Minimum strength of the link between a symbol and its file, whatever the source.
    pub(super) const LEAST_TIE: f32 = 0.1;
}

/// Minimum score of names that the user or the agent mentioned, rather than only tool output.
const LEAST: f32 = 1.0;

const MOST_NAMED: TableLimits = TableLimits { names: 1_500, files: 300 };
const MOST_ASKED: usize = 24;
const LONGEST_ASKED: usize = 2_000;
/// A longer prompt is a document, not an instruction.
const LONGEST_PROMPT: usize = 6_000;
const MOST_DIRECTIVES: usize = 60;
const LONGEST_SENTENCE: usize = 400;
const MOST_DECISIONS: usize = 24;
const MOST_SAID: usize = 4;
const MOST_CALLS: usize = 256;
const MOST_MARKERS: usize = 20;
const MOST_DELEGATED: usize = 8;
/// Number of files kept with details once there are twice as many.
const MOST_TOUCHED: usize = 150;

/// Everything known about a session's work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    clock: Clock,
    steps: u32,
    turns: u32,
    /// The model's newest message.
    message: Option<EntryId>,
    table: NameTable,
    commands: KnownCommands,
    /// The user's requests: the first, and the newest ones.
    asked: VecDeque<SourcedText>,
    /// The user's instructions on how to work, newest last.
    directives: VecDeque<SourcedText>,
    /// Decisions, newest last.
    decisions: VecDeque<SourcedText>,
    /// The model's newest messages.
    said: VecDeque<SourcedText>,
    plan: WorkPlan,
    /// What happened to files, by table index.
    touched: BTreeMap<FileId, FileState>,
    /// TODO and FIXME comments in written text, with the file.
    markers: VecDeque<(FileId, SourcedText)>,
    /// Tasks of subagents, with their answers.
    delegated: VecDeque<(String, SourcedText)>,
    /// Stashed changes, newest last.
    stashes: Vec<Vec<(FileId, FileState)>>,
    /// Number of commits.
    commits: u32,
    branch: Option<SourcedText>,
    /// The folder that the session started in: the project.
    project: Option<String>,
    /// The agent's folder, if it is not the project.
    elsewhere: Option<String>,
    /// The shell's folder after a `cd`.
    shell: Option<ShellFolder>,
    /// Time of the newest record.
    time: Option<Millis>,
    /// Place of the newest record that advanced the conversation.
    newest: Place,
    /// The model's own summary from the last time it was asked for a checkpoint. `refined_at` is
    /// the step count at that time.
    words: ModelSummary,
    refined_at: u32,
    /// Calls without a result so far.
    calls: VecDeque<(String, PendingCall)>,
}

impl Work {
    /// Returns the time of the newest record.
    pub fn time(&self) -> Option<Millis> {
        self.time
    }

    /// Returns the place of the newest record that advanced the conversation; 0 if there is none.
    pub fn newest_place(&self) -> Place {
        self.newest
    }

    /// Returns the files that the agent read or changed.
    pub fn touched_files(&self) -> Vec<&str> {
        self.touched.keys().map(|file| self.table.files[*file as usize].path.as_str()).collect()
    }

    /// Returns the number of tool calls.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Returns the number of messages from the model.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Replaces the model's own summary, unless the new one is empty.
    pub fn set_model_summary(&mut self, words: ModelSummary) {
        if !words.is_empty() {
            (self.words, self.refined_at) = (words, self.steps);
        }
    }

    /// Returns the model's own summary, without its next steps once they are outdated.
    pub fn model_summary(&self) -> ModelSummary {
        const A_WHILE: u32 = 20;
        match self.steps - self.refined_at > A_WHILE {
            true => self.words.clone().without_steps(),
            false => self.words.clone(),
        }
    }

    /// Returns whether no record has been read.
    pub fn is_empty(&self) -> bool {
        self.clock == 0
    }

    fn asked(&mut self, text: &str) {
        self.mention(text, weight::ASKED, None);
        let is_document = text.len() > LONGEST_PROMPT;
        let text = &pasted_text::own_words(text);
        if text.is_empty() {
            return;
        }
        for sentence in sentences::directives(text).filter(|_| !is_document) {
            let sentence = self.noted(requests::bare(sentence), LONGEST_SENTENCE);
            self.directives.retain(|known| **known != *sentence);
            push(&mut self.directives, sentence, MOST_DIRECTIVES);
        }
        let text = self.noted(text, LONGEST_ASKED);
        if self.asked.back().is_some_and(|known| **known == *text) {
            self.asked.pop_back();
        }
        if self.asked.len() == MOST_ASKED {
            // The first request states the goal. Drop a mere reply first.
            let reply = self.asked.iter().skip(1).position(|text| requests::is_reply(text));
            self.asked.remove(1 + reply.unwrap_or(0));
        }
        self.asked.push_back(text);
    }

    fn said(&mut self, text: &str) {
        self.mention(text, weight::SAID, None);
        for sentence in sentences::decisions(text) {
            self.decided(sentence);
        }
        self.plan.propose(text, self.table.here);
        let text = self.noted(text, LONGEST_ASKED);
        push(&mut self.said, text, MOST_SAID);
    }

    fn decided(&mut self, sentence: &str) {
        let sentence = self.noted(sentence, LONGEST_SENTENCE);
        self.decisions.retain(|known| **known != *sentence);
        push(&mut self.decisions, sentence, MOST_DECISIONS);
    }

    /// Records a question that the user answered as a decision.
    fn answered(&mut self, question: &str, answer: &str) {
        self.mention(answer, weight::ASKED, None);
        let question = sentences::one_line(question, LONGEST_SENTENCE / 2);
        self.decided(&format!("{question} The user: {}", sentences::one_line(answer, 200)));
    }

    fn reported(&mut self, task: &str, text: &str) {
        let said = SourcedText::new(sentences::one_line(text, 300), self.table.here);
        push(&mut self.delegated, (sentences::one_line(task, 120), said), MOST_DELEGATED);
    }

    /// Cuts a text and attaches the place of the current record.
    fn noted(&self, text: &str, longest: usize) -> SourcedText {
        SourcedText::new(cut(text, longest), self.table.here)
    }

    /// Records a file by the path that a tool received or that the agent reported.
    fn file(&mut self, path: &str, weight: f32) -> FileId {
        let path = path::resolve(self.project.as_deref(), self.folder(), path);
        self.known_file(&path, weight)
    }

    /// Records a file by its path relative to the project.
    fn known_file(&mut self, path: &str, weight: f32) -> FileId {
        self.clock += 1;
        let path = sanitize::sanitize_name(path);
        self.table.known_file(sanitize::path_end(&path), weight * weight::FILE, self.clock)
    }

    /// Returns the agent's folder.
    fn folder(&self) -> Option<&str> {
        self.elsewhere.as_deref().or(self.project.as_deref())
    }

    fn enter(&mut self, folder: &str) {
        if self.folder() == Some(folder) {
            return;
        }
        let folder = sanitize::sanitize_name(folder).replace('\\', "/");
        match &self.project {
            None => self.project = Some(folder),
            Some(project) => self.elsewhere = Some(folder).filter(|folder| folder != project),
        }
    }

    /// Records every name in a text. Symbols belong to the file `of`.
    fn mention(&mut self, text: &str, weight: f32, of: Option<FileId>) {
        self.clock += 1;
        let told = Mention { text, weight, of, now: self.clock };
        self.table.mention(&told, self.project.as_deref());
    }

    /// Returns the changed files with their paths, newest change first.
    fn changes(&self) -> Vec<(&str, &FileState)> {
        let changed = self.touched.iter().filter(|(_, touched)| touched.change.is_some());
        let mut files: Vec<(&str, &FileState)> = changed
            .map(|(file, touched)| (self.table.files[*file as usize].path.as_str(), touched))
            .collect();
        files.sort_by_key(|(_, touched)| std::cmp::Reverse(touched.at));
        files
    }

    fn shrink(&mut self) {
        self.commands.shrink(self.clock);
        self.shrink_touched();
        let touched = &self.touched;
        let changed = |file| touched.get(&file).is_some_and(|file| file.change.is_some());
        if let Some(moved) = self.table.shrink(MOST_NAMED, self.clock, changed) {
            self.move_files(&moved);
        }
    }

    /// Assigns mentions to the files that they refer to, which is only certain once all records are
    /// read.
    fn join_mentions(&mut self) {
        if let Some(moved) = self.table.join_mentions() {
            self.move_files(&moved);
        }
    }

    /// Updates file indexes after the table moved the files.
    fn move_files(&mut self, moved: &MovedFiles) {
        let place = |file: FileId| moved.get(file as usize).copied().flatten();
        for stash in &mut self.stashes {
            stash.retain_mut(|(file, _)| place(*file).map(|place| *file = place).is_some());
        }
        self.touched = std::mem::take(&mut self.touched)
            .into_iter()
            .filter_map(|(file, touched)| Some((place(file)?, touched)))
            .collect();
        self.markers.retain_mut(|(file, _)| place(*file).map(|place| *file = place).is_some());
        self.calls.retain_mut(|(_, pending)| pending.moved(place));
    }

    /// Drops the details of old files, first of those that were only read.
    fn shrink_touched(&mut self) {
        if self.touched.len() <= 2 * MOST_TOUCHED {
            return;
        }
        let value = |touched: &FileState| (touched.change.is_some(), touched.at);
        let mut values: Vec<_> = self.touched.values().map(value).collect();
        values.sort_unstable();
        let least = values[values.len() - MOST_TOUCHED];
        self.touched.retain(|_, touched| value(touched) >= least);
    }
}

/// Appends an item, and drops the oldest if the list is full.
fn push<T>(list: &mut VecDeque<T>, item: T, most: usize) {
    if list.len() == most {
        list.pop_front();
    }
    list.push_back(item);
}

#[cfg(test)]
mod tests;
