//! Full text search over saves.

use plimsoll_core::save::{Environment, Save};
use rusqlite::{OptionalExtension, named_params, params};

use super::super::Store;
use super::super::column::Kept;
use super::super::saves::{condition, save};
use super::{Index, found, nearest, terms};
use crate::{FoundSaves, SaveFilter, StoreError};

/// How many of what fits is weighed: the newest. Among so many a better one is hardly older still.
const WEIGHED: u32 = 1000;

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

impl Index for Saves<'_> {
    type Hit = Save;

    fn words(&self, query: &str) -> rusqlite::Result<Vec<Save>> {
        self.hits("save_words", query)
    }

    fn parts(&self, query: &str) -> rusqlite::Result<Vec<Save>> {
        self.hits("save_parts", query)
    }

    fn has(&self, query: &str) -> rusqlite::Result<bool> {
        let sql = "SELECT true FROM save_words WHERE save_words MATCH ?1 LIMIT 1";
        let mut statement = self.store.connection.prepare_cached(sql)?;
        Ok(statement.query_row(params![query], |_| Ok(())).optional()?.is_some())
    }

    fn nearest(&self, term: &str) -> rusqlite::Result<Option<String>> {
        let length = term.chars().count() as u64;
        let (shortest, longest) = (length * 7 / 10, length * 10 / 7 + 1);
        let sql = "SELECT word FROM save_spellings WHERE length BETWEEN ?1 AND ?2";
        let words: Vec<String> =
            self.store.all(sql, params![Kept(shortest), Kept(longest)], |row| row.get(0))?;
        Ok(nearest(term, words.into_iter()))
    }
}

impl Saves<'_> {
    /// The best of what fits, as an index weighs it. What a save is about and how it is tagged counts
    /// more than what it came across; of two that fit alike the newer comes first.
    fn hits(&self, index: &str, query: &str) -> rusqlite::Result<Vec<Save>> {
        let condition = condition(self.filter);
        let sql = format!(
            "SELECT saves.* FROM (
                 SELECT {index}.rowid AS fit, bm25({index}, 4.0, 1.0, 1.0, 2.0, 3.0, 2.0) AS weight
                 FROM {index} JOIN saves ON number = {index}.rowid
                 WHERE {index} MATCH :query AND {condition}
                 ORDER BY {index}.rowid DESC LIMIT {WEIGHED}
             ) JOIN saves ON number = fit
             ORDER BY round(weight, 2), created DESC, number DESC LIMIT :limit"
        );
        let limit = self.limit;
        match self.filter.environment.map(Environment::as_str) {
            Some(it) => {
                let looked_for =
                    named_params! { ":query": query, ":environment": it, ":limit": limit };
                self.store.all(&sql, looked_for, save)
            }
            None => self.store.all(&sql, named_params! { ":query": query, ":limit": limit }, save),
        }
    }
}
