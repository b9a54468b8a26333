//! Computes how full a window is.
//!
//! The anchor is the last response for which the service counted tokens. The weight of everything
//! appended since is added, so a reading predicts the size of the next prompt. [`Fold`] takes
//! entries in file order. It never looks before a compaction, nor at entries that continue a
//! response other than the anchor. So a fold that starts at the anchor gives the same reading as
//! one that starts at the beginning, and a hook can read a transcript from its end.

use std::collections::BTreeMap;

use crate::entry::{Entry, EntryId, Follows, Kind, Response};
use crate::models;
use crate::settings::{Lines, Percent};
use crate::weight::{Answer, MilliTokens, Tokenizer, Weight};
use crate::{Millis, Tokens};

/// How full a window is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The estimated tokens of the next prompt.
    pub used: Tokens,
    pub source: ReadingSource,
    /// The last response with a token count; `None` if a compaction made it invalid.
    pub anchor: Option<Anchor>,
}

/// Where a reading comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadingSource {
    /// The service counted the anchor; only later entries are estimated.
    Measured,
    /// The service has counted nothing since the last compaction, or ever.
    Estimated,
}

/// The response that a reading is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// `None` if the transcript does not name the model.
    pub model: Option<String>,
    pub prompt_tokens: Tokens,
    pub output_tokens: Tokens,
    /// The time of the response.
    pub time: Option<Millis>,
}

/// The window that is read from a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The session's own. Records of subagents in the same file are ignored.
    Main,
    /// A subagent's, from its own file.
    Subagent,
}

impl Scope {
    /// Returns whether a record belongs to this window.
    pub fn holds(self, by_subagent: bool) -> bool {
        by_subagent == (self == Self::Subagent)
    }
}

/// An agent's estimates for data that its transcripts do not contain.
#[derive(Debug)]
pub struct Estimation {
    /// Counts the text of models that are not in our table.
    pub tokenizer: &'static Tokenizer,
    /// Tokens of the client's own prompt and tools, if the first call is not in the transcript.
    pub overhead: Tokens,
    /// Tokens of the files that the client attaches again after a compaction, if it records none.
    pub unrecorded_files: Tokens,
}

/// Reads a window from the entries of a transcript, in file order.
#[derive(Debug)]
pub struct Fold {
    estimation: &'static Estimation,
    /// Responses since the last compaction.
    responses: Vec<Counted>,
    /// The place of each entry since the last compaction.
    places: BTreeMap<EntryId, Place>,
    /// The place of the newest entry; `None` if unknown.
    tail: Option<Place>,
    /// Set from a compaction until the next response.
    compacted: Option<Compacted>,
    /// Everything before the first response.
    opening: Weight,
    /// Tokens of the client's own prompt and tools.
    overhead: Option<Tokens>,
    /// The model of the newest response, which may be before the last compaction.
    model: Option<String>,
    /// Whether any model has answered, even before the last compaction.
    answered: bool,
}

/// A response and the entries that continue it.
#[derive(Debug)]
struct Counted {
    message: EntryId,
    anchor: Anchor,
    complete: bool,
    answer: Weight,
    /// Tool results, and text that the client added beside them.
    results: Weight,
    /// The prompt after the response, and the entries that continue it.
    prompt: Weight,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    response: usize,
    /// Whether the entry comes after a prompt that followed the response.
    prompted: bool,
}

#[derive(Debug)]
struct Compacted {
    time: Option<Millis>,
    summary: Weight,
    since: Weight,
}

impl Fold {
    /// Starts at the beginning of a transcript, or at a response.
    pub fn new(estimation: &'static Estimation) -> Self {
        Self {
            estimation,
            responses: Vec::new(),
            places: BTreeMap::new(),
            tail: None,
            compacted: None,
            opening: Weight::default(),
            overhead: None,
            model: None,
            answered: false,
        }
    }

    /// Starts at a compaction of a session that began as `opening`. `model` answered before the
    /// compaction; `None` if no model had `answered`, or the transcript names none.
    pub fn after_compaction(opening: &Self, answered: bool, model: Option<String>) -> Self {
        Self { overhead: opening.overhead, answered, model, ..Self::new(opening.estimation) }
    }

