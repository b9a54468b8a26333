//! How full a window is: the arithmetic.
//!
//! The service's own count of the last response is the anchor. What was appended since is weighed
//! and added, so that a reading predicts the size of the next prompt. [`Fold`] takes entries in the
//! order of the file; begun at the anchor instead of the start it comes to the same reading, which
//! is how a hook can read a transcript from its end ([`Fold`] never looks behind a compaction, nor
//! at what hangs on a response other than the anchor).

use std::collections::BTreeMap;

use crate::entry::{Entry, EntryId, Kind, Response};
use crate::models;
use crate::settings::{Lines, Percent};
use crate::weight::{Answer, MilliTokens, Tokenizer, Weight};
use crate::{Millis, Tokens};

/// How full a window is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Tokens the next prompt will hold.
    pub used: Tokens,
    /// How that is known.
    pub source: ReadingSource,
    /// The response that the service counted last, if it still counts.
    pub anchor: Option<Anchor>,
}

/// Where a reading comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadingSource {
    /// The service counted; only what came since is estimated.
    Measured,
    /// Nothing was counted since the last compaction, or ever.
    Estimated,
}

/// The response a reading rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The model that answered.
    pub model: String,
    /// Tokens of its prompt.
    pub prompt_tokens: Tokens,
    /// Tokens of its answer.
    pub output_tokens: Tokens,
    /// When it came.
    pub time: Option<Millis>,
}

/// Whose window is read from a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The session's own; what subagents wrote into it is passed over.
    Main,
    /// A subagent's, from its own file.
    Subagent,
}

impl Scope {
    /// Whether a line is part of the conversation, by whether a subagent wrote it.
    pub fn holds(self, by_subagent: bool) -> bool {
        by_subagent == (self == Self::Subagent)
    }
}

/// Tokens of prompt and tools of a client whose first call was never seen.
const UNSEEN_OVERHEAD: Tokens = 20_000;
/// Tokens of files that older clients attach again after a compaction without a record.
const UNRECORDED_FILES: Tokens = 8_200;

/// Reads a window from the entries of a transcript, in the order of the file.
#[derive(Debug, Default)]
pub struct Fold {
    /// Responses since the last compaction.
    responses: Vec<Counted>,
    /// On which response each entry since the last compaction hangs.
    places: BTreeMap<EntryId, Place>,
    /// Where the newest entry hangs, if that is known.
    tail: Option<Place>,
    /// What follows a compaction until the service counts again.
    compacted: Option<Compacted>,
    /// Everything before the first response.
    opening: Weight,
    /// Tokens of the client's own prompt and tools.
    overhead: Option<Tokens>,
    /// The model of the newest response, kept over a compaction.
    model: Option<String>,
}

/// A response and what hangs on it.
#[derive(Debug)]
struct Counted {
    message: EntryId,
    anchor: Anchor,
    complete: bool,
    answer: Weight,
    /// Tool results and what the client added beside them.
    results: Weight,
    /// The prompt that followed, with all that hangs on it.
    prompt: Weight,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    response: usize,
    /// Behind a prompt that followed the response.
    prompted: bool,
}

#[derive(Debug)]
struct Compacted {
    time: Option<Millis>,
    summary: Weight,
    since: Weight,
}

impl Fold {
    /// A fold that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A fold begun at a compaction, of a session that had `opening` as its start and `model` as
    /// its newest model.
    pub fn after_compaction(opening: &Self, model: Option<String>) -> Self {
        Self { overhead: opening.overhead, model, ..Self::new() }
    }

    /// Tokens of the client's own prompt and tools, once the first response has told.
    pub fn overhead(&self) -> Option<Tokens> {
        self.overhead
    }

    /// Whether `entry` only adds to what is read already: the one response that counts, or the
    /// compaction since which nothing was counted. Anything else may move the anchor.
    pub fn goes_on_with(&self, entry: &Entry<'_>) -> bool {
        match (&entry.kind, &self.responses[..]) {
            (Kind::Boundary(_), _) => false,
            (Kind::Response(part), [only]) => only.message == part.message,
            (Kind::Response(_), _) => false,
            (_, []) => self.compacted.is_some(),
            (_, [_]) => entry.parent.is_some_and(|parent| self.places.contains_key(&parent)),
            _ => false,
        }
    }

