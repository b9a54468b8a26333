//! Reading a transcript from its end: which lines a reading needs, and no more.
//!
//! The newest entry of the conversation hangs, link by link, on the response that counts. From the
//! first line of that response on, [`Fold`](plimsoll_core::reading::Fold) comes to the same reading
//! as from the start of the file.

use std::io;

use plimsoll_agents::{Agent, Request};
use plimsoll_core::Tokens;
use plimsoll_core::entry::{Entry, EntryId, Follows, Kind, ModelChange, Response};
use plimsoll_core::event::ReportedUsage;
use plimsoll_core::models::{self, LONG_WINDOW};
use plimsoll_core::reading::{GROWTH_CALLS, Scope};

use crate::jsonl::{Backward, HORIZON, JsonLines, Line};

/// What a look back from the end found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Where the fold has to begin.
    pub start: Start,
    /// The newest response: the anchor, or the last one before a compaction.
    pub newest: Option<Counted>,
    /// Bytes of transcript lines behind the anchor that may add to the window.
    pub bytes_since: u64,
    /// Tokens in the window, if the agent reports them with an event.
    pub reported: Option<Tokens>,
}

impl Tail {
    /// Puts what an agent reports in the place of what its transcript says.
    pub(crate) fn apply(&mut self, usage: &ReportedUsage, len: u64) {
        let newest = self.newest.get_or_insert_with(Counted::default);
        newest.model = usage.model.clone().or(newest.model.take());
        newest.window = usage.window.or(newest.window);
        if let Some(used) = usage.used {
            (newest.tokens, newest.prompt_tokens) = (used, used);
            (self.start, self.bytes_since) = (Start::Response(len), 0);
            self.reported = Some(used);
        }
    }

    /// Returns where the compaction is that nothing was counted since, if there is one.
    pub fn compaction(&self) -> Option<u64> {
        match self.start {
            Start::Compaction(offset) => Some(offset),
            _ => None,
        }
    }

    /// Whether the service has counted since the last compaction.
    pub fn is_counted(&self) -> bool {
        matches!(self.start, Start::Response(_))
    }
}

/// Where the part of a transcript begins that a reading depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// At the first line of the response that counts.
    Response(u64),
    /// At a compaction: nothing was counted since.
    Compaction(u64),
    /// Nowhere: nothing was ever counted.
    #[default]
    Nowhere,
    /// Further back than is looked.
    OutOfSight,
}

/// What the service counted for a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The model that answered; `None` if the transcript does not name it.
    pub model: Option<String>,
    /// The model's window, if the transcript names it.
    pub window: Option<Tokens>,
    /// It was asked for with a long-context mark.
    pub long_context: bool,
    /// Tokens of the prompt and, where the count is final, of the answer.
    pub tokens: Tokens,
    /// Tokens of the prompt alone.
    pub prompt_tokens: Tokens,
    /// The client that wrote it.
    pub version: Option<String>,
}

impl Counted {
    fn apply(&mut self, named: NamedModel) {
        (self.model, self.window) = (named.model, self.window.or(named.window));
    }

    /// Whether a long-context mark would make a difference.
    fn may_be_long(&self) -> bool {
        !self.long_context
            && self.window.is_none()
            && self
                .model
                .as_deref()
                .and_then(models::known)
                .is_none_or(|model| model.window < LONG_WINDOW)
    }
}

/// Looks back from the end of a transcript for the response that counts.
pub fn look_back(agent: &'static dyn Agent, file: &JsonLines, scope: Scope) -> io::Result<Tail> {
    let mut search = Search::default();
    let mut lines = file.backward();
    while let Some(line) = lines.next()? {
        if file.len() - line.offset > HORIZON {
            search.cut_off = true;
            break;
        }
        let Some(entry) = agent.transcript().entry(line.bytes, scope) else {
            continue;
        };
        if search.take(&line, &entry) == Step::Done {
            break;
        }
    }
    let change = search.change.take();
    let mut tail = search.finish();
    if let Some(newest) = tail.newest.as_mut().filter(|newest| newest.model.is_none()) {
        let change = change.map_or_else(|| model_change(agent, file, &mut lines, scope), Ok)?;
        newest.apply(change);
    }
    if let Some(newest) = tail.newest.as_mut().filter(|newest| newest.may_be_long()) {
        newest.long_context |= asked_for_long_context(agent, &mut lines);
    }
    Ok(tail)
}

