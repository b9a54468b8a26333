//! Full text search over saves, of which there may be a hundred thousand.
//!
//! The database weighs what fits (bm25) by how often each term occurs anywhere, which it counts anew for
//! every query. For a term that is nearly everywhere that takes long and comes to nearly nothing. So
//! only rare terms are weighed; a query that has none is answered by the newest, first those that are
//! about it.

use std::collections::HashSet;

use plimsoll_core::save::{Environment, Save};
use rusqlite::{OptionalExtension, params};

use super::super::Store;
use super::super::column::Kept;
use super::super::saves::{condition, filed, save};
use super::{Index, Which, found, nearest, quoted, terms, words_of};
use crate::{FoundSaves, SaveFilter, StoreError};

/// How many saves a term may be in and still be worth weighing.
const RARE: u32 = 1500;

impl Store {
    /// The saves that fit what was typed, best first: at most `limit`. Nothing if there is no word in
    /// it.
    pub fn search_saves(
        &self,
        typed: &str,
        filter: &SaveFilter<'_>,
        limit: u32,
    ) -> Result<Option<FoundSaves>, StoreError> {
        let terms = terms(typed);
        if terms.is_empty() {
            return Ok(None);
        }
        let saves = Saves { store: self, filter, limit };
        let (saves, by) = found(&saves, &terms).map_err(self.failed("search"))?;
        Ok(Some(FoundSaves { saves, by }))
    }
}

struct Saves<'a> {
    store: &'a Store,
    filter: &'a SaveFilter<'a>,
    limit: u32,
}

/// A virtual table that can be searched.
struct Table {
    name: &'static str,
    /// What a match in each column counts. What a save is about and how it is tagged counts more than
    /// what it came across.
    weights: &'static str,
    /// Whether words can be found by their beginning.
    has_beginnings: bool,
    knows_environments: bool,
}

const WORDS: Table = Table {
    name: "save_words",
    weights: "4.0, 1.0, 1.0, 2.0, 3.0, 2.0, 0.0",
    has_beginnings: true,
    knows_environments: true,
};

const PARTS: Table = Table {
    name: "save_parts",
    weights: "4.0, 1.0, 1.0, 2.0, 3.0, 2.0",
    has_beginnings: false,
    knows_environments: false,
};

impl Index for Saves<'_> {
    type Hit = Save;

    fn words(&self, terms: &[String], which: Which) -> rusqlite::Result<Vec<Save>> {
        self.hits(&WORDS, terms, which)
    }

    fn parts(&self, terms: &[String]) -> rusqlite::Result<Vec<Save>> {
        self.hits(&PARTS, terms, Which::All)
    }

    fn has(&self, term: &str) -> rusqlite::Result<bool> {
        self.sounded(&WORDS, term).map(|(_, count)| count > 0)
    }

    fn nearest(&self, term: &str) -> rusqlite::Result<Option<String>> {
        let length = term.chars().count() as u64;
        let (shortest, longest) = (length * 7 / 10, length * 10 / 7 + 1);
        let sql = "SELECT word FROM save_spellings WHERE length BETWEEN ?1 AND ?2";
        let lengths = params![Kept(shortest), Kept(longest)];
        let words: Vec<String> = self.store.all(sql, lengths, |row| row.get(0))?;
        Ok(nearest(term, words.into_iter()))
    }
}