    /// Takes the next entry, with what it weighs.
    pub fn push(&mut self, entry: &Entry<'_>, weight: &Weight) {
        let place = match entry.kind {
            Kind::Response(response) => Some(self.respond(&response, entry.time, weight)),
            Kind::Boundary(_) => {
                self.compact(entry.time);
                None
            }
            _ => self.append(entry, weight),
        };
        self.tail = place;
        if let (Some(id), Some(place)) = (entry.id, place) {
            self.places.insert(id, place);
        }
    }

    fn respond(&mut self, part: &Response<'_>, time: Option<Millis>, weight: &Weight) -> Place {
        if self.responses.last().is_none_or(|newest| newest.message != part.message) {
            self.begin_response(part, time);
        }
        let response = self.responses.len() - 1;
        let counted = &mut self.responses[response];
        counted.anchor.output_tokens = counted.anchor.output_tokens.max(part.output_tokens);
        counted.complete |= part.complete;
        counted.answer += *weight;
        Place { response, prompted: false }
    }

    fn begin_response(&mut self, part: &Response<'_>, time: Option<Millis>) {
        let tokenizer = models::tokenizer(part.model);
        if self.model.is_none() {
            let opening = tokenizer.added(&self.opening, Answer::Counted);
            self.overhead = Some(part.prompt_tokens.saturating_sub(whole(opening)));
        }
        self.model = Some(part.model.to_owned());
        self.compacted = None;
        self.responses.push(Counted {
            message: part.message,
            anchor: Anchor {
                model: part.model.to_owned(),
                prompt_tokens: part.prompt_tokens,
                output_tokens: 0,
                time,
            },
            complete: false,
            answer: Weight::default(),
            results: Weight::default(),
            prompt: Weight::default(),
        });
    }

    fn compact(&mut self, time: Option<Millis>) {
        self.responses.clear();
        self.places.clear();
        let (summary, since) = (Weight::default(), Weight::default());
        self.compacted = Some(Compacted { time, summary, since });
    }

    fn append(&mut self, entry: &Entry<'_>, weight: &Weight) -> Option<Place> {
        if self.model.is_none() {
            self.opening += *weight;
        }
        if let Some(compacted) = &mut self.compacted {
            match entry.kind {
                Kind::Summary => compacted.summary += *weight,
                _ => compacted.since += *weight,
            }
            return None;
        }
        let mut place = *self.places.get(&entry.parent?)?;
        let counted = &mut self.responses[place.response];
        if entry.kind == Kind::Prompt {
            // A prompt beside another is what the user said instead of it.
            if !place.prompted {
                counted.prompt = Weight::default();
            }
            place.prompted = true;
        }
        match place.prompted {
            true => counted.prompt += *weight,
            false => counted.results += *weight,
        }
        Some(place)
    }

    /// The reading, if anything was ever counted.
    pub fn reading(&self) -> Option<Reading> {
        if let Some(compacted) = &self.compacted {
            return Some(self.reading_after_compaction(compacted));
        }
        let newest = self.responses.len().checked_sub(1)?;
        let counted = &self.responses[self.tail.map_or(newest, |place| place.response)];
        Some(Reading {
            used: counted.anchor.prompt_tokens.saturating_add(counted.tokens_since()),
            source: ReadingSource::Measured,
            anchor: Some(counted.anchor.clone()),
        })
    }

    fn reading_after_compaction(&self, compacted: &Compacted) -> Reading {
        let tokenizer = models::tokenizer(self.model.as_deref().unwrap_or_default());
        let unrecorded = if compacted.since.attachments == 0 { UNRECORDED_FILES } else { 0 };
        let tokens = tokenizer.answer(&compacted.summary)
            + tokenizer.added(&compacted.since, Answer::Counted)
            + tokenizer.call(Answer::Counted);
        let conversation = whole(tokens) + unrecorded;
        let overhead = self.overhead.unwrap_or(UNSEEN_OVERHEAD);
        let anchor = self.model.as_ref().map(|model| Anchor {
            model: model.clone(),
            prompt_tokens: 0,
            output_tokens: 0,
            time: compacted.time,
        });
        Reading { used: overhead + conversation, source: ReadingSource::Estimated, anchor }
    }
}

