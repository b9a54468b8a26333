//! Full-text search over saves, of which there may be a hundred thousand.
//!
//! Each pass over an index takes time, and ranking with bm25 takes two: for each query it counts
//! again how often each term occurs. For a term that is in nearly every save, that is slow and
//! hardly changes the ranking. So each term is looked up once, up to a limit. Only rare terms are
//! ranked, and only if a save with them passes the filter. A query without a rare term returns the
//! newest matches, those with a match in task or tags first.

mod part_ranking;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use plimsoll_extract::save::{Save, SaveEnvironment};
use rusqlite::{OptionalExtension, params};

use super::super::Store;
use super::super::column::ColumnValue;
use super::super::saves::{environment_word, filter_condition, save_from_row};
use super::{
    RequiredTerms, TextIndex, lowercase_words, nearest, parse_terms, quote_term, search_index,
};
use crate::{FoundSaves, SaveFilter, StoreError};

/// The highest number of saves that a rare term occurs in. Only rare terms are ranked.
const RARE: u32 = 1500;

impl Store {
    /// Returns at most `limit` saves that match the typed text, best first. `None` if nothing typed
    /// is a word.
    pub fn search_saves(
        &self,
        typed: &str,
        filter: &SaveFilter<'_>,
        limit: u32,
    ) -> Result<Option<FoundSaves>, StoreError> {
        let terms = parse_terms(typed);
        if terms.is_empty() {
            return Ok(None);
        }
        let saves = SaveIndex { store: self, filter, limit, cache: RefCell::default() };
        let (saves, by) = search_index(&saves, &terms).map_err(self.error_during("search"))?;
        Ok(Some(FoundSaves { saves, matched_by: by }))
    }
}

struct SaveIndex<'a> {
    store: &'a Store,
    filter: &'a SaveFilter<'a>,
    limit: u32,
    cache: RefCell<HashMap<(&'static str, String), Rc<TermMatches>>>,
}

/// A term and the saves that contain it.
#[derive(Debug)]
struct TermMatches {
    /// The full-text query for the term.
    query: String,
    /// The row numbers of the matching saves, cut off at [`RARE`] + 1.
    numbers: Vec<i64>,
}

impl TermMatches {
    fn is_rare(&self) -> bool {
        self.numbers.len() <= RARE as usize
    }
}

/// A full-text index.
#[derive(Debug, PartialEq, Eq)]
enum FtsTable {
    Words,
    Parts,
}

impl FtsTable {
    fn name(&self) -> &'static str {
        match self {
            Self::Words => "save_words",
            Self::Parts => "save_parts",
        }
    }
}

impl TextIndex for SaveIndex<'_> {
    type Hit = Save;

    fn find_words(&self, terms: &[String], which: RequiredTerms) -> rusqlite::Result<Vec<Save>> {
        self.search(&FtsTable::Words, terms, which)
    }

    fn find_parts(&self, terms: &[String]) -> rusqlite::Result<Vec<Save>> {
        self.search(&FtsTable::Parts, terms, RequiredTerms::All)
    }

    fn contains_word(&self, term: &str) -> rusqlite::Result<bool> {
        self.term_matches(&FtsTable::Words, term).map(|sounded| !sounded.numbers.is_empty())
    }

    fn nearest_word(&self, term: &str) -> rusqlite::Result<Option<String>> {
        let length = term.chars().count() as u64;
        let (shortest, longest) = (length * 7 / 10, length * 10 / 7 + 1);
        let sql = "SELECT word FROM save_spellings WHERE length BETWEEN ?1 AND ?2";
        let lengths = params![ColumnValue(shortest), ColumnValue(longest)];
        let words: Vec<String> = self.store.query_all(sql, lengths, |row| row.get(0))?;
        Ok(nearest(term, words.into_iter()))
    }
}

