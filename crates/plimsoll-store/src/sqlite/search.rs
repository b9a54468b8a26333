//! Full-text search over checkpoints and saves.
//!
//! A search tries whole words first, then parts of words, then corrected spelling. All typed text
//! is searched literally: there are no operators. [`TextIndex`] abstracts over checkpoints and saves.

mod checkpoints;
mod saves;

use crate::MatchKind;

/// A searchable set of texts.
trait TextIndex {
    type Hit;

    /// Finds texts that contain all or any of the terms as whole words, best first.
    fn find_words(
        &self,
        terms: &[String],
        which: RequiredTerms,
    ) -> rusqlite::Result<Vec<Self::Hit>>;

    /// Finds texts that contain all of the terms as parts of words, best first.
    fn find_parts(&self, terms: &[String]) -> rusqlite::Result<Vec<Self::Hit>>;

    /// Returns whether any text contains the term as a whole word.
    fn contains_word(&self, term: &str) -> rusqlite::Result<bool>;

    /// Returns the most similar word in the texts. `None` if no word is similar enough.
    fn nearest_word(&self, term: &str) -> rusqlite::Result<Option<String>>;
}

/// Whether a text must contain all terms or any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequiredTerms {
    All,
    Any,
}

impl RequiredTerms {
    /// Joins queries into one.
    fn join(self, queries: &[String]) -> String {
        queries.join(match self {
            Self::All => " AND ",
            Self::Any => " OR ",
        })
    }
}

/// Splits the typed text into words and quoted phrases.
fn parse_terms(typed: &str) -> Vec<String> {
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

/// Returns the matching texts, best first, and how they match.
fn search_index<I: TextIndex>(
    index: &I,
    terms: &[String],
) -> rusqlite::Result<(Vec<I::Hit>, MatchKind)> {
    let all = index.find_words(terms, RequiredTerms::All)?;
    if !all.is_empty() {
        return Ok((all, MatchKind::AllWords));
    }
    // The trigram index needs at least three characters.
    if terms.iter().all(|term| term.chars().count() >= 3) {
        let parts = index.find_parts(terms)?;
        if !parts.is_empty() {
            return Ok((parts, MatchKind::WordParts));
        }
    }
    let (terms, corrected) = correct_spelling(index, terms)?;
    if !corrected.is_empty() {
        let hits = index.find_words(&terms, RequiredTerms::All)?;
        if !hits.is_empty() {
            return Ok((hits, MatchKind::Corrected(corrected)));
        }
    }
    // With a single term, "any" is the same as "all".
    let some =
        if terms.len() > 1 { index.find_words(&terms, RequiredTerms::Any)? } else { Vec::new() };
    Ok((some, MatchKind::SomeWords))
}

/// Pairs of a word that occurs nowhere and its replacement.
type Corrections = Vec<(String, String)>;

/// Replaces terms that occur nowhere by similar words. Returns the new terms and the corrections.
fn correct_spelling(
    index: &impl TextIndex,
    terms: &[String],
) -> rusqlite::Result<(Vec<String>, Corrections)> {
    let (mut better, mut corrected) = (Vec::new(), Vec::new());
    for term in terms {
        let nearest = if index.contains_word(term)? { None } else { index.nearest_word(term)? };
        corrected.extend(nearest.clone().map(|word| (term.clone(), word)));
        better.push(nearest.unwrap_or_else(|| term.clone()));
    }
    Ok((better, corrected))
}

/// Builds a query for a word or longer words that begin with it. An exact match counts twice.
fn prefix_query(term: &str) -> String {
    let term = quote_term(term);
    format!("({term} OR {term} *)")
}

/// Quotes a term so that nothing in it is an operator.
fn quote_term(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\"").replace('\0', ""))
}

/// Splits a text into words in lower case.
pub(super) fn lowercase_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric()).map(str::to_lowercase)
}

/// Returns the word most similar to `term`. `None` if no word is similar enough.
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
    fn typed_text_is_split_into_terms() {
        assert_eq!(parse_terms(r#"load "two  words" - * "" AND"#), ["load", "two  words", "AND"]);
        assert_eq!(parse_terms(r#"open "quote"#), ["open", "quote"]);
        assert!(parse_terms(" -- \"\" *()").is_empty());
    }

    #[test]
    fn finds_a_similar_word() {
        let words = || lowercase_words("the Ballast is wet; ball, balls");
        assert_eq!(nearest("balast", words()).as_deref(), Some("ballast"));
        assert_eq!(nearest("ship", words()), None);
    }
}