impl Counted {
    fn tokens_since(&self) -> Tokens {
        let tokenizer = models::tokenizer(&self.anchor.model);
        let (kind, answer) = match self.complete {
            true => (Answer::Counted, self.anchor.output_tokens.saturating_mul(1000)),
            false => (Answer::Uncounted, self.uncounted_answer(tokenizer)),
        };
        let added = tokenizer.added(&self.results, kind) + tokenizer.added(&self.prompt, kind);
        whole(answer.saturating_add(added + tokenizer.call(kind)))
    }

    /// A running count is a lower bound of the answer.
    fn uncounted_answer(&self, tokenizer: &Tokenizer) -> MilliTokens {
        tokenizer.answer(&self.answer).max(self.anchor.output_tokens.saturating_mul(1000))
    }
}

fn whole(tokens: MilliTokens) -> Tokens {
    tokens.saturating_add(500) / 1000
}

/// The reading of a transcript in which nothing was ever counted: four bytes a token, and never
/// more than the window.
pub fn of_bytes(bytes: u64, window: Tokens) -> Reading {
    let used = (bytes / 4).min(window);
    Reading { used, source: ReadingSource::Estimated, anchor: None }
}

/// A session's typical growth from call to call: the median over the newest calls. Fewer than three
/// of them show nothing typical: a session often begins with one large file.
///
/// `prompts` holds prompt sizes since the last compaction, oldest first.
pub fn median_growth(prompts: &[Tokens]) -> Tokens {
    let newest = &prompts[prompts.len().saturating_sub(GROWTH_CALLS + 1)..];
    let mut growth: Vec<Tokens> =
        newest.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    if growth.len() < FEWEST_CALLS {
        return 0;
    }
    growth.sort_unstable();
    growth[growth.len() / 2]
}

/// How many calls [`median_growth`] looks at, at most and at least.
pub const GROWTH_CALLS: usize = 50;
const FEWEST_CALLS: usize = 3;

/// The seed's names for a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// Below 50 %.
    Healthy,
    /// From 50 %.
    Warning,
    /// From the save line.
    Critical,
    /// From the restart line.
    Overflow,
}

impl Band {
    /// The band of `used` in `window`, with the usual bounds 50, 70 and 85.
    pub fn of(used: Tokens, window: Tokens) -> Self {
        Self::between(used, window, &Lines::default())
    }

    /// The band of `used` in `window`, where the save and the restart line bound it.
    pub fn between(used: Tokens, window: Tokens, lines: &Lines) -> Self {
        const HALF: Percent = Percent::whole(50);
        let at_least = |percent: Percent| used >= percent.of(window) && window > 0;
        match () {
            () if at_least(lines.restart) => Self::Overflow,
            () if at_least(lines.save) => Self::Critical,
            () if at_least(HALF) => Self::Warning,
            () => Self::Healthy,
        }
    }