impl SaveIndex<'_> {
    fn search(
        &self,
        table: &FtsTable,
        terms: &[String],
        which: RequiredTerms,
    ) -> rusqlite::Result<Vec<Save>> {
        let mut sounded = Vec::new();
        for term in terms {
            let one = self.term_matches(table, term)?;
            match (one.numbers.is_empty(), which) {
                (true, RequiredTerms::All) => return Ok(Vec::new()),
                (true, RequiredTerms::Any) => {}
                (false, _) => sounded.push(one),
            }
        }
        let all = which.join(&queries(&sounded));
        let rare: Vec<_> = sounded.iter().filter(|one| one.is_rare()).cloned().collect();
        let fit = match (rare.len(), which) {
            (0, _) if sounded.is_empty() => return Ok(Vec::new()),
            (0, _) => return self.newest_saves_matching(table, &all),
            (some, RequiredTerms::All) if some < sounded.len() => {
                self.newest_numbers_matching(table, &all, RARE)?
            }
            _ => self.in_environment(combine_matches(&rare, which))?,
        };
        match table {
            FtsTable::Parts => self.rank_by_parts(&fit, terms),
            FtsTable::Words => self.rank_by_words(&fit, &which.join(&queries(&rare))),
        }
    }

    /// Returns the best of the saves in `fit`, ranked by a query of rare words.
    fn rank_by_words(&self, fit: &BTreeSet<i64>, query: &str) -> rusqlite::Result<Vec<Save>> {
        // Skip the ranking if no save passes the filter.
        if self.load_passing(fit.iter().copied(), 1)?.is_empty() {
            return Ok(Vec::new());
        }
        let numbers = self.ranked_numbers(query)?.into_iter().filter(|number| fit.contains(number));
        self.load_passing(numbers, self.limit)
    }

    /// Drops saves of other environments, if the filter's environment has few saves. Checking the
    /// saves one by one would be slow.
    fn in_environment(&self, mut fit: BTreeSet<i64>) -> rusqlite::Result<BTreeSet<i64>> {
        if let Some(environment) = self.filter.environment {
            let here = self
                .look_up(&FtsTable::Words, format!("filed : {}", environment_word(environment)))?;
            if here.is_rare() {
                let here: BTreeSet<i64> = here.numbers.into_iter().collect();
                fit.retain(|number| here.contains(number));
            }
        }
        Ok(fit)
    }

    /// Looks up a term. For a rare term, longer words that begin with it match too. For a common
    /// term, merging those words would take the database too long.
    fn term_matches(&self, table: &FtsTable, term: &str) -> rusqlite::Result<Rc<TermMatches>> {
        let key = (table.name(), term.to_owned());
        if let Some(known) = self.cache.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let mut sounded = self.look_up(table, quote_term(term))?;
        let is_word = lowercase_words(term).filter(|word| !word.is_empty()).nth(1).is_none();
        // The prefix index starts at two letters.
        let is_word = is_word && term.chars().nth(1).is_some();
        if sounded.is_rare() && is_word && *table == FtsTable::Words {
            sounded = self.look_up(table, format!("{} *", sounded.query))?;
        }
        let sounded = Rc::new(sounded);
        self.cache.borrow_mut().insert(key, Rc::clone(&sounded));
        Ok(sounded)
    }

    fn look_up(&self, table: &FtsTable, query: String) -> rusqlite::Result<TermMatches> {
        let name = table.name();
        let sql = format!("SELECT rowid FROM {name} WHERE {name} MATCH ?1 LIMIT ?2");
        let numbers = self.store.query_all(&sql, params![query, RARE + 1], |row| row.get(0))?;
        Ok(TermMatches { query, numbers })
    }

    /// Ranks the saves that match a query, best first, and the newer first if two rank equal.
    /// Matches in task and tags count more than matches in other fields.
    fn ranked_numbers(&self, query: &str) -> rusqlite::Result<Vec<i64>> {
        let sql = "SELECT rowid FROM save_words WHERE save_words MATCH ?1
             ORDER BY round(bm25(save_words, 4.0, 1.0, 1.0, 2.0, 3.0, 2.0, 0.0), 2), rowid DESC";
        self.store.query_all(sql, params![query], |row| row.get(0))
    }

    /// Returns the newest saves that match and pass the filter, those with a match in task or tags
    /// first.
    fn newest_saves_matching(&self, table: &FtsTable, query: &str) -> rusqlite::Result<Vec<Save>> {
        let about =
            self.newest_numbers_matching(table, &format!("{{task tags}} : ({query})"), self.limit)?;
        let rest = self.newest_numbers_matching(table, query, self.limit)?;
        let rest = rest.iter().rev().filter(|number| !about.contains(number));
        self.load_passing(about.iter().rev().chain(rest).copied(), self.limit)
    }

    /// Returns the newest saves that match and pass the filter, at most `most`.
    fn newest_numbers_matching(
        &self,
        table: &FtsTable,
        query: &str,
        most: u32,
    ) -> rusqlite::Result<BTreeSet<i64>> {
        let (name, condition) = (table.name(), filter_condition(self.filter));
        let sql = format!(
            "SELECT number FROM {name} JOIN saves ON number = {name}.rowid
             WHERE {name} MATCH ?3 AND {condition} ORDER BY {name}.rowid DESC LIMIT ?4"
        );
        let SaveFilter { environment, project, .. } = *self.filter;
        let query = match environment.filter(|_| *table == FtsTable::Words) {
            Some(environment) => format!("filed : {} AND ({query})", environment_word(environment)),
            None => query.to_owned(),
        };
        let looked_for = params![environment.map(SaveEnvironment::as_str), project, query, most];
        Ok(self.store.query_all(&sql, looked_for, |row| row.get(0))?.into_iter().collect())
    }

    /// Reads the first of these saves that pass the filter, at most `most`.
    fn load_passing(
        &self,
        numbers: impl Iterator<Item = i64>,
        most: u32,
    ) -> rusqlite::Result<Vec<Save>> {
        let sql =
            format!("SELECT * FROM saves WHERE number = ?3 AND {}", filter_condition(self.filter));
        let SaveFilter { environment, project, .. } = *self.filter;
        let environment = environment.map(SaveEnvironment::as_str);
        let mut statement = self.store.connection.prepare_cached(&sql)?;
        let found = numbers.filter_map(|number| {
            statement
                .query_row(params![environment, project, number], save_from_row)
                .optional()
                .transpose()
        });
        found.take(most as usize).collect()
    }
}

fn queries(sounded: &[Rc<TermMatches>]) -> Vec<String> {
    sounded.iter().map(|one| one.query.clone()).collect()
}

/// Returns the saves that contain all terms, or any.
fn combine_matches(sounded: &[Rc<TermMatches>], which: RequiredTerms) -> BTreeSet<i64> {
    let mut sets = sounded.iter().map(|one| one.numbers.iter().copied().collect::<BTreeSet<_>>());
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |one, other| match which {
        RequiredTerms::All => &one & &other,
        RequiredTerms::Any => &one | &other,
    })
}
