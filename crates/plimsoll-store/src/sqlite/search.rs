//! Full text search over checkpoints.
//!
//! Whole words come first, then parts of words, then words that are spelt almost like those that were
//! asked for. Whatever is typed is searched for as it stands: nothing in it is an operator.

use std::path::Path;

use rusqlite::{Params, Row, params};

use super::Store;
use super::checkpoints::checkpoint;
use super::column::Kept;
use crate::{Found, Hit, Match, Piece, StoreError};

/// What a body is marked with on its way out of the database.
const BEGIN: &str = "\u{2}";
const END: &str = "\u{3}";

impl Store {
    /// The checkpoints that fit what was typed, best first, of one project or all: at most `limit`.
    /// Nothing if there is no word in it.
    pub fn search(
        &self,
        typed: &str,
        project: Option<&Path>,
        limit: u32,
    ) -> Result<Option<Found>, StoreError> {
        let terms = terms(typed);
        if terms.is_empty() {
            return Ok(None);
        }
        let search = Search { store: self, project, limit };
        search.found(&terms).map(Some).map_err(self.failed("search"))
    }
}

/// The words and quoted phrases of what was typed.
fn terms(typed: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for (at, part) in typed.split('"').enumerate() {
        match at % 2 {
            0 => terms.extend(part.split_whitespace().map(str::to_owned)),
            _ => terms.push(part.to_owned()),
        }
    }
    terms.retain(|term| term.chars().any(char::is_alphanumeric));
    terms
}

/// Words that occur nowhere, and what comes closest.
type Corrections = Vec<(String, String)>;

struct Search<'a> {
    store: &'a Store,
    project: Option<&'a Path>,
    limit: u32,
}

impl Search<'_> {
    fn found(&self, terms: &[String]) -> rusqlite::Result<Found> {
        let all = self.words(&joined(terms, "AND", word))?;
        if !all.is_empty() {
            return Ok(Found { hits: all, by: Match::Words });
        }
        let parts = self.parts(terms)?;
        if !parts.is_empty() {
            return Ok(Found { hits: parts, by: Match::Parts });
        }
        let (terms, corrected) = self.corrected(terms)?;
        if !corrected.is_empty() {
            let hits = self.words(&joined(&terms, "AND", word))?;
            if !hits.is_empty() {
                return Ok(Found { hits, by: Match::Corrected(corrected) });
            }
        }
        Ok(Found { hits: self.words(&joined(&terms, "OR", word))?, by: Match::Some })
    }

    /// Hits by whole words. What the work is about counts more than what it came across.
    fn words(&self, query: &str) -> rusqlite::Result<Vec<Hit>> {
        let sql = "SELECT checkpoints.*,
                 highlight(checkpoint_words, 1, ?4, ?5) AS marked
             FROM checkpoint_words JOIN checkpoints ON number = checkpoint_words.rowid
             WHERE checkpoint_words MATCH ?1 AND (?2 IS NULL OR project = ?2)
             ORDER BY round(bm25(checkpoint_words, 4.0, 1.0), 2), created DESC, iteration DESC
             LIMIT ?3";
        self.hits(sql, query)
    }

    /// Hits by parts of words. A part has at least three characters.
    fn parts(&self, terms: &[String]) -> rusqlite::Result<Vec<Hit>> {
        if terms.iter().any(|term| term.chars().count() < 3) {
            return Ok(Vec::new());
        }
        let sql = "SELECT checkpoints.*,
                 highlight(checkpoint_parts, 1, ?4, ?5) AS marked
             FROM checkpoint_parts JOIN checkpoints ON number = checkpoint_parts.rowid
             WHERE checkpoint_parts MATCH ?1 AND (?2 IS NULL OR project = ?2)
             ORDER BY round(bm25(checkpoint_parts, 4.0, 1.0), 2), created DESC, iteration DESC
             LIMIT ?3";
        self.hits(sql, &joined(terms, "AND", quoted))
    }

    /// Every checkpoint has the same headings: one that fits by them alone does not.
    fn hits(&self, sql: &str, query: &str) -> rusqlite::Result<Vec<Hit>> {
        let looked_for = params![query, self.project.map(Kept), self.limit, BEGIN, END];
        let mut hits = self.all(sql, looked_for, hit)?;
        hits.retain(|hit| !hit.line.is_empty());
        Ok(hits)
    }

    /// The terms with those replaced that occur nowhere but almost do, and what was replaced by what.
    fn corrected(&self, terms: &[String]) -> rusqlite::Result<(Vec<String>, Corrections)> {
        let (mut better, mut corrected) = (Vec::new(), Vec::new());
        for term in terms {
            let word = self.correction(term)?;
            corrected.extend(word.clone().map(|word| (term.clone(), word)));
            better.push(word.unwrap_or_else(|| term.clone()));
        }
        Ok((better, corrected))
    }

    /// The word that comes closest to a term which occurs nowhere: in the texts that share most of
    /// its letters in a row, else in the newest.
    fn correction(&self, term: &str) -> rusqlite::Result<Option<String>> {
        const ALIKE: &str = "SELECT checkpoints.body FROM checkpoint_parts
             JOIN checkpoints ON number = checkpoint_parts.rowid
             WHERE checkpoint_parts MATCH ?1 AND (?2 IS NULL OR project = ?2)
             ORDER BY bm25(checkpoint_parts) LIMIT ?3";
        const NEWEST: &str = "SELECT body FROM checkpoints
             WHERE ?1 IS NOT NULL AND (?2 IS NULL OR project = ?2) ORDER BY created DESC LIMIT ?3";
        const LOOKED_AT: u32 = 20;
        if !self.words(&word(term))?.is_empty() {
            return Ok(None);
        }
        let query = joined(&trigrams(term), "OR", quoted);
        let looked_for = params![query, self.project.map(Kept), LOOKED_AT];
        let bodies = |sql: &str| self.all(sql, looked_for, |row| row.get(0));
        let alike = if query.is_empty() { None } else { nearest(term, &bodies(ALIKE)?) };
        Ok(alike.or(nearest(term, &bodies(NEWEST)?)))
    }

    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.store.all(sql, params, row)
    }
}