    /// As it is written in output.
    pub fn label(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Warning => "warning",
            Self::Critical => "critical",
            Self::Overflow => "overflow",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Boundary;
    use crate::weight::Classes;

    fn entry(id: u8, parent: u8, kind: Kind<'static>) -> Entry<'static> {
        let name = |n: u8| (n > 0).then(|| EntryId::new(&[n]));
        let (id, parent) = (name(id), name(parent));
        Entry { id, parent, time: None, version: None, kind }
    }

    fn response(message: u8, prompt_tokens: Tokens, output_tokens: Tokens) -> Kind<'static> {
        Kind::Response(Response {
            message: EntryId::new(&[message]),
            model: "claude-opus-5-5",
            long_context: false,
            prompt_tokens,
            output_tokens,
            complete: true,
            block: None,
        })
    }

    fn letters(letters: u64) -> Weight {
        Weight { tool_text: Classes { letters, ..Classes::default() }, ..Weight::default() }
    }

    #[track_caller]
    fn check(entries: &[(Entry<'_>, Weight)], expected: Option<Tokens>) {
        let mut fold = Fold::new();
        entries.iter().for_each(|(entry, weight)| fold.push(entry, weight));
        assert_eq!(fold.reading().map(|reading| reading.used), expected);
    }

    // 3 tokens a call, 0.337 a letter.
    const CALL: Tokens = 3;

    #[test]
    fn nothing_counted_is_no_reading() {
        check(&[(entry(1, 0, Kind::Prompt), letters(1000))], None);
    }

    #[test]
    fn what_hangs_on_the_last_response_is_added_to_it() {
        check(
            &[
                (entry(1, 0, Kind::Prompt), letters(1000)),
                (entry(2, 1, response(9, 5000, 40)), Weight::default()),
                (entry(3, 2, response(9, 5000, 40)), Weight::default()),
                (entry(4, 2, Kind::ToolResult), letters(1000)),
                (entry(5, 3, Kind::ToolResult), letters(500)),
            ],
            Some(5000 + 40 + 506 + CALL),
        );
    }

    #[test]
    fn a_rewind_goes_back_to_the_response_it_hangs_on() {
        check(
            &[
                (entry(1, 0, response(7, 5000, 40)), Weight::default()),
                (entry(2, 1, Kind::Prompt), letters(9000)),
                (entry(3, 2, response(8, 9000, 10)), Weight::default()),
                (entry(4, 1, Kind::Prompt), letters(1000)),
            ],
            Some(5000 + 40 + 337 + CALL),
        );
    }

    #[test]
    fn an_entry_that_hangs_nowhere_leaves_the_newest_response_as_anchor() {
        check(
            &[
                (entry(1, 0, response(7, 5000, 40)), Weight::default()),
                (entry(2, 99, Kind::Prompt), letters(9000)),
            ],
            Some(5040 + CALL),
        );
    }

    #[test]
    fn a_compaction_voids_what_was_counted_before() {
        let boundary = Boundary { automatic: true, tokens_before: None, tokens_after: None };
        let attachment = Weight { attachments: 1, ..letters(0) };
        let model_text = Classes { letters: 3000, ..Classes::default() };
        let summary = Weight { model_text, ..Weight::default() };
        check(
            &[
                (entry(1, 0, Kind::Prompt), letters(1000)),
                (entry(2, 1, response(7, 12_334, 40)), Weight::default()),
                (entry(3, 0, Kind::Boundary(boundary)), Weight::default()),
                (entry(4, 3, Kind::Summary), summary),
                (entry(5, 4, Kind::Attachment), attachment),
            ],
            Some(12_000 - 3 + 1011 + 17 + CALL),
        );
    }

    #[test]
    fn an_answer_without_a_final_count_is_weighed() {
        let mut part = entry(2, 0, response(9, 5000, 4));
        if let Kind::Response(response) = &mut part.kind {
            response.complete = false;
        }
        let model_text = Classes { letters: 1000, ..Classes::default() };
        let answer = Weight { model_text, ..Weight::default() };
        check(&[(part, answer)], Some(5000 + 337 + 20));
    }

    #[test]
    fn four_bytes_are_a_token_where_nothing_was_counted() {
        assert_eq!(of_bytes(400_000, 200_000).used, 100_000);
        assert_eq!(of_bytes(716_800, 200_000).used, 179_200);
        assert_eq!(of_bytes(52_428_800, 200_000).used, 200_000);
        assert_eq!(of_bytes(0, 200_000).used, 0);
    }

    #[test]
    fn growth_is_the_median_of_the_newest_calls() {
        assert_eq!(median_growth(&[]), 0);
        assert_eq!(median_growth(&[0, 40_000, 90_000]), 0);
        assert_eq!(median_growth(&[0, 10, 30, 60]), 20);
        assert_eq!(median_growth(&[100, 40, 50, 70]), 10);
        let steep_long_ago: Vec<Tokens> = (0..9).map(|n| n * 9000).chain(90_000..90_051).collect();
        assert_eq!(median_growth(&steep_long_ago), 1);
    }

    #[test]
    fn bands_begin_at_their_bound() {
        assert_eq!(Band::of(99_999, 200_000), Band::Healthy);
        assert_eq!(Band::of(100_000, 200_000), Band::Warning);
        assert_eq!(Band::of(139_999, 200_000), Band::Warning);
        assert_eq!(Band::of(140_000, 200_000), Band::Critical);
        assert_eq!(Band::of(170_000, 200_000), Band::Overflow);
        assert_eq!(Band::of(500_000, 200_000), Band::Overflow);
    }
}
