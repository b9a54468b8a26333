//! Full text search.
//!
//! Whole words come first, then parts of words, then words that are spelt almost like those that were
//! asked for. Whatever is typed is searched for as it stands: nothing in it is an operator. What is
//! searched is an [`Index`]: of checkpoints, of saves.

mod checkpoints;
mod saves;

use crate::Match;

/// Texts that can be searched.
trait Index {
    /// What is found.
    type Hit;

    /// What has all or some of the terms as whole words, best first.
    fn words(&self, terms: &[String], which: Which) -> rusqlite::Result<Vec<Self::Hit>>;

    /// What has all of the terms as parts of words, best first.
    fn parts(&self, terms: &[String]) -> rusqlite::Result<Vec<Self::Hit>>;

    /// Whether anything has a term as a whole word.
    fn has(&self, term: &str) -> rusqlite::Result<bool>;

    /// The word in the texts that is spelt most like a term, if any is.
    fn nearest(&self, term: &str) -> rusqlite::Result<Option<String>>;
}

/// Which of several terms are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    All,
    Any,
}

impl Which {
    /// A query made of several.
    fn of(self, queries: &[String]) -> String {
        queries.join(match self {
            Self::All => " AND ",
            Self::Any => " OR ",
        })
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

/// What fits the terms, best first, and how.
fn found<I: Index>(index: &I, terms: &[String]) -> rusqlite::Result<(Vec<I::Hit>, Match)> {
    let all = index.words(terms, Which::All)?;
    if !all.is_empty() {
        return Ok((all, Match::Words));
    }
    // A part has at least three characters.
    if terms.iter().all(|term| term.chars().count() >= 3) {
        let parts = index.parts(terms)?;
        if !parts.is_empty() {
            return Ok((parts, Match::Parts));
        }
    }
    let (terms, corrected) = corrected(index, terms)?;
    if !corrected.is_empty() {
        let hits = index.words(&terms, Which::All)?;
        if !hits.is_empty() {
            return Ok((hits, Match::Corrected(corrected)));
        }
    }
    // Some of one word is all of it.
    let some = if terms.len() > 1 { index.words(&terms, Which::Any)? } else { Vec::new() };
    Ok((some, Match::Some))
}

/// Words that occur nowhere, and what comes closest.
type Corrections = Vec<(String, String)>;

/// The terms with those replaced that occur nowhere but almost do, and what was replaced by what.
fn corrected(index: &impl Index, terms: &[String]) -> rusqlite::Result<(Vec<String>, Corrections)> {
    let (mut better, mut corrected) = (Vec::new(), Vec::new());
    for term in terms {
        let nearest = if index.has(term)? { None } else { index.nearest(term)? };
        corrected.extend(nearest.clone().map(|word| (term.clone(), word)));
        better.push(nearest.unwrap_or_else(|| term.clone()));
    }
    Ok((better, corrected))
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

/// The words of a text, in small letters.
pub(super) fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric()).map(str::to_lowercase)
}

/// The word that is spelt most like `term`, if any is.
fn nearest(term: &str, words: impl Iterator<Item = String>) -> Option<String> {
    const ALIKE: f64 = 0.7;
    let term = term.to_lowercase();
    let alike = words.map(|word| (strsim::normalized_damerau_levenshtein(&term, &word), word));
    let best = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(alike, _)| *alike >= ALIKE).map(|(_, word)| word)
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
        let words = || words_of("the Ballast is wet; ball, balls");
        assert_eq!(nearest("balast", words()).as_deref(), Some("ballast"));
        assert_eq!(nearest("ship", words()), None);
    }
}
