//! What a search finds: checkpoints and saves in one ranking.

use std::cmp::Reverse;

use plimsoll_core::Millis;
use plimsoll_core::text::places;
use plimsoll_core::time::utc_second;
use plimsoll_extract::save::{self, Save};
use plimsoll_store::{CheckpointRow, FoundCheckpoints, FoundSaves, LinePiece, MatchKind};
use serde::Serialize;

use super::text::letters;

/// A checkpoint or a save, and where it fits.
pub(super) struct Hit {
    pub(super) what: What,
    /// The part of it that the line is in.
    pub(super) section: String,
    /// The line that fits best.
    pub(super) line: Vec<LinePiece>,
}

/// What was found.
pub(super) enum What {
    Checkpoint(Box<CheckpointRow>),
    Save(Box<Save>),
}

/// What fits closest of both, best first, and how; of a search without words nothing.
///
/// What is counted of checkpoints and of saves cannot be compared, so the two take turns: the best of
/// each, then the second. Of those two the newer comes first.
pub(super) fn ranked(
    query: &str,
    checkpoints: FoundCheckpoints,
    saves: FoundSaves,
) -> (Vec<Hit>, Vec<MatchKind>) {
    let mut found = Vec::new();
    if !checkpoints.hits.is_empty() {
        let hits = checkpoints.hits.into_iter().map(Hit::from);
        found.push((hits.collect::<Vec<_>>(), checkpoints.matched_by));
    }
    if !saves.saves.is_empty() {
        let words = meant(query, &saves.matched_by);
        let hits = saves.saves.into_iter().map(|save| of_save(save, &words));
        found.push((hits.collect(), saves.matched_by));
    }
    let closest = found.iter().map(|(_, by)| by.distance()).min();
    found.retain(|(_, by)| Some(by.distance()) == closest);
    let (hits, by): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let mut hits: Vec<(usize, Hit)> =
        hits.into_iter().flat_map(|hits: Vec<Hit>| hits.into_iter().enumerate()).collect();
    hits.sort_by_key(|(place, hit)| (*place, Reverse(hit.what.created())));
    (hits.into_iter().map(|(_, hit)| hit).collect(), by)
}

impl From<plimsoll_store::CheckpointHit> for Hit {
    fn from(hit: plimsoll_store::CheckpointHit) -> Self {
        let plimsoll_store::CheckpointHit { checkpoint, section, line } = hit;
        Self { what: What::Checkpoint(Box::new(checkpoint)), section, line }
    }
}

impl What {
    pub(super) fn created(&self) -> Millis {
        match self {
            Self::Checkpoint(row) => row.created,
            Self::Save(save) => save.created,
        }
    }
}

/// The query with what was found in the place of what nothing has.
fn meant(query: &str, by: &MatchKind) -> String {
    let MatchKind::Corrected(words) = by else { return query.to_owned() };
    words.iter().fold(query.to_owned(), |query, (typed, word)| query.replace(typed, word))
}

/// The line of a save with the most of what was searched for, the first of several.
fn of_save(save: Save, words: &str) -> Hit {
    let (mut best, mut most) = ((String::new(), Vec::new()), None);
    for (section, text) in save::sections(&save) {
        for line in text.lines() {
            let places = places(line, words);
            if most.is_none_or(|most| places.len() > most) {
                most = Some(places.len());
                best = (section.to_owned(), pieces(line, &places));
            }
        }
    }
    let (section, line) = best;
    Hit { what: What::Save(Box::new(save)), section, line }
}

fn pieces(line: &str, places: &[std::ops::Range<usize>]) -> Vec<LinePiece> {
    let piece = |text: &str, fits| LinePiece { text: text.to_owned(), is_match: fits };
    let (mut pieces, mut at) = (Vec::new(), 0);
    for place in places {
        pieces.push(piece(&line[at..place.start], false));
        pieces.push(piece(&line[place.clone()], true));
        at = place.end;
    }
    pieces.push(piece(&line[at..], false));
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

/// These names are a promise to scripts. What only the other kind has is `null`.
#[derive(Serialize)]
pub(super) struct View<'a> {
    kind: &'static str,
    id: &'a str,
    path: Option<String>,
    environment: Option<&'a str>,
    project: Option<String>,
    session_id: Option<&'a str>,
    created: String,
    trigger: &'a str,
    iteration: Option<u64>,
    partial: Option<bool>,
    used: Option<u64>,
    window: Option<u64>,
    checkpoint: Option<&'a str>,
    commit: Option<&'a str>,
    summary: &'a str,
    section: &'a str,
    snippet: String,
}

pub(super) fn view(hit: &Hit) -> View<'_> {
    let snippet = letters(&hit.line).into_iter().map(|(letter, _)| letter).collect();
    let created = utc_second(hit.what.created());
    match &hit.what {
        What::Checkpoint(row) => View {
            kind: "checkpoint",
            id: &row.id,
            path: Some(row.path.to_string_lossy().into_owned()),
            environment: None,
            project: Some(row.project.to_string_lossy().into_owned()),
            session_id: Some(&row.session),
            created,
            trigger: &row.occasion,
            iteration: Some(row.iteration),
            partial: Some(row.partial),
            used: row.used,
            window: row.window,
            checkpoint: None,
            commit: None,
            summary: &row.summary,
            section: &hit.section,
            snippet,
        },
        What::Save(save) => View {
            kind: "save",
            id: &save.id,
            path: None,
            environment: Some(save.what.environment.as_str()),
            project: save.what.project.clone(),
            session_id: save.what.session.as_deref(),
            created,
            trigger: save.what.kind.label(),
            iteration: None,
            partial: None,
            used: None,
            window: None,
            checkpoint: save.what.checkpoint.as_deref(),
            commit: save.what.commit.as_deref(),
            summary: &save.what.task,
            section: &hit.section,
            snippet,
        },
    }
}