    /// Returns the tokens of the client's own prompt and tools; `None` before the first response.
    pub fn overhead(&self) -> Option<Tokens> {
        self.overhead
    }

    /// Returns whether `entry` only adds to the current reading: it continues the only response, or
    /// follows a compaction since which nothing was counted. Any other entry may move the anchor.
    pub fn goes_on_with(&self, entry: &Entry<'_>) -> bool {
        match (&entry.kind, &self.responses[..]) {
            (Kind::Boundary(_), _) => false,
            (Kind::Response(part), [only]) => only.message == part.message,
            (Kind::Response(_), _) => false,
            (_, []) => self.compacted.is_some(),
            (_, [_]) => self.place_before(entry.follows).is_some(),
            _ => false,
        }
    }

    /// Adds the next entry, with its weight.
    pub fn push(&mut self, entry: &Entry<'_>, weight: &Weight) {
        let place = match entry.kind {
            Kind::Response(response) => Some(self.respond(&response, entry.time, weight)),
            Kind::Boundary(_) => {
                self.compact(entry.time);
                None
            }
            Kind::ModelChange(change) => {
                self.model = change.model.map(str::to_owned).or(self.model.take());
                self.place_before(entry.follows)
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
        self.model = part.model.map(str::to_owned).or(self.model.take());
        if !self.answered {
            let opening = self.tokenizer().added(&self.opening, Answer::Counted);
            self.overhead = Some(part.prompt_tokens.saturating_sub(whole(opening)));
        }
        self.answered = true;
        self.compacted = None;
        self.responses.push(Counted {
            message: part.message,
            anchor: Anchor {
                model: self.model.clone(),
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
        if !self.answered {
            self.opening += *weight;
        }
        if let Some(compacted) = &mut self.compacted {
            match entry.kind {
                Kind::Summary => compacted.summary += *weight,
                _ => compacted.since += *weight,
            }
            return None;
        }
        let mut place = self.place_before(entry.follows)?;
        let counted = &mut self.responses[place.response];
        if entry.kind == Kind::Prompt {
            // A second prompt after the same response replaces the first: the user rewound.
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

    /// Returns the place of an entry that continues `follows`; `None` if unknown.
    fn place_before(&self, follows: Follows) -> Option<Place> {
        match follows {
            Follows::Previous => self.tail,
            Follows::Entry(id) => self.places.get(&id).copied(),
            Follows::Nothing => None,
        }
    }

    fn tokenizer(&self) -> &'static Tokenizer {
        models::tokenizer(self.model.as_deref(), self.estimation.tokenizer)
    }

    /// Returns the reading; `None` if the service has never counted anything.
    pub fn reading(&self) -> Option<Reading> {
        if let Some(compacted) = &self.compacted {
            return Some(self.reading_after_compaction(compacted));
        }
        let newest = self.responses.len().checked_sub(1)?;
        let counted = &self.responses[self.tail.map_or(newest, |place| place.response)];
        Some(Reading {
            used: counted.anchor.prompt_tokens.saturating_add(self.tokens_since(counted)),
            source: ReadingSource::Measured,
            anchor: Some(counted.anchor.clone()),
        })
    }

    fn reading_after_compaction(&self, compacted: &Compacted) -> Reading {
        let tokenizer = self.tokenizer();
        let unrecorded = match compacted.since.attachments {
            0 => self.estimation.unrecorded_files,
            _ => 0,
        };
        let tokens = tokenizer.answer(&compacted.summary)
            + tokenizer.added(&compacted.since, Answer::Counted)
            + tokenizer.call(Answer::Counted);
        let conversation = whole(tokens) + unrecorded;
        let overhead = self.overhead.unwrap_or(self.estimation.overhead);
        let anchor = self.answered.then(|| Anchor {
            model: self.model.clone(),
            prompt_tokens: 0,
            output_tokens: 0,
            time: compacted.time,
        });
        Reading { used: overhead + conversation, source: ReadingSource::Estimated, anchor }
    }

    fn tokens_since(&self, counted: &Counted) -> Tokens {
        let tokenizer =
            models::tokenizer(counted.anchor.model.as_deref(), self.estimation.tokenizer);
        let (kind, answer) = match counted.complete {
            true => (Answer::Counted, counted.anchor.output_tokens.saturating_mul(1000)),
            false => (Answer::Uncounted, counted.uncounted_answer(tokenizer)),
        };
        let added =
            tokenizer.added(&counted.results, kind) + tokenizer.added(&counted.prompt, kind);
        whole(answer.saturating_add(added + tokenizer.call(kind)))
    }
}

impl Counted {
    /// Estimates an answer without a final count. The running count is a lower bound.
    fn uncounted_answer(&self, tokenizer: &Tokenizer) -> MilliTokens {
        tokenizer.answer(&self.answer).max(self.anchor.output_tokens.saturating_mul(1000))
    }
}

fn whole(tokens: MilliTokens) -> Tokens {
    tokens.saturating_add(500) / 1000
}

/// Estimates the reading of a transcript without any counts: four bytes per token, at most the
/// window.
pub fn of_bytes(bytes: u64, window: Tokens) -> Reading {
    let used = (bytes / 4).min(window);
    Reading { used, source: ReadingSource::Estimated, anchor: None }
}

/// Returns the median growth from call to call over the newest calls. Returns 0 for fewer than
/// three, because a session often begins with one large file.
///
/// `prompts` has the prompt sizes since the last compaction, oldest first.
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

/// The number of calls that [`median_growth`] considers: at most, and at least.
pub const GROWTH_CALLS: usize = 50;
const FEWEST_CALLS: usize = 3;

/// The named ranges of usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// Below 50 %.
    Healthy,
    /// From 50 %.
    Warning,
    /// From the save threshold.
    Critical,
    /// From the restart threshold.
    Overflow,
}

impl Band {
    /// Returns the band of `used` in `window` with the default bounds 50, 70 and 85.
    pub fn of(used: Tokens, window: Tokens) -> Self {
        Self::between(used, window, &Lines::default())
    }

    /// Returns the band of `used` in `window` with the configured save and restart thresholds.
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

    /// Returns the name used in output.
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
    use crate::entry::{Boundary, ModelChange};
    use crate::weight::{CURRENT, Classes};

    static ESTIMATION: Estimation =
        Estimation { tokenizer: &CURRENT, overhead: 20_000, unrecorded_files: 8_200 };

    fn entry(id: u8, parent: u8, kind: Kind<'static>) -> Entry<'static> {
        let name = |n: u8| (n > 0).then(|| EntryId::new(&[n]));
        let (id, follows) = (name(id), Follows::parent(name(parent)));
        Entry { id, follows, time: None, version: None, kind }
    }

    fn response(message: u8, prompt_tokens: Tokens, output_tokens: Tokens) -> Kind<'static> {
        Kind::Response(Response {
            message: EntryId::new(&[message]),
            model: Some("claude-opus-5-5"),
            window: None,
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
        let mut fold = Fold::new(&ESTIMATION);
        entries.iter().for_each(|(entry, weight)| fold.push(entry, weight));
        assert_eq!(fold.reading().map(|reading| reading.used), expected);
    }

    // 3 tokens per call, 0.337 per letter.
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
    fn in_a_flat_log_every_entry_follows_the_one_before() {
        let flat = |kind| Entry { follows: Follows::Previous, ..entry(0, 0, kind) };
        let change = ModelChange { model: Some("claude-opus-5-5"), window: None };
        let unnamed = |prompt_tokens| {
            let Kind::Response(response) = response(prompt_tokens as u8, prompt_tokens, 40) else {
                unreachable!()
            };
            Kind::Response(Response { model: None, ..response })
        };
        check(
            &[
                (flat(Kind::ModelChange(change)), Weight::default()),
                (flat(Kind::Prompt), letters(1000)),
                (flat(unnamed(4000)), Weight::default()),
                (flat(Kind::ToolResult), letters(9000)),
                (flat(unnamed(5000)), Weight::default()),
                (flat(Kind::ToolResult), letters(1000)),
                (flat(Kind::ModelChange(change)), Weight::default()),
                (flat(Kind::Prompt), letters(500)),
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