/// A query for several terms.
fn joined(terms: &[String], operator: &str, query: impl Fn(&str) -> String) -> String {
    let terms: Vec<String> = terms.iter().map(|term| query(term)).collect();
    terms.join(&format!(" {operator} "))
}

/// A query for a word, or one that begins like it: the word itself fits twice.
fn word(term: &str) -> String {
    let term = quoted(term);
    format!("({term} OR {term} *)")
}

/// A term in which nothing is an operator.
fn quoted(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\"").replace('\0', ""))
}

fn trigrams(term: &str) -> Vec<String> {
    let letters: Vec<char> = term.chars().collect();
    letters.windows(3).map(|three| three.iter().collect()).collect()
}

/// The word of these texts that is spelt most like `term`, if any is.
fn nearest(term: &str, texts: &[String]) -> Option<String> {
    const ALIKE: f64 = 0.7;
    let term = term.to_lowercase();
    let is_apart = |character: char| !character.is_alphanumeric();
    let words = texts.iter().flat_map(|text| text.split(is_apart)).map(str::to_lowercase);
    let alike = words.map(|word| (strsim::normalized_damerau_levenshtein(&term, &word), word));
    let best = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(alike, _)| *alike >= ALIKE).map(|(_, word)| word)
}

fn hit(row: &Row<'_>) -> rusqlite::Result<Hit> {
    let marked: String = row.get("marked")?;
    let (section, line) = best_line(&marked);
    Ok(Hit { checkpoint: checkpoint(row)?, section: section.to_owned(), line: pieces(line) })
}

/// The line of a marked body with the most marks, the first of several, and the section it is in.
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

/// A marked line in pieces that fit and pieces around them.
fn pieces(line: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for part in line.split(BEGIN) {
        let (fits, around) = part.split_once(END).unwrap_or(("", part));
        pieces.push(Piece { text: fits.to_owned(), fits: true });
        pieces.push(Piece { text: around.to_owned(), fits: false });
    }
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_taken_apart() {
        assert_eq!(terms(r#"load "two  words" - * "" AND"#), ["load", "two  words", "AND"]);
        assert_eq!(terms(r#"open "quote"#), ["open", "quote"]);
        assert!(terms(" -- \"\" *()").is_empty());
    }

    #[test]
    fn a_word_almost_like_it_is_found() {
        let texts = ["the Ballast is wet".to_owned(), "ball, balls".to_owned()];
        assert_eq!(nearest("balast", &texts).as_deref(), Some("ballast"));
        assert_eq!(nearest("ship", &texts), None);
    }

    #[test]
    fn the_line_that_fits_best_is_shown_in_pieces() {
        let marked =
            "## Task\n> \u{2}b\u{3}\n## Commands\n- a \u{2}b\u{3} c\u{2}d\u{3}\n- \u{2}b\u{3}\n";
        let (section, line) = best_line(marked);
        let piece = |text: &str, fits| Piece { text: text.to_owned(), fits };
        assert_eq!(section, "Commands");
        assert_eq!(
            pieces(line),
            [piece("- a ", false), piece("b", true), piece(" c", false), piece("d", true)]
        );
    }
}
