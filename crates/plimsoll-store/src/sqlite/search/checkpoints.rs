//! Full-text search over checkpoints.

use std::path::Path;

use rusqlite::{Row, params};

use super::super::Store;
use super::super::checkpoints::checkpoint_from_row;
use super::super::column::ColumnValue;
use super::{
    RequiredTerms, TextIndex, lowercase_words, nearest, parse_terms, prefix_query, quote_term,
    search_index,
};
use crate::{CheckpointHit, FoundCheckpoints, LinePiece, StoreError};

/// Markers around each match in a body that the database returns.
const BEGIN: &str = "\u{2}";
const END: &str = "\u{3}";

impl Store {
    /// Returns at most `limit` checkpoints that match the typed text, best first, of one project or
    /// of all. `None` if nothing typed is a word.
    pub fn search(
        &self,
        typed: &str,
        project: Option<&Path>,
        limit: u32,
    ) -> Result<Option<FoundCheckpoints>, StoreError> {
        let terms = parse_terms(typed);
        if terms.is_empty() {
            return Ok(None);
        }
        let checkpoints = CheckpointIndex { store: self, project, limit };
        let (hits, by) = search_index(&checkpoints, &terms).map_err(self.error_during("search"))?;
        Ok(Some(FoundCheckpoints { hits, matched_by: by }))
    }
}

struct CheckpointIndex<'a> {
    store: &'a Store,
    project: Option<&'a Path>,
    limit: u32,
}

impl TextIndex for CheckpointIndex<'_> {
    type Hit = CheckpointHit;

    /// Matches in the summary count more than matches in the body.
    fn find_words(
        &self,
        terms: &[String],
        which: RequiredTerms,
    ) -> rusqlite::Result<Vec<CheckpointHit>> {
        let sql = "SELECT checkpoints.*,
                 highlight(checkpoint_words, 1, ?4, ?5) AS marked
             FROM checkpoint_words JOIN checkpoints ON number = checkpoint_words.rowid
             WHERE checkpoint_words MATCH ?1 AND (?2 IS NULL OR project = ?2)
             ORDER BY round(bm25(checkpoint_words, 4.0, 1.0), 2), created DESC, iteration DESC
             LIMIT ?3";
        self.query_hits(sql, &which.join(&map_terms(terms, prefix_query)))
    }

    fn find_parts(&self, terms: &[String]) -> rusqlite::Result<Vec<CheckpointHit>> {
        let sql = "SELECT checkpoints.*,
                 highlight(checkpoint_parts, 1, ?4, ?5) AS marked
             FROM checkpoint_parts JOIN checkpoints ON number = checkpoint_parts.rowid
             WHERE checkpoint_parts MATCH ?1 AND (?2 IS NULL OR project = ?2)
             ORDER BY round(bm25(checkpoint_parts, 4.0, 1.0), 2), created DESC, iteration DESC
             LIMIT ?3";
        self.query_hits(sql, &RequiredTerms::All.join(&map_terms(terms, quote_term)))
    }

    fn contains_word(&self, term: &str) -> rusqlite::Result<bool> {
        self.find_words(&[term.to_owned()], RequiredTerms::All).map(|hits| !hits.is_empty())
    }

    /// Looks in the bodies that share the most trigrams with the term, then in the newest.
    fn nearest_word(&self, term: &str) -> rusqlite::Result<Option<String>> {
        const ALIKE: &str = "SELECT checkpoints.body FROM checkpoint_parts
             JOIN checkpoints ON number = checkpoint_parts.rowid
             WHERE checkpoint_parts MATCH ?1 AND (?2 IS NULL OR project = ?2)
             ORDER BY bm25(checkpoint_parts) LIMIT ?3";
        const NEWEST: &str = "SELECT body FROM checkpoints
             WHERE ?1 IS NOT NULL AND (?2 IS NULL OR project = ?2) ORDER BY created DESC LIMIT ?3";
        const LOOKED_AT: u32 = 20;
        let query = RequiredTerms::Any.join(&map_terms(&trigrams(term), quote_term));
        let looked_for = params![query, self.project.map(ColumnValue), LOOKED_AT];
        let in_bodies = |sql: &str| -> rusqlite::Result<Option<String>> {
            let bodies: Vec<String> = self.store.query_all(sql, looked_for, |row| row.get(0))?;
            Ok(nearest(term, bodies.iter().flat_map(|body| lowercase_words(body))))
        };
        let alike = if query.is_empty() { None } else { in_bodies(ALIKE)? };
        Ok(alike.or(in_bodies(NEWEST)?))
    }
}

impl CheckpointIndex<'_> {
    /// Drops checkpoints that match only in their headings: all checkpoints have the same headings.
    fn query_hits(&self, sql: &str, query: &str) -> rusqlite::Result<Vec<CheckpointHit>> {
        let looked_for = params![query, self.project.map(ColumnValue), self.limit, BEGIN, END];
        let mut hits = self.store.query_all(sql, looked_for, hit)?;
        hits.retain(|hit| !hit.line.is_empty());
        Ok(hits)
    }
}

fn map_terms(terms: &[String], query: fn(&str) -> String) -> Vec<String> {
    terms.iter().map(|term| query(term)).collect()
}

fn trigrams(term: &str) -> Vec<String> {
    let letters: Vec<char> = term.chars().collect();
    letters.windows(3).map(|three| three.iter().collect()).collect()
}

fn hit(row: &Row<'_>) -> rusqlite::Result<CheckpointHit> {
    let marked: String = row.get("marked")?;
    let (section, line) = best_line(&marked);
    Ok(CheckpointHit {
        checkpoint: checkpoint_from_row(row)?,
        section: section.to_owned(),
        line: split_matches(line),
    })
}

/// Returns the line with the most matches, the first if several have as many, and its section.
fn best_line(marked: &str) -> (&str, &str) {
    let (mut section, mut best, mut most) = ("", ("", ""), 0);
    for line in marked.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
            continue;
        }
        let marks = line.matches(BEGIN).count();
        if marks > most {
            (best, most) = ((section, line), marks);
        }
    }
    best
}

/// Splits a marked line into matches and the text around them.
fn split_matches(line: &str) -> Vec<LinePiece> {
    let mut pieces = Vec::new();
    for part in line.split(BEGIN) {
        let (fits, around) = part.split_once(END).unwrap_or(("", part));
        pieces.push(LinePiece { text: fits.to_owned(), is_match: true });
        pieces.push(LinePiece { text: around.to_owned(), is_match: false });
    }
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_most_matches_is_split_at_them() {
        let marked =
            "## Task\n> \u{2}b\u{3}\n## Commands\n- a \u{2}b\u{3} c\u{2}d\u{3}\n- \u{2}b\u{3}\n";
        let (section, line) = best_line(marked);
        let piece = |text: &str, fits| LinePiece { text: text.to_owned(), is_match: fits };
        assert_eq!(section, "Commands");
        assert_eq!(
            split_matches(line),
            [piece("- a ", false), piece("b", true), piece(" c", false), piece("d", true)]
        );
    }
}