impl Saves<'_> {
    fn hits(&self, table: &Table, terms: &[String], which: Which) -> rusqlite::Result<Vec<Save>> {
        let (mut all, mut rare) = (Vec::new(), Vec::new());
        for term in terms {
            let (query, count) = self.sounded(table, term)?;
            match (count, which) {
                (0, Which::All) => return Ok(Vec::new()),
                (0, Which::Any) => continue,
                (1..=RARE, _) => rare.push(query.clone()),
                _ => {}
            }
            all.push(query);
        }
        match (all.is_empty(), rare.is_empty()) {
            (true, _) => Ok(Vec::new()),
            (_, true) => self.newest(table, &which.of(&all)),
            _ => self.best(table, &all, &rare, which),
        }
    }

    /// What fits, best first, weighed by the rare ones of the queries.
    fn best(
        &self,
        table: &Table,
        all: &[String],
        rare: &[String],
        which: Which,
    ) -> rusqlite::Result<Vec<Save>> {
        let narrows = rare.len() < all.len() || self.filter.environment.is_some();
        if which == Which::Any || !narrows {
            return self.first(&self.weighed(table, &which.of(rare))?);
        }
        // Where nothing passes there is nothing to weigh.
        let fit: HashSet<i64> = self.fitting(table, &which.of(all), RARE)?.into_iter().collect();
        if fit.is_empty() {
            return Ok(Vec::new());
        }
        let mut numbers = self.weighed(table, &which.of(rare))?;
        numbers.retain(|number| fit.contains(number));
        self.first(&numbers)
    }

    /// The query for a term, and how many fit it as far as that matters. A word that is in many saves
    /// needs no longer words that begin like it: putting those together takes the database long.
    fn sounded(&self, table: &Table, term: &str) -> rusqlite::Result<(String, u32)> {
        let exact = quoted(term);
        let count = self.count(table, &exact, RARE + 1)?;
        let is_word = words_of(term).filter(|word| !word.is_empty()).nth(1).is_none();
        if count > RARE || !is_word || !table.has_beginnings {
            return Ok((exact, count));
        }
        let beginning = format!("{exact} *");
        let count = self.count(table, &beginning, RARE + 1)?;
        Ok((beginning, count))
    }

    /// How many saves fit a query, as far as `most`.
    fn count(&self, table: &Table, query: &str, most: u32) -> rusqlite::Result<u32> {
        let name = table.name;
        let sql = format!(
            "SELECT count(*) FROM (SELECT rowid FROM {name} WHERE {name} MATCH ?1 LIMIT ?2)"
        );
        let looked_for = params![query, most];
        self.store.connection.prepare_cached(&sql)?.query_row(looked_for, |row| row.get(0))
    }

    /// What fits, best first; of two that fit alike the newer comes first.
    fn weighed(&self, table: &Table, query: &str) -> rusqlite::Result<Vec<i64>> {
        let Table { name, weights, .. } = table;
        let sql = format!(
            "SELECT rowid FROM {name} WHERE {name} MATCH ?1
             ORDER BY round(bm25({name}, {weights}), 2), rowid DESC"
        );
        self.store.all(&sql, params![query], |row| row.get(0))
    }

    /// The newest that fit and pass, those that are about it first.
    fn newest(&self, table: &Table, query: &str) -> rusqlite::Result<Vec<Save>> {
        let about = self.fitting(table, &format!("{{task tags}} : ({query})"), self.limit)?;
        let rest = self.fitting(table, query, self.limit)?;
        let rest = rest.into_iter().filter(|number| !about.contains(number));
        self.first(&about.iter().copied().chain(rest).collect::<Vec<_>>())
    }

    /// The newest that fit and pass, newest first, at most so many.
    fn fitting(&self, table: &Table, query: &str, most: u32) -> rusqlite::Result<Vec<i64>> {
        let (name, condition) = (table.name, condition(self.filter));
        let sql = format!(
            "SELECT number FROM {name} JOIN saves ON number = {name}.rowid
             WHERE {name} MATCH ?2 AND {condition} ORDER BY {name}.rowid DESC LIMIT ?3"
        );
        let environment = self.filter.environment;
        let query = match environment.filter(|_| table.knows_environments) {
            Some(environment) => format!("filed : {} AND ({query})", filed(environment)),
            None => query.to_owned(),
        };
        let looked_for = params![environment.map(Environment::as_str), query, most];
        self.store.all(&sql, looked_for, |row| row.get(0))
    }

    /// The first of these saves that pass, as many as were asked for.
    fn first(&self, numbers: &[i64]) -> rusqlite::Result<Vec<Save>> {
        let sql = "SELECT * FROM saves WHERE number = ?1";
        let mut statement = self.store.connection.prepare_cached(sql)?;
        let mut saves = Vec::new();
        for number in numbers {
            if saves.len() == self.limit as usize {
                break;
            }
            let found = statement.query_row(params![number], save).optional()?;
            saves.extend(found.filter(|save| self.filter.passes(save)));
        }
        Ok(saves)
    }
}