/// Looks further back for the record that names the model, in logs where responses do not.
fn model_change(
    agent: &'static dyn Agent,
    file: &JsonLines,
    lines: &mut Backward<'_>,
    scope: Scope,
) -> io::Result<NamedModel> {
    while let Some(line) = lines.next()?.filter(|line| file.len() - line.offset <= HORIZON) {
        let entry = agent.transcript().entry(line.bytes, scope);
        if let Some(Kind::ModelChange(change)) = entry.map(|entry| entry.kind) {
            return Ok(NamedModel::new(&change));
        }
    }
    Ok(NamedModel::default())
}

/// Whether the record of the request, right before the response, asks for a long context. It is
/// not worth another read: the status line tells the window too.
fn asked_for_long_context(agent: &'static dyn Agent, lines: &mut Backward<'_>) -> bool {
    while let Some(line) = lines.next_at_hand() {
        match agent.transcript().request(line.bytes) {
            Request::Recorded { long_context } => return long_context,
            Request::Unrecorded => return false,
            Request::Elsewhere => {}
        }
    }
    false
}

/// The model that a transcript names apart from its responses.
#[derive(Default)]
struct NamedModel {
    model: Option<String>,
    window: Option<Tokens>,
}

impl NamedModel {
    fn new(change: &ModelChange<'_>) -> Self {
        Self { model: change.model.map(str::to_owned), window: change.window }
    }
}

#[derive(PartialEq, Eq)]
enum Step {
    GoOn,
    Done,
}

#[derive(Default)]
struct Search {
    /// The entry we are looking for: the one that the chain from the newest entry leads to.
    link: Link,
    /// Responses seen, newest first, until the one that counts is complete.
    seen: Vec<Seen>,
    /// The place in `seen` of the response that counts.
    anchor: Option<usize>,
    compaction: Option<u64>,
    /// The newest record that names the model.
    change: Option<NamedModel>,
    bytes: u64,
    /// The search ended at the horizon.
    cut_off: bool,
}

#[derive(Default, PartialEq, Eq)]
enum Link {
    /// The next entry read: the newest one, or in a flat log the one before.
    #[default]
    Newest,
    To(EntryId),
    /// The chain ends, or has led to a response.
    Lost,
}

struct Seen {
    message: EntryId,
    /// Where its first line begins, as far as it was seen.
    offset: u64,
    counted: Counted,
    output_tokens: Tokens,
    complete: bool,
    /// Bytes of other lines behind its first one, and of its own.
    bytes_since: u64,
    bytes_own: u64,
}

impl Search {
    fn take(&mut self, line: &Line<'_>, entry: &Entry<'_>) -> Step {
        let linked = match &self.link {
            Link::Newest => true,
            Link::To(id) => entry.id == Some(*id),
            Link::Lost => false,
        };
        match &entry.kind {
            Kind::Boundary(_) if self.seen.is_empty() => {
                // The model before the compaction is still wanted.
                self.compaction.get_or_insert(line.offset);
                self.link = Link::Lost;
                return Step::GoOn;
            }
            Kind::Boundary(_) => return Step::Done,
            Kind::Response(response) => return self.respond(line, entry, response, linked),
            Kind::ModelChange(change) if self.change.is_none() => {
                self.change = Some(NamedModel::new(change));
            }
            _ => self.bytes += line.len,
        }
        if linked {
            self.link = match entry.follows {
                Follows::Previous => Link::Newest,
                Follows::Entry(id) => Link::To(id),
                Follows::Nothing => Link::Lost,
            };
        }
        if self.link == Link::Lost && !self.seen.is_empty() {
            // A chain that leads nowhere leaves the newest response.
            self.anchor.get_or_insert(0);
        }
        Step::GoOn
    }

