//! Folds a transcript into the work.

use plimsoll_core::entry::Place;
use serde::{Deserialize, Serialize};

use super::name_table::FileId;
use super::output_names::{OutputNames, ShownText};
use super::sanitize::{self, sanitize};
use super::sourced_text::SourcedText;
use super::tool_calls::CallResult;
use super::{Work, WorkEvent, WorkRecord, weight};

/// The work up to the last record read, and the state needed to continue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkFold {
    work: Work,
    seen: OutputNames,
    #[serde(skip)]
    skims_to: Place,
}

impl WorkFold {
    /// Declares that the compaction at this place is not the last one. Tool output before it will
    /// be dropped anyway, so the fold does not read it.
    pub fn skip_output_before(&mut self, place: Place) {
        self.skims_to = place;
    }

    /// Returns whether a successful result at this place needs no decoding, because the call only
    /// looked at something.
    pub fn can_skip_output(&self, place: Place, call: &str) -> bool {
        place < self.skims_to && self.work.only_looks(call)
    }

    /// Returns everything known so far.
    pub fn finish(mut self) -> Work {
        self.seen.move_into(&mut self.work.table);
        self.work.join_mentions();
        self.work
    }

    /// Reads the next record.
    pub fn read_record(&mut self, record: &WorkRecord<'_>) {
        self.begin(record);
        for act in &record.events {
            self.act(act);
        }
        self.work.shrink();
    }

    fn begin(&mut self, record: &WorkRecord<'_>) {
        let work = &mut self.work;
        work.table.here = record.place;
        self.seen.at(record.place);
        if let Some(folder) = record.folder.as_deref() {
            work.enter(folder);
        }
        // A client without a branch writes `HEAD` or nothing.
        let is_new = |branch: &&str| {
            !matches!(*branch, "" | "HEAD") && work.branch.as_deref() != Some(*branch)
        };
        let branch = record.branch.as_deref().filter(is_new).map(sanitize::sanitize_name);
        if let Some(branch) = branch.as_deref().map(sanitize::path_end).filter(is_new) {
            work.branch = Some(SourcedText::new(branch, record.place));
        }
        work.time = work.time.max(record.time);
        if record.advances {
            work.newest = record.place;
        }
        if record.message.is_some() && record.message != work.message {
            work.turns += 1;
            work.message = record.message;
        }
    }

    /// Reads one event. Secrets are removed first, because everything kept here may be stored.
    fn act(&mut self, act: &WorkEvent<'_>) {
        let work = &mut self.work;
        match act {
            WorkEvent::UserPrompt(text) => work.asked(&sanitize(text)),
            WorkEvent::ModelText(text) => work.said(&sanitize(text)),
            WorkEvent::ToolCall { call, tool } => {
                let file = work.called(call, tool);
                if let Some(text) = tool.written() {
                    let text = if self.is_skimmed() { "".into() } else { sanitize(&text) };
                    self.saw(&text, weight::BODY, file);
                }
            }
            WorkEvent::ToolResult { call, failed, said, changes, step } => {
                let is_read = work.listens_to(call, *failed) || !self.is_skimmed();
                let said = if is_read { said.text() } else { "".into() };
                let text = &sanitize(&said);
                let result = CallResult { failed: *failed, text, changes };
                let file = self.work.returned(call, &result, step.as_deref());
                self.saw(text, weight::RETURNED, file);
            }
            WorkEvent::CallDropped { call } => {
                work.pending(call);
            }
            WorkEvent::QuestionAnswered { question, answer } => {
                work.answered(&sanitize(question), &sanitize(answer))
            }
            WorkEvent::StepShown { step, text, state } => {
                work.plan.show(
                    &sanitize::sanitize_name(step),
                    &sanitize(text),
                    *state,
                    work.table.here,
                );
            }
            WorkEvent::PlanWritten(text) => work.plan.agree(&sanitize(text), work.table.here),
            WorkEvent::SubagentReport { task, text } => {
                let text = sanitize(text);
                work.reported(&sanitize(task), &text);
                self.saw(&text, weight::RETURNED, None);
            }
            WorkEvent::Compaction => self.seen.start_window(),
        }
    }

    /// Records the names in a text that a tool showed or wrote.
    fn saw(&mut self, text: &str, weight: f32, file: Option<FileId>) {
        self.work.clock += 1;
        if self.is_skimmed() {
            return;
        }
        let Work { table, project, clock, .. } = &self.work;
        let of = file.map(|file| table.files[file as usize].path.as_str());
        self.seen.take(&ShownText { text, weight, of, now: *clock }, project.as_deref());
    }

    fn is_skimmed(&self) -> bool {
        self.work.table.here < self.skims_to
    }
}