    fn respond(
        &mut self,
        line: &Line<'_>,
        entry: &Entry<'_>,
        response: &Response<'_>,
        linked: bool,
    ) -> Step {
        let known = self.seen.last().is_some_and(|seen| seen.message == response.message);
        if !known {
            if self.anchor.is_some() || self.compaction.is_some() && !self.seen.is_empty() {
                return Step::Done;
            }
            self.seen.push(Seen::new(entry, response));
        }
        let at = self.seen.len() - 1;
        if linked || self.link == Link::Lost {
            self.anchor.get_or_insert(at);
            self.link = Link::Lost;
        }
        self.seen[at].add(line, response, self.bytes);
        if self.compaction.is_some() || self.anchor == Some(at) && response.block == Some(0) {
            return Step::Done;
        }
        Step::GoOn
    }

    fn finish(mut self) -> Tail {
        // A chain that leads nowhere leaves the newest response.
        let anchor = self.anchor.unwrap_or(0);
        if self.seen.is_empty() {
            let nothing = if self.cut_off { Start::OutOfSight } else { Start::Nowhere };
            let start = self.compaction.map_or(nothing, Start::Compaction);
            return Tail { start, bytes_since: self.bytes, ..Tail::default() };
        }
        let seen = self.seen.swap_remove(anchor);
        let start = self.compaction.map_or(Start::Response(seen.offset), Start::Compaction);
        let bytes_since = seen.bytes_at_most();
        Tail { start, bytes_since, newest: Some(seen.counted()), reported: None }
    }
}

impl Seen {
    fn new(entry: &Entry<'_>, response: &Response<'_>) -> Self {
        Self {
            message: response.message,
            offset: 0,
            counted: Counted {
                model: response.model.map(str::to_owned),
                window: response.window,
                long_context: response.long_context,
                tokens: response.prompt_tokens,
                prompt_tokens: response.prompt_tokens,
                version: entry.version.map(str::to_owned),
            },
            output_tokens: 0,
            complete: false,
            bytes_since: 0,
            bytes_own: 0,
        }
    }

    fn add(&mut self, line: &Line<'_>, response: &Response<'_>, bytes_since: u64) {
        self.offset = line.offset;
        self.output_tokens = self.output_tokens.max(response.output_tokens);
        self.complete |= response.complete;
        self.bytes_since = bytes_since;
        self.bytes_own += line.len;
    }

    fn bytes_at_most(&self) -> u64 {
        if self.complete { self.bytes_since } else { self.bytes_since + self.bytes_own }
    }

    fn counted(self) -> Counted {
        let tokens = self.counted.tokens.saturating_add(self.output_tokens);
        Counted { tokens, ..self.counted }
    }
}

/// Whether the service has counted anything at the beginning of a transcript. Where it has not, it
/// never has: a client that records counts records that of its first call.
pub fn begins_with_a_count(
    agent: &'static dyn Agent,
    file: &JsonLines,
    scope: Scope,
) -> io::Result<bool> {
    const FAR_ENOUGH: u64 = 4 << 20;
    let mut lines = file.forward(0);
    while let Some(line) = lines.next()?.filter(|line| line.offset < FAR_ENOUGH) {
        let entry = agent.transcript().entry(line.bytes, scope);
        if entry.is_some_and(|entry| matches!(entry.kind, Kind::Response(_))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Prompt sizes of the newest calls since the last compaction, oldest first.
pub fn recent_prompts(
    agent: &'static dyn Agent,
    file: &JsonLines,
    scope: Scope,
) -> io::Result<Vec<Tokens>> {
    let mut prompts: Vec<(EntryId, Tokens)> = Vec::new();
    let mut lines = file.backward();
    while let Some(line) = lines.next()? {
        if file.len() - line.offset > HORIZON {
            break;
        }
        match agent.transcript().entry(line.bytes, scope).map(|entry| entry.kind) {
            Some(Kind::Boundary(_)) => break,
            Some(Kind::Response(response)) => {
                if prompts.last().is_some_and(|(message, _)| *message == response.message) {
                    continue;
                }
                if prompts.len() > GROWTH_CALLS {
                    break;
                }
                prompts.push((response.message, response.prompt_tokens));
            }
            _ => {}
        }
    }
    Ok(prompts.into_iter().rev().map(|(_, tokens)| tokens).collect())
}
